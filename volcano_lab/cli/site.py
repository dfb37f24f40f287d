"""`volcano-lab site`: serve the folder that `make site` built, for one reader or a classroom."""

from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

from volcano_lab.cli import DONE, Mistake
from volcano_lab.server.web import Quiet, Server

BUILT = Path("build/site")
# Named here and not left to the system's own list, which differs on some systems.
TYPES = {"": "application/octet-stream", ".css": "text/css", ".html": "text/html",
         ".ipynb": "application/json", ".js": "text/javascript", ".json": "application/json",
         ".mjs": "text/javascript", ".png": "image/png", ".svg": "image/svg+xml",
         ".txt": "text/plain", ".wasm": "application/wasm", ".webmanifest":
         "application/manifest+json", ".whl": "application/zip", ".woff2": "font/woff2",
         ".zip": "application/zip"}


class Handler(Quiet, SimpleHTTPRequestHandler):
    """Files with the types that browsers require; a repeated request sends only changed ones."""

    extensions_map = TYPES

    def end_headers(self) -> None:
        """Add headers with which browsers keep a reader's work, and load a new build."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()


def server(folder: str | None, host: str, port: int) -> Server:
    """Return the server, bound and not yet started. Raises `Mistake`."""
    root = BUILT if folder is None else Path(folder)
    if not (root / "try" / "jupyter-lite.json").is_file():
        raise Mistake("site.none", root=root)
    try:
        return Server((host, port), partial(Handler, directory=str(root)))
    except (OSError, OverflowError) as error:
        raise Mistake("site.port", host=host, port=port, error=error) from None


def site(folder: str | None, host: str, port: int) -> int:
    """Serve until Ctrl-C."""
    with server(folder, host, port) as running:
        print(f"http://{host}:{running.server_port}/  (Ctrl-C ends it)", flush=True)
        running.serve_forever(0.2)
    return DONE
