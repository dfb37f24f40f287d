"""The task state machine as a still chart (altair): from each state the states that a task may go
to next.
"""

from itertools import pairwise

import altair as alt

from volcano_lab.api.status import TRANSITIONS, TaskStatus
from volcano_lab.display.charts.colors import color
from volcano_lab.display.styled import GROUND, styled
from volcano_lab.trace.language import say

WAY = ("Pending", "Allocated", "Binding", "Bound", "Running", "Succeeded")
ROOM = {("Pending", "Pipelined"), ("Running", "Releasing"), ("Bound", "Releasing")}
BACK = {("Allocated", "Pending"), ("Pipelined", "Pending"), ("Binding", "Pending"),
        ("Releasing", "Running")}
COLORS = {"the way of a pod": "#0072B2", "room is made": "#F0E442", "taken back": "#D55E00",
          "also legal": "#D9D9D9"}


def transitions(title: str = "") -> alt.Chart:
    """A row a state, a column a next state: numbers are the way of a pod when all goes well; an
    empty cell is illegal.

    >>> len(transitions().layer)
    2
    """
    steps = {pair: str(number)
             for number, pair in enumerate(pairwise(WAY), 1)} | {("Pending", "Binding"): "1, 2"}
    rows = []
    for old in TaskStatus:
        for new in sorted(TRANSITIONS[old]):
            pair = (str(old), str(new))
            kind, word = (("the way of a pod", steps[pair]) if pair in steps else
                          ("room is made", "room") if pair in ROOM else
                          ("taken back", "back") if pair in BACK else ("also legal", "ok"))
            rows.append({"from": pair[0], "to": pair[1], "kind": say(kind), "word": say(word)})
    names = [str(status) for status in TaskStatus]
    axis = alt.Axis(labelAngle=0, titleAngle=0, domain=False, ticks=False, grid=False)
    given = {"sort": names, "axis": axis, "scale": alt.Scale(domain=names)}
    told = "; ".join(
        f"{old} → {'/'.join(str(new) for new in sorted(TRANSITIONS[old])) or '–'}"
        for old in TaskStatus)
    colors = {say(kind): shade for kind, shade in COLORS.items()}
    on_dark = alt.FieldOneOfPredicate("kind", [say("the way of a pod"), say("taken back")])
    base = alt.Chart().encode(x=alt.X("to:N", title="to", **given),
                              y=alt.Y("from:N", title="from", **given))
    cells = base.mark_rect(stroke=GROUND, strokeWidth=2).encode(
        color=color("kind:N", colors, legend=alt.Legend(orient="bottom", columnPadding=40)))
    words = base.mark_text(fontSize=14).encode(
        text="word:N", color=alt.condition(on_dark, alt.value("white"), alt.value("black")))
    return styled(alt.layer(cells, words, data=alt.InlineData(rows)).properties(
        width=alt.Step(86), height=alt.Step(24)), title, told)
