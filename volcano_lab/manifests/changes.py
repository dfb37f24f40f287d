"""Changes of a cluster by name: `queue/a.weight=5`, `node/n1`, `plugin/binpack.binpack.cpu=3`.

Answers to no Go file. A change is that of a manifest's field, before defaults and controllers; what
a removed object has made goes with it.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import attrs

from volcano_lab.api.objects import KINDS, KubernetesObject, Node, Pod, PodGroup
from volcano_lab.framework import SchedulerConfiguration, action_names, did_you_mean
from volcano_lab.framework.config.conf import ALL_SWITCHES, PluginOption, action_list
from volcano_lab.manifests.files import Unreadable, values
from volcano_lab.manifests.job_controller import GROUP_NAME, JOB_NAME
from volcano_lab.manifests.loader import Loaded, ManifestError, place_key, to_dict
from volcano_lab.manifests.schema import Findings, structure

SHORT = {"q": "queue", "vcjob": "job", "vj": "job", "pg": "podgroup", "po": "pod", "no": "node",
         "hn": "hypernode", "pc": "priorityclass", "deploy": "deployment", "sts": "statefulset",
         "ds": "daemonset", "rs": "replicaset", "ns": "namespace", "quota": "resourcequota"}
"""kubectl's short words for kinds."""
IN_CONF = ("plugin/", "conf/")
"""How a setting of the configuration begins."""
_STEP = re.compile(r"\[([^]]+)\]|([^.[\]]+)")


