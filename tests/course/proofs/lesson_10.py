"""What lesson 10, "Network topology: dry runs over HyperNodes", says is so."""

from course.proofs import after, answer
from volcano_lab.course.lesson_10.cluster import hyper_nodes


@after("cell-05")
def a_small_cluster(scenes, topology_cluster):
    tree = scenes.hyper_tree(topology_cluster())
    assert tree.loc["whole cluster", "network tier"] == 3
    assert tree.loc["rack-2", "above it"] == "room-1"
    drawn = scenes.tree_of_hyper_nodes().data
    assert [int(group["note"].partition(" ")[0]) for group in drawn["groups"]] == [
        10, 6, 4, 9, 6, 3]


@after("cell-09")
def which_rack(session, trace):
    chosen = session.jobs["default/train"].allocated_hyper_node
    assert chosen == "rack-2" == answer("10", "gang_of_four")
    assert [row["score"] for row in hyper_nodes(trace)][:4] == [75, 100, 75, None]


@after("cell-13")
def try_save_take_back_and_recover(trace, session, statements_film):
    done, undone = ([record for record in trace.of(kind) if record["job"] == "default/train"]
                    for kind in ("do", "undo"))
    assert (len(done), len(undone)) == (16, 12)
    moments = statements_film(trace, session, "Statements").spec["moments"]
    assert [text.rpartition(" ")[2] for text in moments] == ["undone"] * 3 + ["committed"]


@after("cell-23")
def enough_is_free_and_still_it_does_not_fit(session, trace):
    pieces = session.jobs["default/train"].allocated_hyper_node
    assert pieces == "rack-1" == answer("10", "two_large_pods")
    assert hyper_nodes(trace)[1]["dry_run"] == "does not fit"


@after("cell-30")
def a_gang_that_is_too_large_for_a_rack(trace, volcano, adds):
    assert not trace.of("commit") and not trace.of("hyper_node_tried")
    assert "HyperNode" not in volcano and "HyperNode up to tier 1" in adds


@after("cell-32")
def a_gang_that_is_too_large_for_a_rack_2(large, without):
    placements = large.run(without).placements()
    assert {step["node"] for step in placements} == {"node-1", "node-2", "node-3"}


@after("cell-36")
def a_gang_that_runs_in_part(session):
    assert session.jobs["default/train"].allocated_hyper_node == "rack-1"


@after("cell-38")
def a_gang_that_runs_in_part_2(CONF, full, message, traced):
    free = {row["hyper_node"]: row["free"] for row in
            hyper_nodes(traced(full.objects(), CONF)[0])}
    assert free["whole cluster"] - free["rack-1"] == 13
    assert "In hyperNode rack-1: 0/2 nodes are unavailable" in message


@after("cell-56")
def sub_groups_close_within_looser_outside(session, trace, sub_dry_runs):
    tries = sub_dry_runs(trace)
    placed = {task.name: task.node_name for task in session.jobs["default/train"].tasks.values()}
    assert {placed[f"train-0-{number}"] for number in range(4)} == {"node-3", "node-4"}
    assert {placed[f"train-1-{number}"] for number in range(4)} == {"node-1", "node-2"}
    jobs = {row["in"]: row["score"] for row in tries if row["what"] == "the job"}
    assert jobs["room-1"] == 175
    first = [row for row in tries if row["what"] != "the job"][:3]
    assert [(row["in"], row["fits"], row["score"]) for row in first] == [
        ("rack-1", True, 75), ("rack-2", True, 100), ("rack-1", True, 75)]


@after("cell-61")
def soft_points_for_being_close(points):
    assert points["train-1"].tolist() == [120, 50, 0, 0]


@after("cell-70")
def answers_of_the_lab(lab):
    def goes(**choices):
        return lab.reset().set(**choices).facts.goes

    assert [goes(pods=pods, highest_tier=2) for pods in (6, 7)] == ["rack-1", "room-2"]
    scores = {row["hyper_node"]: row["score"] for row in lab.facts.rows}
    assert (scores["room-2"], scores["room-1"]) == (87.5, 81.25)
    assert goes(pods=12, highest_tier=3) == "whole cluster"
    assert goes(pods=7, mode="soft") == "nodes, without a dry run" and lab.facts.tried == "none"
    assert goes(node_4=2) == "rack-1" and lab.facts.tried == "rack-1, rack-3"
    assert goes() == "rack-2"
    lab.reset()


@after("cell-43")
def members_named_in_three_ways(view):
    assert view["nodes"].tolist()[:3] == ["gpu-3, gpu-4", "gpu-1", "gpu-1, gpu-2"]


@after("cell-45b")
def members_named_in_three_ways_2(scenes, ten):
    loose = scenes.hyper_tree(ten).loc["loose", "nodes"]
    assert loose == "gpu-1, gpu-10" == answer("10", "named_by_pattern")


@after("cell-49")
def one_wrong_hypernode(placed, said):
    assert placed == 0 == answer("10", "how_many_get_a_place") and "rack-1" in said


@after("cell-65")
def pods_without_a_topology(scenes, session, trace):
    rack, room, all_nodes = (5 + 1) / 8, (7 + 1) / 16, (13 + 1) / 32  # how full with the pod
    points = (rack + 0.8 * room + 0.8**2 * all_nodes) / (1 + 0.8 + 0.8**2) * 100
    by_rack = scenes.points_by_rack(trace, "normal-0")
    assert session.committed == [["allocate", "default/normal-0", "node-7"]]
    assert abs(by_rack.loc["rack-4", "normal-0"] - points) < 0.001
