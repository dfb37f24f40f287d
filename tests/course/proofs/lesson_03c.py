"""What lesson 03c, "Boss: a share for all", says is so."""

from course.proofs import after


def repaired(broken):
    fixed = broken.copy().queue("lab", capability=8).queue("search", weight=4)
    return fixed.queue("ads", guarantee={}, priority=0)


@after("share-01")
def report_has_more_than_it_needs_and_two_jobs_have_none(kubectl):
    assert {row["job"]: row["placed"] for row in kubectl.cycle.jobs()} == {
        "default/checkout": 12, "default/report": 40, "default/index": 0, "default/train": 0}
    assert [kubectl(f"describe podgroup {job}").count("phase: Pending")
            for job in ("index", "train")] == [1, 1]


@after("share-05")
def report_does_not_run_yet(kubectl):
    assert kubectl("get podgroup report").split()[-5:-2] == ["Inqueue", "1", "0"]


@after("share-05")
def the_guarantee_exceeds_the_offer_and_pods_decide_the_share_of_ads(kubectl):
    offer, = (round(step["offered"], 1) for round_ in kubectl.cycle.plot.water().data["rounds"]
              for name, step in round_["steps"].items() if name == "ads")
    assert offer == 27.3
    rows = {row["queue"]: row for row in kubectl.cycle.queues()}
    assert sum(row["deserved"].get("cpu", 0) for row in rows.values()) > 60
    (held, deserved), share = ((rows["ads"][word] for word in ("allocated", "deserved")),
                               rows["ads"]["share"])
    assert (held["pods"], deserved["pods"], share) == (40, 40, 1)
    assert (held["cpu"], deserved["cpu"]) == (40, 46)


@after("share-08")
def the_repair_puts_all_cpus_to_work(broken):
    cycle = repaired(broken).run()
    held = {row["queue"]: row["allocated"].get("cpu") for row in cycle.queues() if row["deserved"]}
    assert held == {"shop": 12, "search": 16, "ads": 24, "lab": 8}
    turns = [(turn["queue"], turn["pods"]) for turn in cycle.turns()]
    assert turns[turns.index(("ads", 1)) + 1] == ("lab", 1)


@after("share-08")
def the_webhook_refuses_the_guarantee_of_ads_and_nothing_of_the_solution(broken):
    refused, = broken.admit(refuse=False)
    assert "guarantee should less equal than deserved" in str(refused)
    assert not repaired(broken).admit()


@after("share-08")
def priority_alone_keeps_train_out(broken):
    spread = broken.copy().queue("lab", capability=8).queue("search", weight=4)
    cycle = spread.queue("ads", guarantee={}).run()
    assert [node.idle.milli_cpu for node in cycle.session.nodes.values()] == [0, *[2000] * 4]
    assert sum(task.node_name != "" for task in cycle.session.jobs["default/report"].tasks.values()
               ) == 24


@after("share-10")
def a_remark_says_what_a_right_answer_leaves(broken, all_served):
    plain, unequal, kept = (repaired(broken) for _ in range(3))
    unequal.queue("shop", weight=1)
    kept.queue("search", guarantee=16)
    texts = [all_served(answer) for answer in (plain, unequal, kept)]
    assert [said.state for said in texts] == ["well done"] * 3
    assert [["shop holds 2 times" in said.text, "refuse this guarantee" in said.text]
            for said in texts] == [[False, False], [True, False], [False, True]]


@after("share-10")
def of_capabilities_below_a_guarantee_hears_who_tried_one(broken, all_served):
    hints = [all_served(broken.copy().queue("lab", capability=8).queue("ads", **tried)).text
             for tried in ({"priority": 0}, {"capability": 24})]
    assert ["does not lower" in hint for hint in hints] == [False, True]
    assert not any("would refuse" in hint for hint in hints)


@after("share-08")
def a_shortfall_is_not_rounded_away(broken):
    short = repaired(broken).queue("search", weight=9).queue("ads", guarantee=20)
    assert not next(row["placed"] for row in short.run().jobs() if row["job"] == "default/train")
    assert ">deserves 7.96<" in short.run().plot.queues("Short").svg
