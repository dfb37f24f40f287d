"""tdm: hours of zones, who may use them, who has to leave, by sentences. The cycle is at 08:00 UTC
unless said.
"""

import pytest
from small_cluster import NOW, conf, group, names, node, open_session, pod, queue, run, task

from volcano_lab.framework.points.rules import PERMIT, REJECT

ZONE, PREEMPTABLE = "volcano.sh/revocable-zone", "volcano.sh/preemptable"
HOUR = 3600.0


def tdm(hours="07:00-09:00", **more):
    arguments = {"tdm.revocable-zone.rz1": f'"{hours}"', **more}
    return "{name: tdm, arguments: {" + ", ".join(f"{k}: {v}" for k, v in arguments.items()) + "}}"


def revocable(name="n1", zone="rz1", **more):
    return node(name, labels={ZONE: zone}, **more)


@pytest.mark.parametrize(
    ("sentence", "hours", "now", "reason"),
    [
        ("within its hours", "07:00-09:00", NOW, ""),
        ("the first second belongs to them", "08:00-09:00", NOW, ""),
        ("so does the last", "07:00-08:00", NOW, ""),
        ("the second after does not", "07:00-08:00", NOW + 1,
         "current time beyond revocable zone rz1:07:00-08:00"),
        ("before", "09:00-10:00", NOW, "current time beyond revocable zone rz1:09:00-10:00"),
        ("over midnight, in the evening", "22:00-06:00", NOW + 15 * HOUR, ""),
        ("over midnight, early in the morning: not any more", "22:00-06:00", NOW + 18 * HOUR,
         "current time beyond revocable zone rz1:22:00-06:00"),
        ("equal ends mean until tomorrow", "08:00-08:00", NOW + HOUR, ""),
        ("one digit is enough for an hour", "7:00-9:00", NOW, ""),
        ("no minutes", "7-9", NOW, "revocable zone 7-9 format error"),
        ("no such hour", "07:00-25:00", NOW, "revocable zone 07:00-25:00 format error"),
    ],
)
def test_hours(sentence, hours, now, reason):
    ssn = open_session(queue(), plugins=tdm(hours), now=now)
    assert ssn.plugins["tdm"].closed_because("rz1") == reason, sentence


@pytest.mark.parametrize(
    ("sentence", "on", "notes", "now", "reason"),
    [
        ("an ordinary node is no matter of tdm", node("n1"), {}, NOW, None),
        ("a pod for any zone, in hours", revocable(), {ZONE: "*"}, NOW, None),
        ("a preemptable pod is one for any zone", revocable(), {PREEMPTABLE: "true"}, NOW, None),
        ("an ordinary pod stays off", revocable(), {}, NOW,
         "not allow to dispatch to revocable node"),
        ("a zone by name is not known", revocable(), {ZONE: "rz1"}, NOW,
         "not allow to dispatch to revocable node"),
        ("out of hours no job may", revocable(), {ZONE: "*"}, NOW + 2 * HOUR,
         "current time beyond revocable zone rz1:07:00-09:00"),
        ("a zone without hours", revocable(zone="rz2"), {ZONE: "*"
                                                         }, NOW, "revocable zone rz2 not support"),
    ],
)
def test_where_a_pod_may_be_placed(sentence, on, notes, now, reason):
    ssn = open_session(queue(), on, group("a"), pod("a-0", "a", annotations=notes), plugins=tdm(),
                       now=now)
    error = ssn.predicate_for_allocate(task(ssn, "a-0"), ssn.nodes["n1"])
    assert (error and error.reasons) == (reason and [reason]), sentence
    assert error is None or error.unresolvable()


def test_revocable_nodes_are_preferred_for_pods_that_may_use_them():
    objects = queue(), node("n0"), revocable(), group("a"), pod("a-0", "a",
                                                                annotations={ZONE: "*"}), pod(
                                                                    "a-1", "a")
    ssn = open_session(*objects, plugins=tdm())
    scores = {
        pod: [ssn.node_order(task(ssn, pod), n) for n in ssn.node_list] for pod in ("a-0", "a-1")
    }
    assert scores == {"a-0": [0.0, 100.0], "a-1": [0.0, 0.0]}


def test_out_of_hours_a_node_loses_the_scores_of_all_plugins():
    objects = queue(), node("n0"), revocable(), group("a"), pod("a-0", "a", annotations={ZONE: "*"})
    for now, score in ((NOW, [50.0 / 3, 100.0 + 50.0 / 3]), (NOW + 2 * HOUR, [50.0 / 3, 0.0])):
        ssn = open_session(
            *objects, plugins=("{name: binpack, arguments: {binpack.memory: 2}}", tdm()), now=now)
        assert [ssn.node_order(task(ssn, "a-0"), n) for n in ssn.node_list] == pytest.approx(score)


