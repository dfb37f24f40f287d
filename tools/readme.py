"""Writes what the commands in README.md and in pages of docs print: in each `console` block, below
its `$ ` lines.

A test compares them; this brings them up to date. Commands see 80 columns;
warnings, which go to the error output, are left out.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def printed(line: str) -> str:
    """Return a command and what it prints."""
    words = [sys.executable, "-m", "volcano_lab.cli", *shlex.split(line)[1:]]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False,
                          env=os.environ | {"COLUMNS": "80", "NO_COLOR": "1"})
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"{line}: {done.stderr.strip() or 'nothing was printed'}")
    return f"$ {line}\n{done.stdout}".rstrip() + "\n"


def written(text: str, option: str = "") -> str:
    """Return a page with what its commands, with one option more, print now."""
    def again(block: re.Match[str]) -> str:
        return "```console\n" + "\n".join(
            printed(line.replace(" ", f" {option} ", 1) if option else line)
            for line in re.findall(r"^\$ (.*)$", block[1], re.MULTILINE)) + "```"

    return re.sub(r"^```console\n(.*?)^```$", again, text, flags=re.M | re.S)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
