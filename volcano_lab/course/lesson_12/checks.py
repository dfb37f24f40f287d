"""The checks of lesson 12: plugins, an action and an extension point of one's own.

Each runs the reader's class on small clusters and judges by what was decided. What the framework
says of a mistake, one sentence with plugin, point and what is allowed, is the hint.
"""

from difflib import get_close_matches
from typing import Any

from volcano_lab.course.kit.boss import evicted
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.user_code import check_class
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_12 import scene
from volcano_lab.course.lesson_12.own_steps import crowded
from volcano_lab.framework import Action, ConfError, load_conf
from volcano_lab.framework.plugin import Plugin, plugin_names
from volcano_lab.framework.points.rules import REJECT, Sum
from volcano_lab.framework.points.table import register_extension_point
from volcano_lab.framework.registry import registered
from volcano_lab.messages import gettext
from volcano_lab.messages.log import quiet
from volcano_lab.trace.views.cycle import Cycle

# -- scores


@check_class(Plugin, "node_order")
def spread(answer: type[Plugin]) -> Mistakes:
    """Write `Spread`: the more pods of the task's job are in a node's rack, the lower the node's
    score.
    """
    plain = scene.by_rack(scene.run_with(answer, scene.two_racks()))
    yield plain == {"a": 4, "b": 0}, "all_in_rack_a"
    yield plain == {"a": 0, "b": 4}, "all_in_rack_b"
    yield plain != {"a": 2, "b": 2}, try_again(
        "not_two_and_two", plain=plain["a"], plain1=plain["b"])
    old_in_rack_b = scene.two_racks().job("old", pods=4, cpu=1, memory="1Gi",
                                          running={"node-3": 2, "node-4": 2})
    yield scene.by_rack(scene.run_with(answer, old_in_rack_b)) != {"a": 2, "b": 2}, "own_job_only"
    mixed = scene.by_rack(scene.run_with(answer, scene.two_racks(node_3="a")))
    yield mixed != {"a": 2, "b": 2}, try_again("whole_rack", mixed=mixed["a"], mixed1=mixed["b"])
    return well_done("spread")


WEIGHTS = (1, 5, 10, 15, 20)


@check(takes=int, options=WEIGHTS)
def weight(answer: int) -> Mistakes:
    """nodeorder prefers rack a by 18 points. From which weight on are the pods two and two?"""
    yield answer not in WEIGHTS, "one_of_weights"
    pods = {number: scene.by_rack(weighted(number))["b"] for number in WEIGHTS}
    yield pods[answer] == 0, try_again("all_stay", answer=answer)
    yield answer > min(number for number in WEIGHTS if pods[number] == 2), try_again(
        "a_smaller_weight", answer=answer)
    return well_done("weights_added")


def weighted(number: int) -> Cycle:
    """A cycle in which a plugin gives `number` points for rack b.

    >>> scene.by_rack(weighted(1))
    {'a': 4, 'b': 0}
    """
    class Weighted(Plugin):
        def node_order(self, task, node):
            return number * (node.labels["rack"] == "b")

    return scene.run_with(Weighted, scene.two_racks())


# -- orders


def _first(plugin: type[Plugin], **names: Any) -> Cycle:
    """A cycle in which the plugin comes first."""
    return scene.run_with(plugin, scene.one_place(**names), scene.conf_with("mine", tier=1))


def _old_wins(plugin: type[Plugin], **names: Any) -> bool:
    """Whether the old wish got the free CPU."""
    return [step[1] for step in _first(plugin, **names).committed[:1]] == ["default/old-wish-0"]


@check_class(Plugin, "queue_order")
def waits_longest(answer: type[Plugin]) -> Mistakes:
    """Write `WaitsLongest`: the queue whose oldest **waiting** job is older goes first. (The check
    puts it into tier 1.)
    """
    for names in ({}, {"patient": "z", "newcomer": "a"}, {"patient": "a", "newcomer": "z"}):
        yield not _old_wins(answer, **names), "newcomer_got_it"
    yield not _old_wins(answer, newcomer_runs=True), "running_job_counts"
    yield not _old_wins(answer, patient_again=True), "smallest_of_each"
    yield _first(answer).queue_order[0] == "others", "others_first"
    return well_done("waits_longest")


