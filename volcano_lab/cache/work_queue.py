"""A queue of keys that are processed one by one and retried after growing delays.

A key is queued once however often it is added, and a retry waits for the longer of two limits, 5 ms
doubled with each failure up to 1,000 s, and 100 retries a second with bursts of 1,000. The caller
passes the time, in seconds.

Volcano: k8s.io/client-go/util/workqueue
"""

from attrs import Factory, define

FIRST_DELAY, LONGEST_DELAY = 0.005, 1000.0
RATE, BURST = 100.0, 1000.0


@define
class WorkQueue:
    """Keys that are due, in the order in which they were added, and keys with a delay.

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
        """Make `key` due now, or earlier if already queued."""
        self.due[key] = min(now, self.due.get(key, now))

    def retry(self, key: str, now: float) -> float:
        """Queue a failed key with a delay; return the delay."""
        failures = self.failures[key] = self.failures.get(key, 0) + 1
        delay = max(min(FIRST_DELAY * 2.0**min(failures - 1, 64), LONGEST_DELAY),
                    self._reserve(now))
        self.due[key] = min(now + delay, self.due.get(key, now + delay))
        return delay

    def forget(self, key: str) -> None:
        """Reset the failures of a key."""
        self.failures.pop(key, None)

    def get(self, now: float) -> str | None:
        """Return the key that has been due for longest; None where none is due."""
        key = min(self.due, key=self.due.__getitem__, default=None)
        if key is None or self.due[key] > now:
            return None
        del self.due[key]
        return key

    def next_due(self) -> float | None:
        """Return when the next key is due; None where none is queued."""
        return min(self.due.values(), default=None)

    def _reserve(self, now: float) -> float:
        """Reserve one of the retries per second; return the delay until it."""
        self._tokens = min(BURST, self._tokens + (now - self._refilled) * RATE) - 1.0
        self._refilled = now
        return max(-self._tokens / RATE, 0.0)
