"""Clusters in a few words: what they become, what is refused, and that changing one changes nothing
else.
"""

import pytest

from volcano_lab import Cluster, ManifestError, load_conf, loads
from volcano_lab.api.objects import Node, Pod, PodGroup, Queue
from volcano_lab.cache import Cache
from volcano_lab.explain.lint import doubts
from volcano_lab.framework.config.conf import ConfError
from volcano_lab.scheduler import Scheduler


def of_kind(cluster, kind):
    return {obj.name: obj for obj in cluster.objects() if isinstance(obj, kind)}


def hundred():
    """The cluster of the worked example: 100 CPUs, three queues, pods of one CPU."""
    cluster = Cluster().node("n", cpu=100, pods=1000)
    cluster.queue("a", weight=2, capability=50, guarantee=10).queue("b", weight=3).queue(
        "c", weight=5, guarantee=20)
    for queue, asks in {"a": 80, "b": 60, "c": 30}.items():
        cluster.job(queue, queue=queue, pods=asks, cpu=1, min_member=1)
    return cluster


def deserved(cluster):
    return {row["queue"]: row["deserved"]["cpu"] for row in cluster.run().queues()}


def test_the_worked_example():
    assert deserved(hundred()) == {"a": 28, "b": 42, "c": 30}


CHANGES = [
    ("a heavier queue takes from whoever is not satisfied", lambda c: c.queue("a", weight=4),
     (40, 30, 30)),
    ("a capability stops a heavy queue", lambda c: c.queue("a", weight=10), (50, 20, 30)),
    ("without its capability it goes on", lambda c: c.queue("a", weight=10, capability="100"),
     (55.556, 16.667, 27.778)),
    ("a guarantee is kept for an idle queue", lambda c: c.job("c", pods=10), (32, 48, 20)),
    ("what no job requests stays free", lambda c: c.job("a", pods=10).job("b", pods=10), (10, 10,
                                                                                          30)),
    ("a second node is shared like the first", lambda c: c.node("m", cpu=50), (50, 60, 30)),
    ("a node that is gone is not shared", lambda c: c.node("m", cpu=50).remove("m"), (28, 42, 30)),
]


@pytest.mark.long
@pytest.mark.parametrize(("sentence", "change", "expected"), CHANGES,
                         ids=[row[0] for row in CHANGES])
def test_a_change_shows_and_the_original_stays(sentence, change, expected):
    original = hundred()
    changed = change(original.copy())
    assert tuple(round(amount, 3) for amount in deserved(changed).values()) == expected
    assert deserved(original) == {"a": 28, "b": 42, "c": 30}


def test_jobs_of_one_name_in_two_namespaces_are_two_jobs():
    cluster = Cluster().job("a", cpu=1).job("a", cpu=2, namespace="team").job("a", pods=2)
    cluster.job("a", namespace="team", pods=3)
    assert [(row["job"], row["pods"]) for row in cluster.rows_of("jobs")] == [
        ("default/a", 2), ("team/a", 3)]
    assert cluster.to_python().count(".job(") == 2
    assert not cluster.remove("a").rows_of("jobs")


def test_units_and_names():
    cluster = Cluster().node("n", cpu="1500m", memory="4Gi", gpu=2, labels={"zone": "z1"},
                             resources={"example.com/fpga": 1})
    cluster.queue("q", capability={"cpu": 8, "memory": "1Ti"}, deserved=4, parent="root",
                  reclaimable=False)
    cluster.job("j", queue="q", namespace="team", pods=3, cpu="500m", memory="1Gi", min_member=2,
                priority=7)
    node, queue, group = of_kind(cluster, Node)["n"], of_kind(cluster, Queue)["q"], of_kind(
        cluster, PodGroup)["j"]
    assert node.status.allocatable == {
        "cpu": "1500m", "memory": "4Gi", "nvidia.com/gpu": "2", "example.com/fpga": "1", "pods":
        "110"
    }
    assert node.metadata.labels["zone"] == "z1"
    assert (queue.spec.capability, queue.spec.deserved) == ({"cpu": "8", "memory":
                                                             "1Ti"}, {"cpu": "4"})
    assert (queue.spec.parent, queue.spec.reclaimable) == ("root", False)
    assert (group.key, group.spec.min_member, group.spec.min_resources) == ("team/j", 2, {
        "cpu": "1", "memory": "2Gi"
    })
    pods = of_kind(cluster, Pod)
    assert list(pods) == ["j-0", "j-1", "j-2"] and {pod.spec.priority
                                                    for pod in pods.values()} == {7}
    assert len({pod.metadata.uid for pod in pods.values()}) == 3


