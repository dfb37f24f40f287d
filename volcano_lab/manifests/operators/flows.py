"""Objects that operators create for objects: Jobs of a JobSet, a CronJob, a JobFlow or a TrainJob,
the first steps of an Argo Workflow.

Objects created only after others have run or ended are not created, and named in a sentence.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain, product
from typing import Any

from volcano_lab.api import objects as api
from volcano_lab.manifests.files import Unreadable, values as documents
from volcano_lab.manifests.misfits import Misfits
from volcano_lab.manifests.names import generated, series
from volcano_lab.manifests.operators import model
from volcano_lab.manifests.operators.model import Created, Gang, Part, Reading, Role, at, items
from volcano_lab.manifests.operators.spark import merged
from volcano_lab.manifests.schema import structure
from volcano_lab.messages import Message
from volcano_lab.trace.plain import grouped

ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
MOST_STEPS = 50
"""The maximum depth of template calls in a Workflow."""
INHERITED = ("nodeSelector", "tolerations", "affinity", "schedulerName", "priorityClassName")
"""Fields that pods inherit from the Workflow where their template has none."""
STEP = ("source", "dependencies")
"""Fields of a script, and of a container in a set, that containers of pods do not have."""
Values = dict[str, str]
_GAP = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")


def _beside(read: Reading) -> list[api.KubernetesObject]:
    """Return the objects in its namespace."""
    return [obj for obj in read.objects
            if (obj.namespace or "default") == (read.obj.namespace or "default")]


def _phases(read: Reading, *some: str) -> dict[str, str]:
    """Return the Volcano Jobs in its namespace that have one of some phases (unset: all)."""
    return {each.name: each.status.state.phase for each in _beside(read) if isinstance(
        each, api.VolcanoJob) and (not some or each.status.state.phase in some)}


def _jobs_later(read: Reading, names: list[str], never: Iterable[str] = ()) -> list[Message]:
    """Return which Jobs do not exist and are created later, but for those that `never` are."""
    there = {obj.name for obj in _beside(read) if obj.kind == "Job"} | {*never}
    names = [name for name in names if name not in there]
    return [Message("not_created.later", n=len(names), names=names)] if names else []


# -- Kubernetes' own Jobs ----------------------------------------------------------------------

def job_set(read: Reading) -> Created:
    """Return the Jobs of each replicated job, but for those that wait for others."""
    created, later = Created(), []
    in_order = read.at("startupPolicy.startupPolicyOrder") == "InOrder"
    for number, replicated in enumerate(read.items("replicatedJobs")):
        name, spec = str(replicated.at("name", "")), replicated.read(
            api.WorkloadSpec, "template.spec")
        labels = {"jobset.sigs.k8s.io/jobset-name": read.name,
                  "jobset.sigs.k8s.io/replicatedjob-name": name}
        metadata = spec.template.metadata
        spec = spec.evolve(template=spec.template.evolve(metadata=metadata.evolve(
            labels=metadata.labels | labels)))
        jobs = [api.BatchJob(read.obj.owned(f"{read.name}-{name}-{index}",
                                            replicated.at("template.metadata")), spec)
                for index in range(replicated.count("replicas"))]
        if replicated.at("dependsOn") or (in_order and number):
            later += [job.name for job in jobs]
        else:
            created.objects += jobs
    created.sentences = _jobs_later(read, later)
    return created


def cron_job(read: Reading) -> Created:
    """Return one Job, as its schedule creates it; Kubernetes' own or Volcano's."""
    of_volcano = read.obj.api_version.startswith("batch.volcano.sh")
    cls, parts = ((api.VolcanoJob, api.VolcanoJobSpec) if of_volcano
                  else (api.BatchJob, api.WorkloadSpec))
    metadata = read.obj.owned(f"{read.name}-1", read.at("jobTemplate.metadata"))
    forbids = read.at("concurrencyPolicy") == "Forbid"
    active = [each.get("name") for each in items(read.obj.status, "active") if forbids]
    return Created([cls(metadata, read.read(parts, "jobTemplate.spec"))], sentences=[
        Message("not_created.later.active", job=name)
        for name in _phases(read, "Aborted") if name in active])


def scheduled(read: Reading) -> Created:
    """Return one object, of the kind whose name follows in its own, as its schedule creates it."""
    kind = read.obj.kind.removeprefix("Scheduled").removeprefix("Cron")
    cls = model.KINDS[read.obj.api_versions[0].rpartition("/")[0], kind]
    metadata = read.obj.owned(f"{read.name}-1", read.at("workflowMetadata"))
    return Created([cls(metadata, read.obj.api_version, read.at(read.where, {}))])


def _before(read: Reading) -> dict[str, list[str]]:
    """Return the Jobs of a JobFlow with those that each depends on."""
    return {f"{read.name}-{flow.at('name', '')}": [f"{read.name}-{each}" for each in targets]
            for flow in read.items("flows") for some in [flow.at("dependsOn.targets")]
            for targets in [some if isinstance(some, list) else []]}


def _needed(before: dict[str, list[str]]) -> dict[str, set[str]]:
    """Return the Jobs that each depends on, also through others.

    >>> [sorted(some) for some in _needed({"a": ["b"], "b": ["a"], "c": ["b"], "d": []}).values()]
    [['a', 'b'], ['a', 'b'], ['a', 'b'], []]
    """
    needed = {job: {*some} for job, some in before.items()}
    for middle, job in product(needed, needed):  # as Warshall does
        if middle in needed[job]:
            needed[job] |= needed[middle]
    return needed


def _never(read: Reading, there: Iterable[str], failed: dict[str, str]
           ) -> dict[tuple[str, ...], Message]:
    """Return which Jobs of a JobFlow are never created, and why: they depend on one that has
    failed, or on themselves.
    """
    needed = _needed({job: [] if job in there else some for job, some in _before(read).items()})
    circle = [job for job in needed if job in needed[job]]
    names = [job for job in needed if needed[job].intersection(circle)]
    found = {(*names,): Message("not_created.later.circle", names=names, jobs=circle)
             } if names else {}
    dead = grouped((tuple(f"{each} ({why})" for each, why in failed.items()
                          if each in needed[job]), job) for job in needed if job not in names)
    return found | {(*some,): Message("not_created.later.never", n=len(some), names=some,
                                      jobs=[*jobs]) for jobs, some in dead.items() if jobs}


def job_flow(read: Reading) -> Created:
    """Return the Volcano Jobs of the flows without dependencies, after their JobTemplates."""
    templates = {each.name: each for each in _beside(read)
                 if isinstance(each, model.OperatorObject) and each.kind == "JobTemplate"}
    there, failed = _phases(read), _phases(read, "Failed", "Terminated")
    never = _never(read, there, failed)
    created, later = Created(sentences=[*never.values()]), list[str]()
    for flow in read.items("flows"):
        name = str(flow.at("name", ""))
        job, targets = f"{read.name}-{name}", flow.at("dependsOn.targets")
        if targets:
            later.append(job)
        elif name in templates:
            spec = merged(templates[name].spec, flow.at("patch.jobSpec", {}))
            created.objects.append(api.VolcanoJob(
                read.obj.owned(job), flow.read(api.VolcanoJobSpec, "patch.jobSpec", spec)))
        elif job not in there:
            spaces = [each.namespace or "default" for each in read.objects
                      if each.kind == "JobTemplate" and each.name == name]
            created.sentences.append(Message("not_created.later.template", names=[job],
                                             template=name, spaces=spaces or None))
    created.sentences += _jobs_later(read, later, chain(*never))
    return created


# -- Trainer -----------------------------------------------------------------------------------

def train_job(read: Reading) -> list[Gang] | None:
    """Return a gang of all pods, after the named runtime; None if that is not given."""
    kind = read.at("runtimeRef.kind", "ClusterTrainingRuntime")
    runtime = next((each for each in read.objects if each.kind == kind
                    and each.name == read.at("runtimeRef.name")), None)
    if not isinstance(runtime, model.OperatorObject):
        return None
    spec = Part(runtime.spec, "spec.runtimeRef", read.misfits)
    policy = spec.at("mlPolicy.numNodes", 1)
    nodes = read.count("trainer.numNodes", policy if type(policy) is int else 1)
    named = spec.at("podGroupPolicy.volcano") is not None
    gang, amounts = Gang([], read.name if named else ""), read.at("trainer.resourcesPerNode")
    for replicated in spec.items("template.spec.replicatedJobs"):
        name, pods = str(replicated.at("name", "")), replicated.at("template.spec.template", {})
        trainer = replicated.at("template.metadata.labels", {}).get(ANCESTOR) == "trainer"
        if trainer and amounts:
            pods = merged(pods, {"spec": {"containers": [{"name": "node", "resources": amounts}]}})
        count = nodes if trainer or name == "node" else (
            replicated.count("template.spec.parallelism") * replicated.count("replicas"))
        if not replicated.at("dependsOn"):
            gang.roles.append(Role(name, replicated.template("template.spec.template", pods), count,
                                   series(f"{read.name}-{name}-0-")))
    return [gang]


# -- Argo Workflows ----------------------------------------------------------------------------

def workflow(read: Reading) -> Created:
    """Return a Workflow's first objects: pods of the first steps, and objects that these create."""
    obj = read.obj
    known = {"workflow.name": obj.name, "workflow.uid": obj.metadata.uid,
             "workflow.namespace": obj.namespace}
    known |= _parameters(obj.spec, "arguments", "workflow", known)
    templates = {str(each.get("name", "")): each for each in items(obj.spec, "templates")}
    first, later = _first(templates, str(read.at("entrypoint", "")), known, MOST_STEPS)
    created = Created(sentences=_jobs_later(read, sorted(later)))
    for number, (template, values) in enumerate(first):
        if "resource" in template:
            _resource(read, template["resource"], values, created)
        else:
            created.objects.append(_pod(read, template, number))
    return created


