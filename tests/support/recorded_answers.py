"""What the verbs answer about a cluster, as plain data: codes and facts where there are sentences.

`python tests/support/recorded_answers.py` records again what is answered about the clusters of
`tests/recorded/answers.jsonl.gz`, after a change that is meant to be one.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from math import inf
from typing import Any

from recorded_cases import HERE, difference, rows

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.cache.dump import dump
from volcano_lab.cli.replay import CycleRecord
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer, Explanation
from volcano_lab.manifests.loader import Loaded, from_dict
from volcano_lab.messages import Message, log
from volcano_lab.simulation import Life
from volcano_lab.trace import Trace

FILE = HERE / "answers.jsonl.gz"
NOW = 1_800_000_000.0
BETWEEN = 300.0
"""Seconds between two cycles of a life."""
MOST = 4
"""Of how many jobs, pods or nodes a question is asked."""
World = dict[str, Any]
READ: dict[str, list[KubernetesObject]] = {}
"""The objects of each world, by its name."""


def plain(value: Any) -> Any:
    """A value as JSON has it, numbers to nine digits; a message as its code and facts."""
    if isinstance(value, Message):
        return [value.code, plain(value.facts)]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.9g}") if abs(value) != inf else str(value)
    return value if isinstance(value, str | int | None) else str(value)


def explained(found: Explanation) -> list[Any]:
    causes = [[cause.code, cause.context, cause.sentences] for cause in found.causes]
    return [found.about, found.said, causes, found.rows]


def waiting(explainer: Explainer) -> list[str]:
    return [answer.about for group in explainer.waiting() for answer in group.answers]


def read(world: World) -> Loaded:
    """The objects of a world, the same for each verb: none of them changes them."""
    if world["name"] not in READ:
        READ[world["name"]] = [*map(from_dict, world["objects"])]
    return Loaded(READ[world["name"]])


def cluster(world: World) -> Cluster:
    return Cluster(read(world), world["conf"])


def decided(world: World) -> Iterator[Any]:
    """Cycles of one scheduler with changes between them, and what its cache has at the end."""
    life = Life(read(world), world["conf"])
    for number, changes in enumerate([[], *world["events"]]):
        record = CycleRecord()
        life.decide(changes, observer=record, now=NOW + number * BETWEEN)
        yield record.decisions
    yield dump(life.scheduler.cache)


def ran(world: World) -> Iterator[Any]:
    given = cluster(world)
    cycle = given.run(cycles=9, now=NOW, trace=Trace())
    yield from (cycle.committed, cycle.queue_order, cycle.jobs(), cycle.queues(), cycle.turns(),
                cycle.statements(), given.warnings(cycle))


def logged(world: World) -> Iterator[Any]:
    yield from cluster(world).run(now=NOW, trace=Trace()).log()


def why(world: World) -> Iterator[Any]:
    explainer = cluster(world).explainer(now=NOW)
    yield [[group.code, group.jobs] for group in explainer.waiting()]
    yield from (explained(explainer.why(name)) for name in waiting(explainer))
    yield from (explained(explainer.why_queue(name)) for name in explainer.session.queues)


def asked(world: World) -> Iterator[Any]:
    """Questions of pods, of pairs of jobs, of evictions."""
    explainer = cluster(world).explainer(now=NOW)
    ssn = explainer.session
    for uid in islice(ssn.jobs, MOST):
        yield explained(explainer.who_evicts(uid))
        for name in islice(ssn.nodes, MOST):
            with suppress(LookupError):  # a job without pods
                yield explained(explainer.why_not(name, uid))
        for other in islice(ssn.jobs, MOST):
            if uid != other:
                yield explained(explainer.why_before(uid, other))
    evicted = [key for word, key, *_ in ssn.committed if word == "evict"]
    pods = [task.key for job in ssn.jobs.values() for task in job.tasks.values()]
    yield from (explained(explainer.why_task(key)) for key in [*evicted, *pods[:MOST]])


def offered(world: World) -> Iterator[Any]:
    """The first changes that are offered to the first jobs that wait."""
    explainer = cluster(world).explainer(now=NOW)
    for name in waiting(explainer)[:2]:
        find = explainer.why(name).find_remedies
        for each in islice(find(inf) if find else (), MOST):
            yield [each.does, each.brings, each.args, each.kubectl, each.placed]


def linted(world: World) -> Iterator[Any]:
    given = cluster(world)
    yield from ([each.rule, each.level, each.place, each.text, each.remedy]
                for each in given.lint())
    yield from (given.missing(), given.admit(refuse=False))


def lived(world: World) -> Iterator[Any]:
    """A few cycles of a cluster that is left alone, and what is said of them."""
    timeline = cluster(world).timeline(6)
    yield from (timeline.rows, timeline.evictions, timeline.placed)
    yield from (explained(timeline.why(timeline.names[uid]))
                for uid in islice(timeline.rows, MOST))


def changed(world: World) -> Iterator[Any]:
    """The same with two more nodes like the first, and without the first."""
    given = cluster(world)
    node = next(iter(given.cache().nodes))
    yield given.what_if(f"node/{node}.more=2", now=NOW).as_dict()
    yield given.what_if(remove=[f"node/{node}"], now=NOW).as_dict()


def simulated(world: World) -> Iterator[Any]:
    history = cluster(world).simulate("10m", duration="90s", failures="5m", seed=1)
    yield list(history.dicts("events"))
    yield from map(history.measures, ("cluster", "queues", "jobs"))


def exported(world: World) -> Iterator[Any]:
    yield from (cluster(world).export(), *map(str, cluster(world).objects().warnings))


VERBS: dict[str, Callable[[World], Iterator[Any]]] = {
    "decide": decided, "run": ran, "log": logged, "why": why, "ask": asked, "offer": offered,
    "lint": linted, "life": lived, "what-if": changed, "simulate": simulated, "export": exported}


def answers(world: World, verb: str) -> Any:
    """What a verb answers, as JSON reads it again."""
    with log.quiet():
        return json.loads(json.dumps(plain(list(VERBS[verb](world)))))


def write(worlds: list[World]) -> None:
    text = "".join(json.dumps(world, separators=(",", ":")) + "\n" for world in worlds)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    recorded = rows(FILE)
    for world in recorded:
        for verb, before in world["answers"].items():
            found = world["answers"][verb] = answers(world, verb)
            if text := difference(before, found):
                print(f"{world['name']} {verb} {text}")
    write(recorded)
