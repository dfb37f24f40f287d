"""A simulated API server: it keeps the objects, numbers their versions, tells watchers, and binds
pods.

Answers to no Go file of Volcano's; it stands for the Kubernetes API server as far as a scheduler
sees it: creation, update with a check of the version, deletion with grace for pods that run,
`pods/binding`. Objects are never changed in place: each update is another object, so that whoever
holds one holds a snapshot. Times are in whole seconds, as there.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from volcano_lab.api.objects import KubernetesObject, Pod, PodCondition

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
NOT_FOUND, CONFLICT, ALREADY_EXISTS = "NotFound", "Conflict", "AlreadyExists"
UNAVAILABLE, TIMEOUT, INVALID = "ServiceUnavailable", "Timeout", "Invalid"


class ApiError(Exception):
    """A request was refused; `reason` is one of the words of the Kubernetes API."""

    def __init__(self, reason: str, message: str):
        super().__init__(message)
        self.reason = reason


@attrs.define(slots=True, frozen=True)
class WatchEvent:
    """What a watcher hears: ADDED, MODIFIED or DELETED, and the object as it is (or was) then."""

    type: str
    object: KubernetesObject


class ApiServer:
    """The objects by kind and key ("namespace/name").

    `clock` gives the time in seconds since the epoch, `watchers` are called with every change.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> server = ApiServer()
    >>> pod = server.create(Pod(ObjectMeta("a", "default")))
    >>> server.bind("default/a", pod.metadata.uid, "n1").spec.node_name
    'n1'
    >>> server.bind("default/a", pod.metadata.uid, "n2")
    Traceback (most recent call last):
    ...
    volcano_lab.cache.api_server.ApiError: pod default/a is already assigned to node "n1"
    """

    def __init__(self, clock: Callable[[], float] = lambda: 0.0):
        self.clock = clock
        self.objects: dict[str, dict[str, KubernetesObject]] = {}
        self.version = 0
        self.watchers: list[Callable[[WatchEvent], None]] = []
        self._created = 0

    # -- reading ---------------------------------------------------------------------------------

    def get(self, kind: str, key: str) -> Any:
        """An object; `ApiError` NotFound where there is none."""
        found = self.objects.get(kind, {}).get(key)
        if found is None:
            raise ApiError(NOT_FOUND, f"{kind} {key} not found")
        return found

    def find(self, kind: str, key: str) -> Any:
        """An object, or None."""
        return self.objects.get(kind, {}).get(key)

    def list(self, kind: str) -> list[Any]:
        """All objects of a kind, in the order of their creation."""
        return list(self.objects.get(kind, {}).values())

    def everything(self) -> Iterable[KubernetesObject]:
        return (obj for by_key in self.objects.values() for obj in by_key.values())

    # -- writing ---------------------------------------------------------------------------------

    def create(self, obj: KubernetesObject) -> Any:
        """Take in a new object with a uid (its own, if it has one that is not taken) and the time
        of its creation.
        """
        by_key = self.objects.setdefault(obj.kind, {})
        if obj.key in by_key:
            raise ApiError(ALREADY_EXISTS, f"{obj.kind} {obj.key} already exists")
        self._created += 1
        given, uid = obj.metadata.creation_timestamp, f"{obj.kind.lower()}-{self._created}"
        return self._store(ADDED, obj.changed(metadata={
            "uid": obj.metadata.uid or uid,
            "creation_timestamp": self.now() if given is None else given}))

    def update(self, obj: KubernetesObject) -> Any:
        """Replace an object. `ApiError` Conflict where it was changed since the version that `obj`
        was made from.
        """
        known = self.get(obj.kind, obj.key)
        if obj.metadata.resource_version not in ("", known.metadata.resource_version):
            raise ApiError(
                CONFLICT,
                f"{obj.kind} {obj.key} has been modified; changes apply to its latest version only")
        return self._store(MODIFIED, obj)

    def delete(self, kind: str, key: str) -> Any:
        """Delete an object. A pod that has a node is only marked: its kubelet ends it, then
        `remove` is called.
        """
        known = self.get(kind, key)
        if isinstance(known, Pod) and known.spec.node_name and known.status.phase in ("Pending",
                                                                                      "Running"):
            if known.metadata.deletion_timestamp is not None:
                return known
            going = known.changed(metadata={"deletion_timestamp": self.now()})
            return self._store(MODIFIED, going)
        return self.remove(kind, key)

    def remove(self, kind: str, key: str) -> Any:
        """Take an object away at once."""
        known = self.get(kind, key)
        del self.objects[kind][key]
        return self._tell(DELETED, self._with_version(known))

    def bind(self, key: str, uid: str, node: str) -> Pod:
        """Assign a pod to a node, once and for all. `ApiError` where it is gone, going, gated or
        assigned already.
        """
        pod = self.get("Pod", key)
        if pod.metadata.uid != uid:
            raise ApiError(CONFLICT, f"pod {key} has uid {pod.metadata.uid}, not {uid}")
        if pod.metadata.deletion_timestamp is not None:
            raise ApiError(CONFLICT, f"pod {key} is being deleted, cannot be assigned to a host")
        if pod.spec.node_name:
            raise ApiError(CONFLICT,
                           f'pod {key} is already assigned to node "{pod.spec.node_name}"')
        if pod.spec.scheduling_gates:
            raise ApiError(INVALID, f"pod {key} has non-empty .spec.schedulingGates")
        pod = with_condition(pod, PodCondition("PodScheduled", "True"), self.now())
        return self._store(MODIFIED, pod.changed(spec={"node_name": node}))

    def now(self) -> float:
        """The time in whole seconds, as the API writes it."""
        return float(math.floor(self.clock()))

    def _store(self, type_: str, obj: KubernetesObject) -> Any:
        obj = self._with_version(obj)
        self.objects[obj.kind][obj.key] = obj
        return self._tell(type_, obj)

    def _with_version(self, obj: KubernetesObject) -> Any:
        self.version += 1
        return obj.changed(metadata={"resource_version": str(self.version)})

    def _tell(self, type_: str, obj: KubernetesObject) -> Any:
        for watcher in list(self.watchers):
            watcher(WatchEvent(type_, obj))
        return obj


def with_condition(pod: Pod, condition: PodCondition, now: float) -> Pod:
    """The pod with a condition in the place of an earlier one of its type; the same pod where
    nothing changes.
    """
    old = next((c for c in pod.status.conditions if c.type == condition.type), None)
    if old is not None and (old.status, old.reason,
                            old.message) == (condition.status, condition.reason, condition.message):
        return pod
    since = old.last_transition_time if old is not None and old.status == condition.status else now
    condition = condition.evolve(last_transition_time=since)
    conditions = [condition if c is old else c for c in pod.status.conditions]
    if old is None:
        conditions.append(condition)
    return pod.changed(status={"conditions": conditions})
