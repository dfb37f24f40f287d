"""The package as people get it: typed, with lessons, a manual page, and a README that is true."""

import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import volcano_lab
from volcano_lab.cli import Mistake, main
from volcano_lab.cli.lab import FIRST, lessons

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tools")]
from manual import MANUALS, commands, markdown, roff  # noqa: E402

from stubs import STUB, stub  # noqa: E402

USER = '''
from collections.abc import Sequence

import volcano_lab
from volcano_lab.framework.points.rules import Sum
from volcano_lab import (
    DEFAULT_CONF, Action, Breakpoint, Cache, Cluster, ConfError, Cycle, Explainer, Life,
    ManifestError, Plugin, Scheduler, Simulation, Stepper, Table, Timeline, Trace, breakpoints,
    charts, dump, load, load_conf, loads, log, register_action, register_extension_point,
    register_plugin, registered, run_cycle, stepper, sweep, symptoms, tables, traced,
    with_defaults)

class Mine(Plugin):
    def job_order(self, left: object, right: object) -> int:
        return 0

class Idle(Action):
    def execute(self, session: object) -> None:
        log.verbosity(3)

register_plugin("mine", Mine)
register_action("idle", Idle)
with registered(plugin={"mine": Mine}, replace=True):
    register_extension_point("fee", Sum)
cluster: Cluster = Cluster().node("n1", cpu=4).queue("team", weight=2).job("train", pods=3, cpu=1)
cycle: Cycle = run_cycle(Cache(with_defaults(loads(dump(cluster.objects())))))
jobs: list[dict[str, object]] = cycle.jobs()
shown: Table = Table(jobs)
text: str = Explainer(cluster.objects()).why("default/train").text
trace, session = traced(cluster.objects())
recorded: Trace = trace
found = sweep(cluster, {"queue/team.weight": range(1, 4)}, ["placed"], workers=2, path="s.jsonl")
rows: list[dict[str, object]] = found.rows
failed: Sequence[dict[str, object]] = found.failures
simulation = Simulation(cluster.objects())
print(volcano_lab.__version__, DEFAULT_CONF, symptoms.SYMPTOMS, breakpoints, charts, stepper)
print(Breakpoint("allocate"), Life(cluster.objects()), Stepper(trace),
      Timeline(keep=3), Scheduler(Cache(cluster.objects())).run_once())
simulation.run(until=5)
print(volcano_lab.lab(cluster), volcano_lab.open("cluster.yaml"))
try:
    Scheduler(Cache(load("x.yaml")), load_conf("actions: allocate")).run_once()
except (ConfError, ManifestError) as error:
    print(error, tables.queues, session.committed)
'''


def test_the_stub_names_what_the_package_names():
    assert STUB.read_text() == stub(), "python tools/stubs.py writes it again"
    names = re.findall(r" as ([a-zA-Z]\w*)$|^(\w+)(?: =|:)", stub(), re.MULTILINE)
    assert {first or second for first, second in names} == set(dir(volcano_lab))
    assert (STUB.parent / "py.typed").is_file()


@pytest.mark.slow
def test_a_script_of_users_that_uses_all_names_is_typed(tmp_path):
    pytest.importorskip("mypy")
    assert not [name for name in dir(volcano_lab) if not re.search(rf"\b{name}\b", USER)]

    def checked(text):
        (tmp_path / "script.py").write_text(text)
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "script.py"],
            cwd=tmp_path, capture_output=True, text=True, check=False)

    assert checked(USER).returncode == 0, checked(USER).stdout
    wrong = checked(USER + 'Cluster().node(5)\ncycle.jbos()\n')
    assert wrong.stdout.count("error:") == 2, wrong.stdout


@pytest.mark.parametrize("language", MANUALS)
def test_the_manual_is_that_of_the_command(language):
    assert MANUALS[language].read_text(encoding="utf-8") == roff(language), (
        "python docs/manual.py renews it")


def test_the_page_about_the_command_has_every_option():
    page = markdown()
    for name, command, _ in commands():
        assert f"## {name}\n" in page
        assert all(option in page
                   for param in command.params if not getattr(param, "hidden", False)
                   for option in param.opts if "-" in option)


def test_lessons_of_a_wheel_are_copied_and_work_is_kept(tmp_path):
    packaged = tmp_path / "package" / "notebooks"
    (packaged / "zh").mkdir(parents=True)
    for name in ("start.ipynb", "zh/start.ipynb"):
        (packaged / name).write_text("new")
    mine = tmp_path / "mine"
    (mine / "notebooks").mkdir(parents=True)
    (mine / FIRST).write_text("my work")
    assert lessons(str(mine), packaged) == mine.resolve()
    assert (mine / FIRST).read_text() == "my work"
    assert (mine / "notebooks" / "zh" / "start.ipynb").read_text() == "new"
    assert lessons(str(mine), tmp_path / "none") == mine.resolve()
    with pytest.raises(Mistake, match="the package no lessons"):
        lessons(str(tmp_path / "other"), tmp_path / "none")


@pytest.mark.slow
def test_the_wheel_carries_lessons_types_and_the_manual(tmp_path):
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps",
                           "--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"volcano_lab/py.typed", "volcano_lab/__init__.pyi", f"volcano_lab/{FIRST}"} < names
    assert all(any(name.endswith(f"share/man/{folder}/volcano-lab.1") for name in names)
               for folder in ("man1", "zh_CN/man1"))


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [block for page in PAGES for block in re.findall(
    r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)]
SHOWN = [part.partition("\n")
         for block in BLOCKS for part in re.split(r"^\$ ", block, flags=re.M)[1:]]


@pytest.mark.long
@pytest.mark.parametrize(("line", "output"), [(line, output) for line, _, output in SHOWN],
                         ids=[line for line, *_ in SHOWN])
def test_what_pages_show_is_what_is_printed(line, output, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    words = shlex.split(line)
    assert words[0] == "volcano-lab" and main(words[1:]) in (0, 1)
    printed = capsys.readouterr().out.strip()
    assert printed == output.strip(), "python tools/readme.py writes it again"
    assert max(map(len, output.splitlines())) <= 80


def test_the_pages_show_commands():
    assert {shlex.split(line)[1] for line, *_ in SHOWN} >= {"run", "why", "what-if", "lint"}


def test_the_readme_opens_with_what_it_is_and_two_commands():
    first = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:18]
    assert first[0] == "# volcano_lab" and first[2].startswith("See why a batch scheduler")
    assert [line.split()[1] for line in first if line.startswith("make ")] == ["lab", "test"]


def test_one_version_stands_everywhere():
    version = volcano_lab.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == version
    for file, line in (("CHANGELOG.md", f"## {version} ("), ("CITATION.cff", f"version: {version}"),
                       ("docs/cite.md", f"Version {version}.")):
        assert line in (ROOT / file).read_text(encoding="utf-8")
