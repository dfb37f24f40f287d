"""The lab of the first lesson: three queues that share a hundred CPUs, and a gang that starts whole
or not at all.
"""

from functools import cache
from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.display.palette import colors_of
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.controls import Control, group, slider
from volcano_lab.widgets.lab import Lab, Task, Values
from volcano_lab.widgets.story import amounts, outcome

NO_LIMIT = 100
"""A capability of the whole cluster, which is as good as none."""

WORDS = {"weight": (1, 30, 1), "capability": (40, NO_LIMIT, 2), "guarantee": (0, 30, 2)}
"""What can be set for each queue: smallest, largest, step. CPUs, but for the weight. Its demand,
in whole pods, comes in addition.
"""

START = {"a": {"weight": 2, "capability": 50, "guarantee": 10, "demand": 80},
         "b": {"weight": 3, "capability": NO_LIMIT, "guarantee": 0, "demand": 60},
         "c": {"weight": 5, "capability": NO_LIMIT, "guarantee": 20, "demand": 30}}
POD = {"a": 4, "b": 6, "c": 5}
"""CPUs of each queue's pods; those of the gang in a are like a's others."""

RUNNING = {"a": 4, "b": 3, "c": 3}
"""Pods of each queue's plain work that run when the cycle begins: 16, 18 and 15 CPUs."""

MACHINE = "machine"

GANG = "default/a-gang"


def fair_share_cluster(gang_size: int = 4, gang_minimum: int = 3, **queues: dict[str,
                                                                                 int]) -> Cluster:
    """The cluster of the first lesson: one machine of a hundred CPUs, three queues, and a gang in
    queue a.

    Of each queue what is not given stays as in the lesson. The gang is part of what queue a asks
    for.

    >>> from volcano_lab import tables
    >>> tables.queues(fair_share_cluster().run())["deserved"].tolist()
    [28, 42, 30]
    """
    return _say(_start().copy(), gang_size, gang_minimum, queues)


@cache
def _start() -> Cluster:
    """The lesson's own cluster, written once: what a copy changes is all that is written again."""
    cluster = Cluster().node(MACHINE, cpu=100)
    _say(cluster, 4, 3, START).objects()
    return cluster


