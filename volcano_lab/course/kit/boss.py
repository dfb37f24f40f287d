"""How the repair of a broken cluster is graded, by running it: of bosses, riddles, lesson 13."""

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from typing import Any

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.api.status import PIPELINED, RELEASING
from volcano_lab.changes import change, change_conf, parted
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Check, Mistakes, checks_of, registered
from volcano_lab.course.kit.questions import HINTS, entries, opened, part
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.verdict import well_done
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.messages import gettext, paragraph
from volcano_lab.trace.names import Names
from volcano_lab.trace.views.cycle import Cycle


def broken_cluster(name: str) -> tuple[Cluster, Check]:
    """A broken cluster of the lesson that is open, and the check of its repair."""
    return cluster_of(opened.number, name), checks_of(opened.number)[name]


def repair(lesson: str, name: str) -> Check:
    """Make the check of a repair from its entry, and register it. What it says are the lesson's
    hints: of each job what helps on, `as_it_was`, and the check's own name.
    """
    asks, needs = (entries(lesson)[name][word] for word in ("asks", "needs"))

    def grade(answer: Cluster) -> Mistakes:
        broken = cluster_of(lesson, name)
        yield answer.objects() == broken.objects(), "as_it_was"
        yield from repaired(broken, answer, None, needs, part(lesson, HINTS))
        return well_done(name)

    grade.__doc__ = asks
    return registered(Check(f"{lesson}.{name}", grade, Cluster,
                            "a cluster, such as broken.copy().queue(...)"))


def repaired(broken: Cluster, answer: Cluster, conf: str | None, needs: Mapping[str, int],
             hints: Mapping[str, str], promised: Collection[str] = ()
             ) -> Generator[tuple[object, str], None, Cycle]:
    """Yield what may be wrong with the repair of a cluster, each with its hint; return its cycle.

    `needs` says how many pods of which job have to be at work (of those in `promised` a node that
    others are leaving is enough); `hints` what helps on with a job, the easiest one first.
    """
    before, after = _kept(broken), _kept(answer)
    changed = {name for name, what in before.items()
               if after.get(name) != what} | after.keys() - before.keys()
    yield changed, gettext("{object} is not what it was. Nodes and pods stay as they are.",
                           object=min(changed, default=""))
    cycle = answer.run(conf)
    if cycle.session.warnings:
        yield True, gettext("The scheduler's log says: {warning}",
                            warning=cycle.session.warnings[0])
    placed, all_told = at_work(cycle, promised=False), at_work(cycle)
    waiting = [name for name, needed in needs.items() if (
        all_told if name in promised else placed).get(f"default/{name}", 0) < needed]
    if waiting:
        done = [name for name in needs if name not in waiting]
        first = next(name for name in hints if name in waiting)
        yield True, paragraph([
            gettext("At work: {jobs:,}.", jobs=done) if done else None,
            gettext("Not yet: {jobs:,}. Look at {first}.", jobs=waiting, first=first),
            gettext(hints[first])])
    return cycle


def run_changed(objects: Iterable[KubernetesObject], conf: str | None, settings: Iterable[str],
                removals: Sequence[str] = ()) -> Cycle:
    """Run a cycle over a cluster with some changes, in the words of `volcano-lab what-if`.

    Raises `ManifestError` or `ConfError` for a change that there is not.
    """
    of_objects, of_conf = parted(settings)
    known = change_conf(load_conf(conf), of_conf)
    return Cluster(change(objects, of_objects, removals)).run(known)


def at_work(cycle: Cycle, promised: bool = True) -> dict[str, int]:
    """Job, as its author knows it -> its pods with a place; those that are `promised` one, too."""
    called, not_yet = Names(cycle.session).called, (RELEASING, *(() if promised else (PIPELINED,)))
    return {called(uid): sum(bool(task.node_name) and task.status not in not_yet
                             for task in job.tasks.values())
            for uid, job in cycle.session.jobs.items()}


def _kept(cluster: Cluster) -> dict[str, Any]:
    """Nodes and pods, which stay as they are."""
    return {f"{obj.kind} {obj.metadata.name}": obj.status.allocatable if obj.kind == "Node" else
            (obj.spec.node_name, obj.metadata.labels,
             [each.resources.requests for each in obj.spec.containers])
            for obj in cluster.objects() if obj.kind in ("Node", "Pod")}
