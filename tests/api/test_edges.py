"""The odd input that a cluster holds: what takes part in a session, what is left out and why, and
what counts.
"""

from __future__ import annotations

import json

import pytest

from volcano_lab.api.fit_error import (
    ERROR,
    SKIP,
    SUCCESS,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    WAIT,
    FitError,
    Status,
)
from volcano_lab.cluster import Cluster
from volcano_lab.trace.views.cycle import Cycle

FLAT, TREE, SHARED = "capacity", "capacity\n    enableHierarchy: true", "proportion"


def conf(sharing: str = SHARED, names: str = "enqueue, allocate, backfill") -> str:
    return f"""\
actions: "{names}"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: {sharing}
"""


every_sharing = pytest.mark.parametrize("sharing", [SHARED, FLAT, TREE],
                                        ids=["proportion", "capacity", "a tree"])


def group(name: str, phase: str = "Pending", **spec) -> str:
    """The manifest of a PodGroup of one member in the default queue, unless the spec says
    otherwise.
    """
    return json.dumps({
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata":
        {"name": name, "namespace": "default"}, "spec":
        {"minMember": 1, "queue": "default", **spec}, "status": {"phase": phase}
    })


def pod(name: str, of: str = "", phase: str = "Pending", deleted: bool = False,
        requests: dict | None = None, **spec) -> str:
    """The manifest of a pod of 1 CPU that belongs to the PodGroup `of`."""
    meta = {
        "name": name, "namespace": "default", "annotations":
        {"scheduling.k8s.io/group-name": of} if of else {}
    }
    if deleted:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    container = {"name": "main", "resources": {"requests": requests or {"cpu": "1"}}}
    return json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": meta, "status": {"phase": phase}, "spec":
        {"schedulerName": "volcano", "containers": [container], **spec}
    })


def cluster(*manifests: str, cpu: int = 4) -> Cluster:
    return Cluster().node("n1", cpu=cpu, memory="8Gi").add(*manifests)


def closed(name: str, state: str = "Closed") -> str:
    return json.dumps({
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name},
        "spec": {"weight": 1}, "status": {"state": state}
    })


def placed(cycle: Cycle) -> list[str]:
    return [pod.removeprefix("default/") for _, pod, *_ in cycle.committed]


def phase(cycle: Cycle, name: str) -> str:
    return cycle.session.jobs[f"default/{name}"].pod_group.status.phase


def attr(cycle: Cycle, queue: str = "default"):
    ssn = cycle.session
    return (ssn.plugins.get("proportion") or ssn.plugins["capacity"]).queue_opts[queue]


# -- queues
# ---------------------------------------------------------------------------------------------


@every_sharing
@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown"])
def test_a_queue_that_is_not_open_admits_and_places_nothing(sharing, state):
    cycle = cluster(closed("shut", state), group("new", queue="shut", minResources={"cpu": "1"}),
                    pod("new-0", "new"), group("old", "Inqueue", queue="shut"),
                    pod("old-0", "old")).run(conf(sharing))
    assert (phase(cycle, "new"), phase(cycle, "old")) == ("Pending", "Inqueue")
    assert placed(cycle) == []


@every_sharing
def test_a_closed_queue_still_takes_in_a_job_that_names_no_minimum(sharing):
    cycle = cluster(closed("shut"), group("new", queue="shut"), pod("new-0", "new")).run(
        conf(sharing))
    assert phase(cycle, "new") == "Inqueue" and placed(cycle) == []


def test_running_pods_of_a_closed_queue_continue_and_count():
    cycle = cluster(closed("shut"), group("old", "Running", queue="shut"),
                    pod("old-0", "old", "Running", nodeName="n1")).run(conf())
    assert phase(cycle, "old") == "Running" and attr(cycle, "shut").allocated.milli_cpu == 1000


@every_sharing
def test_a_job_whose_queue_does_not_exist_is_left_out_but_its_pods_keep_their_resources(sharing):
    cycle = cluster(group("lost", "Running", queue="nowhere"),
                    pod("lost-0", "lost", "Running", nodeName="n1"), group("new"),
                    *(pod(f"new-{n}", "new") for n in range(4))).run(conf(sharing))
    assert list(cycle.session.jobs) == ["default/new"]
    assert [*map(str, cycle.session.snapshot.left_out)] == [
        "job default/lost: its queue nowhere doesn't exist"]
    assert placed(cycle) == ["new-0", "new-1", "new-2"]


