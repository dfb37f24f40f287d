"""Fields of queues that nothing reads are named, and those that are read are not."""

import pytest

from volcano_lab import Cluster
from volcano_lab.explain.lint import ignored_fields

CONF = 'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n'
QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: a, annotations: {{{notes}}}}}
spec: {spec}
"""
AFFINITY = "{affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [x]}}}"
TABLE = [  # spec, plugins, the words of each sentence
    ("{weight: 1}", "proportion", []),
    ("{deserved: {cpu: 2}}", "proportion", [
        "spec.deserved has no effect: only the plugin capacity"
    ]),
    ("{deserved: {cpu: 2}}", "capacity", []),
    ("{weight: 3}", "capacity", ["spec.weight has no effect: only the plugin proportion"]),
    ("{weight: 3}", "proportion", []),
    ("{capability: {cpu: 2}, guarantee: {resource: {cpu: 1}}}", "capacity", []),
    ("{capability: {cpu: 2}, guarantee: {resource: {cpu: 1}}}", "drf", [
        "spec.capability has", "spec.guarantee has"
    ]),
    ("{parent: b}", "capacity", ["spec.parent has no effect: it takes the plugin capacity"]),
    ("{parent: b}", "capacity\n    enableHierarchy: true", []),
    ("{parent: root}", "proportion", []),
    (AFFINITY, "drf", ["spec.affinity has no effect"]),
    (AFFINITY, "nodegroup", []),
]


def cycle_of(spec, plugins, notes=""):
    cluster = Cluster().node("n1", cpu=4).queue("b").add(QUEUE.format(spec=spec, notes=notes))
    return cluster.run(CONF + f"  - name: {plugins}\n")


@pytest.mark.parametrize(("spec", "plugins", "words"), TABLE)
def test_what_nothing_reads_is_named(spec, plugins, words):
    found = ignored_fields(cycle_of(spec, plugins).session)
    assert len(found) == len(words) and all(f"Queue a: {word}" in sentence
                                            for word, sentence in zip(words, found, strict=True))


@pytest.mark.parametrize(("plugins", "count"), [("drf", 1), ("drf\n    enableHierarchy: true", 0)])
def test_the_annotation_of_hierarchical_drf(plugins, count):
    notes = "volcano.sh/hierarchy: root/a, volcano.sh/hierarchy-weights: 1/1"
    found = ignored_fields(cycle_of("{weight: 1}", plugins, notes).session)
    assert len(found) == count and all("volcano.sh/hierarchy" in sentence for sentence in found)
