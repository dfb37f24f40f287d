"""What lesson 06c, "Boss: a cluster that stands still", says is so."""

from course.proofs import after, placed_and_idle


@after("boss-02")
def only_web_runs(kubectl):
    assert placed_and_idle(kubectl.cycle) == ({"default/web": 12}, 36_000)


@after("boss-02")
def backup_has_neither_conditions_nor_events(kubectl):
    said = kubectl("describe podgroup backup")
    assert "Conditions" not in said and "Events: <none>" in said


@after("boss-04")
def train_has_a_second_reason(broken, Kubectl):
    assert "insufficient cpu" in Kubectl(broken)("describe podgroup train")
    wider = Kubectl(broken.copy().queue("reserve", guarantee=8))("describe podgroup train")
    assert "phase: Inqueue" in wider
    assert "Insufficient cpu" in " ".join(wider.split())
