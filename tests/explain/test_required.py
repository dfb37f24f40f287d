"""What a pod requires of labels, of company, of its spread and of its gang's roles, and what there
is of it.
"""

from random import Random

import pytest
import small_cluster as small

from volcano_lab import Cluster
from volcano_lab.api.objects import Taint
from volcano_lab.explain import Explainer
from volcano_lab.explain.required import spread_counts
from volcano_lab.explain.rules import RULES
from volcano_lab.messages.texts import TEXTS

ALLOCATE = """\
actions: "allocate"
tiers:
- plugins: [{name: gang}, {name: predicates}]
"""
NODE = """\
{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, \
{labels}}}}}, status: {{allocatable: {{cpu: 4, pods: 9}}}}}}"""
POD = """\
{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: {space}, labels: {{app: {app}}}, \
annotations: {{scheduling.k8s.io/group-name: web, volcano.sh/task-spec: {app}}}}}, spec: {{\
schedulerName: volcano, {spec}, containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}, \
status: {{phase: {phase}}}}}"""
GROUP = """\
{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: web, \
namespace: default}}, spec: {{minMember: {least}, {more}}}, status: {{phase: Inqueue}}}}"""
SPREAD = ("topologySpreadConstraints: [{{topologyKey: zone, maxSkew: {skew}, whenUnsatisfiable: "
          "DoNotSchedule, labelSelector: {{matchLabels: {{app: web}}}}{more}}}]")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod(name, spec, node="", app="web", space="default"):
    return POD.format(name=name, space=space, app=app, phase="Running" if node else "Pending",
                      spec=f"nodeName: {node}, {spec}" if node else spec)


def why(nodes, pods, least=1, more="queue: default"):
    parts = [NODE.format(name=name, labels=labels) for name, labels in nodes.items()]
    objects = Cluster().add("\n---\n".join([*parts, GROUP.format(least=least, more=more), *pods]))
    return Explainer(objects.objects(), ALLOCATE).why("web")


def beside(app, term=""):
    return (f"affinity: {{podAffinity: {{{REQUIRED}: [{{topologyKey: kubernetes.io/hostname, "
            f"labelSelector: {{matchLabels: {{app: {app}}}}}{term}}}]}}}}")


def labelled(*parts):
    each = ", ".join(f"{{key: {key}, operator: In, values: [{value}]}}" for key, value in parts)
    return (f"affinity: {{nodeAffinity: {{{REQUIRED}: {{nodeSelectorTerms: "
            f"[{{matchExpressions: [{each}]}}]}}}}}}")


@pytest.mark.parametrize("sentence, spec, nodes, said", [
    ("two labels that no node has together", labelled(("zone", "a"), ("kind", "big")),
     {"n1": "zone: a", "n2": "zone: b, kind: big", "n3": "zone: a"},
     "Its node affinity requires zone In a (2 of 3 nodes) and kind In big (1 of 3 nodes)."),
    ("a skew", SPREAD.format(skew=1, more=""), {"n1": "zone: a", "n2": "zone: b, full: x"},
     "allows 1 such pods in a domain (maxSkew 1 above the fewest): a has 1, b has 0."),
    ("a skew over all nodes", SPREAD.format(skew=1, more=", nodeAffinityPolicy: Ignore")
     + ", nodeSelector: {kind: x}", {"n1": "zone: a, kind: x", "n2": "zone: b"},
     "allows 1 such pods in a domain (maxSkew 1 above the fewest): a has 1, b has 0."),
    ("domains that are not there", SPREAD.format(skew=1, more=", minDomains: 2"),
     {"n1": "zone: a"}, "minDomains is 2 and there are 1 domains, so the fewest counts as 0.")])
def test_what_nodes_lack_of_it_is_counted(sentence, spec, nodes, said):
    full = ["{apiVersion: v1, kind: Pod, metadata: {name: full, namespace: sys}, spec: "
            "{nodeName: n2, schedulerName: default-scheduler, containers: [{name: c, resources: "
            "{requests: {cpu: 4}}}]}, status: {phase: Running}}"] if "full" in str(nodes) else []
    found = why(nodes, [pod("web-0", spec, "n1"), pod("web-1", spec), *full])
    assert said in found.text, sentence