def _parameters(data: Any, where: str, scope: str, known: Values) -> Values:
    """Return the parameters of a part, by their name in a manifest, with values filled in."""
    return {f"{scope}.parameters.{each.get('name')}": _fill(
        str(each.get("value", each.get("default", ""))), known)
        for each in items(data, f"{where}.parameters")}


def _fill(text: str, values: Values) -> str:
    return _GAP.sub(lambda gap: values.get(gap[1], gap[0]), text)


def _first(templates: dict[str, Any], name: str, known: Values, deep: int
           ) -> tuple[list[tuple[dict[str, Any], Values]], set[str]]:
    """Return the templates that run at once in a call, each with its parameters, and those that
    wait for them.
    """
    template = templates.get(name)
    if template is None or not deep:
        return [], set()
    called, waiting = _calls(template)
    if not called:
        return [(template, _parameters(template, "inputs", "inputs", known) | known)], set()
    first, later = [], {str(at(step, "template", at(step, "name", ""))) for step in waiting}
    for step in called:
        for item in step["withItems"] if isinstance(at(step, "withItems"), list) else [""]:
            values = known | {"item": str(item)}
            values |= _parameters(step, "arguments", "inputs", values)
            if isinstance(step.get("inline"), dict):
                first.append((step["inline"], values))
                continue
            begun, waits = _first(templates, str(at(step, "template", "")), values, deep - 1)
            first += begun
            later |= waits
    return first, later


