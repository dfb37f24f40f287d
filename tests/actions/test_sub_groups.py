"""Sub-groups: how a PodGroup's pods fall into sub-jobs, when these are ready, their order, their
own topology.
"""

import pytest
from hyper_scene import two_tiers
from small_cluster import conf, group, node, open_session, pod, queue, run

from volcano_lab.actions.job_plan import organize
from volcano_lab.api.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    ResourceRequirements,
    SubGroupPolicySpec,
)
from volcano_lab.api.status import ALLOCATED, PIPELINED
from volcano_lab.api.sub_job import SubJobInfo, match_values, sub_job_id
from volcano_lab.cache import Cache
from volcano_lab.framework.plugin import Plugin, register_plugin
from volcano_lab.framework.topology import CLUSTER_TOP
from volcano_lab.scheduler import Scheduler

CONF = conf("priority", "gang", "proportion", "predicates", "nodeorder", "network-topology-aware")
LEAF = {"mode": "hard", "highestTierAllowed": 1}


def policy(name="workers", size=2, minimum=None, topology=None, keys=("part",), role=None):
    return {"name": name, "subGroupSize": size, "matchLabelKeys": list(keys),
            **({"minSubGroups": minimum} if minimum is not None else {}),
            **({"networkTopology": topology} if topology else {}),
            **({"labelSelector": {"matchLabels": {"role": role}}} if role else {})}


def job(policies, parts, cpu="1", topology=None, **spec):
    """A PodGroup "g" and its pods; `parts` maps a value of the label "part" to a number of pods (""
    without the label).
    """
    more = {"networkTopology": topology} if topology else {}
    requests = {"cpu": cpu, "memory": "1Gi"}
    pods = [
        pod(f"g-{part or 'x'}-{i}", "g", requests=requests,
            labels={"role": "worker", **({"part": part} if part else {})})
        for part, count in parts.items()
        for i in range(count)
    ]
    spec.setdefault("minMember", sum(parts.values()))
    return [group("g", subGroupPolicy=policies, **more, **spec), *pods]


def session(*objects):
    return open_session(*objects, queue(), plugins=("priority", "gang", "network-topology-aware"))


def parts_by_leaf(ssn):
    """Part -> the leaves in which its pods are."""
    found = {}
    for task in ssn.jobs["default/g"].tasks.values():
        if task.node_name:
            found.setdefault(task.name.split("-")[1],
                             set()).add(ssn.topology.lowest[task.node_name])
    return found


# -- which sub-job a pod belongs to
# ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "spec", "labels", "values"),
    [
        ("the values of all keys, in their order", {"keys": ["b", "a"]}, {"a": "1", "b": "2"},
         ("2", "1")),
        ("a label is missing", {"keys": ["a", "b"]}, {"a": "1"}, ()),
        ("a label is empty", {"keys": ["a"]}, {"a": ""}, ()),
        ("without keys no pod belongs to the policy", {}, {"a": "1"}, ()),
        ("the selector must match", {"keys": ["a"], "operator": "In", "values": ["2"]}, {"a": "1"},
         ()),
        ("and does", {"keys": ["a"], "operator": "In", "values": ["1"]}, {"a": "1"}, ("1", )),
        ("a selector that can't be matches nothing",
         {"keys": ["a"], "operator": "NotIn", "values": []}, {"a": "1"}, ()),
    ],
)
def test_match_values(sentence, spec, labels, values):
    requirement = LabelSelectorRequirement("a", spec["operator"],
                                           spec["values"]) if "operator" in spec else None
    selector = LabelSelector(match_expressions=[requirement]) if requirement else None
    found = match_values(
        SubGroupPolicySpec(match_label_keys=spec.get("keys", []), label_selector=selector),
        pod("p", labels=labels))
    assert found == values, sentence


