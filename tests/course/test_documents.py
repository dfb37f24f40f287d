"""The page "Four documents, item by item": every item once; places and ways to see exist."""

import json
import re
from pathlib import Path

import polib
import pytest

from volcano_lab import Cluster, Trace, charts, tables
from volcano_lab.cli.grammar import volcano_lab
from volcano_lab.course.kit.effort import effort_of
from volcano_lab.course.kit.lessons import LESSONS
from volcano_lab.course.lesson_10.cluster import CONF as TOPOLOGY, topology_cluster
from volcano_lab.course.lesson_18.configuration import arguments
from volcano_lab.debug.breakpoints import Breakpoint
from volcano_lab.server.series import SERIES

ROOT = Path(__file__).parents[2]
ITEMS = 205


def rows(text: str) -> list[list[str]]:
    """The cells of the tables' rows about items."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")]
            for line in text.splitlines() if re.match(r"\| \d", line)]


ROWS = rows((ROOT / "docs" / "documents.md").read_text(encoding="utf-8"))
CHINESE = rows("\n".join(entry.msgstr for entry in polib.pofile(
    str(ROOT / "docs" / "languages" / "zh" / "documents.po"))))
METRICS = {f"volcano_{series.name}" for series in SERIES}
NAMES = {"tables": tables, "charts": charts, "effort_of": effort_of, "conf": None,
         "cluster": Cluster().node("n1", cpu=4).job("train", pods=2, cpu=3)}


RECLAIM = """
actions: "enqueue, allocate, reclaim"
tiers:
- plugins: [{name: gang}, {name: proportion}, {name: predicates}]
"""


def numbers(text: str) -> range:
    first, _, last = text.partition("–")
    return range(int(first), int(last or first) + 1)


def headings(lesson: str, edition: str = "") -> set[str]:
    """The headings of a lesson's sections."""
    path = ROOT / "notebooks" / edition / LESSONS[lesson].file
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {line.lstrip("#").strip() for cell in cells if cell["cell_type"] == "markdown"
            for line in "".join(cell["source"]).replace("\u2011", "-").splitlines()
            if line.startswith("##")}


@pytest.fixture(scope="module")
def written() -> str:
    """The log of three cycles, at level 4."""
    shared = Cluster().node("n1", cpu=100)
    for queue, weight, pods in (("a", 2, 80), ("b", 3, 60), ("c", 5, 30)):
        shared.queue(queue, weight=weight)
        shared.job(f"{queue}-work", queue=queue, pods=pods, cpu=1, min_member=1)
    taken = Cluster().node("n1", cpu=10).queue("a").queue("b")
    taken.job("b-run", queue="b", pods=10, cpu=1, min_member=1, running={"n1": 10})
    taken.job("a-one", queue="a", cpu=1)
    cycles = [shared.run(trace=Trace()), taken.run(RECLAIM, trace=Trace()),
              topology_cluster().run(TOPOLOGY, trace=Trace())]
    return "\n".join(line for cycle in cycles for line in cycle.log())


def test_every_item_stands_there_once():
    assert [number for row in ROWS for number in numbers(row[0])] == [*range(1, ITEMS + 1)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_section_exists(row):
    lesson, _, section = row[2].partition(": ")
    assert section in headings(lesson), row


@pytest.mark.parametrize("row", CHINESE, ids=lambda row: row[0])
def test_the_section_exists_in_chinese(row):
    lesson, _, section = row[2].partition("：")
    assert section in headings(lesson, "zh"), row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_way_to_see_it_exists(row, written):
    ways = re.findall(r"(log|metric)? ?`([^`]+)`", row[3].rstrip("|"))
    assert ways
    for kind, text in ways:
        if kind == "metric":
            assert text in METRICS
        elif kind == "log":
            assert text in written
        elif text.startswith("stop at"):
            Breakpoint(text)
        elif text.startswith("volcano-lab"):
            _, name, *options = text.split()
            volcano_lab.commands[name].make_context(name, options)
        else:
            assert eval(text, NAMES | {"cycle": NAMES["cluster"].run()}) is not None


@pytest.mark.long
def test_the_reference_of_arguments_has_every_plugin_and_action_with_one():
    assert len(arguments()) > 40
