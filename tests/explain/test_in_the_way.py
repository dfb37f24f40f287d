"""Which pods keep a pod off by a rule about other pods, and what is not offered then."""

from __future__ import annotations

import pytest
from small_cluster import conf, group, node, pod, queue

from volcano_lab.api.status import RELEASING
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.framework.plugin import Plugin, register_plugin, unregister_plugin
from volcano_lab.manifests import loader
from volcano_lab.manifests.defaults import with_defaults

NODE = """\
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {kubernetes.io/hostname: %s}}
spec: {taints: [%s]}
status: {allocatable: {cpu: "8", pods: "%s"}}
---
"""
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: web}
spec:
  minAvailable: 2
  queue: %s
  tasks:
  - name: t
    replicas: 2
    template:
      spec:
        %s
        containers: [{name: main, %s resources: {requests: {%s: "1"}}}]
"""
APART = ("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{"
         "labelSelector: {matchLabels: {volcano.sh/job-name: web}}, topologyKey: %s}]}}")
NOT_READY = "{key: node.kubernetes.io/not-ready, effect: NoExecute}"


def why(name="web", taints="", pods="110", queue="default", spec="", ports="", resource="cpu",
        status=""):
    node = (NODE % ("n1", "n1", taints, pods)).replace("status: {", "status: {" + status)
    text = node + JOB % (queue, spec, ports, resource)
    return Explainer(Cluster().add(text).objects()).why(name)


@pytest.mark.parametrize(("facts", "code"), [
    ({"spec": APART % "kubernetes.io/hostname"}, "anti_affinity"),
    ({"ports": "ports: [{containerPort: 80, hostPort: 80}],"}, "host_ports"),
])
def test_the_pods_that_keep_another_away_are_named(facts, code):
    found = {cause.code: cause.text for cause in why(**facts).causes}
    assert "In the way: default/web-t-0 (n1, placed in this cycle)." in found[code]
    assert ("It requests host port 80." in found[code]) == (code == "host_ports")


@pytest.mark.long
def test_the_end_of_the_job_that_keeps_a_pod_away_is_waited_for():
    apart = APART % "kubernetes.io/hostname"
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {volcano.sh/job-name: web}, " \
          "annotations: {scheduling.k8s.io/group-name: %s}}, spec: {schedulerName: volcano, %s, " \
          "containers: [{name: c, resources: {requests: {cpu: 1}}}]}, status: {phase: %s}}\n---\n"
    group = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: %s}, "
             "spec: {minMember: 1, queue: default}, status: {phase: %s}}\n---\n")
    text = NODE % ("n1", "n1", "", "110") + group % ("a", "Running") + pod % (
        "a-0", "a", apart + ", nodeName: n1", "Running") + group % ("b", "Inqueue") + pod % (
        "b-0", "b", apart, "Pending")
    found = Explainer(Cluster().add(text).objects()).why("b")
    assert "wait for the end of default/a (b is placed on n1)" in map(str, found.remedies)


@pytest.mark.parametrize("job, said", [("web", True), ("old", False)])
def test_pods_of_one_job_that_exclude_each_other_are_named_as_such(job, said):
    apart = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}]}}}
    objects = [node("n1", labels={"kubernetes.io/hostname": "n1"}), queue(), group("web"),
               group("old"), pod("web-1", "web", labels={"a": "b"}, **apart),
               pod("web-0", job, "n1", "Running", labels={"a": "b"}, **apart)]
    text = Explainer(objects, conf("gang", "predicates")).why("web").text
    assert ("They are pods of the same job. Where its template prefers this" in text) == said


def test_a_node_with_all_its_pods_says_how_many_these_are():
    assert "n1 has 1 pods of Volcano's jobs and 0 others, of at most 1." in why(pods="1").text


def test_a_rule_about_other_pods_names_no_pod_that_it_is_not_about():
    text = (NODE % ("n1", "n1", "", "110")
            + JOB % ("default", "", "ports: [{containerPort: 80, hostPort: 80}],", "cpu"))
    explain = Explainer(Cluster().add(text).job("other", cpu=1, running={"n1": 1}).objects())
    assert "default/other" not in next(cause.text for cause in explain.why("web").causes
                                       if cause.code == "host_ports")


@pytest.mark.long
def test_a_pod_may_be_let_beside_those_that_it_required_to_be_away_from():
    changes = [remedy.change for remedy in why(spec=APART % "kubernetes.io/hostname").remedies]
    assert "job default/web: pod anti-affinity preferred, not required, for all its pods" in changes


@pytest.mark.long
def test_no_toleration_is_offered_for_a_node_that_does_not_work():
    explanation = why(taints=NOT_READY)
    assert "Kubernetes keeps this taint" in explanation.text
    assert not any("toleration" in remedy.change for remedy in explanation.remedies)


@pytest.mark.parametrize("ready", ["True", "False", "Unknown"])
def test_a_node_says_itself_why_it_is_not_ready(ready):
    said = f"conditions: [{{type: Ready, status: '{ready}', reason: R, message: no network}}], "
    text = why(taints=NOT_READY, status=said).text
    assert ("n1 is not Ready: no network." in text) is (ready != "True")


@pytest.mark.long
def test_what_no_node_announces_is_reported_and_admission_is_no_help():
    explanation = why(resource="example.com/fpga")
    assert "No node announces example.com/fpga" in explanation.text
    assert [remedy.change for remedy in explanation.remedies] == [
        "1 more node like n1 announcing example.com/fpga 2"]


def test_a_job_of_a_queue_that_is_not_there_is_known_by_its_own_name():
    loaded = with_defaults(loader.loads(NODE % ("n1", "n1", "", "110") + JOB % ("nope", "", "",
                                                                               "cpu")))
    explanation = Explainer(loaded).why("web")
    assert "its queue nope doesn't exist" in explanation.text


ROLES = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: tf}
spec:
  minAvailable: 3
  tasks:
  - {name: ps, replicas: 1, minAvailable: 1, template: {spec: {containers: [
      {name: main, resources: {requests: {cpu: "8"}}}]}}}
  - {name: worker, replicas: 2, minAvailable: 2, template: {spec: {containers: [
      {name: main, resources: {requests: {cpu: "1"}}}]}}}
"""