def test_names_of_sub_jobs():
    assert sub_job_id("ns/j", "p", ("1", "2")) == "ns/j/p-1-2"
    assert sub_job_id("ns/j", "p", ("a" * 64, "b" * 63)) == f"ns/j/p-{'a' * 64}-{'b' * 63}"
    assert sub_job_id("ns/j", "p", ("a" * 100, "b" * 40)) == "ns/j/p-56d75745dd"


@pytest.mark.parametrize(
    ("value", "index"),
    [
        ("3", 3),
        ("-3", -3),
        ("007", 7),
        ("a", 0),
        ("1_0", 0),
        ("3.5", 0),
        ("9223372036854775808", 0),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_the_first_label_value_as_a_number_orders_sub_jobs(value, index):
    assert SubJobInfo("g", "u", "j", SubGroupPolicySpec(), (value, "5")).match_index == index


def test_a_sub_group_without_a_size_needs_one_pod():
    assert SubJobInfo("g", "u", "j", SubGroupPolicySpec()).min_available == 1


def test_pods_fall_into_sub_jobs_and_the_rest_into_the_default_one():
    policies = [policy("leaders", 1, role="leader"), policy("workers", 2, 1, LEAF)]
    found = session(*job(policies, {"1": 2, "2": 1, "": 1})).jobs["default/g"]
    assert {
        uid: (sub.gid, len(sub.tasks), sub.min_available) for uid, sub in found.sub_jobs.items()
    } == {
        "default/g/workers-1": ("default/g/workers", 2, 2),
        "default/g/workers-2": ("default/g/workers", 1, 2),
        "default/g": ("default/g", 1, 1),
    }
    assert found.sub_jobs["default/g/workers-1"].hard_topology() == (True, 1)
    assert found.min_sub_jobs == {"default/g/leaders": 0, "default/g/workers": 1}
    assert found.contains_hard_topology() and found.contains_network_topology(
    ) and not found.with_network_topology()


def test_without_policies_the_default_sub_job_has_the_gang_s_minimum_and_topology():
    found = session(*job([], {"": 3}, topology=LEAF, minMember=2)).jobs["default/g"]
    (sub_job,) = found.sub_jobs.values()
    assert (sub_job.uid, sub_job.min_available, sub_job.hard_topology()) == ("default/g", 2, (True,
                                                                                              1))


def test_the_priority_of_a_sub_job_is_the_highest_of_its_tasks_and_at_least_zero():
    pods = [
        pod("a", "g", labels={"part": "1"}, priority=-5),
        pod("b", "g", labels={"part": "2"}, priority=7),
        pod("c", "g", labels={"part": "2"}, priority=3)
    ]
    found = session(group("g", subGroupPolicy=[policy()]), *pods).jobs["default/g"].sub_jobs
    assert {uid[-1]: sub.priority for uid, sub in found.items()} == {"1": 0, "2": 7}


# -- states of the gang
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "minimum", "allocated", "pipelined", "ready", "promised"),
    [
        ("both sub-groups are needed and one is ready", 2, ["1", "1"], [], False, False),
        ("both are ready", 2, ["1", "1", "2", "2"], [], True, True),
        ("one is enough", 1, ["1", "1"], [], True, True),
        ("two halves are no sub-group", 1, ["1", "2"], [], False, False),
        ("one task is only pipelined", 1, ["1"], ["1"], False, True),
        ("none is needed", 0, [], [], True, True),
    ],
)
def test_a_gang_needs_as_many_ready_sub_groups_as_its_policy_says(sentence, minimum, allocated,
                                                                  pipelined, ready, promised):
    ssn = session(*two_tiers(), *job([policy(minimum=minimum)], {"1": 2, "2": 2}))
    found = ssn.jobs["default/g"]
    waiting = {
        part: [t for t in found.tasks.values() if t.name.startswith(f"g-{part}-")] for part in "12"
    }
    for status, parts in ((ALLOCATED, allocated), (PIPELINED, pipelined)):
        for part in parts:
            ssn.set_status(waiting[part].pop(), status)
    assert found.check_sub_job_ready() is ready, sentence
    assert found.check_sub_job_pipelined() is promised, sentence


