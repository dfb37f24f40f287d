"""The scheduler's configuration: actions, tiers of plugins with their switches and arguments.

`yaml.py` parses scalars as Volcano's YAML library does. Refused, as there: values of the wrong
type, an unknown action, and in one tier proportion beside drf with a hierarchy. Not refused: an
unknown plugin (the session logs it). Differs on purpose: keys that Volcano silently ignores are
listed in `warnings`.

Volcano: pkg/scheduler/conf/scheduler_conf.go, pkg/scheduler/util.go,
pkg/scheduler/plugins/defaults.go
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs
from attrs import Factory, define

from volcano_lab.framework.action import action_names
from volcano_lab.framework.config.arguments import Arguments
from volcano_lab.framework.config.yaml import ConfError, Reader
from volcano_lab.framework.points.table import SWITCHES
from volcano_lab.messages import Message, did_you_mean, one_line

ACTIONS = ("allocate", "backfill", "enqueue", "preempt", "reclaim", "shuffle")
"""Volcano's actions by name."""

DEFAULT_CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
"""
"""Volcano's default configuration."""

OFF_UNLESS_SET = ("enableHierarchy", "EnabledClusterOrder")
"""Switches that default to off; all others default to on."""

ALL_SWITCHES = frozenset(("enableHierarchy", *SWITCHES))
"""The names of all switches of a plugin."""


@define
class PluginOption:
    """A plugin in a tier: its arguments, and the switches that the configuration sets.

    >>> option = PluginOption("gang", switches={"enableJobOrder": False})
    >>> option.enables("enableJobOrder"), option.enables("enableJobReady")
    (False, True)
    """

    name: str = ""
    arguments: Arguments = Factory(Arguments)
    switches: dict[str, bool] = Factory(dict)

    def enables(self, switch: str) -> bool:
        """Return whether a switch is on, by Volcano's default where it is not set."""
        return self.switches.get(switch, switch not in OFF_UNLESS_SET)


@define
class Tier:
    """Plugins that are called together; the next tier is called only where this one decides
    nothing.
    """

    plugins: list[PluginOption] = Factory(list)


@define
class SchedulerConfiguration:
    """The configuration of a cycle: actions in order, tiers of plugins, arguments of actions, and
    the metrics source.

    `metrics` is read by the usage plugin (`type`, `address`, `interval`, ...). CSI volumes of
    `ignored_provisioners` are not counted: a flag of Volcano's scheduler, whose name is a key here.
    `warnings` are messages about keys without effect. Where Volcano refuses the configuration that
    is given, and so runs with this one, for its actions alone, it is `refused`.

    >>> load_conf().actions
    ['enqueue', 'allocate', 'backfill']
    """

    actions: list[str] = Factory(list)
    tiers: list[Tier] = Factory(list)
    configurations: dict[str, Arguments] = Factory(dict)
    metrics: dict[str, str] = Factory(dict)
    ignored_provisioners: list[str] = Factory(list)
    warnings: list[Message] = Factory(list)
    refused: SchedulerConfiguration | None = None

    def copy(self) -> SchedulerConfiguration:
        """Return a copy with its own lists: replacing an entry in one does not change the other."""
        return attrs.evolve(self, actions=list(self.actions),
                            tiers=[Tier(list(tier.plugins)) for tier in self.tiers],
                            configurations=dict(self.configurations))

    def action_arguments(self, action: str) -> Arguments:
        r"""Return the arguments of an action: those of the first entry with its name, or none.

        >>> conf = load_conf("actions: preempt\nconfigurations:\n"
        ...                  "- name: preempt\n  arguments: {a: 1}")
        >>> conf.action_arguments("preempt")
        {'a': 1}
        """
        return self.configurations.get(action, Arguments())

    def plain(self) -> dict[str, Any]:
        """Return the mapping that `load_conf` reads as this configuration.

        >>> load_conf(load_conf().plain()) == load_conf()
        True
        """
        return {"actions": ", ".join(self.actions),
                "tiers": [{"plugins": [
                    {"name": option.name, "arguments": dict(option.arguments), **option.switches}
                    for option in tier.plugins]} for tier in self.tiers],
                "configurations": [{"name": name, "arguments": dict(arguments)}
                                   for name, arguments in self.configurations.items()],
                "metrics": self.metrics,
                "ignored-provisioners": ",".join(self.ignored_provisioners)}

    def plugin_names(self) -> list[str]:
        """Return all plugins' names, tier after tier."""
        return [option.name for tier in self.tiers for option in tier.plugins]


