"""What lesson 10, "Network topology: dry runs over HyperNodes", says is so."""

from course.proofs import after


@after("cell-02")
def a_tiny_cluster(TAKEN):
    assert sum(TAKEN.values()) == 13


@after("cell-05")
def a_tiny_cluster_2(tree):
    assert tree.loc["whole cluster", "tier"] == 3 and tree.loc["rack-2", "above it"] == "room-1"


@after("cell-08")
def predict_which_rack(chosen):
    assert chosen == "rack-2"


@after("cell-09")
def predict_which_rack_2(table):
    assert table["free"].tolist()[:4] == [6, 4, 6, 3]


@after("cell-13")
def explain_try_save_take_back_and_recover(done, undone):
    assert (len(done), len(undone)) == (16, 12)


@after("cell-22")
def predict_enough_is_free_and_still_it_does(chosen):
    assert chosen == "rack-1"


@after("cell-26")
def the_order_of_trying(tried):
    assert tried == ["rack-1", "rack-2", "rack-3"]


@after("cell-29")
def predict_a_gang_that_is_too_large_for_a_r(trace):
    assert not trace.of("commit") and not trace.of("hyper_node_tried")


@after("cell-32")
def predict_a_gang_that_is_too_large_for_a_r_2(without):
    assert {step["node"] for step in without.placements()} == {"node-1", "node-2", "node-3"}


@after("cell-35")
def a_gang_that_runs_in_part(session):
    assert session.jobs["default/train"].allocated_hyper_node == "rack-1"


@after("cell-38")
def a_gang_that_runs_in_part_2(CONF, full, hyper_nodes_table, message, traced):
    free = hyper_nodes_table(traced(full.objects(), CONF)[0])["free"]
    assert free["whole cluster"] - free["rack-1"] == 13
    assert "In hyperNode rack-1: 0/2 nodes are unavailable" in message


@after("cell-43")
def who_is_in_a_hypernode(view):
    assert view["nodes"].tolist()[:3] == ["gpu-3, gpu-4", "gpu-1", "gpu-1, gpu-2"]


@after("cell-45")
def who_is_in_a_hypernode_2(loose):
    assert loose == "gpu-1, gpu-10"


@after("cell-48")
def who_is_in_a_hypernode_3(placed):
    assert placed == 0


@after("cell-53")
def sub_groups_close_within_looser_outside(in_parts):
    assert set(in_parts["room"]) == {"room-1"}
    racks = in_parts.groupby("sub-group")["rack"].unique()
    assert racks.map(list).tolist() == [["rack-2"], ["rack-1"]]


@after("cell-56")
def explain_a_dry_run_in_a_dry_run(rows):
    assert [row["score"] for row in rows if row["what"] == "the job"] == ["175.0", "75.0"]


@after("cell-61")
def soft_points_for_being_close(points):
    assert points["train-1"].tolist() == ["120", "50", "0", "0"]
    assert 100 + 1 / 5 * 100 == 120 and 100 + 2 / 5 * 100 == 140


@after("cell-64")
def pods_without_a_topology(session):
    assert session.committed == [["allocate", "default/normal-0", "node-7"]]


@after("cell-65")
def pods_without_a_topology_2(points, table):
    assert table.loc["rack-4", "normal-0"] == f"{points:.6g}"


@after("cell-68")
def explore_the_lab(hyper_nodes_table, session, trace):
    assert session.jobs["default/train"].allocated_hyper_node == "room-2"
    scores = hyper_nodes_table(trace)["score"]
    assert (scores["room-2"], scores["room-1"]) == ("87.5", "81.25")


@after("cell-70")
def answers_of_the_lab(lab):
    def chosen(**choices):
        rows = lab.reset().set(**choices).state["hyper_nodes"]
        return [row["hyper_node"] for row in rows if row["dry_run"] == "fits, chosen"]

    assert [chosen(pods=pods, highest_tier=2) for pods in (6, 7)] == [["rack-1"], ["room-2"]]
    assert chosen(pods=12, highest_tier=3) == ["whole cluster"]
    assert chosen(pods=7, mode="soft") == [] and lab.state["gang"]["outcome"] == "commit"
    assert chosen(node_4=2) == ["rack-1"]
    assert chosen() == ["rack-2"]
    lab.reset()
