"""What could be other than it is: changes of one kind, from the least to the most, and the cluster
of which they are.

Volcano: none
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from math import ceil
from typing import Any

from attrs import define

from volcano_lab.api import ROOT_QUEUE, JobInfo, quantity
from volcano_lab.api.objects import (
    KubernetesObject,
    LimitRange,
    Node,
    Pod,
    PodGroup,
    Queue,
    ResourceQuota,
    VolcanoJob,
)
from volcano_lab.changes import Change, Index, at_path, key_of, keys_of, path_text, value_text
from volcano_lab.changes.words import described
from volcano_lab.explain import explanation
from volcano_lab.framework import SchedulerConfiguration, action_names
from volcano_lab.manifests import OPERATORS, ManifestError, OperatorObject, job_of, with_defaults
from volcano_lab.manifests.loader import place_key
from volcano_lab.manifests.operators import SUSPENDED
from volcano_lab.manifests.operators.model import at, paths_to
from volcano_lab.manifests.schema import unstructure
from volcano_lab.messages import Message
from volcano_lab.trace.plain import grouped

Objects = Sequence[KubernetesObject]
Numbers = dict[str, Any]
"""The numbers of a cause."""
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
"""The field of an affinity that a cycle keeps to."""
STEPS = {"cpu": ("100m", "1"), **dict.fromkeys(("memory", "ephemeral-storage"), ("64Mi", "1Gi"))}
"""By how much amounts are turned: small ones, whole ones of two or more; anything else by one."""
OWNERS = {kind.kind.lower() for kind in OPERATORS}
"""Kinds of operators, as a change names them."""
ENDED = 4
"""The most pods, jobs or volumes of which each is tried alone."""


class Rank:
    """What a change costs: from fields without use to nodes that are bought, less of the job than
    its author wrote, and waiting.
    """

    HARMLESS, SWITCH, QUEUE, JOB, OTHERS, REQUEST, NODES, LESS, WAIT = range(9)


@define(slots=True, frozen=True)
class Option:
    """Changes of one kind: `at(i)` is one of `steps`, of which about the `first` is needed.
    Those of one `kind` are alternatives, shown on one line.
    """

    at: Callable[[int], Change]
    rank: int = Rank.QUEUE
    steps: int = 1
    first: int = 1
    kind: str = ""

    @property
    def most(self) -> Change:
        """The change at its last step."""
        return self.at(self.steps)


def smallest(turns: Callable[[int], bool], steps: int, first: int = 1, near: int = 1) -> int | None:
    """The fewest steps that turn the answer, or at most `near` minus one more, where more steps
    never turn it back; None where none does. `first` is tried before all others; what the most do
    not help is given up at once.

    >>> smallest(lambda step: step >= 11, 100), smallest(lambda step: False, 100), smallest(
    ...     lambda step: step >= 7, 9, 7), smallest(lambda step: step >= 50, 500, 80, near=16)
    (11, None, 7, 50)
    """
    low, high = 0, first
    if not turns(first):
        if first == steps or not turns(steps):
            return None
        low, high = first, min(2 * first, steps)
        while not turns(high):
            low, high = high, min(2 * high, steps)
    middle = (low + high) // 2 if low or near > 1 else high - 1  # by sums it often just is enough
    while high - low > near:
        low, high = (low, middle) if turns(middle) else (middle, high)
        middle = (low + high) // 2
    return high


def once(*settings: str, removals: tuple[str, ...] = (), rank: int = Rank.QUEUE,
         kind: str = "") -> Option:
    """An option of one change."""
    change = Change(settings, removals=removals)
    return Option(lambda _: change, rank, kind=kind)


def setting(target: str, *steps: str, to: Any) -> str:
    """A setting of a field.

    >>> setting("queue/a", "capability", "nvidia.com/gpu", to="4")
    'queue/a.capability[nvidia.com/gpu]=4'
    """
    return f"{path_text(target, *steps)}={value_text(to)}"


def label_set(node: str, label: str, value: str) -> str:
    """A setting of a node's label."""
    return setting(f"node/{node}", "metadata", "labels", label, to=value)


