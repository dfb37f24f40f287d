"""A notebook in a real Chromium, in JupyterLab and in Voila: run it all, move its slider, see what
is repainted when.

Used by the browser tests and by `benchmarks/slider.py`.
"""

import contextlib
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError as PageTimeout, sync_playwright

PROBE = Path(__file__).with_name("probe.js").read_text()
SETTLED = "__probe.settled()"
FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"]
OUTSIDE = re.compile(r"^(https?|wss?)://(?!127\.0\.0\.1[:/])")
# Voila's own page template asks for an icon font; that is not the notebook's doing, and the request
# is refused anyway.
VOILA_ICONS = re.compile(r"/@fortawesome/fontawesome-free@")
VIEW = {"width": 1280, "height": 1000}
COLLAPSE_PX = 8  # rounding of heights; a cleared output collapses by far more
STANDING = """(node) => node.tagName === "SELECT"
  ? [node.selectedIndex, 0, node.options.length - 1, ["ArrowUp", "ArrowDown"]]
  : [...["now", "min", "max"].map((name) => Number(node.getAttribute(`aria-value${name}`))),
     ["ArrowLeft", "ArrowRight"]]"""
FAILED = ", ".join(
    f'.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.{kind}"]' for kind in ("stderr",
                                                                                           "error"))


def find_chromium():
    """The path of a Chromium on this machine (or the one that $CHROMIUM names), or None."""
    names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@contextlib.contextmanager
