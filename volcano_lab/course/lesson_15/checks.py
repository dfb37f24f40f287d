"""The checks of lesson 15: what a cycle costs. Counts are made by running a cycle and counting, in
the check or in its test.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.effort import effort_of
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_15.clusters import COLOURS
from volcano_lab.course.lesson_15.scene import conf_of, cost_cluster
from volcano_lab.debug.calls import Effort
from volcano_lab.framework.config.conf import ConfError, load_conf
from volcano_lab.framework.registry import registered
from volcano_lab.messages import gettext, paragraph

WITHOUT_LIMITS = conf_of().replace("  - name: proportion\n", "")
"""No plugin limits a queue or an admission, so that every gang is tried."""


def gangs_in(nodes: int, gangs: list[int], room: int) -> Cluster:
    """So many nodes with room for `room` pods of 1 CPU in all, spread evenly, and waiting gangs in
    that order.
    """
    cluster = Cluster()
    for number in range(nodes):
        cluster.node(f"node-{number}", cpu=room // nodes + (number < room % nodes), memory="1Ti")
    for number, pods in enumerate(gangs):
        cluster.job(f"gang-{number}", pods=pods, cpu=1)
    return cluster


@cache
def _counted(nodes: int, gangs: tuple[int, ...], room: int) -> int:
    return effort_of(gangs_in(nodes, list(gangs), room), WITHOUT_LIMITS, arrays=False).pairs


@check(takes=callable, wanted="a function")
def estimates(answer: Callable[[int, list[int], int], Any]) -> Mistakes:
    """Write `estimate(nodes, gangs, room)`: how many pairs of pod and node a cycle looks at."""
    cases = [((3, (2, 2), 10), ""),
             ((4, (7,), 5), "The gang doesn't fit. Its pods are tried until the first one fails."),
             ((4, (3, 4), 5),
              "The first gang takes room; the second has only the room that is left."),
             ((2, (6, 2), 3),
              "The first gang doesn't fit: what its pods took is given back, and the second gang "
              "finds it.")]
    for (nodes, gangs, room), hint in cases:
        told = answer(nodes, list(gangs), room)
        if told is None:
            return None
        yield not isinstance(told, int | float), (
            gettext("The function returned {told}; wanted is a number.", told=repr(told)))
        counted = _counted(nodes, gangs, room)
        if told != counted:
            return try_again(paragraph([gettext(
                "{nodes} nodes, gangs of {gangs:and}, room for {room}: a cycle looks at {counted} "
                "pairs; your function says {told}.", nodes=nodes, gangs=gangs, room=room,
                counted=counted, told=told), gettext(hint), gettext(
                "The pods of a gang that fails are looked at, too, up to and with the first that "
                "finds no node.") if told < counted else None]))
    return well_done("The same as the counted cycles, also where a gang fails: its last try costs "
                     "a look at every node.")


# -- what repeats


@check(takes=str)
def slow_plugin(answer: str) -> Mistakes:
    """Which plugin takes the most time: red, green, blue, or one of Volcano's own?"""
    plugins, name = slowest_first(1), answer.casefold()
    if name in plugins[1:]:
        plugins = slowest_first(3)  # before somebody is told that this is wrong
    yield name not in plugins, gettext("There is no {answer}. Name one of: {join}.",
                                       answer=answer, join=", ".join(sorted(plugins)))
    if name == plugins[0]:
        return well_done(gettext("{name} sorts all nodes again for every pair. It is asked as "
                                 "often as red; the calls do not tell, the time does.", name=name))
    what = {"red": "is asked as often as green, but answers fast", "blue": "is asked seldom"}
    return try_again(gettext(
        "{name} {what}. Look at `mystery.time_by_plugin()`: the longest comes first.", name=name,
        what=gettext(what.get(name, "works, but another takes longer"))))


# -- the slow plugin


def search() -> Effort:
    """A cycle with three plugins of which one is slow.

    >>> sorted(COLOURS)
    ['blue', 'green', 'red']
    """
    with registered(plugin=COLOURS):
        conf = conf_of() + "".join(f"  - name: {name}\n" for name in COLOURS)
        return effort_of(cost_cluster(30, 40, gang=20), conf)


@cache
def slowest_first(cycles: int) -> list[str]:
    """The plugins by the least of so many times: what else the machine does only adds to one."""
    runs = [search().time_by_plugin() for _ in range(cycles)]
    return sorted(runs[0], key=lambda name: -min(run[name] for run in runs))


# -- fewer nodes


# -- a budget

TAINTED = """
apiVersion: v1
kind: Node
metadata: {name: broken}
spec: {taints: [{key: broken, value: "yes", effect: NoSchedule}]}
status: {allocatable: {cpu: "64", memory: 256Gi, pods: "110"}}
"""


def busy() -> Cluster:
    """20 nodes, one more with a taint, ten gangs of 4 in two queues, and one of 25 that can't have
    what it needs.
    """
    cluster = cost_cluster(20, 40, gang=4, queues=2).add(TAINTED)
    return cluster.job("giant", queue="queue-0", pods=25, cpu=40, memory="1Gi")


@cache
def usual_calls() -> int:
    """What the lesson's configuration costs in that cluster."""
    return effort_of(busy(), conf_of(), arrays=False).calls.total()


@check(takes=str, wanted="the text of a configuration")
def under_budget(answer: str) -> Mistakes:
    """Change the configuration, so that a cycle needs less than half the calls; gangs, queues'
    shares and taints must hold.
    """
    try:
        load_conf(answer)
    except (ConfError, ValueError) as error:
        return try_again(gettext("Volcano refuses this configuration: {error}", error=error))
    effort = effort_of(busy(), answer, arrays=False)
    committed = busy().run(answer).committed
    yield any(node == "broken" for _, _, node in committed), (
        "A pod went to the node broken, which has a taint. predicates must stay.")
    yield any("giant" in pod for _, pod, _ in committed), (
        "Pods of giant got nodes, though its gang of 25 can't be complete. gang must stay.")
    yield len(committed) < 40, gettext("Not all of the 40 pods that fit got a node, only {len}.",
                                       len=len(committed))
    yield "proportion" not in load_conf(answer).plugin_names(), (
        "Nobody would share between the queues any more. proportion must stay.")
    calls, budget = effort.calls.total(), usual_calls() // 2
    yield calls > budget, (gettext("{calls} calls; allowed are {budget}. Which question is asked "
                                   "for every pair, by more than one plugin, and is a matter of "
                                   "taste?", calls=calls, budget=budget))
    return well_done(gettext("{calls} calls instead of {usual_calls}. What may not be is still "
                             "refused; only which of the good nodes is best is no longer asked. "
                             "That is a price: pods go to the first node that fits.", calls=calls,
                             usual_calls=usual_calls()))
