"""The one lab, for every cluster: its queues, jobs and nodes as a picture with movable marks.

A control's name is a path of the language of change (`queue/a.weight`), so the moves of a lab are
the changes to copy, and every control of a lesson is one line. `cluster.lab()` opens it.
"""


from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from volcano_lab.cluster import Cluster, Conf
from volcano_lab.explain import Explainer, explanation
from volcano_lab.manifests.conf import conf_text
from volcano_lab.manifests.export import literal
from volcano_lab.manifests.files import Source
from volcano_lab.messages import Message, Misuse, gettext, log, mark, paragraph
from volcano_lab.trace.cause_trace import CauseTrace
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import channels, pictures
from volcano_lab.widgets.controls import Control, choice, group, handle
from volcano_lab.widgets.facts import queue_rows, rounds
from volcano_lab.widgets.lab import Lab, Task, Values
from volcano_lab.widgets.story import amounts, counted, plain

CONF, SHOWN = "conf", "show"
"""Controls that are not changes: which configuration, and which resource the picture shows."""

LEGEND = ("Blue: movable. Water: deserved. Full: runs. Outlined: placed now. Hatched: discarded. "
          "Hollow: waits. ①: queue order. ◇: none.")
SHORT = "Blue: movable. Water: deserved. Full: runs. Outlined: placed now."
"""The legend of a picture that leaves out lanes and shares."""


class Decided:
    """What a cycle decided about a lab's cluster: the data of pictures, sentences and tasks.

    `cycle` is the cycle, `resource` the one shown, `jobs` a row for each job by its name, see
    `channels.job_rows`; `settings` the controls: (kind, what it belongs to, path, value).
    """

    def __init__(self, cycle: Cycle, resource: str, settings: Iterable[tuple] = ()):
        self.cycle, self.resource, self.settings = cycle, resource, {*settings}

    @cached_property
    def explain(self) -> Explainer:
        """Explanations of this cycle."""
        cycle = self.cycle
        return Explainer(cycle.world, cycle.session.conf, cycle.session.now,
                         (cycle.trace, cycle.session))

    @cached_property
    def jobs(self) -> dict[str, dict[str, Any]]:
        """The outcome of each job."""
        return {row["name"]: row for row in channels.job_rows(self.cycle, self.resource)}

    @cached_property
    def queues(self) -> dict[str, dict[str, Any]]:
        """What each queue deserves, holds and so on, in the shown resource."""
        return {row["queue"]: row for row in queue_rows(self.cycle, self.resource)}

    def of(self, field: str, without: Iterable[str] = ()) -> dict[str, float]:
        """Return one amount per queue, such as `deserved`; without queues that have no limit."""
        return {name: row[field] for name, row in self.queues.items()
                if row[field] is not None and name not in without}

    def state(self, row: dict[str, Any]) -> str:
        """Return a job's outcome and the number that decided."""
        return str(Message("job.state", job=row["name"], now=gettext(row["fate"]),
                           why=self.reason(row)[0]))

    def reason(self, row: dict[str, Any]) -> tuple[str, str]:
        """Return the reason of a job's outcome: the number that decided, long and short."""
        if row["fate"] == "placed":
            return channels.held_reason(self.cycle, row["queue"], self.resource), ""
        cause = self.explain.foremost(row["job"])
        long, brief = channels.short_reason(cause, row["queue"], channels.sharing_plugin(self.cycle)
                                   ) if cause else ("", "")
        short = cause and cause.numbers.get("short_of") and 0 < row["pods"] < row["min"]
        return (str(Message("reason.below_minimum", reason=long, min=row["min"], n=row["pods"]))
                if short else long), brief

    def holds(self, queue: str) -> Message:
        """Return what a queue deserves, requests and holds."""
        row, unit = self.queues[queue], channels.unit_of(self.resource)
        return Message("queue.state", queue=queue, plugin=channels.sharing_plugin(self.cycle), **{
            word: counted(row[word] or 0, unit) for word in ("request", "deserved", "allocated")})

    def _offers(self, queue: str) -> Iterator[Message]:
        """Yield the rounds that give a queue its share, if weights divide it."""
        weight = {name: row["weight"] for name, row in self.queues.items()}
        parts = []
        for number, each in enumerate(rounds(self.cycle, self.resource), 1):
            step = each["steps"].get(queue)
            if step and step["after"] > step["before"]:
                parts.append(Message(
                    "share.round", round=number, left=plain(each["left_before"]),
                    weight=weight[queue], weights=sum(weight[name] for name in each["steps"]),
                    offered=plain(step["offered"]), taken=plain(step["after"] - step["before"])))
        if parts:
            yield Message("share.rounds", parts=parts)

    def why(self, about: Mapping[str, str]) -> str:
        """Return the explanation of a queue, a job, a pod or a node."""
        if "queue" in about:
            found = self.explain.why_queue(about["queue"])
            return paragraph([self.holds(about["queue"]), *self._offers(about["queue"]),
                              *(cause.text for cause in found.causes[:1])]
                             if about["queue"] in self.queues else [found.head])
        if "job" in about:
            alike = channels.gathered(self.jobs.values(), self.resource)
            reserves = [row["reason"] + mark(".") for row in alike
                        if row["job"] == about["job"] and "reason" in row]
            return paragraph([*reserves, _brief(self.explain.why_job(about["job"]))])
        if "/" in about.get("pod", ""):
            return _brief(self.explain.why_task(about["pod"]))
        node = self.cycle.session.nodes[about["node"]]
        code = "lab.node.cordoned" if node.node.spec.unschedulable else "lab.node"
        return str(Message(code, node=node.name, idle={
            name: node.idle.get(name) for name in _resources(self.cycle)
            if node.allocatable.get(name)}))