class PatientFirst(Plugin):
    """Decides as a WaitsLongest would, by the queues' names."""

    def queue_order(self, left, right):
        return (left.name != "patient") - (right.name != "patient")


@check(takes=str, wanted="the text of a configuration")
def in_its_place(answer: str) -> Mistakes:
    """Change the configuration, so that waits-longest decides before proportion does."""
    try:
        conf = load_conf(answer)
    except (ConfError, ValueError) as error:
        return try_again("conf_refused", error=error)
    with quiet(), registered(plugin={"waits-longest": PatientFirst}):
        cycle = scene.one_place().run(answer)
    names, known = conf.plugin_names(), {*plugin_names(), "waits-longest"}
    for unknown in (name for name in names if name not in known):
        near = get_close_matches(unknown, sorted(known), 1)
        return try_again(
            "perhaps_meant" if near else "unknown_name", unknown=unknown, near="".join(near))
    if cycle.session.warnings:
        return try_again("logs", warnings=cycle.session.warnings[0])
    yield "waits-longest" not in names, "not_named"
    yield "proportion" not in names, "proportion_stays"
    options = [option for tier in conf.tiers for option in tier.plugins]
    yield not any(option.enables("enableQueueOrder") for option in options
                  if option.name == "waits-longest"), "order_switched_off"
    yield [pod for _, pod, _ in cycle.committed] != ["default/old-wish-0"], "asked_later"
    return well_done("first_difference")


# -- objections


def _nodes_of(plugin: type[Plugin], *nodes: str,
              when: str = "tonight") -> tuple[dict[str, set[str]], Any]:
    """Job -> the nodes that its pods got; and the cycle."""
    cycle = scene.run_with(plugin, scene.in_maintenance(*nodes, when=when))
    placed: dict[str, set[str]] = {"long": set(), "short": set()}
    for _, pod, node in cycle.committed:
        placed[pod.removeprefix("default/").partition("-")[0]].add(node)
    return placed, cycle


@check_class(Plugin, "predicate")
def maintenance(answer: type[Plugin]) -> Mistakes:
    """Write `Maintenance`: a node with the label maintenance=tonight takes only pods with the label
    short=yes; others get a reason with the word maintenance."""
    placed, _ = _nodes_of(answer)
    yield placed != {"long": {"node-1", "node-2"}, "short": {"node-1", "node-2"}}, "return_nothing"
    placed, _ = _nodes_of(answer, "node-1")
    yield "node-1" in placed["long"], "return_a_text"
    yield "node-1" not in placed["short"], "short_may_go"
    placed, _ = _nodes_of(answer, "node-1", when="over")
    yield placed["long"] != {"node-1", "node-2"}, "compare_the_value"
    placed, cycle = _nodes_of(answer, "node-1", "node-2")
    why = " ".join(cycle.why("default/long")).rpartition("Origin reason is ")[2]
    yield "maintenance" not in why.lower(), try_again("say_maintenance", why=why)
    return well_done("reason_is_read", why=why)


# -- victims


@check_class(Plugin, "reclaimable")
def protect(answer: type[Plugin]) -> Mistakes:
    """Write `Protect`: pods with the label keep=yes are never victims of reclaim. (The check puts
    it into the configuration.)
    """
    conf = scene.conf_with("mine", tier=1, actions=scene.RECLAIM) + "\n  - name: mine\n"
    some = evicted(scene.run_with(answer, scene.kept_and_plain(), conf))
    if any(pod.startswith("kept") for pod in some):
        return try_again("labelled_evicted", some=some[0])
    yield not some, "nobody_evicted"
    yield evicted(scene.run_with(answer, scene.kept_and_plain(4, 0), conf)), (
        "labelled_one_evicted")
    by_name = scene.run_with(answer, scene.kept_and_plain(labelled="plain"), conf)
    yield evicted(by_name) != ["kept-0"], "names_not_labels"
    yield REJECT in _votes(answer, conf), "reject_ends"
    return well_done("who_may_go")


