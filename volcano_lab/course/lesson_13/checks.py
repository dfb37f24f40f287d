"""Checks of lesson 13: your own cluster."""

from volcano_lab.course.kit.boss import at_work, run_changed
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_13.scene import CONF, export
from volcano_lab.explain import Explainer
from volcano_lab.manifests.loader import load

WANTED = {"ci/nightly-4412": 30, "vision/segment": 8, "web/reindex": 4}
"""Job -> its pods; the three that wait."""


@check(takes=list,
       wanted='a list of changes, such as ["queue/ci.weight=3", "remove podgroup/spark-00"]')
def all_three(answer: list[str]) -> Mistakes:
    """A list of changes, one for each of the three jobs, after which all their pods are placed, or
    promised a node. No change is of a job, and no job but pretrain may lose pods.
    """
    of_jobs = [each for each in map(str, answer) if each.startswith(("job/", "podgroup/"))]
    if of_jobs:
        return try_again("jobs_stay", change=of_jobs[0])
    given = load(export())
    first, after = (run_changed(given, CONF, changes) for changes in ((), map(str, answer)))
    placed = at_work(after)
    lost = [job for job, pods in at_work(first).items()
            if job != "nlp/pretrain" and placed.get(job, 0) < pods]
    if lost:
        return try_again("others_lost_pods", lost=lost[0])
    yield placed.get("nlp/pretrain", 0) < 40, try_again(
        "pretrain_keeps", get=placed.get("nlp/pretrain", 0))
    waiting = [job for job, pods in WANTED.items() if placed.get(job, 0) < pods]
    if waiting:
        was, now = (Explainer(cycle.world, cycle.session.conf).why(waiting[0]).causes[0]
                    for cycle in (first, after))
        return try_again("done_of_three", *["now_because"] * (str(now.text) != str(was.text)),
                         *[f"hint {waiting[0]}"] * (now.code == was.code), why=str(now.text),
                         done=len(WANTED) - len(waiting), waiting=waiting[0])
    yield len(answer) > len(WANTED), try_again("too_many_changes", len=len(answer))
    return well_done("one_change_each")
