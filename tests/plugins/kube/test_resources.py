"""A pod's requests as Kubernetes counts them, and the scores by a node's utilization."""

import pytest
from attrs import evolve

from volcano_lab.api.objects import (
    Container,
    ContainerStatus,
    ObjectMeta,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    ResourceRequirements,
)
from volcano_lab.plugins.kube import resources

MB200 = 200 * 1024 * 1024


def container(cpu: str = "", restart: str | None = None, name: str = "c", **more: str) -> Container:
    requests = {**({"cpu": cpu} if cpu else {}), **more}
    return Container(name, resources=ResourceRequirements(requests), restart_policy=restart)


def a_pod(*containers: Container, init: tuple[Container, ...] = (), **spec) -> Pod:
    return Pod(ObjectMeta("p", "default", "u"), PodSpec(list(containers), list(init), **spec))


@pytest.mark.parametrize(
    ("sentence", "one", "cpu", "cpu_with_defaults"),
    [
        ("containers add up", a_pod(container("1"), container("500m")), 1500, 1500),
        ("parts of a millicore are rounded up once, in sum",
         a_pod(container("100u"), container("100u")), 1, 1),
        ("a container that asks for nothing counts 100m in scores",
         a_pod(container(), container("1")), 1000, 1100),
        ("one that asks for zero counts zero", a_pod(container("0")), 0, 0),
        ("an init container counts where it needs more",
         a_pod(container("1"), init=(container("3"), )), 3000, 3000),
        ("and not where it needs less", a_pod(container("2"), init=(container("1"), )), 2000, 2000),
        ("a sidecar runs beside the containers",
         a_pod(container("1"), init=(container("1", "Always"), )), 2000, 2000),
        (
            "and beside the init containers after it",
            a_pod(container("1"), init=(container("1", "Always"), container("3"))),
            4000,
            4000,
        ),
        (
            "but not beside those before it",
            a_pod(container("1"), init=(container("3"), container("1", "Always"))),
            3000,
            3000,
        ),
        ("overhead comes on top", a_pod(container("1"), overhead={"cpu": "250m"}), 1250, 1250),
    ],
)
def test_the_requests_of_a_pod(sentence, one, cpu, cpu_with_defaults):
    requests = resources.pod_requests(one)
    assert dict(requests.asked).get("cpu", 0) == dict(requests.counted).get("cpu",
                                                                            0) == cpu, sentence
    assert requests.asked_non_zero[0] == requests.counted_non_zero[0] == cpu_with_defaults, sentence


def test_a_pods_own_resources_count_on_its_node_and_not_in_its_score():
    one = a_pod(container("1"), container(), resources=ResourceRequirements({"cpu": "4"}))
    requests = resources.pod_requests(one)
    assert dict(requests.counted) == {"cpu": 4000} and dict(requests.asked) == {"cpu": 1000}
    # CPU is set for the whole pod, so no default is added for it; memory is set nowhere
    assert requests.counted_non_zero == (4000, 2 * MB200) and requests.asked_non_zero == (1100,
                                                                                          2 * MB200)


@pytest.mark.parametrize(("name", "counted"), [
    ("cpu", True), ("memory", True), ("hugepages-2Mi", True), ("nvidia.com/gpu", False),
    ("ephemeral-storage", False)])
def test_a_pods_own_amounts_are_of_cpu_memory_and_huge_pages(name, counted):
    one = a_pod(container("1"), resources=ResourceRequirements({name: "4"}))
    assert (name in dict(resources.pod_requests(one).counted)) == (counted or name == "cpu")


@pytest.mark.parametrize(("restart", "cpu"), [(None, 2000), ("Always", 5000)])
def test_of_init_containers_only_those_that_go_on_are_counted_as_they_are_resized(restart, cpu):
    one = a_pod(container("1"), init=(container("2", restart, "i"),))
    status = ContainerStatus("i", resources=ResourceRequirements({"cpu": "4"}))
    resized = evolve(one, status=PodStatus(init_container_statuses=[status],
                                           container_statuses=[ContainerStatus("c")]))
    assert dict(resources.pod_requests(resized).counted) == {"cpu": cpu}


def test_while_a_container_is_resized_the_highest_of_its_amounts_counts_on_its_node():
    one = a_pod(container("1"))
    status = ContainerStatus("c", allocated_resources={"cpu": "2"},
                             resources=ResourceRequirements({"cpu": "3"}))
    resizing = evolve(one, status=PodStatus(container_statuses=[status]))
    assert dict(resources.pod_requests(resizing).counted) == {"cpu": 3000}
    assert dict(resources.pod_requests(resizing).asked) == {"cpu": 1000}
    grown = evolve(resizing, spec=PodSpec([container("9")]))
    assert dict(resources.pod_requests(grown).counted) == {"cpu": 9000}
    pending = PodCondition("PodResizePending", "True", "Infeasible")
    refused = evolve(grown, status=evolve(grown.status, conditions=[pending]))
    assert dict(resources.pod_requests(refused).counted) == {"cpu": 3000}


@pytest.mark.parametrize(
    ("sentence", "requested", "allocatable", "least", "most", "balanced"),
    [
        ("an empty node", (0, 0), (4000, 100), 100, 0, 100),
        ("a full node", (4000, 100), (4000, 100), 0, 100, 100),
        ("half of one, none of the other", (2000, 0), (4000, 100), 75, 25, 75),
        ("each part is rounded down before the mean is", (1, 1), (3, 3), 66, 33, 100),
        ("what would be exceeded leaves nothing free and counts as full", (5000, 0),
         (4000, 100), 50, 50, 50),
        ("a resource that the node lacks is left out", (1000, 50), (4000, 0), 75, 25, 100),
        ("a node that has nothing", (1, 1), (0, 0), 0, 0, 100),
        ("three resources: the standard deviation", (4000, 0, 0), (4000, 100, 2), 66, 33, 52),
    ],
)
def test_scores(sentence, requested, allocatable, least, most, balanced):
    assert resources.least_allocated(requested, allocatable) == least, sentence
    assert resources.most_allocated(requested, allocatable) == most, sentence
    assert resources.balanced_allocation(requested, allocatable) == balanced, sentence
