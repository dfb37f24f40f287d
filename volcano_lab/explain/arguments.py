"""Arguments and switches of the configuration that nothing reads, and those that are meant.

Volcano: none
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from volcano_lab.changes import value_text
from volcano_lab.explain.explanation import Cause, deciding
from volcano_lab.framework import Session
from volcano_lab.framework.config.conf import ALL_SWITCHES
from volcano_lab.messages import Message, meant

OF_PLUGIN = re.compile(r"tiers\[(\d+)\]\.plugins\[(\d+)\]\.(.+)")
"""Where a key of a plugin is that is neither a switch nor below its arguments."""
ALIKE = 0.85


def slips(ssn: Session) -> Iterator[tuple[str, str, str, str]]:
    """Yield (a key that nothing reads, the plugin and the key that are meant, the setting of this),
    by its name or at the plugin that reads it.

    >>> from volcano_lab.cluster import Cluster
    >>> conf = "{actions: allocate, tiers: [{plugins: [{name: overcommit, arguments: {"
    >>> cycle = Cluster().run(conf=conf + "overcommitFactor: 2}}]}]}")
    >>> print(*next(slips(cycle.session)))
    overcommitFactor overcommit overcommit-factor plugin/overcommit.overcommit-factor=2
    """
    for own, key, value in _unread(ssn):
        for name in sorted(ssn.plugins, key=lambda name: name != own):
            known = {*ssn.plugins[name].arguments.asked, *(ALL_SWITCHES if name == own else ())}
            if right := key if key in known else meant(key, sorted(known), ALIKE):
                yield key, name, right, f"plugin/{name}.{right}={value_text(value)}"
                break


def _unread(ssn: Session) -> Iterator[tuple[str, str, Any]]:
    """Yield (the plugin or action, a key of it that nothing reads, its value)."""
    tiers, actions = ssn.conf.tiers, ssn.conf.configurations.items()
    for name, given in chain(actions, ((each.name, each.arguments)
                                       for tier in tiers for each in tier.plugins)):
        yield from ((name, key, value) for said in given.unknown() for key, value in given.items()
                    if key == said.facts["key"])
    for said in ssn.conf.warnings:
        if found := OF_PLUGIN.fullmatch(str(said.facts.get("where"))):
            tier, place = map(int, found.groups()[:2])
            yield tiers[tier].plugins[place].name, found[3], said.facts["value"]


def unread(ssn: Session, causes: Iterable[Cause]) -> Iterator[Cause]:
    """Yield the keys that nothing reads and are meant for a plugin that decides in some causes."""
    named = deciding(causes)
    if parts := [Message("argument_slip.switch" if right in ALL_SWITCHES else "argument_slip.part",
                         key=key, plugin=name, right=right)
                 for key, name, right, _ in slips(ssn) if name in named]:
        yield Cause.of("argument_slip", context=True, parts=parts)
