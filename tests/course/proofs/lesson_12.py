"""What lesson 12, "Write your own: plugin, action, extension point", says is so."""

from course.proofs import after


@after("own-05")
def a_tiny_cluster(by_rack, conf_with, two_racks):
    plain = two_racks().run(conf_with())
    assert by_rack(plain) == {"a": 4, "b": 0}


@after("own-11")
def a_plugin_in_four_lines(by_rack, two_racks, with_rack_b):
    assert by_rack(two_racks().run(with_rack_b)) == {"a": 0, "b": 4}


@after("own-16")
def a_plugin_in_four_lines_2(trace):
    scores = trace.scores("default/web-0")
    assert scores["node-1"]["nodeorder"] - scores["node-3"]["nodeorder"] == 18
    assert {name for node in scores.values() for name in node} >= {"nodeorder", "rack-b"}


@after("own-28")
def arguments(by_rack, conf, two_racks):
    assert by_rack(two_racks().run(conf)) == {"a": 3, "b": 1}


@after("own-35")
def how_answers_become_one(combined):
    assert combined("job_enqueueable", a=1, b=0, c=-1)[1] == "let in"


@after("own-37")
def how_answers_become_one_2(combined):
    assert combined("job_enqueueable", a=0, b=0, c=-1)[1] == "not let in"


@after("own-39")
def how_answers_become_one_3(lab):
    def hears(**values):
        state = lab.reset().set(**({"c": 0} | values)).state
        return state["together"][0]["together"], [row["asked"] for row in state["plugins"]]

    assert hears(point="reclaimable", a=-1, c=1) == ("z", ["yes", "no", "yes"])
    assert hears(point="job_order", a=-1, b=1) == ("the left one first", ["yes", "no", "no"])
    assert hears(point="node_order", a=1)[0] == "100"
    assert hears(point="node_order", a=1, off="A") == ("0", ["switched off", "yes", "yes"])
    assert hears(point="overused", b=1)[0] == "yes"
    assert hears(point="allocatable", b=-1)[0] == "no"


@after("own-43")
def make_whose_turn_is_it(usual):
    assert usual.committed == [["allocate", "default/new-wish-0", "node-1"]]


@after("own-51")
def make_a_veto_and_victims(repaired):
    assert "2 maintenance tonight" in repaired.why("default/long")[0]


@after("own-56")
def make_a_veto_and_victims_2(table):
    assert table.loc["tier 2"].str.startswith("kept").all()
    assert table.loc["tier 1", "four kept"].startswith("kept")
    assert table.loc["both"].tolist() == ["plain-0", "nobody"]


@after("own-66")
def an_action(placed):
    assert placed == ["big-1", "small-1", "tiny-1", "big-2", "tiny-2"]
