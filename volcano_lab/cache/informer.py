"""Between the API server and the cache: the latest version of each object.

As in client-go's reflector and store, which Volcano's cache uses, an object's changes arrive in
order, and none older than the latest is passed on. A repeated event is passed on, as in a periodic
resync. Differs on purpose: an object that a retry reads from the API server becomes the latest, so
that older events in flight are dropped.

Volcano: k8s.io/client-go/tools/cache
"""

from volcano_lab.api.objects import KubernetesObject, Pod
from volcano_lab.cache.api_server import DELETED, ApiServer, WatchEvent
from volcano_lab.cache.cache import Cache

Place = tuple[str, str]


DELETIONS_REMEMBERED = 1000
"""How many deletions are kept, so that no earlier event adds the object again."""


class Informer:
    """Passes events on to a cache.

    `known` has the latest objects by (kind, key); `deleted` the versions of the latest deletions.

    >>> from volcano_lab.api.objects import ObjectMeta, Queue
    >>> from volcano_lab.cache import Cache
    >>> server, informer = ApiServer(), Informer(Cache())
    >>> server.watchers.append(informer.handle)
    >>> queue = server.create(Queue(ObjectMeta("team")))
    >>> list(informer.cache.queues)
    ['team']
    """

    def __init__(self, cache: Cache):
        self.cache = cache
        self.known: dict[Place, KubernetesObject] = {}
        self.deleted: dict[Place, int] = {}

    def list(self, server: ApiServer) -> None:
        """List every existing object: a scheduler's first step."""
        for obj in server.everything():
            self.handle(WatchEvent("ADDED", obj))

    def handle(self, event: WatchEvent) -> bool:
        """Pass an event on unless a newer one is known; return whether it was passed on."""
        obj = event.object
        place, version = (obj.kind, obj.key), int(obj.metadata.resource_version)
        known = self.known.get(place)
        latest = int(known.metadata.resource_version) if known else self.deleted.get(place, 0)
        if version < latest:
            return False
        if event.type == DELETED:
            self._forget(place, version)
            self.cache.delete(obj)
        else:
            self.deleted.pop(place, None)
            self.known[place] = obj
            self.cache.add(obj)
        return True

    def refresh(self, kind: str, key: str, obj: Pod | None, version: int) -> None:
        """Apply the server's answer: an object or, at a `version` of the server, that there is
        none.
        """
        known = self._forget((kind, key), version)
        if obj is not None:
            self.deleted.pop((kind, key))
            self.known[kind, key] = obj
            self.cache.replace_pod(obj)
        elif known is not None:
            self.cache.delete(known)

    def _forget(self, place: Place, version: int) -> KubernetesObject | None:
        """Record a deletion; return the latest object."""
        self.deleted.pop(place, None)
        self.deleted[place] = version
        if len(self.deleted) > DELETIONS_REMEMBERED:
            del self.deleted[next(iter(self.deleted))]
        return self.known.pop(place, None)
