"""What `kubectl get ... -A -o yaml|json` prints of a cluster at work."""

import json

import attrs
import yaml

from volcano_lab.api.objects import Pod, PodGroup, VolcanoJob
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import loads
from volcano_lab.manifests.writer import to_dict

AT_WORK = """
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 110}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 8, pods: 110}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: alpha, namespace: team, uid: 7d0c6b66-2c09-4a43-9c1f-0c8f3b0f1a11}
spec:
  tasks:
  - {name: worker, replicas: 4, template: &pod {spec: {containers: [
      {name: c, resources: {requests: {cpu: 2}}}]}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: beta, namespace: team, uid: 0b7f1f0e-95d2-4b52-8f5e-6f3d4f0e2b22}
spec: {tasks: [{name: worker, replicas: 5, template: {spec: {containers: [
      {name: c, resources: {requests: {cpu: 2}}}]}}}]}
"""


def exported(text: str = AT_WORK, running: str = "alpha") -> list[dict]:
    """The Jobs of the manifests beside their PodGroups and pods; those of one Job run on n1."""
    given = loads(text)
    documents = [to_dict(obj) for obj in given if isinstance(obj, VolcanoJob)]
    for obj in with_defaults(given):
        if isinstance(obj, PodGroup | Pod) and obj.name.startswith(f"{running}-"):
            obj = attrs.evolve(obj, status=attrs.evolve(obj.status, phase="Running"))
            if isinstance(obj, Pod):
                obj = attrs.evolve(obj, spec=attrs.evolve(obj.spec, node_name="n1"))
        documents.append(to_dict(obj))
    for number, document in enumerate(documents):
        metadata = document["metadata"]
        metadata.setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
        metadata |= {"resourceVersion": str(1000 + number), "generation": 1,
                     "managedFields": [{"manager": "vc-controller-manager", "operation": "Update"}]}
        if document["kind"] == "Job":
            document["status"] = {"state": {"phase": "Running"}, "running": 4}
    return documents


def listed(documents: list[dict], form: str = "json") -> str:
    """The documents as one List, as `-o json` and `-o yaml` print it."""
    data = {"apiVersion": "v1", "items": documents, "kind": "List",
            "metadata": {"resourceVersion": ""}}
    return json.dumps(data, indent=4) if form == "json" else yaml.safe_dump(data)
