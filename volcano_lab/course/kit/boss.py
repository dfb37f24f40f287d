"""Grading of a broken cluster's repair, by running it: for bosses, riddles, lesson 13."""

from collections.abc import Collection, Generator, Iterable, Mapping

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.api.status import PIPELINED, RELEASING
from volcano_lab.changes import Change
from volcano_lab.cluster import Cluster, Conf
from volcano_lab.course.kit.checking import Check, Mistakes, checks_of, ended
from volcano_lab.course.kit.questions import HINTS, entries, opened, part
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.verdict import well_done
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.admission import verdicts
from volcano_lab.messages import gettext, log, paragraph
from volcano_lab.trace.names import Names
from volcano_lab.trace.views.cycle import Cycle

KEPT = ("Node", "Pod")
"""The kinds of objects that a repair may not change."""

REMOVE = "remove "
"""The prefix of a change that removes an object."""


def broken_cluster(name: str) -> tuple[Cluster, Check]:
    """Return a broken cluster of the open lesson, and the check of its repair."""
    return cluster_of(opened.number, name), checks_of(opened.number)[name]


def repair(lesson: str, name: str) -> Check:
    """Create the check of a repair from its entry. Its replies are the lesson's hints: those named
    after jobs, `as_it_was`, the check's own name, and after it remarks: hints named after a rule of
    a webhook that the answer breaks, and `over`, of a queue that holds more than it deserves. Where
    jobs may change, none may start with fewer pods than it needs.

    >>> repair("06c", "all_at_work")(cluster_of("06c", "all_at_work")).state
    'try again'
    """
    entry, hints = entries(lesson)[name], part(lesson, HINTS)

    def grade(answer: Cluster) -> Mistakes:
        broken = cluster_of(lesson, name)
        yield answer.objects() == broken.objects(), "as_it_was"
        cycle = yield from repaired(broken, answer, broken.conf, entry["needs"], hints,
                                    keeps=entry.get("keeps", KEPT))
        if "keeps" not in entry:
            said = lowered(cycle, {f"default/{job}": pods for job, pods in entry["needs"].items()})
            yield said, said
        return well_done(name, *_refused(answer, hints), *(
            gettext(hints["over"], queue=row["queue"], share=round(row["share"], 2))
            for row in cycle.queues() if "over" in hints and row["share"] > 1.01))

    grade.__doc__ = entry["asks"]
    return Check(f"{lesson}.{name}", grade, Cluster, "a cluster, such as broken.copy().queue(...)")


def repaired(broken: Cluster, answer: Cluster, conf: Conf, needs: Mapping[str, int],
             hints: Mapping[str, str], promised: Collection[str] = (),
             keeps: Collection[str] = KEPT) -> Generator[tuple[object, str], None, Cycle]:
    """Yield possible errors in the repair of a cluster, each with its hint; return its cycle.

    `needs` is how many pods of which job must be placed (for those in `promised` a node with
    releasing resources is enough); `hints` are those for a job, or for one cause ("a
    over_deserved", with its {why}), the easiest one first; `keeps` are the kinds that must stay
    unchanged.
    """
    changed = {name for name, _ in _kept(broken, keeps) ^ _kept(answer, keeps)}
    yield changed, gettext("{object} is changed, added or removed; it has to stay as it was.",
                           object=min(changed, default=""))
    with log.quiet():  # its warnings are the reply
        cycle, was = answer.run(conf), broken.run(conf)
    gone, before = ([*map(str, each.session.snapshot.jobs_left_out)] for each in (cycle, was))
    said = [*map(str, cycle.session.warnings), *(each for each in gone if each not in before)]
    yield said, ended("".join(said[:1]))
    placed, with_promised = at_work(cycle, promised=False), at_work(cycle)
    waiting = [name for name, needed in needs.items() if (
        with_promised if name in promised else placed).get(f"default/{name}", 0) < needed]
    if waiting:
        done = [name for name in needs if name not in waiting]
        causes = {f"{job} {each.code}": (*each.sentences, "")[0] for job in waiting
                  for each in answer.explainer(conf).why(job).causes}
        key = next(key for key in hints if key in waiting or key in causes)
        yield True, paragraph([
            gettext("At work: {jobs:,}.", jobs=done) if done else None,
            gettext("Not yet: {jobs:,}. Look at {first}.", jobs=waiting, first=key.split()[0]),
            gettext(hints[key], why=causes.get(key)),
            *sorted({*_refused(answer, hints)} - {*_refused(broken, hints)}),
            *(gettext("Queue {queue} is new.", queue=name)
              for name in cycle.session.queues if name not in was.session.queues)])
    return cycle


def _refused(cluster: Cluster, hints: Mapping[str, str]) -> list[str]:
    return [gettext(hints[each.rule], object=each.label)
            for each in verdicts(cluster.manifests()) if each.rule in hints]


def run_changed(objects: Iterable[KubernetesObject], conf: str | None,
                changes: Iterable[str] = ()) -> Cycle:
    """Run a cycle over a cluster with some changes: `KIND/NAME.FIELD=VALUE`, `remove KIND/NAME`.

    Raises `ManifestError` or `ConfError` for an unknown change.
    """
    given, known = change_of(changes).given([*objects], load_conf(conf))
    return Cluster(given).run(known)


def lowered(cycle: Cycle, needs: Mapping[str, int]) -> str:
    """Return a sentence about the first job whose minimum is less than it needs; "" for none."""
    called = Names(cycle.session).called
    return next((gettext(
        "{job} could start with {least} of its {pods} pods now; its team agrees to no fewer than "
        "{needs}. Repair the cause.", job=called(uid).rpartition("/")[2], least=job.min_available,
        pods=len(job.tasks), needs=needs[called(uid)]) for uid, job in cycle.session.jobs.items()
        if job.min_available < needs.get(called(uid), 0)), "")


def change_of(changes: Iterable[str]) -> Change:
    """Return some changes as one.

    >>> change_of(["queue/a.weight=2", "remove podgroup/b"])
    Change(settings=('queue/a.weight=2',), removals=('podgroup/b',), added=())
    """
    every = [*changes]
    return Change(tuple(each for each in every if not each.startswith(REMOVE)),
                  tuple(each.removeprefix(REMOVE) for each in every if each.startswith(REMOVE)))


def at_work(cycle: Cycle, promised: bool = True) -> dict[str, int]:
    """Return job, by its author's name -> its placed pods; with `promised`, pipelined ones, too."""
    called, not_yet = Names(cycle.session).called, (RELEASING, *(() if promised else (PIPELINED,)))
    return {called(uid): sum(bool(task.node_name) and task.status not in not_yet
                             for task in job.tasks.values())
            for uid, job in cycle.session.jobs.items()}


def evicted(cycle: Cycle) -> list[str]:
    """Return the evicted pods, without their namespace."""
    return [pod.removeprefix("default/") for word, pod, *_ in cycle.committed if word == "evict"]


def _kept(cluster: Cluster, kinds: Collection[str]) -> set[tuple[str, str]]:
    """Return the objects of these kinds, each with what must stay unchanged of it, as text."""
    what = {"Node": lambda obj: obj.status.allocatable, "PodGroup": lambda obj: obj.spec,
            "Pod": lambda obj: (obj.spec.node_name, obj.metadata.labels,
                                [each.resources.requests for each in obj.spec.containers])}
    return {(f"{obj.kind} {obj.metadata.name}", str(what[obj.kind](obj)))
            for obj in cluster.objects() if obj.kind in kinds}
