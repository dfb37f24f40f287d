"""The checks of lesson 12: plugins, an action and an extension point of one's own.

Each runs the reader's class on small clusters and judges by what was decided. What the framework
says of a mistake, one sentence with plugin, point and what is allowed, is the hint.
"""

from difflib import get_close_matches
from typing import Any

from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.user_code import check_class
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_12 import scene
from volcano_lab.course.lesson_12.own_steps import crowded
from volcano_lab.framework.action import Action
from volcano_lab.framework.config.conf import ConfError, load_conf
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
    yield plain == {"a": 4, "b": 0}, (
        "All four pods are in rack a still. Is each pod in the rack a minus, and is it enough? "
        "nodeorder prefers rack a by 18 points; -100 for each pod is more.")
    yield plain == {"a": 0, "b": 4}, (
        "All four pods are in rack b now. The score must fall with each pod of the job that is "
        "there already: count them, and put a minus in front.")
    yield plain != {"a": 2, "b": 2}, (
        gettext("Rack a has {plain} pods of web, rack b {plain1}. Wanted are two and two. Do you "
                "count the pods in the whole rack, not only those on the node?", plain=plain["a"],
                plain1=plain["b"]))
    old_in_rack_b = scene.two_racks().job("old", pods=4, cpu=1, memory="1Gi",
                                          running={"node-3": 2, "node-4": 2})
    yield scene.by_rack(scene.run_with(answer, old_in_rack_b)) != {"a": 2, "b": 2}, (
        "Now a job of somebody else has four pods in rack b, and web is no longer spread. Count "
        "only pods of the task's own job, `self.ssn.jobs[task.job]`.")
    mixed = scene.by_rack(scene.run_with(answer, scene.two_racks(node_3="a")))
    yield mixed != {"a": 2, "b": 2}, (
        gettext("With node-3 in rack a, too, rack a has {mixed} pods and rack b {mixed1}. Read "
                'the rack from the label, `node.labels.get("rack")`, and count the pods in the '
                "whole rack, not on the node.", mixed=mixed["a"], mixed1=mixed["b"]))
    return well_done("Two and two, also beside other jobs and in other racks. The score is asked "
                     "again for each pod, so it sees the pods that were placed a moment before.")


WEIGHTS = (1, 5, 10, 15, 20)


@check(takes=int, options=WEIGHTS)
def weight(answer: int) -> Mistakes:
    """nodeorder prefers rack a by 18 points. From which weight on are the pods two and two?"""
    yield answer not in WEIGHTS, "Choose one of 1, 5, 10, 15 and 20."
    pods = {number: weighted(number)["b"] for number in WEIGHTS}
    yield pods[answer] == 0, (gettext("With {answer} every pod stays in rack a: that is less "
                                      "than nodeorder's lead, before a pod is placed and after "
                                      "each.", answer=answer))
    yield answer > min(number for number in WEIGHTS if pods[number] == 2), (
        gettext("{answer} is enough, but a smaller one is, too: with each pod that rack a takes, "
                "its lead becomes smaller.", answer=answer))
    return well_done("Scores are added up. Two pods go to rack a, its lead falls below 15, and the "
                     "other two go to rack b.")