def open_browser(executable):
    """A headless Chromium. Root, who has no sandbox, starts it without one."""
    flags = FLAGS + (["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else [])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=flags)
        try:
            yield browser
        finally:
            browser.close()


@dataclass(frozen=True)
class Repaint:
    """What one move did: milliseconds from the key press to the first and to the last change of
    what is shown, and by how many pixels some output was lower in between than before."""

    first: float
    last: float
    collapse: float


@dataclass
class NotebookPage:
    """A notebook that was opened and has run; see `open_notebook`."""

    page: object
    outside: list = field(
        default_factory=list)  # requests that would have left the machine; all are refused
    errors: list = field(default_factory=list)  # exceptions of the page's scripts

    def failures(self):
        """Tracebacks and warnings that cells show."""
        return self.page.locator(FAILED).all_inner_texts()

    def slider(self, within="body"):
        """The first slider's handle, focused (or a lab's first menu), or None where there is none.

        `within`: where it is sought, as CSS.
        """
        handles = self.page.locator(f"{within} .noUi-handle")
        if within != "body" and not handles.count():
            handles = self.page.locator(f"{within} .vp-controls select")
        if not handles.count():
            return None
        handles.first.scroll_into_view_if_needed()
        self.page.wait_for_timeout(1000)  # scrolling and late drawings come to rest
        handles.first.focus()
        return handles.first

    def press(self, key, where, settle=150):
        """Press a key on what has the focus, and watch what it repaints; see `move_slider`."""
        self.page.evaluate("__probe.arm()")
        self.page.keyboard.press(key)
        try:
            self.page.wait_for_function("__probe.first > 0", timeout=20_000)
        except PageTimeout as error:
            raise AssertionError(f"{key} on {where} repainted nothing within 20 s") from error
        self.page.wait_for_timeout(settle)
        return Repaint(**self.page.evaluate("__probe.disarm()"))

    def move_slider(self, moves, settle=150, within="body"):
        """Move the first slider by `moves` steps, turning round at its ends; one Repaint a move.

        `settle`: milliseconds for which the page is watched after the first change.
        """
        handle, on, seen = self.slider(within), True, []
        for _ in range(moves):
            value, least, most, keys = handle.evaluate(STANDING)
            on = value < most if on else value <= least
            key = keys[on]
            seen.append(self.press(key, f"the slider at {float(value)}", settle))
            if handle.evaluate(STANDING)[0] == value:
                raise AssertionError(f"the slider stayed at {value} after {key}")
        return seen

    def complaints(self, repaints=()):
        """What a reader would complain about, a sentence each, after these moves of a slider. How
        long a repaint takes is for `benchmarks/slider.py`.
        """
        collapses = [
            round(repaint.collapse) for repaint in repaints if repaint.collapse > COLLAPSE_PX
        ]
        found = [f"a cell shows an error or a warning: {text}" for text in self.failures()]
        found += [f"flicker: outputs collapsed by {collapses} px while a slider moved"
                  ] if collapses else []
        found += [f"a request left the machine: {address}" for address in self.outside]
        found += [f"a script of the page failed: {error}" for error in self.errors]
        return found

    def screenshot(self, path):
        """The whole notebook from top to end, as one picture for people: none in CI."""
        if os.environ.get("CI"):
            return
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        height = self.page.evaluate(
            "Math.max(...[...document.querySelectorAll('.jp-WindowedPanel-outer, body')]"
            ".map(e => e.scrollHeight))")
        view = self.page.viewport_size
        self.page.set_viewport_size(
            {"width": view["width"], "height": min(int(height) + 200, 32_000)})
        self.page.evaluate(
            "document.querySelectorAll('.jp-WindowedPanel-outer').forEach(e => e.scrollTop = 0)")
        self.page.wait_for_timeout(500)
        self.page.screenshot(path=str(path))
        self.page.set_viewport_size(view)


@contextlib.contextmanager
def open_notebook(browser, server, notebook, run=True, context=None):
    """Open a notebook (a path relative to the server's folder), run all its cells unless it shall
    stay as it is stored, and yield its NotebookPage.

    `context`: a visit that goes on, whose browser has kept the server's scripts.
    """
    visit = context or browser.new_context(viewport=VIEW)
    try:
        shown = NotebookPage(visit.new_page())

        def look(request):  # FLAGS refuse it; a route would, too, but nothing would be kept
            if OUTSIDE.search(request.url) and not (
                    server.kind == "voila" and VOILA_ICONS.search(request.url)):
                shown.outside.append(request.url)

        shown.page.on("request", look)
        shown.page.on("pageerror", lambda error: shown.errors.append(str(error)))
        shown.page.add_init_script(PROBE)
        if server.kind == "voila":
            _visit(shown.page, server.url(notebook))
        else:
            shown.page.goto(server.url(notebook), timeout=240_000)
            shown.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=180_000)
            if run:
                _run_all(shown, server, notebook)
        try:
            shown.page.wait_for_function(SETTLED, timeout=240_000)
        except PageTimeout as error:
            raise AssertionError(
                f"{notebook}: not all outputs were drawn within four minutes") from error
        yield shown
    finally:
        shown.page.close() if context else visit.close()
        for session in server.sessions(notebook) if server.kind != "voila" else []:
            server.api(f"sessions/{session['id']}", "DELETE")  # its kernel's memory


def _visit(page, url):
    """Open a page of Voila, a second time where it waits for a kernel, or for outputs, for ever,
    as it does now and then on a busy machine.
    """
    try:
        page.goto(url, timeout=120_000)
        page.wait_for_function(SETTLED, timeout=240_000)
    except PageTimeout:
        page.goto(url, timeout=240_000)


def _run_all(shown, server, notebook):
    page = shown.page
    # The page says "idle" before a kernel is attached, and running is then silently dropped: ask
    # the server.
    def attached():
        kernels = [session["kernel"] for session in server.sessions(notebook)]
        return any(
            kernel["execution_state"] == "idle" and kernel["connections"] for kernel in kernels)

    _until(page, "a kernel", attached)
    cells = nbformat.read(server.root / notebook, 4).cells
    expected = sum(cell.cell_type == "code" and bool(cell.source.strip()) for cell in cells)
    prompts = page.locator(".jp-CodeCell .jp-InputPrompt")
    page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")

    def finished():
        numbered = [text for text in prompts.all_inner_texts() if re.search(r"\[\d+\]", text)]
        return shown.failures() or len(numbered) == expected

    _until(page, f"{expected} cells to run", finished, seconds=600)


def _until(page, what, holds, seconds=180):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if holds():
                return
        page.wait_for_timeout(100)  # not time.sleep, which would stop the noting of requests
    raise TimeoutError(f"waited {seconds} s for {what}")


def violations(page, where, *impacts):
    """What axe-core finds there, of any impact or of these."""
    if not page.locator(where).count():
        return []
    found = Axe().run(page, context={"include": [[where]]}).response["violations"]
    return [f"{each['id']}: {node['html'][:120]}" for each in found for node in each["nodes"]
            if not impacts or each["impact"] in impacts]
