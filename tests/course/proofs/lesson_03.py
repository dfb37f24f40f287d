"""What lesson 03, "Proportion: fair shares, and the order of queues", says is so."""

from course.proofs import after
from volcano_lab.course.lesson_03 import filling
from volcano_lab.course.lesson_03.lab import START, two_resource_cluster
from volcano_lab.trace.views.queues import sums
from volcano_lab.widgets.facts import amount, deserved


def at_opening(cycle, resources):
    """What each queue held, and deserved, when a cycle began; without what it did not deserve."""
    return {row["queue"]: {name: (amount(row["allocated"], name), amount(row["deserved"], name))
                           for name in resources if row["deserved"].get(name)}
            for row in sums(cycle.trace, -1)}


@after("proportion-06")
def one_round(rounds):
    assert rounds.loc[1]["deserves"].to_dict() == {"a": 20, "b": 30, "c": 30}


@after("proportion-06")
def one_round_2(rounds):
    assert rounds.loc[2]["deserves"].to_dict() == {"a": 28, "b": 42}


@after("proportion-16")
def the_loop_of_the_text_is_the_one_that_the_check_runs(pour, QUEUES):
    def greedy(had, offered, queue):
        return min(had + offered, queue["request"])

    assert QUEUES == filling.QUEUES
    assert pour(100, QUEUES, greedy) == filling.pour(100, QUEUES, greedy)


@after("proportion-19")
def modify_what_a_guarantee_really_does(nervous, tables):
    assert tables.queues(nervous)["deserved"].to_dict() == {"a": 24, "b": 46, "c": 30}


@after("proportion-23")
def sums_of_what_is_deserved(checks):
    sums = [checks.deserved_in_all(guarantee) for guarantee in range(101)]
    assert [at for at, total in enumerate(sums) if total > 100] == [*range(51, 70), *range(71, 101)]
    assert sums[60] == 110 and sums[70] == 100
    parts = [[row["deserved"]["cpu"] for row in filling.three_queues(b=guarantee).run().queues()]
             for guarantee in (60, 65, 70)]
    assert parts == [[20, 60, 30], [15, 65, 25], [10, 70, 20]]
    limits = {row["queue"]: row["real_capability"]["cpu"]
              for row in filling.three_queues(b=60).run().queues()}
    assert limits["a"] == 20 and limits["c"] == 30


def _rounds(cycle, resource):
    """What each queue deserves after each round, and what remains, in CPUs or Gi."""
    return [[each.get(resource) / {"cpu": 1000, "memory": 2**30}[resource]
             for each in (*round_.deserved.values(), round_.remaining)]
            for round_ in cycle.rounds]


@after("proportion-25")
def several_resources_at_once(shared):
    cpu, memory = (_rounds(shared, resource) for resource in ("cpu", "memory"))
    assert cpu[3][:3] == [10, 80, 10] and memory[3][:3] == [80, 20, 0]
    assert cpu[0][:3] == [10, 50, 40] and memory[0][0] < 80
    assert cpu[1][:3] == [10, 70, 20]


@after("proportion-27")
def what_a_deserves_of_cpu(mixed):
    assert mixed.objects() == two_resource_cluster().objects()
    rounds = [[round(amount, 1) for amount in each] for each in _rounds(mixed.run(), "cpu")]
    assert [(each[0], each[-1]) for each in rounds] == [(11.1, 15.6), (15, 0)]
    assert [[row[word] for word in ("weight", "asks", "runs", "memory")]
            for row in START.values()] == [[1, 15, 5, 4], [3, 30, 4, 2], [5, 20, 6, 3]]


@after("proportion-30")
def share_and_whose_turn_it_is(cycle, tables):
    assert cycle.queue_order == ["b", "c", "a"]
    assert tables.turns(cycle)["share"].round(3).tolist()[:4] == [0.178, 0.222, 0.267, 0.3]


@after("proportion-33")
def is_it_first_come_first_served(line, served, tables, checks):
    assert line.objects() == checks.early_and_late().objects()
    assert tables.turns(served)["queue"].tolist()[:4] == ["late"] * 3 + ["early"]
    assert tables.queues(served)["deserved"].to_dict() == {"early": 5, "late": 5}
    assert served.queue_order == ["late", "early"]
    assert tables.turns(served)["share"].round(1).tolist()[:4] == [0.0, 0.2, 0.4, 0.6]


@after("proportion-37")
def overused_or_not_allocatable(about_a):
    assert about_a["answer"].tolist()[0] is False and not about_a["answer"].any()


@after("proportion-39")
def overused_in_every_resource(contrast):
    opening = at_opening(contrast.run(), ["cpu", "memory", "pods"])
    full = {queue: all(held >= deserved for held, deserved in amounts.values())
            for queue, amounts in opening.items()}
    assert full == {"a": False, "b": False, "c": True} and "memory" not in opening["a"]


@after("proportion-54")
def each_patient_waits_for_its_own_cause_also_when_its_queue_comes_first(one, two, three):
    wanted = ["over_deserved", "queue_over_capability", "overused"]
    first = [each.copy().queue("team", priority=1) for each in (one, two, three)]
    for clusters in ([one, two, three], first):
        assert [each.why("team-work").causes[0].code for each in clusters] == wanted


@after("proportion-41")
def answers_of_the_lab(lab):
    def moved(**paths):
        return lab.reset().set(**paths).facts

    placed = [w for w in range(1, 10) if moved(**{"queue/a.weight": w}).jobs["a-work"]["now"]]
    assert placed[0] == 3
    at_two = moved(**{"queue/a.weight": 2}).cycle
    assert at_opening(at_two, ["memory"])["a"] == {"memory": (20, 24)}
    assert at_two.queue_order == ["b", "c", "a"]
    free = [node.idle.get("memory") / 2**30 for node in at_two.session.nodes.values()]
    assert max(free) < START["a"]["memory"] == 24 - 20

    without = moved(**{"job/default/a-work.requests.memory": 0})
    assert without.cycle.queue_order == ["b", "c", "a"] and without.jobs["a-work"]["now"] == 2
    assert at_opening(without.cycle, ["memory"])["a"] == {"memory": (20, 15)}
    assert without.of("allocated")["a"] + 2 > without.of("deserved")["a"] == 15
    pods = [n for n in range(6, 21) if moved(**{"job/default/c-work.pods": n}).queues["c"][
        "overused"]]
    assert pods[0] == 6
    for weight in (5, 9):
        facts = moved(**{"job/default/c-work.pods": 10, "queue/c.weight": weight})
        assert deserved(facts.cycle)["c"] == 20
    lab.reset()
