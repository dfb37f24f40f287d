"""A rehearsal that remembers in words what it was last asked for, so that a failure can be shown as
a hint (lesson 06).
"""

from volcano_lab.debug.sandbox import HandStatement, Rehearsal
from volcano_lab.framework.statement import Operation
from volcano_lab.messages import gettext


class WatchedRehearsal(Rehearsal):
    """A `Rehearsal`; `trying` says what it did last, or could not do.

    >>> from volcano_lab.cluster import Cluster
    >>> by_hand = WatchedRehearsal(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=3))
    >>> statement = by_hand.statement().allocate("train-0", "n1")
    >>> by_hand.trying
    'allocate train-0 on n1: it asks for 3 CPUs, and 4 are idle there'
    >>> statement.allocate("train-0", "n1")
    Traceback (most recent call last):
    ...
    volcano_lab.framework.statement.StatementError: task default/train-0 allocate to node n1: ...
    already on node <n1>
    >>> by_hand.trying
    'allocate train-0 on n1: it is Allocated already, on n1'
    """

    trying = ""

    def statement(self) -> HandStatement:
        return _Watched(self)


class _Watched(HandStatement):
    rehearsal: WatchedRehearsal

    def allocate(self, pod: str, node: str) -> HandStatement:
        self._place("allocate", pod, node)
        return super().allocate(pod, node)

    def pipeline(self, pod: str, node: str) -> HandStatement:
        self._place("pipeline", pod, node)
        return super().pipeline(pod, node)

    def evict(self, pod: str, reason: str = "resources are needed") -> HandStatement:
        self.rehearsal.trying = gettext("evict {pod}: it is {status}", pod=pod,
                                        status=self.rehearsal.status(pod))
        return super().evict(pod, reason)

    def discard(self) -> None:
        self.rehearsal.trying = gettext("discard: something of it was taken back before")
        super().discard()

    def recover(self, saved: list[Operation]) -> HandStatement:
        self.rehearsal.trying = gettext("recover: something of it is done already")
        return super().recover(saved)

    def _place(self, word: str, pod: str, name: str) -> None:
        task, node = self.rehearsal.task(pod), self.rehearsal.node(name)
        if task.node_name:
            why = gettext("it is {status} already, on {node_name}", status=task.status,
                          node_name=task.node_name)
        else:
            idle, asks = node.idle.milli_cpu / 1000, task.resreq.milli_cpu / 1000
            why = gettext("it asks for {asks} CPUs, and {idle} are idle there", asks=asks,
                          idle=idle)
        self.rehearsal.trying = gettext("{operation} {pod} on {node}: {why}", operation=word,
                                        pod=pod, node=name, why=why)
