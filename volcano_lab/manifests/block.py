"""A line-by-line reader for the YAML of `kubectl get -o yaml`: thirty times as fast as PyYAML's
Python parser, the only one in a browser.

It supports only the block style (keys, lists, one-line scalars, `|` texts) and gives up at the
first line that may be anything else, so that its values never differ from those of
`framework.config.yaml.documents`, which then reads that part.

Volcano: none
"""

import json
import re
from typing import Any

import yaml

from volcano_lab.framework.config.yaml import documents, resolve

MOST_DEPTH, MOST_LINES = 60, 8_000_000
ITEM = re.compile(r"^(?=- )", re.MULTILINE)
ITEMS = re.compile(r"(?:apiVersion: v1\n)?items:\n(?=- )")
END = re.compile(r"^kind: List\n(?:metadata:\n(?:  .*\n)*)?\Z", re.MULTILINE)
KEY = re.compile(r"""([\w./~-]+(?::[\w./~-]+)*|'[^'\\]+'|"[^"\\]+"):(?: (.*))?""")
PLAIN = re.compile(r"""[^\s\[\]{}&*!|>'"%@`,#=<?:-](?:[^:#]|:(?=\S)|(?<=\S)#)*(?<!\s)"""
                   r"|-?[.\d][\w.+-]*")
SINGLE = re.compile(r"'((?:[^']|'')*)'")
DOUBLE = re.compile(r'"(?:[^"\\]|\\["\\/bfnrt]|\\u(?!d[89a-f])[0-9a-f]{4})*"')
TEXT = re.compile(r"\|(-?)")


class Unknown(Exception):
    """A line that may have another meaning."""


def listed(text: str) -> list[Any] | None:
    r"""Return the documents of a text printed by kubectl; None if it has no List of objects.

    >>> listed("apiVersion: v1\nitems:\n- kind: Pod\nkind: List\n")
    [{'apiVersion': 'v1', 'items': [{'kind': 'Pod'}], 'kind': 'List'}]
    >>> listed("kind: Pod\n")
    """
    if not ITEMS.search(text) or text.count("\n") > MOST_LINES:
        return None
    parts = re.split(r"^---\n", text, flags=re.MULTILINE)
    try:
        found = [_document(part) for part in (parts if parts[0] else parts[1:])]
    except (yaml.YAMLError, Unknown):
        return None  # the reader of the whole text reports the error's line
    return found


def _document(text: str) -> Any:
    head, end = ITEMS.match(text), END.search(text)
    if head is None or end is None:
        return _only(text)
    items = ITEM.split(text[head.end():end.start()])[1:]
    return _only(head[0] + end[0]) | {"items": [_item(item) for item in items]}


def _only(text: str) -> Any:
    """Return the value of any YAML that is one document."""
    found = list(documents(text))
    if len(found) != 1:
        raise Unknown
    return found[0]


Line = tuple[int, str]
"""The number of leading spaces (-1 for an empty line), and the rest."""


def _item(text: str) -> Any:
    """Return the value of an item; complex ones are read as any YAML."""
    try:
        if not text.replace("\n", "").isprintable() or not text.endswith("\n"):
            raise Unknown
        lines = [_line(line) for line in text[:-1].split("\n")]
        lines[0] = 2, lines[0][1][2:]
        value, at = _value([*lines, (0, "")], 0, 0)
        if at < len(lines):
            raise Unknown
        return value
    except Unknown:
        (value,) = _only(text)
        return value


def _line(line: str) -> Line:
    text = line.lstrip(" ")
    if line and not text:
        raise Unknown
    return (len(line) - len(text), text) if line else (-1, "")


def _value(lines: list[Line], at: int, depth: int) -> tuple[Any, int]:
    """Return the mapping or list that begins in a line, and the line after it."""
    if depth > MOST_DEPTH:
        raise Unknown
    return (_list if lines[at][1].startswith("- ") else _map)(lines, at, depth)


def _list(lines: list[Line], at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    indent = lines[at][0]
    while lines[at][0] == indent and lines[at][1].startswith("- "):
        text = lines[at][1][2:]
        if text.startswith("- ") or KEY.fullmatch(text):
            lines[at] = indent + 2, text
            value, at = _value(lines, at, depth + 1)
        else:
            value, at = _scalar(text, lines, at, indent)
        found.append(value)
    return found, at


def _map(lines: list[Line], at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    indent = lines[at][0]
    while lines[at][0] == indent and not lines[at][1].startswith("- "):
        entry = KEY.fullmatch(lines[at][1])
        if entry is None:
            raise Unknown
        key, text = entry[1][1:-1] if entry[1][0] in "'\"" else entry[1], entry[2]
        if key in found or key == "<<":
            raise Unknown
        if text is None:
            found[key], at = _below(lines, at + 1, indent, depth)
        else:
            found[key], at = _scalar(text, lines, at, indent)
    return found, at


def _below(lines: list[Line], at: int, indent: int, depth: int) -> tuple[Any, int]:
    """Return the value below a key: nothing, a mapping or a list, which may be unindented."""
    deeper, text = lines[at]
    if deeper > indent or (deeper == indent and text.startswith("- ")):
        return _value(lines, at, depth + 1)
    return None, at


def _scalar(text: str, lines: list[Line], at: int, indent: int) -> tuple[Any, int]:
    """Return a value of one line, or a text of several after `|`."""
    if text in ("{}", "[]"):
        value: Any = {} if text == "{}" else []
    elif PLAIN.fullmatch(text):
        value = resolve(text)
    elif quoted := SINGLE.fullmatch(text):
        value = quoted[1].replace("''", "'")
    elif DOUBLE.fullmatch(text):
        value = json.loads(text)
    elif literal := TEXT.fullmatch(text):
        return _text(lines, at + 1, indent, literal[1])
    else:
        raise Unknown
    if not -1 < lines[at + 1][0] <= indent:
        raise Unknown  # the scalar may continue in the next line
    return value, at + 1


def _text(lines: list[Line], at: int, indent: int, end: str) -> tuple[str, int]:
    """Return a text without its indentation."""
    deeper, kept = lines[at][0], []
    while lines[at][0] >= deeper > indent or lines[at][0] == -1:
        kept.append(" " * (lines[at][0] - deeper) + lines[at][1])
        at += 1
    if not kept or not kept[-1] or lines[at][0] > indent:
        raise Unknown
    return "\n".join(kept) + ("" if end else "\n"), at
