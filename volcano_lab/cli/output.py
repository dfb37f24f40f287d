"""The output of the commands: tables within a width, colours by phase, plain data.

Keys of JSON and YAML are in camelCase and amounts are quantities, as Kubernetes writes them.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from shutil import get_terminal_size
from typing import Any

from volcano_lab.messages import Said, columns, gettext, mark, one_line, padded, printable, wrapped
from volcano_lab.trace import Shown, camel, quantities

COLOURS = {"Running": "green", "Completed": "green", "Inqueue": "yellow", "Pending": "red",
           "Unknown": "red", "error": "red", "warning": "yellow"}
GAP = "  "
_NUMBER = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?([KMGTP]i?|%)?|no limit|")


def width() -> int:
    """Return the number of columns: of the terminal, or 80."""
    return get_terminal_size((80, 24)).columns


def coloured() -> bool:
    """Return whether to use colours: on a terminal, unless NO_COLOR is set; FORCE_COLOR enables
    them anywhere.
    """
    wanted = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return bool(os.environ.get("FORCE_COLOR") or wanted) and not os.environ.get("NO_COLOR")


def styled(text: str, **style: Any) -> str:
    """Return text in a style of `click.style`, if colours are used.

    >>> styled("Running", fg="green")
    'Running'
    """
    if not coloured():
        return text
    import click

    return click.style(text, **style)


def table(rows: Sequence[Mapping[str, Any]], optional: Sequence[str] = (), most: int | None = 80,
          title: str = "") -> str:
    """Return rows as text, a column for each key, names and headers never broken.

    Args:
        rows: Cells by name of their column.
        optional: Columns left out if all cells are zero or empty, and from the first on if there
            are more columns than fit.
        most: The width; None shows all columns.
        title: A line above them.

    >>> print(table([{"job": "a", "placed": 2, "why": ""}], ["why"]))
    JOB  PLACED
    a         2
    """
    if not rows:
        return ""
    # a recording may have any name, also control characters
    cells = [{name: printable(str(row[name]), "\n") for name in rows[0]} for row in rows]
    wide = _columns(cells, optional, most)
    names = list(wide)
    last = names[-1]
    used = sum(wide[name] + len(GAP) for name in names if name != last)
    right = {name for name in names if all(_NUMBER.fullmatch(row[name]) for row in cells)}
    lines = [styled(title, bold=True)] if title else []
    lines.append(styled(_line({name: name.upper() for name in names}, wide, right), dim=True))
    for row in cells:
        head, *more = _wrapped(row[last], (most or 10_000) - used, last not in right)
        lines.append(_line({name: head if name == last else row[name] for name in names}, wide,
                           right))
        lines += [" " * used + part for part in more]
    return "\n".join(lines)


def _columns(cells: Sequence[Mapping[str, str]], optional: Sequence[str], most: int | None
             ) -> dict[str, int]:
    """Return the shown columns, and the width of each."""
    names = [name for name in cells[0] if most is None or name not in optional
             or any(row[name] not in ("", "0", "no") for row in cells)]
    wide = {name: max(columns(text) for text in (name, *(row[name] for row in cells)))
            for name in names}
    for name in optional:
        held = sum(wide.values()) + len(GAP) * (len(wide) - 1)
        if most is not None and name in wide and held > most:
            del wide[name]
    return wide


def _line(row: Mapping[str, str], wide: Mapping[str, int], right: set[str]) -> str:
    line = GAP.join(padded(text, wide[name], name in right) for name, text in row.items()).rstrip()
    phase = next((text for text in row.values() if text in COLOURS), None)
    return line if phase is None else re.sub(
        rf"(?<=\s){phase}(?=\s|$)", styled(phase, fg=COLOURS[phase]), line, count=1)


def _wrapped(text: str, most: int, words: bool) -> list[str]:
    return wrapped(text, most).splitlines() or [""] if words and columns(text) > most else [text]


def print_data(data: Mapping[str, Any], form: str) -> None:
    """Print plain data as JSON or YAML."""
    data = camel(quantities(data))
    if form == "json":
        print(json.dumps(data, indent=2))
        return
    import yaml

    print(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), end="")


def show(output: str, data: Mapping[str, Any], report: Shown | Callable[[int | None], str],
         names: Iterable[str] = ()) -> None:
    """Print the requested form: data, names, or a report of at most some width.

    >>> show("name", {}, lambda most: "a report", ["job/train"])
    job/train
    """
    if output in ("json", "yaml"):
        print_data(data, output)
    elif output == "name":
        print("".join(f"{name}\n" for name in names), end="")
    else:
        most = None if output == "wide" else width()
        print(report(most) if callable(report) else text_of(report, most))


def text_of(shown: Shown, most: int | None = 80) -> str:
    """Return a result as text of some width: sentences, and tables below their titles.

    >>> from volcano_lab.explain.explanation import Waiting
    >>> print(text_of(Waiting([], 3)))
    0 of 3 jobs wait.
    """
    parts, text = [part for part in shown._shown() if part], ""
    for part, following in zip_longest(parts, parts[1:]):
        titles = isinstance(part, str) and isinstance(following, list)
        listed = isinstance(part, str) and part[:2] in ("+ ", "- ")
        text += wrapped(gettext(part), most or 10_000, "  " * listed, "") if isinstance(
            part, str) else table(part, (), most)
        text += "\n" if titles else "\n\n"
    return text.rstrip()


def warn(warnings: Iterable[Said]) -> None:
    """Print warnings to the error output, in the reader's language, below what is printed."""
    sys.stdout.flush()
    most = width() if sys.stderr.isatty() else 100_000  # files get whole lines
    for warning in warnings:
        text = f"{gettext('warning')}{mark(': ')}{one_line(str(warning))}"
        print(wrapped(text, most, "  ", ""), file=sys.stderr)
