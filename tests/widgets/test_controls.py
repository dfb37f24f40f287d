"""What a control takes: the nearest of its steps, and of everything else a sentence."""

from itertools import pairwise

import pytest

from volcano_lab.messages import Misuse
from volcano_lab.widgets.controls import choice, handle, slider, switch

RANGES = [(0, 9, 1), (1, 9, 2), (0, 1, 0.1), (0.5, 3, 0.25), (-2, 2, 1), (0, 11, 4)]


@pytest.mark.parametrize("kind", [slider, handle])
@pytest.mark.parametrize(("least", "most", "step"), RANGES)
def test_a_number_between_two_steps_is_the_nearer_one(kind, least, most, step):
    control = kind(least, least, most, "weight", step=step)
    steps = control.choices()
    assert steps[0] == least and most - step < steps[-1] <= most
    assert {round(after - before, 9) for before, after in pairwise(steps)} == {step}
    for number in range(200 + 1):
        value = least + (most - least) * number / 200
        found = control.check("weight", value)
        assert found in steps
        assert abs(found - value) <= min(abs(each - value) for each in steps) + 1e-9


@pytest.mark.parametrize(("control", "value", "sentence"), [
    (slider(1, 1, 9, "weight"), 0.9, "w is 0.9; allowed is 1 to 9"),
    (slider(1, 1, 9, "weight"), 9.1, "w is 9.1; allowed is 1 to 9"),
    (slider(1, 1, 9, "weight"), True, "w is True; allowed is a number"),
    (slider(1, 1, 9, "weight"), "5", "w is '5'; allowed is a number"),
    (slider(1, label="over", options={"none": 0, "one": 1}), 2, "w is 2; allowed are 0, 1"),
    (choice("a", ["a", "b"], "queue"), "c", "w is 'c'; allowed are a, b"),
    (switch(True, "gang"), "on", "w is 'on'; allowed are False, True"),
])
def test_what_a_control_does_not_take_is_a_sentence(control, value, sentence):
    with pytest.raises(Misuse) as error:
        control.check("w", value)
    assert str(error.value).rstrip(".") == sentence


@pytest.mark.parametrize(("control", "values"), [
    (slider(1, label="over", options={"none": 0, "one": 1}), [0, 1]),
    (choice("a", {"first": "a", "second": "b"}, "queue"), ["a", "b"]),
    (switch(True, "gang"), [False, True])])
def test_one_of_a_few_values_is_taken_as_it_is(control, values):
    assert [control.check("w", value) for value in values] == values == control.choices()
