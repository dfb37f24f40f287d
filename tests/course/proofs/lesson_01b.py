"""What lesson 01b, "The cycle in the source", says is so."""

from course.proofs import after, answer


@after("c101")
def jobs_in_the_copy(cycle):
    assert len(cycle.session.jobs) == 3


@after("c020")
def open_3(asked):
    assert {"job_enqueueable", "overused", "predicate", "job_ready"} <= {
        row["point"] for row in asked}


@after("c051")
def the_log_the_metrics_the_dump(known):
    names = ["e2e", "action", "plugin", "task"]
    assert all(f"volcano_{name}_scheduling_latency_milliseconds" in known for name in names)
    assert known["volcano_schedule_attempts_total"].source == ""


@after("c055")
def inqueue_is_admitted(phases, why):
    assert phases["default/wide"] == "Inqueue" and why


@after("c055q")
def what_wide_is(phases):
    assert f"{phases['default/wide']}, without a node" == answer("01b", "wide_without_enqueue")