@pytest.mark.parametrize(("minimum", "valid"), [(0, True), (2, True), (3, False)])
def test_a_gang_with_too_few_sub_groups_is_not_valid(minimum, valid):
    ssn = session(*job([policy(minimum=minimum)], {"1": 2, "2": 2}))
    objection = ssn.job_valid(ssn.jobs["default/g"])
    assert (objection is None) is valid
    assert valid or objection.reason == "NotEnoughPodsOfTask"


def test_sub_jobs_that_the_gang_needs_are_placed_first():
    """Two policies, one sub-group needed of each; without that the higher priority would go first.
    """
    policies = [policy("a", 1, 1, keys=["a"]), policy("b", 1, 1, keys=["b"])]
    pods = [
        pod(f"{kind}{i}", "g", labels={kind: str(i)}, priority=9 if kind == "a" else 1)
        for kind in "ab"
        for i in (1, 2)
    ]
    ssn = session(group("g", subGroupPolicy=policies, minMember=2), *pods)
    order = [
        sub_job.uid.split("/")[-1]
        for sub_job in organize(ssn, ssn.jobs["default/g"]).sub_jobs.drain()
    ]
    assert order == ["a-1", "b-1", "a-2", "b-2"]


def test_a_ready_sub_group_counts_once_for_the_minimum():
    """Of three, two are needed, and one is there: part 2 goes before what has the higher priority.
    """
    policies = [policy("a", 1, 2, keys=["a"]), policy("b", 1, 0, keys=["b"])]
    pods = [pod("a1", "g", labels={"a": "1"}, node="n1", phase="Running")]
    pods += [pod(name, "g", labels={name[0]: name[1]}, priority=9 if name == "b1" else 1)
             for name in ("a2", "a3", "b1")]
    ssn = session(group("g", subGroupPolicy=policies, minMember=2), *pods)
    order = organize(ssn, ssn.jobs["default/g"]).sub_jobs.drain()
    assert [sub_job.uid.split("/")[-1] for sub_job in order] == ["a-2", "b-1", "a-3"]


def test_sub_jobs_are_ordered_by_number_not_by_text():
    ssn = session(*job([policy(size=1)], {"10": 1, "9": 1, "x": 1}))
    order = [
        sub_job.uid.split("-")[-1]
        for sub_job in organize(ssn, ssn.jobs["default/g"]).sub_jobs.drain()
    ]
    assert order == ["x", "9", "10"]


# -- placement
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "policies", "parts", "cpu", "topology", "found"),
    [
        ("each sub-group in one leaf", [policy(topology=LEAF)
                                        ], {"1": 2, "2": 2}, "4", None, {"1": {"s0"}, "2": {"s1"}}),
        (
            "both in the fuller leaf where they fit",
            [policy(topology=LEAF)],
            {"1": 2, "2": 2},
            "2",
            None,
            {"1": {"s0"}, "2": {"s0"}},
        ),
        ("a sub-group that no leaf holds, and the gang needs all pods",
         [policy(size=3, topology=LEAF)], {"1": 3}, "4", None, {}),
        ("the job's own topology binds its sub-groups together", [policy(topology=LEAF)],
         {"1": 2, "2": 2}, "4", LEAF, {}),
        ("the job's topology alone", [policy()], {"1": 2, "2": 2
                                                  }, "2", LEAF, {"1": {"s0"}, "2": {"s0"}}),
        (
            "pods outside all sub-groups go with them, and first",
            [policy(topology=LEAF)],
            {"1": 2, "": 1},
            "4",
            None,
            {"x": {"s0"}, "1": {"s1"}},
        ),
        ("without a hard topology sub-groups aren't placed by allocate", [policy()], {"1": 2}, "1",
         None, {}),
    ],
)
def test_where_sub_groups_are_placed(sentence, policies, parts, cpu, topology, found):
    ssn = run(*two_tiers(), queue(), *job(policies, parts, cpu, topology), conf=CONF)
    assert parts_by_leaf(ssn) == found, sentence


