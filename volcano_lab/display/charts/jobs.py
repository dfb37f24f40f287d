"""Jobs in a trace, as charts: how gangs fill, what statements did and how they ended, who keeps and
who lets go victims.
"""

from typing import Any

import altair as alt

from volcano_lab.display.charts.cells import color, matrix, one_of, ranked
from volcano_lab.display.styled import INK, styled
from volcano_lab.trace import TraceReader, short
from volcano_lab.trace.views import jobs
from volcano_lab.trace.views.jobs import ABSTAINS, MAY_GO, NOT_ASKED, STAYS

OUTCOMES = {"commit": "#009E73", "discard": "#D55E00", "open": "#8C8C8C"}
VERDICTS = {MAY_GO: "#56B4E9", STAYS: "#D55E00", ABSTAINS: "#D9D9D9", NOT_ASKED: "#F2F2F2",
            "evicted": "#0072B2"}
"""What is said of a candidate -> its colour; the cell says it, too."""


def _gang_rows(trace: TraceReader) -> list[dict[str, Any]]:
    """Each job's numbers at every step, and once more after the last, so that its line has the last
    one, too.
    """
    changes = list(jobs.gangs(trace))
    last = max((row["step"] for row in changes), default=0)
    waiting = {row["job"] for row in changes if row["step"] == 0 and row["placed"] < row["pods"]}
    moved = {row["job"] for row in changes if row["step"]}
    rows = []
    for job in sorted(waiting | moved):
        known: dict[str, Any] = {}
        mine = {row["step"]: row for row in changes if row["job"] == job}
        for step in range(last + 2):
            known = mine.get(step, known)
            rows.append({"step": step, "job": short(job), "placed": known["placed"],
                         "least": known["min_available"],
                         "with_promised": known["placed"] + known["promised"],
                         "pods": known["pods"]})
    return rows


def gang_progress(trace: TraceReader, title: str = "") -> alt.Chart:
    """Of each job how many pods have a place, step by step (dashed: with those that were promised
    one), and its minimum.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> cluster = Cluster().node("n1", cpu=3).job("train", pods=4, min_member=2, cpu=1)
    >>> trace, _ = traced(cluster.objects())
    >>> gang_progress(trace).to_dict()["description"]
    'Pods with a place, most and at the end: train 3 and 3 of 4, needs 2'
    """
    rows = _gang_rows(trace)
    base = alt.Chart().encode(
        x=alt.X("step:Q", title="step", axis=alt.Axis(tickMinStep=1, grid=False)))
    most = max([max(row["pods"], row["least"]) for row in rows], default=1)
    y = alt.Y("placed:Q", title="pods", scale=alt.Scale(domain=[0, most]), axis=alt.Axis(
        tickMinStep=1, tickCount=4))
    placed = base.mark_area(interpolate="step-after", color="#0072B2", opacity=0.8).encode(y=y)
    promised = base.mark_line(interpolate="step-after", color="#009E73",
                              strokeDash=[4, 3]).encode(y="with_promised:Q")
    least = base.mark_line(color=INK, strokeWidth=2).encode(y="least:Q")
    told = []
    for job in dict.fromkeys(row["job"] for row in rows):
        mine = [row for row in rows if row["job"] == job]
        last = mine[-1]
        told.append(f"{job} {max(row['placed'] for row in mine)} and {last['placed']} of "
                    f"{last['pods']}, needs {last['least']}")
    layers = alt.layer(placed, promised, least, data=alt.InlineData(rows)).properties(
        width=210, height=90)
    chart = layers.facet(facet=alt.Facet("job:N", title=None), columns=3)
    return styled(chart, title, f"Pods with a place, most and at the end: {'; '.join(told)}")


def _statement_rows(trace: TraceReader) -> list[dict[str, Any]]:
    rows = []
    for row in jobs.statements(trace):
        if row["statement"] is not None:
            did = [word for word, *_ in row["steps"] if not word.startswith("undo ")]
            rows.append({**row, "job": short(row["job"]), "count": len(did), "end": row["to"] + 1,
                         "did": ", ".join(did), "outcome": row["outcome"] or "open"})
    return rows


def statements(trace: TraceReader, title: str = "") -> alt.Chart:
    """A bar a statement, from its first record to its last, in the line of its job: committed,
    discarded, or left open.

    In a bar stands how many operations it had. `charts.statement.pod_states` shows what they did to
    each pod.

    >>> from volcano_lab.course.lesson_06.scene import SCENES
    >>> statements(SCENES["a gang that does not fit: discard"]()).to_dict()["description"]
    'Statements: allocate for train, 2 operations, discard'
    """
    rows = _statement_rows(trace)
    base = alt.Chart().encode(y=alt.Y("job:N", title=None, sort=None))
    scale = alt.Scale(domain=[0, max(len(trace.records), 1)], nice=False)
    bars = base.mark_bar(size=16).encode(
        x=alt.X("from:Q", title="record", scale=scale), x2="end:Q",
        color=color("outcome:N", OUTCOMES),
        tooltip=["statement:Q", "action:N", "job:N", "did:N", "outcome:N"])
    words = base.mark_text(align="left", dx=4).encode(x="end:Q", text="count:Q")
    told = "; ".join(f"{row['action']} for {row['job']}, {row['count']} operations, "
                     f"{row['outcome']}" for row in rows)
    layers = alt.layer(bars, words, data=alt.InlineData(rows)).properties(
        width=620, height=alt.Step(22))
    return styled(layers, title, f"Statements: {told or 'none'}")


def _victim_rows(trace: TraceReader, task: str | None, question: int | None
                 ) -> list[dict[str, Any]]:
    rows = list(jobs.victims(trace, task))
    told = {row["question"] for row in rows if row["evicted"]} or {row["question"] for row in rows}
    shown = [row for row in rows if row["question"] == (question or min(told, default=0))]
    cells = [{"by": f"tier {row['tier']}: {row['plugin']}", "candidate": short(row["candidate"]),
              "verdict": row["verdict"], "task": short(row["task"]), "action": row["action"]}
             for row in shown]
    ends = {row["candidate"]: "evicted" if row["evicted"] else MAY_GO if row["agreed"] else STAYS
            for row in shown}
    return cells + [{"by": "in the end", "candidate": short(candidate), "verdict": verdict,
                     "task": short(shown[0]["task"]), "action": shown[0]["action"]}
                    for candidate, verdict in ends.items()]


def victims(trace: TraceReader, task: str | None = None, question: int | None = None,
            title: str = "") -> alt.Chart:
    """A column a candidate, a row a plugin with its tier: who lets it go and who keeps it; the last
    row is what came of it.

    `question` says which search for victims (None: the first that evicted somebody, or else the
    first), of those for a pod.

    >>> from volcano_lab.course.lesson_06.scene import SCENES
    >>> victims(SCENES["room is made: evict, pipeline, commit"]()).to_dict()["description"]
    'reclaim for train-0: web-0 may go; web-1 evicted'
    """
    rows = _victim_rows(trace, task, question)
    ends = [f"{row['candidate']} {row['verdict']}" for row in rows if row["by"] == "in the end"]
    told = (f"{rows[0]['action']} for {rows[0]['task']}: {'; '.join(ends)}" if rows else
            "No victims were sought")
    return matrix(rows, title, told, x=ranked(alt.X, "candidate:N", labelAngle=-40, orient="top"),
                  y=ranked(alt.Y, "by:N", labelLimit=200), color=color("verdict:N", VERDICTS),
                  word="verdict:N", white=one_of("verdict", [STAYS, "evicted"]), size=(76, 24),
                  strokeWidth=2)
