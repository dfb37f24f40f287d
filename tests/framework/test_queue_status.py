"""What a session's close writes into the queues: allocated up to the root, PodGroups by phase, and
only what changed.
"""

from __future__ import annotations

import attrs
import pytest

from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import Scheduler

CONF = """\
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: capacity
    enableHierarchy: {hierarchy}
"""
HIERARCHY, FLAT = CONF.format(hierarchy="true"), CONF.format(hierarchy="false")
NOTHING = {"cpu": "0", "memory": "0"}


def family() -> Cluster:
    return (Cluster().node("n1", cpu=8, memory="8Gi").queue("eng").queue("dev", parent="eng").queue(
        "test", parent="eng").job("a", queue="dev", pods=2, cpu="1500m", memory="1Gi",
                                  running={"n1": 2}).job("b", queue="test", pods=1, cpu=1).job(
                                      "huge", queue="test", pods=1, cpu=99))


def allocated(ssn: Session, name: str) -> dict[str, str] | None:
    return ssn.queues[name].queue.status.allocated


def close(cluster: Cluster, conf: str = HIERARCHY) -> tuple[Session, list[str]]:
    """The closed session, and the queues whose status it wrote."""
    cache, written = cluster.cache(), []
    update = cache.update_queue_status
    cache.update_queue_status = lambda queue: (written.append(queue.name), update(queue))
    return Scheduler(cache, conf).run_once(), written


def test_a_queues_allocated_counts_for_all_its_ancestors():
    ssn, _ = close(family())
    assert allocated(ssn, "dev") == {"cpu": "3", "memory": "2Gi", "pods": "2"}
    assert allocated(ssn, "test") == {"cpu": "1", "memory": "0", "pods": "1"}
    assert allocated(ssn, "eng") == allocated(ssn,
                                              "root") == {"cpu": "4", "memory": "2Gi", "pods": "3"}
    assert allocated(ssn, "default") == NOTHING


def test_so_it_does_without_the_hierarchy_switched_on():
    ssn, _ = close(family(), FLAT)
    assert allocated(ssn, "eng") == allocated(ssn,
                                              "root") == {"cpu": "4", "memory": "2Gi", "pods": "3"}


def test_without_a_root_queue_nothing_is_passed_up():
    cache = family().cache()
    del cache.queues["root"]
    ssn = Scheduler(cache, FLAT).run_once()
    assert allocated(ssn, "eng") == NOTHING
    assert allocated(ssn, "dev") == {"cpu": "3", "memory": "2Gi", "pods": "2"}


def test_a_job_of_the_root_itself_counts_there_twice():
    cluster = Cluster().node("n1", cpu=8).job("a", queue="root", pods=1, cpu=1, running={"n1": 1})
    ssn, _ = close(cluster, FLAT)
    assert allocated(ssn, "root") == {"cpu": "2", "memory": "0", "pods": "2"}


@pytest.mark.parametrize("parents, held", [
    ({"eng": "nowhere"}, {"dev": "3", "eng": "4", "root": "0"}),
    ({"eng": "dev"}, {"dev": "4", "eng": "4", "root": "0"}),
    ({"dev": "dev"}, {"dev": "3", "eng": "1", "root": "1"}),
], ids=["a parent that doesn't exist", "one another's parents", "its own parent"])
def test_a_missing_parent_or_a_cycle_ends_the_lineage(parents, held):
    cluster = family()
    for name, parent in parents.items():
        cluster.queue(name, parent=parent)
    ssn, _ = close(cluster, FLAT)
    assert {name: allocated(ssn, name)["cpu"] for name in held} == held


def test_only_queues_in_which_something_changed_are_written():
    cache = family().cache()
    Scheduler(cache, HIERARCHY).run_once()
    written: list[str] = []
    cache.update_queue_status = lambda queue: written.append(queue.name)
    Scheduler(cache, HIERARCHY).run_once()
    assert written == []


def test_one_phase_whose_count_changes_is_written():
    cluster = family()
    cache = cluster.cache()
    Scheduler(cache, HIERARCHY).run_once()
    more = Cluster().queue("test").job("larger", queue="test", pods=1, cpu=99)
    for obj in more.objects():
        if obj.kind in ("PodGroup", "Pod"):
            cache.add(obj)
    status = Scheduler(cache, HIERARCHY).run_once().queues["test"].queue.status
    assert (status.pending, status.inqueue) == (2, 1)


