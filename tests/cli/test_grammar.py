"""The grammar of the command: forms of output, colours, help with examples, completion, and what
is near a word that is misspelt.
"""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml
from rich.cells import cell_len

from volcano_lab.cli import lab, main
from volcano_lab.cli.grammar import SECTIONS, volcano_lab
from volcano_lab.cli.output import table
from volcano_lab.cluster import Cluster
from volcano_lab.messages.catalogue import HELP, catalogue

COMMANDS = sorted(volcano_lab.commands)


@pytest.fixture
def file(tmp_path):
    cluster = Cluster().node("n1", cpu=4).queue("team", deserved=1)
    cluster.job("fits", pods=2, cpu=1).job("waits", namespace="ml", queue="team", pods=9, cpu=1)
    path = tmp_path / "cluster.yaml"
    path.write_text(cluster.to_yaml())
    return str(path)


def printed(capsys, *arguments):
    code = main([*map(str, arguments)])
    return code, capsys.readouterr().out


@pytest.mark.long
def test_json_and_yaml_are_the_same_data_with_keys_in_one_style(file, capsys):
    _, as_json = printed(capsys, "run", file, "-o", "json")
    _, as_yaml = printed(capsys, "run", file, "-o", "yaml")
    listed = json.loads(as_json)
    assert listed == yaml.safe_load(as_yaml)
    assert listed["warnings"] == [
        "Queue team: spec.deserved has no effect: only the plugin capacity reads it, and the "
        "configuration does not name it."]

    def keys(data):
        if isinstance(data, dict):
            yield from data
        for each in data.values() if isinstance(data, dict) else data:
            if isinstance(each, dict | list):
                yield from keys(each)

    found = set(keys(listed))
    assert {"queueOrder", "minMember", "realCapability"} < found
    assert not [key for key in found if "_" in key]


@pytest.mark.long
def test_names_and_a_namespace(file, capsys):
    assert printed(capsys, "run", file, "-o", "name") == (0, "job/default/fits\njob/ml/waits\n")
    assert printed(capsys, "run", file, "-n", "ml", "-o", "name") == (0, "job/ml/waits\n")
    _, listed = printed(capsys, "run", file, "-n", "ml", "-o", "json")
    listed = json.loads(listed)
    assert [row["job"] for row in listed["jobs"]] == ["ml/waits"] and listed["placements"] == []
    _, listed = printed(capsys, "why", file, "waits", "-n", "ml", "-o", "name")
    assert listed == "job/ml/waits\n"


@pytest.mark.long
def test_names_of_a_change_are_in_the_namespace(file, capsys):
    words = ["what-if", file, "-n", "ml", "-o", "name", "--set"]
    assert printed(capsys, *words, "job/waits.queue=default") == (0, "job/ml/waits\n")
    assert printed(capsys, *words, "job/default/fits.queue=team")[0] == 0
    assert main([*words, "job/fits.queue=team"]) == 2
    assert 'there is no job "ml/fits"' in capsys.readouterr().err
    assert main([*words, "queue/team.weight=2", "--expect", "waits=pending"]) == 0
    assert main([*words, "plugin/gang.enablePreemptable=true", "--expect", "fits=placed"]) == 2


@pytest.mark.long
def test_a_namespace_without_the_job_is_not_answered_with_another(file, capsys):
    assert main(["why", file, "fits", "-n", "ml", "-o", "name"]) == 2
    assert capsys.readouterr().err == (
        'volcano-lab: no job or pod "fits" is in namespace ml; there is default/fits\n')
    assert printed(capsys, "why", file, "team", "-n", "ml", "-o", "name") == (0, "queue/team\n")
    assert printed(capsys, "why", file, "default/fits", "-n", "ml", "-o", "name") == (
        0, "job/default/fits\n")  # a full name has its own namespace
    assert main(["run", file, "-n", "mll", "--fail-on-pending"]) == 0
    assert "no job is in namespace mll; jobs are in default, ml\n" in capsys.readouterr().err


@pytest.mark.long
def test_a_waiting_job_can_make_it_fail(file, capsys):
    assert printed(capsys, "run", file, "--fail-on-pending")[0] == 1
    assert printed(capsys, "run", file, "--fail-on-pending", "-n", "default")[0] == 0


