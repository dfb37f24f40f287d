"""What lesson 02, "Resources, and how they are compared", says is so."""

from course.proofs import after, answer


@after("resources-05")
def what_the_scheduler_reads(Resource):
    assert Resource.from_list({"memory": "512m"}).memory == 1


@after("resources-09")
def a_tiny_cluster(parts):
    assert round(parts["a"], 3) == 37.037 and round(parts["b"], 3) == 962.963


@after("resources-11")
def a_tiny_cluster_2(cycle, tables):
    assert cycle.committed == [["allocate", "default/a-work-0", "n1"]]
    assert tables.queues(cycle, "pods")["deserved"]["a"] == 1


@after("resources-15")
def explain_it_from_the_trace(sides):
    assert [row["left ≤ right, below 0.1 forgiven"] for row in sides] == [True, True]
    assert [row["left ≤ right"] for row in sides] == [False, False]


@after("resources-19")
def from_which_amount_it_is_overused(Resource):
    deserved = Resource(1000 * 3 / 37)
    assert f"{deserved.milli_cpu:.3f}" == "81.081"
    held = [amount for amount in range(1001) if deserved.less_equal(Resource(amount), "zero")]
    assert held[0] == answer("02", "overused_from")


@after("resources-17")
def explain_it_from_the_trace_2(total):
    assert total != 1.0
    assert abs(total - 1.0) < 0.1


@after("resources-22")
def explain_it_from_the_trace_3(reason):
    assert "cpu 0.963 > deserved 0.962963" in reason


@after("resources-28")
def what_is_not_mentioned_zero_or_no_limit(limits):
    assert [limit["cpu"] for limit in limits.values()] == [10, 2, 10, 10]
    assert [limit.get("nvidia.com/gpu", 0) for limit in limits.values()] == [4, 4, 4, 0]


@after("resources-31")
def what_is_not_mentioned_zero_or_no_limit_2(wide):
    assert "1 Insufficient cpu, 1 Insufficient nvidia.com/gpu" in wide.why("default/work")[0]


@after("resources-37")
def all_comparisons_side_by_side(comparison_table):
    table = comparison_table("", left_gpu="not mentioned", right_gpu="not mentioned")
    assert [row["answer"] for row in table.data][:3] == ["✓ yes", "✓ yes", "✗ no"]


@after("resources-39")
def explore(lab):
    def said(row, **values):
        answers = lab.reset().set(**values).board["answers"]
        return {answer["comparison"]: answer["answer"][2:] for answer in answers}[row]

    assert said("tolerant", cpu=0.05, right_gpu="1") == "yes"  # question 1
    assert said("tolerant", cpu=0.1, right_gpu="1") == "no"
    assert said("strict", ask_cpu=False) == "yes"  # question 2
    right_only = {"left_gpu": "not mentioned", "right_gpu": "1"}  # question 3
    assert said("tolerant", **right_only) == "yes"
    assert said("tolerant, infinity", **right_only) == "no"


@after("resources-45")
def a_question_that_people_really_have_which(short, tables):
    cpu, memory = (tables.queues(short, unit).loc["a"] for unit in ("cpu", "memory"))
    assert (cpu["allocated"], cpu["deserved"]) == (1, 2)
    assert (memory["allocated"], memory["deserved"]) == (8 * 2**30, 5 * 2**30)
    reason = short.why("default/a-more")[-1]
    assert f"{answer('02', 'which_is_short')} 9Gi > deserved 5Gi" in reason
    assert not tables.queues(short)["overused"]["a"]
