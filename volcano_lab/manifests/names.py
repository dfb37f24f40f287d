"""Names, labels and keys as the API server allows them, and the names that it generates."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from zlib import crc32

from volcano_lab.api.objects import KubernetesObject, Namespace
from volcano_lab.messages import Message, Said, one_line

LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_DNS_LABEL = re.compile(LABEL)
_SUBDOMAIN = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""The letters of generated names: no vowels, no digits that look like letters."""


@lru_cache(maxsize=1 << 14)
def is_subdomain(name: str) -> bool:
    """Return whether text is the name of an object (a DNS subdomain).

    >>> is_subdomain("n1.example"), is_subdomain("N1"), is_subdomain("a..b")
    (True, False, False)
    """
    return _SUBDOMAIN.fullmatch(name) is not None and not re.search(r"\.[-.]|-\.", name)


def is_label(name: str) -> bool:
    """Return whether text is the name of a namespace or a container (a DNS label).

    >>> is_label("main"), is_label("a.b")
    (True, False)
    """
    return _DNS_LABEL.fullmatch(name) is not None


@lru_cache(maxsize=1 << 14)
def is_qualified(name: str) -> bool:
    """Return whether text is the key of a label: a name, with or without a domain in front.

    >>> is_qualified("nvidia.com/gpu"), is_qualified("a b/c")
    (True, False)
    """
    domain, slash, part = name.rpartition("/")
    return _PART.fullmatch(part) is not None and (not slash or is_subdomain(domain))


def problems(obj: KubernetesObject) -> list[Message]:
    """Return a message for each name of an object that the API server would refuse."""
    metadata = obj.metadata
    found: list[tuple[Said, str, str]] = []
    if isinstance(obj, Namespace) and not is_label(obj.name):
        found.append(("metadata.name", obj.name, "label"))
    elif not is_subdomain(obj.name):
        found.append(("metadata.name", obj.name, "subdomain"))
    if metadata.namespace and not is_label(metadata.namespace):
        found.append(("metadata.namespace", metadata.namespace, "label"))
    for field, words in (("labels", metadata.labels), ("annotations", metadata.annotations)):
        for key, value in words.items():
            if not is_qualified(key if field == "labels" else key.lower()):
                found.append((Message("name.key_of", field=field), key, "key"))
            elif field == "labels" and value and not _PART.fullmatch(value):
                found.append((f"metadata.labels.{key}", value, "value"))
    return [Message("name.problem", field=field, name=one_line(name, 100),
                    allowed=Message(f"name.{form}")) for field, name, form in found]


def generated(prefix: str, number: int) -> str:
    """Return the API server's name for a `generateName`; the same in each run.

    >>> generated("train-", 0)
    'train-vmrlt'
    """
    code = crc32(f"{prefix}{number}".encode())
    letters = [_LETTERS[code // len(_LETTERS)**place % len(_LETTERS)] for place in range(5)]
    return prefix[:58] + "".join(letters)


def series(prefix: str) -> Iterator[str]:
    """Yield the names of objects with one `generateName`, none twice, as the API server generates
    another where one is taken.
    """
    taken = set()
    for number in count():
        name = generated(prefix, number)
        if name not in taken:
            taken.add(name)
            yield name