def test_pods_that_run_count_at_once():
    cluster = hundred().job("b", running={"n": 20})
    pods = of_kind(cluster, Pod)
    assert [pods["b-19"].spec.node_name, pods["b-19"].status.phase] == ["n", "Running"]
    assert [pods["b-20"].spec.node_name, pods["b-20"].status.phase] == ["", "Pending"]
    cycle = cluster.run()
    assert cycle.queue_order[-1] == "b" and cycle.queues()[1]["elastic"]["cpu"] == 19


def test_manifests_and_words_mix():
    text = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, "
            "spec: {weight: 9}}")
    cluster = Cluster(loads(text)).node(
        "n", cpu=4).add("{apiVersion: v1, kind: Node, metadata: {name: m}}")
    assert of_kind(cluster, Queue)["q"].spec.weight == 9
    assert set(of_kind(cluster, Node)) == {"n", "m"}
    assert set(of_kind(cluster.remove("m"), Node)) == {"n"}


@pytest.mark.long
def test_a_cluster_written_out_decides_the_same(tmp_path):
    cluster = hundred().job("b", running={"n": 20})
    file = tmp_path / "cluster.yaml"
    file.write_text(cluster.to_yaml())
    assert Cluster.read(file).run().committed == cluster.run().committed != []


def test_a_cluster_is_created_of_another_one():
    one = hundred()
    made = Cluster(one)
    made.queue("d")
    assert [obj.name for obj in Cluster(one)] == [obj.name for obj in one]
    assert ("d" in of_kind(made, Queue), "d" in of_kind(one, Queue)) == (True, False)


def test_the_calls_that_describe_a_cluster_make_it_again():
    odd = r"""{apiVersion: v1, kind: Node, metadata: {name: n2, annotations:
        {a: "x\\d+\"\"\"y", b: 'tab\t', c: "名字 \U0001F600"}}, status: {allocatable: {cpu: 4}}}"""
    cluster = Cluster().node("n1", cpu="500m", labels={"k": "v"}).queue("a", capability={"cpu": 2})
    for described in (cluster, cluster.copy().add(odd)):
        names = {"Cluster": Cluster}
        exec(described.to_python(), names)
        assert names["cluster"].objects() == described.objects()


@pytest.mark.long
def test_the_configuration_is_the_caller_s():
    conf = "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n"
    cycle = hundred().run(conf)
    assert cycle.rounds == [] and cycle.queues() == [] and len(cycle.committed) == 100
    assert hundred().run(load_conf(conf)).committed == cycle.committed


