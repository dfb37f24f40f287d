"""The vocabulary of pictures: plain data in, one look, live and still.

Each function returns a `Picture`. With data it shows them; with a function of a lab's facts it is a
panel of that lab. `docs/labs-and-pictures.md` shows each with its data.

>>> picture = bars("Queues", [{"name": "a", "held": 16, "deserved": 28, "limit": 50}], unit="CPUs")
>>> print(picture.alt)
Queues. a: 16 held, 28 deserved, 50 limit (CPUs).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from attrs import define, evolve, field

from volcano_lab.messages import gettext
from volcano_lab.widgets import stills

Data = Any
"""Plain data (dicts, lists, texts, numbers), or a function of a lab's facts that returns them."""
WIDTH = 640
LABELS = ("unit", "of", "limit", "x", "y", "parts", "columns", "heads", "words", "moments")
"""The options of a picture that are read as text."""
Words = Mapping[str, str]


@define
class Picture:
    """A picture of the vocabulary with its title, its legend, its options and its data.

    In a notebook with a kernel it is live: it follows the page's colours, describes its parts, and
    plays its steps. Everywhere else it is a still.
    """

    kind: str
    title: str
    data: Data
    spec: dict[str, Any] = field(factory=dict)
    legend: str = ""
    key: str = ""
    wide: bool | str = False  # "half": a half of the board where that is 1,200 pixels wide
    tall: bool = False
    width: int = WIDTH

    def of(self, facts: Any) -> Data:
        """Return the picture's data for a lab's facts."""
        return self.data(facts) if callable(self.data) else self.data

    def at(self, facts: Any) -> Self:
        """Return the same picture with its data instead of a function."""
        return evolve(self, data=self.of(facts))

    @property
    def fixed(self) -> dict[str, Any]:
        """The constant data of the page."""
        spec = {name: _labels(each) if name in LABELS else each for name, each in self.spec.items()}
        return {"kind": self.kind, "title": gettext(self.title), "legend": gettext(self.legend),
                "spec": spec, "key": self.key or self.kind, "wide": self.wide, "tall": self.tall,
                "width": self.width}

    @property
    def drawing(self) -> dict[str, str]:
        """The still and its text; see `stills.drawn`."""
        return stills.drawn(self.kind, self.fixed | {"data": self.data}, self.width)

    @property
    def alt(self) -> str:
        """The picture as text."""
        return self.drawing["alt"]

    @property
    def svg(self) -> str:
        """The still as SVG; "" for a table, which is HTML."""
        return self.drawing.get("svg", "")

    def __repr__(self) -> str:
        return f"<{self.kind}: {self.title}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        try:
            drawing = self.drawing
            still = {"text/plain": drawing["alt"], "text/html": stills.html(drawing)}
        except stills.NoEngineError as error:
            still = {"text/plain": f"{self!r} {error}"}
        try:
            view, about = self.live()._repr_mimebundle_() or ({}, {})
        except ImportError:
            return still, {}
        return {**view, **still}, about

    def live(self) -> Any:
        """Return it as a widget, which follows the page's colours and plays its steps."""
        from volcano_lab.widgets.live import OnPage

        return OnPage(fixed=self.fixed | {"widget": "picture"}, shown={"data": self.data})


def _labels(words: Any) -> Any:
    """Return texts of a picture in the current language."""
    if isinstance(words, Mapping):
        return {name: gettext(word) for name, word in words.items()}
    return gettext(words) if isinstance(words, str) else [*map(gettext, words)]


def _picture(kind: str, title: str, data: Data, frame: Mapping[str, Any], **spec: Any) -> Picture:
    """Build a picture; `frame` are legend, key, wide, tall and width."""
    given = {name: value for name, value in spec.items() if value is not None}
    return Picture(kind, title, data, given, **frame)


def film(moments: Mapping[str, Picture]) -> Picture:
    """Play pictures of one kind as moments of the first one; the name of each stands below it, and
    the last one is at rest. The longest legend explains all.

    >>> film({"before": bars("Held", [{"name": "a", "held": 1}]),
    ...       "after": bars("Held", [{"name": "a", "held": 2}])}).alt
    'Held. after: a: 2 held.'
    """
    first = next(iter(moments.values()))
    return evolve(first, data=[each.data for each in moments.values()],
                  spec=first.spec | {"moments": [*moments]},
                  legend=max((each.legend for each in moments.values()), key=len))


def channels(title: str, data: Data, *, without: Sequence[str] = (), **frame: Any) -> Picture:
    """Draw queues as channels on one scale: what each deserves (water), holds (pods), may hold and
    has guaranteed, its unplaced jobs below it, its place in the order, and the nodes.

    Args:
        title: one line.
        data: see `widgets.channels`.
        without: those of "nodes", "shares", "lanes", "pods" that are left out; without pods each
            band of water has its number.
        frame: legend, key, wide, tall, width.
    """
    return _picture("channels", title, data, frame, without=list(without))


