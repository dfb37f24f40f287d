"""Whatever a cluster is like: no pod lands where it has not the volumes that it claims, and no
volume is given twice.
"""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from kube_scene import node
from storage import claim, claims, csi_node, klass, volume

from volcano_lab import Cluster
from volcano_lab.api.objects import PodGroup, PodGroupSpec
from volcano_lab.api.objects.meta import ObjectMeta
from volcano_lab.scheduler import Scheduler

ZONES, LIMIT = "abc", 2
GROUP = "scheduling.k8s.io/group-name"
zones = st.sets(st.sampled_from(ZONES), min_size=1).map(sorted).map(",".join)
bound = st.tuples(st.just("bound"), zones)
waiting = st.tuples(st.sampled_from(["free", "made"]), st.just(""))


@st.composite
def clusters(draw):
    """Nodes in zones, gangs of which each pod has a claim of its own, and free volumes."""
    there = [node(f"n{number}", zone=draw(st.sampled_from(ZONES)), cpu="3")
             for number in range(draw(st.integers(1, 6)))]
    there += [csi_node(each.name, disk=LIMIT) for each in there if draw(st.booleans())]
    there += [klass("free"), klass("made", "disk", zone=draw(zones))]
    there += [volume(f"free-{number}", draw(st.sampled_from(["4Gi", "6Gi"])), "free",
                     zone=draw(zones)) for number in range(draw(st.integers(0, 4)))]
    for number in range(draw(st.integers(1, 4))):
        gang, wishes = f"g{number}", draw(st.lists(bound | waiting, min_size=1, max_size=4))
        least = draw(st.integers(1, len(wishes)))
        there.append(PodGroup(ObjectMeta(gang, "default"), PodGroupSpec(least, queue="default")))
        for rank, (kind, where) in enumerate(wishes):
            name = f"{gang}-{rank}"
            if kind == "bound":
                there += [claim(name, volume=f"v-{name}"),
                          volume(f"v-{name}", driver="disk", kept_for=name, zone=where)]
            else:
                there.append(claim(name, klass=kind))
            there.append(claims(name, name=name, scheduler_name="volcano",
                                annotations={GROUP: gang}))
    return there


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters())
def test_pods_are_placed_where_their_volumes_are(objects):
    cache = Cluster(objects).cache()
    session = Scheduler(cache).run_once()
    assert session.committed == Scheduler(Cluster(objects).cache()).run_once(
        arrays=False).committed
    assert len(session.jobs) == sum(isinstance(obj, PodGroup) for obj in objects)
    there = {(obj.kind, obj.name): obj for obj in objects}
    allowed = there["StorageClass", "made"].allowed_topologies[0].match_label_expressions[0].values
    taken, on_node = Counter(), Counter()
    for context in cache.bind_contexts:
        name, labels = context.task.name, there["Node", context.task.node_name].metadata.labels
        wanted = there["PersistentVolumeClaim", name].spec
        if wanted.storage_class_name == "made":
            assert labels["zone"] in allowed
            on_node[context.task.node_name] += 1
            continue
        found = [obj for obj in cache.storage.all("PersistentVolume")
                 if obj.spec.claim_ref is not None and obj.spec.claim_ref.name == name]
        assert len(found) == 1
        taken[found[0].name] += 1
        on_node[context.task.node_name] += found[0].spec.csi is not None
        terms = found[0].spec.node_affinity.required.node_selector_terms
        assert labels["zone"] in terms[0].match_expressions[0].values
    assert all(count == 1 for count in taken.values())
    assert all(on_node[name] <= LIMIT for kind, name in there if kind == "CSINode")
