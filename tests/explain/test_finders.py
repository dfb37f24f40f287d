"""What each finder of changes offers for the facts of a cause, and by what a search judges it."""

import pytest
from small_cluster import conf, group, node, pod, queue

from volcano_lab import Cluster
from volcano_lab.api.objects import OwnerReference, Taint
from volcano_lab.changes import Change
from volcano_lab.explain import Explainer
from volcano_lab.explain.candidates import Candidates
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import Rank, World
from volcano_lab.explain.tries import by_sums
from volcano_lab.manifests.loader import from_dict

ALL = conf("priority", "gang", "drf", "predicates", "capacity",
           actions="enqueue, allocate, preempt, reclaim")


def finder(cluster, settings=ALL):
    seen = Explainer(cluster.objects(), settings, 1_800_000_000).evidence
    world = World(seen.objects, seen.ssn.conf, seen.called)
    return Candidates(world, seen.ssn, seen.ssn.jobs["default/new"])


def offered(options):
    """What each option sets or removes at first and at most, and its rank."""
    return [(option.rank, *option.at(option.first).settings, *option.most.settings[
        :len(option.most.settings) * (option.steps > 1)], *(
        f"-{name.rpartition('/')[2]}" for name in option.most.removals))
        for option in options if option.steps]


def holders(**jobs):
    """A job that waits, and others that hold something: (pods, minimum, how many of them run)."""
    cluster = Cluster().node("n1", cpu=max(sum(row[2] for row in jobs.values()), 1)).queue(
        "a", deserved=4).queue("b", priority=3).job("new", queue="a", cpu=9)
    for name, (pods, least, running) in jobs.items():
        cluster.job(name, queue="b", pods=pods, min_member=least, cpu=1,
                    running={"n1": running} if running else None)
    return cluster


@pytest.mark.parametrize(("jobs", "numbers", "said"), [
    ({"x": (2, 2, 2)}, {"holders": ["default/x"]}, []),
    ({"x": (2, 2, 1)}, {"holders": ["default/x", "default/new"]}, ["-x"]),
    ({"x": (2, 2, 0)}, {"holders": ["default/x"]}, []),
    ({"x": (3, 1, 2), "y": (3, 3, 1), "z": (1, 1, 1)},
     {"holders": ["default/y", "default/z", "default/x"]}, ["-y -x", "-x"]),
    ({"x": (1, 1, 1)}, {"holders": [], "ghosts": ["default/x"], "bare": [
        f"default/p{number}" for number in range(6)]},
     ["-x", "-p0", "-p1", "-p2", "-p3"])])
def test_who_holds_something_and_is_short_of_pods_may_be_gone(jobs, numbers, said):
    found = finder(holders(**jobs)).held(numbers)
    assert [" ".join(each[1:]) for each in offered(found)] == said


@pytest.mark.parametrize(("version", "said"), [
    ("batch/v1", []), ("batch.volcano.sh/v1alpha1", ["-x"])])
def test_a_job_of_kubernetes_whose_pods_run_is_not_deleted_for_those_that_wait(version, said):
    found = finder(holders(x=(3, 1, 2)))
    found.ssn.jobs["default/x"].pod_group.metadata.owner_references = [
        OwnerReference(version, "Job", "x")]
    options = offered(found.held({"holders": ["default/x"]}))
    assert [" ".join(each[1:]) for each in options] == said


@pytest.mark.parametrize(("count", "steps"), [(1, 1), (3, 5), (4, 7), (9, 16)])
def test_the_end_of_eight_jobs_at_most_is_waited_for(count, steps):
    held = {f"x{number}": (1, 1, 1) for number in range(count)}
    found = finder(holders(**held))
    option = next(found._ends([Cause("held_by", [], {"holders": [f"default/{x}" for x in held]})]))
    assert (option.steps, option.rank) == (steps, Rank.WAIT)
    assert [len(option.at(step).removals) for step in (1, steps)] == [1, min(count, 8)]


@pytest.mark.parametrize(("asked", "said"), [(1, ""), (2, "zx"), (4, "xzy"), (5, "")])
def test_the_end_of_the_fewest_jobs_on_one_node_is_waited_for(asked, said):
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job(
        "x", pods=3, min_member=1, cpu=1, running={"n2": 3}).job("y", cpu=1, running={"n1": 1}).job(
        "z", cpu=2, running={"n1": 1}).job("new", pods=5, cpu=asked)
    found = finder(cluster).by_node([f"default/{name}" for name in "xyz"], [
        Cause("fragmented", [], {"request": {"cpu": asked}})])
    assert [uid for ends in found for uid in ends] == [f"default/{name}" for name in said]