def bars(title: str, data: Data, *, most: float | None = None, unit: str = "",
         rows: int | None = None, words: Words | None = None, **frame: Any) -> Picture:
    """Draw what queues (or other things) hold, deserve, request and may hold, on one axis.

    Args:
        title: one line.
        data: [{"name", "color", "held", "asked", "deserved", "guarantee", "limit"}], all numbers
            but name and colour; one that is missing or None is not drawn.
        most: where the axis ends; without it at the step above the largest number.
        unit: of the numbers.
        rows: the most rows, so that the height stays.
        words: other labels of the numbers, such as {"held": "used"}.
        frame: legend, key, wide, tall, width.
    """
    return _picture("bars", title, data, frame, max=most, unit=unit, rows=rows, words=words)


def turns(title: str, data: Data, *, slots: int | None = None, lanes: int | None = None,
          **frame: Any) -> Picture:
    """Draw the order in which queues are served, with one lane per queue.

    Args:
        title: one line.
        data: {"queues": [{"queue", "color"}], "turns": [{"queue", "outcome", "pods", "job",
            "share"}]}; outcome is "placed", "discarded", "nothing" or "overused".
        slots: how many turns are drawn; of more, their number is shown.
        lanes: the most queues.
        frame: legend, key, wide, tall, width.
    """
    return _picture("turns", title, data, frame, slots=slots, lanes=lanes)


def sums(title: str, data: Data, *, parts: Sequence[str] = (), rows: int | None = None,
         limit: str | None = None, most: float | None = None, **frame: Any) -> Picture:
    """Draw sums against limits: each row is a part of its own limit, so that units may differ.

    Args:
        title: one line.
        data: [{"name", "label", "note", "parts": [amount, …], "limit", "text", "over", "color"}];
            beside a row is its label, or its name; `text` is at its end, `over` marks an excess;
            `colors` has one for each part, instead of one for all.
        parts: names of the parts, in order (up to three: full, hatched, pale).
        rows: the most rows.
        limit: the label of the line.
        most: where the scale ends, as a multiple of the limit.
        frame: legend, key, wide, tall, width.
    """
    return _picture("sums", title, data, frame, parts=list(parts), rows=rows,
                    limit=limit or "limit", max=most)


def band(title: str, data: Data, *, forgiven: float = 0.1, most: float = 0.3, unit: str = "",
         **frame: Any) -> Picture:
    """Draw differences of a left and a right side against what a tolerant comparison ignores.

    Args:
        title: one line.
        data: [{"name", "value", "text", "over", "strict"}]; `value` is left minus right, `text` is
            at the row's end, `over` marks an excess, `strict` a row without tolerance.
        forgiven: the largest difference that is ignored.
        most: where the scale ends, both ways.
        unit: of the differences.
        frame: legend, key, wide, tall, width.
    """
    return _picture("band", title, data, frame, band=forgiven, max=most, unit=unit)


def tree(title: str, data: Data, *, rows: int | None = None, lines: int | None = None,
         most: float | None = None, unit: str = "", of: str | None = None, **frame: Any) -> Picture:
    """Draw a tree of queues as rows at one scale, and a gang that climbs up to the refusing level.

    Args:
        title: one line.
        data: {"queues": [{"queue", "parent", "size", "allocated", "inqueue", "guarantee",
            "deserved", "color", "gang": {"name", "pods", "fate"}}], "climbs": {gang: {"amount",
            "text", "steps": [{"queue", "text", "fits"}]}}, "climb": gang}. `size` is what a queue
            may hold; fate is "commit", "discard", "refused" or "waits".
        rows: the number of queues to reserve space for.
        lines: how many lines of text are below.
        most: where the scale ends; without it at the largest amount.
        unit: of the amounts.
        of: beside a row, other words for "{0}{1} of {2}": allocated, in queue, size.
        frame: legend, key, wide, tall, width.
    """
    return _picture("tree", title, data, frame, rows=rows, lines=lines, max=most, unit=unit, of=of)


def cluster(title: str, data: Data, *, unit: str = "", cell: float | None = None,
            height: int | None = None, asks: bool | None = None, **frame: Any) -> Picture:
    """Draw nodes with their pods, racks and rooms as frames.

    Args:
        title: one line.
        data: {"nodes": [{"name", "group", "size", "note", "state", "pods": [{"name", "size",
            "color", "state", "label", "ring", "tip"}]}], "groups": [{"name", "group",
            "note", "state"}], "text"}. A pod's state: "running", "allocated" (placed in this
            cycle), "promised", "leaving", "evicted"; a node's or group's: "chosen", "refused" or
            "".
        unit: of the sizes.
        cell: how much idle resource one empty box represents.
        height: pixels; without it as the data need.
        asks: in a lab with `why`: a click asks why a pod is here, or why not on this node.
        frame: legend, key, wide, tall, width.
    """
    return _picture("cluster", title, data, frame, unit=unit, cell=cell, height=height, asks=asks)


