"""A generator of bad manifests, made from the schema: each field of each kind, given each of many
values that no one would write; and whole texts with pieces cut, repeated, swapped or flipped.

`python tests/manifests/hostile.py 20000 7` tries so many with a seed and prints what failed.
"""

import contextlib
import copy
import io
import json
import random
import sys
import time
import types
import typing
from collections.abc import Iterator

import attrs
import yaml

from volcano_lab.api.objects import KINDS, Raw, ResourceList, Time, VolumeResourceList
from volcano_lab.manifests.schema import json_name

VALUES = [
    None, True, False, 0, -1, 1, 7, 2**31, -2**31 - 1, 2**63, -2**63 - 1, 10**30, 0.5, -0.0, 1e300,
    -1e-9, "", " ", "a", "A b", "../x", "*", "a\nb", "\x1b[31m", "\u202e", "\u00e9",
    "\ud83d\ude00", "[/red]", "{{ x }}",
    "x" * 300, "9" * 500, "0." + "1" * 500, "1e999", "-1", "1Ki", "-5m", "nan", "50%", "500%", "%",
    "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "default", "root",
    "(a+)+$", "[", "a{1000}{1000}", [], {}, [[]], [None], [{}], [5], {"a": None}, {"": ""},
    {"a": {"b": [1]}}, {"cpu": "1"}, {"cpu": -1}, {"nvidia.com/gpu": 0.5}, {"cpu": "9" * 400},
    ["a", "a"],
]
EXAMPLES = {str: "a", int: 1, bool: True, Time: "2026-01-01T00:00:00Z", ResourceList: {"cpu": "1"},
            VolumeResourceList: {"storage": "1Gi"}, Raw: {"a": 1}}

NAMED = {"schedulerName": "volcano", "queue": "default", "phase": "Pending", "nodeName": "n1",
         "annotations": {"scheduling.k8s.io/group-name": "a"}, "parent": "root",
         "finalizers": None}
AROUND = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {a: a}}
status: {allocatable: {cpu: 8, pods: 9}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: 8, memory: 1Gi, pods: 9}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: b}, spec: {weight: 3}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: c}
spec: {queue: b, minMember: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: c, annotations: {scheduling.k8s.io/group-name: c}}
spec: {schedulerName: volcano, containers: [{resources: {requests: {cpu: 1}}}]}
"""
CONF = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: pdb}, {name: sla}]
- plugins:
  - {name: overcommit}
  - {name: drf}
  - {name: predicates}
  - {name: proportion}
  - {name: nodeorder}
  - {name: binpack}
  - {name: network-topology-aware}
  - {name: task-topology}
  - {name: nodegroup}
  - {name: tdm}
  - {name: resourcequota}
"""


MOST_SECONDS = 20.0
"""That this thread may compute: what is tried takes milliseconds, and what this guards against (a
pattern that goes back for ever, a count that is expanded) takes minutes. Neither the clock of a
busy machine nor other threads of the process count.
"""


@contextlib.contextmanager
def soon() -> Iterator[None]:
    """Fail where the block computes longer than `MOST_SECONDS`."""
    start = time.thread_time()
    yield
    assert time.thread_time() - start < MOST_SECONDS