def _votes(plugin: type[Plugin], conf: str) -> set[int]:
    """What a plugin says beside its lists of victims."""
    said: set[int] = set()

    class Heard(plugin):  # type: ignore[misc, valid-type]
        def reclaimable(self, task, candidates):
            victims, vote = super().reclaimable(task, candidates)
            said.add(vote)
            return victims, vote

    scene.run_with(Heard, scene.kept_and_plain(), conf)
    return said


# -- an action


def _jobs_of(action: type[Action], cluster: Any, **more: Any) -> list[str]:
    """The jobs that got nodes, in order."""
    with registered(action={"mine": action}, replace=True, **more):
        conf = scene.conf_with(actions="enqueue, mine", without="proportion")
        committed = cluster.run(conf).committed
    return list(
        dict.fromkeys(pod.removeprefix("default/").rpartition("-")[0] for _, pod, _ in committed))


def _small_holds_one() -> Any:
    return crowded().job("runs", queue="small", pods=1, cpu=1, memory="1Gi", running={"node-1": 1})


def _first_of_tiny_too_big() -> Any:
    return crowded().job("tiny-1", pods=9)


@check_class(Action, "execute")
def first_aid(answer: type[Action]) -> Mistakes:
    """Write `FirstAid`: each queue that holds nothing gets its first waiting job placed, if its
    gang fits.
    """
    jobs = _jobs_of(answer, crowded())
    yield not jobs, "placed_nothing"
    yield len(jobs) == 1, try_again("only_some_placed", jobs=jobs[0])
    yield "tiny-2" in jobs and "tiny-1" not in jobs, "first_not_second"
    yield jobs != ["big-1", "small-1", "tiny-1"], try_again("first_of_each", jobs=[*jobs])
    yield "small-1" in _jobs_of(answer, _small_holds_one()), "holds_a_pod"
    too_large = crowded().job("small-1", pods=9)
    yield _jobs_of(answer, too_large) != ["big-1", "tiny-1"], "too_large_gang"
    yield "tiny-2" in _jobs_of(answer, _first_of_tiny_too_big()), "first_is_too_large"
    return well_done("first_aid")


# -- an extension point

def _points_for(**points: int) -> type[Plugin]:
    class Points(Plugin):
        def need(self, queue):
            return points.get(queue.name, 0)

    return Points


@check_class(Action, "execute")
def triage(answer: type[Action]) -> Mistakes:
    """Write `Triage`: as FirstAid, but the queue with the largest `ssn.need(queue)` is served
    first.
    """
    def served(cluster: Any, first: type[Plugin], second: type[Plugin]) -> list[str]:
        plugins = {"priority": first, "nodeorder":
                   second}  # in the places of two that the tiers have; gangs stay gangs
        with registered():
            register_extension_point("need", Sum, arguments=["queue"])
            return _jobs_of(answer, cluster, plugin=plugins)

    for first, second, wanted in ((_points_for(small=1, tiny=5), _points_for(small=6, tiny=1),
                                   ["small-1", "tiny-1", "big-1"]),
                                  (_points_for(tiny=9), _points_for(big=3),
                                   ["tiny-1", "big-1", "small-1"])):
        jobs = served(crowded().job("small-1", pods=1), first, second)
        yield sorted(jobs) != sorted(wanted), try_again(
            "first_of_each_as_before", x=jobs or [gettext("no jobs")])
        yield jobs != wanted, try_again("order_of_need", served=[*jobs], needed=[*wanted])
    yield "small-1" in served(_small_holds_one(), _points_for(small=9), _points_for()), (
        "holds_a_pod_as_before")
    yield "tiny-2" in served(_first_of_tiny_too_big(), _points_for(tiny=9), _points_for()), (
        "too_large_as_before")
    return well_done("hands_and_words")
