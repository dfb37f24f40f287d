"""Files that pages unpack themselves, so that they are as small on a disk and on any web server as
on one that compresses.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path

CHUNK = re.compile(rb"\A(?:\s|/\*.*?\*/|\"use strict\";)*"
                   rb"\(?self(?:\.|\[\")(?:rs|web)packChunk_", re.DOTALL)


def packed(file: Path) -> None:
    """Replace a file by a packed one, `NAME.packed`.

    Servers answer `.gz` in more than one way, so the name says it in a word that they do not know.
    """
    _write(file.with_name(f"{file.name}.packed"), file.read_bytes())
    file.unlink()


def scripts(files: list[Path], out: Path) -> None:
    """Replace the parts of the interface among files by one script of them all, packed.

    A part notes itself in a list; what asks for it later finds it there and requests nothing.
    """
    parts = {file: text for file in sorted(files) if CHUNK.match(text := file.read_bytes())}
    _write(out, b"".join(b"(() => {%s\n})();\n" % text for text in parts.values()))
    for file in parts:
        file.unlink()


def _write(out: Path, text: bytes) -> None:
    out.write_bytes(gzip.compress(text, 9, mtime=0))