def _brief(found: explanation.Explanation) -> str:
    """Return the head of an explanation, its first cause, and who holds or reserves the rest."""
    held = [str(cause.sentences[0]) for cause in found.causes if cause.code == "held_by"]
    return paragraph([found.head, *(cause.text for cause in found.causes[:1]), *held[:1]])


def _little(*rows: dict[str, Any]) -> tuple[bool, bool]:
    """Rank a job with a new outcome: an outcome is more important than some pods more or less."""
    fates = {row["fate"] for row in rows}
    return fates <= {"placed", "waiting", "running"}, rows[-1]["fate"] != "placed"


class Outcomes:
    """The sentences after a move: the jobs whose outcome changed, and the number that decided."""

    def sentences(self, before: Decided, now: Decided) -> list[str]:
        """Return at most two sentences, the job that was moved first, and a third outcome."""
        if before.resource != now.resource:
            return [str(Message("lab.measured", unit=gettext(channels.unit_of(now.resource))))]
        moves, names = now.settings - before.settings, others(before, now)
        moved = {link for _, link, *_ in moves}
        names.sort(key=lambda name: (now.jobs[name]["job"] not in moved,
                                     before.jobs[name]["fate"] == now.jobs[name]["fate"],
                                     _little(before.jobs[name], now.jobs[name]),
                                     -now.jobs[name]["pods"]))
        reasons = [now.reason(now.jobs[name]) for name in names[:2]]
        whys = [long for long, _ in reasons[:1]]  # in full once, then in short
        whys += ["" if long == whys[0] else brief or long for long, brief in reasons[1:]] + [""]
        found = [self._sentence(name, before, now, why)
                 for name, why in zip(names, whys, strict=False)
                 if name == names[0] or before.jobs[name]["fate"] != now.jobs[name]["fate"]]
        shares: list[str] = []
        for verb, field, setting in (("deserves", "deserved", "deserved"),
                                     ("may hold", "real_capability", "capability")):
            if len(found) + len(shares) < 2:
                as_set = {link for _, link, path, value in moves  # the move's text has it
                          if f".{setting}" in path and value == now.of(field).get(link)}
                shares += amounts(verb, partial(Decided.of, field=field, without=as_set),
                                  channels.unit_of(now.resource)).sentences(before, now)
        return ([*shares, *found] if names  # first what decided, then what it decided
                else [gettext("No outcome changes."), *shares[:1]])

    def _sentence(self, name: str, before: Decided, now: Decided, why: str) -> str:
        was, row = before.jobs[name], now.jobs[name]
        if was["fate"] == row["fate"]:
            return str(Message("job.gets", job=name, placed=row["now"], before=was["now"],
                               pods=row["now"] + row["waiting"], why=why))
        if (was["fate"], row["fate"]) == ("not admitted", "placed"):
            foremost = before.explain.foremost(row["job"])
            why = channels.admission(foremost, now.cycle.trace, row["job"]) or why
        return str(Message("job.turn.why" if why else "job.turn", job=name, why=why,
                           now=gettext(row["fate"]), before=gettext(was["fate"])))


