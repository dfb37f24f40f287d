"""The lab of the queue tree: edit the tree, and see every level, which gangs are admitted, and what
becomes of each.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from attrs import asdict, define

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import nodes
from volcano_lab.framework.config.conf import SchedulerConfiguration, load_conf
from volcano_lab.messages.log import quiet
from volcano_lab.trace import short
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queues import levels, tree
from volcano_lab.widgets import controls, pictures
from volcano_lab.widgets.facts import plain
from volcano_lab.widgets.lab import Lab, Task, Values
from volcano_lab.widgets.story import outcome

NODES, NODE_CPUS = 5, 4
ROOT = "root"


@define(slots=True)
class QueueRow:
    """A queue as its manifest says it, in CPUs (None: not set), and its jobs: pods of 1 CPU that
    run, and pods of a gang.
    """

    name: str
    parent: str = ROOT
    weight: int | None = 1
    deserved: float | None = None
    capability: float | None = None
    guarantee: float | None = None
    runs: int = 0
    gang: int = 0


FIELDS = [{"word": word, "label": word, "least": least, "ofJobs": word in ("runs", "gang"),
           "about": about} for word, least, about in (
    ("weight", 1, "counts for proportion; capacity does not read it"),
    ("deserved", 0, "CPUs that the queue's manifest says it deserves"),
    ("capability", 0, "the most that it may hold, in CPUs"),
    ("guarantee", 0, "CPUs that are kept for it"),
    ("runs", 0, "pods of 1 CPU that run already, as one job with the minimum 1"),
    ("gang", 0, "pods of 1 CPU that wait, as one gang: all or none"))]
"""The fields of a queue in the lab."""

START = [QueueRow(ROOT, "", weight=None), QueueRow("research", deserved=8, capability=8),
         QueueRow("train", "research", deserved=5, runs=5, gang=3),
         QueueRow("eval", "research", deserved=3, capability=6, runs=1, gang=4),
         QueueRow("prod", deserved=12, guarantee=4),
         QueueRow("web", "prod", deserved=8, runs=4, gang=2), QueueRow("batch", "prod", gang=3)]
"""The tree that the lab begins with: two departments of two teams each, on 20 CPUs."""

PLUGINS = {"capacity, with the tree": "  - name: capacity\n    enableHierarchy: true\n",
           "capacity, admitting as v1.11.0 did": "  - name: capacity\n    enableHierarchy: true\n  "
                                                 "  arguments:\n      lab.v1-11-enqueue: true\n",
           "capacity, without the tree": "  - name: capacity\n",
           "proportion (no tree; weight counts)": "  - name: proportion\n"}
"""What shares between the queues: its name in the lab -> its lines in the configuration."""

TREE = next(iter(PLUGINS))


def tree_conf(plugin: str = TREE) -> str:
    """The configuration of a scheduler that shares in one of the ways of `PLUGINS`."""
    return f'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n{PLUGINS[plugin]}'


def tree_cluster(rows: list[QueueRow]) -> Cluster:
    """Five nodes of four CPUs, the queues, and their jobs. Raises `ValueError` for rows that can't
    be queues.

    >>> [row["queue"] for row in tree_cluster(START).run(tree_conf()).queues()]
    ['batch', 'default', 'eval', 'prod', 'research', 'root', 'train', 'web']
    """
    _check(rows)
    cluster = nodes(range(NODES), cpu=NODE_CPUS)
    free = [f"node-{number}" for number in range(NODES) for _ in range(NODE_CPUS)]
    for row in rows:
        cluster.queue(row.name, parent=row.parent or None, weight=row.weight, deserved=row.deserved,
                      capability=row.capability, guarantee=row.guarantee)
        if row.runs:
            taken, free = free[:row.runs], free[row.runs:]
            running = {node: taken.count(node) for node in taken}
            cluster.job(f"{row.name}-work", queue=row.name, pods=row.runs, min_member=1, cpu=1,
                        running=running)
        if row.gang:
            cluster.job(f"{row.name}-gang", queue=row.name, pods=row.gang, cpu=1)
    return cluster


@cache
def _conf(plugin: str) -> SchedulerConfiguration:
    return load_conf(tree_conf(plugin))


def _check(rows: list[QueueRow]) -> None:
    names = [row.name for row in rows]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f'queue "{name}" is there {names.count(name)} times; names must differ.')
    for row in rows:
        for field in FIELDS:
            value = getattr(row, str(field["word"]))
            if value is not None and value < field["least"]:
                raise ValueError(f'queue "{row.name}": {field["word"]} is {value}; '
                                 f'allowed is a number from {field["least"]} on.')
    running = sum(row.runs or 0 for row in rows)
    if running > NODES * NODE_CPUS:
        raise ValueError(f"{running} pods run; the cluster has {NODES * NODE_CPUS} CPUs.")


def run_tree(rows: list[QueueRow], plugin: str = TREE) -> Cycle:
    """One cycle over the queues of some rows. Raises `ValueError` or `ManifestError`."""
    with quiet():  # what is wrong with a tree is said on the board
        return tree_cluster(rows).run(_conf(plugin))


State = dict[str, Any]


def decide(values: Values) -> State:
    """Return what a cycle decides about a tree. Raises `ValueError` or `ManifestError` for a tree
    that does not work.
    """
    rows = [QueueRow(**row) for row in values["tree"]]
    cycle = run_tree(rows, values["plugin"])
    if cycle.session.warnings:
        raise ValueError(" ".join(cycle.session.warnings))
    state, names = state_of(cycle), {row.name for row in rows}
    state["levels"] = [row for row in state["levels"] if row["queue"] in names]
    return state


def state_of(cycle: Cycle) -> State:
    """Return what a cycle decided about its tree: levels, admission and gangs.

    >>> rows = state_of(run_tree(START))["admission"][:2]
    >>> [(row["level"], row["sum"], row["may_hold"]) for row in rows]
    [('web', 3, 20), ('prod', 3, 20)]
    """
    return {"levels": list(tree(cycle.trace)), "gangs": list(_ends(cycle)),
            "admission": [row | {"gang": short(row["job"])} for row in levels(cycle.trace)]}


def _ends(cycle: Cycle) -> Iterator[State]:
    for row in cycle.gangs():
        job = cycle.session.jobs[row["job"]]
        yield row | {"gang": short(row["job"]), "operations": ", ".join(row["operations"]),
                     "queue": job.queue, "pods": len(job.tasks)}


def _fate(row: State) -> str:
    if row["statement"] != "none":
        return str(row["statement"])
    return "refused" if row["phase"] == "Pending" else "waits"


def tree_rows(state: State) -> State:
    """Return the data of the tree's picture, with a climb for each gang that enqueue compared.

    Hatched is what admitted gangs still wait for when the cycle ends.
    """
    gang_of = {row["queue"]: row for row in state["gangs"]}
    parents = {row["queue"]: row["parent"] for row in state["levels"]}
    waits = dict.fromkeys(parents, 0)
    for name, gang in gang_of.items():
        if gang["phase"] == "Inqueue" and gang["statement"] != "commit":
            while name in waits:
                waits[name], name = waits[name] + gang["pods"], parents[name]
    queues = []
    for row in state["levels"]:
        gang, size = gang_of.get(row["queue"]), row["real_capability"]
        drawn = {"queue": row["queue"], "parent": row["parent"],
                 "size": plain(min(size, NODES * NODE_CPUS) if size is not None else 20),
                 "inqueue": waits[row["queue"]],
                 **{word: plain(row[word]) for word in ("allocated", "guarantee", "deserved")}}
        if gang:
            drawn["gang"] = {"name": gang["gang"], "pods": gang["pods"], "fate": _fate(gang)}
        queues.append(drawn)
    climbs = _climbs(state)
    refused = [name for name, climb in climbs.items() if not climb["steps"][-1]["fits"]]
    return {"queues": queues, "climbs": climbs, "climb": next(iter([*refused, *climbs]), ""),
            "text": "No gang is compared with the levels."}


def tree_picture(cycle: Cycle, title: str, *, gangs: bool = True) -> pictures.Picture:
    """Draw the tree of a cycle, with what became of each gang or without.

    >>> tree_picture(tree_cluster(START).run(tree_conf()), "The tree").data["climb"]
    'train-gang'
    """
    state = state_of(cycle)
    state["levels"] = [row for row in state["levels"] if row["queue"] != "default"]
    if not gangs:
        state |= {"gangs": [], "admission": []}
    drawn = tree_rows(state) | ({} if gangs else {"text": ""})
    return pictures.tree(title, drawn, unit="CPUs", lines=3 if gangs else 0, legend=LEGEND,
                         width=760)


def sums_picture(cycle: Cycle, job: str = "", title: str = "") -> pictures.Picture:
    """Draw what enqueue compared for a job, or for all, level by level.

    >>> sums_picture(tree_cluster(START).run(tree_conf()), "train-gang").data[1]["text"]
    '9 of 8: refused'
    """
    rows = [{"name": row["level"], "note": "" if job else short(row["job"]),
             "parts": [row["allocated"] - row["elastic"], row["inqueue"], row["minimum"]],
             "limit": row["may_hold"], "over": row["verdict"] == "refused",
             "text": f"{row['sum']:g} of {row['may_hold']:g}: {row['verdict']}"}
            for row in levels(cycle.trace, f"default/{job}" if job else "")]
    return pictures.sums(title, rows, parts=["allocated − elastic", "in queue", "this job"],
                         limit="may hold", width=760)


def _climbs(state: State) -> dict[str, State]:
    climbs: dict[str, State] = {}
    for row in state["admission"]:
        amount, fits = plain(row["minimum"]), row["verdict"] == "room"
        text = f"{amount:g} + {row['allocated']:g} allocated"
        text += f" + {row['inqueue']:g} in queue" if row["inqueue"] else ""
        text += f" − {row['elastic']:g} elastic" if row["elastic"] else ""
        most = "no limit" if row["may_hold"] is None else f"{row['may_hold']:g}"
        text += f" = {row['sum']:g} of {most}: {row['verdict']}"
        climb = climbs.setdefault(row["gang"], {"amount": amount, "steps": [], "text":
                                                f"{row['gang']} asks for {amount:g} CPUs."})
        climb["steps"].append({"queue": row["level"], "text": text, "fits": fits})
    return climbs


def _gang_rows(state: State) -> list[State]:
    return [row | {"ends": row["statement"] if row["statement"] != "none" else "not tried",
                   "why": _why(state, row["gang"]), "pick": row["gang"], "link": row["queue"]}
            for row in state["gangs"]]


LEGEND = ("A box is as wide as what a queue may hold, on every level at the same scale. Full: "
          "allocated. Hatched: admitted, waiting. Dashed: guarantee.")

CONTROLS = {
    "plugin": controls.choice(TREE, list(PLUGINS), "plugin", about="shares between queues"),
    "tree": controls.queues([asdict(row) for row in START], FIELDS, root=ROOT, choose="research",
                            fresh={word: value for word, value in asdict(QueueRow("")).items()
                                   if word not in ("name", "parent")}),
}

PANELS = [pictures.tree("What each level holds and may hold",
                        tree_rows, key="tree", rows=7, lines=4, unit="CPUs", move="tree", wide=True,
                        legend="Full: allocated. Hatched: waiting. Dashed: guarantee. Drag a "
                               "queue; click a gang."),
          pictures.table("What becomes of each gang", _gang_rows, key="gangs", rows=4, wide=True,
                         columns={"gang": "gang", "phase": "phase", "ends": "statement",
                                  "why": "why"}, texts=["phase", "ends", "why"], long=["why"])]


def _queue(values: Values, name: str) -> State:
    found = [row for row in values["tree"] if row["name"] == name]
    return found[0] if found else {}


def _end_of(state: State, name: str) -> str:
    return next((f"{row['phase']} {row['statement']}" for row in state["gangs"]
                 if row["gang"] == name), "")


ENDS = {"Pending none": "refused", "Inqueue commit": "placed", "": "gone",
        "Inqueue discard": "taken back", "Inqueue none": "not tried"}


def _refusal(state: State, name: str) -> State:
    return next((row for row in state["admission"]
                 if row["gang"] == name and row["verdict"] == "refused"), {})


def _told(state: State, name: str) -> str:
    refused, end = _refusal(state, name), _end_of(state, name)
    return f"refused by {refused['level']}" if refused else ENDS.get(end, end)


def _with(name: str, **changed: Any) -> list[State]:
    return [asdict(row) | (changed if row.name == name else {}) for row in START]


TASKS = [Task("v1.11.0", "Choose admission as in v1.11.0. Which gang's row changes, and how?",
              show={"plugin": "capacity, admitting as v1.11.0 did"}),
         Task("move batch", "Put batch below research. Which level refuses batch-gang?",
              lambda values, state: _queue(values, "batch").get("parent") == "research",
              show={"tree": _with("batch", parent="research")}),
         Task("elastic room",
              "Give web a capability with which its gang is admitted and gets no room.",
              lambda values, state: _end_of(state, "web-gang") == "Inqueue discard",
              show={"tree": _with("web", capability=5)}),
         Task("make room", "Change one number so that train-gang is admitted.",
              lambda values, state: _end_of(state, "train-gang").startswith("Inqueue")
              and values["plugin"] == TREE)]


def _why(state: State, name: str) -> str:
    refused = _refusal(state, name)
    if refused:
        return f"{_told(state, name)}: {refused['sum']:g} of {refused['may_hold']:g} CPUs"
    said = next((str(row["why"]) for row in state["gangs"] if row["gang"] == name), "")
    if said.startswith("NotEnoughResources: "):
        said = said.split(": ")[1]
    for word, other in (("with one more pod ", ""), ("cpu ", ""), (", and may hold", " of")):
        said = said.replace(word, other)
    return said


def _opening(state: State) -> str:
    refused = [row["gang"] for row in state["gangs"] if _refusal(state, row["gang"])]
    return " ".join(f"**{name}** is {_why(state, name)}." for name in refused)


def queue_tree_lab() -> Lab:
    """Make the lab: a tree of queues that is edited, and a choice of plugin.

    >>> lab = queue_tree_lab()
    >>> [row["gang"] for row in lab.facts["gangs"] if row["phase"] == "Pending"]
    ['train-gang']
    """
    says = [outcome(name, lambda state, name=name: _told(state, name),
                    lambda state, name=name: _why(state, name).rpartition(": ")[2])
            for name in (f"{row.name}-gang" for row in START if row.gang)]
    return Lab(CONTROLS, decide, PANELS, title="A tree of queues on 20 CPUs", tasks=TASKS,
               says=says, opening=_opening, nothing="No gang's end changes.",
               code=lambda values: tree_cluster([QueueRow(**row) for row in values["tree"]]))
