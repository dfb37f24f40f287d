"""Each CSI volume of a pod is a resource: requested by the pod, offered by its node's CSINode."""

import pytest
from attrs import evolve
from kube_scene import node
from storage import claim, claims, csi_node, klass, volume

from volcano_lab import Cluster
from volcano_lab.api.objects import OwnerReference
from volcano_lab.api.storage import attach_key
from volcano_lab.api.task import TaskInfo
from volcano_lab.cache import Cache
from volcano_lab.cache.api_server import ApiServer
from volcano_lab.cache.binding import BindingPipeline
from volcano_lab.cache.informer import Informer
from volcano_lab.changes import change_conf
from volcano_lab.framework.config.conf import DEFAULT_CONF, load_conf
from volcano_lab.framework.session import BindContext
from volcano_lab.scheduler import Scheduler

EBS, LOCAL = "ebs.csi.aws.com", "kubernetes.io/no-provisioner"
PODS = [claims("a", name="p0", scheduler_name="volcano"),
        claims("b", name="p1", scheduler_name="volcano")]


def placed(*objects, conf=None):
    cache = Cluster([node("n1"), claim("a"), claim("b"), *objects, *PODS]).cache()
    Scheduler(cache, conf).run_once()
    return len(cache.bind_contexts)


def ignoring(*names):
    return f"{DEFAULT_CONF}ignored-provisioners: {', '.join(names)}\n"


@pytest.mark.parametrize(("provisioner", "there", "conf", "count"), [
    (EBS, [], None, 0),
    (EBS, [csi_node("n1", **{EBS: 1})], None, 1),
    (EBS, [csi_node("n1", **{EBS: 0})], None, 0),
    (EBS, [csi_node("n1", **{EBS: None})], None, 2),
    (EBS, [csi_node("n2", **{EBS: None})], None, 0),
    (EBS, [], ignoring(EBS), 2),
    (EBS, [], ignoring(LOCAL), 0),
    ("rancher.io/local-path", [], None, 2),
    (LOCAL, [volume("one"), volume("two")], None, 0),
    (LOCAL, [volume("one"), volume("two")], ignoring("x", LOCAL), 2),
])
def test_a_pod_needs_a_node_whose_csi_node_offers_its_volumes(provisioner, there, conf, count):
    assert placed(klass(provisioner=provisioner), *there, conf=conf) == count


def request_of(pod, *objects):
    cache = Cache(objects)
    return {name: amount for name, amount in cache.new_task(pod).resreq
            if name.startswith("attachable-")}


@pytest.mark.parametrize(("objects", "drivers"), [
    ([], {}),
    ([claim(), klass(provisioner=EBS)], {EBS: 1}),
    ([claim(), evolve(klass(provisioner="p"), parameters={
        "csi.storage.k8s.io/csi-driver-name": EBS})], {EBS: 1}),
    ([claim()], {}),
    ([claim(klass=""), klass(provisioner=EBS)], {}),
    ([claim(volume="disk"), volume(driver="d"), klass(provisioner=EBS)], {"d": 1}),
    ([claim(volume="disk"), volume(), klass(provisioner=EBS)], {}),
    ([claim(volume="disk"), klass(provisioner=EBS)], {EBS: 1}),
])
def test_a_claim_counts_for_the_driver_of_its_volume_or_else_of_its_class(objects, drivers):
    assert request_of(claims("data"), *objects) == {
        attach_key(driver): count for driver, count in drivers.items()}


def test_volumes_of_one_driver_are_added_up_and_none_counts_while_a_claim_is_missing():
    both, known = claims("data", "more"), [claim(), klass(provisioner=EBS)]
    assert request_of(both, *known, claim("more")) == {attach_key(EBS): 2}
    assert request_of(both, *known) == {}


def test_an_ephemeral_volume_counts_once_its_claim_is_the_pods():
    pod = claims().changed(spec={"volumes": [{"name": "tmp", "ephemeral": {}}]})
    other, own = claim("p-tmp"), claim("p-tmp").changed(metadata={"owner_references": [
        OwnerReference("v1", "Pod", "p", pod.metadata.uid, controller=True)]})
    assert request_of(pod, other, klass(provisioner=EBS)) == {}
    assert request_of(pod, own, klass(provisioner=EBS)) == {attach_key(EBS): 1}


