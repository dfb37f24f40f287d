"""What lesson 04b, "Admission in the source", says is so."""

from course.proofs import after, answer


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


@after("a041")
def who_is_asked_and_who_is_not_2(ends):
    assert list(ends.values()) == [["Pending", "Inqueue"], ["Pending", "Pending"]]


@after("a044")
def in_which_order_does_proportion_ask(said):
    assert said["answer"].tolist() == [1, -1]


@after("a046")
def in_which_order_does_proportion_ask_2(unlimited):
    assert "20 > limit 14" in unlimited.why("default/second")[0]


@after("a070")
def two_questions_that_people_have(stuck):
    assert stuck.committed == []


@after("a072")
def two_questions_that_people_have_2(evicted, results, sums):
    assert evicted == {1.2: 0, 1.5: 4}
    assert [sums(end)[0]["limit"] for end in results.values()] == [2, 5]


@after("a074")
def where_to_stop(stopped):
    assert stopped == ["default/second", "team", ["cpu"]]


@after("a025q")
def the_next_sum(again):
    assert again == answer("04b", "sum_in_the_next_cycle")
