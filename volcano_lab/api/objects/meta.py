"""The common parts of Kubernetes objects: metadata, label selectors, and field descriptions.

A class in this package is one object of the Kubernetes or Volcano API, or a part of one; an
attribute is the API's field in snake_case.

Left out on purpose: fields that no scheduling decision reads (`managedFields`, `selfLink`, ...).
Resource lists stay text, as written (`{"cpu": "100m"}`); `volcano_lab.api.quantity` gives their
values.

`None` means "not set" and is used only where that differs from empty or zero. Objects are values:
change one with `evolve`, so that holders of the old one keep it.

Volcano: k8s.io/apimachinery/pkg/apis/meta/v1
"""

from typing import Annotated, Any, ClassVar, Self, dataclass_transform

import attrs
from attrs import Factory, field

ResourceList = Annotated[dict[str, str], "ResourceList"]
"""Resource name -> quantity as text, such as `{"cpu": "500m", "memory": "2Gi"}`."""

Time = Annotated[float, "Time"]
"""A time in seconds since 1970-01-01 UTC; RFC 3339 text in a manifest."""

Raw = Annotated[dict[str, Any], "Raw"]
"""A part kept exactly as in the manifest."""


def named(json_name: str, default: Any = "") -> Any:
    """Declare a field whose name in a manifest is not its camelCase, such as `hostIP`."""
    return field(default=default, metadata={"json": json_name})


def choice(*allowed: str, default: str | None = "") -> Any:
    """Declare a text field for which the API accepts only the given values (or none)."""
    return field(default=default, metadata={"allowed": allowed})


INT32, INT64 = 2**31 - 1, 2**63 - 1


def whole(least: int = 0, most: int = INT32, default: int | None = 0) -> Any:
    """Declare an integer field with bounds; without them, the API's numbers have 32 bits."""
    return field(default=default, metadata={"range": (least, most)})


@dataclass_transform()
class _PartType(type):
    """Converts each class to an attrs class, once: attrs creates it again, with slots."""

    def __new__(meta, name: str, bases: tuple[type, ...], body: dict[str, Any],
                **facts: Any) -> Any:
        new = super().__new__(meta, name, bases, body, **facts)
        return new if "__attrs_attrs__" in body else attrs.define(new, eq=False, repr=False)


class Part(metaclass=_PartType):
    """An object of the API or a part of one: its annotated names are its fields.

    Parts are equal if all their fields are. All classes share two methods, which attrs would
    generate and compile for each: with eighty classes that delays the start of every command.

    >>> class Colour(Part):
    ...     name: str = ""
    >>> Colour("red"), Colour("red") == Colour("green")
    (Colour(name='red'), False)
    """

    __match_args__: ClassVar[tuple[str, ...]]

    def __eq__(self, other: object) -> bool:
        if self.__class__ is not other.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({fields})"

    def evolve(self, **fields: Any) -> Self:
        """Return a copy with some fields changed.

        >>> LabelSelectorRequirement("app", "In", ["web"]).evolve(operator="NotIn").operator
        'NotIn'
        """
        part: Any = self
        copy: Self = attrs.evolve(part, **fields)
        return copy


class OwnerReference(Part):
    """The object that owns this one; `controller` marks the one that manages it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Part):
    """Names, labels and times. `namespace` is empty for cluster-scoped objects.

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
    finalizers: list[str] = Factory(list)
    owner_references: list[OwnerReference] = Factory(list)
    resource_version: str = ""
    generation: int = whole(-INT64 - 1, INT64)

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone without a namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Condition(Part):
    """One condition of an object: its type, and whether it holds."""

    type: str = ""
    status: str = choice("True", "False", "Unknown")
    reason: str = ""
    message: str = ""
    last_transition_time: Time | None = None


class KubernetesObject(Part):
    """A kind of the API: `metadata` and shortcuts to its fields.

    A class is declared with its `kind`, the API `versions` from which it is read (the first one is
    written) and `namespaced`, whether the kind is namespaced. It is then listed in `KINDS`.
    """

    kind: ClassVar[str] = ""
    api_versions: ClassVar[tuple[str, ...]] = ()
    namespaced: ClassVar[bool] = False
    metadata: ObjectMeta = Factory(ObjectMeta)

    def __init_subclass__(cls, kind: str = "", versions: tuple[str, ...] = (),
                          namespaced: bool | None = None) -> None:
        # Called twice: attrs creates the class again with slots, with what the first call set.
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
        """The object's namespace, empty for a cluster-scoped kind."""
        return self.metadata.namespace

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone without a namespace."""
        return self.metadata.key

    def changed(self, **parts: dict[str, Any]) -> Self:
        """Return a copy with some fields of some parts changed.

        >>> KubernetesObject(ObjectMeta("a", "team")).changed(metadata={"name": "b"}).key
        'team/b'
        """
        return self.evolve(**{part: getattr(self, part).evolve(**fields)
                              for part, fields in parts.items()})


KINDS: dict[tuple[str, str], type[KubernetesObject]] = {}
"""Every kind that can be read, by its API group and its name."""


class LabelSelectorRequirement(Part):
    """One condition on a label; all conditions of a selector must hold."""

    key: str = ""
    operator: str = choice("In", "NotIn", "Exists", "DoesNotExist")
    values: list[str] = Factory(list)


class LabelSelector(Part):
    """Labels that must match. An empty selector matches everything; no selector (`None`) matches
    nothing.
    """

    match_labels: dict[str, str] = Factory(dict)
    match_expressions: list[LabelSelectorRequirement] = Factory(list)
