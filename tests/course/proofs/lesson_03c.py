"""What lesson 03c, "Boss: a share for all", says is so."""

from course.proofs import after


@after("share-01")
def report_has_more_than_it_needs_and_two_jobs_have_none(kubectl):
    assert {row["job"]: row["placed"] for row in kubectl.cycle.jobs()} == {
        "default/checkout": 12, "default/report": 35, "default/index": 0, "default/train": 0}


@after("share-01")
def train_is_not_admitted(kubectl):
    assert "phase: Pending" in kubectl("describe podgroup train")
    assert "phase: Inqueue" in kubectl("describe podgroup index")


@after("share-08")
def weights_divide_sixty_cpus(broken):
    fixed = broken.copy().queue("lab", capability=12).queue("search", weight=4)
    rows = fixed.queue("ads", guarantee={}, priority=0).run().queues()
    assert {row["queue"]: row["deserved"]["cpu"] for row in rows if row["deserved"]} == {
        "shop": 12, "search": 16, "ads": 20, "lab": 12}
