"""A cluster's life: the changes before each cycle, and the decisions of one scheduler in each.

One cache lives through all cycles: decisions that are not yet confirmed count in the next cycle. A
new configuration starts with new actions, which keep no argument of the previous one. Left out:
time, faults and kubelets; pods change only as the changes specify.

Volcano: pkg/scheduler/scheduler.go
"""

from collections.abc import Iterable, Iterator
from typing import Any

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.api.status import IllegalTransition
from volcano_lab.cache import Cache
from volcano_lab.framework import Observer, SchedulerConfiguration, load_conf
from volcano_lab.manifests import document, files
from volcano_lab.manifests.loader import ManifestError, from_dict, place_key
from volcano_lab.messages import Message, OneSentence, Said, friendly_errors, mark, one_line
from volcano_lab.scheduler import Scheduler
from volcano_lab.trace.views.cycle import Cycle

DELETES = {"add": False, "update": False, "delete": True,
        "ADDED": False, "MODIFIED": False, "DELETED": True}
"""The kinds of changes in recorded lives and in watch events: do they delete the object?"""


class LifeError(OneSentence, ValueError):
    """A change that cannot be parsed, or that no object accepts."""


@friendly_errors
class Life:
    """A cluster, and one scheduler that decides about it, cycle after cycle.

    `objects` has the existing objects, by kind, namespace and name; `scheduler` decides.

    Args:
        objects: The objects at the start.
        conf: The scheduler's configuration or its text; without it, Volcano's default.

    Raises:
        ConfError: The configuration is refused.
        LifeError: The cache refuses one of the objects.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=4).job("a", pods=1, cpu=3).job("b", pods=1, cpu=3)
    >>> life = Life(cluster.objects(), "actions: allocate")
    >>> [life.decide().committed for cycle in range(2)]
    [[['allocate', 'default/a-0', 'n1']], []]
    >>> pod = {"apiVersion": "v1", "kind": "Pod",
    ...        "metadata": {"name": "a-0", "namespace": "default"}}
    >>> life.decide([{"op": "delete", "object": pod}]).committed
    [['allocate', 'default/b-0', 'n1']]
    """

    def __init__(self, objects: Iterable[KubernetesObject] = (),
                 conf: SchedulerConfiguration | str | None = None):
        self.conf = conf
        self.objects: dict[tuple[str, str, str], KubernetesObject] = {}
        self.scheduler = Scheduler(Cache(), conf)
        for obj in objects:
            self._receive(obj, deleted=False)

    def decide(self, changes: Iterable[dict[str, Any]] = (), conf: str | None = None,
               observer: Observer | None = None, now: float | None = None) -> Cycle:
        """Apply the changes, and decide the next cycle.

        Args:
            changes: {"op": "add", "update" or "delete", "object": a manifest} each, or the watch
                events of `kubectl`, {"type": "ADDED", "MODIFIED" or "DELETED", "object": ...}.
            conf: A configuration from this cycle on.
            observer: Observes the cycle.
            now: Seconds since the epoch; without it, the clock's.

        Raises:
            LifeError: A change does not fit.
            ConfError: The configuration is refused.

        >>> Life().decide([{"op": "make", "object": {}}])
        Traceback (most recent call last):
        ...
        volcano_lab.simulation.life.LifeError: change 1 of cycle 1: op is "make";
        allowed is add, update, delete
        """
        for number, change in enumerate(changes, 1):
            try:
                self._receive(*_read(change))
            except (LifeError, ManifestError) as error:
                place = str(Message("life.place", number=number, cycle=self.scheduler.cycles + 1))
                raise LifeError(one_line(f"{place}{mark(': ')}{error}")) from None
        if conf is not None and conf != self.conf:
            self.scheduler.conf, self.conf = load_conf(conf), conf
            self.scheduler.actions.clear()
        return self.scheduler.cycle(observer, now)

    def _receive(self, obj: KubernetesObject, deleted: bool) -> None:
        cache, place = self.scheduler.cache, place_key(obj)
        try:
            if deleted:
                cache.delete(self.objects.get(place, obj))
            else:
                cache.add(obj)
        except (TypeError, IllegalTransition) as error:
            raise LifeError(f"{obj.kind} {obj.key}: {error}") from None
        self.objects.pop(place, None)
        if not deleted:
            self.objects[place] = obj


def _read(change: Any) -> tuple[KubernetesObject, bool]:
    """Return the object of a change, and whether it is deleted."""
    if not isinstance(change, dict) or "object" not in change:
        raise LifeError("life.no_mapping")
    field, words = ("type", list(DELETES)[3:]) if "type" in change else ("op", list(DELETES)[:3])
    if change.get(field) not in words:
        raise LifeError("life.change", field=field, found=change.get(field), words=[*words])
    return from_dict(change["object"]), DELETES[change[field]]


def recorded_changes(text: str) -> Iterator[list[dict[str, Any]]]:
    """Return the changes before each cycle of `kubectl get -w -o json` or `yaml`.

    A recording has no times: a second change of an object begins the next cycle, and bookmarks are
    left out. Without `--output-watch-events` it holds bare objects: one whose grace period is 0 is
    deleted. Raises `Unreadable` where the text is neither JSON nor YAML.

    >>> text = '{"type": "ADDED", "object": {"kind": "Node", "metadata": {"name": "n1"}}} '
    >>> [len(changes) for changes in recorded_changes(text * 2)]
    [1, 1]
    """
    changes: list[dict[str, Any]] = []
    seen: set[Said] = set()
    for event in _events(files.values(text)):
        place = document.label_of(event.get("object"), "")
        if place in seen:
            yield changes
            changes, seen = [], set()
        changes.append(event)
        seen.add(place)
    if changes:
        yield changes


def _events(recorded: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield the recording as watch events: lists are split, and bare objects are modified."""
    for value in recorded:
        if not isinstance(value, dict) or "object" in value or "kind" not in value:
            event = value if isinstance(value, dict) else {}
            yield from [event] * (event.get("type") != "BOOKMARK")
        elif isinstance(value.get("items"), list):
            yield from _events(value["items"])
        else:
            meta = value.get("metadata")
            deleted = isinstance(meta, dict) and meta.get("deletionGracePeriodSeconds") == 0
            yield {"type": "DELETED" if deleted else "MODIFIED", "object": value}
