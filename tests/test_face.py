"""One face in Python: each result shows itself, gives rows in long form, and is drawn."""

import re
from pathlib import Path

import pytest

from volcano_lab import charts, tables
from volcano_lab.cluster import Cluster
from volcano_lab.framework import ConfError
from volcano_lab.manifests.loader import loads
from volcano_lab.messages import NoSuch, spoken

ROOT = Path(__file__).parents[1]
CONF = "actions: allocate\ntiers: [{plugins: [{name: gang}, {name: proportion}]}]"


def cluster():
    built = Cluster().node("n1", cpu=4).queue("a", capability=2)
    return built.job("big", queue="a", pods=3, cpu=1).job("lost", queue="typo", cpu=1)


RESULTS = {
    "a cluster": (cluster, ["nodes", "queues", "jobs"], ["n1", "big"]),
    "run": (lambda: cluster().run(), ["jobs", "queues", "pods"], ["big", "typo"]),
    "why": (lambda: cluster().why("big"), ["causes", "changes", "cycles"], ["big"]),
    "why of all": (lambda: cluster().why(), ["jobs"], ["big"]),
    "what_if": (lambda: cluster().what_if("queue/a.capability.cpu=3"),
                ["jobs", "queues", "placements"], ["big"]),
    "lint": (lambda: cluster().lint(), ["findings"], ["typo"]),
    "sweep": (lambda: cluster().sweep({"queue/a.weight": [1, 2]}), ["rows", "failures"],
              ["placed"]),
    "simulate": (lambda: cluster().simulate(3), ["jobs", "queues", "cluster", "events"], ["3 s"])}


@pytest.mark.parametrize(("make", "parts", "words"), RESULTS.values(), ids=RESULTS)
def test_a_result_shows_itself_and_has_rows_in_long_form(make, parts, words):
    result = make()
    bundle = result._repr_mimebundle_()
    assert [*bundle] == ["text/plain", "text/markdown", "text/html"]
    for text in bundle.values():
        assert all(word in text for word in words)
    for part in parts:
        assert len(result.frame(part)) == len(result.rows_of(part))
    assert result.frame().equals(result.frame(parts[0]))
    with pytest.raises(NoSuch, match=f'"nothing"; allowed are {", ".join(parts)}'):
        result.frame("nothing")


def test_queues_have_a_row_for_each_resource():
    frame = cluster().run().frame("queues").set_index(["queue", "resource"])
    assert frame.loc[("a", "cpu"), "real_capability"] == 2
    assert not frame.map(lambda cell: isinstance(cell, dict)).any().any()


@pytest.mark.long
@pytest.mark.parametrize("make", [lambda: cluster().run(), lambda: cluster().what_if(
    "queue/a.capability.cpu=3"), lambda: cluster().sweep({"queue/a.weight": [1, 2]})])
def test_a_chart_says_in_words_what_it_shows(make):
    spec = make().chart().to_dict()
    assert spec["description"] and spec["config"]


def test_a_configuration_is_a_mapping_a_text_a_file_or_that_of_a_config_map(tmp_path):
    (tmp_path / "x.conf").write_text(CONF)
    mapping = {"actions": "allocate",
               "tiers": [{"plugins": [{"name": "gang"}, {"name": "proportion"}]}]}
    text = CONF.replace("\n", "\n\n")
    config_map = loads("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, "
                       f"data: {{volcano-scheduler.conf: '{text}'}}}}")
    ways = [cluster().configuration(way) for way in (mapping, CONF, tmp_path / "x.conf",
                                                     str(tmp_path / "x.conf"))]
    ways.append(cluster().add(*config_map).configuration())
    assert [way.actions for way in ways] == [["allocate"]] * 5
    assert {tuple(way.plugin_names()) for way in ways} == {("gang", "proportion")}
    assert cluster().add(*config_map).configuration("actions: enqueue").actions == ["enqueue"]
    with pytest.raises(ConfError):
        cluster().run({"actions": "alocate"})


@pytest.mark.long
def test_each_verb_takes_the_configuration_of_its_cluster():
    own = Cluster(conf="actions: enqueue").node("n1", cpu=4).job("a", cpu=1)
    assert own.run().committed == [] and own.run(CONF).committed
    assert own.copy().what_if().before.committed == []
    assert own.what_if(conf=CONF).holds("a") and not own.what_if().holds("a")
    assert own.sweep({"job/a.minAvailable": [1]}, ["placed"]).rows[0]["placed"] == 0
    assert own.simulate(3).rows["jobs"][0][7] is None


@pytest.mark.long
def test_one_object_is_added_or_removed_as_several_are():
    node = "{apiVersion: v1, kind: Node, metadata: {name: n2}}"
    for one in (node, [node]):
        assert "n2" in cluster().what_if(add=one).after.session.nodes
    for one in ("node/n1", ["node/n1"]):
        assert not cluster().what_if(remove=one).after.session.nodes