def weighted(number: int) -> dict[str, int]:
    """How many of web's pods go to each rack where a plugin gives so many points for rack b.

    >>> weighted(1)
    {'a': 4, 'b': 0}
    """
    class Weighted(Plugin):
        def node_order(self, task, node):
            return number * (node.labels["rack"] == "b")

    return scene.by_rack(scene.run_with(Weighted, scene.two_racks()))


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
        yield not _old_wins(answer, **names), (
            "The newcomer got the CPU. A number below 0 puts the left queue first; older means a "
            "smaller `creation_timestamp`. So what must be subtracted from what?")
    yield not _old_wins(answer, newcomer_runs=True), (
        "Now the newcomer has a job that is older than all others, but it runs already, and your "
        "plugin counts it. Look only at jobs with `job.has_pending_tasks()`.")
    yield not _old_wins(answer, patient_again=True), (
        "Now patient has two more jobs that wait, the latest of all, and the newcomer goes first. "
        "Keep the smallest `creation_timestamp` of each queue, not the last or the first that you "
        "find.")
    yield _first(answer).queue_order[0] == "others", (
        "The right wish is served, but queue others, in which nobody waits, goes before both. For "
        "such a queue use `ssn.now`.")
    return well_done("A smaller number goes first: since − since. Queues in which nobody waits are "
                     "asked about, too; `ssn.now` puts them behind.")


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
        return try_again(gettext("Volcano refuses this configuration: {error}", error=error))
    with quiet(), registered(plugin={"waits-longest": PatientFirst}):
        cycle = scene.one_place().run(answer)
    names, known = conf.plugin_names(), {*plugin_names(), "waits-longest"}
    for unknown in (name for name in names if name not in known):
        near = get_close_matches(unknown, sorted(known), 1)
        return try_again(gettext(
            'A cycle runs, but without "{unknown}": no plugin is registered under this name; '
            "perhaps {near} is meant?" if near else
            'A cycle runs, but without "{unknown}": no plugin is registered under this name. Names '
            "are written as in `register_plugin`.", unknown=unknown, near="".join(near)))
    if cycle.session.warnings:
        return try_again(gettext("A cycle runs, but logs: {warnings}",
                                 warnings=cycle.session.warnings[0]))
    yield "waits-longest" not in names, (
        "The configuration does not name waits-longest. Registering makes a plugin known; only a "
        "tier of the configuration lets it take part.")
    yield "proportion" not in names, (
        "proportion must stay: it shares the cluster between the queues.")
    options = [option for tier in conf.tiers for option in tier.plugins]
    yield not any(option.enables("enableQueueOrder") for option in options
                  if option.name == "waits-longest"), (
        "waits-longest is there, but its queue order is switched off by enableQueueOrder.")
    yield [pod for _, pod, _ in cycle.committed] != ["default/old-wish-0"], (
        "The newcomer still gets the CPU: proportion is asked first, its shares differ, and the "
        "first difference decides. Where must waits-longest stand to be asked before?")
    return well_done("The first comparison that is not zero decides. In an earlier tier, or "
                     "earlier in the same tier: for an order both are the same.")


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
    yield placed != {"long": {"node-1", "node-2"}, "short": {"node-1", "node-2"}}, (
        "No node is in maintenance, and still some pods are refused. Where nothing speaks against "
        "a node, return None.")
    placed, _ = _nodes_of(answer, "node-1")
    yield "node-1" in placed["long"], (
        "node-1 has the label, and a pod that isn't short went there. Return a text then: it is "
        "the reason.")
    yield "node-1" not in placed["short"], (
        "node-1 is in maintenance, but short pods may go there: `task.pod.metadata.labels`.")
    placed, _ = _nodes_of(answer, "node-1", when="over")
    yield placed["long"] != {"node-1", "node-2"}, (
        "node-1 has the label maintenance=over, so not tonight, and a pod was refused there. "
        "Compare the label's value.")
    placed, cycle = _nodes_of(answer, "node-1", "node-2")
    why = " ".join(cycle.why("default/long")).rpartition("Origin reason is ")[2]
    yield "maintenance" not in why.lower(), (
        gettext("Both nodes are in maintenance, and users read: “{why}” Nobody learns why. Put "
                "the word maintenance into your reason.", why=why))
    return well_done(gettext("The reason that you return is what users read: {why}", why=why))


# -- victims


