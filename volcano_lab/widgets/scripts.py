"""The scripts and styles of labs and pictures, as one text each; there is no build step.

The modules in `js/` are plain ES modules. `bundle` puts one and its imports into one text, each in
a scope of its own, because a notebook loads a widget from a single text.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from volcano_lab.messages import ENGLISH, spoken
from volcano_lab.messages.catalogue import SCRIPT, catalogue

HERE = Path(__file__).parent

_IMPORT = re.compile(r'^import \{(.+)\} from "(.+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|async function) (\w+))", re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*\n|^\s+", re.MULTILINE)


@cache
def bundle(entry: str | Path) -> str:
    """Return a module of `js/` with all its imports as one script.

    >>> "export default" in bundle("widget.js"), "import " in bundle("widget.js")
    (True, False)
    """
    done: dict[Path, str] = {}
    texts: list[str] = []

    def add(path: Path) -> str:
        if path not in done:
            source = path.read_text(encoding="utf-8")

            def imported(found: re.Match[str]) -> str:
                return f"const {{{found[1]}}} = {add((path.parent / found[2]).resolve())};"

            body = _IMPORT.sub(imported, _COMMENT.sub("", source))
            names = ", ".join(_EXPORT.findall(body))
            done[path] = f"module{len(done)}"
            texts.append(_EXPORT.sub("", body) if path == start else
                         f"const {done[path]} = (() => {{\n{_EXPORT.sub('', body)}"
                         f"return {{{names}}};\n}})();\n")
        return done[path]

    start = (HERE / "js" / entry).resolve()
    add(start)
    return "".join(texts)


class Script:
    """A widget's script, in the reader's language."""

    def __init__(self, entry: str | Path):
        self.entry = entry

    def __get__(self, instance: Any, owner: type) -> str:
        return worded(bundle(self.entry))


def worded(source: str) -> str:
    """Return JavaScript whose `t` finds the texts of the current language."""
    texts = {} if spoken() == ENGLISH else catalogue(spoken(), SCRIPT)
    return f"const TEXTS = {json.dumps(texts, ensure_ascii=False)};\n{source}"


@cache
def live_css() -> str:
    """Return the styles of a page: pictures, their dark colours, the lab's frame."""
    dark = _style("dark").replace(".vp {", ".vp.vp-dark {")
    return "".join(_style(name) for name in ("picture", "channels")) + dark + "".join(
        _style(name) for name in ("live", "steps", "questions"))


@cache
def still_css(kind: str = "") -> str:
    """Return the styles of one kind of still, dark on a dark page."""
    own = _style(kind) if kind == "channels" else ""
    whole = own + f"{_style('picture')}@media (prefers-color-scheme: dark) {{{_style('dark')}}}"
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", whole, flags=re.DOTALL)).strip()


def _style(name: str) -> str:
    return (HERE / "css" / f"{name}.css").read_text(encoding="utf-8")