def test_a_job_that_names_no_queue_is_in_the_default_queue():
    cycle = cluster(group("a", queue=""), pod("a-0", "a")).run(conf())
    assert cycle.session.jobs["default/a"].queue == "default" and placed(cycle) == ["a-0"]


@pytest.mark.parametrize("sharing, capability, admitted", [
    (SHARED, {"cpu": "0"}, True),
    (FLAT, {"cpu": "0"}, True),
    (TREE, {"cpu": "0"}, True),
    (SHARED, {"nvidia.com/gpu": "0"}, False),
    (FLAT, {"nvidia.com/gpu": "0"}, False),
    (TREE, {"nvidia.com/gpu": "0"}, False),
])
def test_a_capability_of_zero_is_no_limit_for_cpu_but_one_for_a_gpu(sharing, capability, admitted):
    asked = {"cpu": "1", "nvidia.com/gpu": "1"}
    cycle = (Cluster().node("n1", cpu=4, gpu=2).queue("q", capability=capability).add(
        group("a", queue="q", minResources=asked), pod("a-0", "a", requests=asked))).run(
            conf(sharing))
    assert (phase(cycle, "a") == "Inqueue", placed(cycle) == ["a-0"]) == (admitted, admitted)


# -- PodGroups
# ------------------------------------------------------------------------------------------


@every_sharing
@pytest.mark.parametrize("least, admitted", [({}, True), (None, True), ({"cpu": "99"}, False)])
def test_a_minimum_that_is_missing_or_names_nothing_is_no_hindrance(sharing, least, admitted):
    spec = {} if least is None else {"minResources": least}
    cycle = cluster(group("a", **spec), pod("a-0", "a")).run(conf(sharing))
    assert (phase(cycle, "a") == "Inqueue") == admitted
    assert attr(cycle).inqueue.milli_cpu == 0


@every_sharing
def test_a_pod_group_without_pods_is_admitted_and_reserves_its_minimum(sharing):
    cycle = cluster(group("empty", minResources={"cpu": "3"}),
                    group("late", minResources={"cpu": "2"}), pod("late-0", "late")).run(
                        conf(sharing))
    assert (phase(cycle, "empty"), phase(cycle, "late")) == ("Inqueue", "Pending")
    assert attr(cycle).inqueue.milli_cpu == 3000
    assert cycle.session.jobs["default/empty"].pod_group.status.conditions == []


def test_a_pod_group_that_needs_no_members_and_has_none_is_completed():
    assert phase(cluster(group("none", "Inqueue", minMember=0)).run(conf()), "none") == "Completed"


# -- pods without a job
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "manifest, reason", [
        (pod("stray", "gone"), "job default/gone: its pods name a PodGroup that doesn't exist"),
        (pod("stray", "a", schedulerName="default-scheduler"),
         "pod default/stray: it is for another scheduler, default-scheduler"),
    ], ids=["a PodGroup that isn't there", "another scheduler's"])
def test_a_pod_that_no_scheduler_places_is_left_out_with_the_reason(manifest, reason):
    cycle = cluster(manifest, group("a", minMember=1), pod("a-0", "a")).run(conf())
    assert reason in map(str, cycle.session.snapshot.left_out)
    assert placed(cycle) == ["a-0"]
    assert "stray" not in {
        t.name for job in cycle.session.jobs.values() for t in job.tasks.values()
    }


def test_a_pod_of_another_scheduler_counts_on_its_node_and_for_no_queue():
    running = pod("stray", phase="Running", nodeName="n1", schedulerName="default-scheduler")
    cycle = cluster(running, group("a"), *(pod(f"a-{n}", "a") for n in range(4))).run(conf())
    assert len(placed(cycle)) == 3 and attr(cycle).allocated.milli_cpu == 3000
    assert cycle.session.snapshot.left_out == []


