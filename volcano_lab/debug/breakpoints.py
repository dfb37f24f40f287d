"""Breakpoints as sentences: where to stop in a trace, like a debugger's conditional breakpoints.

    stop at overused where queue == "a" and answer
    stop at allocatable where not answer and plugin == "proportion"
    stop at undo
    stop at action reclaim where kind == "victims" and len(chosen) > 1

After "stop at" comes an extension point, an operation (allocate, pipeline, evict), a kind of
record, or "action" and an action's name; "anything" stops everywhere. After "where" comes an
expression over the record's facts, and over `action`, `kind`, `number`. A fact that a record lacks
is None, and comparing None with a number is false. Expressions know names, numbers, texts, lists,
comparisons, + - * / of numbers, and, or, not, in, a subscript, and `len`, `min`, `max`, `abs`,
`any`, `all`: nothing with a side effect, and no value that grows without bound.
"""

import ast
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from simpleeval import EvalWithCompoundTypes, InvalidExpression

from volcano_lab.framework import action_names
from volcano_lab.framework.points.table import BUILT_IN, POINTS
from volcano_lab.messages import OneSentence, friendly_errors, gettext, near, one_line
from volcano_lab.trace import KINDS, OPERATIONS, Record, TraceReader, kinds
from volcano_lab.trace.reading import NODE_POINTS

MOST = 500
"""The longest condition, in characters."""
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": len, "min": min, "max": max, "abs": abs, "any": any, "all": all}
OF_ALL = ("action", "kind", "number")
"""The names that a condition may use for every record."""


class BreakpointError(OneSentence, ValueError):
    """Raised for a breakpoint that can't be parsed; the text has what was found and is allowed."""

    def __init__(self, text: str, /, **facts: Any):
        super().__init__(one_line(str(OneSentence(text, **facts))))


@friendly_errors
class Breakpoint:
    """A condition on records, parsed from a sentence; pass it to `Stepper.find`, or call it.

    >>> record = Record(4, "allocate", "call", ("point", "queue", "answer"),
    ...                 ("overused", "a", True))
    >>> Breakpoint('stop at overused where queue == "a" and answer')(record)
    True
    >>> Breakpoint('overused where queue == "b"')(record), Breakpoint("undo")(record)
    (False, False)
    >>> Breakpoint("allocate where nod == 3")
    Traceback (most recent call last):
    ...
    volcano_lab.debug.breakpoints.BreakpointError: "nod" is no field of allocate; it has
    operation, ...
    """

    def __init__(self, text: str):
        self.text = text.strip()
        place, _, condition = self.text.removeprefix("stop at ").partition(" where ")
        self.place, self.condition = place.strip(), condition.strip()
        self._at, fields = _place(self.place)
        self._holds = Expression(self.condition) if self.condition else None
        if self._holds is not None and fields:
            _check_names(self._holds.names, self.place, (*fields, *OF_ALL))

    def __call__(self, record: Record) -> bool:
        if not self._at(record):
            return False
        return self._holds is None or bool(self._holds(_facts(record)))

    def nowhere(self, trace: TraceReader) -> str:
        """Explain why it never stops in a trace: no such record, field, or name; "" otherwise.

        >>> from volcano_lab.cluster import Cluster
        >>> from volcano_lab.scheduler import traced
        >>> trace, _ = traced(Cluster().node("n1", cpu=1).job("a", cpu=1).objects())
        >>> Breakpoint("stop at evict").nowhere(trace)
        'this cycle records nothing at "evict".'
        """
        there = [record for record in trace.records if self._at(record)]
        if not there:
            return gettext(
                'this cycle records nothing at "{place}"; traced with every_call=True it may.'
                if self.place in NODE_POINTS else 'this cycle records nothing at "{place}".',
                place=self.place)
        names = {name for record in there for name in record.names} | set(OF_ALL)
        if self._holds is None or any(map(self, there)):
            return ""
        try:
            _check_names(self._holds.names, self.place, sorted(names))
        except BreakpointError as error:
            return str(error)
        for name, text in self._holds.texts:
            known = sorted({str(_facts(record).get(name, "")) for record in there} - {""})
            if text not in known:
                return gettext('no {name} of {place} is "{text}"; {near}.', name=name, text=text,
                               place=self.place, near=near(text, known))
        return ""

    def __repr__(self) -> str:
        return f"<Breakpoint {self.text}>"


def _facts(record: Record) -> dict[str, Any]:
    """Return what a condition may read of a record, with the names of `OF_ALL`."""
    return record.facts | {name: getattr(record, name) for name in OF_ALL}


Place = tuple[Callable[[Record], bool], tuple[str, ...]]
"""A condition, and the fact names of the records that it selects; () where these differ."""


