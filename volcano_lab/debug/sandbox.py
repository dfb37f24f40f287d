"""A session whose statements the user controls, with a trace of every operation.

The scheduler's actions do not run: the user chooses the node of each pod, and no plugin is asked
for permission.
"""

from __future__ import annotations

from collections.abc import Iterable

from volcano_lab.api import NodeInfo, TaskInfo, objects as api
from volcano_lab.cache import Cache
from volcano_lab.framework import Operation, Session, Statement, load_conf
from volcano_lab.framework.statement import save_operations
from volcano_lab.manifests.described import world_of
from volcano_lab.messages import NoSuch, log
from volcano_lab.scheduler import actions, plugins
from volcano_lab.trace import Trace

assert actions and plugins  # importing them registers the built-in ones

CONF = """\
actions: "allocate"
tiers:
- plugins:
  - name: gang
  - name: proportion
"""


class Rehearsal:
    """An open session over a cluster; `statement` creates statements, `trace` has all operations.

    Pods are named as in the cluster, with or without "default/". A node or pod that isn't there is
    a `KeyError`.

    >>> from volcano_lab.cluster import Cluster
    >>> by_hand = Rehearsal(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1))
    >>> statement = by_hand.statement()
    >>> statement.allocate("train-0", "n1").allocate("train-1", "n1").discard()
    >>> [(record.kind, record["task"]) for record in by_hand.trace.operations][1:3]
    [('do', 'default/train-1'), ('undo', 'default/train-1')]
    >>> by_hand.status("train-0")
    'Pending'
    """

    def __init__(self, cluster: Iterable[api.KubernetesObject], conf: str = CONF):
        self.trace, self.cache = Trace(), Cache(world_of(cluster))
        self.session = Session(self.cache, load_conf(conf), self.trace)

    def statement(self) -> HandStatement:
        return HandStatement(self)

    def task(self, pod: str) -> TaskInfo:
        """Return the pod's task in the session."""
        key = pod if "/" in pod else f"default/{pod}"
        for job in self.session.jobs.values():
            for task in job.tasks.values():
                if task.key == key:
                    return task
        raise NoSuch("the session has no pod {pod}", pod=pod)

    def status(self, pod: str) -> str:
        return str(self.task(pod).status)

    def node(self, name: str) -> NodeInfo:
        if name not in self.session.nodes:
            raise NoSuch("rehearsal.node", name=name, nodes=[*self.session.nodes])
        return self.session.nodes[name]

    def lose_node(self, name: str) -> None:
        """Delete the node from the cache while the session is open; the session keeps it."""
        del self.cache.nodes[name]


class HandStatement:
    """A statement of a rehearsal. `allocate`, `pipeline` and `evict` return it, so that they can be
    chained.
    """

    def __init__(self, rehearsal: Rehearsal):
        self.rehearsal, self.statement = rehearsal, Statement(rehearsal.session)

    @property
    def operations(self) -> list[Operation]:
        return self.statement.operations

    def allocate(self, pod: str, node: str) -> HandStatement:
        """Allocate idle resources on a node to a pod. Fit is not checked: the actions do that."""
        self.statement.allocate(self.rehearsal.task(pod), self.rehearsal.node(node))
        return self

    def pipeline(self, pod: str, node: str) -> HandStatement:
        """Reserve resources that are being released on a node for a pod."""
        self.statement.pipeline(self.rehearsal.task(pod), self.rehearsal.node(node).name)
        return self

    def evict(self, pod: str, reason: str = "resources are needed") -> HandStatement:
        """Evict a running pod."""
        task = self.rehearsal.task(pod)
        self.statement.evict(self.rehearsal.node(task.node_name).tasks[task.key].clone(), reason)
        return self

    def play(self, plan: Iterable[tuple[str, ...]]) -> HandStatement:
        """Apply operations, such as [("evict", "web-1"), ("pipeline", "train-0", "node-0")]."""
        for word, *what in plan:
            getattr(self, word)(*what)
        return self

    def commit(self) -> None:
        """Commit; an operation that the cache refuses is undone alone, as the trace shows."""
        with log.quiet():
            self.statement.commit()

    def discard(self) -> None:
        self.statement.discard()

    def save(self) -> list[Operation]:
        """Return copies of the operations in their current state."""
        saved = save_operations(self.statement)
        self.rehearsal.trace.note("saved", operations=[repr(operation) for operation in saved])
        return saved

    def recover(self, saved: list[Operation]) -> HandStatement:
        """Repeat saved operations in this statement."""
        self.rehearsal.trace.note("recovers", operations=[repr(operation) for operation in saved])
        self.statement.recover(saved)
        return self
