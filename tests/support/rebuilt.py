"""A session built from scratch in the state that another one has reached, and all that both hold:
what is kept up to date must equal what is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from volcano_lab.api.fairness import dominant_share, queue_share
from volcano_lab.api.node_table import ACCOUNTS
from volcano_lab.api.objects import KubernetesObject
from volcano_lab.api.snapshot import ClusterInfo
from volcano_lab.api.status import ALLOCATED, BINDING, PENDING, PIPELINED, RELEASING, RUNNING
from volcano_lab.api.task import TaskInfo
from volcano_lab.cache import Cache
from volcano_lab.framework.placement.arrays import NodeArrays, node_arrays
from volcano_lab.framework.session import Session

COUNTED_AS = {BINDING: ALLOCATED}
"""A statement's commit makes a task Binding; its node still counts it as Allocated, which is the
same amount."""


class Snapshots(Cache):
    """A cache that gives one prepared snapshot."""

    def __init__(self, snapshot: ClusterInfo):
        super().__init__()
        self._prepared = snapshot

    def snapshot(self) -> ClusterInfo:
        return self._prepared


def rebuilt(ssn: Session, objects: Iterable[KubernetesObject]) -> Session:
    """A new session over the same objects, with each task in the status and on the node that it has
    in `ssn`. What only a session knows (a promise, an eviction) is done once, and nothing undone.
    """
    states = {task.uid: (task.status, task.node_name) for task in tasks_of(ssn)}
    snapshot = Cache(objects).snapshot()
    for node in snapshot.nodes.values():
        node.tasks.clear()
        node.set_node(node.node)
    for job in snapshot.jobs.values():
        for task in list(job.tasks.values()):
            status, node_name = states[task.uid]
            job.delete_task_info(task)
            task.status, task.node_name = {
                PIPELINED: (PENDING, ""), RELEASING: (RUNNING, node_name)
            }.get(status, (status, node_name))
            job.add_task_info(task)
            if task.node_name in snapshot.nodes:
                standing = task.clone()
                standing.status = COUNTED_AS.get(task.status, task.status)
                snapshot.nodes[task.node_name].add_task(standing)
    other = Session(Snapshots(snapshot), ssn.conf, now=ssn.now)
    _freeze_what_opening_saw(ssn, other)
    statement = other.statement()
    for task in tasks_of(other):
        status, node_name = states[task.uid]
        if status == PIPELINED:
            statement.pipeline(task, node_name)
        elif status == RELEASING:
            statement.evict(task, "as in the other session")
    return other


def _freeze_what_opening_saw(ssn: Session, other: Session) -> None:
    """Volcano looks for pods with affinity only when a session opens (kube/node_pods)."""
    if "predicates" in ssn.plugins:
        kube, theirs = ssn.plugins["predicates"].kube, other.plugins["predicates"].kube
        theirs.rows_with_affinity = kube.rows_with_affinity
        theirs.rows_with_required_anti_affinity = kube.rows_with_required_anti_affinity


def tasks_of(ssn: Session) -> list[TaskInfo]:
    return [task for job in ssn.jobs.values() for _, task in sorted(job.tasks.items())]


def held(ssn: Session) -> dict[str, Any]:
    """Every sum, index and per-node amount that the session and its plugins keep up to date."""
    return {
        "jobs": {uid: (plain(job.allocated), plain(job.total_request), job.ready_task_num(),
                       job.waiting_task_num(), job._pending_best_effort,
                       {int(s): sorted(tasks) for s, tasks in job.task_status_index.items()})
                 for uid, job in ssn.jobs.items()},
        "nodes": {node.name: ({account: plain(ssn.table.resource(account, node.row))
                               for account in ACCOUNTS},
                              {key: COUNTED_AS.get(task.status, task.status)
                               for key, task in sorted(node.tasks.items())})
                  for node in ssn.node_list},
        "queues": {f"{name}/{queue}": plain(attr.allocated)
                   for name in ("proportion", "capacity") if name in ssn.plugins
                   for queue, attr in ssn.plugins[name].queue_opts.items()},
        "drf": {uid: (plain(attr.allocated), attr.dominant_resource, attr.share)
                for uid, attr in ssn.plugins["drf"].job_attrs.items()},
        "hierarchy": _levels(ssn.plugins["drf"].hierarchy),
        "kube": _kube(ssn),
        "hyper nodes": _hyper_nodes(ssn),
    }


def plain(resource: Any) -> dict[str, float]:
    """A dimension that holds nothing is as good as one that isn't mentioned."""
    return {name: amount for name, amount in resource if amount}


def _levels(hierarchy: Any) -> Any:
    def level(node: Any) -> Any:
        below = None if node.is_job else {
            name: level(child) for name, child in sorted(node.children.items())}
        return node.share, plain(node.allocated), node.saturated, below

    return plain(hierarchy.total_allocated), level(hierarchy.root)


def _kube(ssn: Session) -> dict[str, Any]:
    """The nodes as Kubernetes' rules see them, with every count that has been asked for so far."""
    kube = ssn.plugins["predicates"].kube
    return {
        "pods": {node.name: sorted(info.uid for info in kube.pods(node)) for node in kube.nodes},
        "ports": {node.name: sorted(port for port in node.used_ports) for node in kube.nodes},
        "taken": kube.taken.tolist(), "count": kube.pod_count.tolist(),
    }


def _hyper_nodes(ssn: Session) -> Any:
    plugin = ssn.plugins.get("network-topology-aware")
    return plugin and [{name: amount for name, amount in used.items() if amount}
                       for used in plugin.usage.used]


def shares(ssn: Session) -> dict[str, tuple[float, float]]:
    """(share as kept, share as its amounts say) of each job, and of each queue without queues below
    it (capacity does not renew those of the others within a session, as Volcano).
    """
    drf = ssn.plugins["drf"]
    found = {uid: (attr.share, dominant_share(attr.allocated, drf.total)[1])
             for uid, attr in drf.job_attrs.items()}
    for name in {"proportion", "capacity"} & ssn.plugins.keys():
        for queue, attr in ssn.plugins[name].queue_opts.items():
            if not getattr(attr, "children", ()):
                best_effort = name == "capacity" and attr.deserved.is_empty()
                found[f"{name}/{queue}"] = attr.share, 1.0 if best_effort else queue_share(
                    attr.allocated, attr.deserved)
    return found


def seen_by(ssn: Session, uids: Iterable[str], arrays: NodeArrays | None = None) -> dict[str, Any]:
    """What the array path knows of the nodes for some pending tasks: fit, predicates, scores, ranks
    and refusals, all kept up to date row by row.
    """
    arrays = arrays or node_arrays(ssn)
    by_uid = {task.uid: task for task in tasks_of(ssn)}
    found = {}
    for task in (by_uid[uid] for uid in uids):
        ssn.cycle_state(task.uid).clear()  # what an earlier look skipped, it would skip for good
        ssn.pre_predicate(task)
        everywhere = np.ones(ssn.table.count, bool)
        board = arrays.board(task)
        found[task.name] = {
            "fit": arrays.fit(task.init_resreq).tolist(),
            "allowed": arrays.allowed(task).tolist(),
            "scores": np.broadcast_to(arrays.scores(task, everywhere), everywhere.shape).tolist(),
            "ranks": board and board.ranks.current().tolist(),
            "refusals": board and sorted(map(str, board.refusals(task).nodes.values())),
        }
    return found