def load_conf(text: str | Mapping[str, Any] | None = None) -> SchedulerConfiguration:
    """Read the text of a `volcano-scheduler.conf`, or a mapping of the same keys; without one,
    Volcano's default.

    Actions are Volcano's and registered ones. Raises `ConfError`, with one sentence per problem,
    where Volcano refuses the configuration.

    >>> load_conf("actions: alocate")
    Traceback (most recent call last):
    ...
    volcano_lab.framework.config.yaml.ConfError: scheduler configuration: actions names \
"alocate"; allowed are allocate, backfill, enqueue, preempt, reclaim, shuffle; did you mean \
allocate?
    """
    if isinstance(text, Mapping):
        text = json.dumps(text, default=str)
    if not isinstance(text, str | None):
        raise ConfError("conf.form", found=one_line(repr(text), 100))
    reader = Reader(DEFAULT_CONF if text is None else text)
    conf = SchedulerConfiguration()
    parsed = reader.read(_CONFIGURATION)

    conf.tiers = [Tier([PluginOption(entry.get("name", ""), Arguments(entry.get("arguments", ())),
                                     {key: entry[key] for key in entry.keys() & ALL_SWITCHES})
                        for entry in tier.get("plugins", ())]) for tier in parsed.get("tiers", ())]
    for entry in parsed.get("configurations", ()):
        conf.configurations.setdefault(entry.get("name", ""), Arguments(entry.get("arguments", ())))
    conf.metrics = parsed.get("metrics", {})
    conf.ignored_provisioners = provisioners(parsed.get("ignored-provisioners", ""))
    _refuse_hierarchy_beside_proportion(conf.tiers)
    known = tuple(sorted({*ACTIONS, *action_names()}))
    if not parsed.get("actions", "").strip():
        raise ConfError("conf.no_actions", known=known)
    conf.actions = action_list(parsed["actions"], known, conf)
    conf.warnings = reader.warnings + [
        Message("conf.no_action", name=one_line(name, 100), known=known)
        for name in conf.configurations if name not in known]
    return conf


def action_list(text: str, known: tuple[str, ...], conf: Any = None) -> list[str]:
    """Return the names of actions in a text such as "enqueue, allocate". Raises `ConfError`, which
    has the `conf` that is right but for them.
    """
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise ConfError("conf.action", known=known, hint=did_you_mean(unknown[0], known), names=[
            Message("conf.action.name", name=name) for name in dict.fromkeys(unknown)],
            conf=conf and attrs.evolve(conf, actions=names))
    return names


def provisioners(text: str) -> list[str]:
    """Return the names in a text in the format of Volcano's `--ignored-provisioners`: "a,b"."""
    return text.replace(",", " ").split()


def _refuse_hierarchy_beside_proportion(tiers: list[Tier]) -> None:
    """Refuse both in one tier: each would divide the cluster between queues by its own rule.
    Volcano checks each tier separately.
    """
    for number, tier in enumerate(tiers):
        hierarchy = any(
            option.name == "drf" and option.enables("enableHierarchy") for option in tier.plugins)
        if hierarchy and any(option.name == "proportion" for option in tier.plugins):
            raise ConfError("conf.hierarchy", number=number)


_PLUGIN = {"name": "text", "arguments": "any map", **dict.fromkeys(sorted(ALL_SWITCHES), "switch")}
_CONFIGURATION = {"actions": "text", "tiers": [{"plugins": [_PLUGIN]}],
                  "configurations": [{"name": "text", "arguments": "any map"}],
                  "metrics": "text map", "ignored-provisioners": "text"}
"""The shape of the configuration: a dict is a mapping with those keys, a list a sequence of its
item.
"""
