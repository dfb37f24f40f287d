"""What lesson 08, "Placement: predicates and scores", says is so."""

from course.proofs import after


@after("cell-02")
def a_tiny_cluster(free):
    assert sum(free.values()) == 6


@after("cell-05")
def may_it_first_of_all_room(waiting):
    assert waiting.committed == []


@after("cell-06")
def may_it_first_of_all_room_2(message):
    assert "0/3 nodes are unavailable: 3 Insufficient cpu" in message


@after("cell-12")
def one_reason_hides_the_next(conf_with, placement_cluster):
    both = placement_cluster(cpu=4, taint=True).run(conf_with())
    said = both.why("default/new")[0].partition("unavailable: ")[2]
    assert said == "3 Insufficient cpu."


@after("cell-15")
def one_reason_hides_the_next_2(look, lower):
    assert look(lower)[1]["refused"] == "node(s) had untolerated taint {team: gpu}"


@after("cell-17")
def one_reason_hides_the_next_3(huge, less):
    assert "memory" not in huge and "3 Insufficient memory" in less


@after("cell-20")
def all_the_reasons(refusals):
    assert len(set(refusals.values())) == len(refusals) == 9


@after("cell-25")
def pods_that_keep_apart(may):
    assert may == ["node-3"]


@after("cell-28")
def pods_that_keep_apart_2(nodes_left):
    assert list(nodes_left.values()) == [["node-2"], ["node-1", "node-2"], []]


@after("cell-30")
def pods_that_keep_apart_3(SPREAD, zones):
    assert zones("").count("b") == 1 and zones(SPREAD).count("b") == 2


@after("cell-33")
def which_is_best_points(spread):
    assert spread.committed == [["allocate", "default/new-0", "node-2"]]


@after("cell-36")
def which_is_best_points_2(parts):
    assert parts.loc["node-2"].tolist() == ["68", "81", "300", "449"]


@after("cell-39")
def by_hand_node_2(balanced, least, parts, taints):
    assert [str(n) for n in (least, balanced, taints, least + balanced + taints)] == \
        parts.loc["node-2"].tolist()


@after("cell-41-weights")
def by_hand_node_2_2(weights):
    from volcano_lab.plugins.kube.resources import DEFAULTS
    assert [float(amount) for amount in DEFAULTS.values()] == [0.1, 200 * 2**20]
    assert list(weights.values()) == [1, 0, 1, 2, 2, 3, 1, 2]


@after("cell-42")
def binpack_the_other_way_round(conf_with, placement_cluster):
    packed = placement_cluster().run(conf_with("binpack"))
    assert packed.committed == [["allocate", "default/new-0", "node-1"]]


@after("cell-44")
def binpack_the_other_way_round_2(conf_with, full, look, placement_cluster):
    assert full == look(placement_cluster(), conf_with("binpack"))[0]["total"] == 62.5


@after("cell-50")
def several_plugins_points_are_added(table):
    assert table["sum"].tolist() == ["461.5", "480.25", "470.875"]


@after("cell-52")
def several_plugins_points_are_added_2(conf_with, look, parts, placement_cluster):
    both = parts["least requested"].astype(int) + parts["most requested"].astype(int)
    assert both.tolist() == [99, 99, 99]
    assert look(placement_cluster(), conf_with(mostrequested_weight=1))[1]["chosen"]


@after("cell-58")
def a_must_and_a_wish(where):
    assert where == "node-2"


@after("cell-59")
def a_must_and_a_wish_2(wish):
    assert wish["node affinity"].tolist() == ["2", "0", "2"]


@after("cell-64")
def room_now_before_room_later(seen):
    assert [row["room"] for row in seen] == ["later", "now", "now"] and seen[2]["chosen"]


@after("cell-65")
def room_now_before_room_later_2(last):
    assert [row["room"] for row in last] == ["later", "no", "no"] and last[0]["chosen"]


@after("cell-67")
def ties_many_nodes_and_pods_that_ask_for_no(alike, conf_with, look):
    assert len({row["total"] for row in look(alike)}) == 1
    assert all(alike.run(conf_with()).committed[0][2] == "node-1" for _ in range(3))


@after("cell-69")
def ties_many_nodes_and_pods_that_ask_for_no_2(enough):
    assert [enough(n) for n in (100, 200, 1000, 10000)] == [100, 100, 420, 500]


@after("cell-71")
def ties_many_nodes_and_pods_that_ask_for_no_3(with_backfill, without):
    assert without == [] and [step[1] for step in with_backfill] == ["default/new-0"]


@after("cell-73")
def answers_of_the_lab(lab):
    def chosen(**values):
        rows = lab.reset().set(**values).state["nodes"]
        return [row["node"] for row in rows if row["chosen"]]

    assert chosen(rule="not beside web, by zone", node_3=4) == [] and lab.state["why"]
    assert chosen(cpu=3, binpack=5) == ["node-2"]
    weights = [chosen(rule="prefers disk: ssd, weight 1", binpack=w) for w in (0, 1, 2)]
    assert weights == [["node-2"], ["node-2"], ["node-1"]]
    assert chosen(taint=True) == ["node-3"]
    assert chosen(taint=True, rule="tolerates the taint") == ["node-2"]
    lab.reset()


@after("cell-79")
def a_trap_the_predicate_cache(cached, plain):
    assert plain.committed == [["allocate", "default/w-1", "gpu-1"]] and cached.committed == []
