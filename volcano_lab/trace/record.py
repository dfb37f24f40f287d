"""One entry of a trace, as plain data."""

from typing import Any

from attrs import define


@define(repr=False, weakref_slot=False)
class Record:
    """One event: its `number` in the trace, the `action` that ran, its `kind`, and its facts by
    name.

    Records of one kind share the tuple of names, so that many of them take little memory.

    >>> record = Record(7, "allocate", "queue", ("queue", "next"), ("a", "b"))
    >>> record["queue"], record.get("job"), record.facts
    ('a', None, {'queue': 'a', 'next': 'b'})
    >>> record
    7 allocate queue queue='a' next='b'
    """

    number: int
    action: str
    kind: str
    names: tuple[str, ...]
    values: tuple[Any, ...]

    def __getitem__(self, name: str) -> Any:
        """Return a fact by name; `KeyError` if the record has none of that name."""
        try:
            return self.values[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def get(self, name: str, default: Any = None) -> Any:
        return self.values[self.names.index(name)] if name in self.names else default

    @property
    def facts(self) -> dict[str, Any]:
        return dict(zip(self.names, self.values, strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Return the record as one JSON object."""
        return {"number": self.number, "action": self.action, "kind": self.kind,
                "facts": self.facts}

    def __repr__(self) -> str:
        return f"{self.number} {self.action} {self.kind} " + " ".join(
            f"{name}={value!r}" for name, value in self.facts.items())