def test_a_gang_starts_with_the_sub_groups_it_needs_and_adds_the_others():
    """Three sub-groups of two pods, two of them needed; resources are free for two."""
    objects = [
        *two_tiers(2, 1),
        queue(),
        *job([policy(minimum=2, topology=LEAF)], {"1": 2, "2": 2, "3": 2}, "2", minMember=4)
    ]
    cache = Cache(objects)
    ssn = Scheduler(cache, CONF).run_once()
    assert parts_by_leaf(ssn) == {"1": {"s0"}, "2": {"s1"}}
    found = ssn.jobs["default/g"]
    assert found.is_ready()
    assert found.allocated_hyper_node == CLUSTER_TOP, (
        "the job itself has no topology, so it was tried nowhere else")
    assert {uid[-1]: sub.allocated_hyper_node
            for uid, sub in found.sub_jobs.items()} == {"1": "s0", "2": "s1", "3": ""}
    for each in two_tiers(3, 1):
        if each.name in ("n2", "s2", "top"):
            cache.add(each)
    assert parts_by_leaf(Scheduler(cache, CONF).run_once())["3"] == {"s2"}


def test_a_sub_group_that_grows_stays_in_its_leaf():
    parts = [pod(f"old-{i}", "g", f"n{i}", labels={"part": "1"}) for i in (2, 3)]
    more = [pod("g-1-new", "g", labels={"part": "1"})]
    full = [group("full"), pod("full", "full", "n0", requests={"cpu": "3", "memory": "1Gi"})]
    ssn = run(*two_tiers(), queue(), *full, group("g", subGroupPolicy=[policy(topology=LEAF)]),
              *parts, *more, conf=CONF)
    assert parts_by_leaf(ssn)["1"] == {"s1"}
    assert ssn.jobs["default/g"].sub_jobs["default/g/workers-1"].allocated_hyper_node == "s1"


@pytest.mark.parametrize(("sentence", "nodes", "held", "whole"), [
    ("in two leaves, below their common HyperNode", {"1": "n0", "2": "n2"},
     {"1": "s0", "2": "s1"}, "top"),
    ("in one leaf", {"1": "n0", "2": "n1"}, {"1": "s0", "2": "s0"}, "s0"),
    ("one of them only", {"1": "", "2": "n3"}, {"1": "", "2": "s1"}, "s1"),
    ("none", {"1": "", "2": ""}, {"1": "", "2": ""}, ""),
    ("one outside all leaves", {"1": "outside", "2": "n0"}, {"1": CLUSTER_TOP, "2": "s0"},
     CLUSTER_TOP)])
def test_a_new_scheduler_finds_the_hyper_nodes_of_sub_groups_by_their_pods(sentence, nodes, held,
                                                                           whole):
    pods = [pod(f"g-{part}", "g", on, labels={"part": part}) for part, on in nodes.items()]
    cache = Cache([*two_tiers(), node("outside"), queue(),
                   group("g", subGroupPolicy=[policy(size=1, topology=LEAF)]), *pods])
    ssn = Scheduler(cache, CONF.replace("allocate", "backfill")).run_once()
    for found in (ssn.jobs["default/g"], cache.jobs["default/g"]):
        assert {uid[-1]: sub.allocated_hyper_node for uid, sub in found.sub_jobs.items()
                } == held, sentence
        assert found.allocated_hyper_node == whole, sentence


def test_a_tier_that_a_policy_names_applies_to_its_sub_jobs_from_the_next_cycle_on():
    """As in Volcano: the name is resolved when the job's turn comes, and its sub-jobs are older
    than that.
    """
    named = [policy(topology={"mode": "hard", "highestTierName": "leaf"})]
    cache = Cache([*two_tiers(), queue(), *job(named, {"1": 2}, "4")])
    ssn = Scheduler(cache, CONF).run_once()
    found = ssn.jobs["default/g"]
    assert found.pod_group.spec.sub_group_policy[0].network_topology.highest_tier_allowed == 1
    assert found.sub_jobs["default/g/workers-1"].hard_topology() == (False, 0)
    assert found.sub_jobs["default/g/workers-1"].allocated_hyper_node == CLUSTER_TOP


