"""The pages "Why is it pending" of the documentation, by the causes that lead there; a table in
`tables.toml`.

Volcano: none
"""

import tomllib
from pathlib import Path

from volcano_lab.explain.explanation import Explanation, each_said
from volcano_lab.messages import Message

TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text("utf-8"))
"""What explanations look up, as plain data."""
PAGES = {code: page for page, codes in TABLES["pages"].items() for code in codes.split()}
"""Code of a cause -> its page."""


def page_of(answer: Explanation) -> str:
    """Return the page of the gap in an answer's first line, else of its first cause with a page;
    "" without.

    >>> from volcano_lab.cluster import Cluster
    >>> page_of(Cluster().node("n1", cpu=4).job("a", cpu=6).why("a"))
    'no-node-large-enough'
    """
    gaps = [each.facts["gap"].code.removeprefix("gap.") for each in each_said(answer.said)
            if isinstance(each, Message) and each.facts.get("gap")]
    return next((PAGES[code] for code in (*gaps, *answer.codes) if code in PAGES), "")
