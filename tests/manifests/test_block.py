"""Lists as kubectl prints them are read line by line, and never otherwise than as any YAML."""

import contextlib

import pytest
import yaml
from hypothesis import example, given, strategies as some
from kubectl import exported, listed

from volcano_lab.framework.config.yaml import documents
from volcano_lab.manifests import block

WORDS = some.sampled_from([
    "a", "true", "on", "010", "1e3", "-5", "3m", "~", "", " ", "a: b", "a #b", "#", "- a", "'", '"',
    "it's", "a\nb", "a\n", "\na", "a\n\n b\n", "\t", "é", "\u00a0", "2026-01-01T00:00:00Z", "<<",
    "=", "%", "|", "a:", ":a", "{}", "[]", "{a", "\\", "\\n", "?", "key", "k:{\"type\":\"Ready\"}"])
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers(-5, 5000) | WORDS,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12)


def both(text):
    """What is read line by line, and as any YAML; None where that is refused."""
    with contextlib.suppress(yaml.YAMLError):
        return block.listed(text), list(documents(text))
    return block.listed(text), None


@pytest.mark.long
@given(some.lists(some.dictionaries(WORDS, VALUES, max_size=4), min_size=1, max_size=4),
       some.booleans())
def test_what_yaml_writes_is_read_as_yaml_reads_it(items, wide):
    text = yaml.safe_dump({"apiVersion": "v1", "items": items, "kind": "List",
                           "metadata": {"resourceVersion": ""}}, width=4000 if wide else 80)
    fast, slow = both(text)
    assert fast is None or fast == slow


@pytest.mark.long
@given(some.data())
@example(None)
def test_a_list_with_other_lines_is_read_alike_or_left_to_yaml(data):
    lines = listed(exported()[:3], "yaml").splitlines()
    if data is not None:
        for _ in range(data.draw(some.integers(1, 3))):
            at = data.draw(some.integers(0, len(lines) - 1))
            indent = " " * data.draw(some.integers(0, 8))
            word, value = data.draw(WORDS), data.draw(WORDS)
            lines[at] = indent + data.draw(some.sampled_from(
                [f"{word}: {value}", f"- {value}", f"{word}:", value, f"'{value}'", f"- {word}:",
                 f"{word}: |", f"{word}: |-", f"- - {value}", "---", f'"{value}": {value}', ""]))
    fast, slow = both("\n".join(lines) + "\n")
    assert fast is None or fast == slow


@pytest.mark.parametrize("text", [
    "items:\n- a: 1\n- a: 2\n  a: 3\nkind: List\n", "items:\n- a: \"x\n    y\"\nkind: List\n"])
def test_what_is_no_value_is_left_to_yaml(text):
    fast, slow = both(text)
    assert fast is None or fast == slow


@pytest.mark.long
def test_an_export_needs_yaml_for_its_frame_alone(monkeypatch):
    read = []
    monkeypatch.setattr(block, "documents", lambda text: read.append(text) or documents(text))
    text = listed(exported(), "yaml")
    assert block.listed(text) == list(documents(text))
    assert len(read) == 1 and len(read[0]) < 100