def _calls(template: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the steps or tasks of a template that begin at once, and the others."""
    steps = template.get("steps")
    if isinstance(steps, list) and steps:
        groups = [[step for step in (each if isinstance(each, list) else [each])
                   if isinstance(step, dict)] for each in steps]
        return groups[0], [step for group in groups[1:] for step in group]
    tasks = items(template, "dag.tasks")
    begun = [task for task in tasks if not (task.get("dependencies") or task.get("depends"))]
    return begun, [task for task in tasks if task not in begun]


def _pod(read: Reading, template: dict[str, Any], number: int) -> api.Pod:
    """Return the pod of a container, a script or a set of containers."""
    containers = [each for each in (template.get("container"), template.get("script"))
                  if isinstance(each, dict)] or items(template, "containerSet.containers")
    inherited = {field: template.get(field) or read.at(field) for field in INHERITED}
    spec = {field: value for field, value in inherited.items() if value}
    spec["containers"] = [{field: value for field, value in each.items() if field not in STEP}
                          | {"name": each.get("name") or "main"} for each in containers]
    name = str(template.get("name", "step"))
    created = read.template(f"templates {name}", {
        "metadata": at(template, "metadata", {}), "spec": spec})
    return api.Pod(read.obj.owned(generated(f"{read.name}-{name}-", number), {
        "labels": {**created.metadata.labels, "workflows.argoproj.io/workflow": read.name},
        "annotations": created.metadata.annotations}), created.spec)


def _resource(read: Reading, resource: Any, values: Values, created: Created) -> None:
    """Add the object of a template that creates one, such as a Volcano Job."""
    document = None
    if at(resource, "action") in ("create", "apply"):
        with suppress(Unreadable):
            document = next(iter(documents(_fill(str(at(resource, "manifest", "")), values))), None)
    cls = api.KINDS.get((str(at(document, "apiVersion", "")).rpartition("/")[0],
                         str(at(document, "kind", ""))))
    if cls is None or document is None:
        created.sentences.append(Message("not_created.resource"))
        return
    found = structure(cls, {key: value for key, value in document.items()
                            if key not in ("apiVersion", "kind")}, Misfits())
    prefix = str(at(document, "metadata.generateName", f"{read.name}-"))
    found.metadata.name = found.metadata.name or generated(prefix, len(created.objects))
    found.metadata.namespace = found.metadata.namespace or read.obj.namespace
    found.metadata.owner_references = read.obj.owned("").owner_references
    created.objects.append(found)
