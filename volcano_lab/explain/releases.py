"""Releases of Volcano, and which of them decide otherwise than the lab: the table `earlier` of
`tables.toml`.

Volcano: none
"""

import re

from volcano_lab.explain.pages import TABLES

ROWS = TABLES["earlier"]


def number(release: str) -> tuple[int, ...]:
    """Return a release as numbers; one later than any where it is not known.

    >>> number("v1.9.0-rc.1"), number("1.10"), number("latest")
    ((1, 9, 0), (1, 10, 0), (99,))
    """
    found = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", release)
    return tuple(int(each or 0) for each in found.groups()) if found else (99,)


def differs(release: str, row: str) -> bool:
    """Return whether a release decides otherwise than the lab in what a row is about: from `since`
    to before `to`, the first releases with the change, of several lines.

    >>> [differs(release, "apart") for release in ("v1.7.9", "v1.8.0", "v1.8.1", "v1.9.0", "")]
    [True, True, False, False, False]
    """
    runs, mended = number(release), [*map(number, ROWS[row]["to"].split())]
    return number(ROWS[row].get("since", "v0.0")) <= runs and not any(
        each <= runs and (each[:2] == runs[:2] or each == mended[-1]) for each in mended)