def full(cls: type, depth: int = 0) -> dict:
    """A document with every field of a class, each with something that fits."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {(name := json_name(field)): NAMED.get(name) or example(hints[field.name], field, depth)
            for field in attrs.fields(cls)}


def example(hint: object, field: attrs.Attribute | None, depth: int) -> object:
    """Something that fits a field."""
    args = [arg for arg in typing.get_args(hint) if arg is not types.NoneType]
    origin = typing.get_origin(hint)
    if origin is list:
        return [example(args[0], field, depth + 1)]
    if field is not None and field.metadata.get("allowed"):
        return field.metadata["allowed"][0]
    if origin in (types.UnionType, typing.Union):
        return example(args[0], field, depth)
    if origin is dict:
        return {"a": example(args[1], None, depth + 1)}
    return full(hint, depth + 1) if attrs.has(hint) else EXAMPLES[hint]


def documents() -> list[dict]:
    """One full document of each kind."""
    found = []
    for (group, kind), cls in KINDS.items():
        version = next(text for text in cls.api_versions if text.startswith(group))
        document = {"apiVersion": version, "kind": kind, **full(cls)}
        document["metadata"] |= {"name": "a", "uid": f"{kind}-{version}", "deletionTimestamp": None}
        if kind == "Pod":
            document["spec"] |= {"nodeName": "", "schedulingGates": []}
        found.append(document)
    return found


def places(data: object, path: tuple = ()) -> Iterator[tuple]:
    """The paths of all that a document holds."""
    if path:
        yield path
    items = (data.items() if isinstance(data, dict)
             else enumerate(data) if isinstance(data, list) else ())
    for key, inner in items:
        yield from places(inner, (*path, key))


def bad_field(rng: random.Random, kinds: list[dict]) -> str:
    """A document with one to three fields that were given something else."""
    document = copy.deepcopy(rng.choice(kinds))
    for _ in range(rng.choice((1, 1, 2, 3))):
        *way, last = rng.choice(list(places(document)))
        inner = document
        for key in way:
            inner = inner[key]
        if rng.random() < 0.1:
            inner.pop(last)
        else:
            inner[last] = copy.deepcopy(rng.choice(VALUES))
        if not document:
            break
    form = rng.random()
    return json.dumps(document) if form < 0.5 else yaml.safe_dump(document, width=10**6)


def bad_text(rng: random.Random, kinds: list[dict]) -> str:
    """Two documents as text, in which pieces were cut, repeated, moved or replaced."""
    several = rng.sample(kinds, 2)
    text = yaml.safe_dump_all(several) if rng.random() < 0.5 else json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": several})
    for _ in range(rng.randint(1, 4)):
        start, size = rng.randrange(len(text) + 1), rng.choice((1, 1, 2, 5, 40, 400))
        piece = text[start:start + size]
        put = rng.choice(("", piece * 2, piece[::-1], *" :-,{}[]&*!|>%@`'\"#?\t\n\0\x85\u2028",
                          "<<: *a", "&a ", "*a", "!!int ", "--- ", "...", "\ufeff", "items:"))
        text = text[:start] + put + text[start + size:]
    return text


def cases(count: int, seed: int) -> Iterator[str]:
    """So many texts; the same for the same seed."""
    rng, kinds = random.Random(seed), documents()
    for _ in range(count):
        yield (bad_field if rng.random() < 0.7 else bad_text)(rng, kinds)


def failure(text: str, use: typing.Callable[[str], object],
            refusals: tuple[type, ...]) -> str | None:
    """What is wrong with how a text was taken: anything but success or one of the refusals, a
    sentence that is none, or too long a wait.
    """
    start = time.thread_time()
    try:
        use(text)
    except refusals as refused:
        for sentence in getattr(refused, "problems", [str(refused)]):
            if len(sentence) > 500 or not sentence.isprintable():
                return f"no short sentence on one line: {sentence!r}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return f"{took:.1f} seconds" if (took := time.thread_time() - start) > MOST_SECONDS else None


def main(count: str = "5000", seed: str = "0") -> None:
    """Try so many and print what failed."""
    from volcano_lab.cache import Cache
    from volcano_lab.manifests.defaults import with_defaults
    from volcano_lab.manifests.loader import ManifestError, load
    from volcano_lab.scheduler import run_cycle

    seen = {"refused": 0, "run": 0}

    def use(text: str) -> None:
        seen["refused"] += 1
        loaded = with_defaults(load(io.StringIO(AROUND), io.BytesIO(text.encode())))
        run_cycle(Cache(loaded), CONF)
        seen["refused"] -= 1
        seen["run"] += 1

    failed: dict[str, list[str]] = {}
    for text in cases(int(count), int(seed)):
        if found := failure(text, use, (ManifestError,)):
            failed.setdefault(found[:150], []).append(text)
    for problem, texts in failed.items():
        print(len(texts), problem, "\n   ", min(texts, key=len)[:1500])
    print(seen, sum(map(len, failed.values())), "failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
