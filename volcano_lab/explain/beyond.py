"""What decides about a job beyond the cycle: the kubelet, which refuses, starts and ends pods, and
the controllers that create others in their place; the cluster's own last answer about a pod that is
placed here, plugins that the lab does not model or whose data no export has, devices that pods
claim, and parts of Volcano that do not run.

Volcano: none
"""

import re
from collections.abc import Iterable, Iterator
from math import inf
from typing import Any

from volcano_lab.api import BOUND, FAILED, PIPELINED, RUNNING, SUCCEEDED, JobInfo, TaskInfo
from volcano_lab.api.formatting import amount_text
from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup, Queue, VolcanoJob
from volcano_lab.api.quantity import parse
from volcano_lab.api.storage import CLAIM, SELECTED_NODE, WAIT, claims_of, class_of
from volcano_lab.explain.earlier import earlier
from volcano_lab.explain.evidence import OWN, STARTING, Evidence, not_started, unplaced
from volcano_lab.explain.explanation import Cause, moment_text, over, part
from volcano_lab.explain.holders import held_by_strangers
from volcano_lab.explain.lint import unmeasured
from volcano_lab.explain.pages import TABLES
from volcano_lab.manifests.events import EVICT, OF_POD, SCALES
from volcano_lab.manifests.job_controller import CREATING, policy_for
from volcano_lab.manifests.numa import OF_NUMA
from volcano_lab.messages import Message, Said
from volcano_lab.trace.plain import amounts

REFUSED, ONE_NODE = "OutOf", {"ReadWriteOnce", "ReadWriteOncePod"}
ENDED = {"Evicted": "failed.evicted", "UnexpectedAdmissionError": "failed.device",
         "Terminated": "failed.shutdown", "NodeShutdown": "failed.shutdown"}
"""Reasons of the kubelet -> what they mean."""
CLAIMS_ARGUMENT = "predicate.DynamicResourceAllocationEnable"


def failed_causes(seen: Evidence, job: JobInfo, pod: str = "") -> Iterator[Cause]:
    """Yield the status of the first pod that failed, or that of `pod`, what the kubelet means by
    it, and how many more had to succeed, or whether it is created again.
    """
    failed = sorted(job.in_status(FAILED).values(), key=lambda task: (task.key != pod, task.key))
    for task in failed[:1]:
        status = task.pod.status
        message = ": ".join(filter(None, (status.reason, status.message))).rstrip(". ")
        ends = [Message("failed.container", name=each.name, code=end["exitCode"],
                        reason=end.get("reason", "Error")) for each in status.container_statuses
                for end in [each.state.terminated] if end.get("exitCode")]
        said: list[Said] = [Message(ENDED[status.reason])] if status.reason in ENDED else []
        said += _above(seen, task.node_name) if said else ()
        if message.startswith(REFUSED):
            name = message.removeprefix(REFUSED).partition(":")[0].strip()
            others = held_by_strangers(seen, [name], {task.node_name} & seen.ssn.nodes.keys())[0]
            said += [Message("failed.refused"), *others, *[Message("failed.two")] * bool(others)]
        for owner in seen.volcano_jobs(job):
            said += _afterwards(job, owner, task)
        stays = any(getattr(each, "code", "") == "failed.stays" for each in said)
        if message or ends:
            cause = Cause.of("failed", *said, pod=task.key,
                             message=[message] * bool(message) + ends)
            cause.numbers["stuck"] = stays and job.ready_task_num() < job.min_available
            yield cause


def _above(seen: Evidence, name: str) -> Iterator[Message]:
    """Yield that pods request more of a node than it announces now."""
    node = seen.ssn.nodes.get(name)
    more = over(amounts(node.used), amounts(node.allocatable)) if node is not None else {}
    if node is not None and more:
        yield Message("failed.above", node=name, asked=part(amounts(node.used), more),
                      there=part(amounts(node.allocatable), more))


def _afterwards(job: JobInfo, owner: VolcanoJob, task: TaskInfo) -> Iterator[Message]:
    """Yield how many pods of a Job that failed had to succeed, or that no policy creates the failed
    pod of another one again.
    """
    field = "minSuccess" if owner.spec.min_success else "minAvailable"
    done, least = len(job.in_status(SUCCEEDED)), owner.spec.min_success or job.min_available
    if owner.status.state.phase == "Failed" and done < least:
        yield Message("failed.job", n=done, least=least, field=field)
    for spec in owner.spec.tasks if owner.status.state.phase in CREATING else ():
        codes = any(each.exit_code for each in (*spec.policies, *owner.spec.policies))
        if spec.name == task.task_role and not (codes or policy_for(owner, spec, "PodFailed")):
            yield Message("failed.stays", job=owner.key)


