"""Planted bugs, one at a time, in a copy of the tree: which does the soak see, which do the tests?

Each mutant names a place by a piece of code (`after`) and what to replace the first time it comes
from there on. A piece that is no longer there, or is there more than once, ends the run: the list
is to be kept up to date with the code. The changed module's own examples run first, alone, then the
tests named after it, those of its room, then the others, up to the first that fails. What fails is
run once more without any bug: a group that fails then too has seen nothing, and is reported.
Wanted: the soak sees nine of ten, the tests all.

All of them take an hour or more, so a run may be one in pieces: `--keep FILE --minutes 8`, again
and again; then `--keep FILE --table > benchmarks/planted.md` is what the documentation shows.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from planted import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]
ROOMS = ("cache", "framework", "simulation", "actions", "plugins", "api", "manifests", "explain",
         "messages", "changes", "debug", "trace", "server", "widgets", "cli", "course", "tools")
NOT_ASKED = "test_mutants.py"  # it would find any bug that is planted already
OTHERS = ("test_recorded.py", "test_recorded_minimal.py", "test_cluster.py")
TEST = re.compile("(?:FAILED|ERROR) +(?:tests/|volcano_lab/)?(.+?)(?: - |$)")
CHANCE = 0.1
WANTED = {"soak": 0.9, "tests": 1.0}


class Copy:
    """A copy of the tree, for as long as it is open, in which a bug can be planted."""

    def __enter__(self) -> "Copy":
        self.folder = tempfile.TemporaryDirectory(prefix="volcano-lab-mutant-")
        self.tree = Path(self.folder.name)
        for part in ROOT.iterdir():
            if part.name in ("volcano_lab", "tests", "benchmarks", "tools"):
                shutil.copytree(part, self.tree / part.name)
            elif not part.name.startswith("."):
                (self.tree / part.name).symlink_to(part)
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()

    def run(self, command: tuple[str, ...]) -> str:
        """Run Python; return "" where all is well, else the line that says what fails."""
        environment = os.environ | {"PYTHONPATH": str(self.tree), "PYTHONDONTWRITEBYTECODE": "1",
                                    "HYPOTHESIS_PROFILE": "mutants", "PYTHONHASHSEED": "0"}
        try:
            run = subprocess.run([sys.executable, *command], cwd=self.tree, env=environment,
                                 capture_output=True, text=True, timeout=1800)
        except subprocess.TimeoutExpired:
            return "does not end"
        if run.returncode in (0, 5):  # 5: no tests in these files
            return ""
        lines = (run.stdout + run.stderr).strip().splitlines()
        shown = [line for line in lines if "InvariantBroken: " in line
                or line.startswith(("FAILED", "ERROR", "Differs: "))]
        return (shown or lines or ["fails"])[-1].replace(str(self.tree), "")[:900]


def outcome(mutant: Mutant, given: argparse.Namespace, sound: Copy) -> dict[str, str]:
    """Plant a bug in a copy of the tree; return what soak and tests say of it, and what fails in
    the sound tree as well.
    """
    with Copy() as copy:
        module = mutant.plant(copy.tree)
        soak = ("benchmarks/soak.py", "--stop", "--seeds", str(given.seeds), "--events",
                str(given.events), "--chance", str(given.chance))
        tests = [("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:nbval", "-m",
                  "not slow and not browser", *files)
                 for files in groups(copy.tree, module)[: 3 if given.near else 4] if files]
        commands = {"soak": [soak] * mutant.by_soak, "tests": tests}
        row = {"file": module.removeprefix("volcano_lab/")}
        unsound = []
        for by in given.by:
            row[by], failing = first_seen(commands[by], copy, sound)
            unsound += failing
        return row | {"unsound": "; ".join(unsound)}


def first_seen(commands: list[tuple[str, ...]], copy: Copy, sound: Copy) -> tuple[str, list[str]]:
    """Return what the first command says that fails with the bug and not without it, and what the
    commands before it say without any bug.
    """
    unsound = []
    for command in commands:
        if said := copy.run(command):
            before = without_bug(sound, command)
            if not before:
                return said, unsound
            unsound.append(before)
    return "", unsound


@cache
def without_bug(sound: Copy, command: tuple[str, ...]) -> str:
    """Return what a command says of the sound tree; each command is run there at most once."""
    return sound.run(command)


def groups(tree: Path, module: str) -> list[list[str]]:
    """The files of tests: the module with its own examples, those named after it or its folder,
    those of its room, all others. The module is alone: pytest would import it a second time beside
    its tests, with other classes.
    """
    parts = Path(module).with_suffix("").parts
    names = {part.removesuffix("s") for part in parts[2:]} or {parts[-1]}
    found: list[list[str]] = [[module], [], [], []]
    for path in sorted(tree.glob("tests/*/**/test_*.py")) + [tree / "tests" / f for f in OTHERS]:
        if path.parts[len(tree.parts) + 1] in (*ROOMS, *OTHERS) and path.name != NOT_ASKED:
            near = path.stem.removeprefix("test_")
            place = (1 if any(name in near for name in names)
                     else 2 if parts[1] in path.parts[:-1] else 3)
            found[place].append(str(path.relative_to(tree)))
    return found


def kept(path: Path | None) -> dict[str, dict]:
    """What earlier runs found, by the bug's name; nothing of bugs that were planted otherwise."""
    found: dict[str, dict] = {}
    changes = {mutant.name: _change(mutant) for mutant in MUTANTS}
    if path and path.exists():
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if changes.get(row["name"]) == row["change"]:
                found[row["name"]] = found.get(row["name"], {}) | row
    return found


