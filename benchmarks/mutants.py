"""Planted bugs, one at a time, in a copy of the tree: which does the soak see, which do the tests?

Each mutant names a place by a piece of code (`after`) and what to replace the first time it comes
from there on. A piece that is no longer there, or is there more than once, ends the run: the list
is to be kept up to date with the code. Of the tests those named after the changed module run
first, then those of its room, then the others, up to the first that fails. Wanted: the soak sees
nine of ten, the tests all.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from planted import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]
ROOMS = ("cache", "framework", "simulation", "actions", "plugins", "api", "manifests", "explain",
         "debug", "trace", "cli")
OTHERS = ("test_recorded.py", "test_recorded_minimal.py", "test_cluster.py")


def outcome(mutant: Mutant | None, given: argparse.Namespace) -> tuple[str, str]:
    """Plant a bug (or none) in a copy of the tree; return what soak and tests say of it."""
    with tempfile.TemporaryDirectory(prefix="volcano-lab-mutant-") as folder:
        tree = Path(folder)
        for part in ("volcano_lab", "tests", "benchmarks", "pyproject.toml"):
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, tree / part)
        module = mutant.plant(tree) if mutant is not None else ""
        soak = ["benchmarks/soak.py", "--stop", "--seeds", str(given.seeds), "--events",
                str(given.events), "--chance", str(given.chance)]
        tests = [["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *files]
                 for files in groups(tree, module)[: 2 if given.near else 3] if files]
        return tuple(next(filter(None, (_said(command, tree) for command in commands)), "")
                     for commands in ([soak] * ("soak" in given.by and (
                         mutant is None or mutant.by_soak)),
                                      tests * ("tests" in given.by)))


def groups(tree: Path, module: str) -> list[list[str]]:
    """The files of tests: those named after a module or its folder, those of its room, all others.
    """
    parts = Path(module).with_suffix("").parts
    names = {part.removesuffix("s") for part in parts[2:]} or {parts[-1]} if parts else set()
    room = parts[1] if parts else ""
    found: list[list[str]] = [[module] if module else [], [], []]  # with the module's own examples
    for path in sorted(tree.glob("tests/*/**/test_*.py")) + [tree / "tests" / f for f in OTHERS]:
        if path.parts[len(tree.parts) + 1] in (*ROOMS, *OTHERS):
            near = path.stem.removeprefix("test_")
            place = (0 if any(name in near for name in names)
                     else 1 if room in path.parts[:-1] else 2)
            found[place].append(str(path.relative_to(tree)))
    return found


def _said(command: list[str], tree: Path) -> str:
    """Run one of them; return "" where it found nothing, else the beginning of what it said."""
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1",
                                "HYPOTHESIS_PROFILE": "mutants"}
    try:
        run = subprocess.run([sys.executable, *command], cwd=tree, env=environment,
                             capture_output=True, text=True, timeout=1800)
    except subprocess.TimeoutExpired:
        return "does not end"
    if run.returncode in (0, 5):  # 5: no tests in these files
        return ""
    lines = (run.stdout + run.stderr).strip().splitlines()
    told = [line for line in lines if "InvariantBroken: " in line
            or line.startswith(("FAILED", "ERROR"))]
    return (told or lines or ["fails"])[-1].replace(str(tree), "")[:150]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="of the soak")
    parser.add_argument("--events", type=int, default=600, help="of each seed")
    parser.add_argument("--chance", type=float, default=0.1, help="of each fault")
    parser.add_argument("--by", nargs="+", default=["soak", "tests"], choices=["soak", "tests"])
    parser.add_argument("--only", default="", help="mutants with this in their name")
    parser.add_argument("--near", action="store_true", help="only tests of the changed room")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if given.only in mutant.name]
    for mutant in MUTANTS:  # a list that is out of date is no use
        mutant.changed(ROOT)
    if not given.near and any(before := outcome(None, given)):
        print("without any bug:", *before)
        return 1
    caught = dict.fromkeys(given.by, 0)
    reach = {by: [m for m in chosen if m.by_soak or by == "tests"] for by in given.by}
    with ThreadPoolExecutor(given.jobs) as pool:
        for mutant, said in zip(chosen, pool.map(lambda m: outcome(m, given), chosen), strict=True):
            told = dict(zip(("soak", "tests"), said, strict=True))
            for by in given.by:
                caught[by] += bool(told[by])
            marks = ", ".join(f"{by} {'yes' if told[by] else 'NO' if mutant in reach[by] else '-'}"
                              for by in given.by)
            print(f"{marks}  {mutant.name}: {told['soak'] or told['tests']}", flush=True)
    print(", ".join(f"{by} saw {count} of {len(reach[by])}" for by, count in caught.items()))
    wanted = {"soak": 0.9, "tests": 1.0}
    return int(any(count < wanted[by] * len(reach[by]) for by, count in caught.items()))


if __name__ == "__main__":
    sys.exit(main())
