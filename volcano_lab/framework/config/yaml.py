"""YAML as parsed by Kubernetes and by Volcano's configuration reader (`gopkg.in/yaml.v2`).

PyYAML composes the nodes; this module decides which plain scalars are booleans and numbers (`yes`,
`off`, `y`, `0x10`, `1e3`) and bounds memory and time: depth, values (with those that aliases
repeat), documents, digits of a number. Differs on purpose: unknown and repeated keys of a
configuration are listed in `warnings`, where the Go drops them silently; a manifest's repeated key
is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import yaml
from yaml import events
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from volcano_lab.messages import Message, OneSentence, Said, capped, did_you_mean, one_line

TRUE = {word for base in ("y", "yes", "true", "on")
        for word in (base, base.capitalize(), base.upper())}
FALSE = {word for base in ("n", "no", "false", "off")
         for word in (base, base.capitalize(), base.upper())}
NULL = {"", "~", "null", "Null", "NULL"}
SPECIAL_FLOAT = re.compile(r"([-+]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
RESOLVED = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))
PLAIN = "plain"
MOST_DEPTH, MOST_VALUES, MOST_DOCUMENTS, MOST_DIGITS = 200, 2_000_000, 100_000, 400
LONG, PART = 1 << 20, 1 << 14
INT = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]+|0|[1-9][0-9]*)")


class ConfError(OneSentence, ValueError):
    """A configuration that Volcano refuses, for one reason with its facts, or for several: `found`
    holds them, and `problems` a sentence for each; `conf` is it where it could be read.

    >>> str(ConfError("actions names {name}", name="nothing"))
    'scheduler configuration: actions names nothing.'
    """

    def __init__(self, problems: str | list[Message], /, **facts: Any) -> None:
        self.conf = facts.pop("conf", None)
        found = [OneSentence(problems, **facts).said] if isinstance(problems, str) else problems
        self.found = capped([Message(
            "conf.asks" if isinstance(each.facts.get("hint"), Message) else "conf.problem",
            what=each) for each in found])
        self.problems = [one_line(str(each)) for each in self.found]
        super().__init__("\n".join(self.problems))


@lru_cache(maxsize=4096)
def resolve(text: str) -> Any:
    """Return the value of a plain (unquoted) scalar.

    >>> [resolve(text) for text in ("off", "010", "1e3", "3m", "~")]
    [False, 8, 1000.0, '3m', None]
    """
    if text in TRUE or text in FALSE or len(text) > MOST_DIGITS:
        return text if len(text) > MOST_DIGITS else text in TRUE
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


def documents(text: str) -> Iterator[Any]:
    r"""Return the value of each document: dicts, lists, text, numbers; None for an empty one.

    Raises:
        yaml.YAMLError: The text is not YAML, exceeds a bound, or repeats a key.

    >>> list(documents("a: &x [1, off]\nb: *x\n---\nb: 'x'"))
    [{'a': [1, False], 'b': [1, False]}, {'b': 'x'}]
    """
    return map(value_of, nodes(text))


def nodes(text: str) -> Iterator[yaml.Node]:
    """Return the node of each document. Raises `yaml.YAMLError`."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(_in_parts(text))
    composer, count = _Composer(loader), 0
    try:
        while type(event := loader.get_event()) is not events.StreamEndEvent:
            if type(event) is events.DocumentStartEvent:
                count += 1
                if count > MOST_DOCUMENTS:
                    raise _error(event, "documents", most=MOST_DOCUMENTS)
                yield composer.document()
    finally:
        loader.dispose()


def value_of(node: yaml.Node, repeated: list[Message] | None = None) -> Any:
    """Return the value of a node; repeated keys are appended to `repeated`, if given.

    Raises:
        yaml.YAMLError: A key is not text, or is repeated.
    """
    if isinstance(node, ScalarNode):
        return _scalar(node)
    if isinstance(node, SequenceNode):
        return [value_of(child, repeated) for child in node.value]
    return {key: value_of(child, repeated) for key, child in entries(node, repeated).items()}