def test_a_pod_of_ours_without_pod_group_has_one_of_its_own_and_counts_for_its_queue():
    running = pod("stray", phase="Running", nodeName="n1")
    cycle = cluster(running, group("a"), *(pod(f"a-{n}", "a") for n in range(4))).run(conf())
    assert len(placed(cycle)) == 3 and attr(cycle).allocated.milli_cpu == 4000
    assert cycle.session.snapshot.left_out == []
    assert any(name.startswith("default/podgroup-") for name in cycle.session.jobs)


def test_a_pod_on_a_node_that_was_never_announced_counts_for_its_queue_and_the_node_is_left_out():
    cycle = cluster(group("a", "Running"), pod("a-0", "a", "Running", nodeName="ghost")).run(conf())
    assert attr(cycle).allocated.milli_cpu == 1000
    assert list(cycle.session.nodes) == ["n1"]
    assert [why.facts["name"] for why in cycle.session.snapshot.left_out] == ["ghost"]


# -- the request of a pod
# ------------------------------------------------------------------------------------


def init(cpu: str, sidecar: bool = False) -> dict:
    return {
        "name": f"init-{cpu}", "resources": {"requests": {"cpu": cpu}},
        **({"restartPolicy": "Always"} if sidecar else {})
    }


@pytest.mark.parametrize(
    "spec, cpu", [
        ({}, 1000),
        ({"initContainers": [init("3")]}, 3000),
        ({"initContainers": [init("500m")]}, 1000),
        ({"initContainers": [init("2"), init("3")]}, 3000),
        ({"initContainers": [init("2", sidecar=True)]}, 3000),
        ({"initContainers": [init("2", sidecar=True), init("3")]}, 5000),
        ({"initContainers": [init("3"), init("500m", sidecar=True)]}, 3000),
        ({"overhead": {"cpu": "250m"}}, 1250),
        ({"overhead": {"cpu": "250m"}, "initContainers": [init("3")]}, 3000),
    ], ids=[
        "containers", "a greater init container", "a smaller one", "init containers run one by one",
        "a sidecar stays", "an init container beside a sidecar", "one before a sidecar", "overhead",
        "overhead isn't added to init containers"
    ])
def test_the_request_of_a_pod(spec, cpu):
    cycle = cluster(group("a"), pod("a-0", "a", **spec), cpu=8).run(conf())
    assert cycle.session.nodes["n1"].used.milli_cpu == attr(cycle).allocated.milli_cpu == cpu


@every_sharing
def test_a_request_that_no_node_offers_is_never_placed(sharing):
    asked = {"cpu": "1", "example.com/widget": "1"}
    cycle = cluster(
        group("plain"),
        pod("plain-0", "plain", requests=asked),
        group("minimum", minResources=asked),
        pod("minimum-0", "minimum", requests=asked),
    ).run(conf(sharing))
    assert placed(cycle) == []
    assert (phase(cycle, "plain"), phase(cycle, "minimum")) == ("Inqueue", "Pending")


# -- the status of a pod
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase_, deleted, node, status, allocated", [
    ("Pending", False, "", "Pending", 0),
    ("Pending", True, "", "Releasing", 0),
    ("Pending", False, "n1", "Bound", 1000),
    ("Pending", True, "n1", "Releasing", 0),
    ("Running", False, "n1", "Running", 1000),
    ("Running", True, "n1", "Releasing", 0),
    ("Succeeded", False, "n1", "Succeeded", 0),
    ("Failed", False, "n1", "Failed", 0),
    ("Failed", True, "n1", "Failed", 0),
    ("Unknown", False, "n1", "Unknown", 0),
])
def test_the_status_for_a_pods_phase_and_whether_its_queue_counts_it(phase_, deleted, node, status,
                                                                allocated):
    cycle = cluster(group("a", "Running", minMember=9),
                    pod("a-0", "a", phase_, deleted, nodeName=node)).run(conf(FLAT))
    (task,) = cycle.session.jobs["default/a"].tasks.values()
    assert (str(task.status), attr(cycle).allocated.milli_cpu) == (status, allocated)


