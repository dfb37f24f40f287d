"""The tree of queues: parents and children, and the limits from the root down."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from volcano_lab.api.objects import Guarantee, ObjectMeta, Queue, QueueSpec
from volcano_lab.api.queue import QueueInfo
from volcano_lab.api.resource import Resource
from volcano_lab.plugins.queue_tree import QueueTree, QueueTreeError

CLUSTER = Resource(16000.0, 32.0 * 2**30)


def queue(name: str, parent: str = "", guarantee: dict[str, str] | None = None,
          **spec) -> QueueInfo:
    return QueueInfo.of(
        Queue(ObjectMeta(name=name), QueueSpec(parent=parent, guarantee=Guarantee(guarantee),
                                               **spec)))


def plant(*queues: QueueInfo) -> QueueTree:
    tree = QueueTree()
    tree.add_queues({info.uid: info for info in sorted(queues, key=lambda info: info.uid)})
    return tree


def grow(*queues: QueueInfo, cluster: Resource = CLUSTER) -> QueueTree:
    tree = plant(*queues)
    tree.limit(cluster)
    return tree


FAMILY = (queue("root"), queue("eng"), queue("dev", "eng"), queue(
    "test", "eng"), queue("ops"), queue("night", "ops"))


def test_a_queue_without_parent_is_below_the_root():
    tree = plant(*FAMILY)
    assert [attr.name for attr in tree.line("dev")] == ["dev", "eng", "root"]
    assert tree.attrs["dev"].ancestors == ("root", "eng")
    assert [name for name in tree.attrs if tree.is_leaf(name)] == ["dev", "night", "test"]
    assert tree.line("nowhere") == []


@pytest.mark.parametrize("queues, complaint", [
    ((queue("root"), queue(
        "a", "nowhere")), 'queue "a": spec.parent is "nowhere", and there is no such queue'),
    ((queue("a"), ), 'queue "a": spec.parent is "root", and there is no such queue'),
    ((), 'there is no queue "root"'),
])
def test_queues_that_form_no_tree_are_refused_with_a_sentence(queues, complaint):
    with pytest.raises(QueueTreeError, match=complaint):
        plant(*queues)


def test_queues_that_are_one_anothers_parents_hang_on_nothing_and_are_no_leaves():
    tree = grow(queue("root"), queue("a", "b"), queue("b", "a"), queue("self", "self"))
    assert [tree.is_leaf(name) for name in ("a", "b", "self")] == [False, False, False]
    assert tree.attrs["a"].real_capability == Resource()


def test_the_level_is_that_of_the_lowest_common_ancestor():
    tree = plant(*FAMILY)
    assert tree.level("dev", "test") == 1
    assert tree.level("dev", "night") == tree.level("dev", "eng") == tree.level("root", "dev") == 0


def test_two_queues_are_compared_where_their_lines_part():
    tree = plant(*FAMILY, queue("hpc"))

    def names(left, right):
        return tuple(attr.name for attr in tree.branches(left, right))

    assert names("dev", "test") == ("dev", "test")
    assert names("dev", "night") == ("eng", "ops")
    assert names("hpc", "night") == ("hpc", "ops")


def test_the_roots_missing_amounts_are_the_clusters():
    root = grow(queue("root"), queue("a", guarantee={"cpu": "2"})).attrs["root"]
    assert root.capability == root.deserved == root.real_capability == CLUSTER
    assert root.guarantee == Resource(2000.0)


def test_the_roots_own_amounts_stay_but_its_limit_is_the_cluster():
    said = queue("root", capability={"cpu": "99"}, deserved={"cpu": "5"}, guarantee={"cpu": "7"})
    root = grow(said, queue("a", guarantee={"cpu": "2"})).attrs["root"]
    assert (root.capability, root.deserved, root.guarantee) == (Resource(99000.0), Resource(5000.0),
                                                                Resource(7000.0))
    assert root.real_capability == CLUSTER


def test_a_queue_without_capability_inherits_its_parents():
    tree = grow(queue("root"), queue("eng", capability={"cpu": "4"}),
                queue("dev", "eng", capability={"memory": "1Gi"}))
    assert tree.attrs["dev"].capability == Resource(4000.0, 2.0**30)
    assert tree.attrs["dev"].real_capability == Resource(4000.0, 2.0**30)


def test_a_capability_of_zero_inherits_for_cpu_and_memory_but_not_for_other_resources():
    cluster = Resource(8000.0, 2.0**30, {"nvidia.com/gpu": 4000.0})
    tree = grow(queue("root"), queue("a", capability={"cpu": "0", "nvidia.com/gpu": "0"}),
                cluster=cluster)
    assert tree.attrs["a"].real_capability == Resource(8000.0, 2.0**30, {"nvidia.com/gpu": 0.0})


def test_guarantees_of_siblings_lower_the_limit():
    tree = grow(queue("root"), queue("a", guarantee={"cpu": "6"}), queue(
        "b", guarantee={"cpu": "1"}), queue("c"))
    assert [tree.attrs[name].real_capability.milli_cpu
            for name in "abc"] == [15000.0, 10000.0, 9000.0]


def test_a_limit_is_computed_from_the_parents_limit():
    tree = grow(queue("root"), queue("eng", capability={"cpu": "4"}),
                queue("dev", "eng", capability={"cpu": "8"}))
    assert tree.attrs["dev"].real_capability.milli_cpu == 4000.0


@pytest.mark.parametrize("queues, warning", [
    ((queue("eng", capability={"cpu": "4"}), queue(
        "dev", "eng", capability={"cpu": "8"})), 'queue dev: spec.capability'),
    ((queue("eng", deserved={"cpu": "4"}), queue("dev", "eng", deserved={"cpu": "3"}),
      queue("test", "eng", deserved={"cpu": "2"
                                     })), "queue eng: its children's spec.deserved add up"),
    ((queue("eng", guarantee={"cpu": "1"}), queue("dev", "eng", guarantee={"cpu": "2"})),
     "queue eng: its children's spec.guarantee add up"),
])
def test_children_that_exceed_their_parent_are_a_warning_and_none_is_refused(queues, warning):
    tree = grow(queue("root"), *queues)
    assert [what for what in map(str, tree.warnings) if str(what).lower().startswith(warning)]
    assert tree.attrs["dev"].real_capability.milli_cpu > 0


def test_a_tree_that_adds_up_has_no_warnings():
    assert grow(*FAMILY).warnings == []


@pytest.mark.long
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.sampled_from([None, "1", "4", "40"]),
                  st.sampled_from([None, "1", "3"])), max_size=8))
def test_no_queue_may_hold_more_than_its_parent_unless_guarantees_are_promised_beyond_it(rows):
    """Each row is a queue: the number of its parent among those before it, its capability and its
    guarantee.
    """
    queues = [queue("root")]
    for number, (above, capability, guarantee) in enumerate(rows):
        parent = f"q{above % number}" if number and above % (number + 1) else ""
        queues.append(queue(f"q{number}", parent, {"cpu": guarantee} if guarantee else None,
                            capability={"cpu": capability} if capability else None))
    tree = grow(*queues)
    for attr in tree.attrs.values():
        line = tree.line(attr.name)
        assert line[-1].name == "root" and len(line) == len(attr.ancestors) + 1
        if attr.capability.milli_cpu:
            assert attr.real_capability.milli_cpu <= attr.capability.milli_cpu
        if attr.ancestors:
            parent = tree.attrs[attr.ancestors[-1]]
            promised = sum(tree.attrs[name].guarantee.milli_cpu for name in parent.children)
            beyond = max(promised - parent.real_capability.milli_cpu, 0.0)
            assert attr.real_capability.milli_cpu <= parent.real_capability.milli_cpu + beyond