def test_one_sub_group_that_does_not_fit_undoes_all_with_a_reason():
    ssn = run(*two_tiers(2, 1), node("outside"), queue(),
              *job([policy(topology=LEAF)], {"1": 2, "2": 2, "3": 2}, "2"), conf=CONF)
    assert parts_by_leaf(ssn) == {} and ssn.committed == []
    (condition,) = ssn.jobs["default/g"].pod_group.status.conditions
    assert "In hyperNode s1: 0/1 nodes are unavailable: 1 Insufficient cpu." in condition.message


def test_a_sub_group_that_fits_nowhere_keeps_no_other_from_its_place():
    objects = job([policy(minimum=1, topology=LEAF)], {"1": 2, "2": 2}, "3", minMember=2)
    large = [pod(f"g-1-{number}", "g", labels={"role": "worker", "part": "1"},
                 requests={"cpu": "9"}) for number in range(2)]
    ssn = run(*two_tiers(), queue(), *[each for each in objects if "g-1-" not in each.name], *large,
              conf=CONF)
    assert parts_by_leaf(ssn) == {"2": {"s0"}}


def test_pods_fall_into_other_sub_jobs_when_the_policies_change():
    found = session(*job([], {"1": 2, "2": 1})).jobs["default/g"]
    for policies, names in (([policy("workers")], ["default/g/workers-1", "default/g/workers-2"]),
                            ([policy("all", keys=("role",))], ["default/g/all-worker"]),
                            ([], ["default/g"])):
        found.set_pod_group(job(policies, {})[0])
        assert sorted(found.sub_jobs) == names
        assert sorted(set(found.task_to_sub_job.values())) == names


def test_the_leaf_that_was_only_tried_does_not_hold_the_sub_groups():
    """Both leaves hold the gang; the second is fuller and therefore better."""
    fuller = [group("old"), pod("old", "old", "n3")]
    ssn = run(*two_tiers(), queue(), *fuller,
              *job([policy(minimum=2)], {"1": 2, "2": 2}, topology=LEAF), conf=CONF)
    assert parts_by_leaf(ssn) == {"1": {"s1"}, "2": {"s1"}}
    assert {each.allocated_hyper_node for each in ssn.jobs["default/g"].sub_jobs.values()} == {"s1"}


@pytest.mark.parametrize("small", ["s0", "s1"])
@pytest.mark.parametrize("best", ["s0", "s1"])
def test_after_several_attempts_the_pods_left_are_those_of_the_best(small, best):
    """The leaf with less left takes the small pods of a sub-group and not its first one."""
    class Scores(Plugin):
        name = "scores"

        def hyper_node_order(self, sub_job, nodes):
            return {best: 1.0}

    register_plugin("scores", Scores)
    text = conf("gang", "predicates",
                "{name: network-topology-aware, enabledHyperNodeOrder: false}", "scores")
    nodes = {"s0": ("n0", "n1"), "s1": ("n2", "n3")}[small]
    there = [group("old"), *(pod(f"old-{name}", "old", name, requests={"cpu": "500m"})
                             for name in nodes)]
    first, *pods = job([policy(topology=LEAF)], {"1": 4}, minMember=2)
    pods = [each.changed(spec={"containers": [each.spec.containers[0].evolve(
        resources=ResourceRequirements({"cpu": cpu}))]})
        for each, cpu in zip(pods, ("4", "1", "1", "1"), strict=True)]
    ssn = run(*two_tiers(), queue(), *there, first, *pods, conf=text)
    assert parts_by_leaf(ssn) == {"1": {best}}
    waits = [task.name for task in ssn.jobs["default/g"].tasks.values() if not task.node_name]
    assert waits == (["g-1-0"] if best == small else [])
