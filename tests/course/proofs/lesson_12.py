"""What lesson 12, "Write your own: plugin, action, extension point", says is so."""

from course.proofs import after, answer
from volcano_lab.course.lesson_12.lab import decided
from volcano_lab.course.lesson_12.scene import by_rack, two_racks


@after("own-05")
def a_small_cluster(conf_with, racks):
    assert racks.objects() == two_racks().objects(), "the cluster of its checks"
    plain = racks.run(conf_with())
    assert by_rack(plain) == {"a": 4, "b": 0} and answer("12", "without_rack_b") == 0


@after("own-11")
def a_plugin_in_four_lines(racks, with_rack_b):
    assert by_rack(racks.run(with_rack_b)) == {"a": 0, "b": answer("12", "with_rack_b")}


@after("own-11")
def a_plugin_in_four_lines_2(conf_with, scores, trace, trace_of, racks):
    found = trace.scores("default/web-0")
    assert found["node-1"]["nodeorder"] - found["node-3"]["nodeorder"] == 18
    assert {name for node in found.values() for name in node} >= {"nodeorder", "rack-b"}
    behind = [row["behind the best"] for row in
              scores(trace_of(racks, conf_with()), "default/web-0")]
    assert behind == [0, 0, 18, 18]


@after("own-26")
def when_something_is_wrong(conf_with, racks):
    assert '"rack-c" is not registered' in str(
        racks.run(conf_with("rack-c")).session.warnings[0])


@after("own-30")
def arguments(checks):
    assert by_rack(checks.weighted(5)) == {"a": 4, "b": 0}
    assert by_rack(checks.weighted(15)) == {"a": 2, "b": 2}


@after("own-37")
def how_answers_become_one():
    assert decided("job_enqueueable", a=1, b=0, c=-1)["together"] == "admitted"
    assert decided("job_enqueueable", a=0, b=0, c=-1)["together"] == "not admitted"


@after("own-39")
def how_answers_become_one_2(lab):
    def hears(**values):
        facts = lab.reset().set(**({"c": 0} | values)).facts
        return facts["together"], facts["asked"]

    assert hears(point="reclaimable", a=-1, c=1) == ("z", ["A", "C"])
    assert hears(point="job_order", a=1, b=-1) == ("the left one first", ["A"])
    assert hears(point="node_order", a=1)[0] == "100"
    assert hears(point="node_order", a=1, off="A") == ("0", ["B", "C"])
    assert hears(point="overused", b=1)[0] == "yes"
    assert hears(point="allocatable", b=-1)[0] == "no"
    lab.reset()


@after("own-45")
def make_whose_turn_is_it(conf_with):
    from volcano_lab.course.lesson_12.scene import one_place

    usual = one_place().run(conf_with())
    assert usual.committed == [["allocate", "default/new-wish-0", "node-1"]]


@after("own-57")
def make_a_veto_and_victims(who_goes):
    table = {row["protect stands in"]: row for row in who_goes()}
    assert table["tier 2"]["two kept, two plain"].startswith("kept")
    assert table["tier 2"]["four kept"].startswith("kept")
    assert table["tier 1"]["four kept"].startswith("kept")
    assert list(table["both"].values())[1:] == ["plain", "none"]


@after("own-60")
def an_action(cycle):
    assert {pod.partition("-")[0] for _, pod, _ in cycle.committed} == {"default/big"}
