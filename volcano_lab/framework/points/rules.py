"""The rules that combine the plugins' answers to one extension point.

An extension point is one object that holds the plugins' functions, tier by tier, and a rule. In
Volcano each point is a method with its own loop over the tiers.

The rules include Volcano's traps. Victims: an empty answer ends its tier, and the *next tier*
decides; it is no veto. Votes: a permit in one tier skips all later tiers.

Volcano: pkg/scheduler/framework/session_plugins.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Self

from volcano_lab.framework.points import answers
from volcano_lab.framework.points.answers import Answer

if TYPE_CHECKING:
    from volcano_lab.framework.config.conf import PluginOption, Tier

PERMIT, ABSTAIN, REJECT = 1, 0, -1
"""A vote. Within a tier one reject decides against, otherwise one permit decides for; abstentions
do not count.
"""

Function = Callable[..., Any]


class NoScore(Exception):
    """Raised by a plugin's `node_order` that cannot score a node: the node then gets 0 from all
    plugins together.
    """


class ExtensionPoint:
    """One row of the table of extension points and, in a session, the plugins' functions for it.

    A rule is a subclass with `ask`; register your own with `register_extension_point`.

    Attributes:
        name: The name of the plugins' methods and of the session's.
        switches: Keys of the configuration of which any one enables a plugin; without any it is
            always enabled.
        arguments: The names of the point's arguments.
        sentence: The question, in one sentence.
        asked_by: The actions that call it.
        rule: How answers combine, in words.
        default: The result without any answer, in words.
        otherwise: The function that returns the result without any answer, for rules with one.
        answer: The allowed answers of a plugin.
        functions: The plugins' registered functions; `tiers` has the enabled ones in order, each as
            (plugin, function), `flat` the functions alone.
        lone: True if a single function's result needs no combining and may be called directly.
    """

    rule = default = ""
    answer: Answer = answers.ANYTHING
    lone = False
    otherwise: Function | None = None

    def __init__(self, name: str, *switches: str, arguments: tuple[str, ...] = (),
                 sentence: str = "", asked_by: str = "", default: str = "",
                 answer: Answer | None = None, method: Function | None = None):
        self.name, self.switches, self.arguments, self.method = name, switches, arguments, method
        self.asked_by, self.sentence = tuple(asked_by.split()), sentence
        self.default, self.answer = default or self.default, answer or self.answer
        self._forget()

    def _forget(self) -> None:
        self.functions: dict[str, Function] = {}
        self.tiers: list[list[tuple[str, Function]]] = []
        self.flat: list[Function] = []

    def for_session(self, ssn: Any) -> Self:
        """Return a copy for one session, without functions."""
        point = object.__new__(type(self))
        vars(point).update(vars(self))
        point._forget()
        if self.method is not None and self.otherwise is not None:
            vars(point)["otherwise"] = partial(self.method, ssn)
        return point

    def register(self, plugin: str, function: Function) -> None:
        self.functions[plugin] = function

    def enabled(self, option: PluginOption) -> bool:
        """Return whether the configuration enables a plugin here."""
        return not self.switches or any(option.enables(switch) for switch in self.switches)

    def arrange(self, tiers: list[Tier], watch: Function | None = None) -> None:
        """Sort the registered functions by tier; `watch(point, tier, plugin, function)` may wrap
        each.
        """
        if not self.functions:
            self.tiers, self.flat = [[] for _ in tiers], []
            return

        def wrapped(tier: int, plugin: str, function: Any) -> Any:
            if isinstance(function, list):
                return [wrapped(tier, plugin, each) for each in function]
            return watch(self, tier, plugin, function) if watch else function

        self.tiers = [[(o.name, wrapped(number, o.name, self.functions[o.name]))
                       for o in tier.plugins if o.name in self.functions and self.enabled(o)]
                      for number, tier in enumerate(tiers)]
        self.flat = [function for tier in self.tiers for _, function in tier]

    def unwatched(self, ssn: Any) -> Self:
        """Return a copy for the same session whose functions no observer wraps."""
        point = self.for_session(ssn)
        point.functions = self.functions
        point.arrange(ssn.conf.tiers)
        return point

    def split(self, selects: Callable[[str], bool]) -> tuple[Self, Self]:
        """Return this point with the first tiers only, as long as `selects` holds for all their
        plugins, and with the other tiers.
        """
        first, other = copy(self), copy(self)
        first.tiers = [*takewhile(lambda tier: all(selects(plugin) for plugin, _ in tier),
                                  self.tiers)]
        other.tiers = self.tiers[len(first.tiers):]
        return first, other

    def asked(self) -> Function:
        """Return the function that the session calls: `ask`, or a lone plugin's own."""
        return self.flat[0] if self.lone and len(self.flat) == 1 else self.ask

    def ask(self, *args: Any) -> Any:
        """Return the combined answer."""
        raise NotImplementedError

    def __repr__(self) -> str:
        plugins = ", ".join(plugin for tier in self.tiers for plugin, _ in tier)
        return f"<{type(self).__name__} {self.name}: {plugins or 'no plugin'}>"


