"""YAML as Kubernetes and Volcano's configuration reader understand it (`gopkg.in/yaml.v2`).

PyYAML reads the structure as a stream of events; which plain words are truth values and numbers
(`yes`, `off`, `y`, `0x10`, `1e3`), what an alias may cost and what is refused is decided here.
Memory and time are bounded before a value is made: depth, values, documents, digits of a number,
and what aliases expand to. Differs on purpose: unknown and repeated keys of a configuration are
named in `warnings`, where the Go drops them without a word; a manifest's repeated key is refused.
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
from attrs import Factory, define
from yaml import events

from volcano_lab.messages import OneSentence, capped, did_you_mean

TRUE = {word for base in ("y", "yes", "true", "on")
        for word in (base, base.capitalize(), base.upper())}
FALSE = {word for base in ("n", "no", "false", "off")
         for word in (base, base.capitalize(), base.upper())}
NULL = {"", "~", "null", "Null", "NULL"}
SPECIAL_FLOAT = re.compile(r"([-+]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
RESOLVED = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))
MOST_DEPTH, MOST_VALUES, MOST_DOCUMENTS, MOST_DIGITS = 200, 2_000_000, 100_000, 400
LONG, PART = 1 << 20, 1 << 14
INT = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]+|0|[1-9][0-9]*)")


class ConfError(OneSentence, ValueError):
    """A configuration that Volcano refuses; `problems` holds a sentence each.

    >>> str(ConfError(["actions names nothing"]))
    'scheduler configuration: actions names nothing.'
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = capped([f"scheduler configuration: {problem}." for problem in problems])
        super().__init__("\n".join(self.problems))


@lru_cache(maxsize=4096)
def resolve(text: str) -> Any:
    """The value of a plain (unquoted) scalar.

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


class Places(dict[int, dict[Any, tuple[int, str]]]):
    """Line and text of each value, by the id of its mapping or list and by its key or index."""

    def __init__(self) -> None:
        super().__init__()
        self.repeated: list[str] = []

    def of(self, container: Any, key: Any) -> tuple[int, str]:
        """Return line and text of what stands under a key or index."""
        return self.get(id(container), {}).get(key, (1, ""))


def documents(text: str, places: Places | None = None) -> Iterator[Any]:
    """Return the value of each document: dicts, lists, text, numbers; None for an empty one.

    Args:
        text: YAML.
        places: If given, where each value stands is noted there, and a repeated key counts as last
            given, as in Go; without, it is an error.

    Raises:
        yaml.YAMLError: The text is no YAML, or goes beyond a bound.

    >>> list(documents("a: &x [1, off]\\nb: *x\\n---\\nb: 'x'"))
    [{'a': [1, False], 'b': [1, False]}, {'b': 'x'}]
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(_in_parts(text))
    composer, count = _Composer(places), 0
    take, next_event = composer.take, loader.get_event
    try:
        next_event()  # the stream's beginning
        while (kind := type(event := next_event())) is not events.StreamEndEvent:
            if kind is events.DocumentEndEvent:
                yield from composer.frame.value
            elif kind is not events.DocumentStartEvent:
                take(kind, event)
            elif (count := count + 1) > MOST_DOCUMENTS:
                raise _error(event, f"more than {MOST_DOCUMENTS:,} documents")
            else:
                composer.begin()
    finally:
        loader.dispose()


def _in_parts(text: str) -> Any:
    """A long text as a stream: the parser in C asks for part after part, and in between a signal is
    heard, also within one value.
    """
    if len(text) < LONG:
        return text
    parts = (text[at:at + PART] for at in range(0, len(text), PART))
    return SimpleNamespace(read=lambda _size: next(parts, ""), name="<unicode string>")


@define(slots=True)
class _Frame:
    """A mapping or list that is being read, the one around it, and how deep it goes."""

    value: Any
    is_map: bool = False
    outer: _Frame | None = None
    depth: int = 0
    deepest: int = 0
    key: Any = None
    anchor: str | None = None
    before: int = 0
    merged: list[Any] = Factory(list)


