"""What lesson 10b, "Who is in a HyperNode", says is so."""

from course.proofs import after, answer


@after("cell-43")
def members_named_in_three_ways(view):
    assert view["nodes"].tolist()[:3] == ["gpu-3, gpu-4", "gpu-1", "gpu-1, gpu-2"]


@after("cell-45b")
def members_named_in_three_ways_2(scenes, ten):
    loose = scenes.hyper_tree(ten).loc["loose", "nodes"]
    assert loose == "gpu-1, gpu-10" == answer("10b", "named_by_pattern")


@after("cell-49")
def one_wrong_hypernode(placed, said):
    assert placed == 0 == answer("10b", "how_many_get_a_place") and "rack-1" in said


@after("cell-65")
def pods_without_a_topology(scenes, session, trace):
    rack, room, all_nodes = (5 + 1) / 8, (7 + 1) / 16, (13 + 1) / 32  # how full with the pod
    points = (rack + 0.8 * room + 0.8**2 * all_nodes) / (1 + 0.8 + 0.8**2) * 100
    by_rack = scenes.points_by_rack(trace, "normal-0")
    assert session.committed == [["allocate", "default/normal-0", "node-7"]]
    assert abs(by_rack.loc["rack-4", "normal-0"] - points) < 0.001
