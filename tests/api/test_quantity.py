"""Quantities mean what Kubernetes means by them."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from volcano_lab.api import quantity

VALUES = [
    # text, whole units, thousandths
    ("0", 0, 0),
    ("100m", 1, 100),
    ("1", 1, 1000),
    ("0.1", 1, 100),
    (".5", 1, 500),
    ("1.", 1, 1000),
    ("+2", 2, 2000),
    ("007", 7, 7000),
    ("1.5Gi", 1610612736, 1610612736000),
    ("1e3", 1000, 1_000_000),
    ("1E3", 1000, 1_000_000),
    ("1e+3", 1000, 1_000_000),
    ("1e-3", 1, 1),
    ("12e6", 12_000_000, 12_000_000_000),
    ("2M", 2_000_000, 2_000_000_000),
    ("3k", 3000, 3_000_000),
    ("1Ki", 1024, 1_024_000),
    ("1n", 1, 1),
    ("1u", 1, 1),
    ("1001u", 1, 2),
    ("0.0000000001", 1, 1),
    ("1T", 10**12, 10**15),
    ("1P", 10**15, 10**18),
    ("1Ti", 2**40, 2**40 * 1000),
    ("-100m", -1, -100),
    ("-2Gi", -2147483648, -2147483648000),
    (" 4 ", 4, 4000),
    ("9223372036854775807", 2**63 - 1, -1000),
    ("9Ei", 2**63 - 1, -1000),
    ("1E", 10**18, 0),
    ("1e20", 0, 0),
]


@pytest.mark.parametrize(("text", "whole", "milli"), VALUES)
def test_value_and_milli_value_round_up_and_overflow_as_kubernetes(text, whole, milli):
    assert (quantity.value(text), quantity.milli_value(text)) == (whole, milli)


CANONICAL = [
    ("0", "0"),
    ("0m", "0"),
    ("1000m", "1"),
    ("1500m", "1500m"),
    ("1.5", "1500m"),
    ("0.5Mi", "512Ki"),
    ("0.5Ki", "512"),
    ("1024Ki", "1Mi"),
    ("1023Ki", "1023Ki"),
    ("1.1Ki", "1126400m"),
    ("2000M", "2G"),
    ("1e3", "1e3"),
    ("1000e3", "1e6"),
    ("12E3", "12e3"),
    ("100e1", "1e3"),
    ("10e1", "100"),
    ("1e-3", "1e-3"),
    ("1n", "1n"),
    ("0.1n", "1n"),
    ("-1500m", "-1500m"),
    ("-1024Mi", "-1Gi"),
    ("1000E", "1e21"),
]


def canonical(text):
    return quantity.to_text(quantity.parse(text), quantity.style_of(text))


@pytest.mark.parametrize(("text", "expected"), CANONICAL)
def test_canonical_text_has_no_fraction_and_the_largest_suffix(text, expected):
    assert canonical(text) == expected


@pytest.mark.parametrize("suffix", [*quantity.DECIMAL, *quantity.BINARY, "e-9", "e18", "e21"])
@pytest.mark.parametrize("amount", [1, 7, -2])
def test_each_suffix_is_canonical_text(amount, suffix):
    assert canonical(f"{amount}{suffix}") == f"{amount}{suffix}"


@pytest.mark.parametrize("text", [
    "", "Ki", ".", "-", "e3", "1e", "1i", "1 Gi", "1.1.M", "1K", "1gi", "1e3Mi", "--1", "1e999", "٣"
])
def test_bad_text_is_refused_in_one_sentence(text):
    with pytest.raises(quantity.QuantityError,
                       match="is not a quantity; allowed is a number") as refused:
        quantity.value(text)
    assert f'"{text}"' in str(refused.value) and "\n" not in str(refused.value)


numbers = st.builds(
    "{}{}{}".format,
    st.integers(-(10**6), 10**6),
    st.sampled_from(["", ".5", ".25", ".001"]),
    st.sampled_from([*quantity.DECIMAL, *quantity.BINARY, "e2", "E-3"]),
)


@pytest.mark.long
@given(numbers)
def test_canonical_text_is_the_same_number_and_canonical_in_its_style(text):
    once = canonical(text)
    assert quantity.parse(once) == quantity.parse(text)
    assert quantity.to_text(quantity.parse(once), quantity.style_of(text)) == once


@pytest.mark.long
@given(st.integers(-(2**62), 2**62), st.sampled_from(["DecimalSI", "BinarySI", "DecimalExponent"]))
def test_whole_numbers_survive_being_written(number, style):
    assert quantity.parse(quantity.to_text(number, style)) == number


@pytest.mark.long
@given(st.fractions(min_value=0, max_value=10**9))
def test_nothing_is_written_as_less_than_it_is(number):
    written = quantity.parse(quantity.to_text(number))
    assert number <= written < number + Fraction(1, 10**9)
