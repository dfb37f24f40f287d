"""Lesson 01: what every phase of a cycle does to every job, for a list of actions that the reader
chooses.
"""

from collections import Counter
from typing import Any

from volcano_lab.api.objects import PodGroup
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.framework.points.table import BUILT_IN as POINTS
from volcano_lab.messages import Message, gettext, mark
from volcano_lab.plugins import answering
from volcano_lab.simulation import Simulation
from volcano_lab.trace import Trace
from volcano_lab.widgets import pictures
from volcano_lab.widgets.cluster_lab import Decided, Outcomes
from volcano_lab.widgets.controls import choice
from volcano_lab.widgets.lab import Lab

ACTIONS = "enqueue, allocate, backfill"
NOTHING = "·"
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


class Ran(Decided):
    """A cycle over the small cluster with a list of actions, and why its jobs ended as they did."""

    def __init__(self, actions: str = ACTIONS):
        super().__init__(small_cluster().run(conf_with(actions), trace=Trace()), "cpu")
        self.actions = actions
        self.placed = Counter((record.action, record["job"]) for record in self.cycle.trace.records
                              if record.kind == "commit")

    def reason(self, row: dict[str, Any]) -> tuple[str, str]:
        late = ("enqueue admits it after allocate has run" if row["size"] else
                "only backfill places pods without requests")
        if row["fate"] == "not tried" and (not row["size"] or self.actions.endswith("enqueue")):
            return gettext(late), ""
        if row["fate"] not in ("placed", "discarded"):
            return super().reason(row)
        said = [gettext("enqueue admits it" if "enqueue" in self.actions else
                        "without enqueue, allocate admits it")]
        if row["fate"] == "discarded":
            said.append(gettext("its {pods} pods do not all fit", pods=row["pods"]))
        return mark("; ").join(said), ""

    def did(self, action: str, row: dict[str, Any]) -> str:
        """What an action did to a job."""
        if pods := self.placed[action, row["job"]]:
            return f"✓ {Message('pods', n=pods)}"
        if action == "enqueue":
            return gettext("✗ refused" if row["fate"] == "not admitted" else "✓ admitted")
        return gettext("✗ discarded") if (
            action, row["fate"]) == ("allocate", "discarded") else NOTHING


def phases(ran: Ran) -> list[dict[str, str]]:
    """One row per job: what opening the session, every action, and closing it did to it; ✓ where
    the job moved on, ✗ where it was held back.

    >>> [row["enqueue"] for row in phases(Ran())]
    ['✓ admitted', '·', '✓ admitted', '✗ refused']
    >>> list(phases(Ran("allocate, backfill"))[-1].values())
    ['wide', '✓ copied', '✗ discarded', '·', '✗ Inqueue']
    """
    actions, rows = ran.actions.split(", "), []
    for name in sorted(obj.name for obj in ran.cycle.world if isinstance(obj, PodGroup)):
        found = ran.jobs.get(name)
        row = {"job": name, "open": gettext("✓ copied" if found else "✗ left out")}
        row |= {action: ran.did(action, found) if found else NOTHING for action in actions}
        phase = ran.cycle.session.jobs[found["job"]].pod_group.status.phase if found else ""
        sign = "✓" if found and found["fate"] == "placed" else "✗"
        rows.append(row | {"close": f"{sign} {phase}" if found else NOTHING})
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
            rows.append({"point": name, "question": point.sentence, "answers combine": point.rule,
                         "answered by": gettext("{names:,}", names=plugins),
                         "asked by": gettext("{names:,}", names=actions)})
    return rows


def phases_over_time(cluster: Cluster, cycles: int = 3) -> list[dict[str, str]]:
    """What closing wrote, cycle after cycle, a second apart, while pods are bound and start.

    >>> [row["train"] for row in phases_over_time(small_cluster(), 2)]
    ['Inqueue (pods: Binding)', 'Running (pods: Bound)']
    """
    sim, rows = Simulation(cluster), []
    for number in range(1, cycles + 1):
        sim.run(until=number - 0.5)
        rows.append({"cycle": str(number)} | {
            job.name: gettext("{phase} (pods: {states:,})", phase=job.pod_group.status.phase,
                              states=sorted({task.status.name.capitalize()
                                             for task in job.tasks.values()}))
            for job in sim.ssn.jobs.values()})
    return rows


class Ends(Outcomes):
    """The sentences after a move: every job that ends otherwise, each reason once."""

    def sentences(self, before: Ran, now: Ran) -> list[str]:
        changed = [name for name, row in sorted(now.jobs.items(), key=lambda job: -job[1]["pods"])
                   if before.jobs[name]["fate"] != row["fate"]]
        reasons = [now.reason(now.jobs[name])[0] for name in changed]
        return [self._sentence(name, before, now, why if why not in reasons[:at] else "")
                for at, (name, why) in enumerate(zip(changed, reasons, strict=True))]


HEADS = ("job", "open", "close")
LEGEND = "✓: the job goes on. ✗: it waits from here on; at close: it has no node. ·: not touched."


def phase_table(title: str, actions: str = ACTIONS) -> pictures.Picture:
    """Show the small cluster's jobs as rows, the phases of a cycle as columns, and what happened.

    >>> phase_table("One cycle", "backfill").alt.split("; ")[0]
    'One cycle. helper: open ✓ copied backfill · close ✗ Pending'
    """
    return pictures.table(title, phases(Ran(actions)), texts=True,
                          heads=HEADS, legend=LEGEND)


def cycle_lab() -> Lab:
    """Make the lab: choose the actions, and see what becomes of the small cluster's jobs.

    >>> cycle_lab().set(actions="backfill").said.partition(". ")[2][:74]
    'train is not admitted (was placed): No action of the configuration admits '
    """
    return Lab(
        {"actions": choice(ACTIONS, CHOICES, "actions")},
        lambda values: Ran(values["actions"]),
        [pictures.table("What each phase did, in the order of the list", phases, key="phases",
                        heads=HEADS, texts=True, rows=4, wide=True, legend=LEGEND)],
        title="One cycle: the order of the actions",
        says=[Ends()],
        opening=gettext("The list is {ACTIONS}, Volcano's default. Choose another one.",
                        ACTIONS=ACTIONS),
        nothing="Every job ends as before.",
        tasks=tasks("01"),
        code=lambda values: small_cluster())
