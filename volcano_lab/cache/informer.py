"""Between the API server and the cache: what has been heard last of each object.

As in client-go's reflector and store, on which Volcano's cache relies, an object's changes arrive
in order, and none that is older than what is known already is passed on. A repeated event is
passed on, as a periodic resync does. Differs on purpose: what a retry reads from the API server
counts as heard, so that older events on their way are dropped.

Volcano: k8s.io/client-go/tools/cache
"""

from volcano_lab.api.objects import KubernetesObject, Pod
from volcano_lab.cache.api_server import DELETED, ApiServer, WatchEvent
from volcano_lab.cache.cache import Cache

Place = tuple[str, str]


DELETIONS_REMEMBERED = 1000
"""How many deletions are remembered, so that no event from before one brings the object back."""


class Informer:
    """Passes events on to a cache.

    `known` has the objects as last heard of, by (kind, key); `gone` the version at which the latest
    deletions were heard of.

    >>> from volcano_lab.api.objects import ObjectMeta, Queue
    >>> from volcano_lab.cache import Cache
    >>> server, informer = ApiServer(), Informer(Cache())
    >>> server.watchers.append(informer.hear)
    >>> queue = server.create(Queue(ObjectMeta("team")))
    >>> list(informer.cache.queues)
    ['team']
    """

    def __init__(self, cache: Cache):
        self.cache = cache
        self.known: dict[Place, KubernetesObject] = {}
        self.gone: dict[Place, int] = {}

    def list(self, server: ApiServer) -> None:
        """Hear of every object that exists: what a scheduler does first."""
        for obj in server.everything():
            self.hear(WatchEvent("ADDED", obj))

    def hear(self, event: WatchEvent) -> bool:
        """Pass an event on unless a newer one is known; return whether it was passed on."""
        obj = event.object
        place, version = (obj.kind, obj.key), int(obj.metadata.resource_version)
        known = self.known.get(place)
        newest = self.gone.get(place, 0) if known is None else int(known.metadata.resource_version)
        if version < newest:
            return False
        if event.type == DELETED:
            self._forget(place, version)
            self.cache.delete(obj)
        else:
            self.gone.pop(place, None)
            self.known[place] = obj
            self.cache.add(obj)
        return True

    def refresh(self, kind: str, key: str, obj: Pod | None, version: int) -> None:
        """Take over what the server answered: an object or, at a `version` of the server, that
        there is none.
        """
        known = self._forget((kind, key), version)
        if obj is not None:
            self.gone.pop((kind, key))
            self.known[kind, key] = obj
            self.cache.replace_pod(obj)
        elif known is not None:
            self.cache.delete(known)

    def _forget(self, place: Place, version: int) -> KubernetesObject | None:
        """Note that an object is gone; return what was known of it."""
        self.gone.pop(place, None)
        self.gone[place] = version
        if len(self.gone) > DELETIONS_REMEMBERED:
            del self.gone[next(iter(self.gone))]
        return self.known.pop(place, None)