MISTAKES = [
    (lambda c: c.queue("a", weight=0),
     "Queue a: spec.weight is 0; allowed is a whole number from 1"),
    (lambda c: c.queue("a", weight="2"),
     'Queue a: spec.weight is "2"; allowed is a whole number from 1'),
    (lambda c: c.queue("a", capability="much"),
     'Queue a: spec.capability.cpu is "much"; allowed is a number'),
    (lambda c: c.node("n", cpu="many"),
     'Node n: status.allocatable.cpu is "many"; allowed is a number'),
    (lambda c: c.job("j", pods=-1), "job j: pods is -1; allowed is a whole number from 0"),
    (lambda c: c.job("j", pods=10**9),
     "job j: pods is 1000000000; allowed is a whole number from 0, its running pods, to 50000"),
    (lambda c: c.job("j", pods="3"), 'job j: pods is "3"; allowed is a whole number from 0'),
    (lambda c: c.job("j", running=["n"]),
     "job j: running is a list; allowed is a mapping of names of nodes to numbers of pods"),
    (lambda c: c.job("j", running={1: 1}), "job j: running is a mapping; allowed is"),
    (lambda c: c.job("j", running={"n": -1}),
     "job j: running on n is -1; allowed is a whole number from 0"),
    (lambda c: c.job("j", network_topology={"mod": "hard"}),
     "PodGroup default/j: spec.networkTopology.mod is not known and has no effect; did you mean "
     "mode?"),
    (lambda c: c.add("cluster.yaml"), "cluster.yaml: there is no such file or directory"),
    (lambda c: c.job("j", network_topology=5),
     "PodGroup default/j: spec.networkTopology is 5; allowed is"),
    (lambda c: c.node(""), 'Node : metadata.name is ""; allowed are lower case letters'),
    (lambda c: c.node("A b"), 'Node A b: metadata.name is "A b"; allowed are lower case letters'),
    (lambda c: c.node("n", labels=5), "Node n: metadata.labels is 5; allowed is a mapping"),
    (lambda c: c.node("n", resources={5: 1}),
     "Node n: status.allocatable[5] is 5; allowed is a name of text"),
    (lambda c: c.queue("a", capability=[1]), "Queue a: spec.capability is a list; allowed is"),
    (lambda c: c.add(5), "an object of a cluster is 5; allowed is one that a manifest was read"),
    (lambda c: Cluster("n1"), "n1: there is no such file or directory"),
    (lambda c: c.job("j", pods=2, min_member=1.5),
     "job j: min_member is 1.5; allowed is a whole number from 0"),
    (lambda c: c.job("j", pods=1, cpu="1 core"),
     "Pod default/j: spec.containers[0].resources.requests.cpu is"),
    (lambda c: c.job("j", pods=1, running={"n": 2}),
     "job j: pods is 1; allowed is a whole number from 2, its running pods, to 50000"),
]


@pytest.mark.parametrize(("change", "sentence"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_is_reported_in_one_sentence(change, sentence):
    with pytest.raises(ManifestError) as error:
        change(Cluster()).objects()
    assert str(error.value).startswith(sentence) and "\n" not in str(error.value)


def test_removing_what_is_not_there():
    with pytest.raises(KeyError, match="no object of the name x"):
        Cluster().remove("x")


@pytest.mark.parametrize(("use", "error", "sentence"), [
    (lambda: Cluster().run(5), ConfError, "it is 5; allowed is text or a mapping."),
    (lambda: Cluster().run({"actions": ["allocate"]}), ConfError, "actions (line 1) is a list"),
    (lambda: Cache([5]), TypeError, "an object of a cache is 5; allowed is one that a manifest"),
    (lambda: Scheduler(Cache()).run_once(now=float("nan")), ValueError,
     "now is nan; allowed is a number of seconds since 1970"),
])
def test_a_cycle_says_in_one_sentence_what_it_cannot_take(use, error, sentence):
    with pytest.raises(error) as shown:
        use()
    assert sentence in str(shown.value) and "\n" not in str(shown.value)


def test_a_parent_of_the_root_is_reported():
    cycle = Cluster().queue("a").queue("root", parent="a").run()
    assert [*map(str, doubts(cycle.session))] == [
        'Queue root: spec.parent is "a" and has no effect: allowed is none, the root is above all '
        "other queues."]


def test_jobs_of_manifests_have_their_own_names():
    cluster = Cluster(loads("""
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec: {tasks: [{replicas: 2, template: {spec: {containers: [{name: main}]}}}]}"""))
    assert [(row["job"], row["pods"]) for row in cluster.rows_of("jobs")] == [("default/train", 2)]
    assert "\ntrain  default" in str(cluster)
