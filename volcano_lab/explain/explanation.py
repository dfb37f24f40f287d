"""An explanation: causes with their numbers, the records behind them, what would change the answer,
and the page "Why is it pending" of the documentation that it leads to.

Volcano: none
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from itertools import chain
from math import inf, isinf
from pathlib import Path
from typing import Any, Self

from attrs import Factory, define, evolve

from volcano_lab.messages import ENGLISH, Message, Said, paragraph
from volcano_lab.trace import Part, Record, Shown
from volcano_lab.trace.shown import html, markdown, plain_text

Amounts = dict[str, float]
TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text("utf-8"))
"""What explanations look up, as plain data."""
PAGES = {code: page for page, codes in TABLES["pages"].items() for code in codes.split()}
"""Code of a cause -> its page."""


@define(slots=True)
class Cause:
    """One reason: a `code` for programs, the messages that it is `said` in, its facts by name
    (`numbers`) and the `records` behind it.

    Amounts are in internal units. `context` marks a cause that accompanies another one, or follows
    from it.
    """

    code: str
    said: Said | Sequence[Said | None]
    numbers: dict[str, Any] = Factory(dict)
    records: list[Record] = Factory(list)
    context: bool = False
    lang: str | None = None

    @classmethod
    def of(cls, code: str, /, *more: Said | None, records: Sequence[Record] = (),
           context: bool = False, **facts: Any) -> Self:
        """Return the cause whose first message has the same code; its numbers are those facts of
        that message which are no messages themselves. `more` are further messages.

        >>> Cause.of("no_gang.owner", owner="PyTorchJob").numbers
        {'owner': 'PyTorchJob'}
        """
        numbers = {name: fact for name, fact in facts.items() if not any(
            each is None or isinstance(each, Message)
            for each in (fact if isinstance(fact, list) else [fact]))}
        return cls(code, [Message(code, **facts), *more], numbers, [*records], context)

    @property
    def sentences(self) -> list[Said]:
        """The messages as a list."""
        return each_said(self.said)

    @property
    def text(self) -> str:
        """The messages as one paragraph, in `lang` or else the current language."""
        return paragraph(self.sentences, self.lang)


class Remedies(list[Any]):
    """Changes that turn an answer: a list, which a notebook shows as a table."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        rows = [{"change": each.change, "effect": each.effect} for each in self]
        return {f"text/{kind}": show(rows) for kind, show in (
            ("plain", plain_text), ("markdown", markdown), ("html", html)) if rows}


@define(slots=True, repr=False)
class Explanation(Shown):
    """Why something is as it is: `head`, the answer in a line, `causes`, `chain` of records, `rows`
    of what came before, and `remedies`, which `find_remedies` searches (None: for a queue, or a
    placed pod, there are none); `text` is head and causes in one paragraph.

    >>> explanation = Explanation("queue a", "Queue a holds nothing.",
    ...                           [Cause("overused", "It deserves nothing.")])
    >>> explanation.text, explanation.codes
    ('Queue a holds nothing. It deserves nothing.', ['overused'])
    """

    about: str
    said: Said | Sequence[Said | None]
    causes: list[Cause] = Factory(list)
    find_remedies: Callable[..., Iterable[Any]] | None = None
    rows: list[dict[str, Any]] = Factory(list)
    _remedies: Remedies | None = None

    def __attrs_post_init__(self) -> None:
        """A sentence beside the first one of a cause stands once, with the cause that comes first.
        """
        said: list[Said] = []
        for cause in self.causes:
            again = [each for each in cause.sentences[1:] if each in said]
            said += cause.sentences
            if again:
                cause.said = [each for each in cause.sentences if each not in again]

    def _shown(self) -> Iterable[Part]:
        yield self.head
        yield from dict.fromkeys(cause.text for cause in self.causes)
        yield self.rows
        if self._remedies:
            yield [{"what_would_change_it": str(remedy)} for remedy in self._remedies]
        elif self.find_remedies and self._remedies is None:  # looking for them takes cycles
            yield str(Message("remedies_at", name=".remedies"))

    def in_language(self, lang: str | None) -> Self:
        """Show this explanation, its causes and its remedies in a language; None changes nothing.
        """
        for cause in self.causes if lang else ():
            cause.lang = lang
        find = self.find_remedies if lang else None
        if find is not None:
            self.find_remedies = lambda seconds: (evolve(each, lang=lang) for each in find(seconds))
        return super().in_language(lang)

    @property
    def messages(self) -> list[Said]:
        """What the head and the causes say."""
        return [*each_said(self.said), *(each for cause in self.causes for each in cause.sentences)]

    @property
    def head(self) -> str:
        """The answer in a line."""
        with self._speaking():
            return paragraph(each_said(self.said))

    @property
    def text(self) -> str:
        """One paragraph."""
        with self._speaking():
            return " ".join(filter(None, dict.fromkeys(
                [self.head, *(cause.text for cause in self.causes)])))

    @property
    def codes(self) -> list[str]:
        """The causes by code, each once, without those that are context (unless nothing else is
        known).
        """
        chosen = [cause for cause in self.causes if not cause.context] or self.causes
        return list(dict.fromkeys(cause.code for cause in chosen))

    @property
    def page(self) -> str:
        """The page of the gap in the first line, else of the first cause with a page; "" without.

        >>> from volcano_lab.cluster import Cluster
        >>> Cluster().node("n1", cpu=4).job("a", cpu=6).why("a").page
        'no-node-large-enough'
        """
        gaps = [each.facts["gap"].code.removeprefix("gap.") for each in each_said(self.said)
                if isinstance(each, Message) and each.facts.get("gap")]
        return next((PAGES[code] for code in (*gaps, *self.codes) if code in PAGES), "")

    def _frames(self) -> dict[str, list[dict[str, Any]]]:
        changes = [{"change": remedy.change, "effect": remedy.effect, "job": remedy.job,
                    "placed": remedy.placed} for remedy in self._remedies or ()]
        return {"causes": [{"code": cause.code, "text": cause.text} for cause in self.causes],
                "changes": changes, "cycles": self.rows}

    def rows_of(self, table: str = "") -> list[dict[str, Any]]:
        """Return the rows of a table; the changes are sought first.

        >>> from volcano_lab.cluster import Cluster
        >>> found = Cluster().node("n1", cpu=4).job("train", cpu=6).why("train")
        >>> found.rows_of("changes")[0]["job"]
        'default/train'
        """
        self._remedies = self.remedies if table == "changes" else self._remedies
        return super().rows_of(table)

    @property
    def chain(self) -> list[Record]:
        """The records behind the causes, in the order of the cycle."""
        records = {record.number: record for cause in self.causes for record in cause.records}
        return [records[number] for number in sorted(records)]

    @property
    def remedies(self) -> Remedies:
        """Changes that turn the answer, each found and verified by running the cycle again
        (`Remedy`).

        The first access runs many cycles; `find_remedies(seconds)` yields the changes within a
        time.
        """
        if self._remedies is None:
            self._remedies = Remedies(self.find_remedies(inf) if self.find_remedies else ())
        return self._remedies

    def remedies_within(self, seconds: float) -> Iterable[Any]:
        """Return the changes that are found within some seconds."""
        return self.find_remedies(seconds) if self.find_remedies and seconds > 0 else ()

    def __repr__(self) -> str:
        return f"<{self.about}: {', '.join(self.codes) or self.head}>"


