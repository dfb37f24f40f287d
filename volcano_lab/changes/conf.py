"""Changes of a configuration by name: `plugin/gang.enableJobStarving=false`, `conf/actions=…`.

Volcano: none
"""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from volcano_lab.framework import SchedulerConfiguration, action_names
from volcano_lab.framework.config.conf import ALL_SWITCHES, PluginOption, action_list, provisioners
from volcano_lab.framework.plugin import plugin_names
from volcano_lab.manifests import ManifestError, Unreadable, found_text, values
from volcano_lab.messages import Message, did_you_mean, gettext

IN_CONF = ("plugin/", "conf/")
"""The prefixes of settings of the configuration."""


def parted(settings: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the settings of objects, and those of the configuration.

    >>> parted(["queue/a.weight=5", "conf/actions=allocate"])
    (['queue/a.weight=5'], ['conf/actions=allocate'])
    """
    parts: tuple[list[str], list[str]] = ([], [])
    for setting in settings:
        parts[setting.startswith(IN_CONF)].append(setting)
    return parts


def change_conf(conf: SchedulerConfiguration, settings: Sequence[str]) -> SchedulerConfiguration:
    r"""Return the configuration with arguments and switches of plugins set
    (`plugin/NAME.ARGUMENT=VALUE`), a plugin at the head of a tier (`plugin/NAME.tier=1`) or without
    it (`plugin/NAME.tier=null`), other actions (`conf/actions=NAME,NAME`) or provisioners whose
    volumes are not counted (`conf/ignored-provisioners=NAME,NAME`). With other actions, one that
    Volcano refuses for its actions takes the place of the one that it runs with.

    Raises `ManifestError` where the configuration does not name the plugin, `ConfError` for an
    unknown action.

    >>> from volcano_lab.framework.config.conf import load_conf
    >>> conf = load_conf("actions: allocate\ntiers: [{plugins: [{name: binpack}]}]")
    >>> changed = change_conf(conf, ["plugin/binpack.binpack.cpu=3", "conf/actions=allocate"])
    >>> changed.tiers[0].plugins[0].arguments, changed.actions
    ({'binpack.cpu': 3}, ['allocate'])
    """
    named = any(setting.startswith("conf/actions=") for setting in settings)
    conf = ((named and conf.refused) or conf).copy()
    for setting in settings:
        target, _, text = setting.partition("=")
        name, _, field = target.removeprefix("plugin/").partition(".")
        if target == "conf/actions":
            conf.actions = action_list(text, action_names())
        elif target == "conf/ignored-provisioners":
            conf.ignored_provisioners = provisioners(text)
        elif target.startswith("conf/"):
            raise ManifestError("setting.conf", setting=setting)
        elif field == "tier":
            _move(conf, name, value_of(text, setting), setting)
        elif not field or name not in conf.plugin_names():
            raise ManifestError("setting.argument", setting=setting,
                                names=conf.plugin_names() or gettext("none"))
        else:
            value = value_of(text, setting)
            for tier in conf.tiers:
                tier.plugins[:] = [_with_option(option, field, value, setting)
                                   if option.name == name else option for option in tier.plugins]
    return conf


def _move(conf: SchedulerConfiguration, name: str, number: Any, where: str) -> None:
    """Move a plugin to the head of a tier, or remove it."""
    if number is not None and (type(number) is not int or not 0 < number <= len(conf.tiers)):
        raise ManifestError("setting.tier", where=where, number=found_text(number),
                            count=len(conf.tiers))
    there = [option for tier in conf.tiers for option in tier.plugins if option.name == name]
    if not there and name not in (known := plugin_names()):
        hint = did_you_mean(name, known, Message("hint.known", known=sorted(known)))
        raise ManifestError("setting.plugin", where=where, name=name, hint=hint)
    for tier in conf.tiers:
        tier.plugins[:] = [option for option in tier.plugins if option.name != name]
    if number is not None:
        conf.tiers[number - 1].plugins.insert(0, there[0] if there else PluginOption(name))


def _with_option(option: PluginOption, field: str, value: Any, where: str) -> PluginOption:
    """Return a plugin with another switch or argument."""
    if field not in ALL_SWITCHES:
        arguments = {**option.arguments, field: value}
        if value is None:
            del arguments[field]
        return attrs.evolve(option, arguments=type(option.arguments)(arguments))
    if not isinstance(value, bool):
        raise ManifestError("setting.switch", where=where, field=field)
    return attrs.evolve(option, switches={**option.switches, field: value})


def value_of(text: str, where: str) -> Any:
    """Return the value of a YAML text. Raises `ManifestError`."""
    try:
        found = values(text)
    except Unreadable as error:
        raise ManifestError("setting.problem", where=where, problem=error) from None
    return found[0] if found else None