@pytest.mark.parametrize("phase_, deleted, idle, releasing", [
    ("Running", False, 3000, 0),
    ("Running", True, 3000, 1000),
    ("Succeeded", False, 4000, 0),
    ("Failed", False, 4000, 0),
])
def test_a_finished_pod_has_left_its_node_and_a_deleted_one_is_about_to(
        phase_, deleted, idle, releasing):
    cycle = cluster(group("a", "Running", minMember=9),
                    pod("a-0", "a", phase_, deleted, nodeName="n1")).run(conf())
    node = cycle.session.nodes["n1"]
    assert (node.idle.milli_cpu, node.releasing.milli_cpu) == (idle, releasing)


@pytest.mark.parametrize("phases, result", [
    (["Succeeded", "Succeeded"], "Completed"),
    (["Succeeded", "Failed"], "Completed"),
    (["Succeeded", "Running"], "Running"),
    (["Failed", "Pending"], "Pending"),
], ids=" and ".join)
def test_finished_pods_count_for_the_phase_of_their_gang(phases, result):
    pods = [
        pod(f"a-{n}", "a", name, nodeName="" if name == "Pending" else "n1")
        for n, name in enumerate(phases)
    ]
    assert phase(cluster(group("a", "Running", minMember=2), *pods).run(conf()), "a") == result


@every_sharing
def test_a_gated_pod_is_not_placed_and_reserves_nothing(sharing):
    gates = [{"name": "wait"}]
    cycle = cluster(group("a", minMember=2, minResources={"cpu": "2"}), pod("a-0", "a"),
                    pod("a-1", "a", schedulingGates=gates)).run(conf(sharing))
    assert phase(cycle, "a") == "Inqueue" and placed(cycle) == []
    assert attr(cycle).inqueue.milli_cpu == 1000


@pytest.mark.parametrize("least, asked, reserved", [
    ({"cpu": "2", "a/gpu": "2"}, {"cpu": "1", "a/gpu": "1"}, (1000, 1000)),
    ({"cpu": "2", "a/gpu": "2"}, {"cpu": "1"}, (1000, 2000)),
    ({"cpu": "2", "a/gpu": "2"}, {"cpu": "3", "a/gpu": "3"}, (0, 0)),
    ({"cpu": "2"}, {"cpu": "1", "a/gpu": "1"}, (1000, 0)),
])
def test_gated_requests_are_not_reserved(least, asked, reserved):
    gated = pod("a-1", "a", requests=asked, schedulingGates=[{"name": "wait"}])
    cycle = cluster(group("a", minMember=2, minResources=least), pod("a-0", "a"), gated).run(conf())
    job = cycle.session.jobs["default/a"]
    left = job.deduct_sch_gated_resources(job.get_min_resources())
    assert (left.milli_cpu, left.get("a/gpu")) == reserved


def test_a_gang_whose_minimum_is_not_gated_starts_without_the_gated():
    cycle = cluster(group("a", minMember=1), pod("a-0", "a", schedulingGates=[{"name": "wait"}]),
                    pod("a-1", "a")).run(conf())
    assert placed(cycle) == ["a-1"]


def test_a_gated_best_effort_pod_is_not_backfilled_either():
    cycle = cluster(group("a", "Inqueue"),
                    pod("a-0", "a", requests={"cpu": "0"}, schedulingGates=[{"name": "wait"}]),
                    pod("a-1", "a", requests={"cpu": "0"})).run(conf())
    assert placed(cycle) == ["a-1"]


@pytest.mark.parametrize(("codes", "allocates", "evicts"), [
    ([], True, True), ([SUCCESS], True, True), ([UNSCHEDULABLE], False, True),
    *(([code], False, False) for code in (ERROR, UNRESOLVABLE, WAIT, SKIP)),
    *(([UNSCHEDULABLE, code], False, False) for code in (ERROR, UNRESOLVABLE, WAIT, SKIP))])
def test_a_plain_refusal_alone_is_one_that_evictions_may_resolve(codes, allocates, evicts):
    error = FitError("default/a-0", "n1", tuple(Status(code, "no") for code in codes))
    assert (error.blocks_allocate(), error.blocks_preempt()) == (not allocates, not evicts)
    assert error.unresolvable() == (UNRESOLVABLE in codes)
