"""Lint: what in a cluster's manifests and configuration cannot work, contradicts itself, or has no
effect, each with its rule, its place and a remedy.

The rules of Volcano's webhooks are in `manifests.admission`, fields that no plugin reads in `lint`;
here are those that need the whole cluster.

Volcano: none
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from attrs import asdict, define

from volcano_lab.api import ROOT_QUEUE, ZERO, JobInfo, Resource, TaskInfo
from volcano_lab.api.node_affinity import required_node_affinity
from volcano_lab.cache import Cache
from volcano_lab.explain import explanation, lint, origin, owners, protection
from volcano_lab.explain.evidence import classes_of, stopped, unplaced
from volcano_lab.framework import ConfError, SchedulerConfiguration, Session
from volcano_lab.manifests import Loaded, ManifestError, verdicts
from volcano_lab.messages import Message, Said, gettext, mark
from volcano_lab.scheduler import Scheduler
from volcano_lab.trace import POINTS, Names, Part, Shown, queue_attributes

ERROR, WARNING = "error", "warning"
CONFIGURATION = Message("place.configuration")
LIKELY = ("tree", "hyper-node-member")
"""Rules of what may be meant, or come later."""


@define(frozen=True)
class Finding:
    """What a rule finds at a place; `remedy` is "" where the text names it."""

    rule: str
    level: str
    place: Said
    text: Said
    remedy: Said = ""

    def __str__(self) -> str:
        return str(Message("finding", place=self.place, what=self.text, remedy=self.remedy))


class Findings(Shown):
    """The findings of lint, errors first; iterating yields each `Finding`.

    >>> found = Findings([Finding("unread", WARNING, "Queue a", "spec.wieght is not known"),
    ...                   Finding("refused", ERROR, "Queue b", "spec.weight is 0")])
    >>> [finding.place for finding in found], found.errors, found
    (['Queue b', 'Queue a'], 1, <1 error, 1 warning>)
    """

    def __init__(self, found: Iterable[Finding]):
        self.found = sorted(found, key=lambda finding: finding.level != ERROR)
        self.errors = sum(finding.level == ERROR for finding in self.found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        return f"<{self.counted}>"

    @property
    def counted(self) -> str:
        """The number of errors and warnings, as text."""
        warnings = len(self.found) - self.errors
        return str(Message("lint.counted", errors=Message("errors", n=self.errors),
                           warnings=Message("warnings", n=warnings)))

    def _shown(self) -> Iterable[Part]:
        yield from (f"{gettext(each.level)}{mark(': ')}{each} [{each.rule}]" for each in self.found)
        yield self.counted

    def _frames(self) -> dict[str, list[dict[str, Any]]]:
        return {"findings": [{name: str(value) for name, value in asdict(finding).items()}
                             for finding in self.found]}


def findings(loaded: Loaded, world: Callable[[], Loaded], conf: Callable[[], SchedulerConfiguration]
             ) -> Findings:
    """Return what reading, admission and a cycle show of manifests and of the complete `world` of
    their cluster, waiting jobs with the pods that they will have.
    """
    found = list(of_objects(loaded))
    known = [(each.place, each.text) for each in found]
    try:
        complete = world()
        later = [pod for pods in complete.later.values() for pod in pods]
        ssn = Scheduler(Cache([*complete, *later]), conf()).run_once()
    except ConfError as error:
        return Findings([*found, *(Finding("configuration-refused", ERROR, CONFIGURATION, problem)
                                   for problem in error.found)])
    except ManifestError as error:
        return Findings([*found, *(Finding("refused", ERROR, *each)
                                   for each in map(_parted, error.found) if each not in known)])
    found += [Finding("priority-class-unknown", ERROR, place, what) if _without_class(what)
              else Finding("unread", WARNING, place, what)
              for place, what in map(_parted, complete.warnings) if (place, what) not in known]
    found += [Finding("not-running", ERROR, Message("place.cluster"), Message(code, why=why))
              for code, why in stopped(complete).items()]
    return Findings([*found, *of_cycle(ssn, complete.scheduler), *_classes(ssn, complete)])


def _without_class(what: Said) -> bool:
    """Whether the API server refuses all pods of an owner: a PriorityClass does not exist."""
    return isinstance(what, Message) and what.code == "not_created.priority" and (
        what.facts["count"] == what.facts["pods"])


def _parted(said: Message) -> tuple[Said, Said]:
    """Return the place of which a message speaks, the cluster unless it names one, and what it says
    of it.
    """
    return said.facts.get("place", Message("place.cluster")), said.facts.get("what", said)


def of_objects(loaded: Loaded) -> Iterator[Finding]:
    """Yield what reading and admission show of objects as they were written.

    >>> from volcano_lab.manifests.loader import loads
    >>> queue = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a}, "
    >>> queue += "spec: {weight: 1, wieght: 2, capability: {cpu: 1}, deserved: {cpu: 2}}}"
    >>> [(finding.rule, finding.level) for finding in of_objects(loads(queue))]
    [('unread', 'warning'), ('queue-deserved-capability', 'error')]
    """
    for warning in loaded.warnings:
        yield Finding("unread", WARNING, *_parted(warning))
    for verdict in verdicts(loaded):
        yield Finding(verdict.rule, verdict.level, verdict.label, verdict.what)


def of_cycle(ssn: Session, release: str = "") -> Iterator[Finding]:
    """Yield what a cycle shows of the configuration, queues and jobs, where a `release` runs.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).job("train", pods=3, cpu=2).run()
    >>> for finding in of_cycle(cycle.session):
    ...     print(finding.rule, finding, sep="; ")
    gang-impossible; Job default/train: its minimum of 3 pods requests cpu 6; all nodes together
    have cpu 4 (lower minMember or the requests, or add nodes)
    """
    for warning in ssn.conf.warnings + ssn.warnings:
        yield Finding("no-effect", WARNING, CONFIGURATION, warning)
    for field in lint.ignored_fields(ssn, release):
        yield Finding("no-effect", WARNING, field.facts["place"], field.facts["what"])
    yield from _configuration(ssn)
    yield from _queues(ssn)
    yield from _too_small(ssn)
    due, there = origin.deserved_beyond(ssn)
    if due and ssn.nodes:
        yield _found(CONFIGURATION, "deserved_beyond", deserved=due, there=there)
    yield from _no_node_group(ssn)
    names = Names(ssn)
    if ssn.jobs and not ssn.nodes:
        yield _found(Message("place.cluster"), "nodeless")
    for reason in ssn.snapshot.left_out:
        yield Finding("left-out", WARNING, Message("place.cluster"), reason)
    for uid, job in ssn.jobs.items():
        yield from _gang(ssn, job, lint.place_of([names.called(uid)]))


def _classes(ssn: Session, objects: Loaded) -> Iterator[Finding]:
    """Yield jobs whose PriorityClass does not exist, so that they have priority 0."""
    names, classes = Names(ssn), classes_of(objects)
    for uid, job in ssn.jobs.items():
        if said := origin.unknown_class(job, classes, names.called(uid)):
            yield _found(lint.place_of([names.called(uid)]), "unknown_class", **said.facts)


def _found(place: Message, code: str, /, **facts: Any) -> Finding:
    """A finding of the table `findings`, whose message has a remedy."""
    level, rule = explanation.TABLES["findings"][code].split()
    return Finding(rule, level, place, Message(code, **facts), Message(f"{code}.remedy", **facts))


def _queue(name: str) -> Message:
    return Message("place.queue", name=name)


def _configuration(ssn: Session) -> Iterator[Finding]:
    plugins = ssn.conf.plugin_names()
    for rule, what in lint.contradictions(ssn):
        yield Finding(rule, WARNING if rule in LIKELY else ERROR, CONFIGURATION, what)
    for name in sorted({name for name in plugins if plugins.count(name) > 1}):
        yield _found(CONFIGURATION, "plugin_twice", plugin=name)
    for name in sorted({*plugins} & ssn.plugins.keys()):
        points = [point for point in ssn.points.values() if name in point.functions]
        if points and not any(plugin == name for point in points for tier in point.tiers
                              for plugin, _ in tier):
            yield _found(CONFIGURATION, "all_switched_off", plugin=name)
    yield from _actions(ssn)


def _actions(ssn: Session) -> Iterator[Finding]:
    """Yield actions that do nothing, or that other actions or plugins cancel."""
    found, actions = partial(_found, CONFIGURATION), list(ssn.conf.actions)
    for action, point in POINTS.items():
        if action in actions and not ssn.points[point].flat:
            yield found("no_votes", action=action, point=point)
        if {action, "allocate"} <= {*actions} and actions.index(action) < actions.index("allocate"):
            yield found("evicts_first", action=action)
    tree = getattr(ssn.plugins.get("capacity"), "hierarchical", False)
    if {"enqueue", "reclaim"} <= {*actions} and tree:
        yield found("enqueue_reclaim")
    above, share = protection.before_shares(ssn)
    if "reclaim" in actions and above and share:
        yield found("shares_below", share=share, plugins=above)
    queues = [queue for name, queue in ssn.queues.items() if name != ROOT_QUEUE]
    if "reclaim" in actions and len(queues) > 1 and not any(queue.reclaimable for queue in queues):
        yield found("nothing_reclaimable")


def _too_small(ssn: Session) -> Iterator[Finding]:
    """Yield queues whose share is smaller than the smallest pod that waits in them: none starts
    while all other queues use their shares.
    """
    for name, attr in queue_attributes(ssn).items():
        waiting = [task.init_resreq for task in _waiting_in(ssn, name)]
        for resource in sorted({each for request in waiting for each, _ in request} - {"pods"}):
            least, deserved = (min(request.get(resource) for request in waiting),
                               attr.deserved.get(resource))
            if ssn.total_resource.get(resource) >= least > deserved > 0 and (
                    attr.allocated.is_empty()):
                yield _found(_queue(name), "share_small", deserved={resource: deserved},
                             least={resource: least})


def _no_node_group(ssn: Session) -> Iterator[Finding]:
    """Yield queues whose pods nodegroup allows no node."""
    strict: Any = ssn.plugins.get("nodegroup")
    for name in ssn.queues if strict is not None and ssn.nodes else ():
        task = next(_waiting_in(ssn, name), None)
        if task is not None and all(
                strict.predicate(task, node) is not None for node in ssn.nodes.values()):
            yield _found(_queue(name), "no_node_group")


def _waiting_in(ssn: Session, queue: str) -> Iterator[TaskInfo]:
    """The pods of a queue that have no node."""
    return chain.from_iterable(unplaced(job) for job in ssn.jobs.values() if job.queue == queue)


def _queues(ssn: Session) -> Iterator[Finding]:
    parents = {queue.queue.spec.parent for queue in ssn.queues.values()} - {ROOT_QUEUE}
    used = {job.queue for job in ssn.jobs.values()}
    attributes = queue_attributes(ssn)
    for name, queue in ssn.queues.items():
        if not queue.is_open and name in used:
            yield _found(_queue(name), "closed_in_use", state=queue.queue.status.state or "unset")
        if name in used & parents:
            yield _found(_queue(name), "not_leaf")
        attr: Any = attributes.get(name)
        cut_off = attr is not None and attr.ancestors[:1] not in ((), (ROOT_QUEUE,))
        for resource, amount in attr.request if attr is not None and not cut_off else ():
            # resources that the cluster has not are found by `_gang`
            if (amount and ssn.total_resource.get(resource)
                    and attr.real_capability.get(resource) <= 0):
                yield _unusable(ssn, (name, *reversed(attr.ancestors)), resource)


def _unusable(ssn: Session, line: tuple[str, ...], resource: str) -> Finding:
    """Why a queue, the first of the line up to the root, may hold nothing of a resource."""
    for level in line if resource not in ("cpu", "memory") else ():  # of those, 0 is no limit
        limit = ssn.queues[level].queue.spec.capability or {}
        if resource in limit and not Resource.from_list(limit).get(resource):
            return _found(_queue(line[0]), "unusable", resource=resource, level=level)
    return _found(_queue(line[0]), "unusable.kept", resource=resource)


def _minimum(job: JobInfo) -> tuple[dict[str, Any], str]:
    """Return a gang's minimum with the field that sets it, and the one with its number of pods."""
    count, field = (owners.known_of(each, owners.owner_of(job)) for each in ("fewer", "minimum"))
    return {"least": job.min_available, "field": field or count or "minMember"}, count or "replicas"