def bound_causes(seen: Evidence, job: JobInfo, pod: str = "") -> Iterator[Cause]:
    """Yield the pods that have a node and have not started there, or else do not keep running, and
    what their containers, their Events and their claims say; of `pod` alone where one is asked for.
    """
    for code, status in (("bound", BOUND), ("bound.fails", RUNNING)):
        pods = sorted(job.in_status(status).values(), key=lambda task: task.key)
        pods = [task for task in pods if pod in ("", task.key) and (
            code == "bound" or not_started([task.pod]))]
        if why := not_started(task.pod for task in pods):
            warnings = next(filter(None, (warnings_of(seen, task) for task in pods)), [])
            said = Message(code, n=len(pods), pod=pods[0].key, node=pods[0].node_name, why=why)
            stalled = bool(warnings) or not {*why}.issubset(STARTING)
            yield Cause("bound", [said, *_one_node(seen, pods[0]), *_no_volume(seen, pods[0]),
                                  *warnings, claims_off(seen, pods[0])],
                        {"why": why, "stalled": stalled}, [], True)
            return


def claimed(task: TaskInfo) -> list[str]:
    """The claims of a pod to devices."""
    return [str(claim.get("name", "")) for claim in task.pod.spec.resource_claims]


def claims_off(seen: Evidence, task: TaskInfo) -> Message | None:
    """That plugin predicates does not read the claims of a pod to devices."""
    names, plugin = claimed(task), seen.ssn.plugins.get("predicates")
    if not names or (plugin is not None and plugin.arguments.get_bool(CLAIMS_ARGUMENT, False)):
        return None
    return Message("claims_off", claims=names, argument=CLAIMS_ARGUMENT)


def warnings_of(seen: Evidence, task: TaskInfo, evicted: bool = False) -> list[Message]:
    """The warnings about a pod: those of Volcano's evictions, or the others."""
    return [each for each in _about(seen, task.key) if each.facts["reason"] not in SCALES
            and (each.facts["reason"] == EVICT) == evicted]