@pytest.mark.long
def test_a_smaller_request_is_one_of_the_large_pods_alone():
    explanation = Explainer(Cluster().node("n1", cpu=4).add(ROLES).objects()).why("tf")
    found = [remedy for remedy in explanation.remedies if "request per pod cpu" in remedy.change]
    assert [remedy.change for remedy in found] == [
        "job default/tf: request per pod cpu 8 -> 2"]
    objects, _ = found[0].world.applied(found[0].tried)
    asked = [pod.spec.containers[0].resources.requests["cpu"] for pod in objects
             if pod.kind == "Pod"]
    assert sorted(asked) == ["1", "1", "2"]


@pytest.mark.long
def test_nodes_are_as_large_as_the_role_that_finds_none_needs():
    cluster = Cluster().node("n1", cpu=4, labels={"pool": "cpu"}).node("g1", cpu=8, gpu=4).job(
        "old", cpu=3, running={"n1": 1}).add(ROLES.replace(
            'cpu: "8"', 'cpu: "8", nvidia.com/gpu: 4').replace('cpu: "1"}}}', (
                'cpu: "4"}}}], nodeSelector: {pool: cpu}}}}')).replace("}}}}]}}}", "}}}}"))
    found = cluster.why("tf", conf='actions: "allocate"\ntiers: [{plugins: [{name: gang}, '
                                   '{name: predicates}]}]').remedies
    assert "2 more nodes like n1" in [each.change for each in found]


@pytest.mark.long
@pytest.mark.parametrize(("roles", "offered"), [(("w",), True), (("ps", "w"), False)])
def test_a_smaller_minimum_is_offered_for_pods_of_one_role(roles, offered):
    """Pods of one role may run with fewer of them; with several, each role is needed."""
    job = ROLES.partition("  - {")[0] + "".join(
        f"  - {{name: {role}, replicas: {3 if len(roles) == 1 else number}, template: {{spec: "
        f"{{containers: [{{name: c, resources: {{requests: {{cpu: 2}}}}}}]}}}}}}\n"
        for number, role in enumerate(roles, 1))
    found = Explainer(Cluster().node("n1", cpu=5).add(job).objects()).why("tf").remedies
    assert ("job default/tf: minAvailable 3 -> 2" in [each.change for each in found]) is offered


