"""Answers to the checks of lesson 05: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.api.resource import Resource
from volcano_lab.cluster import Cluster
from volcano_lab.course.lesson_05 import checks
from volcano_lab.course.lesson_05.lab import tree_cluster
from volcano_lab.course.lesson_05.own_admission import short_of
from volcano_lab.plugins.queue_tree import QueueAttr


def fixed(minimum: Resource, line: list[QueueAttr]) -> bool:
    """Ask all levels first, then reserve on all."""
    if any(short_of(level, minimum) for level in line):
        return False
    for level in line:
        level.inqueue = level.inqueue + minimum
    return True


def rolled_back(minimum: Resource, line: list[QueueAttr]) -> bool:
    """Reserve level by level, and take it back where one refuses: as good."""
    for number, level in enumerate(line):
        if short_of(level, minimum):
            for done in line[:number]:
                done.inqueue = done.inqueue - minimum
            return False
        level.inqueue += minimum
    return True


def as_in_v1_11(minimum: Resource, line: list[QueueAttr]) -> bool:
    """Ask and reserve on the job's own queue, and on none above it."""
    queue = line[0]
    if short_of(queue, minimum):
        return False
    queue.inqueue = queue.inqueue + minimum
    return True


def asks_all_reserves_one(minimum: Resource, line: list[QueueAttr]) -> bool:
    return not any(short_of(level, minimum) for level in line) and as_in_v1_11(minimum, line)


def asks_one_reserves_all(minimum: Resource, line: list[QueueAttr]) -> bool:
    return not short_of(line[0], minimum) and all(
        as_in_v1_11(minimum, [level]) or True for level in line)


def reserves_on_the_way(minimum: Resource, line: list[QueueAttr]) -> bool:
    return all(as_in_v1_11(minimum, [level]) for level in line)


def asks_the_parent_only(minimum: Resource, line: list[QueueAttr]) -> bool:
    return not any(short_of(level, minimum)
                   for level in line[:2]) and reserves_on_the_way(minimum, line)


def _two_levels() -> Cluster:
    """Queue a, full, and b below it, which holds all of a."""
    cluster = Cluster().node("n", cpu=8).queue("a", capability=4).queue("b", parent="a")
    return cluster.job("one", queue="b", pods=4, cpu=1, running={"n": 4})


def _deep(limits: dict[str, int | None], guarantee: int | None = None) -> Cluster:
    """The root, a, b below it, and c below that, with a job of 3 CPUs in c."""
    cluster = Cluster().node("node-0", cpu=8)
    for name, parent in (("a", "root"), ("b", "a"), ("c", "b")):
        cluster.queue(name, parent=parent, capability=limits.get(name))
    cluster.job("other", queue="d", pods=2, cpu=1, running={"node-0": 2}).queue(
        "d", parent="a", guarantee=guarantee)
    return cluster.job("gang", queue="c", pods=3, cpu=1)


answers(
    "05.real_capability",
    right=[5, "5"],
    wrong=[(8, "eval"), (3, "keeps"), (11, "more than"), (6, "capability of eval"),
           (4, "research may hold")],
)

answers(
    "05.order_of_queues",
    right=["eval, train, web, batch"],
    wrong=[
        ("eval, web, train, batch", "shares of the departments"),
        ("web, batch, eval, train", "0.75"),
        ("batch, web, eval, train", "its department"),
        ("eval, train, batch, web", "deserves nothing"),
        ("train, eval, web, batch", "1 of 3"),
    ],
)

answers(
    "05.who_refuses",
    right=["research", "Research "],
    wrong=[("train", "4 of 8"), ("root", "below it"), ("eval", "not above"), ("prod", "not above"),
           ("none of them, it is admitted", "in queue")],
)

answers(
    "05.what_went_wrong",
    right=["B and C", "b and c"],
    wrong=[
        ("A and B", "2 of 2"),
        ("A and C", "2 of 2"),
        ("B and D", "allocate"),
        ("C and D", "allocate"),
        ("B and E", "may hold"),
        ("C and E", "may hold"),
    ],
)

answers(
    checks.job_enqueueable,
    right=[fixed, rolled_back],
    wrong=[
        (as_in_v1_11, "parent"),
        (asks_all_reserves_one, "added on each"),
        (asks_one_reserves_all, "parent"),
        (reserves_on_the_way, "stays behind"),
        (asks_the_parent_only, "root"),
        (lambda minimum, line: True, "is full"),
        (lambda minimum, line: False, "has enough"),
        (lambda minimum: True, "TypeError"),
        (lambda minimum, line: "yes", "True or False"),
    ],
)

answers(
    checks.let_train_in,
    right=[
        tree_cluster().queue("research", capability=10),
        tree_cluster().queue("research", capability=9),
    ],
    wrong=[
        (tree_cluster(), "nothing has changed"),
        (tree_cluster().queue("train", capability=20), "research"),
        (tree_cluster().remove("eval-gang"), "same jobs"),
        (tree_cluster().job("train-gang", pods=2), "same jobs"),
        (tree_cluster().queue("research", capability=30).queue("web", capability=2),
         "one queue"),
        (tree_cluster().queue("research", capability=9, deserved=9), "one number"),
        (tree_cluster().queue("research", capability=5), "eval-gang"),
    ],
)

answers(
    checks.refused_by_the_grandparent,
    right=[_deep({"a": 4}), _deep({"a": 4, "b": 4, "c": 4})],
    wrong=[
        (_deep({"a": 2}), "itself"),
        (_deep({"b": 2}), "itself"),
        (_deep({}), "no job is refused"),
        (_deep({"a": 4}).remove("gang"), "no job"),
        (Cluster().queue("c", parent="b"), "no such queue"),
        (_two_levels().job("two", queue="b", pods=2, cpu=1), "itself"),
        (_two_levels().queue("c", parent="a").job("two", queue="c", pods=2, cpu=1), "parent of"),
    ],
)

answers(
    "05.sum_after_the_change",
    right=[3, 3.0],
    wrong=[(2, "holds pods"), (7, "elastic"), (10, "10"), (9, "above the minimum"), (5, "−")],
)
