"""What every Kubernetes object shares: metadata, label selectors, and how a field is described.

Answers to `k8s.io/apimachinery/pkg/apis/meta/v1`. A class in this package is one object of the
Kubernetes or Volcano API, or a part of one; an attribute is the API's field in snake_case.

Left out on purpose: fields that no scheduling decision reads (`managedFields`, `finalizers`, ...).
Resource lists stay text, as written (`{"cpu": "100m"}`); `volcano_lab.api.quantity` gives their
values.

`None` means "not set" and is used only where that differs from empty or zero.
Objects are values: change one with `attrs.evolve`, so that whoever holds the old one keeps it.
"""

from __future__ import annotations

from typing import Any, ClassVar, NewType, Self, dataclass_transform

import attrs
from attrs import Factory, evolve, field

ResourceList = NewType("ResourceList", dict)
"""Resource name -> quantity as text, such as `{"cpu": "500m", "memory": "2Gi"}`."""

Time = NewType("Time", float)
"""A moment in seconds since 1970-01-01 UTC; RFC 3339 text in a manifest."""

Raw = NewType("Raw", dict)
"""A part kept exactly as the manifest has it."""


@dataclass_transform(field_specifiers=(field,))
def define(kind: type) -> type:
    """Make a class of objects, which are equal if all their fields are.

    As `attrs.define`, but all classes share two methods that it would write and compile for each:
    with eighty of them that is felt whenever a command starts.

    >>> define(type("Taint", (), {"__annotations__": {"key": str}, "key": ""}))("gpu")
    Taint(key='gpu')
    """
    made = attrs.define(kind, eq=False, repr=False)
    made.__eq__, made.__repr__, made.__hash__ = _is_equal, _text, None
    return made


def _is_equal(left: Any, right: object) -> bool:
    if left.__class__ is not right.__class__:
        return NotImplemented
    return all(getattr(left, name) == getattr(right, name) for name in left.__match_args__)


def _text(value: Any) -> str:
    fields = ", ".join(f"{name}={getattr(value, name)!r}" for name in value.__match_args__)
    return f"{type(value).__qualname__}({fields})"


def named(json_name: str, default: Any = "") -> Any:
    """A field whose name in a manifest is not simply its camelCase, such as `hostIP`."""
    return field(default=default, metadata={"json": json_name})


def choice(*allowed: str, default: str | None = "") -> Any:
    """A text field for which the API accepts only the given words (or nothing)."""
    return field(default=default, metadata={"allowed": allowed})


INT32, INT64 = 2**31 - 1, 2**63 - 1


def whole(least: int = 0, most: int = INT32, default: int | None = 0) -> Any:
    """A whole number within bounds; without them, the API's numbers have 32 bits."""
    return field(default=default, metadata={"range": (least, most)})


@define
class OwnerReference:
    """The object that made this one; `controller` marks the one that manages it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


@define
class ObjectMeta:
    """Names, labels and times. `namespace` is empty for objects of the whole cluster.

    >>> ObjectMeta(name="a", namespace="team").key
    'team/a'
    """

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = Factory(dict)
    annotations: dict[str, str] = Factory(dict)
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    owner_references: list[OwnerReference] = Factory(list)
    resource_version: str = ""
    generation: int = whole(-INT64 - 1, INT64)

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone where there is no namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@define
class Condition:
    """One finding about an object: of which type, and whether it holds."""

    type: str = ""
    status: str = choice("True", "False", "Unknown")
    reason: str = ""
    message: str = ""
    last_transition_time: Time | None = None


KINDS: dict[tuple[str, str], type[KubernetesObject]] = {}
"""Every kind that can be read, by the group of its API and its name."""


@define
class KubernetesObject:
    """A kind of the API: `metadata` and shortcuts to what it says.

    A class is declared with its `kind`, the API `versions` from which it is read (the first one is
    written) and `namespaced`, which tells whether the kind lives in a namespace. It then stands in
    `KINDS`.
    """

    kind: ClassVar[str] = ""
    api_versions: ClassVar[tuple[str, ...]] = ()
    namespaced: ClassVar[bool] = False
    metadata: ObjectMeta = Factory(ObjectMeta)

    def __init_subclass__(cls, kind: str = "", versions: tuple[str, ...] = (),
                          namespaced: bool | None = None) -> None:
        # Called twice: attrs makes the class again with slots, from what the first call has set.
        cls.kind, cls.api_versions = kind or cls.kind, versions or cls.api_versions
        cls.namespaced = cls.namespaced if namespaced is None else namespaced
        for version in cls.api_versions if cls.kind else ():
            KINDS[version.rpartition("/")[0], cls.kind] = cls

    @property
    def name(self) -> str:
        """The object's name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The object's namespace, empty for a kind of the whole cluster."""
        return self.metadata.namespace

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone where there is no namespace."""
        return self.metadata.key

    def changed(self, **parts: dict[str, Any]) -> Self:
        """Return a copy of which some fields of some parts are others.

        >>> KubernetesObject(ObjectMeta("a", "team")).changed(metadata={"name": "b"}).key
        'team/b'
        """
        return evolve(self, **{part: evolve(getattr(self, part), **fields)
                               for part, fields in parts.items()})


@define
class LabelSelectorRequirement:
    """One condition on a label; all conditions of a selector must hold."""

    key: str = ""
    operator: str = choice("In", "NotIn", "Exists", "DoesNotExist")
    values: list[str] = Factory(list)


@define
class LabelSelector:
    """Labels that must match. An empty selector matches everything; no selector (`None`) matches
    nothing.
    """

    match_labels: dict[str, str] = Factory(dict)
    match_expressions: list[LabelSelectorRequirement] = Factory(list)