def test_a_topology_that_no_node_has_is_named_with_the_nearest():
    term = beside("db").replace("kubernetes.io/hostname", "kubernetes.io/rack")
    found = why({"n1": "", "n2": ""}, [pod("web-0", term), pod("db-0", "priority: 0", "n2", "db")])
    assert ("No node has kubernetes.io/rack; the nearest label is kubernetes.io/hostname."
            in found.text)


def test_the_label_by_which_others_exclude_a_pod_is_named():
    found = why({"n1": ""}, [pod("web-0", "priority: 0"), pod(
        "db-0", beside("web").replace("podAffinity", "podAntiAffinity"), "n1", "db")])
    assert ("In the way: default/db-0 (n1). Their anti-affinity excludes pods with app=web, which "
            "this pod has, from the same kubernetes.io/hostname.") in found.text


def test_company_in_another_namespace_is_named():
    found = why({"n1": "", "n2": ""}, [pod("web-0", beside("db")),
                                       pod("db-0", "priority: 0", "n2", "db", "infra")])
    assert ("infra/db-0 is in namespace infra, and the term searches default (namespaces)."
            in found.text)


def test_company_that_is_searched_for_in_its_namespace_is_not_missing():
    found = why({"n1": "", "n2": ""}, [
        pod("web-0", beside("db", ", namespaces: [infra]")),
        pod("db-0", "priority: 0", "n2", "db", "infra")])
    assert found.text.startswith("web does not wait.")


@pytest.mark.long
@pytest.mark.parametrize("role, first", [
    ("webs", "both: job default/web: minimum of role webs 2 -> none; job default/web: minimum of "
             "role web unset -> 2 (web is placed on n1)"),
    ("ps", "job default/web: minimum of role ps 2 -> none (web is placed on n1)")])
def test_a_minimum_of_a_role_that_no_pod_has(role, first):
    found = why({"n1": ""}, [pod("web-0", "priority: 0"), pod("web-1", "priority: 0")], 2,
                f"minTaskMember: {{{role}: 2}}")
    assert found.head.startswith(
        f"web waits for its gang: 0 of 2 pods of role {role} exist that may run.")
    assert str(found.remedies[0]) == first
    assert ("the role of its pods is web" in found.text) == (role == "webs")


@pytest.mark.parametrize(("spec", "which"), [
    ("nodeSelector: {disk: ssd}", "with disk=ssd"), (labelled(("disk", "ssd")),
                                                     "with matching labels")])
def test_what_refuses_the_nodes_whose_labels_fit_comes_before_other_labels(spec, which):
    nodes = {"m1": "disk: ssd", "m2": "disk: ssd", "n1": "disk: hdd", "n2": "zone: a",
             "n3": "zone: a"}
    parts = [NODE.format(name=name, labels=labels) for name, labels in nodes.items()]
    cordoned = [text.replace("status:", "spec: {unschedulable: true}, status:", 1)
                if "name: m" in text else text for text in parts]
    objects = Cluster().add("\n---\n".join([
        *cordoned, GROUP.format(least=1, more="queue: default"), pod("p", spec)]))
    found = Explainer(objects.objects(), ALLOCATE).why("web")
    assert [cause.code for cause in found.causes] == ["cordoned", "node_affinity"]
    assert str(found).startswith(
        f"web waits for a node that fits: 2 of 2 {which} cordoned.")
    assert found.causes[1].text.startswith(
        "3 of 5 nodes (n1, n2, n3) cannot take pod default/p: no matching labels")


@pytest.mark.parametrize(("now", "preemptable", "said"), [
    (11, "false", "which the pod does not allow (not allow to dispatch to revocable node)."),
    (23, "true", "It is 23:00 UTC in this cycle; the zone is open 10:00-21:00 (argument"),
])
def test_the_hours_of_a_revocable_zone_are_said_where_they_refuse_it(now, preemptable, said):
    conf = ("actions: allocate\ntiers: [{plugins: [{name: tdm, arguments: "
            "{tdm.revocable-zone.night: '10:00-21:00'}}]}]")
    cluster = Cluster().node("n1", cpu=4, labels={"volcano.sh/revocable-zone": "night"})
    cluster.add(POD.format(name="web-0", space="default", app="web", phase="Pending",
                           spec="nodeSelector: {}").replace("annotations: {", "annotations: {"
                           f"volcano.sh/preemptable: '{preemptable}', "))
    cluster.add(GROUP.format(least=1, more="queue: default"))
    found = cluster.why("web", conf=conf, now=now * 3600.0)
    assert said in found.causes[0].text and ("UTC" in found.causes[0].text) == (now == 23)
    assert ("in a revocable zone, open 10:00-21:00 (UTC)." in found.head) == (now == 23)


