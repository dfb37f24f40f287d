"""Objects that operators create for objects: Jobs of a JobSet, a CronJob, a JobFlow or a TrainJob,
the first steps of an Argo Workflow, the ModelServing of a ModelBooster.

Objects created only after others have run or ended are not created, and named in a sentence.
"""

import re
from contextlib import suppress
from typing import Any

from volcano_lab.api.objects import (
    KINDS,
    BatchJob,
    ObjectMeta,
    Pod,
    VolcanoJob,
    VolcanoJobSpec,
    WorkloadSpec,
)
from volcano_lab.manifests.files import Unreadable
from volcano_lab.manifests.files import values as documents
from volcano_lab.manifests.names import generated
from volcano_lab.manifests.operators.model import KINDS as OPERATED
from volcano_lab.manifests.operators.model import (
    Children,
    Gang,
    OperatorObject,
    Others,
    Reading,
    Role,
    at,
    items,
    lettered,
)
from volcano_lab.manifests.operators.spark import merged
from volcano_lab.manifests.schema import Findings, structure
from volcano_lab.messages import gettext

ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
MOST_STEPS = 50
"""The maximum depth of template calls in a Workflow."""
INHERITED = ("nodeSelector", "tolerations", "affinity", "schedulerName", "priorityClassName")
"""Fields that pods inherit from the Workflow where their template has none."""
Values = dict[str, str]
_GAP = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")


def _owned(obj: OperatorObject, name: str, raw: Any = None) -> ObjectMeta:
    """Return the metadata of an object created for another one."""
    words = {kind: {str(key): str(text) for key, text in at(raw, kind, {}).items()}
             for kind in ("labels", "annotations")}
    return ObjectMeta(name, obj.namespace, owner_references=[obj.reference], **words)


def _jobs_later(names: list[str]) -> list[str]:
    return [gettext("{names:3}: created when what they depend on has run or ended, and not before",
                    names=names)] if names else []


# -- Kubernetes' own Jobs ----------------------------------------------------------------------

def job_set(obj: OperatorObject, read: Reading, objects: Others, where: str) -> Children:
    """Return the Jobs of each replicated job, but for those that wait for others."""
    children, later = Children(), []
    in_order = at(obj.spec, "startupPolicy.startupPolicyOrder") == "InOrder"
    for number, replicated in enumerate(items(obj.spec, "replicatedJobs")):
        name, template = str(replicated.get("name", "")), at(replicated, "template", {})
        path = f"replicatedJobs[{number}]."
        spec = structure(WorkloadSpec, at(template, "spec", {}), read.findings,
                         ((), f"spec.{path}template.spec"))
        labels = {"jobset.sigs.k8s.io/jobset-name": obj.name,
                  "jobset.sigs.k8s.io/replicatedjob-name": name}
        metadata = spec.template.metadata
        spec = spec.evolve(template=spec.template.evolve(metadata=metadata.evolve(
            labels=metadata.labels | labels)))
        jobs = [BatchJob(_owned(obj, f"{obj.name}-{name}-{index}", at(template, "metadata")), spec)
                for index in range(read.count(replicated, "replicas", 1, path))]
        if replicated.get("dependsOn") or (in_order and number):
            later += [job.name for job in jobs]
        else:
            children.objects += jobs
    children.waits = _jobs_later(later)
    return children


def cron_job(obj: OperatorObject, read: Reading, objects: Others, where: str) -> Children:
    """Return one Job, as its schedule creates it; Kubernetes' own or Volcano's."""
    template = at(obj.spec, "jobTemplate", {})
    of_volcano = obj.api_version.startswith("batch.volcano.sh")
    cls, parts = (VolcanoJob, VolcanoJobSpec) if of_volcano else (BatchJob, WorkloadSpec)
    spec = structure(parts, at(template, "spec", {}), read.findings, ((), "spec.jobTemplate.spec"))
    return Children([cls(_owned(obj, f"{obj.name}-1", at(template, "metadata")), spec)])


def job_flow(obj: OperatorObject, read: Reading, objects: Others, where: str) -> Children:
    """Return the Volcano Jobs of the flows without dependencies, after their JobTemplates."""
    templates = {each.name: each for each in objects if each.kind == "JobTemplate"
                 and (each.namespace or "default") == (obj.namespace or "default")}
    children, later = Children(), []
    for flow in items(obj.spec, "flows"):
        name = str(flow.get("name", ""))
        if at(flow, "dependsOn.targets"):
            later.append(f"{obj.name}-{name}")
        elif name in templates:
            spec = merged(templates[name].spec, at(flow, "patch.jobSpec", {}))
            children.objects.append(VolcanoJob(_owned(obj, f"{obj.name}-{name}"), structure(
                VolcanoJobSpec, spec, read.findings, ((), f"spec.flows {name}"))))
        else:
            children.waits.append(gettext("its JobTemplate {name} is not among the objects; no "
                                          "Job is created of it", name=name))
    children.waits += _jobs_later(later)
    return children


# -- Trainer, kthena ---------------------------------------------------------------------------