def entries(node: yaml.Node, repeated: list[Message] | None) -> dict[str, yaml.Node]:
    """Return the values of a mapping by key; its own override those it merges in by `<<`."""
    found: dict[str, yaml.Node] = {}
    merged: list[yaml.Node] = []
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise _error(key, "key")
        if key.value == "<<" and key.tag == PLAIN:
            merged += value.value if isinstance(value, SequenceNode) else [value]
            continue
        if key.value in found:
            if repeated is None:
                raise _error(key, "twice", value=key.value)
            repeated.append(Message("yaml.repeated", line=key.start_mark.line + 1,
                                    value=key.value))
        found[key.value] = value
    for source in merged:
        if isinstance(source, MappingNode):
            found = found | {key: value for key, value in entries(source, repeated).items()
                             if key not in found}
    return found


def _in_parts(text: str) -> Any:
    """Return a long text as a stream: the C parser reads it part by part, and signals are handled
    in between, also within one value.
    """
    if len(text) < LONG:
        return text
    parts = (text[at:at + PART] for at in range(0, len(text), PART))
    return SimpleNamespace(read=lambda _size: next(parts, ""), name="<unicode string>")


class _Composer:
    """Creates nodes from PyYAML's events within bounds that count repetitions by aliases. PyYAML's
    own composer has no bounds: a short text can exhaust memory, and a deep one crashes the
    interpreter in C.
    """

    def __init__(self, loader: Any):
        self.next_event, self.count = loader.get_event, 0

    def document(self) -> yaml.Node:
        """Return the node of the document that has begun. Raises `yaml.YAMLError`."""
        self.depth = self.deepest = 0
        self.anchors: dict[str, tuple[yaml.Node, int, int] | None] = {}
        node = self._node(self.next_event())
        self.next_event()
        return node

    def _node(self, event: Any) -> yaml.Node:
        kind = type(event)
        if kind is events.AliasEvent:
            return self._alias(event)
        self._grow(event, 1, 0)
        before = self.count
        tag, anchor, mark = event.tag, event.anchor, event.start_mark
        if kind is events.ScalarEvent:
            node = ScalarNode(PLAIN if event.implicit[0] else tag, event.value, mark)
            if anchor:
                self.anchors[anchor] = node, 1, 0
            return node
        if anchor:
            self.anchors[anchor] = None  # until it is complete
        outer, self.deepest = self.deepest, self.depth
        self.depth += 1
        children = []
        while type(child := self.next_event()) not in _ENDS:
            children.append(self._node(child))
        self.depth -= 1
        node = (SequenceNode(tag, children, mark) if kind is events.SequenceStartEvent else
                MappingNode(tag, list(zip(children[::2], children[1::2], strict=True)), mark))
        if anchor:
            self.anchors[anchor] = node, self.count - before + 1, self.deepest - self.depth
        self.deepest = max(self.deepest, outer)
        return node

    def _alias(self, event: Any) -> yaml.Node:
        if event.anchor not in self.anchors:
            raise _error(event, "anchor", anchor=event.anchor)
        if (found := self.anchors[event.anchor]) is None:
            raise _error(event, "itself", anchor=event.anchor)
        self._grow(event, *found[1:])
        return found[0]

    def _grow(self, event: Any, size: int, height: int) -> None:
        """Count values. Raises `yaml.YAMLError` beyond a bound."""
        self.count += size
        if self.depth + height > self.deepest:
            self.deepest = self.depth + height
        if self.deepest > MOST_DEPTH:
            raise _error(event, "deep", most=MOST_DEPTH)
        if self.count > MOST_VALUES:
            raise _error(event, "values", most=MOST_VALUES)


_ENDS = (events.SequenceEndEvent, events.MappingEndEvent)


def _scalar(node: yaml.ScalarNode) -> Any:
    """Return the value of a scalar; quoted text and numbers beyond all bounds stay text."""
    if not (node.tag == PLAIN or node.tag in RESOLVED) or len(node.value) > MOST_DIGITS:
        return node.value
    value = resolve(node.value)
    return float(value) if node.tag == RESOLVED[1] and isinstance(value, int) else value


def _error(at: Any, code: str, **facts: Any) -> yaml.YAMLError:
    return yaml.composer.ComposerError(problem=str(Message(f"yaml.{code}", **facts)),
                                       problem_mark=at.start_mark)