@pytest.mark.long
def test_a_job_that_waits_for_what_is_being_freed_can_make_it_fail(tmp_path, capsys):
    cluster = Cluster().node("n1", cpu=4).job("low", pods=2, cpu=2, min_member=1, running={"n1": 2})
    cluster.add("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
                "value: 9}").job("new", pods=1, cpu=2, priority_class="high")
    (tmp_path / "cluster.yaml").write_text(cluster.to_yaml())
    (tmp_path / "conf.yaml").write_text("actions: allocate, preempt\ntiers: [{plugins: [{name: "
                                        "priority}, {name: gang}, {name: predicates}]}]\n")
    asked = ["run", str(tmp_path / "cluster.yaml"), "--conf", str(tmp_path / "conf.yaml")]
    assert printed(capsys, *asked, "--cycles", "1", "--fail-on-pending")[0] == 1
    code, found = printed(capsys, *asked, "--cycles", "1")
    assert code == 0 and "PLACED  PIPELINED  PENDING" in found
    assert re.search(r"^default/new +default +Inqueue +1 +1 +0 +1 +0$", found, re.MULTILINE)


@pytest.mark.long
def test_colours_by_phase_unless_they_are_not_wanted(file, capsys, monkeypatch):
    assert "\x1b" not in printed(capsys, "run", file)[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, listed = printed(capsys, "run", file)
    assert "\x1b[32mRunning\x1b[0m" in listed or "\x1b[33mInqueue\x1b[0m" in listed
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed(capsys, "run", file)[1]


def test_a_table_drops_columns_and_breaks_no_name():
    long = "requests.nvidia.com/mig-1g.10gb"
    rows = [{"queue": "research-and-development", "resource": long, "elastic": 7, "inqueue": 0,
             "real capability": 100, "nodes": ", ".join(f"machine-{i}" for i in range(9))}]
    lines = table(rows, ("elastic", "inqueue"), 80).splitlines()
    assert lines[0].split() == ["QUEUE", "RESOURCE", "REAL", "CAPABILITY", "NODES"]
    assert long in lines[1] and len(lines) > 2 and "machine-8" in lines[-1]
    assert "ELASTIC" in table(rows, ("elastic", "inqueue"), None)


@pytest.mark.parametrize(("most", "shown"), [(15, False), (16, True), (None, True)])
def test_an_optional_column_that_just_fits_is_shown(most, shown):
    rows = [{"job": "train", "extra": "many", "on": "n1"}]  # 5, 5 and 2 wide, and two gaps of 2
    lines = table(rows, ("extra",), most)
    assert ("EXTRA" in lines) is shown, lines


@pytest.mark.parametrize(("cells", "shown"), [
    ((0, 0), False), ((0, 2), True), (("", ""), False), (("no", "no"), False),
    (("no", "yes"), True)])
def test_an_optional_column_is_shown_where_a_cell_has_something(cells, shown):
    rows = [{"job": f"j{number}", "extra": cell} for number, cell in enumerate(cells)]
    assert ("EXTRA" in table(rows, ("extra",))) is shown
    assert "EXTRA" in table(rows)


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["runn"], "No such command 'runn'. Did you mean 'run'? (see volcano-lab --help)"),
    (["run", "x", "--outptu"], "Did you mean '--output'? (see volcano-lab run --help)"),
    (["sweep", "x", "--measure", "y"], "Did you mean '--metric'? (see volcano-lab sweep --help)"),
    (["diff", "x"], "Missing argument 'AFTER'. (see volcano-lab diff --help)"),
    (["run", "x", "-o", "xml"], "'xml' is not one of 'table', 'wide', 'json', 'yaml', 'name'."),
    (["run", "x", "--context", "c"], "--context is given with FILEs; allowed is one of them"),
])
def test_a_misspelt_word_is_one_sentence_with_what_is_near(arguments, sentence, capsys):
    assert main(arguments) == 2
    listed = capsys.readouterr().err
    assert sentence in listed and listed.count("\n") == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_fits_and_its_examples_are_commands(name, capsys):
    assert main([name, "--help"]) == 0
    listed = capsys.readouterr().out
    assert max(map(len, listed.splitlines())) <= 80
    lines = [line.split("#")[0] for line in listed.partition("Examples:")[2].splitlines()]
    examples = [line.rpartition("| ")[2].strip() for line in lines if "volcano-lab" in line]
    assert examples
    for example in examples:
        words = shlex.split(re.sub(r"^source <\(|\)$| >.*", "", example))
        assert words[:2] == ["volcano-lab", name]
        command = volcano_lab.commands[name]
        command.make_context(name, words[2:])