def scaled(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield what the autoscaler has said last of a pod that waits."""
    found = [(task.key, each) for task in unplaced(job) for each in _about(seen, task.key)
             if each.facts["reason"] in SCALES]
    if found:
        pod, last = max(found, key=lambda item: item[1].facts["time"])
        facts = {**last.facts, "pod": pod}
        yield Cause("scales", Message(SCALES[last.facts["reason"]], **facts), {}, [], True)


def _about(seen: Evidence, key: str) -> list[Message]:
    """What Events say of a pod, or of a PodGroup whose pods were evicted."""
    return [each for each in seen.not_created.get(OF_POD + key, ()) if isinstance(each, Message)]


def _one_node(seen: Evidence, task: TaskInfo) -> Iterator[Message]:
    """Yield the claims of a pod whose volume only one node has at a time, and that pods on another
    node use.
    """
    used = {claim.name for claim in claims_of(task.pod)}
    for claim in seen.ssn.snapshot.storage.all(CLAIM) if used else ():
        if claim.namespace == task.namespace and claim.name in used and ONE_NODE.issuperset(
                claim.spec.access_modes):
            others = [(other.key, name) for name, node in seen.ssn.nodes.items()
                      for other in node.tasks.values() if name != task.node_name
                      and other.namespace == task.namespace
                      and claim.name in {each.name for each in claims_of(other.pod)}]
            if others:
                yield Message("bound.one_node", claim=claim.key, modes=claim.spec.access_modes,
                              pods=[pod for pod, _ in others],
                              nodes=[*dict.fromkeys(node for _, node in others)])


def _no_volume(seen: Evidence, task: TaskInfo) -> Iterator[Message]:
    """Yield the claims of a pod on its node that have no volume, and who has not created it."""
    storage = seen.ssn.snapshot.storage
    for name, _ in claims_of(task.pod):
        claim = storage.get(CLAIM, f"{task.namespace}/{name}")
        if claim is not None and not claim.is_bound:
            found = storage.class_of(claim)
            untold = found is not None and found.volume_binding_mode == WAIT and (
                SELECTED_NODE not in claim.metadata.annotations)
            code = "lost" if class_of(claim) else "no_class"
            code = "provisioner" if found else code
            code = "untold" if untold else code
            yield Message("bound.no_volume", claim=claim.key, why=Message(
                f"bound.no_volume.{code}", storage_class=class_of(claim), key=SELECTED_NODE,
                provisioner=found.provisioner if found else None))


def evicted_before(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that pods which wait were evicted, and have been created again."""
    found = {task.key: each for task in unplaced(job) for each in warnings_of(seen, task, True)}
    if found:
        pod, last = max(found.items(), key=lambda item: item[1].facts["time"])
        yield Cause.of("evicted_before", context=True, n=len(found), pod=pod, said=last)
    for said in _about(seen, job.pod_group.key) if unplaced(job) and not found else ():
        yield Cause("evicted_before", Message("evicted_before.group", said=said), {}, [], True)


BEYOND = TABLES["beyond"]
NO_REASON = re.compile(TABLES["no_reason"]["text"])
"""In the cluster's answer about a pod: it names no reason against a node."""
FOREIGN = re.compile(TABLES["no_reason"]["foreign"])
"""Likewise: a reason of a plugin that Volcano does not have."""
PARTS, CARDS = "volcano.sh/vgpu-number", "volcano.sh/node-vgpu-register"
"""The resource of parts of cards, and the annotation in which a node lists its cards."""
NUMA_POLICY = "volcano.sh/numa-topology-policy"
SURE = {"beyond.cards.mode": "mode", "beyond.numa.policy": "numa"}
"""What no node has, by the message that says so."""
MEMORY, MODE = "volcano.sh/vgpu-memory", "volcano.sh/vgpu-mode"
COUNTED = re.compile(r"\d+/(\d+) tasks in gang ")
"""How plugin gang says how many pods of a PodGroup the scheduler has seen."""
SOON = 60
"""Seconds after which the scheduler has given a PodGroup a phase."""


def beyond_causes(seen: Evidence, tasks: Iterable[TaskInfo]) -> Iterator[Cause]:
    """Yield what may keep pods waiting in the cluster that this cycle places."""
    for task in [task for task in tasks if task.node_name and seen.is_new(task)][:1]:
        said, off = _last_answer(task), claims_off(seen, task)
        deciding = _deciding(seen, task, said)
        if task.pod.spec.resource_claims and not off:
            deciding["claims"] = claimed(task)
        for plugin, asks in deciding.items():
            by = Message("beyond.claims.name") if plugin == "claims" else Message(
                "beyond.plugin", plugin=plugin)
            more = [_mode(seen, task), _card_memory(seen, task), _cards(seen, task)] if (
                plugin == "deviceshare") else [_numa(seen, task)] * (plugin == "numa-aware")
            what = Message(f"beyond.{plugin if plugin in {*BEYOND, 'claims'} else 'foreign'}")
            found = Cause.of("beyond", what, *more, by=by, pod=task.key, asks=asks or None)
            found.numbers |= _certain([*filter(None, more)])
            yield found
        yield from [Cause("claims_off", off, context=True)] if off else ()
        changed = None if deciding else Message(
            "beyond.changed", how=Message("beyond.pipelined" if task.status == PIPELINED else
                                          "beyond.placed", node=task.node_name),
            version=Message("beyond.version", version=seen.scheduler) if seen.scheduler else None)
        if said or (changed and not off):
            yield from _in_cluster(seen, task, said, changed)


def _in_cluster(seen: Evidence, task: TaskInfo, said: str, changed: Message | None
                ) -> Iterator[Cause]:
    """Yield what the cluster says of a pod, or that it has waited there; where something has
    `changed`, what the release that runs decides otherwise.
    """
    known = earlier(seen, seen.ssn.jobs[task.job]) if changed else []
    more = [*known, *_not_counted(seen, seen.ssn.jobs[task.job]), *filter(None, [changed])]
    answer = Cause.of("beyond_answer", *more, pod=task.key, said=said.strip().rstrip("."))
    for each in [answer] if said else _waited(seen, task, more):
        each.numbers |= {"sure": "earlier", "version": seen.scheduler} if known else {}
        yield each


def _not_counted(seen: Evidence, job: JobInfo) -> Iterator[Message]:
    """Yield that the scheduler that runs counts fewer pods of a PodGroup than were there before."""
    for each in job.pod_group.status.conditions:
        at, found = each.last_transition_time or 0.0, COUNTED.match(each.message or "")
        there = [obj for task in job.tasks.values() for obj in seen.named.get(task.key, ())
                 if (obj.metadata.creation_timestamp or inf) + SOON < at]
        if found and int(found[1]) < len(there):
            yield Message("waited.not_counted", n=int(found[1]), there=len(there),
                          time=moment_text(at))


def _waited(seen: Evidence, task: TaskInfo, changed: list[Message]) -> Iterator[Cause]:
    """Yield that a pod is older than a cycle takes and has no node, or that its PodGroup is and it
    is not created; unless pods are leaving the node to which it is pipelined.
    """
    job = seen.ssn.jobs[task.job]
    leaves = task.status == PIPELINED and any(
        each.pod.metadata.deletion_timestamp
        for each in seen.ssn.nodes[task.node_name].tasks.values())
    pods = [obj for obj in seen.named.get(task.key, ()) if isinstance(obj, Pod)]
    groups = [] if any(each.key in seen.named for each in job.tasks.values()) else [
        obj for obj in seen.named.get(job.pod_group.key, ()) if isinstance(obj, PodGroup)
        and obj.status.phase == "Pending"]
    for obj in () if leaves else (pods or groups):
        since = obj.metadata.creation_timestamp or inf
        if obj.metadata.resource_version and since + SOON < seen.newest:
            yield Cause("waited", [Message("waited" if pods else "waited.group", **{
                "pod": task.key, "group": obj.key, "created": moment_text(since),
                "newest": moment_text(seen.newest)}), *changed])


def _deciding(seen: Evidence, task: TaskInfo, said: str) -> dict[str, list[str]]:
    """The plugins that decide about a pod beyond the lab, with what it requests of them: or else
    one that Volcano does not have, whose reason the cluster gave.
    """
    asked = {plugin: _asks(seen, task, plugin) for plugin in BEYOND
             if plugin in seen.ssn.conf.plugin_names()}
    known = {plugin: asks for plugin, asks in asked.items() if asks or (
        said and not BEYOND[plugin] and (plugin != "usage" or unmeasured(seen.ssn)))}
    foreign = {*seen.ssn.conf.plugin_names()} - {*seen.ssn.plugins, *BEYOND}
    return known or {name: [] for name in sorted(foreign)[:1] if FOREIGN.search(said)}


def idle_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the parts of Volcano that have work of a job and do not run, as none of their pods is
    ready, or have not handled its PodGroup, its Job, or its queue, for longer than a cycle takes.
    """
    tasks = [*job.tasks.values()]
    work = {"no_scheduler": not tasks or any(map(seen.is_new, tasks)),
            "no_controller": not tasks or any(
                key not in seen.named for key in (job.pod_group.key, *(
                    task.key for task in tasks)))}
    for code in OWN.values():
        why: list[Message] = seen.stopped.get(code, [])
        if work[code] and why:
            yield Cause.of(code, why=why)
        elif work[code]:
            yield from _unseen(seen, code, seen.volcano_jobs(job) if code == "no_controller" else (
                seen.named.get(job.pod_group.key, ())))
    if work["no_scheduler"] and not seen.stopped.get("no_controller"):
        yield from _unseen(seen, "no_controller", seen.named.get(job.queue, ()))


def _unseen(seen: Evidence, code: str, own: Iterable[KubernetesObject]) -> Iterator[Cause]:
    """Yield that an object is older than others of the cluster, and has no phase; where a newer one
    has, the scheduler runs.
    """
    for obj in own:
        created = obj.metadata.creation_timestamp
        if created and obj.metadata.resource_version and created + SOON < seen.newest and (
                _phase(obj) is not None and not _phase(obj)):
            facts = {"name": obj.key, "created": moment_text(created),
                     "newest": moment_text(seen.newest), "later": next((
                         each.key for each in seen.given if type(each) is type(obj) and _phase(each)
                         and (each.metadata.creation_timestamp or 0.0) > created), None)}
            if code == "no_scheduler" and not facts["later"]:
                yield Cause.of(code, why=[Message("idle.unseen", **facts)])
            else:
                yield Cause(code, Message(f"{code}.unseen", kind=obj.kind, **facts), {
                    "unseen": True})


def _phase(obj: KubernetesObject) -> str | None:
    """The phase of a PodGroup or of a Volcano Job, the state of a queue, None of others."""
    if isinstance(obj, VolcanoJob):
        return obj.status.state.phase
    if isinstance(obj, Queue):
        return obj.status.state
    return obj.status.phase if isinstance(obj, PodGroup) else None


def _cards(seen: Evidence, task: TaskInfo) -> Message | None:
    """That a container requests parts of several cards of one node, and the most that one has."""
    numbers = {each.name: int(parse(text)) for each in task.pod.spec.containers
               for text in [(each.resources.limits | each.resources.requests).get(PARTS)] if text}
    most = {name: sum("," in card for card in node.node.metadata.annotations[CARDS].split(":"))
            for name, node in seen.ssn.nodes.items() if CARDS in node.node.metadata.annotations}
    name = max(numbers, key=numbers.__getitem__, default="")
    if numbers.get(name, 0) < 2:
        return None
    there = Message("beyond.cards.most", annotation=CARDS, node=max(most, key=most.__getitem__),
                    most=max(most.values())) if most else None
    return Message("beyond.cards", container=name, resource=PARTS, n=numbers[name], there=there)


def _mode(seen: Evidence, task: TaskInfo) -> Message | None:
    """That a pod names a mode of sharing cards in which no node has some."""
    mode = task.pod.metadata.annotations.get(MODE)
    there = {"mig" if card.split(",")[5] == "mig" else "hami-core"
             for node in seen.ssn.nodes.values()
             for card in node.node.metadata.annotations.get(CARDS, "").split(":")
             if card.count(",") > 4}
    return Message("beyond.cards.mode", mode=mode, modes=sorted(there), key=MODE,
                   annotation=CARDS) if mode and there and mode not in there else None


def _card_memory(seen: Evidence, task: TaskInfo) -> Message | None:
    """That a container requests more memory of a card than any card has."""
    asked = max((int(parse(text)) for each in task.pod.spec.containers
                 for text in [(each.resources.limits | each.resources.requests).get(MEMORY)]
                 if text), default=0)
    most = {name: max((int(part) for card in node.node.metadata.annotations[CARDS].split(":")
                       for part in card.split(",")[2:3] if part.isdecimal()), default=0)
            for name, node in seen.ssn.nodes.items() if CARDS in node.node.metadata.annotations}
    name = max(most, key=most.__getitem__, default="")
    return Message("beyond.cards.memory", resource=MEMORY, asked=asked, node=name, most=most[name],
                   annotation=CARDS) if name and asked > most[name] > 0 else None


def _numa(seen: Evidence, task: TaskInfo) -> Message | None:
    """The free CPUs of the nodes that have the NUMA policy of a pod, or that none has."""
    policy = task.pod.metadata.annotations.get(NUMA_POLICY)
    nodes: list[Any] = [said for name in seen.ssn.nodes
                        for said in seen.not_created.get(OF_NUMA + name, ())]
    fit = [Message("numa.free", **said.facts) for said in nodes
           if (said.facts["policy"], said.facts["cpus"]) == (policy, "static")]
    return Message(f"beyond.numa.{'free' if fit else 'policy'}", policy=policy,
                   nodes=fit or nodes) if policy and nodes else None


def _certain(said: list[Message]) -> dict[str, Any]:
    """The facts by which no node has what a pod requests of a plugin, whatever runs there."""
    for each in said:
        if each.code in SURE:
            return {**each.facts, "sure": SURE[each.code]}
        most = each.facts.get("there") or each
        if "most" in most.facts and (each is most or most.facts["most"] < each.facts["n"]):
            return {**each.facts, **most.facts, "sure": "memory" if each is most else "cards"}
    return {}


def decided_by(causes: Iterable[Cause]) -> list[Said]:
    """Return what decides beyond the lab, by the causes that say so."""
    return [said.facts["by"] for cause in causes if cause.code == "beyond"
            for said in cause.sentences if isinstance(said, Message) and "by" in said.facts]


def _last_answer(task: TaskInfo) -> str:
    """The cluster's own reason against placing a pod, "" where it gave none."""
    return next((each.message for each in task.pod.status.conditions
                 if each.type == "PodScheduled" and each.status == "False" and each.message
                 and not NO_REASON.search(each.message)), "")


def _asks(seen: Evidence, task: TaskInfo, plugin: str) -> list[str]:
    """What a pod requests, or has as annotations, for which the plugin alone decides."""
    pattern = re.compile(BEYOND[plugin] or "$^")
    request = seen.trace.start["tasks"][task.key]["request"]
    return [f"{name} {amount_text(name, amount)}" for name, amount in request.items()
            if amount and pattern.search(name)] + [
        f"{key} {value}" for key, value in task.pod.metadata.annotations.items()
        if pattern.search(key) and value != "none"]
