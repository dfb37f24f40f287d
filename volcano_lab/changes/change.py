"""A change: settings, objects added and removed, a configuration; parsed and applied.

Volcano: none
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Self

from attrs import define

from volcano_lab.api.objects import KubernetesObject, PodGroup
from volcano_lab.changes.conf import change_conf, parted
from volcano_lab.changes.draft import Draft, Index
from volcano_lab.changes.job_fields import at_path, field_of
from volcano_lab.changes.objects import Setting, apply, change
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.framework.config.conf import ALL_SWITCHES
from volcano_lab.manifests.loader import Loaded

PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][\w./-]*"
                   r"|-?\d+(?:m|[KMGTPE]i?)?")


@define(slots=True, frozen=True)
class Change:
    """A change of a cluster and its configuration: `settings` (`KIND/NAME.FIELD=VALUE`),
    `removals` (`KIND/NAME`) and objects that are `added`.

    >>> from volcano_lab.api.objects import Node, ObjectMeta
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> more = Change(("node/a.unschedulable=true",)) + Change(("conf/actions=allocate",))
    >>> world, conf = more.applied([Node(ObjectMeta("a"))], load_conf())
    >>> world[0].spec.unschedulable, conf.actions
    (True, ['allocate'])
    """

    settings: tuple[str, ...] = ()
    removals: tuple[str, ...] = ()
    added: tuple[KubernetesObject, ...] = ()

    def __add__(self, other: Self) -> "Change":
        """Combine two changes; the second one's settings replace those of the first."""
        again = {_target(text) for text in other.settings if "+=" not in text}
        kept = tuple(text for text in self.settings if _target(text) not in again)
        return Change(kept + other.settings,
                      tuple(dict.fromkeys(self.removals + other.removals)),
                      self.added + other.added)

    def has(self, other: Self) -> bool:
        """Return whether this change includes all of another."""
        return {*self.settings, *self.removals} >= {*other.settings, *other.removals}

    @property
    def targets(self) -> set[str]:
        """The names of objects that are set or removed."""
        return {*map(_target, self.settings), *self.removals}

    @property
    def of_manifest(self) -> bool:
        """Whether it names whole paths, as manifests have them, or the phase of a Job, by which its
        controller creates pods.
        """
        return any(".spec." in text or ".state.phase=" in text for text in self.settings)

    @property
    def args(self) -> list[str]:
        """The arguments of `volcano-lab what-if`."""
        return [word for text in self.settings for word in ("--set", text)] + [
            word for text in self.removals for word in ("--remove", text)]

    def applied(self, world: Sequence[KubernetesObject], conf: SchedulerConfiguration,
                index: Index | None = None) -> tuple[Loaded, SchedulerConfiguration]:
        """Return the scheduler's objects and configuration, changed. Raises `ManifestError`."""
        of_objects, of_conf = parted(self.settings)
        draft = Draft(world, index)
        for obj in self.added:
            draft.add(obj)
        apply(draft, of_objects, self.removals)
        return draft.loaded(), change_conf(conf, of_conf) if of_conf else conf

    def given(self, objects: Sequence[KubernetesObject], conf: SchedulerConfiguration
              ) -> tuple[Loaded, SchedulerConfiguration]:
        """Return manifests changed, as the scheduler receives them. Raises `ManifestError`."""
        of_objects, of_conf = parted(self.settings)
        every = [*objects, *self.added] if self.added else objects
        return change(every, of_objects, self.removals), change_conf(conf, of_conf)


def _target(text: str) -> str:
    return text.partition("=")[0].removesuffix("+")


def value_text(value: Any) -> str:
    """Return a value in the syntax of a setting.

    >>> value_text("4Gi"), value_text(True), value_text({"a": 1})
    ('4Gi', 'true', '{"a": 1}')
    """
    if isinstance(value, str) and PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def path_text(*steps: str) -> str:
    """Return the path of a field; a name with dots is put in brackets.

    >>> path_text("queue/a", "capability", "nvidia.com/gpu")
    'queue/a.capability[nvidia.com/gpu]'
    """
    return steps[0] + "".join(f"[{step}]" if "." in step else f".{step}" for step in steps[1:])


def value_before(draft: Draft, conf: SchedulerConfiguration, text: str) -> Any:
    """Return the value that a setting replaces, as plain data; None without one.

    >>> from volcano_lab.framework.config.conf import load_conf
    >>> value_before(Draft([]), load_conf("actions: allocate"), "conf/actions=enqueue, allocate")
    'allocate'
    """
    target = _target(text)
    if target.startswith("conf/"):
        return ", ".join((conf.refused or conf).actions if target == "conf/actions" else
                         conf.ignored_provisioners)
    if target.startswith("plugin/"):
        return _option(conf, *target.removeprefix("plugin/").partition(".")[::2])
    setting = Setting.read(text)
    if not setting.exists_in(draft):
        return None
    place, steps, obj = setting.split(draft)
    if isinstance(obj, PodGroup) and not setting.of_group and steps[0] == "spec" and steps[1:]:
        return field_of(draft, place, steps[1:], setting.value)
    return at_path(obj, steps)


def _option(conf: SchedulerConfiguration, name: str, field: str) -> Any:
    for number, option in ((number, option) for number, tier in enumerate(conf.tiers, 1)
                           for option in tier.plugins if option.name == name):
        if field in ALL_SWITCHES:
            return bool(option.enables(field))
        return number if field == "tier" else option.arguments.get(field)
    return None
