"""Text of manifests: regular files, folders, globs, gzip and standard input; and its documents.

Input is bounded before it is held: the bytes of all sources together, the values of JSON and YAML,
depth, documents (`framework.config.yaml`). JSON is tried first where a text begins like JSON,
because it is faster; several JSON values may follow one another, as `jq` and `kubectl -w` print
them.
"""

import glob
import gzip
import io
import json
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import yaml

from volcano_lab.framework.config.yaml import MOST_DIGITS, documents, syntax_problem
from volcano_lab.manifests.block import listed
from volcano_lab.messages import OneSentence

SUFFIXES = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")
MOST_BYTES = 1 << 27
"""Bytes of text that one call reads unless it has another limit: 128 MiB."""
MOST_JSON_VALUES = 8_000_000

Source = str | Path | IO[str] | IO[bytes]


class Unreadable(OneSentence):
    """A source or a text that cannot be read; the text has the reason."""


ERRORS = (Unreadable, OSError, ValueError, EOFError, zlib.error)

class Reader:
    """Reads texts until a limit is reached. Raises `Unreadable`.

    >>> [name for name, text in Reader().texts(io.StringIO("kind: Pod"))]
    ['input']
    """

    def __init__(self, most: int = MOST_BYTES, recursive: bool = False):
        self.most, self.left, self.recursive = most, most, recursive
        self._seen: set[tuple[int, int]] = set()

    def texts(self, source: Source) -> Iterator[tuple[str, str | Unreadable]]:
        """Return name and text of each file of a source; "-" is the input."""
        if isinstance(source, str) and source == "-":
            source = sys.stdin or io.StringIO()
        name = getattr(source, "name", "input") if hasattr(source, "read") else str(source)
        name = (name if isinstance(name, str) else "input").strip("<>")
        try:
            if hasattr(source, "read"):
                stream: Any = getattr(source, "buffer", source)
                yield name, self._text(stream)
                return
            files = self._files(Path(source))
        except ERRORS as error:
            yield name, _unreadable(error)
            return
        for path in files:
            try:
                found = path.stat()
                if not stat.S_ISREG(found.st_mode) and not is_descriptor(path):
                    raise Unreadable("file.irregular")
                if (place := (found.st_dev, found.st_ino)) in self._seen and found.st_ino:
                    continue  # two patterns match it
                self._seen.add(place)
                with path.open("rb") as stream:
                    yield str(path), self._text(stream)
            except ERRORS as error:
                yield str(path), _unreadable(error)

    def text(self, source: Source) -> str:
        """Return the text of one file. Raises `Unreadable`."""
        _, text = next(self.texts(source))
        if isinstance(text, Unreadable):
            raise text
        return text

    def _files(self, path: Path) -> list[Path]:
        """Return a file, the files of a folder by name, or those that match a pattern."""
        matching = [] if path.exists() else [
            Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
        found: list[Path] = []
        for place in matching or [path]:
            if not place.is_dir():
                found.append(place)
                continue
            inside = place.rglob("*") if self.recursive else place.iterdir()
            files = sorted(file for file in inside
                           if file.name.endswith(SUFFIXES) and not file.is_dir())
            if not (files or matching):
                below = not self.recursive and any(file.is_dir() for file in place.iterdir())
                raise Unreadable("file.none_below" if below else "file.none", suffixes=SUFFIXES)
            found += files
        return found

    def _text(self, stream: IO[Any]) -> str:
        data = stream.read(self.left + 1)
        data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        if data.startswith(b"\x1f\x8b"):
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(self.left + 1)
        if data.startswith(b"PK\3\4") or data[257:262] == b"ustar":
            raise Unreadable("file.archive")
        self.left -= len(data)
        if self.left < 0:
            raise Unreadable("file.bytes", most=self.most)
        return data.decode("utf-8-sig")


def is_descriptor(path: Path) -> bool:
    """Return whether a path is an open file of this process, as in a shell's `<(command)`.

    >>> is_descriptor(Path("/dev/fd/63")), is_descriptor(Path("/dev/zero"))
    (True, False)
    """
    return path.parent.as_posix() in ("/dev/fd", "/proc/self/fd") or str(path) == "/dev/stdin"


def _unreadable(error: Exception) -> Unreadable:
    if isinstance(error, FileNotFoundError):
        return Unreadable("file.gone")
    if isinstance(error, UnicodeDecodeError):
        if error.object[:1] in b"\xff\xfe" and ":" in error.object.decode("utf-16", "replace"):
            return Unreadable("file.utf16")
        return Unreadable("file.not_text")
    return error if isinstance(error, Unreadable) else Unreadable(
        "file.unreadable", reason=getattr(error, "strerror", None) or error)


def values(text: str) -> list[Any]:
    """Return the documents of a text as plain data. Raises `Unreadable`.

    >>> values('{"a": 1} {"b": 2}'), values("a: 1")
    ([{'a': 1}, {'b': 2}], [{'a': 1}])
    """
    text = text.removeprefix("\ufeff").replace("\n\ufeff", "\n")
    if text.lstrip()[:1] in ("{", "["):
        found = _json_values(text)
        if found is not None:
            return found
    try:
        return listed(text) or list(documents(text))
    except yaml.YAMLError as error:
        code = "file.helm" if _HELM.search(text) else "file.syntax"
        raise Unreadable(code, problem=syntax_problem(error)) from None


def _json_values(text: str) -> list[Any] | None:
    """Return the values of a JSON text; None if it is not JSON, and may be YAML's own notation."""
    if text.count("{") + text.count("[") + text.count(",") > MOST_JSON_VALUES:
        raise Unreadable("file.values", most=MOST_JSON_VALUES)
    found, at = [], 0
    try:
        while start := _NO_SPACE.search(text, at):
            value, at = _JSON.raw_decode(text, start.start())
            found.append(value)
    except RecursionError:
        raise Unreadable("file.nested") from None
    except ValueError:
        return None
    if "\\ud" in text or "\\uD" in text:  # a lone surrogate becomes U+FFFD, as in Go
        whole = json.dumps(found, ensure_ascii=False).encode("utf-16", "surrogatepass")
        return json.loads(whole.decode("utf-16", "replace"))
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise Unreadable("file.key_twice", twice=key)
            seen.add(key)
    return found


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= MOST_DIGITS else digits


def _no_number(name: str) -> Any:
    raise ValueError(name)


_HELM = re.compile(r"\{\{-?\s*(\.|\$|if |range |with |include |template |toYaml |end)")
_NO_SPACE = re.compile(r"[^ \t\r\n]")
_JSON = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole, parse_constant=_no_number)
