"""Label selectors by their definition, to hold the compiled ones against."""

from collections.abc import Mapping

from volcano_lab.api.objects import LabelSelector, LabelSelectorRequirement


def matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether all of a selector's conditions hold; no selector matches nothing, an empty one
    everything.

    Nor does one with a condition that can't be: `In` and `NotIn` need values, `Exists` and
    `DoesNotExist` have none.

    """
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    possible = all(
        bool(r.values) == (r.operator in ("In", "NotIn")) for r in selector.match_expressions)
    return possible and all(requirement_holds(r, labels) for r in selector.match_expressions)


def requirement_holds(requirement: LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    """One condition; `NotIn` holds where the label is absent."""
    key, operator = requirement.key, requirement.operator
    if operator == "In":
        return key in labels and labels[key] in requirement.values
    if operator == "NotIn":
        return key not in labels or labels[key] not in requirement.values
    if operator == "Exists":
        return key in labels
    return operator == "DoesNotExist" and key not in labels
