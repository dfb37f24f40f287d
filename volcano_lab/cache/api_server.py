"""A simulated API server: it stores the objects with their versions, notifies watchers, and binds
pods.

It replaces the Kubernetes API server as far as a scheduler uses it: creation, update with a check
of the version, deletion with a grace period for running pods, `pods/binding`. Objects are never
changed in place: each update is a new object, so that a reference to one is a snapshot. Times are
in whole seconds, as there.

Volcano: none
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
    """A request was refused; `reason` is one of the Kubernetes API's."""

    def __init__(self, reason: str, message: str):
        super().__init__(message)
        self.reason = reason


@attrs.define(slots=True, frozen=True)
class WatchEvent:
    """A watcher's event: ADDED, MODIFIED or DELETED, and the object at that time."""

    type: str
    object: KubernetesObject


class ApiServer:
    """The objects by kind and key ("namespace/name").

    `clock` returns the time in seconds since the epoch, `watchers` are called with every change.

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
        """Return an object. Raises `ApiError` NotFound where there is none."""
        found = self.objects.get(kind, {}).get(key)
        if found is None:
            raise ApiError(NOT_FOUND, f"{kind} {key} not found")
        return found

    def find(self, kind: str, key: str) -> Any:
        """Return an object, or None."""
        return self.objects.get(kind, {}).get(key)

    def list(self, kind: str) -> list[Any]:
        """Return all objects of a kind, in the order of their creation."""
        return list(self.objects.get(kind, {}).values())

    def everything(self) -> Iterable[KubernetesObject]:
        return (obj for by_key in self.objects.values() for obj in by_key.values())

    # -- writing ---------------------------------------------------------------------------------

    def create(self, obj: KubernetesObject) -> Any:
        """Create an object with a uid (its own, if that is not in use) and its time of creation."""
        by_key = self.objects.setdefault(obj.kind, {})
        if obj.key in by_key:
            raise ApiError(ALREADY_EXISTS, f"{obj.kind} {obj.key} already exists")
        self._created += 1
        given, uid = obj.metadata.creation_timestamp, f"{obj.kind.lower()}-{self._created}"
        return self._store(ADDED, obj.changed(metadata={
            "uid": obj.metadata.uid or uid,
            "creation_timestamp": self.now() if given is None else given}))

    def update(self, obj: KubernetesObject) -> Any:
        """Replace an object. Raises `ApiError` Conflict where it has changed since the version of
        `obj`.
        """
        known = self.get(obj.kind, obj.key)
        if obj.metadata.resource_version not in ("", known.metadata.resource_version):
            raise ApiError(
                CONFLICT,
                f"{obj.kind} {obj.key} has been modified; changes apply to its latest version only")
        return self._store(MODIFIED, obj)

    def delete(self, kind: str, key: str) -> Any:
        """Delete an object. A pod with a node is only marked: its kubelet terminates it, then
        `remove` is called.
        """
        known = self.get(kind, key)
        if isinstance(known, Pod) and known.spec.node_name and known.status.phase in ("Pending",
                                                                                      "Running"):
            if known.metadata.deletion_timestamp is not None:
                return known
            deleting = known.changed(metadata={"deletion_timestamp": self.now()})
            return self._store(MODIFIED, deleting)
        return self.remove(kind, key)

    def remove(self, kind: str, key: str) -> Any:
        """Remove an object at once."""
        known = self.get(kind, key)
        del self.objects[kind][key]
        return self._notify(DELETED, self._with_version(known))

    def bind(self, key: str, uid: str, node: str) -> Pod:
        """Assign a pod to a node, permanently. Raises `ApiError` where it is deleted, being
        deleted, gated or already assigned.
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
        bound: Pod = self._store(MODIFIED, pod.changed(spec={"node_name": node}))
        return bound

    def now(self) -> float:
        """Return the time in whole seconds, as in the API."""
        return float(math.floor(self.clock()))

    def _store(self, type_: str, obj: KubernetesObject) -> Any:
        obj = self._with_version(obj)
        self.objects[obj.kind][obj.key] = obj
        return self._notify(type_, obj)

    def _with_version(self, obj: KubernetesObject) -> Any:
        self.version += 1
        return obj.changed(metadata={"resource_version": str(self.version)})

    def _notify(self, type_: str, obj: KubernetesObject) -> Any:
        for watcher in list(self.watchers):
            watcher(WatchEvent(type_, obj))
        return obj


def with_condition(pod: Pod, condition: PodCondition, now: float) -> Pod:
    """Return the pod with a condition, replacing an earlier one of its type; the same pod where
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
