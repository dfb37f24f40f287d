"""What lesson 07, "Dominant resource fairness, flat and hierarchical", says is so."""

from course.proofs import after


@after("cell-05")
def predict_who_gets_how_much(cycle, placed):
    assert placed(cycle) == {"a": 3, "b": 2}


@after("cell-08")
def explain_the_same_dominant_share(cycle, shares):
    assert shares(cycle)["dominant share"].tolist() == [0.667, 0.667]


@after("cell-10")
def explain_the_same_dominant_share_2(turns):
    assert turns["decided by"].tolist() == ["age", "gang", "drf", "drf", "drf", "age"]


@after("cell-12")
def explain_the_same_dominant_share_3(placed, without):
    assert placed(without) == {"a": 4, "b": 1}


@after("cell-17")
def why_does_a_small_job_pass_a_big_one(FLAT, passing):
    last = passing.run(FLAT)
    assert last.committed == [["allocate", "default/small-1", "n1"]]


@after("cell-18")
def why_does_a_small_job_pass_a_big_one_2(said):
    assert said["decided by"][1] == "drf" and said["difference"][1] == "-0.5"


@after("cell-23")
def the_tree_volcano_sh_hierarchy(flat, hierarchical, placed):
    assert placed(hierarchical) == {"dev-work": 2, "prod-work": 4, "sci-work": 6}
    assert placed(flat) == {"dev-work": 2, "prod-work": 5, "sci-work": 5}


@after("cell-28")
def explain_level_by_level(heavy, placed):
    assert placed(heavy) == {"dev-work": 4, "prod-work": 4, "sci-work": 4}


@after("cell-31")
def rescaling_a_sister_who_wants_something_e(mixed, placed):
    assert placed(mixed) == {"dev-work": 6, "prod-work": 12, "sci-work": 6}


@after("cell-34")
def not_exact_to_the_last_pod(equal, placed):
    assert placed(equal) == {"dev-work": 4, "prod-work": 3, "sci-work": 5}


@after("cell-36")
def not_exact_to_the_last_pod_2(anew, placed):
    assert placed(anew) == {"dev-work": 3, "prod-work": 3, "sci-work": 6}


@after("cell-38")
def answers_of_the_lab(lab):
    def pods(**values):
        return {row["job"]: row["placed"] for row in lab.reset().set(**values).state["jobs"]}

    assert pods(dev_pods=1) == {"dev-work": 1, "prod-work": 5, "sci-work": 6}  # 1
    assert pods(sci_pods=2) == {"dev-work": 5, "prod-work": 5, "sci-work": 2}  # 2
    assert pods(dev_weight=3) == {"dev-work": 5, "prod-work": 2, "sci-work": 5}  # 3
    lab.reset()
