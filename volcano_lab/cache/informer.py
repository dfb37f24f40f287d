"""Between the API server and the cache: what has been heard last of each object.

Answers to client-go's reflector and store, on which Volcano's cache relies: an object's changes arrive in order, and
none that is older than what is known already is passed on. A repeated event is passed on, as a periodic resync does.
Differs on purpose: what a retry reads from the API server counts as heard, so that older events on their way are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.cache.api_server import DELETED, ApiServer, WatchEvent

if TYPE_CHECKING:
    from volcano_lab.cache.cache import Cache


class Informer:
    """Tells a cache of objects; `known` has them by (kind, key), `versions` the version last heard of, deletions too.

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
        self.known: dict[tuple[str, str], KubernetesObject] = {}
        self.versions: dict[tuple[str, str], int] = {}

    def list(self, server: ApiServer) -> None:
        """Hear of everything that there is: what a scheduler does first."""
        for obj in server.everything():
            self.hear(WatchEvent("ADDED", obj))

    def hear(self, event: WatchEvent) -> bool:
        """Pass an event on, unless what is known is newer; whether it was passed on."""
        obj = event.object
        place, version = (obj.kind, obj.key), int(obj.metadata.resource_version)
        if version < self.versions.get(place, 0):
            return False
        self.versions[place] = version
        if event.type == DELETED:
            self.known.pop(place, None)
            self.cache.delete(obj)
        else:
            self.known[place] = obj
            self.cache.add(obj)
        return True

    def refresh(self, kind: str, key: str, obj: KubernetesObject | None, version: int) -> None:
        """Take over what the server said when it was asked, at a version of its own: an object, or that there is none."""
        place = (kind, key)
        self.versions[place] = version if obj is None else int(obj.metadata.resource_version)
        known = self.known.pop(place, None)
        if obj is not None:
            self.known[place] = obj
            self.cache.replace_pod(obj)
        elif known is not None:
            self.cache.delete(known)
