"""resourcequota: whether a job fits its namespace's quotas, by sentences."""

import pytest
from small_cluster import conf, group, node, pod, queue, quota, run

from volcano_lab import Cluster
from volcano_lab.trace.views.jobs import reasons

ROOM = node("n1", cpu="100", memory="100Gi")


def phases(*objects):
    ssn = run(queue(), ROOM, *objects, conf=conf("resourcequota", actions="enqueue"))
    return {job.name: job.pod_group.status.phase for job in ssn.jobs.values()}, ssn


def waiting(name, **min_resources):
    return group(name, phase="Pending",
                 minResources={k.replace("_", "."): v for k, v in min_resources.items()})


@pytest.mark.parametrize(
    ("sentence", "quotas", "asks", "phase"),
    [
        ("no quota", [], {"cpu": "10"}, "Inqueue"),
        ("a quota of another namespace", [quota("q", {"cpu": "1"}, {}, "other")], {"cpu": "10"
                                                                                   }, "Inqueue"),
        ("exactly what is left", [quota("q", {"cpu": "10"}, {"cpu": "7500m"})], {"cpu": "2500m"
                                                                                 }, "Inqueue"),
        ("a thousandth more", [quota("q", {"cpu": "10"}, {"cpu": "7501m"})], {"cpu": "2500m"
                                                                              }, "Pending"),
        ("one resource of two", [quota("q", {"cpu": "10", "memory": "1Gi"}, {})
                                 ], {"cpu": "1", "memory": "2Gi"}, "Pending"),
        ("a resource that isn't limited", [quota("q", {"memory": "1Gi"}, {})], {"cpu": "10"
                                                                                }, "Inqueue"),
        ("limits of requests are names of their own", [quota("q", {"requests.cpu": "1"}, {})
                                                       ], {"cpu": "10"}, "Inqueue"),
        ("and are kept where the job names them", [quota("q", {"requests.cpu": "1"}, {})
                                                   ], {"requests_cpu": "10"}, "Pending"),
        ("one quota of two", [quota("a", {"cpu": "10"}, {}),
                              quota("b", {"cpu": "1"}, {})], {"cpu": "2"}, "Pending"),
        ("more is used than allowed, of what isn't asked for",
         [quota("q", {"cpu": "1", "pods": "1"}, {"pods": "2"})], {"cpu": "1"}, "Inqueue"),
        ("more is used than allowed, and nothing asked for",
         [quota("q", {"cpu": "1"}, {"cpu": "2"})], {"cpu": "0"}, "Pending"),
    ],
)
def test_one_job(sentence, quotas, asks, phase):
    assert phases(*quotas, waiting("a", **asks), pod("a-0", "a"))[0] == {"a": phase}, sentence


def test_the_quota_is_among_the_reasons_of_a_run():
    cycle = Cluster([queue(), ROOM, quota("q", {"cpu": "7"}, {}), waiting("a", cpu="8")]).run(
        conf("resourcequota", actions="enqueue"))
    (job,) = cycle.session.jobs.values()
    assert "not admitted: ResourceQuota q has too little cpu left" in reasons(
        cycle.session, cycle.trace, job)


def test_of_several_quotas_that_are_too_small_the_first_by_name_refuses():
    quotas = [quota("b", {"cpu": "1"}, {}), quota("a", {"memory": "1Gi"}, {})]
    _, ssn = phases(*quotas, waiting("j", cpu="2", memory="2Gi"), pod("j-0", "j"))
    (said,) = [event.message for event in ssn.cache.events if "quota" in event.message]
    assert said == ("resource quota insufficient, requested: memory 2Gi, used: nothing, "
                    "limited: memory 1Gi")


def test_a_job_without_a_minimum_is_admitted():
    quotas = quota("q", {"cpu": "1"}, {"cpu": "1"})
    assert phases(quotas, group("a", phase="Pending"), pod("a-0", "a"))[0] == {"a": "Inqueue"}


def test_jobs_admitted_before_count():
    jobs = [waiting(name, cpu=cpu) for name, cpu in (("a", "4"), ("b", "4"), ("c", "2"))]
    pods = [pod(f"{name}-0", name) for name in "abc"]
    assert phases(quota("q", {"cpu": "7"}, {"cpu": "1"}), *jobs,
                  *pods)[0] == {"a": "Inqueue", "b": "Pending", "c": "Inqueue"}


def test_jobs_of_other_queues_count_in_their_namespace():
    jobs = [waiting("a", cpu="4"), group("b", "other", "Pending", minResources={"cpu": "4"})]
    pods = [pod(f"{name}-0", name) for name in "ab"]
    assert phases(quota("q", {"cpu": "7"}, {}), queue("other"), *jobs,
                  *pods)[0] == {"a": "Inqueue", "b": "Pending"}


def test_the_event_names_the_exceeded_resources():
    _, ssn = phases(quota("q", {"cpu": "3", "memory": "9Gi"}, {"cpu": "2"}),
                    waiting("a", cpu="2", memory="1Gi"), pod("a-0", "a"))
    assert [(e.kind, e.reason, e.message) for e in ssn.cache.events if "quota" in e.message
            ] == [("Normal", "Unschedulable",
                   "resource quota insufficient, requested: cpu 2, used: cpu 2, limited: cpu 3")]
