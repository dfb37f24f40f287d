"""What lesson 16, "Boss: the morning after", says is so."""

from course.answers.lesson_16 import ONE_TIER
from course.proofs import after


@after("last-03")
def shop_and_crawl_hold_the_gpus(kubectl):
    cycle = kubectl.cycle
    held = {job.name: sum(task.resreq.scalars["nvidia.com/gpu"] for task in job.tasks.values())
            / 1000 for job in cycle.session.jobs.values() if job.name in ("shop", "crawl")}
    assert held == {"shop": 2, "crawl": 6}
    assert all(not node.tasks for name, node in cycle.session.nodes.items() if name > "node-4")


@after("last-08")
def all_are_admitted_and_the_events_are_silent(kubectl):
    for name in ("invoice", "train", "eval"):
        said = kubectl(f"describe podgroup {name}")
        assert "phase: Inqueue" in said and "Events: <none>" in said


@after("last-10")
def the_log_tells_both_refusals(kubectl):
    for pod, queue in (("invoice-7", "prod"), ("eval-0", "root")):
        assert f"Queue <{queue}>: realCapability" in kubectl(f"logs <{pod}>")


@after("last-13")
def reclaim_alone_takes_a_pod_of_shop(only_eval, fairer):
    gone = [pod for operation, pod, _ in only_eval.run(fairer).committed if operation == "evict"]
    assert sorted(pod.rpartition("-")[0] for pod in gone) == ["default/crawl", "default/shop"]


@after("last-16")
def capacity_in_tier_1_keeps_shop(only_eval):
    gone = [pod for operation, pod, _ in only_eval.run(ONE_TIER).committed if operation == "evict"]
    assert [pod.rpartition("-")[0] for pod in gone] == ["default/crawl", "default/crawl"]
