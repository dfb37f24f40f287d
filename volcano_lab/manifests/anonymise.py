"""New names for everything that objects and a configuration name, with unchanged decisions.

Names are compared (ties are decided by ascending name), combined (a pod's name has its job, task
and number) and compared with values of labels. So words are replaced, not names: each word by
another one with the same rank among all words, wherever it occurs. Numbers, separators and public
words stay. `meanings` defines what each text is.
"""

import re
from bisect import bisect
from collections.abc import Iterable, Mapping
from functools import cache
from string import digits
from typing import Any

import attrs
import yaml

from volcano_lab.api import go_pattern, storage
from volcano_lab.api.objects import ConfigMap, HyperNode, KubernetesObject, Node, Part, VolcanoJob
from volcano_lab.framework.config.arguments import NOT_MODELLED
from volcano_lab.framework.config.conf import ACTIONS, load_conf
from volcano_lab.framework.plugin import plugin_names
from volcano_lab.manifests import conf, meanings as of, schema, writer
from volcano_lab.manifests.field_defaults import uid_of_job

CONF = "volcano-scheduler.conf"
MOST_OF_A_VALUE = 63
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)"
_ADDRESS = r"[1-9]\d{1,2}([-.])\d{1,3}\2\d{1,3}\2\d{1,3}(?!\w)"
_TOKEN = re.compile(rf"({_UUID}|{_ADDRESS}|[^\W_]+(?:_[^\W_]+)*)")
_MEASURE = re.compile(r"[-+]?(?:[0-9][0-9.]*(?:%|[a-zA-Z]{0,2}))+")
_RESOURCE = re.compile(r"((?:requests\.|limits\.|attachable-volumes-csi-)?)(.*)", re.DOTALL)
_HUGE = re.compile(r"hugepages-[0-9]+[KMGTPE]?i?")
_NAMED_KEY = re.compile(r"(node-role\.kubernetes\.io/|)(.*?)(\.storageclass\.storage\.k8s\.io/.*|)",
                        re.DOTALL)
"""Kubernetes' own keys that contain the name of a node role, or of a StorageClass."""
_KEPT = re.compile(rf"{'|'.join(of.ANCHORS)}|default[0-9]+")
"""Words that stay; `default0` is the name of a task without one."""
_FLAG = re.compile(r"(-*)([^=]*)(=?)(.*)", re.DOTALL)


