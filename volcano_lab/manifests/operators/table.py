"""The operators: one row a kind, with the source that it was read from.

A row says where the pods of an object stand, how its PodGroup is called, how many members and how
many resources it needs, and who says the queue and the priority. Kinds without `gangs` or `objects`
are only read by others. What `model.Operator` lists is all that differs between operators.
"""

from functools import partial

from volcano_lab.manifests.operators import flows, gangs, spark
from volcano_lab.manifests.operators.model import (
    QUEUE,
    Operator,
    OperatorObject,
    requests,
    requests_or_limits,
)

KUBERAY = "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/batchscheduler/volcano"
TRAINING = "kubeflow/trainer v1.9.4 pkg/controller.v1/common/job.go, control/podgroup_control.go"
MPI = "kubeflow/mpi-operator v0.8.0 pkg/controller/podgroup.go"
KTHENA = "volcano-sh/kthena v1.0.0 pkg/model-serving-controller/podgroupmanager"
VOLCANO = "volcano-sh/volcano v1.14.0 pkg/controllers"
LABEL = "label volcano.sh/queue-name"

KUBEFLOW = {
    "label": "training.kubeflow.org/job-name", "asked": gangs.kubeflow_asks,
    "queue": ("runPolicy.schedulingPolicy.queue",), "inherits": True, "sums": requests_or_limits,
    "priority": ("runPolicy.schedulingPolicy.priorityClass",)}
RAY = {
    "asked": gangs.ray_asks, "queue": (LABEL,), "forced": True, "inherits": True,
    "priority": ("label ray.io/priority-class-name",),
    "asks": "a label such as volcano.sh/queue-name hands them to Volcano, where KubeRay runs with "
    "--batch-scheduler=volcano"}

