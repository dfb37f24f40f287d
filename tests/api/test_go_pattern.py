"""Go's regular expressions: the same verdicts as Python's on what both have, and always quick."""

import re

import pytest
from hypothesis import given, settings, strategies as st

from volcano_lab.api import go_pattern
from volcano_lab.api.go_pattern import Pattern

ATOMS = ["a", "b", "-", ".", "[ab]", "[^a]", "[a-c0-9]", r"\d", r"\w", r"\S", r"\.", "^", "$",
         r"\b", r"\B", "(?:a|b)", "(a)", "(|b)", "(?i:A)", r"[\d-]", r"\x61"]
patterns = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,3}", "{0,2}?", "{2,}"]))
        .map(lambda pair: f"(?:{pair[0]}){pair[1]}")),
    max_leaves=6)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(patterns, st.sampled_from(["", "(?i)", "(?s)", "(?m)"]),
       st.text("ab1-.A", max_size=8))
def test_it_finds_what_python_finds(pattern, flags, text):
    in_python = (flags + pattern).replace("$", r"(?m:$)" if "m" in flags else r"\Z")
    in_python = in_python.replace(r"\B", r"(?!\b)")  # \B in an empty text: no before Python 3.14
    expected = re.search(in_python, text, re.ASCII) is not None
    assert Pattern(flags + pattern).search(text) is expected


@pytest.mark.parametrize(("pattern", "text"), [
    ("(a+)+$", "a" * 28 + "!"),
    ("(.*)*z", "a" * 253),
    ("((a*)*)*b", "a" * 253),
    ("(a?){300}a{300}", "a" * 253),
    ("(.*.*.*.*.*)*x", "a" * 253),
])
def test_nested_repeats_are_matched_within_the_limit(pattern, text):
    assert Pattern(pattern).search(text) is False


@pytest.mark.long
def test_a_pattern_that_exceeds_the_limit_is_refused_once_for_all_texts(monkeypatch):
    monkeypatch.setattr(go_pattern, "SECONDS", 0.05)
    pattern = Pattern("(a|aa)+$")
    assert pattern.search("aa")
    for text in ("a" * 252 + "!", "aa"):
        with pytest.raises(ValueError, match=r"takes more than 0\.05 s to match \"aaa"):
            pattern.search(text)


@pytest.mark.parametrize("pattern", [
    "a**", "a*+", "a++", "(", "a)", "[b", "[z-a]", "a{2,1}", "x{1001}", "((a{100}){100}){100}",
    "((a{9}b|c){99}[d]){99}",
    "(?P<n>a)(?P<n>b)", "\\", "(?x)a", "(?>a)", "(?=a)", "(?<!a)b", r"(a)\1", "[[:foo:]]", "a|*",
    "a" * 2000, "(" * 900, "(?#x)", "(?P=n)", r"\Z", r"\u0061", "(?(1)a)"])
def test_what_go_refuses_or_is_too_large_is_one_short_sentence(pattern):
    with pytest.raises(ValueError, match="is no regular expression of Go") as refused:
        Pattern(pattern)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("pattern", "found"), [
    (r"^a{,2}$", ["a{,2}"]), (r"\x{61}b", ["ab"]), ("(?U)^a+$", ["aa"]), (r"\Qa{\E", ["a{,2}"]),
    (r"(?m)^b$", ["a\nb"]), (r"a{e<=1}", []), (r"\pLb", ["ab"]),
    (r"[\x{61}]b", ["ab"]), (r"(?i-s)A\{", ["a{,2}"]), (r"a[(?=]?b", ["ab"]), (r"\\x{61}", []),
    (r"(?m)\Ab", []), ("(?s)a.b", ["a\nb"]), ("a.b", []),
    ("(?P<x>a)(?<y>b)", ["ab"]), ("^[[:^digit:]]b", ["ab"]),
])
def test_syntax_of_go_alone(pattern, found):
    matches = Pattern(pattern).search
    assert [text for text in ("aa", "ab", "a{,2}", "a\nb") if matches(text)] == found
