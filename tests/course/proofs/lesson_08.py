"""What lesson 08, "Placement: predicates and scores", says is so."""

from course.proofs import after, answer


def rows(table):
    """The rows of a table of the kit, as dicts of texts."""
    return [dict(zip(table.headings, row, strict=True)) for row in table.rows]


@after("cell-05")
def room_comes_first(cluster, conf_with, look, message, placement_cluster):
    assert sum(row["free"] for row in look(placement_cluster())) == 6
    assert cluster.run(conf_with()).committed == []
    assert "0/3 nodes are unavailable: 3 Insufficient cpu" in message


@after("cell-13")
def one_reason_hides_the_next(conf_with, look, placement_cluster):
    both = placement_cluster(cpu=4, taint=True).run(conf_with())
    assert both.why("default/new")[0].partition("unavailable: ")[2] == "3 Insufficient cpu."
    lower = look(placement_cluster(cpu=3, taint=True))
    assert lower[1]["refused"] == "node(s) had untolerated taint {team: gpu}"


@after("cell-17")
def only_the_first_resource_is_named(huge, less):
    assert "memory" not in huge and "3 Insufficient memory" in less


@after("cell-20q")
def all_the_reasons(refusals):
    assert len(set(refusals.values())) == len(refusals) == 9


@after("cell-20q")
def the_neighbour_still_objects(Cluster, look, scene):
    without = Cluster(obj.changed(spec={"affinity": None}) if obj.name == "new-0" else obj
                      for obj in scene.faulty_cluster().objects())
    taken = [row["node"] for row in look(without) if not row["refused"]]
    assert taken == [answer("08", "without_anti_affinity")]


@after("cell-21q")
def reasons_that_hide_and_reasons_that_add_up(Cluster, look, scene):
    p, q = "5-taint", "6-web"
    faults = {p: {"unschedulable": True}, "db-2": {"node_name": q}}
    cluster = Cluster(obj.changed(spec=faults[obj.name]) if obj.name in faults else obj
                      for obj in scene.faulty_cluster(p, q, "8-port").objects())
    given = {row["node"]: row["refused"].count("node(s)") for row in look(cluster)}
    assert f"p {given[p]}, q {given[q]}" == answer("08", "two_faults")


@after("cell-24")
def pods_that_keep_apart(look, placement_cluster, scene):
    found = look(placement_cluster(scene.anti_affinity("web", "zone")))
    assert [row["node"] for row in found if not row["refused"]] == ["node-3"]
    assert found[2]["total"] is None and answer("08", "left_by_zone") == 1


@after("cell-28")
def pods_that_belong_together(nodes_left):
    assert list(nodes_left.values()) == [["node-2"], ["node-1", "node-2"], []]
    assert " and ".join(nodes_left["near db, by zone"]) == answer("08", "near_db")


@after("cell-30b")
def the_zones_take_turns(SPREAD, conf_with, placement_cluster, scene):
    def zones(rules):
        placed = placement_cluster(rules, pods=4).run(conf_with()).committed
        return [scene.ZONES[node] for _, _, node in placed]

    assert zones("").count("b") == 1 and zones(SPREAD).count("b") == 2
    assert answer("08", "spread_by_zone") == 2


@after("cell-32")
def which_is_best(conf_with, placement_cluster):
    spread = placement_cluster().run(conf_with("nodeorder"))
    assert spread.committed == [["allocate", "default/new-0", "node-2"]]


@after("cell-39")
def by_hand_node_2(balanced, least, parts_table, placement_cluster, taints):
    row = list(rows(parts_table(placement_cluster()))[1].values())
    assert row == ["node-2", *map(str, (least, balanced, taints, least + balanced + taints))]
    assert row[-1] == "449"


@after("cell-40")
def the_check_is_not_drawn_before(parts_table, placement_cluster):
    drawn, asked = (rows(parts_table(placement_cluster(memory=memory)))[2]["least requested"]
                    for memory in ("1Gi", "5Gi"))
    assert int(asked) == answer("08", "least_requested_of_node_3") != int(drawn)


@after("cell-39")
def eight_parts(conf_with, placement_cluster):
    plugin = placement_cluster().run(conf_with("nodeorder")).session.plugins["nodeorder"]
    assert [plugin.least_requested, plugin.most_requested, plugin.balanced_resource,
            plugin.node_affinity, plugin.pod_affinity, plugin.taint_toleration,
            plugin.image_locality, plugin.topology_spread] == [1, 0, 1, 2, 2, 3, 1, 2]


@after("cell-44")
def binpack_the_other_way_round(conf_with, full, look, placement_cluster):
    packed = placement_cluster().run(conf_with("binpack"))
    assert packed.committed == [["allocate", "default/new-0", "node-1"]]
    assert full == look(placement_cluster(), conf_with("binpack"))[0]["total"] == 62.5


@after("cell-48")
def points_are_added(conf_with, look, placement_cluster):
    sums = [row["total"] for row in look(placement_cluster(), conf_with("nodeorder", "binpack"))]
    assert sums == [461.5, 480.25, 470.875]


@after("cell-52")
def one_part_gives_what_the_other_takes(conf_with, look, parts, placement_cluster):
    both = [int(row["least requested"]) + int(row["most requested"]) for row in rows(parts)]
    assert both == [99, 99, 99]
    assert look(placement_cluster(), conf_with(mostrequested_weight=1))[1]["chosen"]


@after("cell-58")
def a_must_and_a_wish(parts_table, placement_cluster, scene, where):
    assert where == "node-2"
    wish = rows(parts_table(placement_cluster(scene.preference(1))))
    assert [row["node affinity"] for row in wish] == ["2", "0", "2"]
    assert int(wish[1]["sum"]) - int(wish[2]["sum"]) + 2 == 25


@after("cell-64")
def room_now_before_room_later(last, seen):
    assert [row["fits"] for row in seen] == ["later", "now", "now"] and seen[2]["chosen"]
    assert [row["fits"] for row in last] == ["later", "no", "no"] and last[0]["chosen"]


@after("cell-73")
def answers_of_the_lab(lab):
    def chosen(**values):
        return lab.reset().set(**values).facts.where

    assert chosen(rule="not beside web, by zone", node_3=4) == "nowhere" and lab.facts.waits
    assert chosen(cpu=3, binpack=5) == "node-2"
    weights = [chosen(rule="prefers disk: ssd, weight 1", binpack=w) for w in (0, 1, 2)]
    assert weights == ["node-2", "node-2", "node-1"]
    assert chosen(taint=True) == "node-3"
    assert chosen(taint=True, rule="tolerates the taint") == "node-2"
    lab.reset()


@after("cell-48")
def the_node_of_both(conf_with, placement_cluster):
    together = placement_cluster().run(conf_with("nodeorder", "binpack"))
    assert together.committed[0][2] == answer("08", "both_together")


@after("cell-57")
def the_node_of_the_wish(where):
    assert where == answer("08", "a_wish_for_ssd")
