"""The example of the page "Ask about your cluster": 40 GPU nodes, a tree of queues, jobs that run
and five that wait.
"""

from volcano_lab import Cluster

CONF = """
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
  volcano-scheduler.conf: |
    actions: "enqueue, allocate, backfill"
    tiers:
    - plugins:
      - name: priority
      - name: gang
      - name: conformance
    - plugins:
      - name: drf
      - name: predicates
      - name: capacity
        enableHierarchy: true
      - name: nodeorder
"""
QUEUES = {  # name: parent, deserved, capability, in GPUs
    "research": ("root", 200, 240), "llm": ("research", 128, 192), "vision": ("research", 72, 96),
    "prod": ("root", 120, 160), "serving": ("prod", 80, 120), "team-b": ("prod", 40, 96)}
RUNNING = [  # queue, job, GPUs of a pod, the first and the last node, pods on each
    ("llm", "pretrain-1b", 8, 1, 6, 1), ("serving", "chat", 8, 7, 13, 1),
    ("team-b", "distill", 8, 14, 19, 1), ("vision", "segment", 8, 20, 26, 1),
    ("vision", "notebooks", 1, 27, 32, 1), ("team-b", "eval", 1, 33, 34, 1),
    ("vision", "detect", 4, 35, 36, 1), ("serving", "embed", 6, 37, 37, 1),
    ("vision", "augment", 4, 38, 38, 1), ("team-b", "label", 2, 38, 38, 1),
    ("vision", "sweep-3", 7, 39, 40, 1)]
WAITING = [  # queue, job, pods, GPUs of a pod
    ("llm", "train-8b", 8, 8), ("vision", "sweep-4", 16, 1), ("team-b", "finetune", 12, 4)]


def forty_gpu_nodes() -> str:
    """Return the manifests of the cluster and its scheduler's configuration."""
    cluster = Cluster()
    for number in range(1, 41):
        cluster.node(f"gpu-{number:02}", cpu=96, memory="768Gi", gpu=8)
    for queue, (parent, deserved, capability) in QUEUES.items():
        cluster.queue(queue, parent=parent, deserved=_gpus(deserved), capability=_gpus(capability))
    for queue, job, gpus, first, last, count in RUNNING:
        nodes = {f"gpu-{number:02}": count for number in range(first, last + 1)}
        least = len(nodes) if gpus == 8 else 1
        cluster.job(job, namespace=queue, queue=queue, pods=len(nodes), gpu=gpus, cpu=4 * gpus,
                    min_member=least, running=nodes)
    for queue, job, pods, gpus in WAITING:
        cluster.job(job, namespace=queue, queue=queue, pods=pods, gpu=gpus, cpu=4 * gpus)
    cluster.job("canary", namespace="serving", queue="serving", pods=1, cpu=1,
                resources={"nvidia.com/mig-1g.10gb": 1})
    cluster.job("ana", namespace="vision", queue="vision", pods=1, cpu=200)
    return f"{CONF.strip()}\n---\n{cluster.to_yaml()}"


def _gpus(count: int) -> dict[str, int]:
    return {"nvidia.com/gpu": count}
