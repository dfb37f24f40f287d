"""What lesson 07, "Dominant resource fairness, flat and hierarchical", says is so."""

from course.proofs import after, answer
from volcano_lab.course.lesson_07.scene import placed


def drawn(level_picture, cycle):
    return {row["name"]: row for parent in ("", "eng")
            for row in level_picture("", cycle, parent).data}


@after("cell-05")
def the_same_dominant_share(cycle, resources_picture, without):
    assert placed(cycle) == {"a": 3, "b": 2} and placed(without) == {"a": 4, "b": 1}
    assert [node["note"] for node in resources_picture("", cycle, without).data["nodes"]] == [
        "a 3/9, b 6/9", "a 12/18, b 2/18", "a 4/9, b 3/9", "a 16/18, b 1/18"]


@after("cell-10")
def who_decided(turns):
    assert turns["decided by"].tolist() == ["age", "gang", "drf", "drf", "drf", "age"]


@after("cell-16")
def a_small_job_passes_a_big_one(FLAT, passing, said):
    last = passing.run(FLAT)
    assert last.committed == [["allocate", "default/small-1", "n1"]]
    assert said["decided by"][1] == "drf" and said["difference"][1] == "-0.5"


@after("cell-23")
def the_tree(flat, hierarchical):
    assert placed(hierarchical) == {"dev": 2, "prod": 4, "sci": 6}
    assert placed(flat) == {"dev": 2, "prod": 5, "sci": 5}


@after("cell-28")
def level_by_level(HIERARCHICAL, compared, level_picture, one_left):
    rows = drawn(level_picture, compared)
    assert list(rows) == ["sci", "eng", "dev", "prod"]
    assert [round(rows["eng"][key], 2) for key in ("asked", "held")] == [7, 3.5]
    assert round(rows["sci"]["held"], 2) == 4
    assert [name for name, row in rows.items() if row["saturated"]] == ["dev"]
    (placed,) = one_left.run(HIERARCHICAL).committed
    assert placed[1].startswith(f"default/{answer('07', 'last_cpu_of_the_tree')}-work")


@after("cell-30")
def rescaling(level_picture, mixed, stopped):
    assert stopped.committed == [] and stopped.queue_order[0] == "dev"
    levels = {name: [round(row[key], 6) for key in ("asked", "held")]
              for name, row in drawn(level_picture, stopped).items()}
    assert levels == {"sci": [3, 3], "eng": [9, 1], "dev": [1, 1], "prod": [9, 9]}
    assert placed(mixed) == {"dev": 6, "prod": 12, "sci": 6}


@after("cell-34")
def not_exact_to_the_last_pod(equal):
    assert placed(equal) == {"dev": 4, "prod": 3, "sci": 5}
    assert [turn["queue"] for turn in equal.turns()[:3]] == [
        "sci", "dev", answer("07", "third_turn")]


@after("cell-34")
def exact_where_the_first_is_found_again(again):
    assert placed(again) == {"dev": 3, "prod": 3, "sci": 6}


@after("cell-38")
def answers_of_the_lab(lab):
    def pods(**values):
        return placed(lab.reset().set(**values).facts.cycle)

    assert placed(lab.facts.cycle) == {"dev": 2, "prod": 4, "sci": 6}
    assert pods(prod_gi=4) == {"dev": 2, "prod": 2, "sci": 8}
    assert pods(sci_pods=2) == {"dev": 2, "prod": 8, "sci": 2}
    assert pods(dev_pods=12) == {"dev": 4, "prod": 3, "sci": 5}
    assert [*lab.facts.early] == [3, 8, 12] and lab.facts.exact["sci"] == 6
    assert pods(dev_pods=12, dev_weight=3) == {"dev": 5, "prod": 2, "sci": 5}
    assert pods(dev_pods=12, dev_weight=6) == {"dev": 7, "prod": 2, "sci": 3}
    assert pods(eng_weight=4)["sci"] == 3
    lab.reset()


@after("cell-04")
def pods_of_the_question(cycle):
    assert placed(cycle)['a'] == answer("07", "pods_of_a")


@after("cell-11")
def who_decides_the_third(turns):
    assert ", then ".join(turns["job"][[3, 4]]) == answer("07", "turns_3_and_4")
    assert set(turns["decided by"][[3, 4, 5]]) == {"drf"}


@after("cell-22")
def half_for_sci(hierarchical):
    assert placed(hierarchical)['sci'] == answer("07", "cpus_of_sci")


@after("cell-49")
def the_weight_of_eng_has_no_effect_beside_proportion(alone, both):
    assert placed(alone) == {"dev": 5, "prod": 4, "sci": 3}
    assert placed(both)["sci"] == answer("07", "in_two_tiers") == 4
    assert {row["deserved"]["cpu"] for row in both.queues()} == {4}
    assert not both.session.warnings and "deserved 4" in both.why("default/dev-work")[0]


@after("cell-31")
def the_first_of_the_question(stopped):
    assert stopped.queue_order[0] == answer("07", "whose_turn")