@pytest.mark.parametrize(("hours", "now", "wider"), [
    ("10:00-21:00", 23, "10:00-23:59"), ("10:00-21:00", 9, "09:00-21:00"),
    ("10:30-21:00", 10, "10:00-21:00"), ("9:00-9:30", 7, "07:00-9:30"),
    ("22:00-06:00", 3, "00:00-23:59"),  # after midnight nothing is left of it
    ("", 3, "00:00-23:59"), ("10-21", 3, "00:00-23:59"), ("10:00-21:00", 12, None)])
def test_a_revocable_zone_may_be_open_at_this_hour(hours, now, wider):
    zones = f", arguments: {{tdm.revocable-zone.night: '{hours}'}}" if hours else ""
    conf = f"actions: allocate\ntiers: [{{plugins: [{{name: tdm{zones}}}]}}]"
    cluster = Cluster().node("n1", cpu=4, labels={"volcano.sh/revocable-zone": "night"})
    cluster.add(POD.format(name="web-0", space="default", app="web", phase="Pending",
                           spec="nodeSelector: {}").replace("annotations: {", "annotations: {"
                           "volcano.sh/preemptable: 'true', "))
    cluster.add(GROUP.format(least=1, more="queue: default"))
    found = cluster.why("web", conf=conf, now=now * 3600.0)
    assert [each.args for each in found.remedies] == [[
        "--set", f'plugin/tdm.tdm.revocable-zone.night="{wider}"']] * bool(wider)


def test_a_revocable_zone_other_than_all_is_said_to_allow_none():
    conf = ("actions: allocate\ntiers: [{plugins: [{name: tdm, arguments: "
            "{tdm.revocable-zone.night: '00:00-23:59'}}]}]")
    cluster = Cluster().node("n1", cpu=4, labels={"volcano.sh/revocable-zone": "night"})
    cluster.add(POD.format(name="web-0", space="default", app="web", phase="Pending",
                           spec="nodeSelector: {}").replace("annotations: {", "annotations: {"
                           "volcano.sh/preemptable: 'true', volcano.sh/revocable-zone: night, "))
    cluster.add(GROUP.format(least=1, more="queue: default"))
    found = cluster.why("web", conf=conf, now=36000.0)
    assert ('the annotation volcano.sh/revocable-zone is "night" and allows no zone, whatever '
            "volcano.sh/preemptable is") in found.text
    assert [each.change for each in found.remedies][:1] == [
        "job default/web: volcano.sh/revocable-zone night -> *"]


@pytest.mark.parametrize("reason", RULES)
def test_a_reason_against_nodes_has_a_sentence_and_a_gap_for_the_first_line(reason):
    code, rule = RULES[reason]
    assert {f"gap.{code}", f"rule.{rule}"} <= TEXTS.keys()


def spread_scene(seed):
    """Nodes of which some lack labels or are tainted, pods of which some leave or are of another
    namespace, and a pod with one or two constraints.
    """
    random, nodes, pods = Random(seed), [], []
    for number in range(5):
        labels = {"zone": random.choice("abc"), "rack": random.choice("xy"), "disk": "ssd"}
        for label in random.choices([*labels, ""], k=1):
            labels.pop(label, None)
        each = small.node(f"n{number}", labels=labels)
        nodes.append(each if random.random() > 0.3 else each.changed(
            spec={"taints": [Taint("old", "", "NoSchedule")]}))
    for number in range(8):
        each = small.pod(f"o-{number}", "o", random.choice(nodes).name,
                         labels={"app": random.choice(["web", "web", "db"])})
        pods.append(each.changed(metadata=random.choice([
            {}, {}, {"namespace": "other"}, {"deletion_timestamp": 1.0}])))
    wanted = [{"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
               "labelSelector": {"matchLabels": {"app": "web"}},
               "nodeAffinityPolicy": random.choice(["Honor", "Ignore"]),
               "nodeTaintsPolicy": random.choice(["Honor", "Ignore"])}
              for key in random.choice([["zone"], ["rack", "zone"]])]
    new = small.pod("new", "new", labels={"app": "web"}, topologySpreadConstraints=wanted,
                    nodeSelector=random.choice([{}, {"disk": "ssd"}]))
    return nodes, pods, new