def _say(cluster: Cluster, gang_size: int, gang_minimum: int,
         queues: dict[str, dict[str, int]]) -> Cluster:
    for name, start in START.items():
        said = start | queues.get(name, {})
        limit = {} if said["capability"] == NO_LIMIT else said["capability"]
        cluster.queue(name, weight=said["weight"], capability=limit, guarantee=said["guarantee"])
        gang = gang_size if name == "a" else 0
        if gang:
            cluster.job("a-gang", queue=name, pods=gang, min_member=gang_minimum, cpu=POD[name])
        pods = max(said["demand"] // POD[name] - gang, RUNNING[name])
        cluster.job(f"{name}-work", queue=name, pods=pods, min_member=1, cpu=POD[name],
                    running={MACHINE: RUNNING[name]})
    return cluster


def cluster_of(values: Values) -> Cluster:
    """Return the cluster that the controls describe."""
    queues = {queue: {word: values[f"{queue}_{word}"] for word in start}
              for queue, start in START.items()}
    return fair_share_cluster(values["gang_size"], values["gang_minimum"], **queues)


def weights_cluster(values: Values) -> Cluster:
    """Return the three queues without limits and guarantees, with the weights of the controls."""
    cluster = Cluster().node(MACHINE, cpu=100)
    for queue, start in START.items():
        cluster.queue(queue, weight=values[queue])
        cluster.job(f"{queue}-work", queue=queue, pods=start["demand"] // POD[queue],
                    cpu=POD[queue], min_member=1)
    return cluster


def weights_lab() -> Lab:
    """Make the first toy: three weights, and what each queue deserves.

    >>> weights_lab().set(a=2, b=3, c=5).said
    '3 controls are moved. a deserves 28 CPUs (was 35), b 42 CPUs (was 35).'
    """
    def twice(values: Values, cycle: Cycle) -> bool:
        deserved = facts.deserved(cycle)
        return abs(deserved["a"] - 2 * deserved["b"]) < 0.01

    controls = {name: control for queue, color in colors_of(START).items() for name, control in
                group(f"queue {queue}", {queue: slider(1, 1, 9, "weight")}, color=color,
                      link=queue).items()}
    return Lab(controls, lambda values: weights_cluster(values).run(),
               [pictures.vessels("Deserved, by rounds", facts.fill, most=82, unit="CPUs",
                                 height=184, wide=True)],
               title="Three weights: a asks for 80 CPUs, b for 60, c for 30", code=weights_cluster,
               says=[amounts("deserves", facts.deserved, "CPUs")],
               nothing="No queue deserves more or less.",
               opening=lambda cycle: "**a** and **b** deserve 35 each: a third of the 100, and a "
                                     "half of what **c** leaves.",
               tasks=[Task("twice as much", "Let a deserve twice as much as b.", twice,
                           show={"a": 2}),
                      Task("c in vain", "Give c weight 9. Does it deserve more than before?",
                           show={"c": 9})])


def _of_queue(queue: str, color: str) -> dict[str, Control]:
    start, pod = START[queue], POD[queue]
    demand = RUNNING[queue] * pod, 100 // pod * pod, pod  # whole pods, from what runs already
    controls = {f"{queue}_{word}": slider(start[word], least, most, word, step=step,
                                          unit="" if word == "weight" else "CPUs")
                for word, (least, most, step) in WORDS.items()}
    controls[f"{queue}_demand"] = slider(start["demand"], *demand[:2], "asks for", step=pod,
                                         unit="CPUs", about="in whole pods")
    return group(f"queue {queue}", controls, color=color, link=queue)


CONTROLS = {
    name: control for queue, color in colors_of(START).items()
    for name, control in _of_queue(queue, color).items()
} | group("gang in a", {
    "gang_size": slider(4, 1, 8, "pods"),
    "gang_minimum": slider(3, 1, 8, "minimum", about="starts with so many pods or not at all"),
}, link="a-gang")


def gang_of(cycle: Cycle) -> dict[str, Any]:
    """Return the gang's statement: committed, discarded or not tried, and its pods."""
    return facts.statement(cycle, GANG)


PANELS = [pictures.vessels("Deserved, by rounds", facts.fill, key="fill", most=82, unit="CPUs",
                           height=184, grips={"guarantee": "{queue}_guarantee"}),
          pictures.bars("Held, deserved, limit", facts.limits, key="limits", most=100, unit="CPUs",
                        rows=3, words={"limit": "limit", "asked": "asked for"},
                        grips={"limit": "{queue}_capability", "asked": "{queue}_demand"}),
          pictures.turns("Whose turn it is", facts.turns, key="turns", slots=14, lanes=3),
          pictures.statement("The gang in queue a", gang_of, key="gang", slots=8, lines=0),
          pictures.table("", facts.queue_rows, key="queues",
                         columns={"queue": "in CPUs", "deserved": "deserved",
                                  "real_capability": "real capability", "allocated": "allocated",
                                  "request": "asks for", "share": "share", "overused": "overused"},
                         wide=True)]


def _enough_for_four(values: Values, cycle: Cycle) -> bool:
    start = {f"{queue}_{word}": value for queue in START for word, value in START[queue].items()}
    moved = {name for name, value in values.items() if value != start.get(name, value)}
    return (moved <= {"a_weight"} and values["gang_minimum"] == 4
            and gang_of(cycle)["outcome"] == "commit")


TASKS = [Task("weight", "The gang's minimum is 4 now. Which weight of a is just enough for it?",
              _enough_for_four, {"gang_minimum": 4}, {"a_weight": 3}),
         Task("guarantee", "Raise b's guarantee until c may hold 70. Who deserves less?",
              lambda values, cycle: _capability(cycle)["c"] == 70, show={"b_guarantee": 20}),
         Task("demand", "Let b ask for less, until CPUs are left that nobody takes.",
              lambda values, cycle: sum(facts.deserved(cycle).values()) < 99.9,
              show={"b_demand": 18}),
         Task("a gang too large", "Make a gang that is not even tried. What does it wait for?",
              lambda values, cycle: values["gang_minimum"] > values["gang_size"],
              show={"gang_minimum": 5})]


def _capability(cycle: Cycle) -> dict[str, float]:
    return {row["queue"]: row["real_capability"] for row in facts.queue_rows(cycle)}


def _opening(cycle: Cycle) -> str:
    first, second = cycle.rounds[0], facts.deserved(cycle)
    got = {step.queue: step.after.milli_cpu / 1000 for step in first.steps}
    return (f"Queue **a** deserves {second['a']:g}: {got['a']:g} in the first round, and its part "
            f"of the {first.remaining.milli_cpu / 1000:g} CPUs that **c** leaves.")


def _gang_words(cycle: Cycle) -> str:
    gang = gang_of(cycle)
    why = f" ({gang['reason'].split(':')[0]})" if gang["reason"] else ""
    return f"{gang['headline']}, and the minimum is {gang['minimum']}{why}"


def fair_share_lab() -> Lab:
    """Make the lab: weight, capability, guarantee and demand of each queue, and the gang.

    >>> lab = fair_share_lab().set(a_weight=7)
    >>> [row["deserved"] for row in lab.board["queues"]]
    [49, 21, 30]
    >>> lab.said
    'Queue a: weight 7 (was 2). a deserves 49 (was 28), b 21 (was 42).'
    """
    return Lab(CONTROLS, lambda values: cluster_of(values).run(), PANELS,
               title="Fair share: 100 CPUs, three queues, one gang", tasks=TASKS, code=cluster_of,
               says=[amounts("deserves", facts.deserved), amounts("may hold", _capability),
                     outcome("The gang's statement",
                             lambda cycle: gang_of(cycle)["outcome"] or "not tried", _gang_words)],
               opening=_opening, nothing="No queue deserves more or less.")
