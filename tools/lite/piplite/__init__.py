"""What the kernel calls its installer: all packages come with the site, and the large ones are
fetched when they are first imported.
"""

import importlib
import io
import json
import sys
import zipfile
from pathlib import Path

LATER: dict[str, str] = json.loads(
    (Path(__file__).parent / "later.json").read_text(encoding="utf-8"))
ROOM = Path(__file__).parents[1]


def fetched(archive: str) -> bytes:
    """The bytes of an archive of the site; the kernel's thread waits, for an import has to."""
    from js import XMLHttpRequest, archives

    request = XMLHttpRequest.new()
    request.open("GET", archives + archive, False)
    request.responseType = "arraybuffer"
    request.send()
    if request.status != 200:
        raise ImportError(f"{archive} of this site cannot be fetched ({request.status})")
    return request.response.to_bytes()


class Finder:
    """Unpacks an archive when one of its packages is imported; the usual finders go on."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Return nothing, ever."""
        archive = LATER.get(name) if path is None else None
        if archive is None:
            return
        with zipfile.ZipFile(io.BytesIO(fetched(archive))) as opened:
            opened.extractall(ROOM)
        for top in [top for top, where in LATER.items() if where == archive]:
            del LATER[top]
        importlib.invalidate_caches()


async def install(*_: object, **__: object) -> None:
    """Install nothing: what there is has come with the site."""


sys.meta_path.insert(0, Finder)
