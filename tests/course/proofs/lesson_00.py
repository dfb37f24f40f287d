"""What lesson 00, "Fair share: three queues and a hundred CPUs", says is so."""

import yaml

from course.proofs import after
from volcano_lab import tables
from volcano_lab.course.lesson_00.lab import GANG, POD, RUNNING


@after("fair-share-01l")
def three_weights(facts, toy):
    assert facts.deserved(toy.facts.cycle) == {"a": 35, "b": 35, "c": 30}
    assert toy.facts.cycle.queues()[0]["allocated"]["cpu"] == 8 * 4 == 32


@after("fair-share-01q")
def twice_the_weight(facts, toy):
    heavier = toy.decide({**toy.start, "queue/a.weight": 2}).cycle
    assert facts.deserved(heavier) == {"a": 50, "b": 25, "c": 25}


@after("fair-share-03")
def the_cluster_in_a_few_words(cycle):
    queues = tables.queues(cycle)
    assert queues["deserved"].to_dict() == {"a": 28, "b": 42, "c": 30}
    assert queues["allocated"].to_dict() == {"a": 28, "b": 42, "c": 30}
    assert queues["real capability"].to_dict() == {"a": 50, "b": 70, "c": 90}


@after("fair-share-09")
def round_by_round_as_water_is_poured(cycle):
    first, second = ({name: amount.milli_cpu / 1000 for name, amount in {
        **each.deserved, "left": each.remaining}.items()} for each in cycle.rounds)
    weights = {"a": 2, "b": 3, "c": 5}
    offers = {queue: 100 * part / sum(weights.values()) for queue, part in weights.items()}
    assert offers == {"a": 20, "b": 30, "c": 50}
    assert first == {"a": 20, "b": 30, "c": 30, "left": 20}
    assert second == {"a": 20 + 20 * 2 / 5, "b": 30 + 20 * 3 / 5, "c": 30, "left": 0}


@after("fair-share-13")
def experiment_1_a_larger_weight(heavier):
    assert tables.queues(heavier)["deserved"].to_dict() == {"a": 40, "b": 30, "c": 30}


@after("fair-share-15")
def experiment_2_the_limit_above(heaviest):
    assert round(100 * 10 / 18, 1) == 55.6
    assert tables.queues(heaviest)["deserved"].round(6).to_dict() == {"a": 50, "b": 20, "c": 30}
    assert len(heaviest.rounds) == 4


@after("fair-share-17")
def experiment_3_the_guarantee(modest):
    assert tables.queues(modest)["deserved"].to_dict() == {"a": 32, "b": 48, "c": 20}
    assert tables.queues(modest)["allocated"].sum() == 32 + 48 + 10 == 90


@after("fair-share-18z")
def four_ways_to_fifty(cluster, facts):
    changes = [("b", {"weight": 5}), ("b", {"guarantee": 50}), ("a", {"capability": 20}),
               ("c", {"weight": 1})]
    deserved = [facts.deserved(cluster.copy().queue(queue, **change).run())
                for queue, change in changes]
    assert deserved[:3] == [{"a": 20, "b": 50, "c": 30}] * 3
    assert {queue: round(cpu) for queue, cpu in deserved[3].items()} == {"a": 33, "b": 50, "c": 20}
    assert round(sum(deserved[3].values())) == 103


@after("fair-share-19")
def whose_turn_is_it(busy):
    held = {queue: POD[queue] * pods for queue, pods in RUNNING.items()}
    assert held == {"a": 16, "b": 18, "c": 15}
    assert busy.queue_order == ["b", "c", "a"]
    shares = [round(part / whole, 3) for part, whole in [(18, 42), (15, 30), (16, 28)]]
    assert tables.turns(busy)["share"].round(3).tolist()[:3] == shares == [0.429, 0.5, 0.571]


@after("fair-share-22")
def all_or_nothing_the_gang(three):
    assert (28 - 16) // 4 == 3
    assert {row["outcome"] for row in three.statements("default/a-gang")} == {"commit"}


@after("fair-share-22")
def all_or_nothing_the_gang_2(four):
    operations = tables.operations(four, GANG)
    assert operations["operation"].tolist() == ["allocate"] * 3 + ["undo allocate"] * 3
    assert operations["pod"].tolist()[:3] == operations["pod"].tolist()[:2:-1]


@after("fair-share-24")
def all_or_nothing_the_gang_3(four):
    assert tables.queues(four)["allocated"]["a"] == 28


@after("fair-share-27")
def answers_of_the_lab(lab):
    minimum = {"job/default/a-gang.pods": 4, "job/default/a-gang.minAvailable": 4}
    ends = {}
    for weight in (2, 3):
        cycle = lab.set(**minimum, **{"queue/a.weight": weight}).facts.cycle
        ends[weight] = [row["outcome"] for row in cycle.statements("default/a-gang")]
    assert ends == {2: ["discard"], 3: ["commit"]}
    a = next(row for row in cycle.queues() if row["queue"] == "a")
    assert (a["deserved"]["cpu"], a["allocated"]["cpu"]) == (35, 32)
    lab.reset()


@after("fair-share-33")
def queue_a_as_a_manifest(cluster):
    queue = next(each for each in yaml.safe_load_all(cluster.to_yaml())
                 if each["metadata"]["name"] == "a")
    assert (queue["apiVersion"], queue["kind"]) == ("scheduling.volcano.sh/v1beta1", "Queue")
    assert queue["spec"]["weight"] == 2 and queue["spec"]["capability"] == {"cpu": "50"}
    assert queue["spec"]["guarantee"] == {"resource": {"cpu": "10"}}
