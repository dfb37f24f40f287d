"""Controls of a lab, as data: kind, range and labels.

>>> CONTROLS = group("queue a", {"a_weight": slider(2, 1, 9, "weight")})
>>> CONTROLS["a_weight"].full, CONTROLS["a_weight"].choices()[-1]
('weight of queue a', 9)
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict, define, evolve, field

from volcano_lab.messages import ENGLISH, Message, Misuse, gettext, spoken
from volcano_lab.widgets.story import counted

TEXTS = ("label", "unit", "about", "group")
"""What a page shows of a control, beside the labels of its options."""


@define
class Control:
    """A control: its kind, its initial value, the allowed values, and its labels."""

    kind: str
    label: str
    start: Any
    least: float = 0
    most: float = 0
    step: float = 1
    unit: str = ""
    about: str = ""
    options: list[Any] = field(factory=list)
    labels: list[str] = field(factory=list)
    group: str = ""
    color: str = ""
    link: str = ""
    unlimited: tuple[float, ...] = ()
    more: dict[str, Any] = field(factory=dict)

    @property
    def full(self) -> str:
        """The name of the control with its group."""
        return gettext("{label} of {group}", label=gettext(self.label), group=gettext(self.group)
                       ) if self.group else gettext(self.label)

    def page(self, name: str) -> dict[str, Any]:
        """Return the control's data for the page."""
        known = {word: gettext(value) if word in TEXTS else value
                 for word, value in asdict(self).items() if word != "more"}
        if self.unit:  # as it stands behind a number
            first, *rest = counted(2, self.unit, "2").partition(" ")
            known["unit"] = "".join(rest).strip() if first == "2" else gettext(self.unit)
        return known | {"name": name, "options": self.options or None, "labels": [
            gettext(label) for label in self.labels]} | self.more

    def choices(self) -> list[Any]:
        """Return all allowed values."""
        if self.kind == "switch":
            return [False, True]
        if self.options:
            return list(self.options)
        count = int((self.most - self.least) / self.step + 1e-9)
        return [self._at(number) for number in range(count + 1)]

    def _at(self, number: int) -> float:
        value = self.least + number * self.step
        return value if isinstance(value, int) else round(value, 9)

    def check(self, name: str, value: Any) -> Any:
        """Return the value of the control; a number between two steps is rounded to the nearer.

        Raises:
            ValueError: for a value that is not allowed.
        """
        if self.kind in ("slider", "handle") and not self.options:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise Misuse("{name} is {value}; allowed is a number", name=name, value=repr(value))
            if not self.least <= value <= self.most:
                raise Misuse("{name} is {value}; allowed is {least} to {most}", name=name,
                             value=value, least=self.least, most=self.most)
            return min(self._at(round((value - self.least) / self.step)), self.choices()[-1])
        allowed: Sequence[Any] = self.choices()
        if value not in allowed:
            raise Misuse("{name} is {value}; allowed are {options:,}", name=name,
                         value=repr(value), options=[*map(str, allowed)])
        return value

    def words(self, value: Any) -> str:
        """Return a value as the page shows it."""
        if self.options:
            return gettext(self.labels[self.options.index(value)])
        if value in self.unlimited:
            return gettext("no limit")
        if isinstance(value, bool):
            return gettext("on" if value else "off")
        return f"{value:g}" if isinstance(value, int | float) else str(value)

    def sentence(self, before: Any, now: Any) -> str:
        """Return the sentence of a move."""
        value, was = self.words(now), self.words(before)
        if self.start not in (before, now):
            was = str(Message("move.start", before=was, start=self.words(self.start)))
        if self.unit and not self.options and now not in self.unlimited:
            value = counted(now, self.unit, value)
        head = gettext(self.group or self.label)
        if spoken() == ENGLISH:
            head = f"{head[:1].upper()}{head[1:]}"
        if not self.group:
            return str(Message("move", control=head, value=value, before=was))
        return str(Message("move.in_group", group=head, control=gettext(self.label), value=value,
                           before=was))


def slider(start: Any, least: float = 0, most: float = 0, label: str = "", *, step: float = 1,
           unit: str = "", about: str = "", options: Mapping[str, Any] | None = None) -> Control:
    """Create a slider from `least` to `most`, or over `options`, a mapping from labels to values.

    >>> slider(0.1, label="over", options={"none": 0, "a tenth": 0.1}).words(0.1)
    'a tenth'
    """
    labels, values = list(options or {}), list((options or {}).values())
    return Control("slider", label, start, least, most, step, unit, about, values, labels)


def handle(start: Any, least: float, most: float, label: str, *, step: float = 1, unit: str = "",
           options: Sequence[Any] = (), unlimited: Sequence[float] = ()) -> Control:
    """Create a handle on a picture: a number, or one of `options`; `unlimited` mean no limit."""
    return Control("handle", label, start, least, most, step, unit, "", list(options),
                   [str(each) for each in options], unlimited=tuple(unlimited))


def choice(start: Any, options: Mapping[str, Any] | Sequence[Any], label: str, *,
           about: str = "") -> Control:
    """Create a menu of values, or of labels with their values."""
    named = options if isinstance(options, Mapping) else {str(each): each for each in options}
    return Control("choice", label, start, about=about, options=list(named.values()),
                   labels=list(named))


def switch(start: bool, label: str, *, about: str = "") -> Control:
    """Create a switch that is on or off."""
    return Control("switch", label, start, about=about)


def group(title: str, controls: Mapping[str, Control], *, color: str = "", link: str = ""
          ) -> dict[str, Control]:
    """Put controls under one heading; `color` marks it, `link` is highlighted with it."""
    return {name: evolve(control, group=title, color=color, link=link)
            for name, control in controls.items()}
