"""The end of a lesson: its conclusions, and where they are in the real Volcano."""

from collections.abc import Mapping, Sequence

from attrs import define

from volcano_lab.course.kit.markup import INK, LINE, fold, html, plain
from volcano_lab.course.kit.questions import RECAP, opened, part
from volcano_lab.messages import ENGLISH, Misuse, mark, spoken

SOURCE = "https://github.com/volcano-sh/volcano/blob/v1.14.0/"
KINDS = {"files": "file", "flags": "flag or setting", "metrics": "metric", "log": "log line",
         "commands": "command"}
"""What a recap may name -> its word in the first column."""


@define(frozen=True, slots=True, repr=False)
class Recap:
    """A list of sentences, and rows of (kind, where, what)."""

    learned: tuple[str, ...]
    rows: tuple[tuple[str, str, str], ...]

    def __repr__(self) -> str:
        lines = [f"- {plain(sentence)}" for sentence in self.learned]
        lines += ["", plain("In the real Volcano:")] if self.rows else []
        return "\n".join(lines + [f"- {plain(kind)}{mark(': ')}{where} ({plain(what)})"
                                  for kind, where, what in self.rows])

    def _repr_html_(self) -> str:
        points = "".join(f"<li>{html(sentence)}</li>" for sentence in self.learned)
        cell = (f'style="border: 1px solid {LINE}; padding: 4px 10px; text-align: left; '
                'vertical-align: top; white-space: normal"')
        heads = "".join(f'<th scope="col" {cell}>{html(head)}</th>'
                        for head in ("", "in the real Volcano", "what it is"))
        first = cell if spoken() == ENGLISH else cell.replace("normal", "nowrap")
        rows = "".join(  # a browser parts Chinese words anywhere
            f'<tr><th scope="row" {first}>{html(kind)}</th><td {cell}>{_where(kind, where)}</td>'
            f"<td {cell}>{html(what)}</td></tr>" for kind, where, what in self.rows)
        table = ('<table style="border-collapse: collapse; margin: 8px 0">'
                 f'<thead><tr>{heads}</tr></thead>{rows}</table>')
        listed = f'<ul style="margin: 4px 0">{points}</ul>' if points else ""
        return (f'<div style="color: {INK}; font-size: 14px; line-height: 1.5; max-width: '
                f'900px">{listed}' f"{fold('In the real Volcano', table) if rows else ''}</div>")


def recap() -> Recap:
    """Return the conclusions of the open lesson, and where they are in the real Volcano.

    It is the entry `recap` of the lesson's `questions.yaml`: `points` is a list of sentences;
    `files`, `flags`, `metrics`, `log` and `commands` map places to their meaning. A file is a path
    in Volcano's repository; it becomes a link to v1.14.0, with "#L12" or without.

    >>> opened.number = "03"
    >>> print(str(recap()).splitlines()[0])
    - Each round offers what is left by weight; ...
    """
    return recap_of(**part(opened.number, RECAP))


def recap_of(points: Sequence[str] = (), **real: Mapping[str, str]) -> Recap:
    """Return a recap of an entry's parts. Raises `Misuse` for an unknown part."""
    unknown = real.keys() - KINDS.keys()
    if unknown:
        raise Misuse("a recap has {kinds:,}; found {unknown:,}", kinds=[*KINDS],
                     unknown=sorted(unknown))
    rows = [(KINDS[kind], where, what)
            for kind in KINDS
            for where, what in real.get(kind, {}).items()]
    return Recap(tuple(points), tuple(rows))


def _where(kind: str, where: str) -> str:
    code = html(f"`{where}`")
    return f'<a href="{SOURCE}{where}">{code}</a>' if kind == KINDS["files"] else code
