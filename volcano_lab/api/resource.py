"""An amount of CPU, memory and other resources, and all of Volcano's comparisons of two.

Differs on purpose: a `Resource` is an immutable value: where Go changes one in place, a new value
is returned here.

Two details decide outcomes and are easily mistaken. First, *tolerance*: some comparisons ignore a
difference below `MIN_RESOURCE` (0.1 millicore, 0.1 byte), others are strict. Second, *missing
dimensions*: a scalar resource that one side lacks counts as zero or as infinity, by an argument.
The methods and their callers:

| method | tolerance | missing | which dimensions | used by |
|---|---|---|---|---|
| `less_equal(.., ZERO)` | yes | zero | left's | \
fit on a node, overused, reclaimable, deserved met |
| `less_equal(.., INFINITY)` | yes | infinity | both | none in v1.14.0 |
| `less_equal_with_resources_name` | yes | as asked | left's, names returned | \
the reason "Insufficient cpu" |
| `less_equal_with_dimension_and_resources_name` | no | zero | the request's | \
allocatable, the admission sum of enqueue |
| `greater_partly_with_relevant_dimensions` | no | ignored | \
the request's, where right has them | capacity's reclaimable |
| `less_equal_partly_with_dimension_zero_filtered` | yes | zero | \
the request's, unless both hold none | capacity's preemptive |
| `less_partly` | no | zero | any | capacity's checks of the queue tree, task-topology |
| `min_dimension_resource(.., INFINITY)` | | infinity | left's | a capability as a limit |

Volcano: pkg/scheduler/api/resource_info.go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from volcano_lab.api import quantity
from volcano_lab.api.panics import panic

MIN_RESOURCE = 0.1
"""Smaller amounts, and smaller differences where a comparison is tolerant, count as zero."""

ZERO, INFINITY = "zero", "infinity"
"""The value of a scalar resource that one side lacks."""

CPU, MEMORY, PODS = "cpu", "memory", "pods"
MAX_FLOAT = 1.7976931348623157e308
"""Go's math.MaxFloat64: "no limit" for a capability without a CPU or memory entry."""

IGNORED_SCALARS = frozenset((PODS,))
"""Every pod requests one "pods", so comparisons by dimension skip it."""


def is_scalar_resource_name(name: str) -> bool:
    """Return whether Kubernetes treats `name` as an extended, huge page, native prefixed or volume
    resource.

    >>> [is_scalar_resource_name(name)
    ...  for name in ("nvidia.com/gpu", "hugepages-2Mi", "widgets", "requests.cpu")]
    [True, True, False, False]
    """
    if name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return "/" in name and not name.startswith("requests.")