def votes(title: str, data: Data, *, rows: int | None = None, **frame: Any) -> Picture:
    """Draw votes by tier: which plugin votes for which task, and which tier decides.

    Args:
        title: one line.
        data: {"tiers": [{"name", "note", "decides", "plugins": [plugin, …]}], "rows": [{"name",
            "votes": {plugin: True, False or None}, "left"}], "verdict"}. None: not asked; `left`:
            the row is in the result. A plugin's second tier has the key "plugin@2". A vote may
            also be {"text", "yes"}, an answer in words.
        rows: the most rows.
        frame: legend, key, wide, tall, width.
    """
    return _picture("votes", title, data, frame, rows=rows)


def states(title: str, data: Data, **frame: Any) -> Picture:
    """Draw the states of a pod with arrows: its path bold and numbered, other transitions faint.

    Args:
        title: one line.
        data: {"way": [[from, to, word], …], "at": state, "pods": [{"name", "state", "color"}]};
            with pods every state shows those in it.
        frame: legend, key, wide, tall, width.
    """
    return _picture("states", title, data, frame)


def timeline(title: str, data: Data, *, until: float, unit: str = "s",
             most: Mapping[str, float] | None = None, lanes: int | None = None,
             lane: int | None = None, **frame: Any) -> Picture:
    """Draw numbers over time: one lane each, changing by steps.

    Args:
        title: one line.
        data: {"lanes": [{"name", "label", "color", "points": [[time, value], …], "line": [[time,
            value], …], "marks": [[time, text], …], "note"}], "ticks": [time, …]}; `line` is drawn
            dashed; a lane without a label has its name above it.
        until: where the axis of time ends.
        unit: of time.
        most: where a lane's scale ends, by its name; other lanes have one scale.
        lanes: the most lanes.
        lane: the height of a lane in pixels.
        frame: legend, key, wide, tall, width.
    """
    return _picture("timeline", title, data, frame, until=until, unit=unit, most=most,
                    lanes=lanes, lane=lane)


def curves(title: str, data: Data, *, x: str, y: str, least: tuple[float, float],
           most: tuple[float, float], height: int | None = None, **frame: Any) -> Picture:
    """Draw curves on logarithmic axes, so that a slope is a power.

    Args:
        title: one line.
        data: {"lines": [{"name", "color", "points": [[x, y], …], "dot": [x, y]}]}; a dot marks the
            current point.
        x: the label of the horizontal axis.
        y: the label of the vertical axis.
        least: where both axes begin; more than 0.
        most: where they end.
        height: of the field, in pixels.
        frame: legend, key, wide, tall, width.
    """
    return _picture("curves", title, data, frame, x=x, y=y, height=height,
                    **{"from": list(least), "to": list(most)})


def statement(title: str, data: Data, *, slots: int | None = None, lines: int | None = None,
              **frame: Any) -> Picture:
    """Draw a gang's statement: outcome, pods in the order in which they were tried, the minimum.

    Args:
        title: one line.
        data: {"outcome": "commit", "discard" or "", "headline", "reason", "minimum", "color",
            "pods": [{"name", "state", "step", "undone", "node"}]}; a pod's state: "running",
            "placed", "promised", "tried" (and undone) or "waiting".
        slots: the most pods.
        lines: the most lines of the reason.
        frame: legend, key, wide, tall, width.
    """
    return _picture("statement", title, data, frame, slots=slots, lines=lines)


def table(title: str, data: Data, *, columns: Mapping[str, str] | Sequence[str] = (),
          heads: Sequence[str] = (), texts: Sequence[str] | bool = (),
          long: Sequence[str] = (), rows: int | None = None, **frame: Any) -> Picture:
    """Show rows as a table; in a lab, numbers show by how much they changed.

    Args:
        title: one line.
        data: [{column: value, …, "color"}]; the first column names the row.
        columns: names of columns, or name -> heading; without them those of the first row.
        heads: those of these headings that are texts, not names.
        texts: the columns of texts, which are aligned left; True: all.
        long: those of them that are cut to one line; hover and focus show the whole.
        rows: the most rows.
        frame: legend, key, wide, tall, width.
    """
    named = dict(columns) if isinstance(columns, Mapping) else {
        name: name.replace("_", " ") for name in columns}
    return _picture("table", title, data, frame, columns=named or None, texts=texts, rows=rows,
                    heads={name: name for name in heads} or None, long=list(long))
