"""Rules for pods of Volcano's scheduler, and those of Kubernetes for the containers of all pods.

Volcano: pkg/webhooks/admission/pods/validate
"""

import re
from typing import Any

from volcano_lab.api import objects as api, quantity
from volcano_lab.manifests import job_controller, pod_group_controller
from volcano_lab.manifests.admission.rules import Broken, Queues, first
from volcano_lab.manifests.names import is_label

BUDGETS = (job_controller.JDB_MIN_AVAILABLE, job_controller.JDB_MAX_UNAVAILABLE)


def broken(pod: api.Pod, queues: Queues) -> Broken:
    """Yield the rules that a pod breaks."""
    yield from broken_containers(pod.spec, "spec")
    given = {key: text for key, text in pod.metadata.annotations.items() if key in BUDGETS}
    if pod.spec.scheduler_name != pod_group_controller.SCHEDULER:
        return
    problems: list[tuple[str, dict[str, Any]]] = []
    for key in filter(given.__contains__, BUDGETS):
        number = re.fullmatch(r"[+-]?[0-9]{1,18}", given[key].replace("%", ""))
        amount = int(number[0]) if number else 0
        share = "%" in given[key] or not -2**31 <= amount < 2**31  # beyond, it is parsed as a share
        problems += first(
            (number is None, "pod-budget-number"), (not share and amount <= 0, "pod-budget-count"),
            (share and not 0 < amount < 100, "pod-budget-percentage"), key=key, found=given[key])
    yield from problems[:1] or first((len(given) > 1, "pod-budgets"))


def broken_containers(spec: api.PodSpec, field: str) -> Broken:
    """Yield what the API server refuses in the containers of a pod or a template."""
    if not spec.containers:
        yield "pod-containers", {"field": field}
    names: set[str] = set()
    for kind, containers in (("containers", spec.containers),
                             ("initContainers", spec.init_containers)):
        for i, container in enumerate(containers):
            place, limits = f"{field}.{kind}[{i}]", container.resources.limits
            yield from first((not container.name, "pod-container-name-missing"),
                             (not is_label(container.name), "pod-container-name-form"),
                             (container.name in names, "pod-container-name"),
                             place=place, name=container.name)
            names.add(container.name)
            for name, amount in container.resources.requests.items():
                if name in limits and quantity.parse(amount) > quantity.parse(limits[name]):
                    yield "pod-requests", {"place": place, "name": name, "amount": amount,
                                           "limit": limits[name]}
