"""The names of what each extension point is asked about. Answers to `pkg/scheduler/api/types.go`, where only types stand.

`state`, what plugins keep for a trial, isn't recorded.
"""

from __future__ import annotations

ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("job_order", "queue_order", "task_order", "sub_job_order", "cluster_order"), ("left", "right")),
    "victim_queue_order": ("left", "right", "preemptor"),
    **dict.fromkeys(("job_valid", "job_ready", "job_starving", "job_pipelined", "job_enqueueable", "job_enqueued"), ("job",)),
    **dict.fromkeys(("sub_job_ready", "sub_job_pipelined"), ("sub_job",)),
    "pre_predicate": ("task",),
    **dict.fromkeys(("predicate", "node_order", "node_map"), ("task", "node")),
    "batch_node_order": ("task", "nodes"),
    "node_reduce": ("task", "mapped"),
    "best_node": ("task", "scores"),
    **dict.fromkeys(("allocatable", "preemptive"), ("queue", "task")),
    "overused": ("queue",),
    **dict.fromkeys(("preemptable", "reclaimable"), ("task", "candidates")),
    "victim_tasks": ("candidates",),
    "simulate_predicate": ("state", "task", "node"),
    "simulate_add_task": ("state", "task", "added", "node"),
    "simulate_remove_task": ("state", "task", "removed", "node"),
    "simulate_allocatable": ("state", "queue", "task"),
    "reserved_nodes": (),
    "target_job": ("jobs",),
    "hyper_node_order": ("sub_job", "hyper_nodes"),
    "hyper_node_gradient_for_job": ("job", "hyper_node"),
    "hyper_node_gradient_for_sub_job": ("sub_job", "hyper_node"),
}

LEFT_OUT = ("state",)
"""Arguments that have no plain form worth keeping."""


def argument_names(point: str, count: int) -> tuple[str, ...]:
    """What a point's arguments are called; those of a point that isn't known here are numbered.

    >>> argument_names("allocatable", 2), argument_names("my_own", 1)
    (('queue', 'task'), ('argument_0',))
    """
    known = ARGUMENTS.get(point, ())
    return known if len(known) == count else tuple(f"argument_{number}" for number in range(count))
