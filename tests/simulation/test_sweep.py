"""Sweeps: the same results on any engine, resumed from their file, failures beside results."""

import json
import os
import signal

import pytest

from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.messages import NoSuch
from volcano_lab.simulation.sweep import METRICS as COUNTED, SweepError, sweep
from volcano_lab.widgets.charts import plot

GRID = {"queue/a.weight": [1, 2, 3], "queue/b.weight": [1, 2]}
METRICS = ["job/one.placed", "job/two.placed", "queue/a.deserved.cpu"]


def base():
    cluster = Cluster().node("n1", cpu=12).queue("a").queue("b")
    return cluster.job("one", queue="a", pods=12, min_member=1, cpu=1).job(
        "two", queue="b", pods=12, min_member=1, cpu=1)


def of_seed(seed):
    if seed == 3:
        raise ValueError("three is not a cluster")
    return base().node("n2", cpu=seed + 1)


def deadly(cycle):
    """A metric that kills a process once."""
    marker = os.environ["SWEEP_MARKER"]
    if not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return 1


def stopped_at(number):
    """A progress that is interrupted there."""
    def progress(done, of):
        if done == number:
            raise KeyboardInterrupt

    return progress


def always_deadly(cycle):
    if cycle.session.queues["a"].weight == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1


@pytest.mark.long
def test_rows_stand_in_the_grid_s_order_with_what_was_measured():
    found = sweep(base(), GRID, METRICS)
    assert [tuple(row.values())[:2] for row in found.rows] == [
        (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]
    assert [row["job/one.placed"] for row in found.rows] == [6, 4, 8, 6, 9, 7]
    assert found.failures == [] and found.names == list(GRID)


@pytest.mark.long
def test_configurations_arguments_and_functions_are_settings():
    confs = ["actions: enqueue", "actions: 'enqueue, allocate'\ntiers: [{plugins: [{name: gang}]}]"]
    assert [row["placed"] for row in sweep(base(), {"conf": confs}, ["placed"]).rows] == [0, 12]
    found = sweep(of_seed, {"seed": [1, 2], "queue/a.weight": [1, 3]}, {"nodes": lambda cycle: len(
        cycle.session.nodes), "allocated": lambda cycle: len(cycle.committed)})
    assert [row["nodes"] for row in found.rows] == [2] * 4
    # Of 14 and of 15 CPUs each queue gets the whole ones of its part: 7 + 7, 10 + 3, 7 + 7, 11 + 3.
    assert [row["allocated"] for row in found.rows] == [14, 13, 14, 14]


def test_operations_are_counted_by_their_kind():
    full = Cluster().node("n1", cpu=6).node("n2", cpu=1).queue("a").queue("b")
    full.job("old", queue="a", pods=6, min_member=1, cpu=1, running={"n1": 6})
    full.job("wide", queue="b", cpu=2).job("small", queue="b", cpu=1)
    full.job("more", queue="b", pods=2, min_member=1, cpu=1)
    conf = ("actions: 'enqueue, allocate, reclaim'\n"
            "tiers: [{plugins: [{name: gang}, {name: proportion}, {name: predicates}]}]")
    row, = sweep(full, {"conf": [conf]}, list(COUNTED)).rows
    assert {name: row[name] for name in COUNTED} == {
        "placed": 5, "pending": 2, "jobs_waiting": 1, "allocated": 1, "evicted": 2, "promised": 1}


def test_a_failure_is_kept_beside_the_results():
    found = sweep(of_seed, {"seed": [1, 3]}, ["placed"])
    assert [row["seed"] for row in found.rows] == [1]
    assert found.failures == [{"seed": 3, "error": "three is not a cluster"}]
    found = sweep(base(), {"queue/a.weight": [0, 1]})
    assert "spec.weight is 0; allowed is" in found.failures[0]["error"] and len(found.rows) == 1


@pytest.mark.long
@pytest.mark.parametrize("name", ["x", "queue/c.weight", "queue/a.deserved", "job/one.plcaed"])
def test_a_metric_that_there_is_not_is_refused_before_anything_runs(name, tmp_path, capsys):
    ran = []
    with pytest.raises(NoSuch, match=f'^no metric is called "{name}"; allowed are placed, '):
        sweep(base(), {"queue/a.weight": [1, 2]}, {"own": ran.append, "b": name})
    assert ran == []
    (tmp_path / "c.yaml").write_text(base().to_yaml())
    assert main(["sweep", str(tmp_path / "c.yaml"), "--grid", "queue/a.weight=1..9", "--metric",
                 name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("volcano-lab: no metric is called")
    there = {"queue": "; queues are a, b", "job": "; jobs are one, two"}.get(name.split("/")[0], "")
    assert there in line


@pytest.mark.long
def test_a_scheduler_behind_tls_without_certificates_is_refused_with_a_sentence():
    pytest.importorskip("distributed")
    with pytest.raises(SweepError, match=r"at tls://127\.0\.0\.1:1 can't be reached .*ssl_context"):
        sweep(base(), {"queue/b.weight": [1, 2]}, scheduler="tls://127.0.0.1:1")


@pytest.mark.parametrize("grid, shown", [
    ({"queue/a.weight": 3}, "queue/a.weight is 3; allowed is a list of values"),
    ({"conf": "actions: allocate"}, "conf is 'actions: allocate'; allowed is a list of values"),
    ({"x": [1]}, '"x" is no field; allowed is KIND/NAME.FIELD'),
    ({"queue/c.weight": [1]}, '"queue/c.weight": there is no queue "c"; there are .*a, b'),
    ({"queue/a.wieght": [1]}, "spec.wieght is not known .*did you mean weight"),
    ({"plugin/gnag.x": [1]}, "plugins of the configuration are priority, gang"),
    ({"queue/a.weight": range(1, 2000), "queue/b.weight": range(1, 2000)},
     "there are 3,996,001 settings; allowed are 1,000,000"),
])
def test_a_grid_that_means_nothing_is_refused_before_anything_runs(grid, shown):
    ran = []
    with pytest.raises(SweepError, match=f"^grid: .*{shown}"):
        sweep(base(), {"queue/b.weight": [1, 2]} | grid, {"own": ran.append})
    assert ran == []


def test_a_name_that_one_of_the_configurations_knows_may_be_in_a_grid():
    confs = ["actions: allocate\ntiers: [{plugins: [{name: binpack}]}]", "actions: allocate"]
    found = sweep(base(), {"conf": confs, "plugin/binpack.binpack.cpu": [1]}, ["placed"])
    assert len(found.rows) == len(found.failures) == 1
    assert "plugins of the configuration are none" in found.failures[0]["error"]


@pytest.mark.long
def test_a_sweep_goes_on_from_its_file(tmp_path):
    path, whole = tmp_path / "s.jsonl", sweep(base(), GRID, METRICS)
    assert sweep(base(), GRID, METRICS, path=path) == whole
    _, *lines = path.read_text().split("\n")[1:]
    assert len(lines) == 5
    path.write_text("\n".join(["{\ufffd", *lines[:3], lines[4][:-9]]))
    ran = []
    found = sweep(base(), GRID, METRICS, path=path, progress=lambda *of: ran.append(of))
    assert found == whole and ran == [(4, 6), (5, 6), (6, 6)]
    assert json.dumps(sweep(base(), GRID, METRICS, path=path).rows) == json.dumps(whole.rows)
    assert len(sweep(base(), {**GRID, "queue/b.weight": [2, 3]}, METRICS, path=path).rows) == 6
    with pytest.raises(SweepError, match="is of another sweep"):
        sweep(base().node("n9", cpu=1), GRID, METRICS, path=path)
    with pytest.raises(SweepError, match="can't be used as the file"):
        sweep(base(), GRID, METRICS, path=path / "inside")
    manifests = tmp_path / "cluster.yaml"
    manifests.write_text("kind: Node\n")
    with pytest.raises(SweepError, match=r"cluster\.yaml is of another sweep"):
        sweep(base(), GRID, METRICS, path=manifests)
    assert manifests.read_text() == "kind: Node\n"
    with pytest.raises(SweepError, match="no regular file"):
        sweep(base(), GRID, METRICS, path=tmp_path)


@pytest.mark.long
def test_a_file_keeps_what_is_done_when_a_sweep_is_stopped(tmp_path):
    grid, path = {"seed": [1, 2, 3], "queue/a.weight": [1, 2]}, tmp_path / "s.jsonl"
    metrics = {"placed": "placed", "conf": lambda cycle: "fits" if cycle.committed else None}
    with pytest.raises(KeyboardInterrupt):
        sweep(of_seed, grid, metrics, path=path, progress=stopped_at(2))
    ran, whole = [], sweep(of_seed, grid, metrics)
    assert sweep(of_seed, grid, metrics, path=path,
                 progress=lambda *of: ran.append(of)) == whole
    assert ran[0] == (3, 6) and len(whole.failures) == 2
    pandas = pytest.importorskip("pandas")
    table = pandas.read_json(path, lines=True)
    assert table["placed"].sum() == sum(row["placed"] for row in whole.rows)
    assert sorted(table["error"].dropna()) == [row["error"] for row in whole.failures]
    with pytest.raises(SweepError, match="can't be written"):
        sweep(of_seed, grid, {"odd": lambda cycle: object()}, path=tmp_path / "odd")


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_pool_gives_the_same_also_where_a_worker_dies(tmp_path, monkeypatch):
    assert sweep(base(), GRID, METRICS, workers=2) == sweep(base(), GRID, METRICS)
    monkeypatch.setenv("SWEEP_MARKER", str(tmp_path / "marker"))
    found = sweep(base(), GRID, {"one": deadly}, workers=2)
    assert [row["one"] for row in found.rows] == [1] * 6 and found.failures == []
    found = sweep(base(), {"queue/a.weight": [1, 2, 3]}, {"one": always_deadly}, workers=2)
    assert [row["queue/a.weight"] for row in found.rows] == [1, 3]
    assert found.failures == [{"queue/a.weight": 2, "error": "its process died"}]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_500_settings_on_dask_with_a_worker_killed_on_the_way(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    grid = {"queue/a.weight": range(1, 26), "queue/b.weight": range(1, 21)}
    whole = sweep(base(), grid, METRICS)
    monkeypatch.setenv("SWEEP_MARKER", str(tmp_path / "marker"))
    metrics = {name: name for name in METRICS} | {"one": deadly}
    found = sweep(base(), grid, metrics, workers=2, scheduler="local")
    assert (tmp_path / "marker").exists() and len(found.rows) == 500
    assert [{key: row[key] for key in row if key != "one"} for row in found.rows] == whole.rows
    with pytest.raises(KeyboardInterrupt):
        sweep(base(), grid, METRICS, workers=2, scheduler="local", path=tmp_path / "sweep",
              progress=stopped_at(300))
    ran = []
    assert sweep(base(), grid, METRICS, workers=2, path=tmp_path / "sweep",
                 progress=lambda *of: ran.append(of)) == whole
    assert ran[0] == (301, 500)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_the_only_worker_on_dask_is_killed(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setenv("SWEEP_MARKER", str(tmp_path / "marker"))
    found = sweep(base(), GRID, {"one": deadly}, scheduler="local")
    assert [row["one"] for row in found.rows] == [1] * 6 and found.failures == []


@pytest.mark.long
def test_charts_by_the_names_of_the_grid():
    pytest.importorskip("altair")
    grid = {**GRID, "node/n1.allocatable.cpu": [8, 12]}
    marks = []
    for names in (1, 2, 3):
        found = sweep(base(), dict(list(grid.items())[:names]), METRICS)
        spec = plot(found).to_dict()
        marks.append((spec.get("spec", spec)["mark"]["type"], "facet" in spec))
    assert marks == [("line", False), ("rect", False), ("line", True)]
    with pytest.raises(ValueError, match="allowed are job"):
        plot(found, "cost")


@pytest.mark.long
def test_the_command(tmp_path, capsys):
    path = tmp_path / "cluster.yaml"
    path.write_text(base().to_yaml())
    assert main(["sweep", str(path), "--grid", "queue/a.weight=1..3", "--metric", "job/one.placed",
                 "--plot", str(tmp_path / "s.json")]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["QUEUE/A.WEIGHT", "JOB/ONE.PLACED"], ["1", "6"], ["2", "8"], ["3", "9"]]
    assert json.loads((tmp_path / "s.json").read_text())["mark"]
    assert main(["sweep", str(path), "--grid", "queue/z.weight=1"]) == 2
    assert 'there is no queue "z"' in capsys.readouterr().err
    assert main(["sweep", str(path), "--grid", "queue/a.weight=1,0", "-o", "json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["failures"]) == 1
    assert main(["sweep", str(path), "--grid", "queue"]) == 2
    for name in ("old", "new"):
        (tmp_path / f"{name}.conf").write_text(f"actions: allocate  # {name}")
    capsys.readouterr()
    grid = f"conf={tmp_path}/old.conf,{tmp_path}/new.conf"
    assert main(["sweep", str(path), "--grid", grid]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "CONF", f"{tmp_path}/old.conf", f"{tmp_path}/new.conf"]