def domains_by_definition(nodes, pods, new, constraint, keys):
    """What Kubernetes counts for a pod: pods of its namespace that match and stay, on nodes with
    all labels that it may use, as far as the constraint's policies say so.
    """
    counts = {}
    for node in nodes:
        labels = node.metadata.labels
        honors = (constraint.node_affinity_policy == "Ignore"
                  or new.spec.node_selector.items() <= labels.items())
        tolerates = constraint.node_taints_policy == "Ignore" or not node.spec.taints
        if keys <= labels.keys() and honors and tolerates:
            domain = labels[constraint.topology_key]
            counts[domain] = counts.get(domain, 0) + sum(
                pod.spec.node_name == node.name and pod.namespace == new.namespace
                and pod.metadata.deletion_timestamp is None and pod.metadata.labels["app"] == "web"
                for pod in pods)
    return counts


@pytest.mark.parametrize("seed", range(16))
def test_the_domains_of_a_spread_are_those_that_kubernetes_counts(seed):
    nodes, pods, new = spread_scene(seed)
    objects = [small.queue(), small.group("o"), small.group("new"), *nodes, *pods, new]
    seen = Explainer(objects, ALLOCATE).evidence
    said = {each.facts["key"]: each.facts for each in spread_counts(seen, new, None)
            if "domains" in each.facts}
    keys = {each.topology_key for each in new.spec.topology_spread_constraints}
    for each in new.spec.topology_spread_constraints:
        counts = domains_by_definition(nodes, pods, new, each, keys)
        most = min(counts.values(), default=0) + 1
        if not counts or most > max(counts.values()):
            assert each.topology_key not in said
            continue
        facts = said[each.topology_key]
        assert facts["most"] == most and counts == {
            one.facts["value"]: one.facts["count"] for one in facts["domains"]}


@pytest.mark.parametrize(("label", "said"), [
    ("gang", "such pods: default/gang-0 (n1, placed in this cycle)."),
    ("other", "they wait for each other: one of the two affinities has to be preferred")])
def test_company_is_that_of_the_attempt_and_a_circle_one_that_no_pod_begins(label, said):
    """A pod that matches its own term is let in first."""
    pods = []
    for number, own in enumerate(("gang", label)):
        term = {"labelSelector": {"matchLabels": {"app": {"gang": label}.get(own, "gang")}},
                "topologyKey": "pool"}
        pods.append(small.pod(f"gang-{number}", "gang", labels={"app": own}, requests={"cpu": "3"},
                              affinity={"podAffinity": {REQUIRED: [term]}}))
    cluster = Cluster([small.group("gang", minMember=2), *pods])
    for name in ("n1", "n2"):
        cluster.node(name, cpu=4, memory="8Gi", labels={"pool": name})
    text = cluster.why("gang", conf=small.conf("gang", "predicates", actions="allocate")).text
    assert said in text and ("each other" in text) is (label == "other")
    cordoned = cluster.changed("node/n2.labels.pool=n1", "node/n2.unschedulable=true").node(
        "n3", cpu=4, memory="8Gi", labels={"pool": "n3"}).node(
        "n4", cpu=4, memory="8Gi", labels={"pool": "n3"})
    codes = cordoned.why("gang", conf=small.conf("gang", "predicates", actions="allocate")).codes
    assert codes[-1] == "pod_affinity" if label == "gang" else codes[0] == "pod_affinity", codes


def test_the_pods_that_an_affinity_requires_are_named_by_its_expressions():
    selector = {"matchLabels": {"app": "db"},
                "matchExpressions": [{"key": "tier", "operator": "In", "values": ["one", "two"]}]}
    term = {"topologyKey": "zone", "labelSelector": selector}
    cluster = Cluster([small.node("n1", labels={"zone": "a"}), small.group("web"), small.pod(
        "web-0", "web", affinity={"podAffinity": {REQUIRED: [term]}})])
    text = " ".join(str(cluster.why("web")).split())
    assert "It requires a pod with app=db, tier In one, two in the same zone" in text
