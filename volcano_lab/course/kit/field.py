"""A field for the code of a cell in Voila, which has no editable cells.

`lesson(…)` shows one below each cell with a place to fill in (`...`), or a comment with the word
*change*. Its code runs with the notebook's names. A cell that defines a function, a class or a text
in lines shows its code in a fold. Elsewhere nothing is shown.
"""

import ast
import io
import linecache
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from typing import Any

from volcano_lab.course.kit.live import Shown, views
from volcano_lab.course.kit.markup import fold
from volcano_lab.course.kit.verdict import try_again
from volcano_lab.messages import gettext
from volcano_lab.messages.attempt import attempt

CHANGE = re.compile(r"#.*(\bchange\b|改)")
ASKS = re.compile(r"^(predict|ask|recap|lesson)\(", re.MULTILINE)


class Field(Shown):
    """The code of a cell, to be changed and run on the page.

    >>> field = Field("half = ...", {})
    >>> field._received({"run": "half = 10 / 2\\nprint(half)\\nlen([half])"})
    >>> field.names["half"], field.result
    (5.0, [{'html': '<pre>5.0\\n</pre>'}, {'html': '<pre>1</pre>'}])
    """

    def __init__(self, source: str, names: dict[str, Any]):
        self.source, self.names, self.runs = source, names, 0
        self.result: list[dict[str, str]] = []
        names.update(exit=_exit, quit=_exit)

    def _received(self, content: dict[str, Any]) -> None:
        if "run" in content:
            self.source, self.runs = str(content["run"]), self.runs + 1
            self.result = ran(self.source, self.names)
            self._refresh()

    def __repr__(self) -> str:
        return self.source

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.source)}</pre>"

    def _state(self) -> dict[str, Any]:
        return {"kind": "field", "code": self.source, "runs": self.runs, "result": self.result}


CODE = "<your code>"
MOST_PRINTED, MOST_SHOWN = 20_000, 1_000_000
"""The most characters shown of code's output, and of HTML for its value."""


class Printed(io.StringIO):
    """The shown part of code's output; code that closes it does no harm.

    >>> printed = Printed()
    >>> printed.write("x" * (MOST_PRINTED + 2)), len(printed.getvalue()), printed.left_out
    (20002, 20000, 2)
    """

    left_out = 0

    def write(self, text: str) -> int:
        kept = text[:MOST_PRINTED - self.tell()]
        super().write(kept)
        self.left_out += len(text) - len(kept)
        return len(text)

    def close(self) -> None:
        """Stay open."""

    def views(self) -> list[dict[str, str]]:
        """Return the page's view of the output."""
        text, more = self.getvalue(), list[dict[str, str]]()
        if self.left_out:
            more = views(gettext("{count:,} more characters are not shown; allowed are {most:,}.",
                                 count=self.left_out, most=MOST_PRINTED))
        return [{"html": f"<pre>{escape(text)}</pre>"}] * bool(text) + more


def ran(source: str, names: dict[str, Any]) -> list[dict[str, str]]:
    """Run code and return what a page shows: its output, then its last value.

    >>> ran("1 / 0", {})[0]["html"].count("ZeroDivisionError: division by zero (line 1)")
    1
    """
    printed = Printed()
    with redirect_stdout(printed), redirect_stderr(printed):
        shown, error = attempt(lambda: views(run_cell(source, CODE, names)), CODE)
    if error:
        shown = views(try_again(error))
    return printed.views() + _limited(shown or [])


def _limited(shown: list[dict[str, str]]) -> list[dict[str, str]]:
    size = sum(len(view["html"]) for view in shown)
    return shown if size <= MOST_SHOWN else views(gettext(
        "The value is not shown: it takes {count:,} characters; allowed are {most:,}.",
        count=size, most=MOST_SHOWN))


def _exit(*_: Any) -> None:
    """Replace `exit` and `quit`, with which IPython would end the kernel."""
    raise SystemExit


def run_cell(source: str, name: str, names: dict[str, Any]) -> Any:
    """Run a cell; return its last expression's value. `inspect` and tracebacks find its source."""
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    tree = ast.parse(source, name)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        return exec(compile(tree, name, "exec"), names)
    tree.body.pop()
    exec(compile(tree, name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names)


def to_be_changed(source: str) -> bool:
    """Return whether a cell is meant to be changed.

    >>> [to_be_changed(source) for source in ("a = ...", "a = 1  # change it", "a = '...'", "%a")]
    [True, True, False, False]
    >>> to_be_changed("a = 1  # 改这里")
    True
    """
    return bool(CHANGE.search(source)) or any(value is ... for value in _parts(source))


def to_be_read(source: str) -> bool:
    """Return whether a cell has a definition in lines that readers want to see.

    >>> [to_be_read(source) for source in ("def f(): pass", "a = '''b\\nc'''", "f()")]
    [True, True, False]
    """
    return not ASKS.search(source) and any(
        "\n" in part.strip() if isinstance(part, str)
        else isinstance(part, ast.FunctionDef | ast.ClassDef) for part in _parts(source))


def _parts(source: str) -> list[Any]:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return []
    return [node.value if isinstance(node, ast.Constant) else node for node in nodes]


def show_fields() -> None:
    """Show a field below each later cell that is meant to be changed, in Voila."""
    if not os.environ.get("SERVER_SOFTWARE", "").startswith("voila/"):
        return
    from IPython import get_ipython
    from IPython.display import HTML, display

    shell = get_ipython()

    def after(result: Any) -> None:
        source = result.info.raw_cell
        if to_be_changed(source):
            display(Field(source, shell.user_ns))
        elif to_be_read(source):
            display(HTML(fold("Code", f"<pre>{escape(source)}</pre>")))

    shell.events.register("post_run_cell", after)
