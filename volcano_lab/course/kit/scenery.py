"""Common parts of scenes: equal nodes, a cluster from data, a configuration's text."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.questions import CLUSTERS, part
from volcano_lab.manifests.loader import from_dict


def nodes(numbers: Iterable[int], **amounts: Any) -> Cluster:
    """Return a cluster of equal nodes node-N; its manifests are shared by equal calls.

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


def cluster_from(parts: Mapping[str, Any]) -> Cluster:
    """Return a cluster from data: `nodes`, `queues` and `jobs`, each the arguments of the cluster's
    own method, its `conf`, and manifests, `objects`.

    >>> cluster_from({"nodes": [{"name": "n1", "cpu": 4}], "jobs": [{"name": "train", "cpu": 1}]})
    Cluster(Node=1, Pod=1, PodGroup=1, Queue=2)
    """
    objects = (from_dict(each, strict=True) for each in parts.get("objects", ()))
    cluster = Cluster(objects, parts.get("conf"))
    for kind in ("node", "queue", "job"):
        for given in parts.get(f"{kind}s", ()):
            getattr(cluster, kind)(**given)
    return cluster


def cluster_of(lesson: str, name: str) -> Cluster:
    """Return a cluster of a lesson's `questions.yaml`.

    >>> cluster_of("03", "one").run().why("default/team-work") != []
    True
    """
    return cluster_from(part(lesson, CLUSTERS)[name])


def conf_text(actions: str, *tiers: str, switches: Mapping[str, str] = {},
              arguments: Mapping[str, Mapping[str, Any]] = {}) -> str:
    """Return a volcano-scheduler.conf with these tiers; `switches` and `arguments` are those of a
    plugin, by name.

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