def _place(place: str) -> Place:
    """Parse the place after "stop at". Raises `BreakpointError`."""
    word, _, rest = place.partition(" ")
    if word == "action" and rest in action_names():
        return lambda record: record.action == rest, ()
    if place == "anything":
        return lambda record: True, ()
    row = POINTS.own.get(place) or BUILT_IN.get(place)
    if row is not None:
        fields = ("point", "tier", "plugin", *row.arguments, "answer") if row.arguments else ()
        return lambda record: record.kind == "call" and record.values[0] == place, fields
    if place in kinds.PREPOSITION:
        return (lambda record: record.kind in OPERATIONS and record.values[0] == place,
                KINDS["do"].fields)
    if place in KINDS:
        fields = () if place in ("call", "asked") else KINDS[place].fields
        return lambda record: record.kind == place, fields
    near = [f"action {place}"] if place in action_names() else get_close_matches(
        place, [*POINTS.own, *BUILT_IN, *kinds.PREPOSITION, *KINDS], 1)
    meant = gettext("did you mean {name}?", name=near[0]) if near else ""
    raise BreakpointError("breakpoint.place", place=place, meant=meant,
                          operations=[*kinds.PREPOSITION], kinds=[*OPERATIONS])


def _check_names(names: Iterable[str], place: str, known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise BreakpointError('"{name}" is no field of {place}; it has {fields:,}.', name=name,
                                  place=place, fields=[*dict.fromkeys(known)])


def _numbers(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Restrict an operator to numbers: texts and lists would grow."""

    def checked(left: Any, right: Any) -> Any:
        if not (isinstance(left, int | float) and isinstance(right, int | float)):
            raise TypeError(gettext("{name} takes numbers", name=work.__name__))
        return work(left, right)

    return checked


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Return a comparison that is false where a side is None."""
    return lambda left, right: left is not None and right is not None and compare(left, right)


OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: _numbers(operator.add), ast.Sub: _numbers(operator.sub),
    ast.Mult: _numbers(operator.mul), ast.Div: _numbers(operator.truediv), ast.Not: operator.not_,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.Lt: _ordered(operator.lt),
    ast.LtE: _ordered(operator.le), ast.Gt: _ordered(operator.gt), ast.GtE: _ordered(operator.ge),
    ast.In: lambda left, right: right is not None and left in right,
    ast.NotIn: lambda left, right: right is None or left not in right}
NODES = (ast.Name, ast.Constant, ast.List, ast.Tuple, ast.BoolOp, ast.UnaryOp, ast.BinOp,
         ast.Compare, ast.Subscript, ast.Call, ast.IfExp)


class Expression:
    """A condition over names in Python's syntax, restricted to expressions without side effects.

    >>> Expression("share > 0.5 and queue in ['a', 'b']")({"share": 0.75, "queue": "a"})
    True
    >>> Expression("__import__('os')")
    Traceback (most recent call last):
    ...
    volcano_lab.debug.breakpoints.BreakpointError: the condition "__import__('os')" has ...
    """

    def __init__(self, text: str):
        self.text = text if len(text) <= 80 else text[:79] + "…"
        if len(text) > MOST:
            raise BreakpointError("breakpoint.long", text=self.text, count=len(text), most=MOST)
        self._evaluator = EvalWithCompoundTypes(OPERATORS)
        self._evaluator.functions = FUNCTIONS
        self._evaluator.nodes = {each: self._evaluator.nodes[each] for each in NODES} | {
            ast.Subscript: self._subscript}
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = getattr(error, "msg", error)
            raise BreakpointError("breakpoint.unreadable", text=self.text, why=str(why)) from None
        inside = list(ast.walk(self._tree))
        for node in inside:
            if not _is_known(node):
                part = ast.unparse(node.func) if isinstance(node, ast.Call) else type(node).__name__
                raise BreakpointError("breakpoint.part", text=self.text, part=part,
                                      functions=[*FUNCTIONS])
        called = {node.func for node in inside if isinstance(node, ast.Call)}
        self.names = {node.id: None for node in inside
                      if isinstance(node, ast.Name) and node not in called}
        """The facts that the condition reads."""
        self.texts = list(_texts(inside))
        """(fact, text) of each comparison for equality."""

    def __call__(self, names: Mapping[str, Any]) -> Any:
        """Return the value for these names; a name that isn't among them is None. Raises
        `BreakpointError` where the value can't be computed.
        """
        self._evaluator.names = defaultdict(lambda: None, names)  # a missing fact is None
        try:
            return self._evaluator.eval(self.text, self._tree)
        except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError,
                InvalidExpression) as error:
            raise BreakpointError("breakpoint.value", text=self.text, error=str(error)) from None

    def _subscript(self, node: ast.Subscript) -> Any:
        held, key = (self._evaluator._eval(part) for part in (node.value, node.slice))
        if held is None:
            return None
        return held.get(key) if isinstance(held, Mapping) else held[key]


def _is_known(node: ast.AST) -> bool:
    """Return whether a condition may have such a part."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in FUNCTIONS and not node.keywords
    return isinstance(node, ast.expr_context | ast.boolop) or type(node) in {*OPERATORS, *NODES}


def _texts(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        match node:
            case ast.Compare(ast.Name(name), [ast.Eq()], [ast.Constant(str(text))]):
                yield name, text
