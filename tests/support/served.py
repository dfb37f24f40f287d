"""What the tests of `volcano-lab serve` put into its folder, and how they read its metrics."""

from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

NODE = ("{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, "
        'status: {{allocatable: {{cpu: "{cpu}", pods: "10"}}}}}}')
JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: {name}}}
spec:
  minAvailable: {pods}
  tasks:
  - replicas: {pods}
    name: worker
    template: {{spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}}}
"""
GOOD_CONF = ("actions: 'enqueue, allocate'\ntiers:\n- plugins:\n"
             "  - name: gang\n  - name: predicates\n  - name: {plugin}\n")


def node(name="n1", cpu=4):
    return NODE.format(name=name, cpu=cpu)


def job(name="a", pods=1, cpu=1):
    return JOB.format(name=name, pods=pods, cpu=cpu)


def scrape(url):
    families = text_string_to_metric_families(urlopen(url, timeout=10).read().decode())
    return {(sample.name, *sorted(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples}
