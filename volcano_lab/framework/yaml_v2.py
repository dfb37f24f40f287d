"""YAML as Volcano's configuration reader understands it.

Answers to `gopkg.in/yaml.v2`, as far as `volcano-scheduler.conf` uses it: which plain words are truth values and
numbers (`yes`, `off`, `y`, `0x10`, `1e3`), what fits which field, what is refused. PyYAML reads the structure;
its own idea of words and numbers differs (`y` and `1e3` are text to it), so scalars are read here. Kubernetes reads
manifests by the same rules.
Differs on purpose: an unknown key is named in `warnings`, where the Go drops it without a word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import yaml

from volcano_lab.framework.one_sentence import OneSentence

TRUE = {word for base in ("y", "yes", "true", "on") for word in (base, base.capitalize(), base.upper())}
FALSE = {word for base in ("n", "no", "false", "off") for word in (base, base.capitalize(), base.upper())}
NULL = {"", "~", "null", "Null", "NULL"}
SPECIAL_FLOAT = re.compile(r"([-+]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
PLAIN = "plain"
"""Tag of a scalar without quotes and without a tag of its own."""
INT = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]+|0|[1-9][0-9]*)")


class ConfError(OneSentence, ValueError):
    """A configuration that Volcano refuses; `problems` holds a sentence each.

    >>> str(ConfError(["actions names nothing"]))
    'scheduler configuration: actions names nothing.'
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = [f"scheduler configuration: {problem}." for problem in problems]
        super().__init__("\n".join(self.problems))


@lru_cache(maxsize=4096)
def resolve(text: str) -> Any:
    """The value of a plain (unquoted) scalar.

    >>> [resolve(text) for text in ("off", "010", "1e3", "3m", "~")]
    [False, 8, 1000.0, '3m', None]
    """
    if text in TRUE or text in FALSE:
        return text in TRUE
    if text in NULL:
        return None
    if special := SPECIAL_FLOAT.fullmatch(text):
        return math.nan if special[3] else math.copysign(math.inf, -1 if special[1] == "-" else 1)
    plain = text.replace("_", "") if text[0] in "+-0123456789" else text
    if whole := INT.fullmatch(plain):
        sign, digits = whole.groups()
        octal = digits[0] == "0" and digits.isdigit()
        value = (-1 if sign == "-" else 1) * int(digits, 8 if octal else 0)
        if -(2**63) <= value < 2**64:
            return value
    if FLOAT.fullmatch(plain) and math.isfinite(float(plain)):
        return float(plain)
    return text


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Composes nodes and leaves it to `plain_value` what a plain scalar means."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            return PLAIN
        return "tag:yaml.org,2002:" + {yaml.MappingNode: "map", yaml.SequenceNode: "seq"}.get(kind, "str")


def compose_all(text: str) -> Iterator[yaml.Node]:
    """The root node of each document; an empty document gives none. Raises `yaml.YAMLError`.

    >>> [plain_value(node) for node in compose_all("a: 1\\n---\\nb: 'x'")]
    [{'a': 1}, {'b': 'x'}]
    """
    loader = _Loader(text)
    try:
        while loader.check_node():
            yield loader.get_node()
    finally:
        loader.dispose()


def plain_value(node: yaml.Node) -> Any:
    """What a node stands for: dict, list, text, number, truth value or nothing."""
    if isinstance(node, yaml.ScalarNode):
        return scalar_value(node)
    if isinstance(node, yaml.SequenceNode):
        return [plain_value(child) for child in node.value]
    return {_key(key): plain_value(child) for key, child in merged(node)}


def scalar_value(node: yaml.ScalarNode) -> Any:
    """The value of a scalar; quoted text stays text."""
    if node.tag == PLAIN or node.tag.endswith((":int", ":float", ":bool", ":null")):
        value = resolve(node.value)
        return float(value) if node.tag.endswith(":float") and isinstance(value, int) else value
    return node.value


