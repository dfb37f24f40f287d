"""What lesson 10b, "Who is in a HyperNode", says is so."""

from course.proofs import after


@after("cell-43")
def members_named_in_three_ways(view):
    assert view["nodes"].tolist()[:3] == ["gpu-3, gpu-4", "gpu-1", "gpu-1, gpu-2"]


@after("cell-45b")
def members_named_in_three_ways_2(loose):
    assert loose == "gpu-1, gpu-10"


@after("cell-49")
def one_wrong_hypernode(placed, said):
    assert placed == 0 and "rack-1" in said


@after("cell-65")
def pods_without_a_topology(by_rack, points, session):
    assert session.committed == [["allocate", "default/normal-0", "node-7"]]
    assert abs(by_rack.loc["rack-4", "normal-0"] - points) < 0.001