@pytest.mark.parametrize(("settings", "removals", "said"), [
    ((), (), False), ((), ("job/x",), True), (("job/a.priority=3",), (), False),
    (("queue/a.priority=3",), (), False), (("job/a.priority=3",), ("job/x",), True),
    (("node/n1.more=2",), (), True), (("job/a.priority=3", "node/n1.more=2"), (), True),
    (("queue/a.weight=3",), (), False), (("queue/a.weight=3", "node/n1.more=2"), (), False),
    (("queue/a.capability.cpu=3",), (), True), (("job/a.minAvailable=1",), (), False),
    (("plugin/overcommit.overcommit-factor=2",), (), True), (("job/a.queue=b",), (), False)])
def test_what_gives_placesby_sums_alone(settings, removals, said):
    """All that is set is an amount or a rule for nodes, but for what has the job served first."""
    assert by_sums(Change(settings, removals)) is said


@pytest.mark.parametrize(("cpu", "gpu", "requested", "rank"), [
    ("4", None, None, Rank.JOB), ("4", "2", None, Rank.OTHERS), ("4", "0", None, Rank.JOB),
    ("4", "2", "1", Rank.JOB)])
def test_taints_of_nodes_with_devices_are_tolerated_last(cpu, gpu, requested, rank):
    devices = {"nvidia.com/gpu": gpu} if gpu else {}
    requests = {"cpu": "1"} | ({"nvidia.com/gpu": requested} if requested else {})
    found = finder(Cluster([queue(), node("n1", cpu, **devices).changed(spec={
        "taints": [Taint("k", effect="NoSchedule")]}), group("new"), pod(
            "new-0", "new", requests=requests)])).tolerations({"names": ["n1"]})
    assert [option.rank for option in found] == [rank]


def texts(options):
    """Rank and settings of each option that changes something."""
    return [" ".join(map(str, row)) for row in offered(options) if len(row) > 1]


TWO = {"x": (2, 1, 2), "y": (2, 2, 1)}
ORDER = ["1 conf/actions=enqueue, allocate, preempt, reclaim", "1 plugin/drf.enableJobOrder=false"]
BEFORE = ["3 job/default/new.priority=1", "3 queue/a.priority=4"]


@pytest.mark.parametrize(("numbers", "more", "last"), [
    ({}, [], []), ({"takers": ["default/x"]}, BEFORE, []), ({"takers": ["gone"]}, [], []),
    ({"against": "taint"}, [], [])])
def test_a_promised_place_is_kept_by_what_is_served_first(numbers, more, last):
    assert texts(finder(holders(**TWO)).promised(numbers)) == [*ORDER, *more, *last]


def test_a_promised_place_is_replaced_by_nodes_for_all_promised_pods():
    found = finder(Cluster([queue(), node("n1", cpu="8"), group("old"), pod(
        "old-0", "old", "n1", requests={"cpu": "8"}).changed(metadata={
            "deletion_timestamp": 1_800_000_000.0}), group("new", minMember=2), *(
        pod(f"new-{number}", "new", requests={"cpu": "3"}) for number in range(2))]))
    assert texts(found.promised({}))[-1] == "6 node/n1.more=1 node/n1.more=2"


@pytest.mark.parametrize("limit", [{"limit": {"cpu": 2000.0}}, {}])
def test_a_place_that_the_queue_refuses_is_kept_by_a_higher_limit(limit):
    found = finder(Cluster().node("n1", cpu=1).queue("a", capability=2).job(
        "new", queue="a", cpu=3)).promised({"asked": {"cpu": 3000.0}, "short_of": ["cpu"], **limit})
    assert [text for text in texts(found) if "capability" in text] == [
        "2 queue/a.capability.cpu=3"] * bool(limit)


@pytest.mark.parametrize(("plugin", "kind", "first", "said"), [
    ("capacity", "queue", "b", ["1 plugin/capacity.enableQueueOrder=false",
                              "2 queue/a.priority=4"]),
    ("priority", "job", "default/x", ["1 plugin/priority.enableJobOrder=false", BEFORE[0]]),
    ("drf", "job", "default/x", ["1 plugin/drf.enableJobOrder=false"])])
def test_a_job_is_served_before_the_one_that_came_first(plugin, kind, first, said):
    found = finder(holders(**TWO)).first({"plugin": plugin, "kind": kind, "first": first})
    assert texts(found) == said


