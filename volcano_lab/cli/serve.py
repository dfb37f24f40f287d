"""`volcano-lab serve`: cycles on a folder that is watched, until a signal ends them."""

import os
import sys
from contextlib import suppress
from typing import Any

from volcano_lab.server import service


def serve(verbosity: int, **given: Any) -> None:
    """Serve, and end the process: freeing a large cluster takes longer than the exit may."""
    code = service.serve(level=verbosity, **given)
    with suppress(OSError, ValueError):  # the output is closed
        sys.stdout.flush()
    os._exit(code)
