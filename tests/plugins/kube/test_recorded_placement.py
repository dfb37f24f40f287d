"""What Volcano v1.14.0's own predicates and nodeorder answered about random clusters.

Each line of the data is a cluster, a pod, weights, and the answers of the Go plugins (at Kubernetes
v1.34.1, maps ranged over by ascending key): the reasons of each node that is refused, and both
kinds of score.
"""

import gzip
import json
from pathlib import Path

import pytest
from kube_scene import Scene

from volcano_lab.manifests.loader import from_dict

DATA = Path(__file__).parents[2] / "recorded" / "kube-placement.jsonl.gz"
CASES = [json.loads(line) for line in gzip.decompress(DATA.read_bytes()).splitlines()]


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_reasons_and_scores_are_those_of_the_go(part):
    for number, case in enumerate(CASES[part::8]):
        running = {name: [from_dict(pod) for pod in pods] for name, pods in case["running"].items()}
        scene = Scene(map(from_dict, case["nodes"]), running, case["weights"], case["namespaces"])
        pod, answers = from_dict(case["pod"]), case["answers"]
        found = {
            "reasons": scene.reasons(pod), "order": scene.scores(pod), "batch":
            scene.batch_scores(pod)
        }
        assert found == answers, f"line {part + 8 * number + 1}"


def test_the_cases_are_many_and_refuse_for_every_reason():
    reasons = {r for case in CASES for found in case["answers"]["reasons"].values() for r in found}
    assert len(CASES) == 400 and len({r.split("{")[0] for r in reasons}) == 10
