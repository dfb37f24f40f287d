"""The extension points that there are: Volcano's, in snake_case, each with its rule, its switches and its default.

Answers to `pkg/scheduler/framework/session_plugins.go` and `session.go`. `plugins.catalogue` shows them as a table.
"""

from __future__ import annotations

from typing import Any

from volcano_lab.framework.extension_point import (
    AllAgree,
    AllOfFirstTier,
    AnySays,
    ByPlugin,
    ExtensionPoint,
    FirstAnswer,
    FirstChoice,
    FirstDifference,
    FirstObjection,
    Reduce,
    Sum,
    SumByName,
    Tell,
    UnionOfFirstTier,
    Victims,
    Vote,
)

OLDER, ITSELF = "the older, then the smaller uid", "the HyperNode itself"


def extension_points(ssn: Any) -> dict[str, ExtensionPoint]:
    """Every extension point of a session, by name: Volcano's, in snake_case.

    >>> points = extension_points(None)
    >>> points["allocatable"].rule, points["preemptable"].switches
    ('all must agree', ('enabled_preemptable',))
    """
    points = [
        FirstDifference("job_order", "enabled_job_order", otherwise=_older, default=OLDER),
        FirstDifference("queue_order", "enabled_queue_order", otherwise=_older, default=OLDER),
        FirstDifference("victim_queue_order", otherwise=lambda left, right, preemptor: not ssn.queue_order(left, right),
                        default="queue_order the other way round"),
        FirstDifference("task_order", "enabled_task_order", otherwise=lambda left, right: left.before(right),
                        default="the smaller index in its role, then the older"),
        FirstDifference("sub_job_order", "enabled_sub_job_order", otherwise=_lower_index,
                        default="the smaller match index"),
        FirstDifference("cluster_order", "enabled_cluster_order", otherwise=lambda left, right: left.name < right.name,
                        default="the name"),
        FirstObjection("job_valid"),
        FirstObjection("pre_predicate", "enabled_predicate"),
        FirstObjection("predicate", "enabled_predicate"),
        FirstObjection("simulate_predicate", "enabled_predicate"),
        FirstObjection("simulate_add_task", "enabled_preemptable", "enabled_allocatable"),
        FirstObjection("simulate_remove_task", "enabled_preemptable", "enabled_allocatable"),
        AllAgree("simulate_allocatable", "enabled_allocatable"),
        AllAgree("allocatable", "enabled_allocatable"),
        AllAgree("preemptive", "enabled_preemptive"),
        AllAgree("job_ready", "enabled_job_ready"),
        AllAgree("sub_job_ready", "enabled_sub_job_ready"),
        AnySays("overused", "enabled_overused"),
        AllOfFirstTier("job_starving", "enabled_job_starving"),
        Vote("job_pipelined", "enabled_job_pipelined"),
        Vote("sub_job_pipelined", "enabled_sub_job_pipelined"),
        Vote("job_enqueueable", "enabled_job_enqueued"),
        Tell("job_enqueued", "enabled_job_enqueued"),
        Tell("reserved_nodes", "enabled_reserved_nodes"),
        Victims("preemptable", "enabled_preemptable"),
        Victims("reclaimable", "enabled_reclaimable"),
        UnionOfFirstTier("victim_tasks", "enabled_victim"),
        Sum("node_order", "enabled_node_order"),
        SumByName("batch_node_order", "enabled_node_order"),
        ByPlugin("node_map", "enabled_node_order"),
        Reduce("node_reduce", "enabled_node_order"),
        FirstChoice("best_node", "enabled_best_node"),
        ByPlugin("hyper_node_order", "enabled_hyper_node_order"),
        FirstAnswer("target_job", "enabled_target_job"),
        FirstAnswer("hyper_node_gradient_for_job", "enabled_hyper_node_gradient", otherwise=_itself, default=ITSELF),
        FirstAnswer("hyper_node_gradient_for_sub_job", "enabled_hyper_node_gradient", otherwise=_itself,
                    default=ITSELF),
    ]
    return {point.name: point for point in points}


def _older(left: Any, right: Any) -> bool:
    """The one created first; at the same time, the one whose uid is smaller."""
    return (left.creation_timestamp, left.uid) < (right.creation_timestamp, right.uid)


def _lower_index(left: Any, right: Any) -> bool:
    return (left.match_index, left.uid) < (right.match_index, right.uid)


def _itself(job: Any, hyper_node: Any) -> list[list[Any]]:
    """Nobody sorts HyperNodes by how near they are: the one asked about is tried, and no other."""
    return [[hyper_node]]


POINT_NAMES = tuple(extension_points(None))
