"""The quality-of-service class of a pod against Kubernetes' definition, container by container."""

import pytest

from volcano_lab.api.objects import Container, ObjectMeta, Pod, PodSpec, ResourceRequirements
from volcano_lab.plugins.kube.qos import qos_class

NONE = ({}, {})
ZERO = ({"cpu": "0"}, {"memory": "0"})
SOME = ({"cpu": "1"}, {})
LIMITED = ({}, {"cpu": "1", "memory": "1Gi"})
HALF = ({"cpu": "1"}, {"cpu": "1"})
FULL = ({"cpu": "1", "memory": "1Gi"}, {"cpu": "1000m", "memory": "1024Mi"})
LESS = ({"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"})
DEVICE = ({"nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "1"})


@pytest.mark.parametrize(("containers", "init", "whole", "expected"), [
    ([NONE], [], None, "BestEffort"), ([ZERO], [], None, "BestEffort"),
    ([DEVICE], [], None, "BestEffort"), ([SOME], [], None, "Burstable"),
    ([LIMITED], [], None, "Burstable"), ([HALF], [], None, "Burstable"),
    ([LESS], [], None, "Burstable"), ([FULL], [], None, "Guaranteed"),
    ([FULL, FULL], [FULL], None, "Guaranteed"), ([HALF, FULL], [], None, "Burstable"),
    ([FULL, HALF], [], None, "Burstable"), ([FULL, NONE], [], None, "Burstable"),
    ([FULL], [NONE], None, "Burstable"), ([NONE], [SOME], None, "Burstable"),
    ([NONE], [], FULL, "Guaranteed"), ([FULL], [], HALF, "Burstable"),
    ([FULL], [FULL], NONE, "BestEffort")])
def test_the_class_of_a_pod(containers, init, whole, expected):
    """Every container, init containers too, has limits of both that equal its requests, or the
    pod's own requests and limits, which replace theirs, do.
    """
    both = [[Container(resources=ResourceRequirements(*each)) for each in some]
            for some in (containers, init)]
    spec = PodSpec(both[0], init_containers=both[1],
                   resources=whole and ResourceRequirements(*whole))
    assert qos_class(Pod(ObjectMeta("p"), spec)) == expected
