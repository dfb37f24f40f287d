"""The extension points that there are: Volcano's, in snake_case, each with its rule, its switches and its default.

Answers to `pkg/scheduler/framework/session_plugins.go` and `session.go`. `plugins.catalogue` shows them as a table.
Beyond Volcano: a question of one's own is one line (`register_extension_point`); there, it is a change of the framework.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from volcano_lab.framework import answers
from volcano_lab.framework.conf import SWITCHES
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
    """Every extension point of a session, by name: Volcano's, in snake_case, and those of one's own.

    >>> points = extension_points(None)
    >>> points["allocatable"].rule, points["preemptable"].switches
    ('all must agree', ('enabled_preemptable',))
    """
    return {point.name: point for point in [*_volcanos(ssn), *(make() for make, _ in _OWN.values())]}


_OWN: dict[str, tuple[Callable[[], ExtensionPoint], tuple[str, ...]]] = {}
"""A question of one's own -> (what makes its object for a session, the names of what it is asked about)."""


def register_extension_point(name: str, rule: type[ExtensionPoint], *switches: str, about: Sequence[str] = (),
                             **how: Any) -> None:
    """Make a question of one's own known: plugins answer with a method of that name, actions ask `ssn.name(...)`.

    `rule` is a class that knows how answers combine, such as `AllAgree` or `Sum`, or a subclass of `ExtensionPoint` with
    an `ask`; `about` names what it is asked about. `switches`, such as "enabled_node_order", let a configuration turn
    answers off; without any they count always. `how` goes to the rule. Raises `ValueError` for a name that is taken.

    >>> register_extension_point("fee", Sum, about=["queue"])
    >>> extension_points(None)["fee"].rule
    'sum'
    >>> del _OWN["fee"]
    """
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise ValueError(f"the extension point's name is {name!r}; allowed is a name as a method has it, such as may_start.")
    if name in POINT_NAMES:
        raise ValueError(f'"{name}" is an extension point of Volcano; choose another name for your own.')
    if not (isinstance(rule, type) and issubclass(rule, ExtensionPoint)):
        raise ValueError(f'the rule of extension point "{name}" is {rule!r}; allowed is a class such as AllAgree or Sum.')
    unknown = [switch for switch in switches if switch not in SWITCHES.values()]
    if unknown:
        raise ValueError(f'extension point "{name}" names switch {unknown[0]!r}; allowed are {", ".join(SWITCHES.values())}.')
    rule(name, *switches, **how)  # here a rule that wants more is noticed at once
    _OWN[name] = (lambda: rule(name, *switches, **how)), tuple(about)


def own_arguments(point: str) -> tuple[str, ...]:
    """What a question of one's own is asked about, by name; () where nobody said."""
    return _OWN[point][1] if point in _OWN else ()


def _volcanos(ssn: Any) -> list[ExtensionPoint]:
    """Those that Volcano has, in its order."""
    return [
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
        FirstObjection("job_valid", answer=answers.INVALID),
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
        ByPlugin("hyper_node_order", "enabled_hyper_node_order", answer=answers.SCORES),
        FirstAnswer("target_job", "enabled_target_job"),
        FirstAnswer("hyper_node_gradient_for_job", "enabled_hyper_node_gradient", otherwise=_itself, default=ITSELF,
                    answer=answers.LEVELS),
        FirstAnswer("hyper_node_gradient_for_sub_job", "enabled_hyper_node_gradient", otherwise=_itself, default=ITSELF,
                    answer=answers.LEVELS),
    ]


def _older(left: Any, right: Any) -> bool:
    """The one created first; at the same time, the one whose uid is smaller."""
    return (left.creation_timestamp, left.uid) < (right.creation_timestamp, right.uid)


def _lower_index(left: Any, right: Any) -> bool:
    return (left.match_index, left.uid) < (right.match_index, right.uid)


def _itself(job: Any, hyper_node: Any) -> list[list[Any]]:
    """Nobody sorts HyperNodes by how near they are: the one asked about is tried, and no other."""
    return [[hyper_node]]


POINT_NAMES = tuple(point.name for point in _volcanos(None))
"""Volcano's, without those of one's own."""
