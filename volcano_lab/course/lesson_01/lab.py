"""Lesson 01: what every phase of a cycle does to every job, for a list of actions that the reader
chooses.
"""

from collections import Counter
from collections.abc import Callable

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.points.table import BUILT_IN as POINTS
from volcano_lab.framework.session import Session
from volcano_lab.messages import Message, gettext
from volcano_lab.plugins import answering
from volcano_lab.scheduler import traced
from volcano_lab.simulation import Simulation
from volcano_lab.widgets import pictures
from volcano_lab.widgets.controls import choice
from volcano_lab.widgets.lab import Lab
from volcano_lab.widgets.story import amounts, outcome

ACTIONS = "enqueue, allocate, backfill"
NOTHING = "·"
HELD_BACK = ("left out", "refused", "Pending")
CHOICES = [ACTIONS, "allocate, backfill", "allocate, enqueue", "enqueue, allocate",
           "enqueue, backfill", "backfill"]


def small_cluster() -> Cluster:
    """Two nodes of 4 CPUs and four jobs: one that fits, one too big, one that asks for nothing, one
    without its queue.

    >>> [row["job"] for row in small_cluster().run().jobs()]
    ['default/helper', 'default/train', 'default/wide']
    """
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("team")
    cluster.job("train", queue="team", pods=2, cpu=2).job("wide", queue="team", pods=3, cpu=4)
    return cluster.job("helper", queue="team", pods=1).job("lost", queue="nobody", pods=1, cpu=1)


def conf_with(actions: str) -> str:
    """Volcano's default configuration with other actions.

    >>> conf_with("allocate").splitlines()[0]
    'actions: "allocate"'
    """
    return DEFAULT_CONF.replace(f'"{ACTIONS}"', f'"{actions}"')


def phases(cluster: Cluster, actions: str = ACTIONS) -> list[dict[str, str]]:
    """One row per job: what opening the session, every action, and closing it did to it.

    >>> [row["allocate"] for row in phases(small_cluster())]
    ['·', '·', '2 pods', '·']
    """
    groups = [obj for obj in cluster.objects() if obj.kind == "PodGroup"]
    names = sorted(f"{group.metadata.namespace}/{group.metadata.name}" for group in groups)
    trace = traced(cluster.objects(), conf_with(actions))[0]
    ended = {row["job"]: row["phase"] for row in cluster.run(conf_with(actions)).jobs()}
    placed = Counter((r.action, r["job"]) for r in trace.records if r.kind == "commit")
    admitted = {r["job"] for r in trace.records if r.kind == "enqueued"}
    refused = {r["job"] for r in trace.records
               if r.kind == "asked" and r["point"] == "job_enqueueable" and not r["answer"]}
    rows = []
    for name in names:
        row = {"job": name.removeprefix("default/"),
               "open": "copied" if name in ended else "left out"}
        for action in actions.split(", "):
            pods = placed[action, name]
            row[action] = str(Message("pods", n=pods)) if pods else NOTHING
            if action == "enqueue" and name in admitted | refused:
                row[action] = "admitted" if name in admitted else "refused"
        rows.append(row | {"close": ended.get(name, NOTHING)})
    return rows


def questions(conf: str = DEFAULT_CONF) -> list[dict[str, str]]:
    """The questions that the actions of a configuration ask its plugins: who answers, and how the
    answers combine.

    >>> [row["question"] for row in questions() if row["answered by"] == "overcommit"]
    ['A job has been admitted.']
    """
    rows = []
    for name, point in POINTS.items():
        plugins = [plugin for plugin in answering(name) if f"- name: {plugin}\n" in conf]
        actions = [action for action in point.asked_by if action in conf.splitlines()[0]]
        if plugins and actions and not name.startswith("sub_job"):
            rows.append({"point": name, "question": point.sentence,
                         "answered by": gettext("{names:,}", names=plugins),
                         "answers combine": point.rule,
                         "asked by": gettext("{names:,}", names=actions)})
    return rows


class _Closed(Observer):
    """Keeps each PodGroup's phase, and its pods' states, as every session leaves them."""

    def __init__(self) -> None:
        self.rows: list[dict[str, str]] = []

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        row = {"cycle": str(len(self.rows) + 1)}
        for job in ssn.jobs.values():
            states = sorted({task.status.name.capitalize() for task in job.tasks.values()})
            row[job.name] = gettext("{phase} (pods: {states:,})", states=states,
                                    phase=job.pod_group.status.phase)
        self.rows.append(row)


def phases_over_time(cluster: Cluster, cycles: int = 3) -> list[dict[str, str]]:
    """What closing wrote, cycle after cycle, a second apart, while pods are bound and start.

    >>> [row["train"] for row in phases_over_time(small_cluster(), 2)]
    ['Inqueue (pods: Binding)', 'Running (pods: Bound)']
    """
    seen = _Closed()
    Simulation(cluster, observer=seen).run(until=cycles - 0.5)
    return seen.rows


def signed(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The rows of `phases` with ✓ where a phase moved a job on, and ✗ where it was held back.

    >>> [row["enqueue"] for row in signed(phases(small_cluster()))]
    ['✓ admitted', '·', '✓ admitted', '✗ refused']
    """
    return [{name: text if name == "job" or text == NOTHING else
             f"{'✗' if text in HELD_BACK else '✓'} {gettext(text)}" for name, text in row.items()}
            for row in rows]


HEADS = ("job", "open", "close")
LEGEND = "✓: the job moved on. ✗: it was held back. ·: nothing happened."


def phase_table(title: str, actions: str = ACTIONS) -> pictures.Picture:
    """Show the small cluster's jobs as rows, the phases of a cycle as columns, and what happened.

    >>> phase_table("One cycle", "backfill").alt.split("; ")[0]
    'One cycle. helper: open ✓ copied backfill · close ✗ Pending'
    """
    return pictures.table(title, signed(phases(small_cluster(), actions)), texts=True,
                          heads=HEADS, legend=LEGEND)


JOBS = ("helper", "lost", "train", "wide")


def cycle_lab() -> Lab:
    """Make the lab: choose the actions, and see what becomes of the small cluster's jobs.

    >>> [list(row) for row in cycle_lab().set(actions="allocate, enqueue").board["phases"]][0]
    ['job', 'open', 'allocate', 'enqueue', 'close']
    """
    def end_of(name: str) -> Callable[[list[dict[str, str]]], str]:
        return lambda rows: next(row["close"] for row in rows if row["job"] == name)

    def placed(rows: list[dict[str, str]]) -> dict[str, float]:
        return {row["job"]: sum(int(text.split()[0]) for text in row.values() if " pod" in text)
                for row in rows}

    return Lab(
        {"actions": choice(ACTIONS, CHOICES, "actions, in order")},
        lambda values: phases(small_cluster(), values["actions"]),
        [pictures.table("What each phase did, in the order of the list", signed, key="phases",
                        heads=HEADS, texts=True, rows=4, wide=True, legend=LEGEND)],
        title="One cycle: the order of the actions",
        says=[amounts("gets", placed, "pods"),
              *(outcome(gettext("Job {name} ends", name=name), end_of(name)) for name in JOBS)],
        opening=gettext("The list is {ACTIONS}, Volcano's default. Choose another one.",
                        ACTIONS=ACTIONS),
        nothing="Every job ends as before.",
        tasks=tasks("01"),
        code=lambda values: small_cluster())