class Resource:
    """An immutable amount: `milli_cpu` in millicores, `memory` in bytes, `scalars` by name.

    Scalars are in thousandths (one GPU is 1000.0), only "pods" counts whole pods. `scalars` is None
    or a mapping; Volcano treats "no mapping" and "an empty mapping" differently in a few places, so
    both exist.

    >>> a = Resource.from_list({"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"})
    >>> a
    Resource(cpu=500, memory=1073741824, nvidia.com/gpu=1000)
    >>> (a + a - a) == a, a * 2
    (True, Resource(cpu=1000, memory=2147483648, nvidia.com/gpu=2000))
    """

    __slots__ = ("milli_cpu", "memory", "scalars", "_hash", "_items", "_names")
    # Set on first use: most amounts are only added up.
    _hash: int
    _items: tuple[tuple[str, float], ...]
    _names: tuple[str, ...]

    def __init__(self, milli_cpu: float = 0.0, memory: float = 0.0,
                 scalars: Mapping[str, float] | None = None):
        self.milli_cpu = milli_cpu
        self.memory = memory
        self.scalars = scalars
    # -- construction ----------------------------------------------------------------------------

    @classmethod
    def from_list(cls, resource_list: Mapping[str, str] | None) -> Resource:
        """Return the amount in a Kubernetes resource list, without names that are no resources.

        >>> Resource.from_list({"cpu": "2", "count/pods": "5", "pods": "110"})
        Resource(cpu=2000, memory=0, pods=110)
        """
        return _from_items(tuple(resource_list.items())) if resource_list else EMPTY

    @classmethod
    def from_dict(cls, amounts: Mapping[str, float]) -> Resource:
        """Return the amount in a mapping of internal units."""
        scalars = {k: float(v) for k, v in amounts.items() if k not in (CPU, MEMORY)}
        return cls(float(amounts.get(CPU, 0.0)), float(amounts.get(MEMORY, 0.0)), scalars or None)

    # -- reading --------------------------------------------------------------------------------

    def get(self, name: str) -> float:
        """Return the amount of one resource, 0.0 where it is absent."""
        if name == CPU:
            return self.milli_cpu
        if name == MEMORY:
            return self.memory
        return self.scalars.get(name, 0.0) if self.scalars else 0.0

    def __iter__(self) -> Iterator[tuple[str, float]]:
        """Yield (name, amount) of every dimension: cpu, memory, then scalars by name."""
        return iter(self.items)

    @property
    def items(self) -> tuple[tuple[str, float], ...]:
        """(name, amount) of every dimension, as a tuple that is built once."""
        try:
            return self._items
        except AttributeError:
            scalars = sorted(self.scalars.items()) if self.scalars else ()
            self._items = (CPU, self.milli_cpu), (MEMORY, self.memory), *scalars
            return self._items

    def resource_names(self) -> tuple[str, ...]:
        """Return dimensions of at least `MIN_RESOURCE`, in the order cpu, memory, scalars by name.

        >>> Resource(0.05, 10.0, {"b/x": 0.0, "a/x": 1.0}).resource_names()
        ('memory', 'a/x')
        """
        try:
            return self._names
        except AttributeError:
            self._names = tuple([name for name, amount in self.items if amount >= MIN_RESOURCE])
            return self._names

    def is_empty(self) -> bool:
        """Return whether it is empty but for "pods": the mark of a best-effort task."""
        if self.milli_cpu >= MIN_RESOURCE or self.memory >= MIN_RESOURCE:
            return False
        return not self.scalars or all(v < MIN_RESOURCE or k in IGNORED_SCALARS
                                       for k, v in self.scalars.items())

    def is_zero(self, name: str) -> bool:
        """Return whether one dimension is empty."""
        return self.get(name) < MIN_RESOURCE

    def __eq__(self, other: object) -> bool:
        """Return whether amounts and scalar names are equal (no mapping equals an empty one)."""
        if not isinstance(other, Resource):
            return NotImplemented
        return (self.milli_cpu == other.milli_cpu and self.memory == other.memory
                and (self.scalars or {}) == (other.scalars or {}))

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = hash((self.milli_cpu, self.memory, frozenset((self.scalars
                                                                       or {}).items())))
            return self._hash

    def __repr__(self) -> str:
        return "Resource(" + ", ".join(f"{name}={amount:.12g}" for name, amount in self) + ")"

    def __str__(self) -> str:
        """Return the text in Volcano's own logs and reasons.

        >>> str(Resource(1500.0, 1024.0, {"nvidia.com/gpu": 1000.0}))
        'cpu 1500.00, memory 1024.00, nvidia.com/gpu 1000.00'
        """
        return ", ".join(f"{name} {amount:.2f}" for name, amount in self)

    # -- arithmetic -----------------------------------------------------------------------------

    def __add__(self, other: Resource) -> Resource:
        if other is EMPTY:
            return self
        mine, theirs = self.scalars, other.scalars
        if not theirs:
            scalars = mine
        elif not mine:
            scalars = theirs
        else:
            scalars = dict(mine)
            for name, amount in theirs.items():
                scalars[name] = scalars.get(name, 0.0) + amount
        return Resource(self.milli_cpu + other.milli_cpu, self.memory + other.memory, scalars)

    def __sub__(self, other: Resource) -> Resource:
        """Subtract an amount known to be contained; see `sub` for the checked form. The result may
        be negative.
        """
        mine, theirs = self.scalars, other.scalars
        if mine is None or not theirs:
            scalars = mine  # without a scalar mapping no scalars are subtracted
        else:
            scalars = dict(mine)
            for name, amount in theirs.items():
                scalars[name] = scalars.get(name, 0.0) - amount
        return Resource(self.milli_cpu - other.milli_cpu, self.memory - other.memory, scalars)

    def sub(self, other: Resource) -> Resource:
        """Subtract `other`; where it exceeds this resource, Volcano panics (`api.panics`)."""
        if not other.less_equal(self, ZERO):
            panic(f"resource is not sufficient to do operation: <{self}> sub <{other}>")
        return self - other

    def __mul__(self, ratio: float) -> Resource:
        scalars = {k: v * ratio for k, v in self.scalars.items()} if self.scalars else self.scalars
        return Resource(self.milli_cpu * ratio, self.memory * ratio, scalars)

    def set_max_resource(self, other: Resource) -> Resource:
        """Return the larger of both in each dimension, with the scalars of both sides."""
        scalars = self.scalars
        if other.scalars:
            scalars = dict(scalars or {})
            for name, amount in other.scalars.items():
                scalars[name] = max(scalars.get(name, amount), amount)
        return Resource(max(self.milli_cpu, other.milli_cpu), max(self.memory, other.memory),
                        scalars)

    def min_dimension_resource(self, other: Resource, missing: str) -> Resource:
        """Return the smaller of both in each of *this* resource's dimensions.

        A scalar that `other` lacks becomes 0.0 (`ZERO`) or is kept (`INFINITY`).

        >>> Resource(4.0, 4.0, {"a/x": 3.0}).min_dimension_resource(Resource(2.0, 9.0), INFINITY)
        Resource(cpu=2, memory=4, a/x=3)
        """
        scalars = self.scalars
        if scalars:
            theirs = other.scalars or {}
            others = scalars if missing == INFINITY else dict.fromkeys(scalars, 0.0)
            scalars = {k: min(v, theirs[k]) if k in theirs else others[k]
                       for k, v in scalars.items()}
        return Resource(min(self.milli_cpu, other.milli_cpu), min(self.memory, other.memory),
                        scalars)

    def exceeded_part(self, other: Resource) -> Resource:
        """Return the amount above `other`, never negative.

        >>> Resource(5.0, 1.0).exceeded_part(Resource(2.0, 3.0))
        Resource(cpu=3, memory=0)
        """
        if self is EMPTY:  # the allocated resources of waiting jobs
            return EMPTY
        mine, theirs = self.scalars or {}, other.scalars or {}
        above = {name: mine.get(name, 0.0) - theirs.get(name, 0.0) for name in {**mine, **theirs}}
        return Resource(max(self.milli_cpu - other.milli_cpu, 0.0),
                        max(self.memory - other.memory, 0.0),
                        {name: amount for name, amount in above.items() if amount > 0})

    # -- comparisons (the table in the module's docstring lists their callers) ---------------------

    def less_equal(self, other: Resource, missing: str) -> bool:
        """Return whether every dimension is at most `other`'s plus less than `MIN_RESOURCE`.

        >>> [Resource(cpu).less_equal(Resource(100.0), ZERO) for cpu in (100.05, 100.2)]
        [True, False]
        >>> Resource(1.0, 1.0).less_equal(Resource(1.0, 1.0, {"a/x": 5.0}), INFINITY)
        False
        """
        if (self.milli_cpu - other.milli_cpu >= MIN_RESOURCE
                or self.memory - other.memory >= MIN_RESOURCE):
            return False
        mine, theirs = self.scalars, other.scalars
        if missing == INFINITY and theirs and any(name not in (mine or ()) for name in theirs):
            return False
        if not mine:
            return True
        theirs = theirs or {}
        for name, amount in mine.items():
            if name in theirs:
                if amount - theirs[name] >= MIN_RESOURCE:
                    return False
            elif missing == ZERO and amount >= MIN_RESOURCE:
                return False
        return True

    def less_equal_with_resources_name(self, other: Resource,
                                       missing: str) -> tuple[bool, list[str]]:
        """Return `less_equal` over this resource's dimensions, with the names of those that are too
        large.

        >>> Resource(2.0, 9.0).less_equal_with_resources_name(Resource(1.0, 1.0), ZERO)
        (False, ['cpu', 'memory'])
        """
        theirs = other.scalars or {}
        names = [name for name, amount in self
                 if (name in (CPU, MEMORY) or name in theirs or missing == ZERO)
                 and amount - other.get(name) >= MIN_RESOURCE]
        return not names, names

    def less_equal_with_dimension_and_resources_name(
            self, other: Resource, request: Resource) -> tuple[bool, list[str]]:
        """Return whether, strictly, no dimension of `request` exceeds `other`'s; and the names of
        those that do.

        There is no tolerance, and dimensions outside the request are ignored.

        >>> used, limit = Resource(11.0, 99.0), Resource(10.0, 50.0)
        >>> used.less_equal_with_dimension_and_resources_name(limit, Resource(1.0))
        (False, ['cpu'])
        >>> used.less_equal_with_dimension_and_resources_name(limit, Resource())
        (True, [])
        """
        names = [name for name in _asked(request) if self.get(name) > other.get(name)
                 and (name in (CPU, MEMORY) or self.scalars is not None)]
        return not names, names

    def stays_within(self, other: Resource, request: Resource) -> bool:
        """Return whether this resource and `request` together pass
        `less_equal_with_dimension_and_resources_name(other, request)`.

        >>> [Resource(cpu).stays_within(Resource(10.0), Resource(1.0)) for cpu in (9.0, 10.0)]
        [True, False]
        """
        cpu, memory, held = request.milli_cpu, request.memory, self.scalars or {}
        if cpu > 0 and self.milli_cpu + cpu > other.milli_cpu:
            return False
        if memory > 0 and self.memory + memory > other.memory:
            return False
        for name, amount in (request.scalars or {}).items():
            if amount > 0 and name not in IGNORED_SCALARS and (
                    held.get(name, 0.0) + amount > other.get(name)):
                return False
        return True

    def less_partly(self, other: Resource) -> bool:
        """Return whether any dimension is strictly below `other`'s; one that is absent here is."""
        if self.milli_cpu < other.milli_cpu or self.memory < other.memory:
            return True
        mine, theirs = self.scalars or {}, other.scalars or {}
        return not theirs.keys() <= mine.keys() or any(
            amount < theirs.get(name, 0.0) for name, amount in mine.items())

    def less_equal_partly_with_dimension_zero_filtered(
            self, other: Resource, request: Resource) -> tuple[bool, list[str]]:
        """Return whether any dimension of `request` is at most (within the tolerance) `other`'s;
        and their names. Dimensions that are empty on both sides are skipped.
        """
        names = [name for name in _asked(request) if self.get(name) - other.get(name) < MIN_RESOURCE
                 and not (self.is_zero(name) and other.is_zero(name))]
        return bool(names), names

    def greater_partly_with_relevant_dimensions(self, other: Resource,
                                                request: Resource) -> tuple[bool, list[str]]:
        """Return whether, strictly, any dimension of `request` exceeds `other`'s; and their names.

        Only dimensions of `other`: CPU and memory must be above zero there; a scalar must only be
        present, even as zero.

        >>> Resource(4.0, 0.0, {"a/x": 2.0}).greater_partly_with_relevant_dimensions(
        ...     Resource(), Resource(2.0, 0.0, {"a/x": 1.0}))
        (False, [])
        """
        known = other.scalars or {}
        names = [name for name in _asked(request) if self.get(name) > other.get(name)
                 and (not other.is_zero(name) if name in (CPU, MEMORY) else name in known)]
        return bool(names), names


