"""Extension points: the questions that the session asks its plugins, and how their answers combine.

Answers to `pkg/scheduler/framework/session_plugins.go`, where each question is a method with its own loop over
the tiers. Here a question is one object that holds the plugins' functions, tier by tier, and a rule.

The traps are part of the rules. Victims: an empty answer ends its tier, and the *next tier* decides; it is no veto.
Votes: a permit in one tier keeps later tiers from being asked at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from volcano_lab.framework import answers
from volcano_lab.framework.answers import Answer
from volcano_lab.framework.conf import PluginOption, Tier

PERMIT, ABSTAIN, REJECT = 1, 0, -1
"""A vote. In a tier one reject decides against, else one permit decides for; abstaining leaves it to the others."""


class NoScore(Exception):
    """Raised by a plugin's `node_order` that can't tell: the node then gets 0 from all plugins together."""


class ExtensionPoint:
    """One question: its name, the switches that turn a plugin's answer on (any of them; none: always on), its rule.

    `ask` puts the question; `functions` is what plugins registered, `tiers` the enabled ones in order,
    each as (plugin, function). `rule` says in words how answers combine, `default` what holds where nobody answers,
    `answer` what a plugin may answer. A rule of one's own is a subclass with `ask`; `points.register_extension_point`
    makes a question of one's own known.
    """

    rule = ""
    default = ""
    answer: Answer = answers.ANYTHING
    lone = False
    """Whether the answer of a single function is the combined answer."""

    def __init__(self, name: str, *switches: str, answer: Answer | None = None):
        self.name = name
        self.switches = switches
        if answer is not None:
            self.answer = answer
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
        ]
        self.flat = [function for tier in self.tiers for _, function in tier]

    def asked(self) -> Callable[..., Any]:
        """What the session calls: `ask`, or where a single function is left and combining adds nothing, that one."""
        return self.flat[0] if self.lone and len(self.flat) == 1 else self.ask

    def ask(self, *args: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        plugins = ", ".join(plugin for tier in self.tiers for plugin, _ in tier)
        return f"<{type(self).__name__} {self.name}: {plugins or 'nobody'}>"


class FirstDifference(ExtensionPoint):
    """Which of two comes first: the first comparison that isn't zero; negative means the left one."""

    rule = "the first comparison that is not zero"
    answer = answers.COMPARISON

    def __init__(self, name: str, *switches: str, otherwise: Callable[..., bool] = lambda *_: True,
                 default: str = "the left one"):
        super().__init__(name, *switches)
        self.otherwise, self.default = otherwise, default

    def ask(self, *args: Any) -> bool:
        for function in self.flat:
            order = function(*args)
            if order:
                return order < 0
        return self.otherwise(*args)


class AllAgree(ExtensionPoint):
    """Yes, unless anybody says no."""

    rule = "all must agree"
    answer = answers.TRUTH
    default = "yes"
    lone = True

    def ask(self, *args: Any) -> bool:
        for function in self.flat:  # noqa: SIM110 - asked so often that a generator shows
            if not function(*args):
                return False
        return True


class AnySays(ExtensionPoint):
    """No, unless anybody says yes."""

    rule = "any one suffices"
    answer = answers.TRUTH
    default = "no"
    lone = True

    def ask(self, *args: Any) -> bool:
        for function in self.flat:  # noqa: SIM110 - as above
            if function(*args):
                return True
        return False


class AllOfFirstTier(ExtensionPoint):
    """The first tier in which anybody has an opinion decides; there all must agree. Without any: no."""

    rule = "all of the first tier that has one"
    answer = answers.TRUTH
    default = "no"

    def ask(self, *args: Any) -> bool:
        for tier in self.tiers:
            if not all(function(*args) for _, function in tier):
                return False
            if tier:
                return True
        return False


class Vote(ExtensionPoint):
    """One reject says no at once; a permit says yes at the end of its tier; where all abstain: yes."""

    rule = "a reject ends it, a permit ends it after its tier"
    answer = answers.VOTE
    default = "yes"

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
    answer = answers.OBJECTION
    default = "none"
    lone = True

    def ask(self, *args: Any) -> Any:
        for function in self.flat:
            objection = function(*args)
            if objection is not None:
                return objection
        return None


class FirstChoice(FirstObjection):
    """The first answer that isn't None: a choice. None where nobody chooses."""

    rule = "the first choice"
    answer = answers.ANYTHING


class FirstAnswer(ExtensionPoint):
    """The first plugin that has the function answers alone, whatever it says."""

    rule = "the first plugin that has one, alone"

    def __init__(self, name: str, *switches: str, otherwise: Callable[..., Any] = lambda *_: None,
                 default: str = "none", answer: Answer | None = None):
        super().__init__(name, *switches, answer=answer)
        self.otherwise, self.default = otherwise, default

    def ask(self, *args: Any) -> Any:
        for function in self.flat:
            return function(*args)
        return self.otherwise(*args)


class Tell(ExtensionPoint):
    """Everybody is told; nobody answers."""

    rule = "all are told"
    default = "nothing"

    def ask(self, *args: Any) -> None:
        for function in self.flat:
            function(*args)


class Victims(ExtensionPoint):
    """Tasks that may be evicted: within a tier what all who vote name; the first tier with any decides.

    A function answers (tasks, vote). An empty list ends its tier, and the next tier decides. Where the
    intersection of two lists is empty, the next plugin of the tier starts afresh.
    """

    rule = "intersection within a tier, the first tier with any left"
    answer = answers.VICTIMS
    default = "nobody"

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
    answer = answers.TASKS
    default = "nobody"

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
    """The sum of the scores; nothing at all where one of them can't be told (`NoScore`)."""

    rule = "sum"
    answer = answers.SCORE
    default = "0"

    def ask(self, *args: Any) -> float:
        score = 0.0
        try:
            for function in self.flat:
                score += function(*args)
        except NoScore:
            return 0.0
        return score


class SumByName(ExtensionPoint):
    """Scores by node name, added up name by name."""

    rule = "sum by node"
    answer = answers.SCORES
    default = "none"

    def ask(self, *args: Any) -> dict[str, float]:
        total: dict[str, float] = {}
        for function in self.flat:
            for name, score in function(*args).items():
                total[name] = total.get(name, 0.0) + score
        return total


class ByPlugin(ExtensionPoint):
    """Every plugin's answer under its name."""

    rule = "each under its plugin's name"
    answer = answers.SCORE
    default = "none"

    def ask(self, *args: Any) -> dict[str, Any]:
        return {plugin: function(*args) for tier in self.tiers for plugin, function in tier}


class Reduce(ExtensionPoint):
    """Each plugin evens out its own mapped scores ({plugin: {node: score}}); then they are added up by node."""

    rule = "each reduces its own, then the sum by node"
    answer = answers.SCORES
    default = "none"

    def ask(self, task: Any, mapped: dict[str, dict[str, float]]) -> dict[str, float]:
        total: dict[str, float] = {}
        for tier in self.tiers:
            for plugin, function in tier:
                for name, score in function(task, mapped.get(plugin, {})).items():
                    total[name] = total.get(name, 0.0) + score
        return total
