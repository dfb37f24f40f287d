"""Lesson 12: the configuration and the small clusters for plugins of one's own."""

from collections.abc import Mapping
from typing import Any

from IPython.display import display

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.boss import evicted
from volcano_lab.course.kit.results import finding
from volcano_lab.course.kit.scenery import cluster_of, conf_text
from volcano_lab.course.kit.tracing import DataFrame, frame
from volcano_lab.explain import Explainer
from volcano_lab.framework.plugin import Plugin, register_plugin
from volcano_lab.framework.points.rules import PERMIT
from volcano_lab.framework.points.table import extension_points
from volcano_lab.framework.registry import registered
from volcano_lab.messages import gettext
from volcano_lab.trace import TraceReader
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import pictures
from volcano_lab.widgets.plots import NODES

TIERS = (("priority", "gang"), ("predicates", "proportion", "nodeorder"))
"""The plugins of the lesson's configuration, tier by tier."""


def conf_with(plugin: str = "", tier: int = 2, actions: str = "enqueue, allocate",
              arguments: Mapping[str, Any] | None = None, without: str = "") -> str:
    """The lesson's volcano-scheduler.conf, with a plugin of one's own at the end of a tier (1 or
    2), and without another.

    >>> print(conf_with("mine", tier=1, arguments={"mine.weight": 3}))
    actions: "enqueue, allocate"
    tiers:
    - plugins:
      - name: priority
      - name: gang
      - name: mine
        arguments:
          mine.weight: 3
    - plugins:
      - name: predicates
      - name: proportion
      - name: nodeorder
    """
    tiers = [[name for name in names if name != without] + [plugin] * (plugin > "" and at == tier)
             for at, names in enumerate(TIERS, 1)]
    return conf_text(actions, *map(", ".join, tiers), arguments={plugin: arguments or {}}).rstrip()


def points_table(*points: str) -> DataFrame:
    """Extension points as a plugin's author needs them: the method, what it answers, how answers
    combine, the switch.

    >>> points_table("overused").loc["overused(queue)"].tolist()
    ['True or False', 'any one suffices', 'enabledOverused']
    """
    return frame([{"method": f"{name}({', '.join(point.arguments)})",
                   "answers": point.answer.words, "together": point.rule,
                   "switch": ", ".join(point.switches)}
                  for name, point in extension_points(None).items() if name in points], "method")


def run_with(plugin: type[Plugin], cluster: Cluster, conf: str = "") -> Cycle:
    """One cycle in which a class goes by the name "mine"; without a configuration it stands at the
    end of tier 2.
    """
    with registered(plugin={"mine": plugin}):
        return cluster.run(conf or conf_with("mine"))


def two_racks(pods: int = 4, **racks: str) -> Cluster:
    """Rack a has two large nodes, rack b two small ones; *web* waits. `racks` puts nodes elsewhere:
    node_3="a".

    >>> sorted({node for _, _, node in two_racks().run(conf_with()).committed})
    ['node-1', 'node-2']
    """
    cluster = cluster_of("12", "two_racks").job("web", pods=pods)
    for name, rack in racks.items():
        cluster.node(name.replace("_", "-"), labels={"rack": rack})
    return cluster


def by_rack(cycle: Cycle, job: str = "default/web") -> dict[str, int]:
    """How many pods of a job have a node in each rack.

    >>> by_rack(two_racks().run(conf_with()))
    {'a': 4, 'b': 0}
    """
    ssn = cycle.session
    taken = [ssn.nodes[task.node_name].labels["rack"]
             for task in ssn.jobs[job].tasks.values() if task.node_name]
    return {rack: taken.count(rack)
            for rack in sorted({node.labels["rack"] for node in ssn.node_list})}


def one_place(patient: str = "patient", newcomer: str = "newcomer", newcomer_runs: bool = False,
              patient_again: bool = False) -> Cluster:
    """One CPU is free. A queue that holds two pods has waited for longer than one that holds
    nothing.

    With `newcomer_runs` the newcomer has a pod that is older than all others, and runs; a session
    goes through its job after the newcomer's wish. With
    `patient_again` the patient queue has two more wishes, the latest of all; a session goes through
    one of them before its first wish and one after.

    >>> one_place().run(conf_with()).committed
    [['allocate', 'default/new-wish-0', 'node-1']]
    """
    cluster = Cluster().node("node-1", cpu=11 if newcomer_runs else 10)
    for name in (patient, newcomer, "others"):
        cluster.queue(name)
    if newcomer_runs:
        cluster.job("runs-long", queue=newcomer, cpu=1, running={"node-1": 1})
    cluster.job("works", queue=patient, pods=2, cpu=1, running={"node-1": 2})
    cluster.job("full", queue="others", pods=7, cpu=1, min_member=1, running={"node-1": 7})
    cluster.job("old-wish", queue=patient, cpu=1).job("new-wish", queue=newcomer, cpu=1)
    for name in ("again", "wish-again") if patient_again else ():
        cluster.job(name, queue=patient, cpu=1)
    return cluster