def _key(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return node.value
    raise yaml.constructor.ConstructorError(problem="a key that is not text", problem_mark=node.start_mark)


def merged(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    """The entries of a mapping, those it merges in by `<<` first, so that its own win."""
    inherited = []
    own = []
    for key, child in node.value:
        if key.value == "<<" and key.tag == PLAIN:
            sources = child.value if isinstance(child, yaml.SequenceNode) else [child]
            for source in reversed(sources):
                inherited += merged(source) if isinstance(source, yaml.MappingNode) else []
        else:
            own.append((key, child))
    return inherited + own


def syntax_problem(error: yaml.YAMLError) -> str:
    """What is wrong with text that is no YAML, and in which line."""
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}: " if mark else ""
    return f"{where}not valid YAML ({getattr(error, 'problem', None) or error})"


class Reader:
    """Reads nodes into plain values by a shape and collects what is wrong (`problems`) or without effect (`warnings`).

    A shape is "text", "switch", "text map", "any map", a dict (key -> shape) or a list of one shape.

    >>> reader = Reader("name: gang\\nenable: y")
    >>> reader.struct(reader.root, "", {"name": "text", "enable": "switch"})
    {'name': 'gang', 'enable': True}
    """

    def __init__(self, text: str) -> None:
        self.problems: list[str] = []
        self.warnings: list[str] = []
        try:
            self.root = next(compose_all(text), None)
        except yaml.YAMLError as error:
            raise ConfError([syntax_problem(error)]) from None

    def raise_problems(self) -> None:
        """Raise `ConfError` if anything did not fit."""
        if self.problems:
            raise ConfError(self.problems)

    def value(self, node: yaml.Node, path: str, shape: Any) -> Any:
        """The node's value by its shape, or nothing where it is null or does not fit."""
        if isinstance(shape, dict):
            return self.struct(node, path, shape)
        if isinstance(shape, list):
            return self._items(node, path, shape[0])
        if shape.endswith("map"):
            return self._map(node, path, str if shape == "text map" else None)
        return self._scalar(node, path, str if shape == "text" else bool)

    def struct(self, node: yaml.Node | None, path: str, shape: dict[str, Any]) -> dict[str, Any]:
        """A mapping with known keys; a key given twice counts as last given."""
        values = {}
        for key, child, where in self._pairs(node, path, ", ".join(shape)):
            if key in shape:
                values[key] = self.value(child, where, shape[key])
            else:
                near = get_close_matches(key, shape, 1)
                hint = f"; did you mean {near[0]}?" if near else f"; known here are {', '.join(shape)}."
                place = f"scheduler configuration, {_line(child)}"
                self.warnings.append(f"{place}: {where} is not known and has no effect{hint}")
        return {key: value for key, value in values.items() if value is not None}

    def _pairs(self, node: yaml.Node | None, path: str, allowed: str) -> list[tuple[str, yaml.Node, str]]:
        """The entries of a mapping: key, value, path."""
        if node is None or _is_null(node):
            return []
        if not isinstance(node, yaml.MappingNode):
            self._refuse(node, path, f"a mapping with {allowed}")
            return []
        pairs = []
        for key, child in merged(node):
            name = self._scalar(key, f"a key of {path or 'the configuration'}", str)
            name = "" if name is None else name
            pairs.append((name, child, f"{path}.{name}" if path else name))
        return pairs

    def _items(self, node: yaml.Node, path: str, shape: Any) -> list[Any] | None:
        if _is_null(node):
            return None
        if not isinstance(node, yaml.SequenceNode):
            return self._refuse(node, path, "a list")
        return [self.value(child, f"{path}[{number}]", shape) for number, child in enumerate(node.value)]

    def _map(self, node: yaml.Node, path: str, kind: type | None) -> dict[str, Any]:
        read = (lambda child, where: self._scalar(child, where, kind) or "") if kind else self._anything
        return {key: read(child, where) for key, child, where in self._pairs(node, path, "any keys")}

    def _anything(self, node: yaml.Node, path: str) -> Any:
        if isinstance(node, yaml.SequenceNode):
            return [self._anything(child, f"{path}[{number}]") for number, child in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return {key: self._anything(child, where) for key, child, where in self._pairs(node, path, "any keys")}
        return scalar_value(node)

    def _scalar(self, node: yaml.Node, path: str, kind: type) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            return self._refuse(node, path, "text" if kind is str else "true or false")
        value = scalar_value(node)
        if kind is bool and node.value in ("Null", "NULL") and value is None:
            return False  # the library takes only "null", "~" and nothing as not set
        if value is None or isinstance(value, kind):
            return value
        if kind is str:
            return node.value
        return self._refuse(node, path, "true or false")

    def _refuse(self, node: yaml.Node, path: str, allowed: str) -> None:
        found = {"sequence": "a list", "mapping": "a mapping"}.get(node.id) or f'"{node.value}"'
        self.problems.append(f"{path or 'the text'} ({_line(node)}) is {found}; allowed is {allowed}")


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and scalar_value(node) is None


def _line(node: yaml.Node) -> str:
    return f"line {node.start_mark.line + 1}"
