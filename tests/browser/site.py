"""A reader of the site in a real Chromium, whose network ends at this machine."""

import contextlib
import subprocess
import sys
import time
from dataclasses import dataclass, field

KERNEL_IDLE = """() => {
    const context = window.jupyterapp?.shell.currentWidget?.context?.sessionContext;
    return Boolean(context?.isReady && context.session?.kernel
        && context.kernelDisplayStatus === "idle");
}"""
FETCHED = """async () => {
    const sizes = new Map(performance.getEntries()
        .filter(each => "encodedBodySize" in each && each.name.startsWith(location.origin))
        .map(each => [each.name.split("?")[0], each.encodedBodySize]));
    for (const name of await caches.keys()) {
        const kept = await caches.open(name);
        for (const request of await kept.keys()) {
            const {headers} = await kept.match(request);
            sizes.set(request.url, Number(headers.get("content-length")));
        }
    }
    return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}"""
CELLS = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.model.cells, found = [];
    for (let at = 0; at < cells.length; at++) {
        const cell = cells.get(at), outputs = [];
        if (cell.type !== "code" || !cell.sharedModel.getSource().trim()) continue;
        for (let each = 0; each < cell.outputs.length; each++)
            outputs.push(cell.outputs.get(each).toJSON());
        found.push({id: cell.id, ran: cell.executionCount !== null
                        && cell.executionState !== "running",
                    errors: outputs.filter(each => each.output_type === "error")
                        .map(each => `${each.ename}: ${each.evalue}`),
                    warnings: outputs.filter(each => each.name === "stderr")
                        .map(each => String(each.text))});
    }
    return found;
}"""


@contextlib.contextmanager
def served(folder):
    """The address at which a built site is served, until the block ends."""
    words = [sys.executable, "-m", "volcano_lab.cli", "site", str(folder), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split("/  ")[0]
        finally:
            process.terminate()


@dataclass
class Reading:
    """A lesson that was opened: its page, and what was asked for."""

    page: object
    address: str
    opened: float = field(default_factory=time.monotonic)
    outside: list = field(default_factory=list)
    seconds: dict = field(default_factory=dict)
    """Since it was opened: `interface`, `kernel`, `first_cell`, `whole`."""
    fetched: int = 0
    """Bytes before the first cell had run."""

    def passed(self, what):
        """Note when something was reached."""
        self.seconds[what] = round(time.monotonic() - self.opened, 2)

    def run(self, limit=900):
        """Run the first cell, then all; returns what each showed."""
        self.page.evaluate("""() => {
            const {content} = window.jupyterapp.shell.currentWidget, {cells} = content.model;
            for (let at = cells.length - 1; at >= 0; at--) {
                if (cells.get(at).type !== "code") continue;
                cells.get(at).clearExecution();
                content.activeCellIndex = at;
            }
            void window.jupyterapp.commands.execute("notebook:run-cell");
        }""")
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            cells = self.page.evaluate(CELLS)
            if cells[0]["ran"] and "first_cell" not in self.seconds:
                self.passed("first_cell")
                self.fetched = self.page.evaluate(FETCHED)
                self.page.evaluate(
                    "() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
            if all(cell["ran"] for cell in cells):
                self.passed("whole")
                return cells
            if any(cell["errors"] for cell in cells) and self.page.evaluate(KERNEL_IDLE):
                return cells
            self.page.wait_for_timeout(200)
        waiting = [cell["id"] for cell in cells if not cell["ran"]]
        raise TimeoutError(f"after {limit} s these cells have not run: {waiting}")


@contextlib.contextmanager
def opened(browser, address, lesson, width=1200, height=1000, context=None):
    """Open a lesson, by its file, and yield its Reading as soon as Python answers."""
    visit = context or browser.new_context(viewport={"width": width, "height": height})
    reading = Reading(None, address)

    def look(request):
        if not request.url.startswith((address, "data:", "blob:")):
            reading.outside.append(request.url)

    try:
        visit.on("request", look)
        reading.page = visit.new_page()
        reading.opened = time.monotonic()
        reading.page.goto(f"{address}/try/notebooks/index.html?path={lesson}")
        reading.page.wait_for_function(
            "document.querySelector('.jp-Notebook .jp-CodeCell, .jp-Dialog')", timeout=300_000)
        reading.passed("interface")
        reading.page.wait_for_function(
            f"document.querySelector('.jp-Dialog') || ({KERNEL_IDLE})()", timeout=600_000)
        dialog = reading.page.locator(".jp-Dialog")
        assert not dialog.count(), dialog.first.inner_text()
        reading.passed("kernel")
        yield reading
    finally:
        if context is None:
            visit.close()
        else:
            reading.page.close()
