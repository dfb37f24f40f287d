"""The pages "Why is it pending": each example has the cause that its page is about, and pages are
found by the words of kubectl and Volcano.
"""

import sys
from pathlib import Path

import pytest

from volcano_lab import Cluster
from volcano_lab.cli import main
from volcano_lab.explain.explanation import PAGES

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs")]
from pending_pages import GROUPS, PENDING, contents, page  # noqa: E402

ROWS = {row["page"]: row for group in GROUPS for row in group["pages"]}
SEEN_OVER_TIME = {"evicted-again"}
WORDS = {"NotEnoughResources": "gang-one-too-many", "Undetermined": "gang-one-too-many",
         "queue resource quota insufficient": "minimum-above-limit"}


def test_there_are_twenty_pages_and_each_has_its_causes():
    assert len(ROWS) == 20 and set(PAGES.values()) == set(ROWS)
    assert {path.stem for path in PENDING.glob("*.yaml")} - {"pages"} == set(ROWS) - SEEN_OVER_TIME


@pytest.mark.parametrize("name", sorted(set(ROWS) - SEEN_OVER_TIME))
def test_the_example_of_a_page_has_its_cause(name):
    cluster = Cluster.read(PENDING / f"{name}.yaml")
    answer = cluster.why("train")
    pages = {answer.page, *(PAGES.get(cause.code) for cause in answer.causes)}
    assert ("smaller-share" if name == "higher-priority" else name) in pages, answer.causes


@pytest.mark.parametrize("name", ["resource-no-node-has", "queue-full", "no-such-queue", "volume"])
def test_an_answer_leads_to_the_page_of_its_first_line(name):
    assert Cluster.read(PENDING / f"{name}.yaml").why("train").page == name


@pytest.mark.long
def test_a_page_shows_what_kubectl_and_why_print_and_leads_on():
    text = "\n".join(page(ROWS["minimum-above-limit"]))
    for part in ("STATUS", "Pending", "NotEnoughResources", "$ volcano-lab why", "../lessons/04-",
                 "issues/3220", '<span id="why">'):
        assert part in text
    assert all(f"]({name}.md)" in "\n".join(contents()) for name in ROWS)


@pytest.mark.parametrize(("words", "name"), WORDS.items())
def test_a_page_is_found_by_the_words_of_volcano(words, name):
    assert words in ROWS[name]["words"]


@pytest.mark.long
def test_why_names_the_page_where_the_line_is_long_enough(capsys):
    file = str(PENDING / "queue-full.yaml")
    assert main(["why", file, "train", "--no-remedies", "-o", "wide"]) == 0
    assert "pending/queue-full.html" in capsys.readouterr().out
    assert main(["why", file, "train", "--no-remedies"]) == 0
    assert "pending/" not in capsys.readouterr().out
