"""A cluster's life: what changes before each cycle, and what one scheduler decides in each.

One cache lives through all cycles: what a cycle decided, and nobody has answered yet, counts in
the next. A new configuration begins with new actions, which keep no argument of the one before.
Left out: time, faults and kubelets; what happens to a pod is what the changes say.

Volcano: pkg/scheduler/scheduler.go
"""

from collections.abc import Iterable, Iterator
from typing import Any

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.api.status import IllegalTransition
from volcano_lab.cache import Cache
from volcano_lab.framework import Observer, SchedulerConfiguration, load_conf
from volcano_lab.manifests.files import values
from volcano_lab.manifests.loader import ManifestError, from_dict, place_key
from volcano_lab.messages import OneSentence, friendly_errors, gettext, mark, one_line
from volcano_lab.scheduler import Scheduler
from volcano_lab.trace.views.cycle import Cycle

GONE = {"add": False, "update": False, "delete": True,
        "ADDED": False, "MODIFIED": False, "DELETED": True}
"""What happened to an object, in the words of recorded lives and of watch events: has it gone?"""


class LifeError(OneSentence, ValueError):
    """A change that cannot be understood, or that no object takes."""


@friendly_errors
class Life:
    """A cluster, and one scheduler that decides about it, cycle after cycle.

    `objects` has what exists by now, by kind, namespace and name; `scheduler` decides.

    Args:
        objects: What exists at the beginning.
        conf: The scheduler's configuration or its text; without, Volcano's default.

    Raises:
        ConfError: The configuration is refused.
        LifeError: The cache does not take one of the objects.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=4).job("a", pods=1, cpu=3).job("b", pods=1, cpu=3)
    >>> life = Life(cluster.objects(), "actions: allocate")
    >>> [life.decide().committed for cycle in range(2)]
    [[['allocate', 'default/a-0', 'n1']], []]
    >>> pod = {"apiVersion": "v1", "kind": "Pod",
    ...        "metadata": {"name": "a-0", "namespace": "default"}}
    >>> life.decide([{"op": "delete", "object": pod}]).committed
    [['allocate', 'default/b-0', 'n1']]

    Volcano: pkg/scheduler/scheduler.go
    """

    def __init__(self, objects: Iterable[KubernetesObject] = (),
                 conf: SchedulerConfiguration | str | None = None):
        self.conf, self.objects = conf, {}
        self.scheduler = Scheduler(Cache(), conf)
        for obj in objects:
            self._hear(obj, gone=False)

    def decide(self, changes: Iterable[dict[str, Any]] = (), conf: str | None = None,
               observer: Observer | None = None, now: float | None = None) -> Cycle:
        """Take in what has changed, and decide the next cycle.

        Args:
            changes: {"op": "add", "update" or "delete", "object": a manifest} each, or the watch
                events of `kubectl`, {"type": "ADDED", "MODIFIED" or "DELETED", "object": ...}.
            conf: A configuration from this cycle on.
            observer: Sees the cycle.
            now: Seconds since the epoch; without, the clock's.

        Raises:
            LifeError: A change does not fit.
            ConfError: The configuration is refused.

        >>> Life().decide([{"op": "make", "object": {}}])
        Traceback (most recent call last):
        ...
        volcano_lab.simulation.life.LifeError: change 1 of cycle 1: op is "make";
        allowed is add, update, delete

        Volcano: pkg/scheduler/scheduler.go
        """
        for number, change in enumerate(changes, 1):
            try:
                self._hear(*_read(change))
            except (LifeError, ManifestError) as error:
                place = gettext("change {number} of cycle {cycle}", number=number,
                                cycle=self.scheduler.cycles + 1)
                raise LifeError(one_line(f"{place}{mark(': ')}{error}")) from None
        if conf is not None and conf != self.conf:
            self.scheduler.conf, self.conf = load_conf(conf), conf
            self.scheduler.actions.clear()
        return self.scheduler.cycle(observer, now)

    def _hear(self, obj: KubernetesObject, gone: bool) -> None:
        cache, place = self.scheduler.cache, place_key(obj)
        try:
            (cache.delete if gone else cache.add)(self.objects.get(place, obj) if gone else obj)
        except (TypeError, IllegalTransition) as error:
            raise LifeError(f"{obj.kind} {obj.key}: {error}") from None
        self.objects.pop(place, None)
        if not gone:
            self.objects[place] = obj


def _read(change: Any) -> tuple[KubernetesObject, bool]:
    """The object that a change is about, and whether it has gone."""
    if not isinstance(change, dict) or "object" not in change:
        raise LifeError("it is no mapping with op and object")
    field, words = ("type", list(GONE)[3:]) if "type" in change else ("op", list(GONE)[:3])
    if change.get(field) not in words:
        raise LifeError('{field} is "{found}"; allowed is {words:,}', field=field,
                        found=change.get(field), words=[*words])
    return from_dict(change["object"]), GONE[change[field]]


def recorded_changes(text: str) -> Iterator[list[dict[str, Any]]]:
    """Return the changes before each cycle of `kubectl get -w -o json` or `yaml`.

    A recording tells no time: an object that changes once more begins the next cycle, and bookmarks
    are left out. Without `--output-watch-events` it holds bare objects: one whose grace period is
    0 has gone. Raises `Unreadable` where the text is neither JSON nor YAML.

    >>> text = '{"type": "ADDED", "object": {"kind": "Node", "metadata": {"name": "n1"}}} '
    >>> [len(changes) for changes in recorded_changes(text * 2)]
    [1, 1]

    Volcano: none
    """
    changes, seen = [], set()
    for event in _events(values(text)):
        if isinstance(event, dict) and event.get("type") == "BOOKMARK":
            continue
        place = _place(event)
        if place in seen:
            yield changes
            changes, seen = [], set()
        changes.append(event)
        seen.add(place)
    if changes:
        yield changes


def _events(recorded: Iterable[Any]) -> Iterator[Any]:
    """What was recorded, as watch events: lists are taken apart, and bare objects have changed."""
    for value in recorded:
        if not isinstance(value, dict) or "object" in value or "kind" not in value:
            yield value
        elif isinstance(value.get("items"), list):
            yield from _events(value["items"])
        else:
            meta = value.get("metadata")
            gone = isinstance(meta, dict) and meta.get("deletionGracePeriodSeconds") == 0
            yield {"type": "DELETED" if gone else "MODIFIED", "object": value}


def _place(event: Any) -> str:
    """What tells an event's object from others; "" where it has none."""
    try:
        meta = event["object"]["metadata"]
        return repr((event["object"].get("kind"), meta.get("namespace"), meta["name"]))
    except (KeyError, TypeError, AttributeError):
        return ""