def step_of(resource: str, amount: Any = 0) -> Any:
    """The step in which an amount is turned: whole CPUs and gibibytes, unless it is finer."""
    page = resource.partition("hugepages-")[2] or "1"
    small, large = (quantity.parse(text) for text in STEPS.get(resource, (page, page)))
    fine = amount % large and (resource == "cpu" or amount < 16 * large)
    return large if amount >= 2 * large and not fine else small


def steps_between(resource: str, before: Any, amount: float, step: Any) -> int:
    """How many steps lie between a quantity and an amount in internal units, at least one."""
    wanted = float(explanation.in_quantity(resource, amount))
    return max(ceil(round(abs(wanted - float(before)) / float(step), 6)), 1)


def text_of(resource: str, number: Any, like: str = "") -> str:
    """A quantity; whole mebibytes as such, anything else as what it is `like`.

    >>> text_of("memory", 2**34, "64e9"), text_of("memory", 10**9, "64e9"), text_of("cpu", 2, "1e1")
    ('16Gi', '1e9', '2')
    """
    whole = number % 2**20 == 0 and resource.startswith((*STEPS, "hugepages")[1:])
    return quantity.to_text(number, "BinarySI" if whole else quantity.style_of(like or "0"))


NO_TEMPLATE = ("Deployment", "Pod", "PodGroup")
"""Kinds of which no changed manifest creates other pods of the same job."""
DECIDE_CREATION = re.compile("(resourcequota|limitrange|priorityclass|persistentvolume(claim)?)/")
"""Objects by which the API server decides whether pods are created, or for which volumes are."""


