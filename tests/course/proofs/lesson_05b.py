"""What the appendix of lesson 05, on deep trees, says is so."""

from course.proofs import after, answer


@after("queue-tree-b-02")
def the_cost_of_depth(counted, work):
    assert {row["pods placed"] for row in counted} == {10}
    assert {row["questions"] for row in counted} == {10}
    assert [row["levels compared"] for row in counted] == [20, 30, 50, 90, 90]
    assert work.count(point="pre_predicate", plugin="capacity") == 10, "the copies, one per pod"


@after("queue-tree-b-03")
def the_levels_of_the_question(counted):
    assert counted[3]['levels compared'] == answer("05b", "levels_compared")