def train_job(obj: OperatorObject, read: Reading, objects: Others, where: str) -> list[Gang] | None:
    """Return a gang of all pods, after the named runtime; None if that is not given."""
    kind = at(obj.spec, "runtimeRef.kind", "ClusterTrainingRuntime")
    runtime = next((each for each in objects if each.kind == kind
                    and each.name == at(obj.spec, "runtimeRef.name")), None)
    if not isinstance(runtime, OperatorObject):
        return None
    policy = at(runtime.spec, "mlPolicy.numNodes", 1)
    nodes = read.count(obj.spec, "trainer.numNodes", policy if type(policy) is int else 1)
    gang = Gang([], obj.name)
    for number, replicated in enumerate(items(runtime.spec, "template.spec.replicatedJobs")):
        name, template = str(replicated.get("name", "")), at(replicated, "template", {})
        pods = at(template, "spec.template", {})
        trainer = at(template, "metadata.labels", {}).get(ANCESTOR) == "trainer"
        if trainer and at(obj.spec, "trainer.resourcesPerNode"):
            pods = merged(pods, {"spec": {"containers": [
                {"name": "node", "resources": at(obj.spec, "trainer.resourcesPerNode")}]}})
        count = nodes if trainer or name == "node" else (
            read.count(template, "spec.parallelism") * read.count(replicated, "replicas"))
        if replicated.get("dependsOn"):
            continue
        gang.roles.append(Role(name, read.template(pods, f"runtimeRef.replicatedJobs[{number}]"),
                               count, lettered(f"{obj.name}-{name}-0-")))
    if at(runtime.spec, "podGroupPolicy.volcano") is None:
        gang.name = ""
    return [gang]


def model_booster(obj: OperatorObject, read: Reading, objects: Others, where: str) -> Children:
    """Return the ModelServing of a model's backend: prefill and decode, or a leader with workers.
    """
    backend = at(obj.spec, "backend", {})
    name = f"{obj.name}-{backend['name']}" if backend.get("name") else obj.name
    roles = []
    for worker in items(backend, "workers"):
        kind = str(worker.get("type", "server"))
        pod = {"spec": {
            **{field: worker[field] for field in ("affinity", "tolerations") if field in worker},
            "containers": [{"name": "runtime"},
                           {"name": "engine", "resources": worker.get("resources") or {}}]}}
        others = {"spec": {**pod["spec"], "containers": pod["spec"]["containers"][1:]}}
        roles.append({"name": "leader" if kind == "server" else kind, "entryTemplate": pod,
                      "replicas": at(worker, "replicas", 1), "workerTemplate": others,
                      "workerReplicas": max(read.count(worker, "pods") - 1, 0)
                      if kind == "server" else 0})
    spec = {"schedulerName": backend.get("schedulerName") or "volcano",
            "replicas": at(backend, "replicas", 1), "template": {"roles": roles}}
    serving = OPERATED["workload.serving.volcano.sh", "ModelServing"]
    return Children([serving(_owned(obj, name), spec=spec)])


# -- Argo Workflows ----------------------------------------------------------------------------

def workflow(obj: OperatorObject, read: Reading, objects: Others, where: str) -> Children:
    """Return a Workflow's first objects: pods of the first steps, and objects that these create."""
    known = {"workflow.name": obj.name, "workflow.uid": obj.metadata.uid,
             "workflow.namespace": obj.namespace}
    known |= _parameters(obj.spec, "arguments", "workflow", known)
    templates = {str(each.get("name", "")): each for each in items(obj.spec, "templates")}
    first, later = _first(templates, str(at(obj.spec, "entrypoint", "")), known, MOST_STEPS)
    children = Children(waits=_jobs_later(sorted(later)))
    for number, (template, values) in enumerate(first):
        if "resource" in template:
            _resource(obj, template["resource"], values, children)
        else:
            children.objects.append(_pod(obj, template, number, read))
    return children


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


def _pod(obj: OperatorObject, template: dict[str, Any], number: int, read: Reading) -> Pod:
    """Return the pod of a container, a script or a set of containers."""
    containers = [each for each in (template.get("container"), template.get("script"))
                  if isinstance(each, dict)] or items(template, "containerSet.containers")
    spec = {field: template.get(field) or at(obj.spec, field) for field in INHERITED
            if template.get(field) or at(obj.spec, field)}
    spec["containers"] = [{**each, "name": each.get("name") or "main"} for each in containers]
    name = str(template.get("name", "step"))
    created = read.template({"metadata": at(template, "metadata", {}), "spec": spec},
                            f"templates {name}")
    return Pod(_owned(obj, generated(f"{obj.name}-{name}-", number), {
        "labels": {**created.metadata.labels, "workflows.argoproj.io/workflow": obj.name},
        "annotations": created.metadata.annotations}), created.spec)


def _resource(obj: OperatorObject, resource: Any, values: Values, children: Children) -> None:
    """Add the object of a template that creates one, such as a Volcano Job."""
    document = None
    if at(resource, "action") in ("create", "apply"):
        with suppress(Unreadable):
            document = next(iter(documents(_fill(str(at(resource, "manifest", "")), values))), None)
    cls = KINDS.get((str(at(document, "apiVersion", "")).rpartition("/")[0],
                     str(at(document, "kind", ""))))
    if cls is None:
        children.waits.append(gettext("the object of a resource template is not created: its "
                                      "action creates nothing, or its manifest is of no kind that "
                                      "is read here"))
        return
    created = structure(cls, {key: value for key, value in document.items()
                              if key not in ("apiVersion", "kind")}, Findings())
    prefix = str(at(document, "metadata.generateName", f"{obj.name}-"))
    created.metadata.name = created.metadata.name or generated(prefix, len(children.objects))
    created.metadata.namespace = created.metadata.namespace or obj.namespace
    created.metadata.owner_references = [obj.reference]
    children.objects.append(created)
