"""The scheduler's cache of the cluster: events in, snapshots and bindings out."""

from volcano_lab.cache.cache import Cache, CacheError

__all__ = ["Cache", "CacheError"]