def test_every_command_has_a_section_and_a_whole_sentence_there(capsys):
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    assert "..." not in listed.partition("Ask:")[2] and max(map(len, listed.splitlines())) <= 80
    assert sorted(name for names in SECTIONS.values() for name in names) == COMMANDS


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)], ids=" ".join)
def test_every_help_is_chinese_where_the_environment_is(words, capsys, monkeypatch):
    _, english = printed(capsys, *words, "--help")
    monkeypatch.delenv("VOLCANO_LAB_LANG", raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert printed(capsys, *words, "--help")[1].startswith("用法：volcano-lab")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert printed(capsys, *words, "--help")[1] == english
    monkeypatch.setenv("VOLCANO_LAB_LANG", "zh")
    listed = printed(capsys, *words, "--help")[1]
    assert max(map(cell_len, listed.splitlines())) <= 80
    assert not [text for text in catalogue("zh", HELP) if len(text) > 30 and text[:30] in listed]


def test_help_is_in_the_language_that_is_asked_for(capsys, monkeypatch):
    monkeypatch.delenv("VOLCANO_LAB_LANG", raising=False)
    assert printed(capsys, "why", "--lang", "zh", "--help")[1].startswith("用法：")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert printed(capsys, "why", "--lang", "en", "--help")[1].startswith("Usage:")
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", ascii_only)
    assert main(["lint", "--help"]) == 0
    ascii_only.seek(0)
    assert ascii_only.read().startswith("Usage:")


def completed(words):
    """What bash offers for the last of some words."""
    asked = {"COMP_WORDS": f"volcano-lab {words}", "COMP_CWORD": str(len(words.split(" "))),
             "_VOLCANO_LAB_COMPLETE": "bash_complete"}
    done = subprocess.run([sys.executable, "-c", "import volcano_lab.cli as c; c.main()"],
                          env=os.environ | asked, capture_output=True, text=True, check=False)
    return done.stdout.split()


@pytest.mark.long
@pytest.mark.parametrize(("words", "offered"), [
    ("why {file} wai", ["plain,waits"]), ("why {file} node/", ["plain,node/n1"]),
    ("run {file} -n m", ["plain,ml"]),
    ("what-if {file} --set queue/t", ["plain,queue/team."]),
    ("what-if {file} --set queue/team.wei", ["plain,queue/team.weight="]),
    ("what-if {file} --remove job/d", ["plain,job/default/fits"]),
    ("why no-such-file.yaml wai", ["file,wai"])])
def test_names_in_the_files_are_completed(file, words, offered):
    assert {*offered} <= {*completed(words.format(file=file))}


@pytest.mark.long
def test_files_are_named_as_for_kubectl(file, capsys):
    whole = printed(capsys, "run", file, "-o", "json")
    assert printed(capsys, "run", "-f", file, "-A", "-o", "json") == whole
    listed = printed(capsys, "why", file, "waits", "-o", "name")
    assert printed(capsys, "why", "waits", "-f", file, "-o", "name") == listed
    assert printed(capsys, "why", "waits", file, "-o", "name") == listed == (0, "job/ml/waits\n")


def test_help_and_version_are_words_too(capsys):
    assert printed(capsys, "help", "run") == printed(capsys, "run", "--help")
    assert (printed(capsys, "--lang", "zh", "help", "run")
            == printed(capsys, "help", "run", "--lang", "zh")
            == printed(capsys, "run", "--help", "--lang", "zh"))
    assert printed(capsys, "help") == printed(capsys, "--help")
    assert printed(capsys, "version")[1].split() == printed(capsys, "--version")[1].split()


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="this system has no /dev/fd")
def test_files_may_be_what_a_shell_substitutes(file, tmp_path):
    (tmp_path / "c.conf").write_text("actions: allocate")
    line = (f"{sys.executable} -m volcano_lab.cli diff <(cat {file}) <(cat {file}) "
            f"--conf <(cat {tmp_path}/c.conf)")
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") or done.stdout == "Nothing differs.\n"


def test_an_exported_case_is_replayed_from_the_input(file, capsys, monkeypatch):
    _, case = printed(capsys, "export", file, "-o", "case")
    monkeypatch.setattr("sys.stdin", io.StringIO(case))
    code, listed = printed(capsys, "replay", "-")
    assert code == 0 and json.loads(listed)["steps"]


@pytest.mark.parametrize(("conf", "near"), [
    ("actions: alocate", "allocate"), ("actions: allocate\ntiers: [{plugins: [{name: gangg}]}]",
                                       "gang")])