class FirstDifference(ExtensionPoint):
    """Which of two comes first: the first comparison that is not zero; negative means the left."""

    rule = "the first comparison that is not zero"
    default = "the left one"
    answer = answers.COMPARISON

    @staticmethod
    def otherwise(*args: Any) -> bool:
        return True

    def ask(self, *args: Any) -> bool:
        for function in self.flat:
            order: float = function(*args)
            if order:
                return order < 0
        return self.otherwise(*args)


class AllTrue(ExtensionPoint):
    """True unless any plugin returns False."""

    rule = "all must agree"
    answer = answers.TRUTH
    default = "yes"
    lone = True

    def ask(self, *args: Any) -> bool:
        for function in self.flat:  # noqa: SIM110 - a generator is measurably slower here
            if not function(*args):
                return False
        return True


class AnyTrue(ExtensionPoint):
    """False unless any plugin returns True."""

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
    """The first tier with any function decides; all in it must agree. Without any: False."""

    rule = "all of the first tier that has one"
    answer = answers.TRUTH
    default = "no"

    def ask(self, *args: Any) -> bool:
        for tier in self.tiers:
            for _, function in tier:
                if not function(*args):
                    return False
            if tier:
                return True
        return False


class Vote(ExtensionPoint):
    """A reject decides at once; a permit decides at the end of its tier; if all abstain: True."""

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
    """The first answer that is not None, an objection; None without any."""

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
    """The first answer that is not None: a choice. None if no plugin chooses."""

    rule = "the first choice"
    answer = answers.ANYTHING


class FirstAnswer(ExtensionPoint):
    """The answer of the first plugin that has the function."""

    rule = "the first plugin that has one, alone"
    default = "none"

    @staticmethod
    def otherwise(*args: Any) -> Any:
        return None

    def ask(self, *args: Any) -> Any:
        return (self.flat[0] if self.flat else self.otherwise)(*args)


class Notify(ExtensionPoint):
    """Notify every plugin; no answers."""

    rule = "all are called"
    default = "nothing"

    def ask(self, *args: Any) -> None:
        for function in self.flat:
            function(*args)


class Victims(ExtensionPoint):
    """Tasks that may be evicted: those that all voters of a tier list; the first tier with any
    decides.

    A function returns (tasks, vote). An empty list ends its tier, and the next tier decides. After
    an empty intersection of two lists, the next plugin of the tier replaces it.
    """

    rule = "intersection within a tier, the first tier with any left"
    answer = answers.VICTIMS
    default = "none"

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
    """The union of the tasks that the functions of a tier list; the first tier with any decides.

    A plugin may register several functions, as a list.
    """

    rule = "union within a tier, the first tier with any"
    answer = answers.TASKS
    default = "none"

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
    """The sum of the scores; 0 if any plugin cannot score (`NoScore`)."""

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
    """Scores by node name, summed by name."""

    rule = "sum by node"
    answer = answers.SCORES
    default = "none"

    def ask(self, *args: Any) -> dict[str, float]:
        return _added(function(*args) for function in self.flat)


class ByPlugin(ExtensionPoint):
    """Each plugin's answer under its name."""

    rule = "each under its plugin's name"
    answer = answers.SCORE
    default = "none"

    def ask(self, *args: Any) -> dict[str, Any]:
        return {plugin: function(*args) for tier in self.tiers for plugin, function in tier}


class Reduce(ExtensionPoint):
    """Each plugin normalises its own mapped scores ({plugin: {node: score}}); they are then summed
    by node.
    """

    rule = "each reduces its own, then the sum by node"
    answer = answers.SCORES
    default = "none"

    def ask(self, task: Any, mapped: dict[str, dict[str, float]]) -> dict[str, float]:
        return _added(function(task, mapped.get(plugin, {}))
                      for tier in self.tiers for plugin, function in tier)


def _added(parts: Iterable[dict[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for scores in parts:
        for name, score in scores.items():
            total[name] = total.get(name, 0.0) + score
    return total