def syntax_problem(error: yaml.YAMLError) -> Message:
    """Return what is wrong with text that is not YAML, and in which line."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    return Message("yaml.invalid", problem=problem,
                   where=Message("yaml.line", line=mark.line + 1) if mark else None,
                   tab=Message("yaml.tab") if "cannot start any token" in problem else None)


class Reader:
    r"""Reads a configuration by a shape and collects what is wrong (`problems`) or without effect.

    A shape is "text", "switch", "text map", "any map", a dict (key -> shape) or a list of one
    shape.

    >>> reader = Reader("name: gang\nenable: y")
    >>> reader.read({"name": "text", "enable": "switch"})
    {'name': 'gang', 'enable': True}
    """

    def __init__(self, text: str) -> None:
        self.problems: list[Message] = []
        self.warnings: list[Message] = []
        self.root: yaml.Node | None = None
        repeated: list[Message] = []
        try:
            lines_before = text[:len(text) - len(text.lstrip())].count("\n")
            found = nodes("\n" * lines_before + text.strip())
            if (root := next(found, None)) is not None:
                value_of(root, repeated)
                self.root = root
        except yaml.YAMLError as error:
            raise ConfError([syntax_problem(error)]) from None
        self.warnings += [Message("conf.repeated", each=each) for each in repeated]
        with suppress(yaml.YAMLError):  # the text there is never read
            if next(found, None) is not None:
                self.warnings.append(Message("conf.first"))

    def read(self, shape: dict[str, Any]) -> dict[str, Any]:
        """Return the configuration. Raises `ConfError` if anything does not fit."""
        values = None if self.root is None else self._value(self.root, "", shape)
        if self.problems:
            raise ConfError(self.problems)
        return values or {}

    def _value(self, node: yaml.Node, path: str, shape: Any) -> Any:
        """Return the value by its shape, or None where it is not set or does not fit."""
        value = _scalar(node) if isinstance(node, ScalarNode) else node.value
        if value is None:  # the library treats only "null", "~" and an empty value as not set
            return False if shape == "switch" and node.value in ("Null", "NULL") else None
        if isinstance(shape, dict):
            return self._struct(node, path, shape)
        if shape == "text" and isinstance(node, ScalarNode):
            return node.value
        wanted = _KINDS["list" if isinstance(shape, list) else shape]
        if not isinstance(value if isinstance(node, ScalarNode) else node, wanted):
            self._refuse(node, path, Message(f"allowed.{_ALLOWED[wanted]}"))
        elif shape == "text map":
            return {key: self._value(child, f"{path}.{key}", "text") or ""
                    for key, child in entries(node, []).items()}
        elif wanted is SequenceNode:
            return [self._value(child, f"{path}[{number}]", shape[0])
                     or {}  # as in Go, an empty item is an entry without fields
                    for number, child in enumerate(node.value)]
        else:
            return value_of(node, [])
        return None

    def _struct(self, node: yaml.Node, path: str, shape: dict[str, Any]) -> dict[str, Any]:
        """Return a mapping with known keys."""
        if not isinstance(node, MappingNode):
            self._refuse(node, path, Message("allowed.fields", fields=[*shape]))
            return {}
        found = {}
        for key, child in entries(node, []).items():
            where = f"{path}.{key}" if path else key
            if key not in shape:
                known = Message("conf.argument" if "arguments" in shape else "conf.known",
                                shape=[*shape])
                hint = did_you_mean(key, shape, known)
                self.warnings.append(Message("conf.unknown", line=child.start_mark.line + 1,
                                             where=where, hint=hint,
                                             value=value_of(child, [])))
            elif (read := self._value(child, where, shape[key])) is not None:
                found[key] = read
        return found

    def _refuse(self, node: yaml.Node, path: str, allowed: Message) -> None:
        found: Said = f'"{node.value}"' if isinstance(node, ScalarNode) else Message(
            "found.list" if isinstance(node, SequenceNode) else "found.mapping")
        self.problems.append(Message("conf.misfit", path=path or Message("conf.text"),
                                     line=node.start_mark.line + 1, found=found, allowed=allowed))


_KINDS: dict[str, type] = {"text": str, "switch": bool, "text map": MappingNode,
                           "any map": MappingNode, "list": SequenceNode}
_ALLOWED = {str: "text", bool: "switch", MappingNode: "any_mapping", SequenceNode: "list"}
