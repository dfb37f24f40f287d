"""What each extension point is asked about, by name. Answers to `pkg/scheduler/api/types.go`, where only types stand."""

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