class _Composer:
    """Puts values together, event by event, without recursion."""

    __slots__ = ("aliased", "anchors", "count", "frame", "left", "places")

    def __init__(self, places: Places | None):
        self.places, self.left, self.count = places, MOST_VALUES, 0

    def begin(self) -> None:
        """Begin a document; the values of those before count, too."""
        self.left, self.count, self.aliased = self.left - self.count, 0, 0
        self.frame = _Frame([])
        self.anchors: dict[str, tuple[Any, int, int] | None] = {}

    def take(self, kind: type[events.Event], event: events.Event) -> None:
        """Take in one event of a document. Raises `yaml.YAMLError`."""
        frame = self.frame
        if kind is events.ScalarEvent:
            self.count += 1
            is_key = frame.is_map and frame.key is None
            value = event.value if is_key else _scalar(event)
            if event.anchor:
                self.anchors[event.anchor] = value, 1, 0
            if is_key:
                frame.key = _MERGE if value == "<<" and event.implicit[0] else value
            else:
                self._put(frame, value, event)
        elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
            self._end(frame)
        elif kind is events.AliasEvent:
            self._alias(frame, event)
        else:
            self.count += 1
            is_map = kind is events.MappingStartEvent
            value = {} if is_map else []
            self._put(frame, value, event)
            depth = frame.depth + 1
            self.frame = _Frame(value, is_map, frame, depth, depth, None, event.anchor, self.count)
            if event.anchor:
                self.anchors[event.anchor] = None
            if depth > MOST_DEPTH:
                raise _error(event, f"nested more than {MOST_DEPTH} deep")

    def _put(self, frame: _Frame, value: Any, event: events.Event) -> None:
        if self.count > self.left:
            raise _error(event, f"more than {MOST_VALUES:,} values; JSON may hold more")
        if not frame.is_map:
            key = len(frame.value)
            frame.value.append(value)
        elif (key := frame.key) is None:
            raise _error(event, "a key that is not text")
        elif key is _MERGE:
            frame.merged.append(value)
        else:
            if key in frame.value:
                if self.places is None:
                    raise _error(event, f'the key "{key}" is given twice')
                self.places.repeated.append(
                    f"line {event.start_mark.line + 1}: {key} is given twice")
            frame.value[key] = value
        frame.key = None
        if self.places is not None:
            text = event.value if isinstance(event, events.ScalarEvent) else ""
            self.places.setdefault(id(frame.value), {})[key] = event.start_mark.line + 1, text

    def _alias(self, frame: _Frame, event: events.AliasEvent) -> None:
        """Repeat what has an anchor, within the share of repetition that yaml.v2 allows."""
        if event.anchor not in self.anchors:
            raise _error(event, f'the anchor "{event.anchor}" is not defined')
        if (found := self.anchors[event.anchor]) is None:
            raise _error(event, f'the anchor "{event.anchor}" contains itself')
        value, size, height = found
        self.count, self.aliased = self.count + size, self.aliased + size
        share = 0.99 - 0.89 * min(max(self.count - 400_000, 0) / 3_600_000, 1)
        if self.aliased > 100 and self.count > 1000 and self.aliased / self.count > share:
            raise _error(event, "document contains excessive aliasing")
        frame.deepest = max(frame.deepest, frame.depth + height)
        if frame.deepest > MOST_DEPTH:
            raise _error(event, f"nested more than {MOST_DEPTH} deep")
        if frame.is_map and frame.key is None and isinstance(value, str):
            frame.key = value
        else:
            self._put(frame, value, event)

    def _end(self, frame: _Frame) -> None:
        """Close a mapping or list; a mapping's own entries win over those it merges in by `<<`."""
        sources = [inherited for source in frame.merged
                   for inherited in (source if isinstance(source, list) else [source])]
        for source in filter(lambda source: isinstance(source, dict), sources):
            missing = source.keys() - frame.value.keys()
            frame.value |= {key: source[key] for key in source if key in missing}
            if self.places is not None:
                self.places.setdefault(id(frame.value), {}).update(
                    {key: self.places.of(source, key) for key in missing})
        outer = self.frame = frame.outer or self.frame
        if frame.deepest > outer.deepest:
            outer.deepest = frame.deepest
        if frame.anchor:
            size, height = self.count - frame.before + 1, frame.deepest - frame.depth + 1
            self.anchors[frame.anchor] = frame.value, size, height


_MERGE = object()
"""The key under which a mapping names others to take over."""


