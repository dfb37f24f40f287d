"""What lesson 06c, "Boss: a cluster that stands still", says is so."""

from course.proofs import after


@after("boss-02")
def only_web_runs(cycle, idle):
    assert {row["job"]: row["placed"] for row in cycle.jobs() if row["placed"]} == {
        "default/web": 12}
    assert idle == 36


@after("boss-04")
def train_has_a_second_reason(broken, described):
    assert "insufficient cpu" in described(broken.run(), "train")
    wider = broken.copy().queue("reserve", guarantee=8).run()
    assert "Status: Phase: Inqueue" in described(wider, "train")
    assert "Insufficient cpu" in described(wider, "train")