def test_a_long_drivers_name_is_cut_as_resource_names_are():
    assert attach_key("d" * 39) == f"attachable-volumes-csi-{'d' * 39}"
    assert attach_key("d" * 40) == f"attachable-volumes-csi-{'d' * 23}4e99f0e6374ba7bf"


def test_the_order_in_which_objects_are_heard_of_does_not_matter():
    objects = Cluster([node("n1"), claim("a"), claim("b"), klass(provisioner=EBS),
                       csi_node("n1", **{EBS: 1}), *PODS]).objects()
    for order in (objects, objects[::-1]):
        cache = Cache(order)
        ssn = Scheduler(cache).run_once()
        assert len(cache.bind_contexts) == 1
        assert ssn.nodes["n1"].allocatable.get(attach_key(EBS)) == 1
        assert ssn.nodes["n1"].used.get(attach_key(EBS)) == 1


def test_what_is_offered_follows_the_csi_node_and_what_is_ignored_the_configuration():
    cache = Cluster([node("n1"), claim("a"), claim("b"), klass(provisioner=EBS), *PODS]).cache()
    assert not Scheduler(cache).run_once().committed
    cache.add(csi_node("n1", **{EBS: 1}))
    assert cache.snapshot().nodes["n1"].allocatable.get(attach_key(EBS)) == 1
    cache.delete(csi_node("n1"))
    assert cache.snapshot().nodes["n1"].allocatable.get(attach_key(EBS)) == 0
    conf = change_conf(load_conf(), [f"conf/ignored-provisioners={EBS}"])
    assert len(Scheduler(cache, conf).run_once().committed) == 2
    assert cache.snapshot().nodes["n1"].used.get(attach_key(EBS)) == 0


def test_volumes_of_a_claim_that_is_gone_count_no_more():
    cache = Cluster([node("n1"), claim("a"), claim("b"), klass(provisioner=EBS),
                     csi_node("n1", **{EBS: 2}), *PODS]).cache()
    cache.snapshot()
    cache.delete(claim("a"))
    requested = [task.resreq.get(attach_key(EBS)) for job in cache.snapshot().jobs.values()
                 for task in job.tasks.values()]
    assert sorted(requested) == [0, 1]


def test_a_pod_that_asks_only_for_a_volume_is_not_best_effort():
    pod = claims("data").changed(spec={"containers": []})
    assert Cache([claim()]).new_task(pod).best_effort
    assert not Cache([claim(), klass(provisioner=EBS)]).new_task(pod).best_effort


@pytest.mark.parametrize("phase", ["", "Running"])
def test_a_pod_keeps_its_node_when_its_volumes_are_counted_again(phase):
    """Its claim's class is known only once it has a node: it is being bound, or runs."""
    cluster = Cluster([node("n1"), csi_node("n1", **{EBS: 1})]).job("j", cpu=1)
    given = next(obj for obj in cluster.objects() if obj.kind == "Pod").changed(
        spec={"volumes": PODS[0].spec.volumes})
    cache = Cache([*(obj for obj in cluster.objects() if obj.kind != "Pod"), given])
    cache.add(klass(provisioner=EBS))
    assert cache.snapshot().jobs["default/j"].total_request.get(attach_key(EBS)) == 0
    if phase:
        cache.add(given.changed(spec={"node_name": "n1"}, status={"phase": phase}))
    else:
        cache.add_bind_task(BindContext(TaskInfo(given.changed(spec={"node_name": "n1"}))))
    cache.add(claim("a", namespace="default"))
    cache.count_volumes()
    (there,), own = cache.nodes["n1"].tasks.values(), cache.task_of(given)
    assert there.node_name == own.node_name == "n1"
    assert str(there.status) == str(own.status) == (phase or "Binding")
    assert cache.nodes["n1"].used.get(attach_key(EBS)) == 1


@pytest.mark.parametrize("gone", [False, True])
def test_no_volume_is_created_for_a_pod_whose_node_has_gone_meanwhile(gone):
    server, informer = ApiServer(), Informer(Cache())
    server.watchers.append(informer.handle)
    pipeline = BindingPipeline(informer, server)
    for obj in Cluster([node("n1"), claim("a"), klass(provisioner=EBS),
                        csi_node("n1", **{EBS: 1}), PODS[0]]).objects():
        server.create(obj)
    Scheduler(informer.cache, DEFAULT_CONF).run_once()
    if gone:
        server.delete("Node", "n1")
    pipeline.drain()
    assert server.find("PersistentVolumeClaim", "default/a").is_bound is not gone
