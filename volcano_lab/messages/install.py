"""The command that installs what an extra needs, from where this package was installed."""

import json
from importlib.metadata import PackageNotFoundError, distribution


def install_line(extra: str) -> str:
    """Return the pip command for an extra of this package, "lab" or "sweep".

    A package that was installed from a folder, a file or a repository is named with that place
    (PEP 610); one from an index by its name alone.

    >>> install_line("lab").startswith('pip install "volcano-lab[lab]')
    True
    """
    try:
        found = json.loads(distribution("volcano-lab").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        found = {}
    place, vcs = found.get("url", ""), found.get("vcs_info", {}).get("vcs")
    source = " @ " * bool(place) + f"{vcs}+" * bool(vcs) + place
    return f'pip install "volcano-lab[{extra}]{source}"'
