"""Writes `volcano_lab/__init__.pyi`: the package's names with their types.

The package loads each name when it is first used, which type checkers can't follow.
"""

from pathlib import Path

import volcano_lab

STUB = Path(volcano_lab.__file__).with_suffix(".pyi")


def stub() -> str:
    """Return the text of the stub, from the package's own table of names."""
    aliases: list[str] = []
    lines = [f"from volcano_lab.{home} import {name} as {name}"
             for name, home in sorted((volcano_lab._HOMES | volcano_lab._LAB).items(),
                                      key=lambda row: row[::-1])]
    for name, home in sorted(volcano_lab._MODULES.items()):
        parent, _, module = home.rpartition(".")
        known = name if name == module else f"_{module}"  # only what keeps its name is passed on
        lines.append(f"from volcano_lab.{parent} import {module} as {known}")
        aliases += [] if name == module else [f"{name} = {known}"]
    return "\n".join(["# Made by tools/stubs.py from the table in __init__.py.",
                      "# ruff: noqa: I001",
                      *lines, "", *aliases,
                      "__version__: str", ""])


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
