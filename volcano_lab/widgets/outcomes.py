"""What a cycle decided about a lab's cluster, and the sentences after a move: the jobs with another
outcome, and the number that decided.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from volcano_lab.explain import Explainer, explanation
from volcano_lab.messages import Message, gettext, mark, paragraph
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import channels, reasons
from volcano_lab.widgets.facts import queue_rows, rounds
from volcano_lab.widgets.story import amounts, counted, plain


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
            return reasons.held_reason(self.cycle, row["queue"], self.resource), ""
        cause = self.explain.foremost(row["job"])
        long, brief = reasons.short_reason(cause, row["queue"], channels.sharing_plugin(self.cycle)
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
            name: node.idle.get(name) for name in resources(self.cycle)
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
            why = reasons.admission(foremost, now.cycle.trace, row["job"]) or why
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
            limits = whole and reasons.REASONS.get(whole.code) == "cluster"
            return paragraph([facts.state(row), *[Message("reason.cluster.all")] * bool(limits)])
    return ""


def first_words(facts: Decided) -> str:
    """Return what the picture shows before the first move."""
    fates = [row["fate"] for row in facts.jobs.values() if row["pods"]]
    return paragraph([Message("lab.placed", placed=fates.count("placed"),
                              n=len(fates) - fates.count("running")),
                      waiting_words(facts, facts.jobs.values())])


def resources(cycle: Cycle) -> list[str]:
    """Return the resources that both nodes have and pods request, CPUs first."""
    names = {name for job in cycle.session.jobs.values() for task in job.tasks.values()
             for name, asked in task.resreq if asked}
    there = [name for name in names - {"pods"} if cycle.session.total_resource.get(name)]
    return sorted(there, key=lambda name: (name != "cpu", name)) or ["cpu"]