def each_said(said: Said | Sequence[Said | None]) -> list[Said]:
    """Return one message, or several, as a list without those that are None."""
    return [each for each in ([said] if isinstance(said, str | Message) else said) if each]


@define(slots=True)
class Group:
    """Jobs that wait for the same cause: its `code`, the `answers` for all of them (each about a
    job's name, with its foremost cause alone), and `explain`, the whole answer for the first one.
    """

    code: str
    explain: Callable[[], Explanation]
    answers: list[Explanation] = Factory(list)

    @property
    def jobs(self) -> list[str]:
        """The jobs' names."""
        return [each.about for each in self.answers]

    @property
    def text(self) -> str:
        """The text of the first job's cause."""
        return self.answers[0].causes[0].text


class Waiting(Shown):
    """The jobs that wait, by cause; iterating yields each `Group`, the largest first; `of` is the
    number of all jobs.
    """

    def __init__(self, groups: Sequence[Group], of: int):
        self.groups, self.of = list(groups), of

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        return f"<{self._counted().text(ENGLISH).rstrip('.')}>"

    def _counted(self) -> Message:
        return Message("waiting.counted", n=sum(len(group.jobs) for group in self.groups),
                       jobs=self.of)

    def _shown(self) -> Iterable[Part]:
        yield str(self._counted())
        for group in self.groups:
            yield str(Message("waiting.jobs", names=group.jobs, text=group.text))

    def _frames(self) -> dict[str, list[dict[str, Any]]]:
        return {"jobs": [{"job": job, "code": group.code} for group in self.groups
                         for job in group.jobs]}


def moment_text(seconds: float) -> str:
    """Return a moment (seconds since 1970) in UTC; "none" for one that never comes.

    >>> moment_text(36060.0)
    '1970-01-01 10:01'
    """
    return "none" if isinf(seconds) else datetime.fromtimestamp(
        max(seconds, 0.0), UTC).strftime("%Y-%m-%d %H:%M")


def part(amounts: Amounts, names: Iterable[str]) -> Amounts:
    """Return the amounts of some resources, zero for those that are missing."""
    return {name: amounts.get(name, 0.0) for name in names}


def deciding(causes: Iterable[Cause]) -> set[Any]:
    """Return the plugins that are named by causes, or by their records."""
    facts: Iterable[Any] = chain(*((cause.numbers, *cause.records) for cause in causes))
    return {each.get("plugin") for each in facts}


def over(some: Amounts, limit: Amounts) -> Amounts:
    """Return by how much amounts are over a limit, of the resources in which they are, pods apart.

    >>> over({"cpu": 3.0, "memory": 1.0, "pods": 1.0}, {"cpu": 2.0, "memory": 1.0})
    {'cpu': 1.0}
    """
    return {name: amount - limit.get(name, 0.0) for name, amount in some.items()
            if name != "pods" and amount > limit.get(name, 0.0)}


def added(left: Amounts, right: Amounts, sign: float = 1.0) -> Amounts:
    """Return the sum of two amounts, or with `sign` -1 the difference.

    >>> added({"cpu": 1.0}, {"cpu": 2.0, "memory": 3.0})
    {'cpu': 3.0, 'memory': 3.0}
    """
    names = dict.fromkeys([*left, *right])
    return {name: left.get(name, 0.0) + sign * right.get(name, 0.0) for name in names}


def in_quantity(name: str, amount: float) -> Fraction:
    """Return an amount in internal units as Kubernetes counts it.

    >>> in_quantity("cpu", 2500.0), in_quantity("memory", 1024.0)
    (Fraction(5, 2), Fraction(1024, 1))
    """
    return Fraction(round(amount)) / (1 if name in ("memory", "pods") else 1000)
