"""A cluster as text for others: manifests for `kubectl apply`, a case for `volcano-lab replay`,
with or without its names.

Read again, each decides the same: `uid`, status and times stay (`kubectl` ignores them), only
`resourceVersion` is dropped, which the API server would refuse.

Volcano: none
"""

import json
from collections.abc import Iterable
from itertools import filterfalse
from typing import Any

from volcano_lab.api.objects import ConfigMap, KubernetesObject, ObjectMeta
from volcano_lab.manifests import defaults, live, operators
from volcano_lab.manifests.anonymise import Renaming
from volcano_lab.manifests.conf import scheduler_conf_of
from volcano_lab.manifests.loader import Loaded, ManifestError
from volcano_lab.manifests.writer import dump, to_dict

FORMS = ("yaml", "json", "case")


def exported(objects: Iterable[KubernetesObject], conf: str | None, form: str = "yaml",
             anonymise: bool = False) -> str:
    """Return objects and the scheduler's configuration as text; `conf` replaces that of a ConfigMap
    among them. Raises `ManifestError`, `ConfError`.
    """
    if form not in FORMS:
        raise ManifestError("export.form", form=form, forms=[*FORMS])
    objects = sorted(objects, key=_is_map)
    text = scheduler_conf_of(objects) if conf is None else conf
    if anonymise:
        maps = [] if text is None else [ConfigMap(ObjectMeta(live.CONFIG_MAP, live.NAMESPACE),
                                                  {"volcano-scheduler.conf": text})]
        objects = anonymised([*filterfalse(_is_map, objects), *maps])
        text = scheduler_conf_of(objects)
    return as_case(filterfalse(_is_map, objects), text) + "\n" if form == "case" else (
        as_manifests(objects, form))


def _is_map(obj: KubernetesObject) -> bool:
    return isinstance(obj, ConfigMap)


def as_manifests(objects: Iterable[KubernetesObject], form: str = "yaml") -> str:
    """Return manifests as YAML or JSON.

    >>> from volcano_lab.manifests.loader import loads
    >>> node = "{apiVersion: v1, kind: Node, metadata: {name: n1, resourceVersion: '7'}}"
    >>> print(as_manifests(loads(node)))
    apiVersion: v1
    kind: Node
    metadata:
      name: n1
    """
    return dump((obj.changed(metadata={"resource_version": ""}) for obj in objects), form)


def as_case(objects: Iterable[KubernetesObject], conf: str | None = None) -> str:
    """Return one line for `volcano-lab replay`: the objects as the scheduler receives them.

    Raises `ManifestError`.
    """
    documents = [to_dict(obj) for obj in defaults.with_defaults(objects)]
    return json.dumps({"name": "cluster", "family": "export", "conf": conf, "objects": documents})


def literal(value: Any) -> str:
    """Return a value as a Python literal; text over several lines if that is equal.

    >>> print(literal("a"), literal({"b": 1}))
    "a" {'b': 1}
    """
    if not isinstance(value, str):
        return repr(value)
    if "\n" not in value or '"""' in value or "\\" in value or value.endswith('"'):
        return json.dumps(value, ensure_ascii=False)
    return f'"""\\\n{value}"""'


def anonymised(objects: Iterable[KubernetesObject]) -> Loaded:
    """Return the objects with new names, the same name for the same thing everywhere, also in a
    scheduler's configuration (see `manifests.anonymise`).

    Numbers stay, and so does the order of names, so that decisions do; annotations and labels that
    are not Kubernetes', Volcano's or a vendor's are renamed or dropped, and so are free texts. An
    operator's object is replaced by what it creates. Raises `ConfError`.

    >>> from volcano_lab.manifests.loader import loads
    >>> nodes = loads("{apiVersion: v1, kind: Node, metadata: {name: secret-7, labels: {team: x}}}")
    >>> print(as_manifests(anonymised(nodes)))
    apiVersion: v1
    kind: Node
    metadata:
      name: sd1-7
      labels:
        t2: x3
    """
    objects = list(objects)
    if any(isinstance(obj, operators.OperatorObject) for obj in objects):
        objects = [*defaults.with_defaults(objects), *filter(_is_map, objects)]
    return Loaded(map(Renaming(objects).object, objects))
