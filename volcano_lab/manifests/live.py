"""A live cluster, as kubectl reads it: only the kinds that scheduling needs and the cluster has,
and the warnings of controllers.

Nothing is written to the cluster, Secrets are not read, and of ConfigMaps only the scheduler's is.

Volcano: none
"""

import json
import subprocess
from io import StringIO

from volcano_lab.api.objects import KINDS, ConfigMap
from volcano_lab.manifests.events import reported
from volcano_lab.manifests.loader import Loaded, ManifestError, about, load
from volcano_lab.messages import Message

CONFIG_MAP = "volcano-scheduler-configmap"
NAMESPACE = "volcano-system"
OPTIONAL = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
"""Kinds whose pods exist in a cluster's output."""
PATIENCE = 60.0
"""Seconds that one call of kubectl may take."""


def objects(context: str = "", namespace: str = NAMESPACE) -> Loaded:
    """Return the objects of the cluster of a kubectl context, by default the current one;
    `namespace` is that of the scheduler. Raises `ManifestError`.
    """
    own = [f"--context={context}"] if context else []
    known = kubectl("api-resources", "--verbs=list", "--output=name", *own).split()
    wanted = [word for word in kinds() if word in known]
    if "pods" not in wanted:
        raise ManifestError("kubectl.no_pods")
    texts = [kubectl("get", ",".join(wanted), "--all-namespaces", "--output=json", *own)]
    texts.append(_events(own) if "events" in known else "")
    warnings = []
    try:
        texts.append(kubectl("get", "configmap", CONFIG_MAP, f"--namespace={namespace}",
                             "--output=json", "--ignore-not-found", *own))
    except ManifestError as error:  # few users may read that namespace
        warnings = [about(f"ConfigMap {CONFIG_MAP}", Message("kubectl.conf", error=error.said))]
    loaded = load(*(StringIO(text) for text in texts if text.strip()))
    loaded.warnings += warnings
    return loaded


def _events(own: list[str]) -> str:
    """Return the warnings about pods, and of what controllers cannot create; none where these may
    not be read.
    """
    try:
        text = kubectl("get", "events", "--all-namespaces", "--output=json",
                       "--field-selector=type=Warning", *own)
    except ManifestError:
        return ""
    return json.dumps({"apiVersion": "v1", "kind": "List",
                       "items": [*filter(reported, json.loads(text)["items"])]})


def command_line(namespace: str = NAMESPACE) -> str:
    """Return the shell command that writes a cluster and the scheduler's configuration to a file.

    >>> command_line()[:64]
    'kubectl get "$(kubectl api-resources --verbs=list -o name | grep'
    """
    return (f'kubectl get "$(kubectl api-resources --verbs=list -o name | grep -xE '
            f"'{'|'.join(kinds())}' | paste -sd, -)\" -A -o json > cluster.json; kubectl get "
            "events -A --field-selector type=Warning -o json >> cluster.json; kubectl get "
            f"configmap {CONFIG_MAP} -n {namespace} -o json >> cluster.json")


def kubectl(*words: str) -> str:
    """Return what kubectl prints. Raises `ManifestError` with its first line where it fails."""
    try:
        done = subprocess.run(["kubectl", *words], capture_output=True, text=True, check=False,
                              timeout=PATIENCE, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise ManifestError("kubectl.none") from None
    except subprocess.TimeoutExpired:
        raise ManifestError("kubectl.timeout", verb=words[0], seconds=PATIENCE) from None
    if done.returncode:
        lines = filter(str.strip, reversed(done.stderr.splitlines()))  # client-go logs before it
        problem = next(lines, Message("kubectl.silent"))
        raise ManifestError("kubectl.failed", verb=words[0], problem=problem)
    return done.stdout


def kinds() -> list[str]:
    """Return the resources to read, by their names in `kubectl api-resources`.

    >>> [word for word in kinds() if "volcano" in word]
    ['hypernodes.topology.volcano.sh', 'jobs.batch.volcano.sh', 'podgroups.scheduling.volcano.sh',
     'queues.scheduling.volcano.sh']
    """
    found = {cls for cls in KINDS.values() if cls is not ConfigMap and cls.kind not in OPTIONAL}
    groups = {cls: cls.api_versions[0].rpartition("/")[0] for cls in found}
    return sorted(_plural(cls.kind) + (f".{group}" if group else "")
                  for cls, group in groups.items())


def _plural(kind: str) -> str:
    word = kind.lower()
    return f"{word}es" if word.endswith("s") else word + "s"
