"""The cluster of the lesson on preempt and reclaim, its configurations, and who said what about
each candidate.

Twelve CPUs are in use: queue a holds 3 and queue b 9, though both deserve 6. Queue a's urgent gang
waits for 2 pods.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from volcano_lab.cluster import Cluster
from volcano_lab.display.styled import FONT
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.trace import TraceReader

if TYPE_CHECKING:
    import altair as alt
    from pandas import DataFrame

HIGH = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
"""
ONE_TIER = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: drf
  - name: proportion
- plugins:
  - name: overcommit
  - name: predicates
  - name: nodeorder
"""
"""The plugins of Volcano's default, with all that name victims in the first tier."""

ACTIONS = {"preempt": "preemptable", "reclaim": "reclaimable"}
"""Action that evicts -> the extension point that it asks about its candidates."""

MAY_GO, STAYS, NOT_ASKED = "may go", "stays", "not asked"


def conf_with(*actions: str, one_tier: bool = False) -> str:
    """Volcano's default configuration with actions after allocate; its victims named by two tiers,
    or by one.

    >>> conf_with("reclaim").splitlines()[0]
    'actions: "enqueue, allocate, backfill, reclaim"'
    """
    base = ONE_TIER if one_tier else DEFAULT_CONF
    return base.replace("backfill", ", ".join(("backfill", *actions)), 1)


@cache
def _fixed() -> Cluster:
    cluster = Cluster().add(HIGH).node("node-1", cpu=6).node("node-2", cpu=6)
    cluster.objects()  # written once, for all clusters that begin as a copy
    return cluster


def eviction_cluster(urgent_pods: int = 2, priority_class: str | None = "high",
                     greedy_minimum: int = 1, old_minimum: int = 1, greedy_cpus: int = 1,
                     reclaimable: bool = True, preemptable: bool = True) -> Cluster:
    """Two full nodes: jobs old (queue a) and greedy (queue b) run, and the gang urgent (queue a)
    waits.

    `greedy_cpus` is the size of greedy's pods: 1 or 3 CPUs, 9 in all. `reclaimable` is what queue b
    says of itself, `preemptable` what greedy's pods say.

    >>> [op[0] for op in eviction_cluster().run(conf_with("reclaim")).committed]
    ['evict', 'pipeline', 'evict', 'pipeline']
    """
    cluster = _fixed().copy().queue("a").queue("b", reclaimable=reclaimable)
    cluster.job("old", queue="a", pods=3, cpu=1, min_member=old_minimum, running={"node-1": 3})
    cluster.job("greedy", queue="b", pods=9 // greedy_cpus, cpu=greedy_cpus,
                min_member=greedy_minimum, running={
                    "node-1": 3 // greedy_cpus, "node-2": 6 // greedy_cpus
                }, labels={} if preemptable else {"volcano.sh/preemptable": "false"})
    return cluster.job("urgent", queue="a", pods=urgent_pods, cpu=1, priority_class=priority_class)


def votes(trace: TraceReader, pod: str) -> list[dict[str, Any]]:
    """What was said of every candidate when room was sought for a pod: a row a candidate, a column
    a plugin.

    A plugin's column is named by its tier and itself ("1 gang"); `fate` is "evicted" where it was.

    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(eviction_cluster().objects(), conf_with("preempt"))
    >>> votes(trace, "default/urgent-0")[-1]
    {'action': 'preempt', 'candidate': 'old-2', 'node': 'node-1', '1 priority': 'may go', '1 gang': 'stays',
     '1 conformance': 'may go', 'fate': 'stays'}
    """
    nodes = {name: task["node"] for name, task in trace.start["tasks"].items()}
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    columns: list[str] = []
    for action, point in ACTIONS.items():
        chosen = {
            name for note in trace.iter("victims", action=action, task=pod)
            for name in note["chosen"]
        }
        for record in trace.iter(point, task=pod):
            if record.kind != "call" or record.action != action:
                continue
            column = f"{record['tier'] + 1} {record['plugin']}"
            columns += [column] if column not in columns else []
            for name in record["candidates"]:
                row = rows.setdefault(
                    (action, name), {
                        "action": action, "candidate": name.removeprefix("default/"), "node":
                        nodes[name], "fate": "evicted" if name in chosen else STAYS
                    })
                row[column] = MAY_GO if name in record["answer"][0] else STAYS
    order = ["action", "candidate", "node", *columns, "fate"]
    return [{column: row.get(column, NOT_ASKED)
             for column in order}
            for _, row in sorted(rows.items())]


def votes_table(trace: TraceReader, pod: str) -> DataFrame:
    """`votes` as a table."""
    import pandas as pd

    return pd.DataFrame(votes(trace, pod)).set_index(["action", "candidate"])


def votes_chart(trace: TraceReader, pod: str, title: str) -> alt.Chart:
    """`votes` as a picture: a column a plugin with its tier before it, a row a candidate, the last
    column its fate.
    """
    import altair as alt

    table = votes(trace, pod)
    cells = [{"candidate": f"{row['candidate']} ({row['node']})", "by": by, "said": row[by],
              "sign": {MAY_GO: "→", STAYS: "■", "evicted": "✕", NOT_ASKED: ""}[row[by]]}
             for row in table for by in row if by not in ("action", "candidate", "node")]
    columns = list(dict.fromkeys(cell["by"] for cell in cells))
    colors = {MAY_GO: "#E69F00", STAYS: "#56B4E9", "evicted": "#D55E00", NOT_ASKED: "#EEEEEE"}
    base = alt.Chart(alt.InlineData(cells)).encode(
        x=alt.X("by:N", title="tier and plugin", sort=columns, axis=alt.Axis(
            labelAngle=0, orient="top")), y=alt.Y("candidate:N", title=None))
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("said:N", title=None, scale=scale))
    told = "; ".join(f"{row['candidate']} {row['fate']}" for row in table)
    chart = (squares + base.mark_text(fontSize=14).encode(text="sign:N")).properties(
        width=110 * len(columns), height=24 * max(len(table), 1), title=title,
        description=f"{title}. {told}")
    return (chart.configure(background="white", font=FONT,
                            padding={"left": 20, "top": 8, "right": 8, "bottom":
                                     8}).configure_view(stroke=None).configure_axis(
                                         labelFontSize=12, titleFontSize=12).configure_title(
                                             fontSize=13, anchor="start"))
