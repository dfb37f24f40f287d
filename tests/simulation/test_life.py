"""Lives of several cycles: equal to those that were recorded of Volcano, and shown in sentences."""

import itertools
import json

import pytest
from recorded_cases import SHARED, differences, rows

from volcano_lab.cli import Mistake
from volcano_lab.cli.replay import lives, read_cases, replay_file, replay_lives
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer, Timeline
from volcano_lab.manifests.writer import to_dict
from volcano_lab.messages import log
from volcano_lab.simulation import Life, LifeError
from volcano_lab.simulation.life import recorded_changes

WIDE = SHARED / "wide"
CONF = 'actions: "allocate"\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]'


def lived(chosen):
    """What differs from Volcano's decisions, of so many cycles."""
    cases, events, wanted = (itertools.islice(rows(WIDE / f"cycles-shown-{name}.jsonl.gz"), chosen)
                             for name in ("cases", "events", "evolving-decisions"))
    with log.quiet():
        pairs = list(zip(wanted, replay_lives(lives(cases, events)), strict=True))
    return len(pairs), [text for want, got in pairs for text in differences(want, got)]


@pytest.mark.skipif(not WIDE.exists(), reason="recorded lives are not beside this checkout")
@pytest.mark.parametrize("chosen", [
    pytest.param(45, marks=pytest.mark.long), pytest.param(None, marks=pytest.mark.slow)])
def test_lives_are_decided_as_volcano_decided_them(chosen):
    count, found = lived(chosen)
    assert count == (chosen or 1042)
    assert not found, "\n".join(found[:10])


@pytest.mark.long
@pytest.mark.skipif(not WIDE.exists(), reason="recorded lives are not beside this checkout")
def test_a_timeline_has_the_evictions_that_volcano_committed():
    cases, events, wanted = (
        itertools.islice(read_cases(WIDE / f"cycles-shown-{name}.jsonl.gz"), 48)
        for name in ("cases", "events", "evolving-decisions"))
    timeline, evicted, committed = Timeline(keep=1), [], []
    with log.quiet():
        for want, (life, case, row) in zip(wanted, lives(cases, events), strict=True):
            life.decide(row["events"], case.get("conf"), timeline)
            evicted.append([(e.pod, e.node) for e in timeline.evictions
                            if e.cycle == timeline.cycles])
            committed.append([(pod, node) for step in want["steps"]
                              for word, pod, node, *_ in step["committed"] if word == "evict"])
    assert evicted == committed and any(committed)


def cluster():
    return Cluster().node("n1", cpu=4).job("a", pods=2, cpu=2).job("b", pods=2, cpu=2)


def test_a_decision_counts_in_the_next_cycle_until_something_is_heard_of_it():
    life = Life(cluster().objects(), CONF)
    assert [entry[1] for entry in life.decide().committed] == ["default/a-0", "default/a-1"]
    assert life.decide().committed == []
    pod = next(obj for obj in life.objects.values() if obj.key == "default/a-0")
    gone = [{"op": "delete", "object": {**to_dict(pod), "metadata": {
        "name": name, "namespace": "default"}}} for name in ("a-0", "a-1")]
    cycle = life.decide(gone)
    assert [entry[1] for entry in cycle.committed] == ["default/b-0", "default/b-1"]
    assert "default/a-0" not in {obj.key for obj in life.objects.values()}


def test_why_reads_a_life_at_any_cycle():
    life = Life(cluster().objects())
    life.decide()
    assert Explainer(life.objects.values()).why("default/b").codes


def test_a_new_configuration_begins_with_new_actions():
    life = Life(cluster().objects(), CONF)
    life.decide()
    before = life.scheduler.actions["allocate"]
    life.decide(conf=CONF)
    assert life.scheduler.actions["allocate"] is before
    life.decide(conf=CONF + "\n")
    assert life.scheduler.actions["allocate"] is not before


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}


@pytest.mark.parametrize(("change", "words"), [
    (5, "change 1 of cycle 1: it is no mapping with op and object"),
    ({"op": "add"}, "no mapping with op and object"),
    ({"op": "made", "object": NODE}, 'op is "made"; allowed is add, update, delete'),
    ({"type": "add", "object": NODE}, 'type is "add"; allowed is ADDED, MODIFIED, DELETED'),
    ({"op": "add", "object": 5}, "object: is 5; allowed is a mapping"),
    ({"op": "add", "object": NODE | {"spec": 5}}, "Node n1: spec is 5; allowed is a mapping"),
    ({"op": "add", "object": NODE | {"kind": "Secret"}}, "kind Secret is not"),
    ({"op": "add", "object": {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
                              "metadata": {"name": "j"}}}, "watch objects of kind Job"),
])
def test_a_change_that_does_not_fit_is_one_sentence(change, words):
    with pytest.raises(LifeError) as refused:
        Life().decide([change])
    assert words in str(refused.value) and str(refused.value).isprintable()


def test_cases_and_changes_that_do_not_belong_together_are_reported():
    case, row = {"name": "a", "conf": "", "objects": []}, {"name": "b", "reset": True, "events": []}
    for wrong in (row, {"name": "a", "reset": False, "events": []}):
        with pytest.raises(LifeError, match="allowed is a life from its beginning"):
            list(lives([case], [wrong]))


def test_a_recording_of_kubectl_becomes_a_life():
    objects = [to_dict(obj) for obj in cluster().objects()]
    events = [{"type": "ADDED", "object": obj} for obj in objects]
    pods = [obj for obj in objects if obj["kind"] == "Pod" and obj["metadata"]["name"][0] == "a"]
    events += [{"type": "MODIFIED", "object": {**pod, "spec": pod["spec"] | {"nodeName": "n1"}}}
               for pod in pods]
    events += [{"type": "BOOKMARK", "object": {"kind": "Pod"}}]
    events += [{"type": "DELETED", "object": pod} for pod in pods]
    life, cycles = Life(), list(recorded_changes("\n".join(map(json.dumps, events))))
    assert [len(changes) for changes in cycles] == [len(objects), 2, 2]
    committed = [[entry[1] for entry in life.decide(changes).committed] for changes in cycles]
    assert committed == [["default/a-0", "default/a-1"], [], ["default/b-0", "default/b-1"]]


def test_the_command_replays_lives_and_recordings(tmp_path, capsys):
    case = {"name": "c0", "conf": CONF, "objects": [to_dict(obj) for obj in cluster().objects()]}
    files = {"cases": [case, case | {"name": "c1"}], "rows": [
        {"name": name, "reset": name == "c0", "events": []} for name in ("c0", "c1")],
        "watch": [{"type": "ADDED", "object": obj} for obj in case["objects"]], "bad": [[], 5]}
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)))
    path = {name: str(tmp_path / name) for name in files}
    assert replay_file(path["cases"], life=path["rows"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(row["steps"][0]["committed"]) for row in found] == [2, 0]
    assert replay_file(None, life=path["watch"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "cycle-1"
    for wrong in ((path["bad"], path["rows"]), (path["cases"], path["bad"]), (None, path["bad"]),
                  (path["cases"], str(tmp_path / "none")), (None, str(tmp_path / "none")),
                  (None, None)):
        with pytest.raises(Mistake) as refused:
            replay_file(wrong[0], life=wrong[1])
        assert str(refused.value).isprintable() and len(str(refused.value)) < 500


def test_events_without_an_object_do_not_stop_the_reading_of_a_recording():
    events = [{"type": "ADDED"}, 5, {"object": {"metadata": 5}}, {"object": {}}]
    text = "\n".join(map(json.dumps, events))
    assert sum(map(len, recorded_changes(text))) == 4