def test_amounts_are_compared_not_texts():
    cache = family().cache()
    status = cache.queues["dev"].queue.status
    same = attrs.evolve(status, allocated={"cpu": "3000m", "memory": "2048Mi", "pods": "2"},
                        running=1)
    cache.queues["dev"].queue = attrs.evolve(cache.queues["dev"].queue, status=same)
    ssn = Scheduler(cache, HIERARCHY).run_once()
    assert allocated(ssn, "dev") == {"cpu": "3000m", "memory": "2048Mi", "pods": "2"}


def test_a_queue_that_holds_nothing_is_written_once_as_zero():
    ssn, written = close(Cluster().node("n1", cpu=8))
    assert written == ["default", "root"] and allocated(ssn, "default") == NOTHING


def test_the_root_gets_the_sums_of_its_children():
    ssn, _ = close(family().queue("eng", guarantee={"cpu": 2}))
    spec = ssn.queues["root"].queue.spec
    assert spec.guarantee.resource == {"cpu": "2", "memory": "0"}
    assert spec.deserved == {"cpu": "8", "memory": "8Gi", "pods":
                             "110"}, "unset, it deserves the cluster"


@pytest.mark.parametrize("given", [
    {"deserved": {"cpu": 8, "memory": "8Gi", "pods": 110}},
    {"guarantee": {"cpu": 2, "memory": 0}}])
def test_a_sum_that_the_root_has_already_does_not_keep_the_other_from_being_written(given):
    ssn, _ = close(family().queue("root", **given).queue("eng", guarantee={"cpu": 2}))
    spec = ssn.queues["root"].queue.spec
    assert spec.guarantee.resource["cpu"] in ("2", 2) and spec.deserved["memory"] == "8Gi"


def test_flat_the_root_gets_zero():
    ssn, _ = close(family().queue("eng", guarantee={"cpu": 2}), FLAT)
    spec = ssn.queues["root"].queue.spec
    assert spec.guarantee.resource == spec.deserved == NOTHING


def test_the_roots_sums_stay_when_the_cluster_grows():
    cache = family().cache()
    Scheduler(cache, HIERARCHY).run_once()
    for obj in Cluster().node("n2", cpu=8).objects():
        if obj.kind == "Node":
            cache.add(obj)
    ssn = Scheduler(cache, HIERARCHY).run_once()
    root = ssn.plugins["capacity"].queue_opts["root"]
    assert (root.deserved.milli_cpu, root.real_capability.milli_cpu) == (8000, 16000)


def test_pod_groups_are_counted_by_phase_in_their_own_queue_only():
    ssn, _ = close(family())
    counts = {name: {phase: n for phase in ("unknown", "pending", "running", "inqueue", "completed")
                     if (n := getattr(info.queue.status, phase))}
              for name, info in ssn.queues.items()}
    assert counts == {
        "default": {}, "dev": {"running": 1}, "eng": {}, "root": {}, "test":
        {"inqueue": 1, "pending": 1}
    }


def test_a_status_that_is_written_leaves_the_rest_of_the_queue_alone():
    cluster = family().queue("dev", weight=3, capability=6)
    before = cluster.cache().queues["dev"].queue
    ssn, _ = close(cluster)
    after = ssn.queues["dev"].queue
    assert (after.metadata, after.spec, after.status.state) == (before.metadata, before.spec,
                                                                "Open")


def test_the_cache_is_updated_but_no_shared_object_is_written():
    cache = family().cache()
    before = cache.queues["dev"].queue
    ssn = Session(cache, load_conf(HIERARCHY))
    ssn.close()
    assert cache.queues["dev"].queue.status.allocated["cpu"] == "3"
    assert before.status.allocated is None


def test_a_phase_that_a_cycle_changes_counts_as_it_is_at_its_end():
    objects = Cluster().node("n1", cpu=4).job("a", cpu=1, running={"n1": 1}).objects()
    cache = Cache(obj.changed(status={"phase": "Inqueue"}) if obj.kind == "PodGroup" else obj
                  for obj in objects)
    Scheduler(cache).run_once()
    status = cache.queues["default"].queue.status
    assert (status.pending, status.inqueue, status.running) == (0, 0, 1)