def others(before: Decided, now: Decided) -> list[str]:
    """Return the jobs with another outcome than before, or other pods placed."""
    both = {name: (before.jobs[name], row) for name, row in now.jobs.items() if name in before.jobs}
    return [name for name, (was, row) in both.items()
            if (was["fate"], was["now"]) != (row["fate"], row["now"])]


def cause_words(before: Decided, now: Decided) -> str:
    """Return why what was moved is as it is, where no job turned: the state of its job, of the
    first job that waits in its queue, or of the queue; else of the first job that waits.
    """
    if before.resource != now.resource or others(before, now):
        return ""
    for kind, name, *_ in sorted(now.settings - before.settings):
        own = [row for row in now.jobs.values() if row.get(kind) == name]
        if said := waiting_words(now, own, kind) or (kind == "job" and own and now.state(own[0])):
            return said
        if kind == "queue" and name in now.queues:
            return str(now.holds(name))
    return waiting_words(now, now.jobs.values())


def waiting_words(facts: Decided, rows: Iterable[dict[str, Any]], moved: str = "") -> str:
    """Return the first of some jobs that was not placed, with its reason; and, where a queue was
    moved, that a limit of the whole cluster reads nothing of it.
    """
    for row in rows:
        if row["pods"] and row["fate"] in ("discarded", "not admitted", "not tried"):
            whole = moved == "queue" and facts.explain.foremost(row["job"])
            limits = whole and channels.REASONS.get(whole.code) == "cluster"
            return paragraph([facts.state(row), *[Message("reason.cluster.all")] * bool(limits)])
    return ""


def first_words(facts: Decided) -> str:
    """Return what the picture shows before the first move."""
    fates = [row["fate"] for row in facts.jobs.values() if row["pods"]]
    return paragraph([Message("lab.placed", placed=fates.count("placed"),
                              n=len(fates) - fates.count("running")),
                      waiting_words(facts, facts.jobs.values())])


class ClusterLab(Lab):
    """The lab of a cluster; see `lab`."""

    def __init__(self, cluster: Cluster, confs: Mapping[str, Conf], controls: Mapping[str, Control],
                 panels: Sequence[pictures.Picture], **frame: Any):
        self.cluster, self.confs = cluster, confs
        self._known: set[str] | None = None
        own: dict[str, Any] = {
            "says": [Outcomes()], "opening": first_words, "because": cause_words}
        super().__init__(controls, self._cycle_of, panels, code=self._changed,
                         why=lambda facts, about: self._answer(facts, about), **own | frame)

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
        warnings = [text for text in cycle.session.warnings if text not in (self._known or ())]
        if self._known is None:
            self._known = set(warnings)
        elif warnings:
            raise ValueError(" ".join(warnings))
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
    resources = _resources(opened)
    if len(confs) > 1:
        found[CONF] = choice(next(iter(confs)), list(confs), "configuration")
    if len(resources) > 1:
        found[SHOWN] = choice(resource, {name: name for name in resources}, "picture shows")
    plugins = {name for conf in confs.values()
               for name in cluster.configuration(conf).plugin_names()}
    for name in resources:
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


def _resources(cycle: Cycle) -> list[str]:
    """Return the resources that both nodes have and pods request, CPUs first."""
    names = {name for job in cycle.session.jobs.values() for task in job.tasks.values()
             for name, asked in task.resreq if asked}
    there = [name for name in names - {"pods"} if cycle.session.total_resource.get(name)]
    return sorted(there, key=lambda name: (name != "cpu", name)) or ["cpu"]


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
