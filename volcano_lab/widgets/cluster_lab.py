"""The one lab, for every cluster: its queues, jobs and nodes as a picture with movable marks.

A control's name is a path of the language of change (`queue/a.weight`), so the moves of a lab are
the changes to copy, and every control of a lesson is one line. `cluster.lab()` opens it.
"""


from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from volcano_lab.cluster import Cluster, Conf
from volcano_lab.manifests.conf import conf_text
from volcano_lab.manifests.export import literal
from volcano_lab.manifests.files import Source
from volcano_lab.messages import Message, Misuse, gettext, log, paragraph
from volcano_lab.trace.cause_trace import CauseTrace
from volcano_lab.widgets import channels, pictures
from volcano_lab.widgets.controls import Control, choice, group, handle
from volcano_lab.widgets.lab import Lab
from volcano_lab.widgets.outcomes import Decided, Outcomes, cause_words, first_words, resources
from volcano_lab.widgets.task import Task, Values

CONF, SHOWN = "conf", "show"
"""Controls that are not changes: which configuration, and which resource the picture shows."""

LEGEND = ("Blue: movable. Water: deserved. Full: runs. Outlined: placed now. Hatched: discarded. "
          "Hollow: waits. ①: queue order. ◇: none.")
SHORT = "Blue: movable. Water: deserved. Full: runs. Outlined: placed now."
"""The legend of a picture that leaves out lanes and shares."""


class ClusterLab(Lab):
    """The lab of a cluster; see `lab`."""

    def __init__(self, cluster: Cluster, confs: Mapping[str, Conf], controls: Mapping[str, Control],
                 panels: Sequence[pictures.Picture], **frame: Any):
        self.cluster, self.confs = cluster, confs
        self._known: set[Message] | None = None
        own: dict[str, Any] = {"says": [Outcomes()], "opening": first_words, "because": cause_words}
        super().__init__(controls, self._cycle_of, panels, code=self._changed, why=self._answer,
                         **own | frame)

    def changes(self, values: Values | None = None) -> list[str]:
        """Return the moves as changes: `["queue/a.weight=5"]`."""
        now = self.values if values is None else values
        return [f"{name}={value}{'Gi' * name.endswith('.memory')}"
                for name, value in now.items()
                if name not in (CONF, SHOWN) and value != self.start[name]]

    def sets(self) -> str:
        """Return the moves as options of a command."""
        return " ".join(f"--set '{each}'" for each in self.changes())

    def python(self) -> str:
        """Return the Python that builds this cluster with its configuration, and runs a cycle."""
        conf = self._conf(self.values)
        lines = ["from volcano_lab import Cluster", "", self.cluster.to_python()]
        if conf is not None:
            lines.append(f"cluster.conf = {literal(conf_text(conf))}")
        if changes := ", ".join(map(literal, self.changes())):
            lines.append(f"cluster = cluster.changed({changes})")
        return "\n".join([*lines, "cycle = cluster.run()"])

    def _forms(self) -> list[str]:
        return ["python", "yaml", "sets"]

    def _conf(self, values: Values) -> Conf:
        return self.confs[values.get(CONF, next(iter(self.confs)))]

    def _changed(self, values: Values) -> Cluster:
        cluster = self.cluster.copy()
        cluster.conf = self._conf(values)
        return cluster.changed(*self.changes(values))

    def _cycle_of(self, values: Values) -> Decided:
        with log.quiet():  # problems are shown on the page
            cycle = self._changed(values).run(trace=CauseTrace())
        warnings = [each for each in cycle.session.warnings if each not in (self._known or ())]
        if self._known is None:
            self._known = set(warnings)
        elif warnings:
            raise ValueError(paragraph(warnings))
        settings = ((name.partition("/")[0], self.controls[name].link, name, value)
                    for name, value in values.items())
        return Decided(cycle, values.get(SHOWN, self.start.get(SHOWN, "cpu")), settings)

    def _frame(self, said: str, ghost: str, **more: Any) -> dict[str, Any]:
        """Draw no ghost of amounts of another resource."""
        same = self._before.resource == self._facts.resource
        return super()._frame(said, ghost if same else "none", **more)

    def _answer(self, facts: Decided, about: Mapping[str, str]) -> str:
        """Answer a click; a click on a handle asks about its control."""
        path = about.get("control", "")
        if not path:
            return facts.why(about)
        kind = path.partition("/")[0]
        return facts.why({kind: self.controls[path].link}) if kind in ("queue", "job") else ""


