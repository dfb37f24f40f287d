"""The pages "Why is it pending" of the documentation, by the causes that lead there; a table in
`tables.toml`.

Volcano: none
"""

import tomllib
from pathlib import Path

TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text("utf-8"))
"""What explanations look up, as plain data."""
PAGES = {code: page for page, codes in TABLES["pages"].items() for code in codes.split()}
"""Code of a cause -> its page."""


def page_of(codes: list[str]) -> str:
    """Return the page of the first cause that has one, "" without.

    >>> page_of(["held_by", "over_deserved"])
    'queue-full'
    """
    return next((PAGES[code] for code in codes if code in PAGES), "")