def _scalar(event: events.ScalarEvent) -> Any:
    """The value of a scalar; quoted text stays text, and so does a number beyond all bounds."""
    if not (event.implicit[0] or event.tag in RESOLVED) or len(event.value) > MOST_DIGITS:
        return event.value
    value = resolve(event.value)
    return float(value) if event.tag == RESOLVED[1] and isinstance(value, int) else value


def _error(event: events.Event, problem: str) -> yaml.YAMLError:
    return yaml.composer.ComposerError(problem=problem, problem_mark=event.start_mark)


def syntax_problem(error: yaml.YAMLError) -> str:
    """Return what is wrong with text that is no YAML, and in which line."""
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}: " if mark else ""
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    tab = "; a tab is one: indent with spaces" * ("cannot start any token" in problem)
    return f"{where}not valid YAML ({problem}{tab})"


class Reader:
    """Reads a configuration by a shape and collects what is wrong (`problems`) or without effect.

    A shape is "text", "switch", "text map", "any map", a dict (key -> shape) or a list of one
    shape.

    >>> reader = Reader("name: gang\\nenable: y")
    >>> reader.read({"name": "text", "enable": "switch"})
    {'name': 'gang', 'enable': True}
    """

    def __init__(self, text: str) -> None:
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.places = Places()
        try:
            lines_before = text[:len(text) - len(text.lstrip())].count("\n")
            found = documents("\n" * lines_before + text.strip(), self.places)
            self.root = next(found, None)
        except yaml.YAMLError as error:
            raise ConfError([syntax_problem(error)]) from None
        self.warnings += [f"scheduler configuration, {repeated}; the last one counts."
                          for repeated in self.places.repeated]
        with suppress(yaml.YAMLError):  # nobody reads what stands there
            if next(found, None) is not None:
                self.warnings.append("scheduler configuration: only its first document is read.")

    def read(self, shape: dict[str, Any]) -> dict[str, Any]:
        """Return the configuration. Raises `ConfError` if anything does not fit."""
        values = self._value(self.root, "", shape, (1, ""))
        if self.problems:
            raise ConfError(self.problems)
        return values or {}

    def _value(self, value: Any, path: str, shape: Any, place: tuple[int, str]) -> Any:
        """The value by its shape, or None where it is not set or does not fit."""
        if shape == "switch" and place[1] in ("Null", "NULL") and value is None:
            return False  # the library takes only "null", "~" and nothing as not set
        if value is None:
            return None
        if isinstance(shape, dict):
            return self._struct(value, path, shape, place)
        wanted: Any = list if isinstance(shape, list) else _KINDS[shape]
        if shape == "text" and not isinstance(value, dict | list):
            return value if isinstance(value, str) else place[1]
        if type(value) is not wanted:
            self._refuse(value, path, _ALLOWED[wanted], place)
            return None
        if shape == "text map":
            return {key: self._value(child, f"{path}.{key}", "text", self.places.of(value, key))
                    or "" for key, child in value.items()}
        if wanted is list:
            return [self._value(child, f"{path}[{number}]", shape[0], self.places.of(value, number))
                    or {}  # as in Go, nothing is an entry that says nothing
                    for number, child in enumerate(value)]
        return value

    def _struct(self, value: Any, path: str, shape: dict[str, Any],
                place: tuple[int, str]) -> dict[str, Any]:
        """A mapping with known keys."""
        if not isinstance(value, dict):
            self._refuse(value, path, f"a mapping with {', '.join(shape)}", place)
            return {}
        found = {}
        for key, child in value.items():
            line, text = self.places.of(value, key)
            where = f"{path}.{key}" if path else key
            if key not in shape:
                hint = did_you_mean(key, shape, f"; known here are {', '.join(shape)}.")
                self.warnings.append(f"scheduler configuration, line {line}: {where} is not known "
                                     f"and has no effect{hint}")
            elif (read := self._value(child, where, shape[key], (line, text))) is not None:
                found[key] = read
        return found

    def _refuse(self, value: Any, path: str, allowed: str, place: tuple[int, str]) -> None:
        found = _FOUND.get(type(value)) or f'"{place[1] or value}"'
        self.problems.append(
            f"{path or 'the text'} (line {place[0]}) is {found}; allowed is {allowed}")


_KINDS = {"text": str, "switch": bool, "text map": dict, "any map": dict}
_ALLOWED = {str: "text", bool: "true or false", dict: "a mapping with any keys", list: "a list"}
_FOUND: dict[type, str] = {list: "a list", dict: "a mapping"}
