"""The page about plugins shows what its code prints; CONTRIBUTING's recipe for a plugin that the
lab brings along leaves all tests as they are.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_cluster import conf

from volcano_lab import Cluster, Plugin
from volcano_lab.framework.plugin import PLUGINS
from volcano_lab.framework.registry import registered

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "writing-a-plugin.md"
OWN_TEST = """from small_cluster import conf, group, node, pod, queue, run


def test_the_shorter_job_is_first():
    ssn = run(queue(), node("n1", cpu="1"), group("a"), group("b"), pod("a-0", "a"),
              pod("a-1", "a"), pod("b-0", "b"), conf=conf("short-jobs-first"))
    assert ssn.committed[0][1] == "default/b-0"
"""


def test_the_example_of_the_page_has_the_pages_output(capsys):
    code, printed = re.findall(r"```(?:python|text)\n(.*?)```", PAGE.read_text(encoding="utf-8"),
                               re.DOTALL)
    with PLUGINS.restored():
        exec(code, {})
    assert capsys.readouterr().out == printed


@pytest.mark.long
def test_a_key_of_equal_tasks_spares_calls_and_decides_the_same():
    class FewestJobs(Plugin):
        def on_session_open(self, ssn):
            self.asked = 0

        def node_order(self, task, node):
            self.asked += 1
            return 1 / len({task.job, *(each.job for each in node.tasks.values())})

    class Keyed(FewestJobs):
        def node_order_key(self, task):
            return task.job

    cluster, sessions = Cluster(), []
    for number in range(8):
        cluster = cluster.node(f"n{number}", cpu=4).job(f"j{number}", pods=3, cpu=1)
    for plugin in (FewestJobs, Keyed):
        with registered(plugin={"fewest-jobs": plugin}):
            sessions.append(cluster.run(conf("gang", "predicates", "fewest-jobs")).session)
    plain, keyed = sessions
    assert plain.committed == keyed.committed and len(plain.committed) == 24
    assert keyed.plugins["fewest-jobs"].asked < plain.plugins["fewest-jobs"].asked == 24 * 8


@pytest.mark.long
def test_a_plugin_that_the_lab_brings_along_takes_one_file_two_lines_and_a_test(tmp_path):
    for part in ("volcano_lab", "tests"):
        shutil.copytree(ROOT / part, tmp_path / part)
    for part in ("pyproject.toml", "docs", "notebooks", "tools"):
        (tmp_path / part).symlink_to(ROOT / part)
    row = next(line for line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
               if line.startswith("| a plugin that the lab brings along |"))
    table, module = re.findall(r"one line of `(\w+)` in `(\S+)`", row)[0]
    plugins = tmp_path / "volcano_lab" / module
    text = plugins.read_text(encoding="utf-8")
    start = text.index("{", text.index(f"\n{table}"))
    plugins.write_text(f'{text[:start]}{{"short-jobs-first": "short:ShortJobsFirst", '
                       f"{text[start + 1:]}", encoding="utf-8")
    words = tmp_path / "volcano_lab" / re.findall(r"arguments in `(\S+)`", row)[0]
    listed = words.read_text(encoding="utf-8")
    assert "\n| arguments | " in listed
    words.write_text(listed.replace("\n| arguments | ", "\n| arguments | limit "), encoding="utf-8")
    found = re.search(r"class ShortJobsFirst.*?\n\n\n", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (plugins.parent / "short.py").write_text(
        '"""Jobs with fewer tasks first."""\n\nfrom volcano_lab.framework import Plugin\n\n\n'
        + found[0].rstrip() + "\n", encoding="utf-8")
    (tmp_path / "tests" / "plugins" / "test_short.py").write_text(OWN_TEST, encoding="utf-8")
    asked = ["tests/plugins/test_short.py", "tests/plugins/test_order_keys.py",
             "tests/framework/test_extension_points.py", "tests/framework/test_hostile_conf.py",
             "tests/manifests/test_anonymise.py"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:nbval", "-p", "no:cacheprovider", "-m",
         "not long and not slow", *asked], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert run.returncode == 0, run.stdout[-3000:]