class World:
    """The objects and the configuration that are changed, found by name; `called` is how a job (by
    its uid) is called.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> world = World(Cluster().node("n1", cpu=4).job("a", cpu=1).objects(), load_conf())
    >>> world.job("default/a"), [*world.nodes]
    ('job/default/a', ['n1'])
    """

    def __init__(self, objects: Objects, conf: SchedulerConfiguration,
                 called: Callable[[str], str] = str):
        self.objects, self.conf, self.called = objects, conf, called
        self.given: Objects = getattr(objects, "given", objects)  # before controllers see them
        self.actions = [name for name in (conf.refused or conf).actions if name in action_names()]
        self.queues = {obj.name: obj for obj in objects if isinstance(obj, Queue)}
        self.groups = {obj.key: obj for obj in objects if isinstance(obj, PodGroup)}
        self.nodes = {obj.name: obj for obj in objects if isinstance(obj, Node)}
        self.pods = grouped((job_of(obj), obj) for obj in objects if isinstance(obj, Pod))

    @cached_property
    def index(self) -> Index:
        return Index(self.objects)

    @cached_property
    def _operators(self) -> dict[tuple[str, str], OperatorObject]:
        return {(obj.kind, "/".join(place_key(obj)[1:])): obj
                for obj in self.given if isinstance(obj, OperatorObject)}

    @cached_property
    def _shared(self) -> Counter[str]:
        return Counter(key for obj in self.groups.values() for key in set(keys_of(obj)))

    @cached_property
    def _without_pods(self) -> set[str]:
        """The owners whose pods a ResourceQuota, or a LimitRange, keeps from being created."""
        return {key for key, said in getattr(self.objects, "not_created", {}).items()
                for each in said if isinstance(each, Message) and each.facts.get("quota")}

    def job(self, uid: str) -> str:
        """How a change names a job; by its PodGroup where its owner has several."""
        key = key_of(self.groups[uid])
        return key if self._shared[key.removeprefix("job/")] == 1 else f"job/{uid}"

    def owner(self, uid: str, deleted: bool = True) -> str:
        """What is `deleted` so that a job is gone: its Job, or the object of an operator; where
        another owner would create the PodGroup again, it has none, or one that is suspended and is
        to be resumed, or has its pods in another PodGroup, this.
        """
        own = self.creators(uid)
        kept = any(at(obj.spec, path) == value for obj in own for path, value in SUSPENDED) or (
            uid not in self.pods and any(self._shared[obj.key] > 1 for obj in own))
        if own and deleted and not kept:
            return f"{own[0].kind.lower()}/{own[0].key}"
        kinds = {owner.kind for owner in self.groups[uid].metadata.owner_references}
        return self.job(uid) if "Job" in kinds else f"podgroup/{uid}"

    def ended(self, change: Change) -> Change:
        """What is removed ends by itself: a PodGroup stays, with pods that have succeeded, where no
        Job of Volcano or object of an operator deletes it. What a ResourceQuota counts is given
        back for pods that are gone only.
        """
        if any(isinstance(obj, ResourceQuota) for obj in self.given):
            return change
        stays = {name: uid for uid, group in self.groups.items() for name in (
            f"podgroup/{uid}", self.job(uid)) if not self.creators(uid) and all(
                owner.api_version != VolcanoJob.api_versions[0]
                for owner in group.metadata.owner_references)}
        over = [f"pod/{pod.key}.status.phase=Succeeded" for name in change.removals
                if name in stays for pod in self.pods.get(stays[name], ())]
        return Change((*change.settings, *over), tuple(
            name for name in change.removals if name not in stays), change.added)

    def own(self, job: JobInfo) -> set[str]:
        """The objects of a job, and its queue, as a change names them up to a dot."""
        keys = map(key_of, (*self.creators(job.uid), *self.pods.get(job.uid, ())))
        return {each.partition(".")[0] for each in (
            self.job(job.uid), f"podgroup/{job.uid}", f"queue/{job.queue}", *keys)}

    def waiting(self, uid: str) -> list[Pod]:
        """A job's pods that have no node."""
        return [pod for pod in self.pods.get(uid, ()) if not pod.spec.node_name]

    def nodes_called(self, names: Iterable[str]) -> dict[str, Node]:
        """Those of these nodes that are there: a cause may name some that a change has brought."""
        return {name: self.nodes[name] for name in names if name in self.nodes}

    def line(self, queue: str) -> list[str]:
        """A queue that is there, and those above it."""
        names: list[str] = []
        while queue in self.queues and queue not in names:
            names.append(queue)
            queue = self.queues[queue].spec.parent or ROOT_QUEUE
        return names

    def creators(self, uid: str) -> list[OperatorObject]:
        """The manifests of which operators create a job's PodGroup."""
        space = uid.partition("/")[0]
        owners = [(ref.kind, f"{space}/{ref.name}")
                  for ref in self.groups[uid].metadata.owner_references]
        return [self._operators[owner] for owner in owners if owner in self._operators]

    def written(self, uid: str, name: str, value: Any) -> list[str]:
        """The fields of this name and value in the manifests from which a job's pods are created,
        or else, also where pods are manifests themselves, in all of these that have no node.
        """
        space, _, owner = self.called(uid).partition("/")
        there = {obj.key for obj in self.given if isinstance(obj, Pod)}.intersection(
            pod.key for pod in self.waiting(uid))
        own = [path for obj in self.given if obj.kind not in NO_TEMPLATE and not there
               and place_key(obj)[1:] == (space, owner)
               for path in paths_to(unstructure(obj), name, value, key_of(obj))]
        pods = [[*paths_to(unstructure(pod.spec), name, value, self.job(uid))]
                for pod in self.waiting(uid)]
        paths = own or (pods[0] if pods and all(each == pods[0] for each in pods) else [])
        return [path_text(path, name) for path in paths]

    def of_role(self, uid: str, role: str) -> str:
        """The field with the minimum of a role: of its task in a Volcano Job, or of the PodGroup.
        """
        tasks = [f"{key_of(obj)}.spec.tasks.{at}.minAvailable" for obj in self.given
                 if obj.kind == "Job" and key_of(obj) == key_of(self.groups[uid])
                 for at, task in enumerate(at_path(obj, ["spec", "tasks"]) or ())
                 if task["name"] == role]
        return next(iter(tasks), path_text(self.job(uid), "minTaskMember", role))

    def described(self, change: Change, ends: Collection[str] = ()) -> Message:
        """A change as a message; of what is removed, `ends` by themselves. Raises `ManifestError`.
        """
        with suppress(ManifestError):  # where another field is not one of a manifest
            if change.of_manifest:
                return described(change, self.given, self.conf, self.called, ends=ends)
        if _of_owner(change) or any(text.startswith("limitrange/") for text in change.settings):
            unread = [obj for obj in self.given if isinstance(obj, OperatorObject | LimitRange)]
            return described(change, [*self.objects, *unread], self.conf, self.called, ends=ends)
        return described(change, self.objects, self.conf, self.called, self.index, ends)

    def applied(self, change: Change) -> tuple[Any, SchedulerConfiguration]:
        """The objects and the configuration with a change; one of an owner, of a pod that has one,
        or that lets a ResourceQuota accept more, is one of the manifests, so that pods are created,
        also those of which some are there before their job is admitted. Raises `ManifestError`.
        """
        owned = any(self.objects[place].metadata.owner_references for name in change.removals
                    for place in self.index.names.get(("pod", name.removeprefix("pod/")), ()))
        if _of_owner(change) or owned or (change.removals and (
                self._without_pods or "resourcequota" in self.conf.plugin_names())) or (
                change.of_manifest or any(map(DECIDE_CREATION.match, change.settings))):
            objects, conf = change.given(self.given, self.conf)
            there = {obj.key for obj in self.objects if isinstance(obj, Pod)}
            again = any(".state.phase=" in text for text in change.settings)
            later = [pods for key, pods in objects.later.items() if again or any(
                pod.key in there for pod in pods) or key in self._without_pods]
            return with_defaults([*objects, *chain(*later)]) if later else objects, conf
        return change.applied(self.objects, self.conf, self.index)


