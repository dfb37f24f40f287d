"""Hypothesis strategies for API objects: any object that a valid manifest can hold, from the
classes themselves.
"""

import types
import typing

import attrs
from hypothesis import strategies as st

from volcano_lab.api.objects import KINDS, Raw, ResourceList, Time, VolumeResourceList

names = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
texts = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=8),
    st.sampled_from(
        ["yes", "null", "1", "1e3", "0x1F", "2026-01-01", "~", "- a", "a: b", "#", "<<"]),
)
quantities = st.builds("{}{}".format, st.integers(0, 4096),
                       st.sampled_from(["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", ".5"]))
times = st.integers(0, 4_000_000_000).map(float)
whole = st.integers(0, 2**31 - 1)


def objects() -> st.SearchStrategy:
    """Any object of any kind that is read."""
    return st.one_of([instances(cls) for cls in dict.fromkeys(KINDS.values())])


def instances(cls: type) -> st.SearchStrategy:
    """Objects of an attrs class; each field is left at its default or set."""
    hints = typing.get_type_hints(cls, include_extras=True)
    given = {field.name: values(hints[field.name], field) for field in attrs.fields(cls)}
    return st.fixed_dictionaries({}, optional=given).map(lambda chosen: cls(**chosen))


def values(hint: object, field: attrs.Attribute | None = None) -> st.SearchStrategy:
    """Values of a field's type."""
    if typing.get_origin(hint) is list:
        return st.lists(values(typing.get_args(hint)[0], field), max_size=2)
    if field is not None and field.metadata.get("allowed"):
        return st.sampled_from(field.metadata["allowed"])
    if field is not None and field.metadata.get("range"):
        least, most = field.metadata["range"]
        chosen = st.integers(least, most)
        return chosen | st.none() if types.NoneType in typing.get_args(hint) else chosen
    args = typing.get_args(hint)
    if str in args and int in args and types.NoneType in args:
        return whole | st.integers(0, 100).map("{}%".format) | st.none()
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return st.one_of([values(arg) for arg in args])
    if typing.get_origin(hint) is dict:
        return st.dictionaries(names, values(args[1]), max_size=2)
    if attrs.has(hint):
        return st.deferred(lambda: instances(hint))
    return {
        str:
        texts,
        int:
        whole,
        bool:
        st.booleans(),
        types.NoneType:
        st.none(),
        Time:
        times,
        ResourceList:
        st.fixed_dictionaries({}, optional={
            "cpu": quantities, "memory": quantities, "nvidia.com/gpu": st.integers(0, 8).map(str)}),
        VolumeResourceList:
        st.fixed_dictionaries({}, optional={"storage": quantities}),
        Raw:
        st.dictionaries(names, st.one_of(texts, whole, st.booleans()), max_size=2),
    }[hint]
