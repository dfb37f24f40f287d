"""The checks of lesson 15: what a cycle costs. Counts are made by running a cycle and counting, in
the check or in its test.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.effort import effort_of
from volcano_lab.course.kit.questions import CLUSTERS, entries, part
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_15.clusters import COLOURS
from volcano_lab.course.lesson_15.scene import conf_of, cost_cluster
from volcano_lab.debug.calls import Effort
from volcano_lab.framework import ConfError, load_conf
from volcano_lab.framework.registry import registered

WITHOUT_LIMITS = conf_of().replace("  - name: proportion\n", "")
"""No plugin limits a queue or an admission, so that every gang is tried."""


@cache
def _pairs_of(nodes: int, gangs: tuple[int, ...], room: int) -> int:
    """The pairs of a cycle on nodes with room for `room` pods of 1 CPU in all, spread evenly, with
    waiting gangs in that order.
    """
    cluster = Cluster()
    for number in range(nodes):
        cluster.node(f"node-{number}", cpu=room // nodes + (number < room % nodes), memory="1Ti")
    for number, pods in enumerate(gangs):
        cluster.job(f"gang-{number}", pods=pods, cpu=1)
    return effort_of(cluster, WITHOUT_LIMITS, arrays=False).pairs


@check(takes=callable, wanted="a function")
def estimates(answer: Callable[[int, list[int], int], Any]) -> Mistakes:
    """Write `estimate(nodes, gangs, room)`: how many pairs of pod and node a cycle looks at."""
    for nodes, gangs, room, hint in entries("15")["estimates"]["cases"]:
        given = answer(nodes, list(gangs), room)
        if given is None:
            return None
        yield not isinstance(given, int | float), try_again("no_number", given=repr(given))
        counted = _pairs_of(nodes, tuple(gangs), room)
        hints = filter(None, [hint, "pods_that_fail" if given < counted else ""])
        yield given != counted, try_again("pairs_otherwise", *hints, nodes=nodes, gangs=gangs,
                                          room=room, counted=counted, given=given)
    return well_done("pairs")


# -- what repeats


@check(takes=str)
def slow_plugin(answer: str) -> Mistakes:
    """Which plugin takes the most time: red, green, blue, or one of Volcano's own?"""
    plugins, name = slowest_first(), answer.casefold()
    yield name not in plugins, try_again("no_such_plugin", answer=answer, plugins=sorted(plugins))
    if name == plugins[0]:
        return well_done("slow_plugin", name=name)
    what = {"red": "is asked as often as green, but answers fast", "blue": "is asked seldom"}
    return try_again(
        "faster_plugin", name=name, what=what.get(name, "works, but another takes longer"))


def search() -> Effort:
    """A cycle with three plugins of which one is slow.

    >>> sorted(COLOURS)
    ['blue', 'green', 'red']
    """
    with registered(plugin=COLOURS):
        conf = conf_of() + "".join(f"  - name: {name}\n" for name in COLOURS)
        return effort_of(cost_cluster(30, 40, gang=20), conf)


@cache
def slowest_first() -> list[str]:
    """The plugins by the least time of three cycles: what else the machine does only adds to one.
    """
    runs = [search().time_by_plugin() for _ in range(3)]
    return sorted(runs[0], key=lambda name: -min(run[name] for run in runs))


# -- a budget


def busy() -> Cluster:
    """20 nodes, one more with a taint, ten gangs of 4 in two queues, and one of 25 that can't have
    what it needs.
    """
    cluster = cost_cluster(20, 40, gang=4, queues=2).add(part("15", CLUSTERS)["tainted"])
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
        return try_again("conf_refused", error=error)
    effort = effort_of(busy(), answer, arrays=False)
    committed = busy().run(answer).committed
    yield any(node == "broken" for _, _, node in committed), "taint_ignored"
    yield any("giant" in pod for _, pod, _ in committed), "gang_ignored"
    yield len(committed) < 40, try_again("not_all_placed", len=len(committed))
    yield "proportion" not in load_conf(answer).plugin_names(), "shares_ignored"
    calls, budget = effort.calls.total(), usual_calls() // 2
    yield calls > budget, try_again("over_budget", calls=calls, budget=budget)
    return well_done("under_budget", calls=calls, usual_calls=usual_calls())