@pytest.mark.parametrize("plugin", ["capacity", "proportion"])
def test_less_is_deserved_by_others_where_capacity_decides(plugin):
    found = finder(holders(**TWO), conf("gang", "predicates", plugin)).less_deserved(
        {"plugin": "proportion", "queues": ["a", "b"], "short_of": {"cpu": 2000.0}})
    assert texts(found) == ([] if plugin == "proportion" else [
        "2 queue/a.deserved.cpu=2 queue/a.deserved.cpu=0"])


@pytest.mark.parametrize("owners", [["x"], ["x", "y"]])
@pytest.mark.parametrize(("by", "said"), [
    ("gang", ["gang"]), ("drf", ["drf"]), ("pdb", []), ("priority", [])])
def test_victims_are_allowed_by_the_plugin_that_keeps_them(by, said, owners):
    """The switch of a gang of several is one that breaks gangs."""
    found = [*finder(holders(**TWO)).unprotected({
        "action": "preempt", "least": 4, "plugin": by,
        "owners": [f"default/{name}" for name in owners]})]
    switches = [f"1 plugin/{plugin}.enablePreemptable=false" for plugin in said]
    rest = ["1 job/default/new.priority=5"] * (by == "priority") + [
        "4 job/default/y.minAvailable=1"] * (by == "gang" and "y" in owners)
    assert texts(found) == [*switches, *rest]
    assert {each.kind for each in found if each.rank == Rank.SWITCH and switches} <= {
        "" if owners == ["x"] else "guard"}


@pytest.mark.parametrize(("actions", "winners", "later", "first", "rest"), [
    (["reclaim"], ["x"], [], [], ["2 queue/a.priority=3"]),
    (["reclaim"], ["gone"], [], [], []),
    (["reclaim"], ["x"], ["capacity"], ["1 plugin/capacity.tier=1"], ["2 queue/a.priority=3"]),
    (["preempt"], ["x"], [], ["1 plugin/priority.tier=1"], None)])
def test_what_keeps_pods_from_being_evicted(actions, winners, later, first, rest):
    numbers = {"actions": actions, "winners": [f"default/{name}" for name in winners],
               "named_by": ["drf"]}
    found = texts(finder(holders(**TWO)).sparing([
        Cause("victim", [], numbers), Cause("queue_within_deserved", [], {"later": later})]))
    switch = "enablePreemptable" if rest is None else "enableReclaimable"
    other = "reclaim" if rest is None else "preempt"
    head = [*first, *ORDER, "1 plugin/priority.enableJobOrder=true",
            "1 plugin/gang.enableJobStarving=true", f"1 plugin/drf.{switch}=false",
            f"1 plugin/gang.{switch}=true"]
    assert found[:len(head)] == head
    assert found[-1] == f"7 conf/actions=enqueue, allocate, {other}"
    queues = [] if rest is None else [*rest, "1 queue/a.reclaimable=false"]
    assert found[len(head):len(head) + len(queues)] == queues
    assert ("2 queue/a.deserved.cpu=9" in found) == (rest is not None)


def test_a_job_whose_pods_are_created_later_is_kept_by_no_nodes():
    found = finder(holders(**TWO))
    found.job.tasks.clear()
    assert not [text for text in texts(found.sparing([])) if "node/" in text]


@pytest.mark.parametrize(("theirs", "said"), [([7, 3], ["job/default/new.priority=7"]),
                                              ([5], []), ([4], [])])
def test_a_victim_gets_the_priority_of_the_one_that_evicts_it(theirs, said):
    found = finder(holders(**TWO))
    found.job.priority = 5
    for name, priority in zip("xy", theirs, strict=False):
        found.ssn.jobs[f"default/{name}"].priority = priority
    numbers = {"actions": ["preempt"], "winners": [
        f"default/{name}" for name, _ in zip("xy", theirs, strict=False)], "named_by": []}
    assert [text for option in found.sparing([Cause("victim", [], numbers)])
            for text in option.most.settings if ".priority" in text] == said


@pytest.mark.parametrize(("spec", "candidates", "said"), [
    ({"maxUnavailable": 1}, 3, "4 poddisruptionbudget/default/b.maxUnavailable=2 "
                               "poddisruptionbudget/default/b.maxUnavailable=4"),
    ({"maxUnavailable": 0}, 1, "4 poddisruptionbudget/default/b.maxUnavailable=1"),
    ({"minAvailable": 3}, 2, "4 poddisruptionbudget/default/b.minAvailable=2 "
                             "poddisruptionbudget/default/b.minAvailable=1"),
    ({"minAvailable": 2}, 9, "4 poddisruptionbudget/default/b.minAvailable=1 "
                             "poddisruptionbudget/default/b.minAvailable=0"),
    ({"minAvailable": 0}, 2, None), ({"minAvailable": "50%"}, 2, None),
    ({"maxUnavailable": "50%"}, 2, None)])
