"""What lesson 05c, "Boss: a company that waits", says is so."""

from course.proofs import after, placed_and_idle


@after("company-01")
def only_web_runs_and_22_cpus_are_idle(kubectl):
    assert placed_and_idle(kubectl.cycle) == ({"default/web": 10}, 22_000)


@after("company-01")
def the_log_names_the_job_that_stops_all(kubectl):
    assert "<research> of Job <default/nightly> is not leaf" in kubectl("logs Queue")


@after("company-07")
def reasons_hide_behind_each_other(broken):
    moved = broken.copy().job("nightly", queue="speech")
    phases = {row["job"].removeprefix("default/"): row["phase"] for row in moved.run().jobs()}
    assert phases["train"] == "Pending" and phases["invoice"] == "Inqueue"
    assert "vision" in str(moved.why("default/train"))


@after("company-01")
def the_webhook_refuses_some_settings_and_none_of_the_solution(broken):
    refused = [*map(str, broken.admit(refuse=False))]
    assert [text.partition(":")[0] + text.rpartition(":")[2] for text in refused] == [
        "Queue prod deserved should less equal than capability)",
        "Queue research deserved should less equal than capability)",
        "Queue speech guarantee should less equal than deserved)"]
    fixed = broken.copy().job("nightly", queue="speech").queue("speech", guarantee=4)
    assert not fixed.queue("research", capability=14).queue("prod", capability=18).admit()
