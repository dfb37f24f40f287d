"""A field of pods as fields of the templates of their owner, by which they are created again.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from typing import Any

from volcano_lab.api import quantity
from volcano_lab.api.objects import KubernetesObject, Pod
from volcano_lab.changes.objects import Setting
from volcano_lab.manifests.schema import at_path
from volcano_lab.manifests.templates import specs_of
from volcano_lab.manifests.writer import to_dict


def fields_of(owner: KubernetesObject, pods: Iterable[Pod], setting: Setting, steps: list[str]
              ) -> dict[str, Any]:
    """Return the fields below the spec of an owner, each as a JSON pointer, with the values that
    give some of its pods a `setting` of the field at these steps; none where no template has what
    the field is a part of.
    """
    found: dict[str, Any] = {}
    for path in dict.fromkeys(path for pod in pods for path in specs_of(owner, pod)):
        spec = at_path(to_dict(owner), path)
        if steps[0] == "requests":
            new = dict(_requests(spec, ".".join(steps[1:]), setting.value))
        else:
            new = {tuple(steps): setting.edit(at_path(spec, steps))} if isinstance(
                at_path(spec, steps[:-1]), dict | list) else {}
        found |= {"/".join(each.replace("~", "~0").replace("/", "~1") for each in (*path[1:], *more)
                           ): value for more, value in new.items()}
    return found


def _requests(spec: Any, name: str, value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the requests of a spec that are more than a value; of devices also the limits, which
    have to be the same.
    """
    for number, container in enumerate(spec.get("containers", ()) if value else ()):
        for side in ("requests", "limits") if "/" in name else ("requests",):
            own = at_path(container, ["resources", side, name])
            if own is not None and quantity.parse(str(own)) > quantity.parse(str(value)):
                yield ("containers", str(number), "resources", side, name), value
