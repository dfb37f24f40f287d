"""Lesson 01: what every phase of a cycle does to every job, for a list of actions that the reader
chooses.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any

from volcano_lab.api.objects import PodGroup
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.framework.plugin import answer_of
from volcano_lab.framework.points.table import BUILT_IN as POINTS
from volcano_lab.messages import Message, gettext, mark
from volcano_lab.plugins import answering
from volcano_lab.scheduler import life
from volcano_lab.simulation import Simulation
from volcano_lab.trace import Trace, colors_of, short
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import pictures
from volcano_lab.widgets.controls import Control, choice, group, slider
from volcano_lab.widgets.lab import Lab, Values
from volcano_lab.widgets.outcomes import Decided, Outcomes

ACTIONS = "enqueue, allocate, backfill"
NOTHING = "·"
NONE = "–"
PLACES = ("first", "second", "third")
COLORS = colors_of(("helper", "lost", "train", "wide"))


def small_cluster(mended: bool = False) -> Cluster:
    """Two nodes of 4 CPUs and four jobs: one that fits, one too big, one that asks for nothing, one
    without its queue, which is there where it is `mended`.

    >>> [row["job"] for row in small_cluster().run().jobs()]
    ['default/helper', 'default/train', 'default/wide']
    """
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("team")
    cluster.job("train", queue="team", pods=2, cpu=2).job("helper", queue="team")
    cluster.job("wide", queue="team", pods=3, cpu=4).job("lost", queue="nobody", cpu=1)
    return cluster.queue("nobody") if mended else cluster


def conf_with(actions: str) -> str:
    """Volcano's default configuration with other actions.

    >>> conf_with("allocate").splitlines()[0]
    'actions: "allocate"'
    """
    return DEFAULT_CONF.replace(f'"{ACTIONS}"', f'"{actions}"')


class Ran(Decided):
    """A cycle with a list of actions, of the small cluster if no other is given, and why its jobs
    ended as they did; `number` is that of the cycle.
    """

    def __init__(self, actions: str = ACTIONS, number: int = 1, cluster: Cluster | None = None):
        objects = (cluster or small_cluster()).objects()
        *_, cycle = life(objects, conf_with(actions), None, number, Trace)
        super().__init__(cycle, "cpu")
        self.actions = actions.split(", ")
        starts = [record.number for record in cycle.trace.iter("start")]
        self.placed, self.admitted = (Counter(
            (bisect(starts, record.number) - 1, record["job"])
            for record in cycle.trace.iter(kind)) for kind in ("commit", "enqueued"))

    @cached_property
    def jobs(self) -> dict[str, dict[str, Any]]:
        """The outcome of each job, those that are not in the copy included."""
        return {obj.name: {"name": obj.name, "job": "", "fate": "left out", "pods": 1}
                for obj in self.cycle.world if isinstance(obj, PodGroup)} | super().jobs

    def reason(self, row: dict[str, Any]) -> tuple[str, str]:
        fate, admits = row["fate"], "enqueue" if "enqueue" in self.actions else "allocate"
        if fate == "left out":
            return gettext("its queue does not exist"), ""
        places = "allocate" if row["size"] else "backfill"
        if fate == "not tried" and places in self.actions:
            return gettext("{admits} admits it after {places} has run", admits=admits,
                           places=places), ""
        if fate == "not tried" and not row["size"]:
            return gettext("only backfill places pods without requests"), ""
        if fate == "not admitted" and not row["size"]:
            return gettext("backfill passes over jobs that no action has admitted"), ""
        if fate not in ("placed", "discarded"):
            return super().reason(row)
        said = [gettext("{admits} admits it" if "enqueue" in self.actions else
                        "without enqueue, {admits} admits it", admits=admits)
                if any(job == row["job"] for _, job in self.admitted) else
                gettext("it was admitted in the cycle before")]
        said.append(gettext("its {pods} pods do not all fit", pods=row["pods"])
                    if fate == "discarded" else gettext("{places} places it", places=places))
        return mark("; ").join(said), ""

    def did(self, at: int, row: dict[str, Any]) -> str:
        """What an action, by its place in the list, did to a job."""
        if pods := self.placed[at, row["job"]]:
            return f"✓ {Message('pods', n=pods)}"
        return {("enqueue", "not admitted"): gettext("✗ refused"),
                ("allocate", "discarded"): gettext("✗ not all fit")}.get(
                    (self.actions[at], row["fate"]),
                    gettext("✓ admitted") if self.admitted[at, row["job"]] else NOTHING)


def phases(ran: Ran) -> list[dict[str, str]]:
    """One row per job: what opening the session and every action did to it, ✓ where the job moved
    on, ✗ where it was held back; and the phase that closing wrote.

    >>> [row["enqueue"] for row in phases(Ran())]
    ['✓ admitted', '·', '✓ admitted', '✗ refused']
    >>> list(phases(Ran("allocate, enqueue, allocate"))[2].values())
    ['train', '✓ copied', '·', '✓ admitted', '✓ 2 pods', 'Inqueue']
    """
    heads = [action if action not in ran.actions[:at] else f"{action} ({at + 1})"
             for at, action in enumerate(ran.actions)]
    rows = []
    for name, found in sorted(ran.jobs.items()):
        copied = found["fate"] != "left out"
        row = {"job": name, "open": gettext("✓ copied" if copied else "✗ left out")}
        row |= {head: ran.did(at, found) for at, head in enumerate(heads)}
        rows.append(row | {"close": ran.cycle.session.jobs[found["job"]].pod_group.status.phase
                           if copied else NOTHING})
    return rows


def questions(conf: str = DEFAULT_CONF) -> list[dict[str, str]]:
    """The questions that the actions of a configuration ask its plugins: who answers, and how the
    answers combine.

    >>> [row["question"] for row in questions() if row["answered by"] == "overcommit"]
    ['A job has been admitted.']
    """
    rows, there = [], small_cluster().run(conf).session.plugins
    for name, point in POINTS.items():
        plugins = [plugin for plugin in answering(name)
                   if plugin in there and answer_of(there[plugin], name)]
        actions = [action for action in point.asked_by if action in conf.splitlines()[0]]
        if plugins and actions and not name.startswith("sub_job"):
            rows.append({"point": name, "question": point.sentence, "answers combine": point.rule,
                         "answered by": gettext("{names:,}", names=plugins),
                         "asked by": gettext("{names:,}", names=actions)})
    return rows


def phases_over_time(cluster: Cluster, name: str = "train", cycles: int = 3) -> pictures.Picture:
    """Draw the pods of a job, and what closing wrote for it, cycle after cycle, a second apart.

    >>> phases_over_time(small_cluster(), cycles=2).spec["moments"]
    ['cycle 1: closing writes Inqueue', 'cycle 2: closing writes Running']
    """
    sim, moments = Simulation(cluster), {}
    for number in range(1, cycles + 1):
        sim.run(until=number - 0.5)
        assert sim.ssn is not None
        job = sim.ssn.jobs[f"default/{name}"]
        moments[gettext("cycle {number}: closing writes {phase}", number=number,
                        phase=job.pod_group.status.phase)] = pictures.states(
            gettext("The pods of {job}, cycle by cycle", job=name), {"pods": [
                {"name": task.name, "state": task.status.name.capitalize(),
                 "color": COLORS[name]} for task in job.tasks.values()]})
    return pictures.film(moments)


class Ends(Outcomes):
    """The sentences after a move: every job that ends otherwise, each reason once."""

    def sentences(self, before: Decided, now: Decided) -> list[str]:
        changed = [name for name, row in sorted(now.jobs.items(), key=lambda job: -job[1]["pods"])
                   if before.jobs[name]["fate"] != row["fate"]]
        reasons = [now.reason(now.jobs[name])[0] for name in changed]
        still = [name for name, row in sorted(now.jobs.items()) if row["fate"] == "not tried"
                 and name not in changed]
        return [self._sentence(name, before, now, why if why not in reasons[:at] else "")
                for at, (name, why) in enumerate(zip(changed, reasons, strict=True))
                ] + [gettext("{job} still waits: {why}.", job=name, why=now.reason(
                    now.jobs[name])[0].rstrip(".")) for name in still]


HEADS = ("job", "open", "close")
LEGEND = ("✓: the job goes on. ✗: it waits from here on. ·: not touched. Inqueue: admitted, with a "
          "node or without.")
PLACED = ("Hatched: placed in this cycle. Full: bound or running. •: a pod without requests, which "
          "takes no space.")


def phase_table(title: str, cluster: Cluster, actions: str = ACTIONS) -> pictures.Picture:
    """Show a cluster's jobs as rows, the phases of a cycle as columns, and what happened.

    >>> phase_table("One cycle", small_cluster(), "backfill").alt.split("; ")[0]
    'One cycle. helper: open ✓ copied backfill · close Pending'
    """
    return pictures.table(title, phases(Ran(actions, cluster=cluster)), texts=True, heads=HEADS,
                          legend=LEGEND)


def nodes(cycle: Cycle) -> dict[str, Any]:
    """Return the nodes as data of `pictures.cluster`, each job in its own colour; beside a node's
    name are its pods without requests.

    >>> [node["note"] for node in nodes(small_cluster().run())["nodes"]]
    ['• helper', '']
    """
    def jobs(name: str) -> list[str]:
        return [task.key.rpartition("-")[0] for task in cycle.session.nodes[name].tasks.values()
                if task.resreq.is_empty()]

    found = cycle.plot.nodes().data["nodes"]
    return {"nodes": [node | {
        "note": " ".join(f"• {short(job)}" for job in jobs(node["name"])),
        "pods": [pod | {"label": short(pod["name"]), "color": COLORS[short(
            pod["name"]).rpartition("-")[0]]} for pod in node["pods"]]} for node in found]}


def nodes_picture(title: str, cycle: Cycle) -> pictures.Picture:
    """Draw the nodes when a cycle ends.

    >>> nodes_picture("One cycle", small_cluster().run()).alt.count("train")
    2
    """
    return pictures.cluster(title, nodes(cycle), unit="CPUs", width=760, legend=PLACED)


def _lab_of(controls: dict[str, Control], ran: Callable[[Values], Ran], **more: Any) -> Lab:
    return Lab(controls, ran, [
        pictures.table("What each phase did, in the order of the list", phases, key="phases",
                       heads=HEADS, texts=True, wide=True,
                       legend="✓: goes on. ✗: waits. ·: not touched. Inqueue: admitted, with a "
                              "node or without. Blue line: changed."),
        pictures.cluster("The nodes, when the cycle ends", lambda ran: nodes(ran.cycle),
                         unit="CPUs", wide=True, legend=PLACED)],
        says=[Ends()], nothing="Every job ends as before.", **more)


def growing_list(cluster: Cluster) -> Lab:
    """Make the lab at the beginning: two jobs, and a list that gets one action after the other.

    >>> two = small_cluster().remove("wide").remove("lost")
    >>> growing_list(two).set(actions=2).said.partition("). ")[2].partition(". ")[0]
    'train is placed (was not tried): enqueue admits it; allocate places it'
    """
    names, objects = ACTIONS.split(", "), cluster.copy()
    numbers = {name: number for number, name in enumerate(names, 1)}
    return _lab_of({"actions": slider(1, label="last action", options=numbers)},
                   lambda values: Ran(", ".join(names[:values["actions"]]), cluster=objects),
                   title="One cycle, action by action",
                   opening="train has two pods; helper has one that requests nothing. Add the "
                           "second and the third action: which of them places which job?")


def cycle_lab() -> Lab:
    """Make the lab: build the list of actions, run on, and see what becomes of the jobs.

    >>> cycle_lab().set(third="–").said.partition("). ")[2]
    'helper is not tried (was placed): only backfill places pods without requests.'
    """
    names = ACTIONS.split(", ")
    actions = {place: choice(names[at], [*names, NONE], f"{at + 1}.")
               for at, place in enumerate(PLACES)}
    return _lab_of(
        group("actions", actions) | {
            "cycle": slider(1, 1, 3, "cycle"),
            "nobody": choice(False, {gettext("missing"): False, gettext("at start"): True},
                             "queue nobody")},
        lambda values: Ran(", ".join(values[place] for place in PLACES if values[place] != NONE),
                           values["cycle"], small_cluster(values["nobody"])),
        title="A list of actions",
        opening=gettext("The list is {ACTIONS}, Volcano's default. Build another one, go on to the "
                        "next cycle, or add the queue that lost names.", ACTIONS=ACTIONS),
        tasks=tasks("01", {"place without enqueue": lambda values, ran: (
            "enqueue" not in ran.actions and ran.jobs["train"]["fate"] == "placed")}),
        code=lambda values: small_cluster(values["nobody"]))
