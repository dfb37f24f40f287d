"""Everything that a session holds and a discard must restore, as plain values to compare."""

from __future__ import annotations

from typing import Any

from volcano_lab.api.resource import Resource
from volcano_lab.framework.session import Session


def state_of(ssn: Session) -> dict[str, Any]:
    """A dimension that holds nothing is as good as one that isn't mentioned."""
    return _plain(_state(ssn))


def _plain(value: Any) -> Any:
    if isinstance(value, Resource):
        return {name: amount for name, amount in value if amount}
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _state(ssn: Session) -> dict[str, Any]:
    proportion, drf, predicates = (ssn.plugins.get(name)
                                   for name in ("proportion", "drf", "predicates"))
    return {
        "tasks": {
            t.uid: (int(t.status), t.node_name, t.job_allocated_hyper_node)
            for j in ssn.jobs.values()
            for t in j.tasks.values()
        },
        "jobs": {
            uid: (job.allocated, job.total_request, job.ready_task_num(), job.waiting_task_num(), {
                int(s): sorted(tasks) for s, tasks in job.task_status_index.items()
            }) for uid, job in ssn.jobs.items()
        },
        "sub_jobs": {
            uid: {int(s): sorted(tasks)
                  for s, tasks in sub.task_status_index.items()}
            for job in ssn.jobs.values()
            for uid, sub in job.sub_jobs.items()
        },
        "nodes": {
            name: (node.idle, node.used, node.releasing, node.pipelined, {
                k: int(t.status) for k, t in node.tasks.items()
            }) for name, node in ssn.nodes.items()
        },
        "queues":
        {name: (attr.allocated, attr.share)
         for name, attr in proportion.queue_opts.items()} if proportion else {},
        "shares": {
            uid: (attr.allocated, attr.share, attr.dominant_resource)
            for uid, attr in drf.job_attrs.items()
        } if drf else {},
        "kube":
        {node.name: sorted(info.uid
                           for info in predicates.kube.pods(node))
         for node in predicates.kube.nodes} if predicates else {},
        "kube requested": predicates.kube.taken.tolist() if predicates else [],
    }
