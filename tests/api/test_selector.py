"""The conditions of selectors, operator by operator."""

import pytest

from volcano_lab.api.selector import Requirement

NUMBERS = ("-7", "+7", "0", "7", "007", "8", "9", "10", "80", "x", "", "7.5", None)


@pytest.mark.parametrize(("operator", "values", "holds"), [
    ("In", ("8",), {"8"}), ("In", ("8", "x"), {"8", "x"}), ("In", ("",), {""}),
    ("NotIn", ("8",), {*NUMBERS} - {"8"}), ("NotIn", ("8", "x"), {*NUMBERS} - {"8", "x"}),
    ("Exists", (), {*NUMBERS} - {None}), ("DoesNotExist", (), {None}),
    ("Gt", ("8",), {"9", "10", "80"}), ("Gt", ("7",), {"8", "9", "10", "80"}),
    ("Lt", ("8",), {"-7", "+7", "0", "7", "007"}), ("Lt", ("7",), {"-7", "0"}),
    ("Gt", ("x",), set()), ("Lt", ("x",), set())])
def test_labels_for_which_a_requirement_holds(operator, values, holds):
    """Gt and Lt compare whole numbers; a bound itself is neither greater nor less."""
    requirement = Requirement("key", operator, frozenset(values))
    assert {text for text in NUMBERS if requirement.holds(
        {"other": "8"} if text is None else {"key": text})} == holds
