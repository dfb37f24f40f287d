"""Checks of lesson 13: your own cluster."""

from collections.abc import Iterable
from functools import cache

from volcano_lab.course.kit.boss import at_work, run_changed
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_13.scene import CONF, export
from volcano_lab.manifests.loader import Loaded, load
from volcano_lab.messages import gettext, paragraph

WANTED = {"ci/nightly-4412": 30, "vision/segment": 8, "web/reindex": 4}
"""Job -> its pods; the three that wait."""
HINTS = {"ci/nightly-4412":
         "What keeps 1,008 CPUs without a pod? \"remove podgroup/NAME\" takes it away.",
         "vision/segment": "nlp holds more GPUs than it deserves. Which action takes them back?",
         "web/reindex": "The nodes that its selector allows are cordoned."}


@check(takes=lambda given: isinstance(given, list | tuple) and all(
    isinstance(each, str) for each in given),
    wanted='a list of changes, such as ["queue/ci.weight=3", "remove podgroup/spark-00"]')
def all_three(answer: Iterable[str]) -> Mistakes:
    """A list of changes after which all three jobs have their places, or the promise of them.
    Nobody but pretrain may lose pods.
    """
    changes = list(answer)
    removals = [each.removeprefix("remove ") for each in changes if each.startswith("remove ")]
    settings = [each for each in changes if not each.startswith("remove ")]
    placed = at_work(run_changed(_exported(), CONF, settings, removals))
    before = at_work(run_changed(_exported(), CONF, []))
    lost = [job for job, pods in before.items()
            if job != "nlp/pretrain" and placed.get(job, 0) < pods]
    if lost:
        return try_again(gettext("{lost} has lost pods. Only pretrain may.", lost=lost[0]))
    yield placed.get("nlp/pretrain", 0) < 40, (
        gettext("pretrain has {get} of its 48 pods left. Its queue deserves 40 GPUs: so many it "
                "has to keep.", get=placed.get("nlp/pretrain", 0)))
    waiting = [job for job, pods in WANTED.items() if placed.get(job, 0) < pods]
    if waiting:
        done = len(WANTED) - len(waiting)
        return try_again(paragraph([
            gettext("{done} of 3 have their places. {waiting} waits.", done=done,
                    waiting=waiting[0]), gettext(HINTS[waiting[0]])]))
    yield len(changes) > len(WANTED), (
        gettext("All three have their places. {len} changes are more than it takes: one for each "
                "job is enough.", len=len(changes)))
    return well_done("One change for each: a PodGroup that nobody needs, an action that was "
                     "missing, a node that somebody had forgotten. pretrain gives 8 of its 48 pods "
                     "back.")


@cache
def _exported() -> Loaded:
    return load(export())