def test_a_removed_job_takes_what_its_controller_created_with_it():
    new = cluster().add("""\
{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: own},
 spec: {tasks: [{replicas: 2, template: {spec: {containers: [{name: c}]}}}]}}""")
    running = Cluster([*new.manifests(), *(
        obj for obj in new.run(cycles="rest").world if obj.name.startswith("own-"))])
    assert {"Job", "PodGroup", "Pod"} <= {
        obj.kind for obj in running.manifests() if obj.name.startswith("own")}
    after = running.what_if(remove="job/own").after.session
    removed = running.remove("own")
    assert not any(obj.name.startswith("own") for obj in removed.objects())
    assert "default/own" not in after.jobs
    assert removed.run().session.jobs.keys() == after.jobs.keys()


@pytest.mark.long
def test_files_stand_for_a_cluster_wherever_one_is_taken(tmp_path):
    (file := tmp_path / "c.yaml").write_text(cluster().export())
    (more := tmp_path / "more.yaml").write_text(Cluster().node("more", cpu=4).export())
    one = Cluster(str(file))
    assert repr(one) == repr(Cluster.read(file)) and not one.diff(str(file))
    for added in (str(more), more, [more], Cluster(more)):
        assert one.what_if(add=added).after.session.nodes.keys() >= {"more"}
    assert [*map(repr, Cluster([file, more]))] == [*map(repr, Cluster.read(file, more))]


def test_a_cluster_answers_in_its_language():
    one = cluster().in_language("zh").copy()
    for found in (one.run(), one.lint(), one.why(), one.what_if(), one.diff(one)):
        assert found.lang == "zh"
    assert cluster().run().lang is None and one.run(lang="en").lang == "en"


def test_a_run_takes_cycles_as_the_command_does():
    assert cluster().run(cycles="rest").rests


@pytest.mark.parametrize(("ask", "answer"), [
    (lambda: cluster().run(cycles=0), "cycles is 0; allowed are rest and a whole number from 1"),
    (lambda: cluster().run(cycles="all"), "cycles is all; allowed are rest and a whole number"),
    (lambda: cluster().what_if(["queue/a.weight=2"]),
     r"a change is \['queue/a.weight=2'\]; allowed is text such as queue/a.weight=5"),
    (lambda: cluster().changed(5), "a change is 5; allowed is text such as queue/a.weight=5"),
    (lambda: cluster().diff(5), "an object of a cluster is 5; allowed is one that a manifest")])
def test_a_wrong_argument_is_refused_in_one_sentence(ask, answer):
    with pytest.raises(ValueError, match=answer):
        ask()


@pytest.mark.parametrize(("least", "cpu", "placed"), [(0, 1, True), (0, 9, False), (1, 9, False)])
def test_a_job_without_a_minimum_is_placed_once_it_has_a_pod(least, cpu, placed):
    one = Cluster().node("n1", cpu=4).job("a", cpu=cpu, min_member=least)
    conf = {"actions": "enqueue, allocate", "tiers": [{"plugins": [{"name": "predicates"}]}]}
    assert one.what_if(conf=conf).holds("a") is placed


def test_tab_shows_the_public_names_alone():
    for module in (tables, charts):
        assert dir(module) == sorted(module.__all__) or {*dir(module)} == {*module.__all__}
    assert {"read", "live", "run", "why", "what_if", "diff", "lint", "sweep", "simulate",
            "export"} <= {*dir(Cluster)}


@pytest.mark.long
def test_what_the_page_shows_runs():
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    lines = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    exec(lines.replace("docs/", f"{ROOT}/docs/"), {})
    methods = {*re.findall(r"`(?:cluster|Cluster)\.(\w+)\(", page)}
    assert len(methods) > 10 and all(hasattr(Cluster, method) for method in methods)


ASKED = {"why": lambda c, lang: c.why("waits", lang=lang), "why all": lambda c, lang: c.why(
    lang=lang), "lint": lambda c, lang: c.lint(lang=lang), "run": lambda c, lang: c.run(lang=lang),
    "what_if": lambda c, lang: c.what_if("node/n1.more=9", lang=lang),
    "diff": lambda c, lang: c.diff(c.copy().job("x", cpu=1), lang=lang),
    "simulate": lambda c, lang: c.simulate(60, lang=lang)}


@pytest.mark.long
@pytest.mark.parametrize("verb", ASKED)
def test_a_result_is_shown_in_the_language_that_is_asked_for(verb):
    cluster = Cluster().node("n1", cpu=4).job("waits", cpu=6).job("fits", cpu=1)
    chinese = ASKED[verb](cluster, "zh")._repr_mimebundle_()["text/plain"]
    assert re.search("[一-鿿]", chinese)
    assert not re.search("[一-鿿]", ASKED[verb](cluster, None)._repr_mimebundle_()["text/plain"])
    with pytest.raises(ValueError, match="allowed are en, zh"):
        ASKED[verb](cluster, "fr")


@pytest.mark.long
def test_causes_and_changes_are_in_the_language_of_their_answer():
    answer = Cluster().node("n1", cpu=4).job("waits", cpu=6).why("waits", lang="zh")
    texts = [answer.head, answer.text, answer.causes[0].text, str(answer.remedies[0]),
             answer.remedies[0].change, answer.remedies[0].effect]
    assert all(re.search("[一-鿿]", text) for text in texts) and spoken() == "en"
