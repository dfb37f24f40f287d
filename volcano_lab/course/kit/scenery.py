"""What many scenes begin with: equal nodes, and a configuration's text."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from volcano_lab.cluster import Cluster


def nodes(numbers: Iterable[int], **amounts: Any) -> Cluster:
    """A cluster of equal nodes node-N; written once, for all that begin with the same.

    >>> nodes(range(2), cpu=4)
    Cluster(Node=2, Queue=2)
    """
    return _nodes(tuple(numbers), tuple(amounts.items())).copy()


@cache
def _nodes(numbers: tuple[int, ...], amounts: tuple[tuple[str, Any], ...]) -> Cluster:
    cluster = Cluster()
    for number in numbers:
        cluster.node(f"node-{number}", **dict(amounts))
    cluster.objects()
    return cluster


def conf_text(actions: str, *tiers: str, switches: Mapping[str, str] = {},
              arguments: Mapping[str, Mapping[str, Any]] = {}) -> str:
    """A volcano-scheduler.conf of these tiers; `switches` and `arguments` are those of a plugin, by
    its name.

    >>> print(conf_text("allocate", "gang, drf", switches={"gang": "enableJobOrder: false"},
    ...                 arguments={"drf": {"eager": True}}), end="")
    actions: "allocate"
    tiers:
    - plugins:
      - name: gang
        enableJobOrder: false
      - name: drf
        arguments:
          eager: true
    """
    lines = [f'actions: "{actions}"', "tiers:"]
    for names in tiers:
        lines.append("- plugins:")
        for name in names.split(", "):
            given = arguments.get(name, {})
            lines += [f"  - name: {name}", *([f"    {switches[name]}"] if name in switches else []),
                      *["    arguments:"] * bool(given)]
            lines += [f"      {word}: {str(value).lower() if isinstance(value, bool) else value}"
                      for word, value in given.items()]
    return "\n".join(lines) + "\n"
