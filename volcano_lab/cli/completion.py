"""Shell completion of the names in a command line's files: jobs, pods, queues, nodes, namespaces,
and the fields of objects.
"""

import os
from collections.abc import Iterator, Sequence

import attrs
from click.shell_completion import CompletionItem, split_arg_string

from volcano_lab.changes.objects import key_of
from volcano_lab.manifests.loader import Loaded, ManifestError, load
from volcano_lab.manifests.schema import json_name

MOST_BYTES = 1 << 22
"""Files that are larger together are not read, so that completion stays fast."""


def completions(param: str, incomplete: str) -> list[CompletionItem]:
    """Return the completions of a parameter; a FILE is left to the shell."""
    line = split_arg_string(os.environ.get("COMP_WORDS", ""))[1:]
    loaded = _loaded([word for word in line if os.path.isfile(word)])
    found = sorted({word for word in _words(loaded, param, incomplete)
                    if word.startswith(incomplete)})
    files = [CompletionItem(incomplete, "file")] if param == "words" else []
    return [CompletionItem(word) for word in found] or files


def _loaded(files: Sequence[str]) -> Loaded:
    try:
        small = sum(map(os.path.getsize, files)) <= MOST_BYTES
        return load(*files) if files and small else Loaded()
    except (OSError, ManifestError):
        return Loaded()


def _words(loaded: Loaded, param: str, incomplete: str) -> Iterator[str]:
    for obj in loaded:
        if param in ("settings", "grid", "remove"):
            yield from _paths(obj, incomplete, param != "remove")
        elif param == "node":
            yield from [obj.name] * (obj.kind == "Node")
        elif param == "namespace":
            yield from [obj.namespace or "default"] * obj.namespaced
        elif obj.kind == "Node" and param == "words":
            yield key_of(obj)
        elif obj.kind in ("Queue", "Pod", "Job", "PodGroup"):
            name = key_of(obj).partition("/")[2]
            yield from (name, name.rpartition("/")[2]) if obj.kind != "Queue" else (name,)


def _paths(obj: object, incomplete: str, fields: bool) -> Iterator[str]:
    """Yield KIND/NAME, and once that is typed the fields of the object."""
    key = key_of(obj)  # type: ignore[arg-type]
    if fields and incomplete.startswith(f"{key}."):
        spec = getattr(obj, "spec", None)
        for field in attrs.fields(type(spec)) if spec is not None else ():
            yield f"{key}.{json_name(field)}="
    else:
        yield key + "." * fields