def _of_owner(change: Change) -> bool:
    """Whether a change is one of an object that an operator knows."""
    return any(text.partition("/")[0] in OWNERS for text in (*change.settings, *change.removals))


def in_queues(world: World, jobs: Sequence[str], queues: Iterable[str]) -> Iterator[Option]:
    """That jobs be in another queue."""
    for queue in queues:
        moves = [f"{world.job(uid)}.queue={queue}" for uid in jobs]
        yield once(*moves, rank=Rank.OTHERS, kind="queue")


def several(settings: list[str], rank: int = Rank.QUEUE) -> Option:
    """As many of some settings as it takes, in this order."""
    return Option(lambda count: Change(tuple(settings[:count])), rank, len(settings))


def stages(changes: Iterable[Change], rank: int = Rank.QUEUE) -> Iterator[Option]:
    """One of some changes, the least first, without those that change nothing."""
    found = [change for change in dict.fromkeys(changes) if change != Change()]
    if found:
        yield Option(lambda step: found[step - 1], rank, len(found))


def quota_raised(quota: str, *levels: Iterable[tuple[str, str]]) -> Iterator[Option]:
    """A ResourceQuota that allows more, at one of some levels: resources with their quantities."""
    yield from stages(Change(tuple(
        f"resourcequota/{quota}.status.hard[{name}]={text}" for name, text in level))
        for level in levels)


def gone(world: World, jobs: Iterable[str], rank: int = Rank.OTHERS) -> Iterator[Option]:
    """That jobs be deleted, with their pods, in this order."""
    names = tuple(world.owner(uid) for uid in jobs if uid in world.groups)
    yield Option(lambda count: Change(removals=names[:count]), rank, len(names))