@check_class(Plugin, "reclaimable")
def protect(answer: type[Plugin]) -> Mistakes:
    """Write `Protect`: pods with the label keep=yes are never victims of reclaim. (The check puts
    it into both tiers.)
    """
    conf = scene.conf_with("mine", tier=1, actions=scene.RECLAIM) + "\n  - name: mine\n"
    some = scene.evicted(scene.run_with(answer, scene.kept_and_plain(), conf))
    if any(pod.startswith("kept") for pod in some):
        return try_again(gettext("{some} is evicted, and it has the label. You name the "
                                 "candidates that *may go*; look at the labels of each "
                                 "candidate, not of the task.", some=some[0]))
    yield not some, (
        "Nobody is evicted, although plain-0 and plain-1 may go. Name the candidates that may go.")
    yield scene.evicted(scene.run_with(answer, scene.kept_and_plain(4, 0), conf)), (
        "All candidates have the label, and one is evicted.")
    by_name = scene.run_with(answer, scene.kept_and_plain(labelled="plain"), conf)
    yield scene.evicted(by_name) != ["kept-0"], (
        "Now pods that are called plain have the label, and those that are called kept have not. "
        "Look at the label, not at the name.")
    yield REJECT in _votes(answer, conf), (
        "Your list is right, and Volcano takes it: only ABSTAIN makes it pass over a list. But "
        "REJECT beside the names of those who may go says two things at once: return PERMIT.")
    return well_done("A plugin names who may go, and the others can only take away from that. With "
                     "an empty list in every tier nobody goes.")


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


def _jobs_of(action: type[Action], cluster: Any, actions: str = "enqueue, mine",
             **more: Any) -> list[str]:
    """The jobs that got nodes, in order."""
    with registered(action={"mine": action}, replace=True, **more):
        committed = cluster.run(scene.conf_with(actions=actions, without="proportion")).committed
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
    yield not jobs, "The action placed nothing. `place(ssn, job)` does it, for one job."
    yield len(jobs) == 1, gettext("Only {jobs} was placed. Go on with the next queue.",
                                  jobs=jobs[0])
    yield "tiny-2" in jobs and "tiny-1" not in jobs, (
        "Queue tiny got its second job, not its first: `waiting(ssn, queue)[0]` is the first.")
    yield jobs != ["big-1", "small-1", "tiny-1"], (
        gettext("Placed were {join}. Wanted is one job of each queue, its first.",
                join=", ".join(jobs)))
    yield "small-1" in _jobs_of(answer, _small_holds_one()), (
        "Queue small holds a pod already, and got a job all the same. `held(ssn, queue)` counts "
        "its pods.")
    yield _jobs_of(answer, crowded(small_pods=9)) != ["big-1", "tiny-1"], (
        "A gang of nine doesn't fit, and must be left alone; the other queues still want their "
        "first job.")
    yield "tiny-2" in _jobs_of(answer, _first_of_tiny_too_big()), (
        "The first job of queue tiny is a gang of nine now, which doesn't fit, and its second job "
        "got the place. Each queue is offered its first job only: whoever waits in front keeps the "
        "turn.")
    return well_done("Then allocate goes on with the rest. An action has the hands, `statement` "
                     "and `commit`; who is served is policy, and could be asked of plugins. That "
                     "is the next section.")


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
        jobs = served(crowded(small_pods=1), first, second)
        yield sorted(jobs) != sorted(wanted), (
            gettext("Placed were {x}. As before, wanted is the first job of each queue.",
                    x=", ".join(jobs) or gettext("no jobs")))
        yield jobs != wanted, (gettext("The queues were served in the order {join}; by need it "
                                       "is {join1}. `sorted` begins with the smallest; "
                                       "`reverse=True` turns that round.", join=", ".join(jobs),
                                       join1=", ".join(wanted)))
    yield "small-1" in served(_small_holds_one(), _points_for(small=9), _points_for()), (
        "Queue small holds a pod already, and got a job all the same. As in FirstAid, only queues "
        "that hold nothing are helped, however large their need is.")
    yield "tiny-2" in served(_first_of_tiny_too_big(), _points_for(tiny=9), _points_for()), (
        "The first job of queue tiny is a gang of nine now, which doesn't fit, and its second job "
        "got the place. As in FirstAid, each queue is offered its first job only.")
    return well_done("The action knows how to help, and the plugins say whom. Neither names the "
                     "other: they meet in the session.")
