"""What two clusters were given that differs."""

import re

import pytest

from volcano_lab.changes.differences import differences
from volcano_lab.cluster import Cluster

CONF = """\
actions: "{actions}"
tiers:
- plugins: [{{name: gang{switch}}}, {{name: binpack{more}}}]
"""


def built(actions="allocate", switch="", more=""):
    return Cluster(conf=CONF.format(actions=actions, switch=switch, more=more)).node(
        "a.b", cpu=4, labels={"rack": "1"}).queue("q", deserved={"nvidia.com/gpu": 2})


@pytest.mark.parametrize("other, field, before, after", [
    (built(actions="allocate, reclaim"), "conf/actions", "allocate", "allocate, reclaim"),
    (built(more="}, {name: drf"), "conf/tiers", "gang, binpack", "gang, binpack, drf"),
    (built(switch=", enableJobOrder: false"), "plugin/gang.enableJobOrder", None, "false"),
    (built(more=", arguments: {binpack.weight: 3}"), "plugin/binpack[binpack.weight]", None, "3"),
    (built().queue("q", deserved={"nvidia.com/gpu": 3}), "queue/q.deserved[nvidia.com/gpu]", "2",
     "3"),
    (built().queue("p", weight=3), "queue/p", None, "there"),
    (built().node("a.b", labels={"rack": "2"}), "node/a.b.labels.rack", "1", "2"),
    (built().node("a.b", cpu=3), "node/a.b.allocatable.cpu", "4", "3"),
    (built().changed('node/a.b.taints=[{"key": "x"}]'), "node/a.b.taints", None,
     '[{"key": "x"}]')])
def test_each_field_that_differs_is_a_row_and_backwards(other, field, before, after):
    both = [(each.objects(), each.configuration()) for each in (built(), other)]
    assert differences(*both) == [{"field": field, "before": before, "after": after}]
    assert differences(*both[::-1]) == [{"field": field, "before": after, "after": before}]


def test_jobs_and_what_the_cluster_writes_are_not_compared():
    other = built().job("train", cpu=1, running={"a.b": 1})
    both = [(each.objects(), each.configuration()) for each in (built(), other)]
    assert differences(*both) == [] and other.diff(other.copy()).given == []


def test_what_differs_is_printed_with_the_cycles_and_the_rest_counted():
    one, other = built(), built(actions="allocate, backfill")
    text = one.diff(other)._repr_mimebundle_()["text/plain"]
    assert text.startswith("The cycles do not differ.\n\nGiven, before -> after\n")
    for number in range(20):
        other.queue(f"q{number}")
    text = one.diff(other)._repr_mimebundle_()["text/plain"]
    assert text.count(" there") == 11 and "and 9 more" in text


def test_an_object_that_only_one_cluster_has_is_there_in_the_reader_s_language():
    one, other = Cluster().node("a", cpu=4), Cluster().node("a", cpu=4).queue("q")
    shown = one.diff(other, lang="zh")._repr_mimebundle_()["text/plain"]
    assert re.search(r"queue/q +- -> 存在", shown)