def test_a_budget_lets_as_many_go_as_there_are_candidates(spec, candidates, said):
    budgets = [from_dict({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {
        "name": name, "namespace": "default"}, "spec": spec}) for name in ("b", "other")]
    found = finder(holders(**TWO).add(*budgets)).disruptions({
        "candidates": [f"default/x-{number}" for number in range(candidates)],
        "budgets": ["default/b"]})
    assert texts(found) == [said] * bool(said)


@pytest.mark.parametrize(("least", "moved"), [(1, None), (2, "1 plugin/capacity.tier=1 "
                                                              "plugin/gang.enableReclaimable=true")])
def test_a_gang_that_loses_pods_is_kept_by_gang_beside_a_plugin_that_was_not_asked(least, moved):
    cluster = Cluster().node("n1", cpu=4).job("new", pods=3, min_member=least, cpu=1)
    plugins = ("priority", "gang", "predicates"), ("capacity",)
    found = texts(finder(cluster, "actions: allocate, reclaim\ntiers: [" + ", ".join(
        "{plugins: [" + ", ".join(f"{{name: {name}}}" for name in tier) + "]}"
        for tier in plugins) + "]").sparing([
            Cause("victim", [], {"actions": ["reclaim"], "winners": [], "later": ["capacity"]})]))
    assert found[0] == "1 plugin/capacity.tier=1"
    assert [text for text in found if "enableReclaimable=true" in text and "tier" in text] == (
        [moved] if moved else [])


@pytest.mark.parametrize(("numbers", "levels"), [
    ({}, [6, 8, 10]), ({"elastic": 1}, [6, 7, 8, 10]), ({"each": 2}, [6, 8, 10]),
    ({"each": 2, "more": 2}, [6, 8, 10, 12, 14]), ({"asked": 9}, [9, 10]),
    ({"asked": 9, "each": 2}, [9, 10, 11, 13]), ({"asked": 11}, [11])])
def test_what_a_queue_has_to_hold_the_least_first(numbers, levels):
    """What was refused, with what enqueue leaves out; what it holds with the gang, and with all of
    the job; one more pod for each that waits, as others may come first. Nothing below the first.
    """
    cluster = Cluster().node("n1", cpu=4).queue("a").job(
        "old", queue="a", pods=4, cpu=1, running={"n1": 4}).job(
        "new", queue="a", pods=3, cpu=2, min_member=2)
    if "more" in numbers:
        cluster.job("more", queue="a", pods=numbers["more"], cpu=1)
    facts = {"asked": {"cpu": 1000.0 * numbers.get("asked", 6)}, "short_of": ["cpu"], **{
        name: {"cpu": 1000.0 * numbers[name]} for name in ("elastic", "each") if name in numbers}}
    found = [row["cpu"] / 1000 for row in finder(cluster, conf(
        "gang", "predicates", "capacity"))._levels("a", facts)]
    assert sorted({*found}) == levels and found == sorted(found)


@pytest.mark.parametrize(("taints", "added"), [("gpu team", ["team"]), ("gpu", ["gpu"])])
def test_a_taint_that_some_pods_tolerate_is_added_where_it_alone_keeps_the_others_off(
        taints, added):
    pods = [pod("new-0", "new"), pod("new-1", "new", tolerations=[
        {"key": "gpu", "operator": "Exists"}])]
    found = finder(Cluster([queue(), node("n1").changed(spec={"taints": [
        Taint(key, effect="NoSchedule") for key in taints.split()]}), group("new"), *pods]))
    [option] = found.tolerations({"names": ["n1"]})
    assert [f'"key": "{key}"' in option.most.settings[0] for key in ("gpu", "team")] == [
        "gpu" in added, "team" in added]


@pytest.mark.parametrize(("taints", "said"), [
    (["k"], True), (["k", "gpu"], True), (["node.kubernetes.io/not-ready"], False),
    (["k", "node.kubernetes.io/not-ready"], False), (["ToBeDeletedByClusterAutoscaler"], False)])
def test_a_node_that_does_not_work_is_not_tolerated(taints, said):
    found = finder(Cluster([queue(), node("n1").changed(spec={"taints": [
        Taint(key, effect="NoSchedule") for key in taints]}), group("new"), pod(
            "new-0", "new")])).tolerations({"names": ["n1"]})
    assert len([*found]) == said