def test_resources_that_reclaim_frees_for_a_part_of_a_gang_are_counted():
    conf = """\
actions: "allocate, reclaim"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: capacity}]
"""
    cluster = Cluster().node("n1", cpu=8).queue("a", deserved=2).queue("b", deserved=2).job(
        "old", queue="a", pods=8, min_member=1, cpu=1, running={"n1": 8}).job(
        "new", queue="b", pods=4, cpu=1)
    explain = Explainer(cluster.objects(), conf)
    shown = next(cause for cause in explain.why("new").causes
                if cause.code == "victims_insufficient")
    assert shown.text.startswith("reclaim finds resources for 2 of the 4 pods")
    tried = {record["task"] for record in explain.trace.of("do", operation="pipeline")}
    assert len(tried) == shown.sentences[0].facts["freed"]
    assert not explain.session.jobs["default/old"].in_status(RELEASING)


class Moonless(Plugin):
    """Refuses all nodes."""

    def predicate(self, task, node):
        return "no moon"


def test_a_node_that_a_plugin_of_ones_own_refuses():
    register_plugin("moonless", Moonless)
    try:
        found = Cluster().node("n1", cpu=4).job("a", cpu=1).why("a", conf=(
            "actions: allocate\ntiers: [{plugins: [{name: gang}, {name: moonless}]}]"))
    finally:
        unregister_plugin("moonless")
    assert found.head.startswith("a waits for a node that fits: 1 of 1 refused (no moon).")


GANG = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: gang}
spec:
  minAvailable: 3
  schedulerName: volcano
  tasks:
  - name: w
    replicas: 3
    template:
      metadata: {labels: {app: gang}}
      spec: {FIELD containers: [{name: c, PORTS resources: {requests: {cpu: 3}}}]}
"""


@pytest.mark.parametrize(("field", "ports", "code", "second"), [
    ("", "ports: [{containerPort: 80, hostPort: 80}],", "host_ports", 4),
    ("topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
     "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: gang}}}],", "",
     "topology_spread", 1)])
def test_a_node_refused_for_pods_that_were_rolled_back_and_short(field, ports, code, second):
    """Once they are rolled back, no rule refuses the node any more."""
    cluster = Cluster()
    for name, cpu in (("n1", 5), ("n2", second)):
        cluster.node(name, cpu=cpu, labels={"kubernetes.io/hostname": name})
    found = cluster.add(GANG.replace("FIELD", field).replace("PORTS", ports)).why(
        "gang", conf="actions: allocate\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]")
    assert code in found.codes and "refused" not in found.codes and "plugin" not in found.text
    assert found.head.startswith("gang waits for ")


@pytest.mark.long
@pytest.mark.parametrize(("spec", "key", "bought"), [
    (APART % "zone", "zone", ", with the label zone=new"),
    (APART % "kubernetes.io/hostname", "zone", ""),  # each node is one
    ("topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, minDomains: 2, "
     "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {volcano.sh/job-name: web}}}]",
     "zone", ", with the label zone=new")])
def test_a_node_that_is_bought_is_in_a_domain_without_such_pods(spec, key, bought):
    found = Explainer(Cluster().add(NODE.replace("labels: {", f"labels: {{{key}: a, ") % (
        "n1", "n1", "", "110") + JOB % ("default", spec, "", "cpu")).objects()).why("web")
    assert f"1 more node like n1{bought} (web is placed on n1, 1 new node)" in map(
        str, found.remedies)
    assert len({each.change for each in found.remedies}) == len(found.remedies)


@pytest.mark.long
@pytest.mark.parametrize(("run", "found"), [
    (0, "2 more nodes like n1, each with a value of its own of zone (gang is placed on n1, n2, 2 "
        "new nodes)"),
    (2, "job default/gang: pod anti-affinity preferred, not required, for all its pods (once "
        "default/gang-0, default/gang-1 are created again with it, which exclude others until then;"
        " 2 pods of gang are placed on n1)")])
def test_pods_of_a_gang_that_exclude_each_other_by_zone(run, found):
    """Each new node is in a zone of its own; pods that run require it until they end."""
    term = {"labelSelector": {"matchLabels": {"app": "gang"}}, "topologyKey": "zone"}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pods = [pod(f"gang-{number}", "gang", f"n{number + 1}" if number < run else "",
                "Running" if number < run else "Pending", labels={"app": "gang"}, affinity=anti)
            for number in range(4)]
    cluster = Cluster([group("gang", minMember=4 - run), *pods])
    for name in ("n1", "n2"):
        cluster.node(name, cpu=5, memory="8Gi", labels={"zone": name})
    assert found in map(str, cluster.why(
        "gang", conf="actions: allocate\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]"
    ).remedies)