def _gang(ssn: Session, job: JobInfo, place: Message) -> Iterator[Finding]:
    """Yield what can never be placed of a job's minimum, whatever others leave."""
    tasks = list(job.tasks.values())
    minimum, count = _minimum(job)
    asked, there = origin.minimum_above(job, ssn.total_resource)
    limits = [] if job.is_ready() else [*origin.above_queue(ssn, job)]
    kinds = {task.init_resreq: task for task in tasks if not task.node_name}
    large = [task for request, task in kinds.items()
             if not any(request.less_equal(node.allocatable, ZERO) for node in ssn.nodes.values())]
    if job.min_available > len(tasks) > 0:
        yield _found(place, "gang_too_large", **minimum, pods=len(tasks), count=count)
    elif not ssn.nodes:
        return
    elif asked and tasks:
        yield _found(place, "gang_above_cluster", **minimum, asked=asked, total=there)
    elif large:
        yield _found(place, "pod_above_nodes", pod=large[0].name)
    elif limits and tasks:
        queue, asked, limit = limits[0]
        yield _found(place, "gang_above_queue", **minimum, asked=asked, queue=queue, limit=limit)
    for task in unplaced(job) if lint.PREDICATES in ssn.plugins else ():
        required = required_node_affinity(task.pod)
        if not any(required.matches(node.node) for node in ssn.nodes.values()):
            yield _found(place, "no_node_matches", pod=task.name)
            return
