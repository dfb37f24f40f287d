"""Exports of three clusters: every verb, in Python and in the terminal, gives the same facts."""

import json
from functools import cache

import pytest
from exports import EXPORTS

from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.manifests.writer import dump
from volcano_lab.server.service import Service
from volcano_lab.trace.names import Names

WAITING = {"kind": {"default/too-much": (0, 3)},
           "gpu": {"ml/gpt-big": (0, 16), "ml/h100-only": (0, 1), "ml/late": (0, 1)},
           "spark": {"spark/adhoc-1": (0, 1), "spark/adhoc-2": (0, 1)}}
"""Of each cluster the jobs that wait once it is at rest: pods placed, pods pending."""
SECONDS = 8.0
"""How long changes are sought for one job."""


@cache
def cluster(name):
    return Cluster(EXPORTS[name]())


@pytest.fixture(params=EXPORTS)
def name(request):
    return request.param


@pytest.fixture
def file(name, tmp_path):
    path = tmp_path / "folder" / "cluster.yaml"
    path.parent.mkdir()
    path.write_text(dump(cluster(name).others))
    return str(path)


def facts(cycle):
    return {row["job"]: (row["placed"], row["pending"]) for row in cycle.jobs()}


def waiting(found):
    return {job: counts for job, counts in found.items() if counts[1]}


def printed(capsys, *words):
    code = main([*words, "-o", "json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.long
def test_run_what_if_and_diff_agree(name):
    at_rest = cluster(name).run(cycles=10)
    assert at_rest.rests and waiting(facts(at_rest)) == WAITING[name]
    unchanged = cluster(name).what_if()
    assert facts(unchanged.before) == facts(unchanged.after) == facts(at_rest)
    assert not unchanged and not cluster(name).diff(Cluster(EXPORTS[name]()))


@pytest.mark.long
def test_the_commands_agree(name, file, capsys):
    _, ran = printed(capsys, "run", file, "--cycles", "rest")
    assert {row["pending"] for row in ran["jobs"] if row["pending"]} == {
        pending for _, pending in WAITING[name].values()}
    assert main(["run", file, "--fail-on-pending"]) == 1
    capsys.readouterr()
    _, groups = printed(capsys, "why", file, "--all", "--no-remedies")
    assert {job for group in groups["waiting"] for job in group["jobs"]} == WAITING[name].keys()
    for job in WAITING[name]:
        _, answer = printed(capsys, "why", file, job, "--no-remedies")
        assert answer["causes"]
    assert printed(capsys, "what-if", file)[1]["jobs"] == []
    assert main(["diff", file, file]) == 0


@pytest.mark.long
def test_a_sweep_starts_where_run_ends(name):
    metrics = ["placed", "pending", *(f"job/{job}.pending" for job in WAITING[name])]
    row, = cluster(name).sweep({"queue/default.weight": [1]}, metrics).rows
    found = facts(cluster(name).run(cycles=10))
    assert (row["placed"], row["pending"]) == tuple(map(sum, zip(*found.values(), strict=True)))
    assert [row[f"job/{job}.pending"] for job in WAITING[name]] == [
        pending for _, pending in WAITING[name].values()]


@pytest.mark.long
def test_an_export_of_the_export_decides_the_same(name, tmp_path):
    found = facts(cluster(name).run(cycles=10))
    for form in ("yaml", "json"):
        (tmp_path / f"c.{form}").write_text(cluster(name).export(form))
        assert facts(Cluster.read(tmp_path / f"c.{form}").run(cycles=10)) == found
    (tmp_path / "anonymous.yaml").write_text(cluster(name).export(anonymise=True))
    anonymous = Cluster.read(tmp_path / "anonymous.yaml").run(cycles=10)
    assert sorted(facts(anonymous).values()) == sorted(found.values())


@pytest.mark.long
def test_serve_and_the_simulation_agree(name, file):
    service = Service(file.rpartition("/")[0], report=lambda _: None)
    for _ in range(4):
        service.read()
        service.cycle()
    assert service.folder.problems == {}
    pending = {row["job"]: (row["placed"], row["pending"]) for row in service.state.jobs
               if row["pending"]}
    assert sorted(pending.values()) == sorted(WAITING[name].values())
    session = cluster(name).timeline(4).at().session
    called = Names(session).called
    assert {called(uid) for uid, job in session.jobs.items() if job.is_pending()} == {
        job for job in WAITING[name] if job != "ml/h100-only"}


def test_lint_finds_no_error_but_the_closed_queue_and_the_gangs_above_theirs(name):
    found = [f"{finding.place}: {finding.rule}" for finding in cluster(name).lint()
             if finding.level == "error"]
    assert found == {"gpu": ["Queue old: queue-closed", "Job ml/gpt-big: gang-impossible"],
                     "kind": ["Job default/too-much: gang-impossible"]}.get(name, [])


@pytest.mark.long
@pytest.mark.parametrize(("name", "job"), [(name, job) for name, jobs in WAITING.items()
                                           for job in jobs])
def test_a_change_that_why_offers_has_its_effect_in_what_if_and_in_a_sweep(name, job):
    offered = [remedy for remedy in cluster(name).why(job).remedies_within(SECONDS) if remedy.args]
    assert offered or job == "ml/gpt-big"
    for remedy in offered[:4]:
        pairs = list(zip(remedy.args[::2], remedy.args[1::2], strict=True))
        settings = [text for word, text in pairs if word == "--set"]
        removed = [text for word, text in pairs if word == "--remove"]
        after = cluster(name).what_if(*settings, remove=removed).after
        assert facts(after)[remedy.job][0] == remedy.placed, remedy.args
        grid = {target: [text] for target, _, text in (each.partition("=") for each in settings)}
        if grid and not removed and not any(target.endswith("+") for target in grid):
            found = cluster(name).sweep(grid, [f"job/{remedy.job}.placed"])
            assert [row[f"job/{remedy.job}.placed"] for row in found.rows] == [remedy.placed], (
                remedy.args, found.failures)