def test_a_misspelt_action_or_plugin_is_answered_with_what_is_near(file, tmp_path, capsys, conf,
                                                                  near):
    (tmp_path / "x.conf").write_text(conf)
    main(["run", file, "--conf", str(tmp_path / "x.conf")])
    assert f"{near}?" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell, capsys, tmp_path):
    code, script = printed(capsys, "completion", shell)
    assert code == 0 and "_VOLCANO_LAB_COMPLETE" in script
    asked = {"COMP_WORDS": "volcano-lab re", "COMP_CWORD": "1" if shell == "bash" else "re",
             "_VOLCANO_LAB_COMPLETE": f"{shell}_complete"}
    if shell == "zsh":
        asked["COMP_CWORD"] = "1"
    done = subprocess.run([sys.executable, "-c", "import volcano_lab.cli as c; c.main()"],
                          env=os.environ | asked, capture_output=True, text=True, check=False)
    assert "replay" in done.stdout and "serve" not in done.stdout


def test_options_of_jupyter_go_to_jupyter(monkeypatch):
    started = []
    monkeypatch.setattr(lab, "lessons", lambda folder: folder)
    monkeypatch.setattr(lab, "command", lambda *given: started.append(given) or ["jupyter"])
    monkeypatch.setattr(lab.os, "execve", lambda *given: None)
    monkeypatch.setattr(lab.subprocess, "call", lambda *given, env: 0)
    assert main(["lab", "--no-browser", "--port=8899"]) == 0
    assert main(["lab", "--lang", "zh"]) == 0
    assert started == [(None, ["--no-browser", "--port=8899"], "en"), (None, [], "zh")]


@pytest.mark.long
def test_a_chinese_lab_opens_the_chinese_start_with_chinese_menus(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    assert lab.command(tmp_path, [], "zh")[-1].endswith("/notebooks/zh/start.ipynb")
    assert lab.environment("en")["JUPYTER_CONFIG_PATH"] == str(tmp_path)
    asked = subprocess.run(
        [sys.executable, "-c", "from jupyterlab_server.settings_utils import _get_overrides\n"
         "print(_get_overrides('')[0]['@jupyterlab/translation-extension:plugin']['locale'])"],
        env=lab.environment("zh"), capture_output=True, text=True, check=True)
    assert asked.stdout == "zh_CN\n"


def test_watch_runs_again_when_a_file_changes(file, capsys, monkeypatch):
    path = Path(file)
    steps = iter((lambda: None, lambda: path.write_text(path.read_text() + "\n# more\n"),
                  lambda: path.write_text("kind: ["), lambda: 1 / 0))

    def pause(seconds):
        try:
            next(steps)()
        except ZeroDivisionError:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("time.sleep", pause)
    assert main(["run", file, "--watch", "-o", "name"]) == 130
    listed = capsys.readouterr().out
    assert listed.count("job/default/fits") == 2 and listed.count("-- ") == 3
    assert "kind: [" not in listed
    assert "cluster.yaml" in listed


@pytest.mark.long
def test_what_is_logged_does_not_disturb(tmp_path):
    lines = tmp_path / "case.jsonl"
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
             "metadata": {"name": "g", "namespace": "default"}, "spec": {"queue": "default"},
             "status": {"phase": "Inqueue"}}
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
             "metadata": {"name": "default"}, "spec": {"weight": 1}, "status": {"state": "Open"}}
    lines.write_text(json.dumps({"name": "c", "conf": None, "objects": [queue, group]}))
    done = subprocess.run([sys.executable, "-m", "volcano_lab.cli", "replay", str(lines)],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and json.loads(done.stdout)["name"] == "c"


def test_help_names_the_signals_that_serve_takes():
    serve = volcano_lab.commands["serve"]
    listed = serve.get_help(click.Context(serve, help_option_names=["-h", "--help"]))
    assert all(name in listed for name in ("SIGUSR2", "SIGTERM", "SIGHUP"))


ANSWERS = [("run",), ("why", "waits"), ("why", "--all"), ("lint",), ("what-if", "--set",
           "queue/team.weight=2"), ("simulate", "--duration", "1m"), ("capture",)]


@pytest.mark.long
@pytest.mark.parametrize("words", ANSWERS, ids=" ".join)
def test_the_language_stands_before_the_command_or_behind_it(words, file, capsys):
    name, *more = words
    line = [name, file, *more]
    behind, before = (printed(capsys, *given) for given in ([*line, "--lang", "zh"],
                                                            ["--lang", "zh", *line]))
    assert before == behind and re.search("[一-鿿]", before[1])


def test_english_on_the_command_wins_over_the_environment(file, capsys, monkeypatch):
    monkeypatch.setenv("VOLCANO_LAB_LANG", "zh")
    _, chinese = printed(capsys, "lint", file)
    _, english = printed(capsys, "lint", file, "--lang", "en")
    assert "警告" in chinese and "warning" in english
