"""What lesson 04, "Who is let in: limits, and the sum of admission", says is so."""

from course.proofs import after


@after("a006")
def what_a_queue_may_hold(row):
    assert row["real capability"] == 12 and 20 - 6 == 14


@after("a007")
def what_a_queue_may_hold_2(row):
    assert row["guarantee"] <= row["deserved"] <= row["real capability"]


@after("a009")
def what_a_queue_may_hold_3(free, kept):
    assert (len(kept.committed), len(free.committed)) == (14, 20)


@after("a014")
def not_written_and_zero(limits):
    assert limits["cpu: 0"]["cpu"] == 16 and limits["nvidia.com/gpu: 0"]["nvidia.com/gpu"] == 0


@after("a018")
def the_sum(table):
    assert table["sum"].tolist() == [8, 13] and table["inqueue"].tolist() == [0, 4]


@after("a025")
def who_counts_where(later):
    assert later[0]["parts"] == [10 - 2, 4, 5] and later[0]["sum"] == 17


@after("a028")
def a_podgroup_without_a_minimum(
        admission_cluster, answers, phases, trace_of, without_min_resources):
    asked = answers(trace_of(without_min_resources(admission_cluster(second=12), "second")),
                    "job_enqueueable")
    assert phases["default/second"] == "Inqueue" and "job second" not in asked["about"].tolist()


@after("a029")
def a_podgroup_without_a_minimum_2(nobody, tables):
    assert tables.queues(nobody).loc["team", "elastic"] == 6


@after("a031")
def resource_by_resource(phases):
    assert (phases["first"], phases["second"]) == ("Pending", "Inqueue")


@after("a033")
def resource_by_resource_2(refused):
    assert len(refused) == 1 and refused[0]["who"] == "cluster"
    assert (refused[0]["job"], refused[0]["resource"]) == ("second", "memory")


@after("a035")
def the_other_door_overcommit(found):
    assert found == {1.0: 14, 1.2: 18, 1.5: 24, 0.5: 18}


@after("a038")
def who_is_asked_and_who_is_not(MOVED, seen, tight):
    assert seen["plugin"].tolist() == ["overcommit"]
    assert tight.run(MOVED).jobs()[0]["phase"] == "Inqueue"


@after("a041")
def who_is_asked_and_who_is_not_2(ends):
    assert list(ends.values()) == [["Pending", "Inqueue"], ["Pending", "Pending"]]


@after("a044")
def in_which_order_does_proportion_ask(said):
    assert said["answer"].tolist() == [1, -1]


@after("a046")
def in_which_order_does_proportion_ask_2(unlimited):
    assert "20 where 14 is allowed" in unlimited.why("default/second")[0]


@after("a050")
def answers_of_the_lab(lab):
    def job(name, **sliders):
        state = lab.reset().set(**sliders).state
        return next(row for row in state["jobs"] if row["job"] == name)

    needs = [n for n in range(0, 7) if job("second", needs=n)["let_in"] == "yes"]
    out = [k for k in range(0, 21) if job("second", capability=0, kept=k)["let_in"] == "no"]
    assert (max(needs), min(out)) == (3, 8)
    open_end = job("second", capability=0)
    assert lab.state["sums"][-2]["text"] == "13 of 14"
    assert (open_end["let_in"], open_end["pods_placed"]) == ("yes", 0)
    both = [job(name, runs=10, needs=1) for name in ("first", "second")]
    assert [(row["let_in"], row["pods_placed"]) for row in both] == [("yes", 0), ("yes", 0)]
    crowded = [lab.reset().set(runs=16, factor=factor).state["why"][-1]
               for factor in (1.2, 1.3)]
    assert "overcommit refuses it" in crowded[0] and "Queue team would" in crowded[1]
    lab.reset()


@after("a060")
def let_in_is_not_placed(one):
    assert one.loc["team", ["capability", "real capability"]].tolist() == ["9", 6]


@after("a070")
def two_questions_that_people_have(stuck):
    assert stuck.committed == []


@after("a072")
def two_questions_that_people_have_2(evicted, results, sums):
    assert evicted == {1.2: 0, 1.5: 4}
    assert [sums(end)[0]["limit"] for end in results.values()] == [2, 5]


@after("a074")
def where_to_look_and_where_to_stop(facts):
    assert facts == ["default/second", "team", ["cpu"]]
