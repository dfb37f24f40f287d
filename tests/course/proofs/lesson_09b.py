"""What the appendix of lesson 09, on the dry run, says is so."""

from course.proofs import after


@after("evictions-dry-1")
def who_goes(DRY, PLAIN, evicted):
    assert evicted(PLAIN) == ["small-0", "large-0"] and evicted(DRY) == ["large-0"]


@after("evictions-dry-5")
def what_is_asked(rows):
    verdicts = [row["answer"] for row in rows if row["question"] == "simulate_allocatable"]
    assert verdicts == ["no", "yes", "yes", "no"]
    assert {row["the queue holds"] for row in rows} == {4}
