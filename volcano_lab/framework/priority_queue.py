"""A priority queue with Go's heap rules.

Python's `heapq` would pop items that compare equal in another order than Go's `container/heap`
does, and that order shows in decisions; hence these few lines.

Volcano: pkg/scheduler/util/priority_queue.go
"""

from collections.abc import Callable, Iterable
from copy import copy
from heapq import heapify, heappop, heappush
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")


class PriorityQueue(Generic[T]):
    """Pops the first item by `less`. `less` may order items differently between calls; the heap is
    not rebuilt then.

    >>> queue = PriorityQueue(lambda a, b: a < b, [5, 1, 3])
    >>> queue.pop(), queue.pop(), len(queue)
    (1, 3, 1)
    """

    __slots__ = ("items", "less")

    def __init__(self, less: Callable[[T, T], bool], items: Iterable[T] = ()):
        self.items: list[T] = []
        self.less = less
        for item in items:
            self.push(item)

    def push(self, item: T) -> None:
        items, less = self.items, self.less
        items.append(item)
        child = len(items) - 1
        while child:
            parent = (child - 1) // 2
            if not less(item, items[parent]):
                break
            items[child] = items[parent]
            child = parent
        items[child] = item

    def pop(self) -> T:
        """Remove and return the first item. Raises `IndexError` where there is none."""
        items, less = self.items, self.less
        last = items.pop()
        if not items:
            return last
        first, size, parent = items[0], len(items), 0
        while (child := 2 * parent + 1) < size:
            if child + 1 < size and less(items[child + 1], items[child]):
                child += 1
            if not less(items[child], last):
                break
            items[parent] = items[child]
            parent = child
        items[parent] = last
        return first

    def peek(self) -> T | None:
        """Return the item that would pop next, or None."""
        return self.items[0] if self.items else None

    def clone(self) -> Self:
        queue = copy(self)
        queue.items = self.items.copy()
        return queue

    def drain(self) -> list[T]:
        """Return all items in the order in which they pop; the queue is empty afterwards."""
        found = []
        while self.items:
            found.append(self.pop())
        return found

    def __len__(self) -> int:
        return len(self.items)


class KeyedQueue(PriorityQueue[T]):
    """The same for a total order given by a key, where no item's key changes while it is in the
    queue.

    Items are compared by their keys as they were when pushed; no two keys may be equal.

    >>> queue = KeyedQueue(lambda number: number, [5, 1, 3])
    >>> queue.push(2)
    >>> queue.pop(), queue.pop(), len(queue)
    (1, 2, 2)
    """

    __slots__ = ("key",)

    def __init__(self, key: Callable[[T], Any], items: Iterable[T] = ()):
        super().__init__(lambda left, right: key(left) < key(right))
        self.key = key
        self.items: list[Any] = [(key(item), item) for item in items]
        heapify(self.items)

    def push(self, item: T) -> None:
        heappush(self.items, (self.key(item), item))

    def pop(self) -> T:
        item: T = heappop(self.items)[1]
        return item

    def peek(self) -> T | None:
        return self.items[0][1] if self.items else None