class KeptStay(Plugin):
    """Lets reclaim take no pod whose name begins with kept."""

    def reclaimable(self, task, candidates):
        return [pod for pod in candidates if not pod.name.startswith("kept")], PERMIT


def in_maintenance(*nodes: str, when: str = "tonight") -> Cluster:
    """Two nodes of 4 CPUs, of which some have the label `maintenance: tonight`; two jobs, one with
    `short: "yes"`.

    >>> len(in_maintenance("node-1").run(conf_with()).committed)
    4
    """
    cluster = cluster_of("12", "long_and_short")
    for name in nodes:
        cluster.node(name, labels={"maintenance": when})
    return cluster


RECLAIM = "enqueue, allocate, reclaim"


def kept_and_plain(kept: int = 2, plain: int = 2, labelled: str = "kept") -> Cluster:
    """A full node: pods with the label `keep: "yes"` and pods without, of one queue (`labelled`
    names the job that has it); another queue asks for one CPU.

    >>> [row[:2] for row in kept_and_plain().run(conf_with(actions=RECLAIM)).committed]
    [['evict', 'default/kept-0'], ['pipeline', 'default/urgent-0']]
    """
    cluster = Cluster().node("node-1", cpu=kept + plain).queue("rich").queue("poor")
    for name, pods in (("plain", plain), ("kept", kept)):
        if pods:
            cluster.job(name, queue="rich", pods=pods, cpu=1, min_member=1,
                        labels={"keep": "yes"} if name == labelled else {},
                        running={"node-1": pods})
    return cluster.job("urgent", queue="poor", cpu=1)


def who_goes() -> list[dict[str, str]]:
    """Which kind of pod reclaim evicts in two clusters, with `KeptStay` as the plugin protect in
    tier 1, in tier 2, and in both.
    """
    register_plugin("protect", KeptStay)
    in_tier = {tier: conf_with("protect", tier=tier, actions=RECLAIM) for tier in (1, 2)}
    confs = {gettext("tier {number}", number=tier): conf for tier, conf in in_tier.items()}
    confs[gettext("both")] = in_tier[1] + "\n  - name: protect"
    clusters = {"two kept, two plain": kept_and_plain(2, 2), "four kept": kept_and_plain(4, 0)}
    return [{"protect stands in": where} | {
        words: ", ".join(pod.rpartition("-")[0] for pod in evicted(cluster.run(conf)))
        or gettext("none") for words, cluster in clusters.items()} for where, conf in confs.items()]


def scores(trace: TraceReader, task: str) -> list[dict[str, Any]]:
    """One row per node: what each plugin gives it for a task, the sum, and how far it is behind.

    >>> from volcano_lab.scheduler import traced
    >>> scores(traced(two_racks().objects(), conf_with())[0], "default/web-0")[2]["behind the best"]
    18.0
    """
    by_node = trace.scores(task)
    sums = {node: sum(by_plugin.values()) for node, by_plugin in by_node.items()}
    return [{"node": node, **by_plugin, "sum": sums[node],
             "behind the best": max(sums.values()) - sums[node]}
            for node, by_plugin in by_node.items()]


def report(cluster: Cluster, without: str, with_it: str, legend: str = NODES) -> pictures.Picture:
    """Play where pods are placed with one configuration and with another; above it stands why one
    has no node with the other, if one has not.

    >>> report(two_racks(pods=1), conf_with(), conf_with()).spec["moments"]
    ['without', 'with it']
    """
    cycles = {"without": cluster.run(without), "with it": cluster.run(with_it)}
    before, after = ({pod for _, pod, *_ in cycle.committed} for cycle in cycles.values())
    for lost in sorted(before - after)[:1]:
        display(finding(Explainer(cluster.objects(), with_it).why(lost).causes[0].text))
    return pictures.film({name: cycle.plot.nodes("Where pods are placed", cell=2, by="rack",
                                                 legend=legend) for name, cycle in cycles.items()})