ROWS = (
    Operator("RayCluster", ("ray.io/v1", "ray.io/v1alpha1"), KUBERAY, gangs.ray,
             label="ray.io/cluster", **RAY),
    Operator("RayJob", ("ray.io/v1", "ray.io/v1alpha1"), KUBERAY, gangs.ray_job,
             label="ray.io/originated-from-cr-name", **RAY),
    Operator("RayService", ("ray.io/v1", "ray.io/v1alpha1"), KUBERAY, gangs.ray_service,
             label="ray.io/originated-from-cr-name", **RAY),
    Operator("SparkApplication", ("sparkoperator.k8s.io/v1beta2", "sparkoperator.k8s.io/v1beta1"),
             "kubeflow/spark-operator v2.5.2 internal/scheduler/volcano", spark.spark,
             asked=spark.spark_asks, asks="spec.batchScheduler: volcano hands them to Volcano",
             queue=("batchSchedulerOptions.queue",), forced=True,
             priority=("batchSchedulerOptions.priorityClassName",),
             label="sparkoperator.k8s.io/app-name"),
    Operator("PyTorchJob", ("kubeflow.org/v1",), TRAINING, gangs.pytorch, **KUBEFLOW),
    Operator("TFJob", ("kubeflow.org/v1",), TRAINING, gangs.tensorflow, **KUBEFLOW),
    Operator("XGBoostJob", ("kubeflow.org/v1",), TRAINING, gangs.xgboost, **KUBEFLOW),
    Operator("PaddleJob", ("kubeflow.org/v1",), TRAINING, gangs.paddle, **KUBEFLOW),
    Operator("JAXJob", ("kubeflow.org/v1",), TRAINING, gangs.jax, **KUBEFLOW),
    Operator("MPIJob", ("kubeflow.org/v2beta1", "kubeflow.org/v1"), f"{MPI}; {TRAINING}", gangs.mpi,
             asked=gangs.kubeflow_asks, label="training.kubeflow.org/job-name", forced=True,
             queue=("runPolicy.schedulingPolicy.queue", QUEUE),
             priority=("runPolicy.schedulingPolicy.priorityClass",
                       "mpiReplicaSpecs.Launcher.template.spec.priorityClassName",
                       "mpiReplicaSpecs.Worker.template.spec.priorityClassName")),
    Operator("TrainJob", ("trainer.kubeflow.org/v1alpha1",),
             "kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins/volcano", after=flows.train_job,
             asks="spec.podGroupPolicy.volcano in its runtime hands them to Volcano",
             label="jobset.sigs.k8s.io/jobset-name"),
    Operator("TrainingRuntime", ("trainer.kubeflow.org/v1alpha1",), "of TrainJob"),
    Operator("ClusterTrainingRuntime", ("trainer.kubeflow.org/v1alpha1",), "of TrainJob",
             namespaced=False),
    Operator("JobSet", ("jobset.x-k8s.io/v1alpha2",),
             "kubernetes-sigs/jobset v0.12.0 pkg/controllers/jobset_controller.go",
             objects=flows.job_set, label="jobset.sigs.k8s.io/jobset-name"),
    Operator("LeaderWorkerSet", ("leaderworkerset.x-k8s.io/v1",),
             "kubernetes-sigs/lws v0.10.0 pkg/schedulerprovider/volcano_provider.go",
             gangs.leader_worker_set, label="leaderworkerset.sigs.k8s.io/name", inherits=True),
    Operator("FlinkDeployment", ("flink.apache.org/v1beta1",),
             "apache/flink-kubernetes-operator release-1.15.0", objects=spark.flink, label="app"),
    Operator("ModelServing", ("workload.serving.volcano.sh/v1alpha1",), KTHENA, gangs.model_serving,
             asked=gangs.serving_asks, asks="spec.schedulerName: volcano hands them to Volcano",
             label="modelserving.volcano.sh/name", sums=requests, forced=True),
    Operator("Workflow", ("argoproj.io/v1alpha1",),
             "argoproj/argo-workflows v4.1.2 workflow/controller", objects=flows.workflow,
             asks="schedulerName: volcano in the Workflow or its templates hands them to Volcano",
             label="workflows.argoproj.io/workflow"),
    Operator("CronJob", ("batch/v1",), "kubernetes v1.34 pkg/controller/cronjob",
             objects=flows.cron_job),
    Operator("CronJob", ("batch.volcano.sh/v1alpha1",), f"{VOLCANO}/cronjob",
             objects=flows.cron_job),
    Operator("JobFlow", ("flow.volcano.sh/v1alpha1",), f"{VOLCANO}/jobflow",
             objects=flows.job_flow),
    Operator("JobTemplate", ("flow.volcano.sh/v1alpha1",), "of JobFlow"),
)


def _kind(row: Operator) -> type[OperatorObject]:
    """The class of a row's objects; it is read from its own table, not from that of the API."""
    name = f"Volcano{row.kind}" if row.source.startswith(VOLCANO) else row.kind
    made = type(OperatorObject)(name, (OperatorObject,), {
        "__doc__": f"A {row.kind} ({row.versions[0]}).", "__module__": __name__,
        "__annotations__": {}}, kind=row.kind, namespaced=row.namespaced)
    made.api_versions = row.versions
    globals()[name] = made
    return made


KINDS = {(version.rpartition("/")[0], row.kind): _kind(row) for row in ROWS
         for version in row.versions[:1]}
"""Group of the API and kind -> class."""
OPERATORS = dict(zip(KINDS.values(), ROWS, strict=True))
LABELS = frozenset(row.label for row in ROWS if row.label)
"""The labels of pods that have the name of the object that they were created of."""

BOOSTER = Operator("ModelBooster", ("workload.serving.volcano.sh/v1alpha1",),
                   "volcano-sh/kthena v1.0.0 pkg/model-booster-controller/convert",
                   objects=partial(flows.model_booster,
                                   serving=KINDS["workload.serving.volcano.sh", "ModelServing"]))
KINDS["workload.serving.volcano.sh", "ModelBooster"] = _kind(BOOSTER)
OPERATORS[KINDS["workload.serving.volcano.sh", "ModelBooster"]] = BOOSTER
