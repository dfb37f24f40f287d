"""What lesson 05c, "Boss: a company that waits", says is so."""

from course.proofs import after


@after("company-01")
def only_web_runs_and_22_cpus_are_idle(kubectl):
    cycle = kubectl.cycle
    assert {row["job"]: row["placed"] for row in cycle.jobs() if row["placed"]} == {
        "default/web": 10}
    assert sum(node.idle.milli_cpu for node in cycle.session.nodes.values()) == 22_000


@after("company-01")
def the_log_names_the_job_that_stops_all(kubectl):
    assert "nightly" in kubectl("logs capacity")


@after("company-07")
def reasons_hide_behind_each_other(broken):
    moved = broken.copy().job("nightly", queue="speech")
    phases = {row["job"].removeprefix("default/"): row["phase"] for row in moved.run().jobs()}
    assert phases["train"] == "Pending" and phases["invoice"] == "Inqueue"
    assert "vision" in str(moved.why("default/train"))
