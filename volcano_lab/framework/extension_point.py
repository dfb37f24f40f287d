"""Extension points: the questions that the session asks its plugins, and how their answers combine.

Answers to `pkg/scheduler/framework/session_plugins.go`, where each question is a method with its own loop over
the tiers. Here a question is one object that holds the plugins' functions, tier by tier, and a rule.

The traps are part of the rules. Victims: an empty answer ends its tier, and the *next tier* decides; it is no veto.
Votes: a permit in one tier keeps later tiers from being asked at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from volcano_lab.framework.conf import PluginOption, Tier

PERMIT, ABSTAIN, REJECT = 1, 0, -1
"""A vote. In a tier one reject decides against, else one permit decides for; abstaining leaves it to the others."""


class ExtensionPoint:
    """One question: its name, the switches that turn a plugin's answer on (any of them; none: always on), its rule.

    `ask` puts the question; `functions` is what plugins registered, `tiers` the enabled ones in order,
    each as (plugin, function).
    """

    rule = ""
    lone = False
    """Whether the answer of a single function is the combined answer."""

    def __init__(self, name: str, *switches: str):
        self.name = name
        self.switches = switches
        self.functions: dict[str, Callable[..., Any]] = {}
        self.tiers: list[list[tuple[str, Callable[..., Any]]]] = []
        self.flat: list[Callable[..., Any]] = []

    def register(self, plugin: str, function: Callable[..., Any]) -> None:
        self.functions[plugin] = function

    def enabled(self, option: PluginOption) -> bool:
        return not self.switches or any(getattr(option, switch) for switch in self.switches)

    def arrange(self, tiers: list[Tier], watch: Callable[..., Callable[..., Any]] | None = None) -> None:
        """Put the registered functions into the tiers' order; `watch(point, tier, plugin, function)` may wrap each."""
        wrap = watch or (lambda point, tier, plugin, function: function)
        self.tiers = [
            [(o.name, wrap(self, number, o.name, self.functions[o.name])) for o in tier.plugins
             if o.name in self.functions and self.enabled(o)]
            for number, tier in enumerate(tiers)
        ]  # fmt: skip
        self.flat = [function for tier in self.tiers for _, function in tier]

    def asked(self) -> Callable[..., Any]:
        """What the session calls: `ask`, or where a single function is left and combining adds nothing, that one."""
        return self.flat[0] if self.lone and len(self.flat) == 1 else self.ask

    def ask(self, *args: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {', '.join(p for tier in self.tiers for p, _ in tier) or 'nobody'}>"


class FirstDifference(ExtensionPoint):
    """Which of two comes first: the first comparison that isn't zero; negative means the left one."""

    rule = "the first comparison that is not zero"

    def __init__(self, name: str, *switches: str, otherwise: Callable[..., bool]):
        super().__init__(name, *switches)
        self.otherwise = otherwise

    def ask(self, *args: Any) -> bool:
        for function in self.flat:
            order = function(*args)
            if order:
                return order < 0
        return self.otherwise(*args)


class AllAgree(ExtensionPoint):
    """Yes, unless anybody says no."""

    rule = "all must agree"
    lone = True

    def ask(self, *args: Any) -> bool:
        for function in self.flat:
            if not function(*args):
                return False
        return True


class AnySays(ExtensionPoint):
    """No, unless anybody says yes."""

    rule = "any one suffices"
    lone = True

    def ask(self, *args: Any) -> bool:
        for function in self.flat:
            if function(*args):
                return True
        return False


class AllOfFirstTier(ExtensionPoint):
    """The first tier in which anybody has an opinion decides; there all must agree. Without any: no."""

    rule = "all of the first tier that has one; no by default"

    def ask(self, *args: Any) -> bool:
        for tier in self.tiers:
            if not all(function(*args) for _, function in tier):
                return False
            if tier:
                return True
        return False


class Vote(ExtensionPoint):
    """One reject says no at once; a permit says yes at the end of its tier; where all abstain: yes."""

    rule = "a reject ends it, a permit ends it after its tier, else yes"

    def ask(self, *args: Any) -> bool:
        for tier in self.tiers:
            permitted = False
            for _, function in tier:
                vote = function(*args)
                if vote < 0:
                    return False
                permitted = permitted or vote > 0
            if permitted:
                return True
        return True


class FirstObjection(ExtensionPoint):
    """The first answer that isn't None: a reason why not. None where nobody objects."""

    rule = "the first objection"
    lone = True

    def ask(self, *args: Any) -> Any:
        for function in self.flat:
            objection = function(*args)
            if objection is not None:
                return objection
        return None


class FirstAnswer(ExtensionPoint):
    """The first plugin that has the function answers alone; None where nobody has it."""

    rule = "the first plugin that has one, alone"

    def ask(self, *args: Any) -> Any:
        for function in self.flat:
            return function(*args)
        return None


class Tell(ExtensionPoint):
    """Everybody is told; nobody answers."""

    rule = "all are told"

    def ask(self, *args: Any) -> None:
        for function in self.flat:
            function(*args)


class Victims(ExtensionPoint):
    """Tasks that may be evicted: within a tier what all who vote name; the first tier with any decides.

    A function answers (tasks, vote). An empty list ends its tier, and the next tier decides. Where the
    intersection of two lists is empty, the next plugin of the tier starts afresh.
    """

    rule = "intersection within a tier, the first tier with any left"

    def ask(self, claimant: Any, candidates: list[Any]) -> list[Any]:
        for tier in self.tiers:
            victims: list[Any] = []
            for _, function in tier:
                named, vote = function(claimant, candidates)
                if vote == ABSTAIN:
                    continue
                if not named:
                    victims = []
                    break
                if victims:
                    uids = {task.uid for task in named}
                    victims = [task for task in victims if task.uid in uids]
                else:
                    victims = named
            if victims:
                return victims
        return []


class UnionOfFirstTier(ExtensionPoint):
    """All that the functions of a tier name together; the first tier with any decides.

    A plugin may register several functions, as a list.
    """

    rule = "union within a tier, the first tier with any"

    def ask(self, tasks: list[Any]) -> list[Any]:
        for tier in self.tiers:
            named: dict[int, Any] = {}
            for _, functions in tier:
                for function in functions if isinstance(functions, list) else [functions]:
                    named.update((id(task), task) for task in function(tasks))
            if named:
                return list(named.values())
        return []


class Sum(ExtensionPoint):
    """The sum of the scores."""

    rule = "sum"

    def ask(self, *args: Any) -> float:
        score = 0.0
        for function in self.flat:
            score += function(*args)
        return score


class SumByName(ExtensionPoint):
    """Scores by node name, added up name by name."""

    rule = "sum by node"

    def ask(self, *args: Any) -> dict[str, float]:
        total: dict[str, float] = {}
        for function in self.flat:
            for name, score in function(*args).items():
                total[name] = total.get(name, 0.0) + score
        return total


class ByPlugin(ExtensionPoint):
    """Every plugin's answer under its name."""

    rule = "each under its plugin's name"

    def ask(self, *args: Any) -> dict[str, Any]:
        return {plugin: function(*args) for tier in self.tiers for plugin, function in tier}


class Reduce(ExtensionPoint):
    """Each plugin evens out its own mapped scores ({plugin: {node: score}}); then they are added up by node."""

    rule = "each reduces its own, then the sum by node"

    def ask(self, task: Any, mapped: dict[str, dict[str, float]]) -> dict[str, float]:
        total: dict[str, float] = {}
        for tier in self.tiers:
            for plugin, function in tier:
                for name, score in function(task, mapped.get(plugin, {})).items():
                    total[name] = total.get(name, 0.0) + score
        return total


def extension_points(ssn: Any) -> dict[str, ExtensionPoint]:
    """Every extension point of a session, by name: Volcano's, in snake_case.

    >>> points = extension_points(None)
    >>> points["allocatable"].rule, points["preemptable"].switches
    ('all must agree', ('enabled_preemptable',))
    """
    points = [
        FirstDifference("job_order", "enabled_job_order", otherwise=_older),
        FirstDifference("queue_order", "enabled_queue_order", otherwise=_older),
        FirstDifference("victim_queue_order", otherwise=lambda left, right, preemptor: not ssn.queue_order(left, right)),
        FirstDifference("task_order", "enabled_task_order", otherwise=lambda left, right: left.before(right)),
        FirstDifference("sub_job_order", "enabled_sub_job_order", otherwise=_lower_index),
        FirstDifference("cluster_order", "enabled_cluster_order", otherwise=lambda left, right: left.name < right.name),
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
        FirstObjection("best_node", "enabled_best_node"),
        ByPlugin("hyper_node_order", "enabled_hyper_node_order"),
        FirstAnswer("target_job", "enabled_target_job"),
        FirstAnswer("hyper_node_gradient_for_job", "enabled_hyper_node_gradient"),
        FirstAnswer("hyper_node_gradient_for_sub_job", "enabled_hyper_node_gradient"),
    ]
    return {point.name: point for point in points}


def _older(left: Any, right: Any) -> bool:
    """The one created first; at the same time, the one whose uid is smaller."""
    return (left.creation_timestamp, left.uid) < (right.creation_timestamp, right.uid)


def _lower_index(left: Any, right: Any) -> bool:
    return (left.match_index, left.uid) < (right.match_index, right.uid)


POINT_NAMES = tuple(extension_points(None))