def _asked(request: Resource) -> Iterator[str]:
    """Yield the dimensions of a comparison by request."""
    return (name for name, amount in request.items if amount > 0 and name not in IGNORED_SCALARS)


EMPTY = Resource()


def max_of(left: Resource, right: Resource) -> Resource:
    """Return the larger of both in each dimension, without scalars below zero.

    >>> max_of(Resource(1.0, 5.0), Resource(3.0, 2.0))
    Resource(cpu=3, memory=5)
    """
    cpu, memory = max(left.milli_cpu, right.milli_cpu), max(left.memory, right.memory)
    if left.scalars is None and right.scalars is None:
        return Resource(cpu, memory)
    scalars = {k: v for k, v in (left.scalars or {}).items() if v >= 0}
    for name, amount in (right.scalars or {}).items():
        if amount >= 0:
            scalars[name] = max(amount, scalars.get(name, 0.0))
    return Resource(cpu, memory, scalars)


def total(resources: Iterable[Resource]) -> Resource:
    """Return the sum of many amounts.

    >>> total([Resource(1.0), Resource(2.0, 0.0, {"a/x": 3.0})])
    Resource(cpu=3, memory=0, a/x=3)
    """
    milli_cpu = memory = 0.0
    scalars: dict[str, float] = {}
    for resource in resources:
        milli_cpu += resource.milli_cpu
        memory += resource.memory
        if resource.scalars:
            for name, amount in resource.scalars.items():
                scalars[name] = scalars.get(name, 0.0) + amount
    return Resource(milli_cpu, memory, scalars or None)


def share_of(part: float, whole: float) -> float:
    """Return part / whole, where 0 / 0 is 0 and anything else / 0 is 1.

    >>> share_of(1.0, 4.0), share_of(0.0, 0.0), share_of(2.0, 0.0)
    (0.25, 0.0, 1.0)
    """
    if whole == 0:
        return 0.0 if part == 0 else 1.0
    return part / whole


@lru_cache(maxsize=65536)
def _from_items(items: tuple[tuple[str, str], ...]) -> Resource:
    cpu = memory = 0.0
    scalars: dict[str, float] = {}
    for name, text in items:
        if name == CPU:
            cpu += quantity.milli_value(text)
        elif name == MEMORY:
            memory += quantity.value(text)
        elif name == PODS:
            scalars[name] = scalars.get(name, 0.0) + quantity.value(text)
        elif name == "ephemeral-storage" or (not name.startswith("count/")
                                             and is_scalar_resource_name(name)):
            scalars[name] = scalars.get(name, 0.0) + quantity.milli_value(text)
    return Resource(float(cpu), float(memory), scalars or None)