class Renaming:
    """New names for the words of some objects; the same word has the same one everywhere.

    >>> from volcano_lab.manifests.loader import loads
    >>> renaming = Renaming(loads("{apiVersion: v1, kind: Node, metadata: {name: secret-7}}"))
    >>> renaming.name("secret-7"), renaming.name("default"), renaming.name("kube-system")
    ('sd1-7', 'default', 'kube-system')
    """

    def __init__(self, objects: Iterable[KubernetesObject]) -> None:
        objects = list(objects)
        self.members = sorted({obj.name for obj in objects if isinstance(obj, Node | HyperNode)})
        self.owners = {owner.name for obj in objects for owner in obj.metadata.owner_references}
        self.words: dict[str, str] = {}
        self.addresses: dict[str, str] = {}
        self.long: dict[str, str] = {}
        self._known: dict[str, str] = {}
        for obj in objects:  # the first round finds the words
            self.object(obj)
        self.words = in_order(self.words)
        self.addresses = {found: _address(rank, found)
                          for rank, found in enumerate(sorted(self.addresses))}
        self.long, self._known = {}, {}

    def object(self, obj: KubernetesObject) -> KubernetesObject:
        """Return an object with new names. A Job without a uid keeps the one that it would get: its
        PodGroup's name contains it.
        """
        if isinstance(obj, VolcanoJob) and not obj.metadata.uid and obj.name not in self.owners:
            obj = obj.changed(metadata={"uid": uid_of_job(obj.namespace or "default", obj.name)})
        return self._part(obj)

    def _part(self, part: Part) -> Any:
        meanings = of.meanings(type(part))
        return type(part)(**{name: self._value(getattr(part, name), meaning, part)
                             for name, meaning in meanings.items()})

    def _value(self, value: Any, meaning: str | None, part: Any) -> Any:
        if isinstance(value, Part):
            return self._part(value)
        if isinstance(value, list):
            kept = value if meaning != of.NOTHING else []
            return [self._value(each, meaning, part) for each in kept]
        if meaning == of.VALUE and isinstance(value, str):
            return self.label_value(part.key, value)
        return getattr(self, meaning)(value) if meaning and isinstance(value, str | dict) else value

    def name(self, text: str) -> str:
        """Return the new name."""
        if text in of.NAMES:
            return text
        if (found := self._known.get(text)) is None:
            found = self._known[text] = _TOKEN.sub(self._token, text)
        return found

    def _token(self, match: re.Match[str]) -> str:
        token = match[0]
        if match[2]:
            return self.addresses.setdefault(token, "unknown")
        rest = token.lstrip(digits)
        if not rest or _KEPT.fullmatch(rest):
            return token
        return token.removesuffix(rest) + self.words.setdefault(rest, "unknown")

    def key(self, text: str) -> str:
        """Return the new key of a label or a taint, or name of a driver."""
        before, name, after = _groups(_NAMED_KEY, text)
        if before or after:
            return before + self.name(name) + after
        return text if text in of.KEYS or _is_below(text, of.DOMAINS) else self.name(text)

    def value(self, key: str, text: str) -> str:
        """Return the new value of an annotation."""
        if key in of.MEASURED and (_MEASURE.fullmatch(text) or text in of.WORDS):
            return text
        return self.name(text)

    def label_value(self, key: str, text: str) -> str:
        """Return the new value of a label or a taint, within its maximum length."""
        other = self.value(key, text)
        if len(other) <= max(len(text), MOST_OF_A_VALUE):
            return other
        return self.long.setdefault(text, f"value{len(self.long) + 1}")

    def word(self, text: str) -> str:
        """Return a word of the API unchanged, a new name for anything else."""
        return text if text in of.public_words() else self.name(text)

    def nothing(self, text: str) -> str:
        """Leave a free text out."""
        return ""

    def reason(self, text: str) -> str:
        """Return a reason that the scheduler reads."""
        return text if text in of.WORDS else ""

    def labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return labels with new keys and values."""
        return {self.key(key): self.label_value(key, text) for key, text in labels.items()}

    def notes(self, notes: Mapping[str, str]) -> dict[str, str]:
        """Return the annotations that affect decisions."""
        kept = {key: text for key, text in notes.items()
                if key in of.KEYS or _is_below(key, of.NOTED)}
        return {key: self._json(text) if text.lstrip().startswith("{") else self.value(key, text)
                for key, text in kept.items()}

    def _json(self, text: str) -> str:
        """Return resources and their weights, as JSON."""
        return re.sub(r'"([^"]*)"', lambda match: f'"{self.resource(match[1])}"', text)

    def parameters(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """Return the one parameter of a StorageClass that affects decisions: its driver."""
        return {key: self.key(text) for key, text in parameters.items() if key == storage.DRIVER}

    def counts(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return numbers by name."""
        return {self.name(name): "" if isinstance(count, str) else count
                for name, count in counts.items()}

    def plugins(self, plugins: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """Return the arguments of a Job's plugins; the values of flags are names of tasks."""
        return {self.word(plugin): [self._flag(text) for text in arguments]
                for plugin, arguments in plugins.items()}

    def _flag(self, text: str) -> str:
        dashes, flag, equals, value = _groups(_FLAG, text)
        known = dashes and flag in of.MPI_FLAGS
        return dashes + (flag if known else self.name(flag)) + equals + self.name(value)

    def resource(self, text: str) -> str:
        """Return a resource, with new words unless it is a public one."""
        before, name = _groups(_RESOURCE, text)
        if text in of.NATIVE or name in of.NATIVE or _HUGE.fullmatch(name):
            return text
        return before + self.key(name)

    def resources(self, amounts: Mapping[str, Any]) -> dict[str, Any]:
        """Return amounts of resources."""
        return {self.resource(name): amount for name, amount in amounts.items()}

    def raw(self, data: Any) -> Any:
        """Return the API fields of a part that is kept as the manifest has it."""
        if isinstance(data, dict):
            maps = {"labels": self.labels, "matchLabels": self.labels, "annotations": self.notes,
                    "requests": self.resources, "limits": self.resources}
            return {key: maps[key](inner) if key in maps and isinstance(inner, dict)
                    else self.raw(inner) for key, inner in data.items() if key in _raw_keys()}
        if isinstance(data, list):
            return [self.raw(inner) for inner in data]
        return self.word(data) if isinstance(data, str) else data

    def pattern(self, text: str) -> str:
        """Return a pattern that matches the same nodes and hypernodes under their new names."""
        try:
            search = go_pattern.compile_pattern(text).search
            found = [re.escape(self.name(name)) for name in self.members if search(name)]
        except ValueError:
            return "$.^"
        return f"^({'|'.join(found)})$" if found else "^-$"

    def configurations(self, data: Mapping[str, str]) -> dict[str, str]:
        """Return the scheduler's configuration in a ConfigMap."""
        text = conf.scheduler_conf_of([ConfigMap(data=dict(data))])
        return {} if text is None else {CONF: self.conf(text)}

    def conf(self, text: str) -> str:
        """Return a configuration with new names. Raises `ConfError`."""
        conf = load_conf(text)
        plugins = {*of.PLUGIN_NAMES, *plugin_names()}
        tiers = [[self._named(option.name, plugins, option.arguments) | option.switches
                  for option in tier.plugins] for tier in conf.tiers]
        data = {"actions": ", ".join(conf.actions), "tiers": [{"plugins": tier} for tier in tiers],
                "configurations": [self._named(name, {*ACTIONS, *conf.actions}, arguments)
                                   for name, arguments in conf.configurations.items()],
                "metrics": self._arguments(conf.metrics),
                "ignored-provisioners": ", ".join(map(self.key, conf.ignored_provisioners))}
        return yaml.dump({key: part for key, part in data.items() if part}, Dumper=writer.Dumper,
                         sort_keys=False, allow_unicode=True)

    def _named(self, name: str, known: set[str], arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a plugin or an action with its arguments; an unknown one has no effect."""
        entry: dict[str, Any] = {"name": name if name in known else self.name(name)}
        return entry | ({"arguments": self._arguments(arguments)} if arguments else {})

    def _arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {self._argument(key): self._argument_value(key, value)
                for key, value in arguments.items()}

    def _argument(self, key: str) -> str:
        if key in of.ARGUMENTS or key in NOT_MODELLED:
            return key
        prefix = next(filter(key.startswith, of.PREFIXES), "")
        return prefix + self.resource(key.removeprefix(prefix))

    def _argument_value(self, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._arguments(value)
        if isinstance(value, list):
            return [self._argument_value(key, each) for each in value]
        if not isinstance(value, str) or value in of.WORDS or _MEASURE.fullmatch(value):
            return value
        return re.sub(r"[^,\s]+", lambda match: self.resource(match[0]), value)


def in_order(words: Iterable[str]) -> dict[str, str]:
    """Return a new word for each, with the same order among all and relative to public words.

    >>> in_order(["zebra", "default", "ape", "horse"])
    {'ape': 'a1', 'default': 'e2', 'horse': 'e3', 'zebra': 'x4'}
    """
    ordered = sorted(words)
    width = len(str(len(ordered)))
    gaps = ["a", *map(_between, of.ANCHORS, [*of.ANCHORS[1:], "~"])]
    return {word: f"{gaps[bisect(of.ANCHORS, word)]}{rank:0{width}}"
            for rank, word in enumerate(ordered, 1)}


def _between(low: str, high: str) -> str:
    """Return letters that, followed by a number, sort between one word and the next."""
    found = (low[:at] + chr(ord(letter) + 1) for at, letter in enumerate(low))
    return next(each for each in found if each < high)


def _address(rank: int, found: str) -> str:
    """Return an address of a private network, with the same length for each rank.

    >>> _address(7, "172-16-0-9")
    '10-100-100-107'
    """
    sign = "-" if "-" in found else "."
    return sign.join(("10", *(str(100 + rank // scale % 100) for scale in (10_000, 100, 1))))


def _groups(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    """Return the groups of a pattern that matches every text."""
    match = pattern.fullmatch(text)
    assert match is not None
    return match.groups()


def _is_below(key: str, domains: Iterable[str]) -> bool:
    """Return whether a key has one of the domains, or a subdomain of one."""
    domain, slash, _ = key.partition("/")
    return bool(slash) and any(domain == known or domain.endswith(f".{known}") for known in domains)


@cache
def _raw_keys() -> frozenset[str]:
    """Return the fields that a raw part may have."""
    return of.RAW_KEYS.union(*(map(schema.json_name, attrs.fields(cls)) for cls in of.parts()))
