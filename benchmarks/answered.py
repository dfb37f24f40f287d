"""What the verbs answer about a seed's cluster with a few jobs, and what controllers create there.

The digests are of the same kind as those of `decisions.py`; `tests/support/recorded_answers.py`
asks. A word of a sentence does not count, its code and facts do.
"""

from itertools import chain
from random import Random

import recorded_answers as asked
from decisions import Facts, Hear
from owners import Owners
from scenarios import scenario

from volcano_lab.cluster import Cluster
from volcano_lab.manifests.field_defaults import FIRST_TIME
from volcano_lab.manifests.writer import to_dict
from volcano_lab.messages import log

VERBS = "why", "ask", "lint", "life", "what-if", "export"
JOBS, PROJECTS, CHANGES = 4, 1, 6
"""Of a seed's world: kinds of jobs, groups of objects with other owners, changes that are tried."""
OFFERS = 3
"""Of so many seeds one asks for changes that help, too, which takes longer than all other verbs."""


def answer(seed: int, hear: Hear) -> None:
    """Answer all questions about a seed's cluster."""
    drawn, random = scenario(seed, recorded=True), Random(f"answered {seed}")
    queue = drawn.templates[0].queue
    with log.quiet():
        projects = Owners(random, queue).groups()
        found = dict(created(drawn.cluster, [*chain(*projects)]))
        documents = [*chain(*random.sample(projects, PROJECTS))]
        objects = drawn.with_jobs(random.sample([*drawn.kinds.values()], JOBS), documents)
        about = {"name": f"seed {seed}", "objects": [], "conf": drawn.conf, "events": []}
        asked.READ[about["name"]] = objects
        for verb in (*VERBS, "offer") if seed % OFFERS == 0 else VERBS:
            found |= {f"{verb} {number}": each
                      for number, each in enumerate(asked.VERBS[verb](about))}
        found |= dict(tried(Cluster(objects, drawn.conf), random, queue))
    hear(0, found)


def created(cluster: Cluster, documents: list[str]) -> Facts:
    """Return what controllers create of objects, now and later."""
    objects = cluster.copy().add(*documents).objects()
    later = {f"later {name}": [*map(to_dict, pods)] for name, pods in objects.later.items()}
    return {f"created {obj.kind} {obj.key}": to_dict(obj) for obj in objects} | later


def tried(cluster: Cluster, random: Random, queue: str) -> Facts:
    """Return what changes do, some of which are refused."""
    (node,) = random.sample([*cluster.cache().nodes], 1)
    (job,) = random.sample([*cluster.cache().jobs], 1)
    changes = [
        f"queue/{queue}.weight=7", f"queue/{queue}.capability.cpu={random.randint(1, 20)}",
        f"queue/{queue}.reclaimable=false", f"queue/{queue}.state=Closed",
        f"node/{node}.unschedulable=true", f"node/{node}.allocatable.cpu=1", f"node/{node}.more=3",
        f"node/{node}.taints+=kept=yes:NoSchedule", f"job/{job}.minAvailable=1",
        f"job/{job}.priority={random.choice([-4, 5000])}", f"job/{job}.queue={queue}",
        f"job/{job}.tolerations+=kept:Exists", f"job/{job}.replicas=2", "plugin/drf=",
        "plugin/gang.enableJobStarving=false", "conf/actions=enqueue, allocate, backfill, reclaim"]
    for change in random.sample(changes, CHANGES):
        try:
            found = cluster.what_if(change, now=FIRST_TIME).as_dict()
        except ValueError as error:
            found = str(getattr(error, "found", type(error).__name__))
        yield f"change {change}", found