def lab(*sources: Cluster | Source, conf: Conf = None, confs: Mapping[str, Conf] | None = None,
        resource: str = "cpu",
        controls: Mapping[str, Control] | None = None, panels: Iterable[pictures.Picture] = (),
        title: str = "", tasks: Sequence[Task] = (), without: Sequence[str] = (),
        moves: Sequence[str] = (), **frame: Any) -> ClusterLab:
    """Open the lab of a cluster, or of the one in some files.

    Args:
        sources: a `Cluster`, or files, folders and streams of manifests.
        conf: the scheduler's configuration; without, the cluster's own.
        confs: several configurations by name; a menu chooses one.
        resource: the resource that the picture shows at first.
        controls: more controls, by the path of their change.
        panels: more pictures, whose data are functions of `Decided`.
        title: one line.
        tasks: the tasks of the lesson.
        without: those of "nodes", "shares", "lanes" that the picture leaves out.
        moves: the fields that can be moved ("weight", "capability", …); all if empty.
        frame: other texts of a `Lab`: says, opening, nothing.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=9).queue("a").queue("b")
    >>> for queue in ("a", "b"):
    ...     _ = cluster.job(f"{queue}-gang", queue=queue, pods=6, cpu=1)
    >>> moved = lab(cluster).set(**{"queue/a.weight": 2})
    >>> print(moved.said)
    Queue a: weight 2 (was 1). a deserves 6 CPUs (was 4.5), b 3 CPUs (was 4.5). a-gang is placed \
(was discarded): a holds 6 and deserves 6 (proportion).
    >>> moved.changes()
    ['queue/a.weight=2']
    """
    given = [each for each in sources if isinstance(each, Cluster)]
    files = [each for each in sources if not isinstance(each, Cluster)]
    if len(given) > 1 or (given and files):
        raise Misuse("a lab shows one cluster; allowed is a Cluster, or files of one.")
    cluster = given[0] if given else Cluster.read(*files)
    named = dict(confs or {"as given": cluster.conf if conf is None else conf})
    every = {path: control for path, control in _handles(cluster, named, resource).items()
             if not moves or "/" not in path or any(f".{field}" in path for field in moves)}
    every |= dict(controls or {})
    board = pictures.channels("", lambda facts: channels.channels(
        facts.cycle, facts.resource, facts.reason), key="channels", wide=True, without=without,
                              legend=SHORT if {"lanes", "shares"} <= {*without} else LEGEND)
    return ClusterLab(cluster, named, every, [board, *panels], title=title or _title(cluster),
                      tasks=tasks, **frame)


def _title(cluster: Cluster) -> str:
    kinds = [obj.kind for obj in cluster.objects()]
    queues = kinds.count("Queue") - 2  # root and default are in every cluster
    return gettext("{nodes}, {queues}", nodes=Message("nodes", n=kinds.count("Node")),
                   queues=Message("queues", n=max(queues, 1)))


def _handles(cluster: Cluster, confs: Mapping[str, Conf], resource: str) -> dict[str, Control]:
    """Return the handles of the picture, by the path of their change."""
    found: dict[str, Control] = {}
    with log.quiet():  # warnings are kept for the page
        opened = cluster.run(next(iter(confs.values())), trace=CauseTrace())
    names = resources(opened)
    if len(confs) > 1:
        found[CONF] = choice(next(iter(confs)), list(confs), "configuration")
    if len(names) > 1:
        found[SHOWN] = choice(resource, {name: name for name in names}, "picture shows")
    plugins = {name for conf in confs.values()
               for name in cluster.configuration(conf).plugin_names()}
    for name in names:
        data = channels.channels(opened, name)
        most = {row["queue"]: row for row in data["queues"]}
        for queue, row in most.items():
            controls = dict(_of_queue(row, data, plugins, list(most)))
            found |= group(gettext("queue {name}", name=queue), controls, link=queue)
        shown = data["queues"] if name == resource else []
        for job in (job for row in shown for job in row["jobs"]):
            found |= group(gettext("job {name}", name=job["name"]),
                           dict(_of_job(job, data["total"])), link=job["job"])
    return found


def _of_queue(row: dict[str, Any], data: dict[str, Any], plugins: set[str], names: list[str]
              ) -> Iterator[tuple[str, Control]]:
    path, unit, end = f"queue/{row['queue']}.", channels.unit_of(data["resource"]), data["path"]
    total, step = data["total"], _step(data["total"])
    end_of_scale = -(-total // step) * step

    def of(field: str, start: float, label: str, most: float = total, least: float = 0,
           unlimited: Sequence[float] = ()) -> tuple[str, Control]:
        return f"{path}{field}{end}", handle(start, least, max(most, start), label, step=step,
                                             unit=unit, unlimited=unlimited)

    if "proportion" in plugins:
        yield f"{path}weight", handle(row["weight"], 1, max(30, 2 * row["weight"]), "weight")
    capability = row["capability"] if row["capability"] < total else end_of_scale
    least = min(step, capability) if end in (".cpu", ".memory") else 0  # of these, 0 is no limit
    yield of("capability", capability, "capability", end_of_scale, least, (end_of_scale,))
    yield of("guarantee.resource", row["guarantee"], "guarantee")
    if "capacity" in plugins:
        yield of("deserved", row["deserved"] or 0, "deserved")
    if row["parent"] or not row["leaf"]:
        yield f"{path}parent", handle(row["parent"] or "root", 0, 0, "parent", options=[
            "root", *(name for name in names if name != row["queue"])])


def _of_job(job: dict[str, Any], total: float) -> Iterator[tuple[str, Control]]:
    if job["fate"] == "running" or not job["pods"]:
        return
    path = f"job/{job['called']}."
    fitting = int(total / job["size"]) if job["size"] else job["pods"]
    most = max(job["pods"], min(fitting, 4 * job["pods"]))
    if job["pods"] > 1 and not job["running"]:
        yield f"{path}minAvailable", handle(job["min"], 1, max(most, job["min"]), "minimum",
                                            unit="pods")
    yield f"{path}pods", handle(job["pods"], max(job["running"], 1), most, "pods")


def _step(total: float) -> float:
    """Return a round step near a hundredth of the scale.

    >>> _step(20), _step(100), _step(1792)
    (1, 1, 10)
    """
    return next(step for power in range(12) for step in (
        10**power, 2 * 10**power, 5 * 10**power) if step * 2 >= total / 100)
