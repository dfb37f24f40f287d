"""Objects as manifests: plain data, YAML documents, a JSON `List`."""

import json
from collections.abc import Iterable
from typing import Any

import yaml

from volcano_lab.api import objects as api
from volcano_lab.framework.config.yaml import resolve
from volcano_lab.manifests.schema import unstructure
from volcano_lab.messages import friendly_errors


def to_dict(obj: api.KubernetesObject) -> dict[str, Any]:
    """Return an object as a manifest's plain data; fields at their default are left out.

    >>> from volcano_lab.manifests.loader import from_dict
    >>> to_dict(from_dict({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}}))
    {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n1'}}
    """
    return {"apiVersion": obj.api_versions[0], "kind": obj.kind, **unstructure(obj)}


@friendly_errors
def dump(objects: Iterable[api.KubernetesObject], form: str = "yaml") -> str:
    """Return objects as text: YAML documents, or one JSON `List` with `form="json"`.

    >>> from volcano_lab.manifests.loader import from_dict
    >>> node = from_dict({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}})
    >>> print(dump([node]), end="")
    apiVersion: v1
    kind: Node
    metadata:
      name: n1
    """
    documents = [to_dict(obj) for obj in objects]
    if form == "json":
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}, indent=2,
                          ensure_ascii=False)
    return yaml.dump_all(documents, Dumper=Dumper, sort_keys=False, allow_unicode=True)


_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class Dumper(_Dumper):
    """Quotes text that YAML readers could parse as something else, and repeats shared values."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _quoted_where_needed(dumper: Dumper, text: str) -> yaml.Node:
    node = dumper.represent_str(text)
    if resolve(text) != text:
        node.style = "'"
    return node


Dumper.add_representer(str, _quoted_where_needed)