def _change(mutant: Mutant) -> list[str]:
    return [mutant.after, mutant.old, mutant.new]


def table(found: dict[str, dict]) -> str:
    """Return a row per planted bug: what, where, the test that fails first, when the soak stops."""
    rows = []
    for mutant in MUTANTS:
        row = found.get(mutant.name, {})
        test = TEST.search(row.get("tests", ""))
        when = re.search(r"at ([\d.]+) s \(seed (\d+)\)", row.get("soak", ""))
        often = f", `--chance {chance}`" if (chance := row.get("chance", CHANCE)) != CHANCE else ""
        differs = re.search(r"Differs: (seed \d+, cycle \d+)", row.get("soak", ""))
        soak = (differs[1] if differs else f"seed {when[2]}, {when[1]} s{often}" if when
                else _yes(row.get("soak")))
        tests = f"`{test[1]}`" if test else _yes(row.get("tests"))
        soak = soak if mutant.by_soak else ""
        rows.append(f"| {mutant.name} | `{row.get('file', '')}` | {tests} | {soak} |")
    head = ("| planted bug | in | the first test that fails | the soak (empty: not asked; "
            f"`--chance {CHANCE}` where no other is named) |")
    return "\n".join([head, "|---|---|---|---|", *rows]) + "\n"


def _yes(said: str | None) -> str:
    """Whether there was an answer; none where no question was asked."""
    return "" if said is None else "yes" if said else "**no**"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=24, help="of the soak")
    parser.add_argument("--events", type=int, default=600, help="of each seed")
    parser.add_argument("--chance", type=float, default=CHANCE, help="of each fault")
    parser.add_argument("--by", nargs="+", default=["soak", "tests"], choices=["soak", "tests"])
    parser.add_argument("--only", default="", help="mutants with this in their name or file")
    parser.add_argument("--near", action="store_true", help="only tests of the changed room")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="add to this file what is not in it already")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin with none after it")
    parser.add_argument("--table", action="store_true", help="of what is kept; nothing is run")
    given = parser.parse_args()
    files = {mutant.name: str(mutant.changed(ROOT)[0].relative_to(ROOT)) for mutant in MUTANTS}
    found = kept(given.keep)
    if given.table:
        print(table(found), end="")
        return 0
    chosen = [mutant for mutant in MUTANTS
              if given.only in mutant.name or given.only in files[mutant.name]]
    left = [mutant for mutant in chosen
            if any(by not in found.get(mutant.name, {}) for by in given.by)
            and not (given.near and "near" in found.get(mutant.name, {}))]
    end = time.monotonic() + given.minutes * 60
    with Copy() as sound, ThreadPoolExecutor(given.jobs) as pool:
        tried = pool.map(lambda m: outcome(m, given, sound) if time.monotonic() < end else {}, left)
        for mutant, row in zip(left, tried, strict=True):
            if not row:
                continue
            row = {"name": mutant.name, "change": _change(mutant)} | row
            row |= {"chance": given.chance} if row.get("soak") else {}
            found[mutant.name] = found.get(mutant.name, {}) | row
            print("; ".join(f"{by}: {row[by] or 'NOTHING'}" for by in given.by
                            if mutant.by_soak or by == "tests"), f"<- {mutant.name}", flush=True)
            if row["unsound"]:
                print(f"  FAILS WITHOUT ANY BUG, asked no further: {row['unsound']}", flush=True)
            if given.near and not row.get("tests"):  # all the others are still to be asked
                row["near"] = row.pop("tests", "")
            if given.keep:
                with given.keep.open("a", encoding="utf-8") as rows:
                    rows.write(json.dumps(row) + "\n")
    return _summary([mutant for mutant in chosen if mutant.name in found], found, given.by)


def _summary(tried: list[Mutant], found: dict[str, dict], by_whom: list[str]) -> int:
    """Say how many of those that were tried were seen; return 1 where it is fewer than wanted."""
    few = 0
    for by in by_whom:
        reach = [mutant.name for mutant in tried if mutant.by_soak or by == "tests"]
        seen = sum(bool(found[name].get(by)) for name in reach)
        print(f"{by} saw {seen} of {len(reach)}")
        few += seen < WANTED[by] * len(reach)
    return int(few > 0 or any(found[mutant.name].get("unsound") for mutant in tried))


if __name__ == "__main__":
    sys.exit(main())
