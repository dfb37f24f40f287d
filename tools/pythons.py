"""Finds another Python on this machine: on the PATH, or where pyenv, uv and GitHub's runners keep
theirs.

`python tools/pythons.py 3.12` prints the path of an interpreter of that version,
`python tools/pythons.py --newer` that of the newest one above the version this script runs under;
nothing is printed where there is none. Only interpreters that run and can make environments count.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NEWEST = 14
PROBE = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"


def candidates(version):
    """Yield paths where an interpreter of a version ("3.12") may be."""
    home, name = Path.home(), f"python{version}"
    if on_path := shutil.which(name):
        yield on_path
    stores = [
        (Path(os.environ.get("PYENV_ROOT", home / ".pyenv"), "versions"), f"{version}*/bin/{name}"),
        (Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local/share/uv/python")),
         f"cpython-{version}*/bin/{name}"),
        (Path(os.environ.get("RUNNER_TOOL_CACHE", "/opt/hostedtoolcache"), "Python"),
         f"{version}*/*/bin/{name}"),
    ]
    for folder, pattern in stores:
        yield from (str(path) for path in sorted(folder.glob(pattern), reverse=True))


def find(version):
    """Return the path of a working interpreter of a version, None where there is none."""
    for path in candidates(version):
        answer = subprocess.run([path, "-c", PROBE], capture_output=True, text=True)
        if answer.returncode == 0 and answer.stdout.strip() == version:
            return path
    return None


def newer(than=sys.version_info[:2]):
    """Return the newest working interpreter above a version, None where there is none."""
    versions = (f"3.{minor}" for minor in range(NEWEST, than[1], -1))
    return next((path for version in versions if (path := find(version))), None)


if __name__ == "__main__":
    wanted = sys.argv[1]
    found = newer() if wanted == "--newer" else find(wanted)
    if found:
        print(found)
