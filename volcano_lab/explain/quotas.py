"""ResourceQuotas: what they lack when they refuse a job or its pods, and the jobs whose pods they
count.

Volcano: none
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, product
from typing import Any

from volcano_lab.api import FAILED, SUCCEEDED, JobInfo, objects as api, pod_sum, quantity
from volcano_lab.explain import holders
from volcano_lab.explain.evidence import Evidence, requested, was_admitted
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.values import sum_of
from volcano_lab.manifests.job_controller import amounts_text, usage
from volcano_lab.manifests.quotas import in_scope
from volcano_lab.messages import Message, Said
from volcano_lab.trace import Record, amounts


def quota_causes(seen: Evidence, job: JobInfo, record: Record) -> Iterator[Cause]:
    """Yield that a ResourceQuota has too little left, and the jobs that use it."""
    kept = {name: [record[what].get(name, "0") for what in ("hard", "used", "pending", "requested")]
            for name in record["short_of"]}
    there = [quota for quota in seen.ssn.snapshot.resource_quotas.get(job.namespace, ())
             if quota.name == record["quota"]]
    own = {name: amount for name, amount in _own_used(seen, job, there).items()
           if name in kept and 0 < amount <= quantity.parse(kept[name][1])}
    sums = [Message("resource_quota.sum", resource=name, hard=hard, used=used, pending=pending,
                    asked=asked, own=Message("resource_quota.own", amount=quantity.to_text(
                        own[name], quantity.style_of(used))) if name in own else None)
            for name, (hard, used, pending, asked) in kept.items()]
    lacking = {name: sum_of([*each[1:], f"-{each[0]}"], each[0]) for name, each in kept.items()}
    beyond = [quota.key for quota in there if job.tasks and not any(
        in_scope(task.pod.spec, quota) for task in job.tasks.values())]
    yield Cause("resource_quota", [
        Message("resource_quota", quota=record["quota"], names=[*kept], sums=sums),
        *(Message("resource_quota.scopes", quota=key) for key in beyond)], {
            "quota": f"{job.namespace}/{record['quota']}",
            "short": [*map(" ".join, lacking.items())], "twice": all(
                own.get(name, 0) >= quantity.parse(text) for name, text in lacking.items()),
            "wanted": [(name, sum_of(each[1:], each[0])) for name, each in kept.items()],
            "scoped": beyond, "counted": [record["quota"]] * bool(job.tasks)}, [record])
    said, users = quota_users(seen, job, kept, record)
    yield from [Cause("quota_used", said, {"holders": users}, [], True)] if said else ()


def _own_used(seen: Evidence, job: JobInfo, quotas: Iterable[api.ResourceQuota]) -> pod_sum.Amounts:
    """Return what a quota counts of the job's own pods, which exist."""
    own: pod_sum.Amounts = {}
    for quota, task in product(quotas, job.tasks.values()):
        if task.key in seen.named and in_scope(task.pod.spec, quota):
            pod_sum.add(own, usage(task.pod.spec, {}))
    return own


def refused_by_quota(seen: Evidence, job: JobInfo, said: Message, refusal: Mapping[str, Any],
                     missing: int) -> Cause:
    """Return that a ResourceQuota refuses pods: who uses it, and who waits for it, too."""
    quota, enough = refusal["quota"], len(job.tasks) >= max(job.min_available, 1)
    used, users = quota_users(seen, job, refusal["wanted"])
    stuck = [uid for uid in users if seen.ssn.jobs[uid].valid_task_num() < seen.ssn.jobs[
        uid].min_available and quota in [
            refusal_of(each).get("quota") for each in seen.not_created.get(seen.called(uid), ())]]
    both = Message("not_created.each_other", jobs=[*map(seen.called, [job.uid, *stuck])],
                   quota=quota) if stuck and job.tasks and not enough else None
    waits = Message("not_created.waits", quota=quota) if refusal["tries"] and not (
        job.tasks or "resourcequota" in seen.ssn.plugins) else None
    return Cause("pods_refused", [said, waits, used, both], {
        "quota": quota, "short": refusal["short"], "holders": users, "stuck": stuck,
        "ends": bool(refusal["tries"]), "wanted": [*refusal["wanted"].items()],
        **refusal["sums"][0].facts, "pods": len(job.tasks) + missing,
        "for_all": [*wanted_by_all(seen, refusal).items()]}, [], enough)


def refusal_of(why: Said) -> Mapping[str, Any]:
    """Return what a ResourceQuota that refuses pods lacks; empty where another reason keeps them
    from being created.
    """
    by = why.facts.get("quota") if isinstance(why, Message) else None
    return by.facts if isinstance(by, Message) and "wanted" in by.facts else {}


def wanted_by_all(seen: Evidence, refusal: Mapping[str, Any]) -> dict[str, str]:
    """Return what a ResourceQuota has to allow so that the pods of all owners are created, not
    only those of one.
    """
    total = pod_sum.parsed(refusal["wanted"])
    for other in map(refusal_of, chain.from_iterable(seen.not_created.values())):
        if other is not refusal and other.get("quota") == refusal["quota"]:
            lacks, used = pod_sum.parsed(other["wanted"]), pod_sum.parsed(other["used"])
            total |= {name: total[name] + lacks[name] - used[name] for name in total.keys() & lacks}
    return amounts_text(total, {name: quantity.style_of(text)
                                for name, text in refusal["wanted"].items()})


def quota_users(seen: Evidence, job: JobInfo, names: Collection[str],
                refusal: Record | None = None) -> tuple[Message | None, list[str]]:
    """Return the other jobs of a namespace whose pods a ResourceQuota counts for some of its
    resources, also pods that wait, and for count/pods those that have ended, or of which the
    minimum is counted as they were admitted before a refusal; and their uids.
    """
    past = "count/pods" in names
    waits = {obj.key for obj in seen.given if isinstance(obj, api.PodGroup)
             and obj.status.phase in ("", "Pending")}  # which have no new pods in the cluster
    used = {uid: requested(task for task in other.tasks.values() if (
        past or task.status not in (FAILED, SUCCEEDED)) and (
        uid not in waits or task.key in seen.named)) for uid, other in seen.ssn.jobs.items()
            if other is not job and other.namespace == job.namespace}
    used |= {uid: amounts(seen.ssn.jobs[uid].get_min_resources()) for uid in used
             if not used[uid] and refusal and any(
                 each.number < refusal.number for each in seen.of("enqueued", job=uid))}
    counted = [name.removeprefix("requests.").removeprefix("count/") for name in names]
    about = partial(holders.standing, seen, refusal) if refusal else partial(
        holders.waiting_pods, job, past=past)
    return holders.held_by(seen, "held_by.used", used, counted, about), holders.largest(
        used, counted)


def quota_counts(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the ResourceQuotas that count pods which exist though their job is not admitted."""
    pods = [] if seen.brief or was_admitted(seen, job) else [
        task for task in job.tasks.values() if task.key in seen.named]
    quotas = [each.key for each in seen.ssn.snapshot.resource_quotas.get(job.namespace, ()) if any(
        name.removeprefix("requests.").removeprefix("limits.") in requested(pods)
        for name in each.spec.hard)]
    if quotas:
        yield Cause.of("quota_counts", context=True, n=len(pods), quotas=quotas)
