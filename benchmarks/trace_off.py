"""What a trace costs where none is recorded: a cycle against the same cycle without the hooks, in
one run.

    benchmarks/trace_off.py                         100 nodes, 1000 pods
    benchmarks/trace_off.py --pods 5000 --nodes 500 --rounds 20

The package is copied with every call of an observer taken out, and once more as it is;
both copies, and the second of them twice (so that one sees what differs by chance), run the same
cycle in turns, each in a process of its own. What counts is the least processor time of a cycle.
Lines that Python executes are counted, too: they don't depend on the machine. Exit code 1 where the
hooks take more than 2 % of the time, beyond what differs by chance.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "volcano_lab"
LIMIT = 1.02

WORKER = """
import gc, json, sys
from time import process_time
from volcano_lab.manifests import loader as manifests
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.scheduler import Scheduler

nodes, pods = map(int, sys.argv[1:])
cluster = Cluster()
for number in range(nodes):
    cluster.node(f"n{number:04}", cpu=32, memory="128Gi")
for number in range(max(pods // 50, 1)):
    cluster.queue(f"q{number % 4}", weight=number % 4 + 1)
    cluster.job(f"j{number:04}", queue=f"q{number % 4}", pods=50, cpu=2 - number % 2, memory="2Gi")
objects = list(manifests.loads(cluster.to_yaml()))

def lines():
    count = 0
    def each(frame, event, argument):
        nonlocal count
        count += event == "line"
        return each
    scheduler = Scheduler(Cache(objects))
    sys.settrace(each)
    try:
        ssn = scheduler.run_once()
    finally:
        sys.settrace(None)
    return [count, len(ssn.committed)]

def seconds():
    scheduler = Scheduler(Cache(objects))
    gc.collect()
    start = process_time()
    scheduler.run_once()
    return process_time() - start

for line in sys.stdin:
    print(json.dumps({"lines": lines, "seconds": seconds}[line.strip()]()), flush=True)
"""


class Unhooked(ast.NodeTransformer):
    """Takes out what runs only where somebody observes; `removed` counts it."""

    def __init__(self) -> None:
        self.removed = 0

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr != "watching" or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        return ast.copy_location(ast.Constant(False), node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.AST]:
        node = self.generic_visit(node)
        if not isinstance(node.test, ast.Constant) or not isinstance(node.test.value, bool):
            return node
        self.removed += 1
        return node.body if node.test.value else node.orelse

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """`ssn.observer.note(...)` and the like."""
        called = getattr(node.value, "func", None)
        owner = getattr(called, "value", None)
        if "observer" in (getattr(owner, "attr", ""), getattr(owner, "id", "")):
            self.removed += 1
            return None
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """A block must not end up empty."""
        super().generic_visit(node)
        if getattr(node, "body", None) == []:
            node.body.append(ast.Pass())
        return node


def copy(folder: Path, hooks: bool) -> int:
    """Write the package to a folder, with or without hooks, both from the syntax tree, so that they
    have the same form.
    """
    unhooked = Unhooked()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        target = folder / "volcano_lab" / path.relative_to(PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        own = path.parent.name in ("trace", "explain", "simulation", "widgets", "course")
        tree = tree if hooks or own else ast.fix_missing_locations(unhooked.visit(tree))
        target.write_text(ast.unparse(tree), encoding="utf-8")
    for ending in ("md", "toml", "yaml"):  # tables that modules read
        for path in PACKAGE.rglob(f"*.{ending}"):
            target = folder / "volcano_lab" / path.relative_to(PACKAGE)
            target.parent.mkdir(exist_ok=True)
            shutil.copy(path, target)
    return unhooked.removed


@contextlib.contextmanager
def workers(nodes: int, pods: int) -> Iterator[tuple[dict[str, subprocess.Popen], int]]:
    """A process for each copy, waiting for words; and how many hooks one of them lacks."""
    with tempfile.TemporaryDirectory() as folder:
        places = {
            "hooks, no observer": Path(folder, "hooks"), "the same once more": Path(
                folder, "again"), "no hooks": Path(folder, "bare")
        }
        copy(places["hooks, no observer"], True)
        shutil.copytree(places["hooks, no observer"], places["the same once more"])
        removed = copy(places["no hooks"], False)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        running = {
            name:
            subprocess.Popen([sys.executable, "-c", WORKER,
                              str(nodes), str(pods)], cwd=place, **pipes,
                             env=os.environ | {"PYTHONPATH": str(place)})
            for name, place in places.items()
        }
        try:
            yield running, removed
        finally:
            for process in running.values():
                process.stdin.close()
                process.wait()
                process.stdout.close()


def read_line(process: subprocess.Popen, word: str):
    process.stdin.write(word + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def lines_of(nodes: int, pods: int) -> dict[str, list[int]]:
    """[lines that Python executes in a cycle, operations that took effect] with and without hooks.
    """
    with workers(nodes, pods) as (running, _):
        return {
            name: read_line(running[name], "lines") for name in ("hooks, no observer", "no hooks")
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with workers(options.nodes, options.pods) as (running, removed):
        lines = {name: read_line(running[name], "lines")[0] for name in running}
        times: dict[str, list[float]] = {name: [] for name in running}
        for number in range(options.rounds):
            for name in list(running)[:: 1 if number % 2 else -1]:
                times[name].append(read_line(running[name], "seconds"))
    least = {name: min(seconds) for name, seconds in times.items()}
    print(
        f"{options.nodes} nodes, {options.pods} pods, no trace; {removed} hooks, "
        f"least of {options.rounds} cycles, processor time")
    for name in running:
        print(
            f"  {name:<24} {1000 * least[name]:8.2f} ms  "
            f"{least[name] / least['no hooks']:6.3f} times   "
            f"{lines[name]} lines, {lines[name] / lines['no hooks']:.4f} times")
    ratio, chance = least["hooks, no observer"], least["the same once more"]
    return int(min(ratio, chance) / least["no hooks"] > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