def parted(settings: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the settings of objects, and those of the configuration.

    >>> parted(["queue/a.weight=5", "conf/actions=allocate"])
    (['queue/a.weight=5'], ['conf/actions=allocate'])
    """
    parts: tuple[list[str], list[str]] = ([], [])
    for setting in settings:
        parts[setting.startswith(IN_CONF)].append(setting)
    return parts


def change(objects: Iterable[KubernetesObject], settings: Sequence[str] = (),
           removals: Sequence[str] = ()) -> Loaded:
    """Return the objects with fields set (`KIND/NAME.FIELD=VALUE`) and some taken away
    (`KIND/NAME`).

    A field without `spec.` or `metadata.` in front is one of the spec (of a Node's status); a name
    with dots stands in brackets: `capability[nvidia.com/gpu]`.

    Raises:
        ManifestError: There is no such object or field, or the value does not fit.

    >>> from volcano_lab.manifests.loader import loads
    >>> queue = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a}}"
    >>> queues = loads(queue)
    >>> change(queues, ["queue/a.weight=5"])[0].spec.weight, change(queues, [], ["q/a"])
    (5, [])
    """
    changed = Loaded(objects, getattr(objects, "warnings", ()), getattr(objects, "places", {}))
    for name in removals:
        doomed = _with_children(changed, named(changed, name, f"remove {name}"))
        changed[:] = [obj for obj in changed if place_key(obj) not in doomed]
    for setting in settings:
        target, equals, text = setting.partition("=")
        if not equals:
            raise ManifestError([f'"{setting}" sets nothing; allowed is KIND/NAME.FIELD=VALUE, '
                                 'such ' "as queue/a.weight=5"])
        obj, field = _split(changed, target)
        changed[changed.index(obj)] = _with(obj, field, text, setting)
    return changed


def change_conf(conf: SchedulerConfiguration, settings: Sequence[str]) -> SchedulerConfiguration:
    """Return the configuration with arguments and switches of plugins set
    (`plugin/NAME.ARGUMENT=VALUE`), or other actions (`conf/actions=NAME,NAME`).

    Raises `ManifestError` where the configuration does not name the plugin, `ConfError` for an
    action that there is not.

    >>> from volcano_lab.framework.config.conf import load_conf
    >>> conf = load_conf("actions: allocate\\ntiers: [{plugins: [{name: binpack}]}]")
    >>> changed = change_conf(conf, ["plugin/binpack.binpack.cpu=3", "conf/actions=allocate"])
    >>> changed.tiers[0].plugins[0].arguments, changed.actions
    ({'binpack.cpu': 3}, ['allocate'])
    """
    conf = conf.copy()
    for setting in settings:
        target, _, text = setting.partition("=")
        if target == "conf/actions":
            conf.actions = action_list(text, action_names())
            continue
        if target.startswith("conf/"):
            raise ManifestError([f'"{setting}": of the configuration, allowed are '
                                 "conf/actions=NAME,NAME and plugin/NAME.ARGUMENT=VALUE"])
        name, _, field = target.removeprefix("plugin/").partition(".")
        found = [(tier, number) for tier in conf.tiers
                 for number, option in enumerate(tier.plugins) if option.name == name]
        if not found or not field:
            raise ManifestError([f'"{setting}": plugins of the configuration are '
                                 f"{', '.join(conf.plugin_names()) or 'none'}; allowed is "
                                 "plugin/NAME.ARGUMENT=VALUE with one of them"])
        value = _value(text, setting)
        for tier, number in found:
            tier.plugins[number] = _with_option(tier.plugins[number], field, value, setting)
    return conf


def _with_option(option: PluginOption, field: str, value: Any, where: str) -> PluginOption:
    """A plugin with another switch or argument."""
    if field not in ALL_SWITCHES:
        arguments = type(option.arguments)({**option.arguments, field: value})
        return attrs.evolve(option, arguments=arguments)
    if not isinstance(value, bool):
        raise ManifestError([f'"{where}": {field} is a switch; allowed are true and false'])
    return attrs.evolve(option, switches={**option.switches, field: value})


def kind_of(word: str, where: str) -> str:
    """Return the kind that a word of kubectl means, in lower case. Raises `ManifestError`."""
    word = SHORT.get(word.lower(), word.lower())
    kinds = {cls.kind.lower() for cls in KINDS.values()}
    found = next((kind for kind in (word, word[:-1], word[:-2]) if kind in kinds), None)
    if found is None:
        hint = did_you_mean(word, kinds, f"; allowed are {', '.join(sorted(kinds))}")
        raise ManifestError([f'"{where}": "{word}" is no kind{hint}'])
    return found


def _of_kind(objects: Iterable[KubernetesObject], kind: str) -> list[KubernetesObject]:
    """The objects of a kind; the word `job` also means a PodGroup that no Job is there for."""
    found = [obj for obj in objects if obj.kind.lower() == kind]
    return found + [obj for obj in objects if kind == "job" and isinstance(obj, PodGroup)]


def _keys(obj: KubernetesObject) -> list[str]:
    """The names of an object; a PodGroup also has that of its Job."""
    owners = [ref.name for ref in obj.metadata.owner_references if isinstance(obj, PodGroup)]
    names, space = [obj.name, *owners], obj.namespace or "default"
    return [f"{space}/{name}" for name in names] + names if obj.namespaced else names


def named(objects: Sequence[KubernetesObject], name: str, where: str) -> KubernetesObject:
    """Return the object that is named KIND/NAME or KIND/NAMESPACE/NAME. Raises `ManifestError`."""
    word, _, rest = name.partition("/")
    known = _of_kind(objects, kind_of(word, where))
    found = [obj for obj in known if rest in _keys(obj)]
    if not found:
        near = [_keys(obj)[0] for obj in known]
        near = get_close_matches(rest, near, 5, 0.4) or near[:5]
        raise ManifestError([f'"{where}": there is no {word} "{rest}"; there '
                             f"{'is' if len(near) == 1 else 'are'} {', '.join(near) or 'none'}"])
    if len({place_key(obj) for obj in found if obj.kind == found[0].kind}) > 1:
        raise ManifestError([f'"{where}": {", ".join(_keys(obj)[0] for obj in found)} have this '
                             "name; allowed is NAMESPACE/NAME"])
    return found[0]


def _split(objects: Sequence[KubernetesObject], target: str) -> tuple[KubernetesObject, str]:
    """The object and the field that a target means; names may have dots in them."""
    word, _, rest = target.partition("/")
    keys = {key for obj in _of_kind(objects, kind_of(word, target)) for key in _keys(obj)}
    name = max((key for key in keys if rest.startswith(f"{key}.")), key=len, default="")
    if not name:
        name = rest.partition(".")[0] if "." in rest else rest
    obj = named(objects, f"{word}/{name}", target)
    if not (field := rest[len(name) + 1:]):
        raise ManifestError([f'"{target}" names no field; allowed is KIND/NAME.FIELD=VALUE'])
    return obj, field


def _value(text: str, where: str) -> Any:
    try:
        found = values(text)
    except Unreadable as error:
        raise ManifestError([f'"{where}": {error}']) from None
    return found[0] if found else None


def _with(obj: KubernetesObject, field: str, text: str, where: str) -> KubernetesObject:
    """A copy of an object with one field set."""
    document = to_dict(obj)
    steps = [bracket or name for bracket, name in _STEP.findall(field)]
    if steps[0] not in ("metadata", "spec", "status") and hasattr(obj, "spec"):
        status = isinstance(obj, Node) and steps[0] in ("allocatable", "capacity")
        steps.insert(0, "status" if status else "spec")
    place: Any = document
    for number, step in enumerate(steps):
        if isinstance(place, list):
            if not step.isdigit() or int(step) > len(place):
                raise ManifestError([f'"{where}": {".".join(steps[:number])} is a list of '
                                     f'{len(place)}; "{step}" is not in it'])
            place += [{}] if int(step) == len(place) else []
            key: Any = int(step)
        else:
            key = step
        if number == len(steps) - 1:
            place[key] = _value(text, where)
        else:
            following = place[key] if isinstance(place, list) else place.setdefault(key, {})
            if not isinstance(following, dict | list):
                raise ManifestError([f'"{where}": {".".join(steps[:number + 1])} has no fields'])
            place = following
    findings = Findings()
    body = {key: part for key, part in document.items() if key not in ("apiVersion", "kind")}
    changed = structure(type(obj), body, findings)
    if problems := findings.errors + findings.warnings:
        raise ManifestError([f"{obj.kind} {obj.key} ({where}): {problem}" for problem in problems])
    return changed


def _with_children(objects: Iterable[KubernetesObject], obj: KubernetesObject) -> set[tuple]:
    """What goes with an object: all that it has made, and what these have."""
    doomed: set[tuple] = set()
    more = {place_key(obj)}
    while more - doomed:
        doomed |= more
        names = {(key[0].removeprefix("Volcano"), *key[1:]) for key in doomed}
        more = {place_key(each) for each in objects if any(
            (kind, each.namespace or "default", name) in names for kind, name in _owners(each))}
    return doomed


def _owners(obj: KubernetesObject) -> Iterable[tuple[str, str]]:
    """(kind, name) of what an object belongs to."""
    yield from ((ref.kind, ref.name) for ref in obj.metadata.owner_references)
    if isinstance(obj, Pod):
        for kind, annotation in (("PodGroup", GROUP_NAME), ("Job", JOB_NAME)):
            if annotation in obj.metadata.annotations:
                yield kind, obj.metadata.annotations[annotation]
