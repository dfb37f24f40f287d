"""What lesson 04, "Who is admitted: limits, and the sum of admission", says is so."""

from course.proofs import after, answer
from volcano_lab import tables
from volcano_lab.course.kit import answers, trace_of
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.lesson_04.lab import FACTOR, KEPT, LIMIT, MEMORY, NEEDS, sums
from volcano_lab.trace.views.queues import levels


@after("a006-said")
def what_a_queue_may_hold(cycle):
    team = tables.queues(cycle).loc["team"]
    assert team["real capability"] == 12 and 20 - 6 == 14
    assert team["guarantee"] <= team["deserved"] <= team["real capability"]


@after("a011-lab")
def the_price_of_a_guarantee(price):
    def placed(**moves):
        return price.reset().set(**moves).facts.jobs["work"]["now"]

    assert [placed(**{KEPT: kept}) for kept in (6, 0, 12)] == [14, 20, 8]
    assert placed(**{KEPT: 12, LIMIT: 5}) == 5
    price.reset()


@after("a014")
def not_written_and_zero(limits):
    assert limits["cpu: 0"]["cpu"] == 16 and "nvidia.com/gpu" not in limits["nvidia.com/gpu: 0"]


@after("a018")
def the_sum(cycle):
    compared = [(row["sum"], row["inqueue"]) for row in levels(cycle.trace)]
    assert compared == [(8, 0), (13, 4)]


@after("a031")
def resource_by_resource(narrowed, sums):
    phases = {row["job"]: row["phase"] for row in narrowed.jobs()}
    assert (phases["default/first"], phases["default/second"]) == ("Pending", "Inqueue")
    assert [(row["job"], row["sum"], row["limit"]) for row in sums(narrowed) if row["over"]] == \
        [("first", 8, 4)]


@after("a035")
def resource_by_resource_2(sums, wide):
    refused = [row for row in sums(wide) if row["over"]]
    assert len(refused) == 1 and refused[0]["level"] == "cluster"
    assert (refused[0]["job"], refused[0]["resource"]) == ("second", "memory")
    assert (refused[0]["sum"], refused[0]["limit"]) == (44, 42)


@after("a035")
def the_other_door_overcommit(found):
    assert found == {1.0: 14, 1.2: 18, 1.5: 24, 0.5: 18}
    assert found[1.5] == answer("04", "factor_of_one_and_a_half")


@after("a038")
def who_is_asked_and_who_is_not(MOVED, tight):
    seen = answers(trace_of(tight, MOVED), "job_enqueueable")
    assert seen["plugin"].tolist() == ["overcommit"]
    assert tight.run(MOVED).jobs()[0]["phase"] == "Inqueue"


@after("a050")
def answers_of_the_lab(lab):
    def job(name, **moves):
        return lab.reset().set(**moves).facts.jobs[name]

    def waits(**moves):
        return job("second", **moves)["fate"] == "not admitted"

    def reason():
        return lab.facts.reason(lab.facts.jobs["second"])[0]

    assert max(n for n in range(1, 7) if not waits(**{NEEDS: n})) == 3
    assert min(k for k in range(21) if waits(**{LIMIT: 20, KEPT: k})) == 8
    open_end = job("second", **{LIMIT: 20})
    assert lab.board["sums"][-1]["text"] == "13 of 14: fits"
    assert (open_end["fate"], open_end["now"]) == ("discarded", 0)
    assert [job(name, **{NEEDS: 1})["now"] for name in ("first", "second")] == [4, 0]
    assert waits(**{MEMORY: 8})
    assert reason() == "44 reserved + requested, limit 42 Gi (overcommit)"
    assert waits(**{MEMORY: 8, FACTOR: 1.3})
    assert reason() == "team needs 13 CPUs and may hold 12 (proportion)"
    lab.reset()


@after("a060")
def admitted_is_not_placed():
    team = next(row for row in cluster_of("04", "one").run().queues() if row["queue"] == "team")
    assert team["real_capability"]["cpu"] == 6


@after("a025")
def who_counts_where(cycles):
    later = [row for row in sums(cycles[1]) if row["plugin"] == "proportion"]
    assert later[0]["parts"] == [10 - 2, 4, 5] and later[0]["sum"] == 17


@after("a041")
def a_reservation_of_a_refused_job(CONF, ghost):
    phases = [[row["phase"] for row in ghost.run(conf).jobs() if row["job"] != "default/run"]
              for conf in (None, CONF)]
    assert phases == [["Pending", "Inqueue"], ["Pending", "Pending"]]


@after("a070")
def two_questions_that_people_have(stuck):
    assert stuck.committed == []


@after("a072")
def two_questions_that_people_have_2(evicted, results, sums):
    assert evicted == {1.2: 0, 1.5: 4}
    assert [sums(end)[0]["limit"] for end in results.values()] == [2, 5]


@after("a025q")
def the_next_sum(cycles, sums):
    again = [row["sum"] for row in sums(cycles[1]) if row["plugin"] == "proportion"]
    assert again[0] == answer("04", "sum_in_the_next_cycle")
