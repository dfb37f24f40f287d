"""Selectors, compiled: conditions on labels as one hashable value.

A selector is hashable, so it can key a cache: equal selectors of many pods share results.

Volcano: k8s.io/apimachinery/pkg/labels, k8s.io/component-helpers/scheduling/corev1/nodeaffinity
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from volcano_lab.api.objects import LabelSelector

_INT64 = re.compile(r"[+-]?[0-9]{1,63}")


@frozen
class Requirement:
    """One condition on a label: `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels satisfy it; `NotIn` and `DoesNotExist` hold for an absent label.

        >>> Requirement("cores", "Gt", frozenset({"8"})).holds({"cores": "16"})
        True
        """
        found = labels.get(self.key)
        operator = self.operator
        if operator == "In":
            return found is not None and found in self.values
        if operator == "NotIn":
            return found is None or found not in self.values
        if operator == "Exists":
            return found is not None
        if operator == "DoesNotExist":
            return found is None
        number, bound = parse_int(found or ""), parse_int(next(iter(self.values)))
        if number is None or bound is None:
            return False
        return number > bound if operator == "Gt" else number < bound

    def is_valid(self) -> bool:
        """Return whether Kubernetes accepts it: values where the operator needs some, one integer
        for `Gt` and `Lt`.
        """
        if self.operator in ("In", "NotIn"):
            return bool(self.values)
        if self.operator in ("Gt", "Lt"):
            return len(self.values) == 1 and parse_int(next(iter(self.values))) is not None
        return self.operator in ("Exists", "DoesNotExist") and not self.values


def parse_int(text: str) -> int | None:
    """Return an integer of 64 bits, or None.

    >>> parse_int("12"), parse_int("1.5"), parse_int("99999999999999999999")
    (12, None, None)
    """
    number = int(text) if _INT64.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


@frozen(cache_hash=True)
class Selector:
    """Conditions that must all hold. With `None` for the conditions nothing matches; with none at
    all everything does.

    >>> web = label_selector(LabelSelector({"app": "web"}))
    >>> web.matches({"app": "web", "tier": "1"}), web.matches({})
    (True, False)
    >>> EVERYTHING.matches({}), NOTHING.matches({})
    (True, False)
    """

    requirements: tuple[Requirement, ...] | None = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        if self.requirements is None:
            return False
        for requirement in self.requirements:  # noqa: SIM110 - innermost step of affinity, spread
            if not requirement.holds(labels):
                return False
        return True

    def is_valid(self) -> bool:
        """Return whether Kubernetes accepts all conditions."""
        return self.requirements is not None and all(map(Requirement.is_valid, self.requirements))

    def is_empty(self) -> bool:
        """Return whether it matches everything."""
        return self.requirements == ()

    def with_labels(self, labels: Mapping[str, str]) -> "Selector":
        """Return the selector with these labels added; one that matches nothing is unchanged."""
        if self.requirements is None or not labels:
            return self
        return Selector((*_equal(labels), *self.requirements))

    def keys(self) -> Iterable[str]:
        """Return the labels in its conditions."""
        return () if self.requirements is None else (requirement.key
                                                     for requirement in self.requirements)


NOTHING, EVERYTHING = Selector(None), Selector()


def label_selector(selector: LabelSelector | None) -> Selector:
    """Compile a manifest's label selector; unset matches nothing, empty everything.

    >>> label_selector(None) is NOTHING, label_selector(LabelSelector()).is_empty()
    (True, True)
    """
    if selector is None:
        return NOTHING
    return Selector(_equal(selector.match_labels) + compiled(selector.match_expressions))


def compiled(expressions: Iterable[Any]) -> tuple[Requirement, ...]:
    """Compile the requirements in a manifest, of labels or of nodes."""
    return tuple(Requirement(each.key, each.operator, frozenset(each.values))
                 for each in expressions)


def _equal(labels: Mapping[str, str]) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(key, "In", frozenset((value, ))) for key, value in sorted(labels.items()))
