"""The checks of lesson 09: preempt and reclaim."""

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.boss import evicted
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_09.scene import eviction_cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.messages import gettext


def three_queues() -> Cluster:
    """Queue a waits for 2 CPUs; b holds less than it deserves and has the first node, c holds more.

    >>> from volcano_lab.course.lesson_09.scene import conf_with
    >>> evicted(three_queues().run(conf_with("reclaim", one_tier=True)))
    ['c-work-2', 'c-work-1']
    """
    return cluster_of("09", "three")


@check(takes=str, wanted="the text of a configuration")
def whole_gangs(answer: str) -> Mistakes:
    """A configuration with reclaim that takes no pod of a gang at its minimum, and none of a queue
    that holds less than it deserves, but takes pods that a gang can spare."""
    yield "reclaim" not in load_conf(answer).actions, "no_reclaim"
    torn = evicted(eviction_cluster(greedy_minimum=9).run(answer))
    yield torn, try_again("torn_gang", pods=[*torn])
    spared = evicted(eviction_cluster(greedy_minimum=1).run(answer))
    yield not spared, "nothing_spared"
    yield any(pod.startswith("b-work") for pod in evicted(three_queues().run(answer))), (
        "b_has_to_pay")
    return well_done("both_agree")


def broken_cluster() -> Cluster:
    """A cluster in which reclaim does not fire, for three reasons (one of them is in the
    configuration).
    """
    return eviction_cluster(urgent_pods=3, reclaimable=False)


@check(takes=tuple, wanted="a pair, (cluster, conf)")
def reclaim_fires(answer: tuple[Cluster, str]) -> Mistakes:
    """Fix cluster and configuration, so that reclaim frees resources for all 3 pods
    of urgent. Answer: (cluster, conf).
    """
    cluster, conf = answer
    yield "reclaim" not in load_conf(conf).actions, "reclaim_never_runs"
    cycle = cluster.run(conf)
    urgent = cycle.session.jobs["default/urgent"]
    yield len(urgent.tasks) != 3 or urgent.min_available != 3, "gang_of_three"
    yield urgent.pod_group.status.phase == "Pending", "not_admitted"
    yield not cycle.session.queues["b"].reclaimable, "no_candidate"
    waiting = [task.name for task in urgent.tasks.values() if not task.node_name]
    gone = evicted(cycle)
    greedy = [pod for pod in gone if pod.startswith("greedy-")]
    yield waiting or not gone or greedy != gone, try_again(
        "not_greedy", evicted=gone or gettext("none"), waiting=waiting or gettext("none"))
    return well_done("three_things", pods=[*gone])
