"""A queue of keys that are worked on one by one and, where that fails, tried again after growing
delays.

A key waits once however often it is added, and a retry waits for the longer of two limits, 5 ms
doubled with each failure up to 1,000 s, and 100 retries a second with bursts of 1,000. Time is told
by the caller, in seconds.

Volcano: k8s.io/client-go/util/workqueue
"""

from attrs import Factory, define

FIRST_DELAY, LONGEST_DELAY = 0.005, 1000.0
RATE, BURST = 100.0, 1000.0


@define
class WorkQueue:
    """Keys that are due, in the order they were added, and keys that wait for their time.

    >>> queue = WorkQueue()
    >>> queue.add("a", 0.0)
    >>> queue.get(0.0), queue.get(0.0)
    ('a', None)
    >>> [queue.retry("a", 0.0) for _ in range(3)]
    [0.005, 0.01, 0.02]
    >>> queue.get(0.001), queue.get(0.005)
    (None, 'a')
    """

    due: dict[str, float] = Factory(dict)
    failures: dict[str, int] = Factory(dict)
    _tokens: float = BURST
    _refilled: float = 0.0

    def __len__(self) -> int:
        return len(self.due)

    def __contains__(self, key: str) -> bool:
        return key in self.due

    def add(self, key: str, now: float) -> None:
        """A key is due now; one that waits already is due sooner."""
        self.due[key] = min(now, self.due.get(key, now))

    def retry(self, key: str, now: float) -> float:
        """A key has failed: it is due again after a delay, which is returned."""
        failures = self.failures[key] = self.failures.get(key, 0) + 1
        delay = max(min(FIRST_DELAY * 2.0**min(failures - 1, 64), LONGEST_DELAY),
                    self._reserve(now))
        self.due[key] = min(now + delay, self.due.get(key, now + delay))
        return delay

    def forget(self, key: str) -> None:
        """A key is done with: its next failure counts as the first."""
        self.failures.pop(key, None)

    def get(self, now: float) -> str | None:
        """The key that has been due for longest; None where none is due."""
        key = min(self.due, key=self.due.__getitem__, default=None)
        if key is None or self.due[key] > now:
            return None
        del self.due[key]
        return key

    def next_due(self) -> float | None:
        """When the next key is due; None where none waits."""
        return min(self.due.values(), default=None)

    def _reserve(self, now: float) -> float:
        """Take one of the retries that a second allows; how long until there is one."""
        self._tokens = min(BURST, self._tokens + (now - self._refilled) * RATE) - 1.0
        self._refilled = now
        return max(-self._tokens / RATE, 0.0)