@pytest.mark.parametrize(
    ("sentence", "budget", "running", "waiting", "finished", "most"),
    [
        ("without a budget, one", {}, 4, 0, 0, 1),
        ("two may be missing, none is", {"max-unavailable": "2"}, 4, 0, 0, 2),
        ("two may be missing, one is", {"max-unavailable": "2"}, 3, 1, 0, 1),
        ("two may be missing, three are", {"max-unavailable": "2"}, 1, 3, 0, 0),
        ("who has finished is not missing", {"max-unavailable": "2"}, 2, 0, 2, 2),
        ("exactly as many are missing as may be", {"max-unavailable": "2"}, 2, 2, 0, 0),
        ("a percentage of all tasks, rounded up", {"max-unavailable": "30%"}, 4, 0, 0, 2),
        ("a percentage of all tasks, those that wait, too", {"max-unavailable": "50%"}, 4, 2, 0, 1),
        ("and those that have ended", {"max-unavailable": "50%"}, 2, 0, 2, 2),
        ("no number: nothing may be missing", {"max-unavailable": "few"}, 4, 0, 0, 0),
        ("three must stay of four", {"min-available": "3"}, 4, 0, 0, 1),
        ("half must stay", {"min-available": "50%"}, 4, 0, 0, 2),
        ("half of all tasks must stay, those that wait, too", {"min-available": "50%"}, 4, 2, 0, 1),
        ("exactly those that must stay run", {"min-available": "4"}, 4, 0, 0, 0),
        ("fewer run than must stay: one may go, as in Volcano", {"min-available": "4"}, 3, 1, 0, 1),
        ("both budgets: the minimum counts", {"min-available": "4", "max-unavailable": "4"
                                              }, 4, 0, 0, 0),
    ],
)
@pytest.mark.parametrize("ended", ["Succeeded", "Failed"])
def test_budgets(sentence, budget, running, waiting, finished, most, ended):
    objects = [
        queue(),
        revocable(cpu="16"),
        group("a", annotations={f"volcano.sh/jdb-{k}": v for k, v in budget.items()})
    ]
    notes = {PREEMPTABLE: "true"}
    objects += [pod(f"a-r{i}", "a", "n1", annotations=notes) for i in range(running)]
    objects += [pod(f"a-w{i}", "a", annotations=notes) for i in range(waiting)]
    objects += [
        pod(f"a-f{i}", "a", "n1", phase=ended, annotations=notes) for i in range(finished)
    ]
    ssn = open_session(*objects, plugins=tdm("09:00-10:00"))
    assert names(ssn.victim_tasks([])) == [f"a-r{i}" for i in range(most)], sentence


def scene_of_evictions():
    yes, no = {PREEMPTABLE: "true"}, {PREEMPTABLE: "false"}
    return (queue(), revocable("n1"), revocable("n2", "rz2"), node("n3"), group("a"), group("b"),
            pod("a-0", "a", "n1", annotations=yes), pod("b-0", "b", "n1", annotations=yes),
            pod("b-1", "b", "n1", annotations=no), pod(
                "b-2", "b", "n2", annotations=yes), pod("b-3", "b", "n3", annotations=yes))


def test_only_preemptable_pods_on_nodes_of_closed_zones_leave():
    both = tdm("09:00-10:00", **{"tdm.revocable-zone.rz2": '"07:00-10:00"'})
    assert names(open_session(*scene_of_evictions(),
                              plugins=both).victim_tasks([])) == ["a-0", "b-0"]


def test_evictions_keep_a_period_apart():
    memory, victims = {}, []
    for later in (0, 59, 60, 119, 120):
        ssn = open_session(*scene_of_evictions(), plugins=tdm("09:00-10:00"), now=NOW + later,
                           memory=memory)
        victims.append(len(ssn.victim_tasks([])))
    assert victims == [2, 0, 2, 0, 2]
    ssn = open_session(*scene_of_evictions(), plugins=tdm(
        "09:00-10:00", **{"tdm.evict.period": "5m"}), now=NOW + 121, memory=memory)
    assert ssn.victim_tasks([]) == []


@pytest.mark.parametrize(
    ("sentence", "notes", "expected", "vote"),
    [
        ("an ordinary pod takes preemptable ones off ordinary nodes, one of a job",
         {PREEMPTABLE: "false"}, ["b-3"], PERMIT),
        ("a preemptable pod may not", {PREEMPTABLE: "true"}, [], REJECT),
        ("nor may one that could run on revocable nodes", {PREEMPTABLE: "false", ZONE: "*"
                                                           }, [], REJECT),
    ],
)
def test_preemption(sentence, notes, expected, vote):
    ssn = open_session(*scene_of_evictions(), group("c"), pod("c-0", "c", annotations=notes),
                       plugins=tdm())
    running = [task(ssn, name) for name in ("a-0", "b-0", "b-1", "b-2", "b-3")]
    victims, answer = ssn.plugins["tdm"].preemptable(task(ssn, "c-0"), running)
    assert (names(victims), answer) == (expected, vote), sentence


def test_victims_are_selected_job_by_job():
    ssn = open_session(
        queue(), node("n2"), group("a"), group("b"), group("c"),
        pod("c-0", "c", annotations={PREEMPTABLE: "false"}),
        *(pod(f"{job}-{number}", job, "n2", annotations={PREEMPTABLE: "true"})
          for job in "ab" for number in (0, 1)), plugins=tdm())
    running = [task(ssn, name) for name in ("b-0", "a-1", "b-1", "a-0")]
    victims, _ = ssn.plugins["tdm"].preemptable(task(ssn, "c-0"), running)
    assert names(victims) == ["a-1", "b-0"]


def test_jobs_that_cannot_be_preempted_are_first_and_starve_while_a_pod_waits():
    marks = {"a": "true", "b": "false"}
    groups = [group(name, annotations={PREEMPTABLE: mark}) for name, mark in marks.items()]
    ssn = open_session(queue(), *groups, pod("a-0", "a"), pod("b-0", "b"), plugins=tdm())
    a, b = ssn.jobs["default/a"], ssn.jobs["default/b"]
    assert (ssn.job_order(a, b), ssn.job_order(b, a)) == (False, True)
    assert (ssn.job_starving(a), ssn.job_starving(b)) == (False, True)


def test_a_cycle_places_by_zone():
    objects = (queue(), revocable("n1"), node("n2"), group("a", minMember=2),
               pod("a-0", "a", annotations={ZONE: "*"}), pod("a-1", "a"))
    assert run(*objects, conf=conf("gang", "predicates", tdm())).committed == [
        ["allocate", "default/a-0", "n1"], ["allocate", "default/a-1", "n2"]]
