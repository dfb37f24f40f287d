"""Breakpoints in words: where to stop in a trace. Answers to no Go file; a debugger's conditional
breakpoints do.

    stop at overused where queue == "a" and answer
    stop at allocatable where not answer and plugin == "proportion"
    stop at undo
    stop at action reclaim where kind == "victims" and len(chosen) > 1

After "stop at" comes an extension point, an operation (allocate, pipeline, evict), a kind of
record, or "action" and an action's name; "anything" stops everywhere. After "where" comes an
expression over the record's facts, and over `action`, `kind`, `number`. A fact that a record lacks
is None, and comparing None with a number is false. Expressions know names, numbers, texts, lists,
comparisons, + - * /, and, or, not, in, a subscript, and `len`, `min`, `max`, `abs`, `any`, `all`:
nothing that could do more than look.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from volcano_lab.framework.action import action_names
from volcano_lab.framework.points.table import POINT_NAMES
from volcano_lab.trace import OPERATIONS, Record

OPERATION_NAMES = ("allocate", "pipeline", "evict")
FUNCTIONS = {
    "len": len, "min": min, "max": max, "abs": abs, "any": any, "all": all, "True": True, "False":
    False, "None": None
}
BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: right is not None and left in right,
    ast.NotIn: lambda left, right: right is None or left not in right,
}
ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class BreakpointError(ValueError):
    """A breakpoint that can't be read; the text says what was found and what is allowed."""


class Breakpoint:
    """A condition on records, from a sentence; hand it to `Stepper.find`, or call it.

    >>> record = Record(4, "allocate", "call", ("point", "queue", "answer"), ("overused", "a", True))
    >>> Breakpoint('stop at overused where queue == "a" and answer')(record)
    True
    >>> Breakpoint('overused where queue == "b"')(record), Breakpoint("undo")(record)
    (False, False)
    >>> Breakpoint("stop at tea time")
    Traceback (most recent call last):
    ...
    volcano_lab.debug.breakpoints.BreakpointError: the breakpoint stops at "tea time"; allowed are an extension point ...
    """

    def __init__(self, text: str):
        self.text = text.strip()
        place, _, condition = self.text.removeprefix("stop at ").partition(" where ")
        self.place, self.condition = place.strip(), condition.strip()
        self._at = _place(self.place)
        self._holds = Expression(self.condition) if self.condition else None

    def __call__(self, record: Record) -> bool:
        if not self._at(record):
            return False
        return self._holds is None or bool(self._holds(facts_of(record)))

    def __repr__(self) -> str:
        return f"<Breakpoint {self.text}>"


def facts_of(record: Record) -> dict[str, Any]:
    """What an expression sees of a record."""
    return record.facts | {"action": record.action, "kind": record.kind, "number": record.number}


KINDS = ("start", "end", "asked", "queue", "job", "enqueued", "unplaced", "settle", "chose",
         "node_values", "deserved_round", "enqueue_comparison", "allocatable_level",
         "preemptive_comparison", "quota_comparison", "reclaimee", "claimant", "victims",
         "prepared", "passed_over", "hyper_node_tried", "hyper_node_chosen")


def _place(place: str) -> Callable[[Record], bool]:
    """What "stop at" names, as a condition. Raises `BreakpointError`."""
    word, _, rest = place.partition(" ")
    if word == "action" and rest in action_names():
        return lambda record: record.action == rest
    if place == "anything":
        return lambda record: True
    if place in POINT_NAMES:
        return lambda record: record.kind == "call" and record.values[0] == place
    if place in OPERATION_NAMES:
        return lambda record: record.kind in OPERATIONS and record.values[0] == place
    if place in OPERATIONS or place in KINDS:
        return lambda record: record.kind == place
    raise BreakpointError(
        f'the breakpoint stops at "{place}"; allowed are an extension point (as overused), an operation '
        f"({', '.join(OPERATION_NAMES)}), {', '.join(OPERATIONS)}, a kind of record (as queue, job, victims), "
        '"action" and its name, or "anything".')


class Expression:
    """A condition over names, in Python's words, of which only those that look are allowed.

    >>> Expression("share > 0.5 and queue in ['a', 'b']")({"share": 0.75, "queue": "a"})
    True
    >>> Expression("__import__('os')")
    Traceback (most recent call last):
    ...
    volcano_lab.debug.breakpoints.BreakpointError: the condition "__import__('os')" calls __import__; allowed are len, min, ...
    """

    def __init__(self, text: str):
        self.text = text
        try:
            self._tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError) as error:
            why = getattr(error, "msg", error)
            raise BreakpointError(
                f'the condition "{text}" can\'t be read ({why}); allowed is an expression such as '
                'queue == "a" and answer.') from None
        for node in ast.walk(self._tree):
            self._check(node)

    def __call__(self, names: Mapping[str, Any]) -> Any:
        """The value with these names; a name that isn't among them is None. Raises
        `BreakpointError` where it has none.
        """
        try:
            return _value(self._tree, names)
        except (TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise BreakpointError(
                f'the condition "{self.text}" has no value here: {error}') from None

    def _check(self, node: ast.AST) -> None:
        allowed = (ast.Name, ast.Constant, ast.List, ast.Tuple, ast.BoolOp, ast.UnaryOp, ast.BinOp,
                   ast.Compare, ast.Subscript, ast.Call, ast.IfExp, ast.expr_context, ast.boolop,
                   ast.unaryop, *BINARY)
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called not in FUNCTIONS or node.keywords:
                known = ", ".join(name for name in FUNCTIONS if name.islower())
                raise BreakpointError(
                    f'the condition "{self.text}" calls {called}; allowed are {known}.')
        elif not isinstance(node, allowed):
            raise BreakpointError(
                f'the condition "{self.text}" has "{type(node).__name__}" in it; allowed are names, numbers, '
                "texts, comparisons, and, or, not, in, + - * /, subscripts.")


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return FUNCTIONS[node.id] if node.id in FUNCTIONS else names.get(node.id)
        case ast.List() | ast.Tuple():
            return [_value(item, names) for item in node.elts]
        case ast.BoolOp():
            wanted = isinstance(node.op, ast.Or)
            for part in node.values:
                value = _value(part, names)
                if bool(value) == wanted:
                    return value
            return value
        case ast.UnaryOp():
            value = _value(node.operand, names)
            return not value if isinstance(
                node.op, ast.Not) else -value if isinstance(node.op, ast.USub) else value
        case ast.BinOp():
            return BINARY[type(node.op)](_value(node.left, names), _value(node.right, names))
        case ast.Compare():
            return _compare(node, names)
        case ast.Subscript():
            held, key = _value(node.value, names), _value(node.slice, names)
            return held.get(key) if isinstance(held,
                                               Mapping) else None if held is None else held[key]
        case ast.Call():
            return FUNCTIONS[node.func.id](*(_value(argument, names) for argument in node.args))
        case ast.IfExp():
            return _value(node.body if _value(node.test, names) else node.orelse, names)
    raise ValueError(ast.unparse(node))


def _compare(node: ast.Compare, names: Mapping[str, Any]) -> bool:
    left = _value(node.left, names)
    for relation, right_node in zip(node.ops, node.comparators, strict=True):
        right = _value(right_node, names)
        if isinstance(relation, ORDERED) and (left is None or right is None):
            return False
        if not BINARY[type(relation)](left, right):
            return False
        left = right
    return True
