"""What a Numatopology says of its node: the lab does not model NUMA nodes, and `why` names these.

Volcano: pkg/scheduler/api/numa_info.go
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from volcano_lab.manifests.operators.model import at
from volcano_lab.messages import Message

OF_NUMA = "numa/"
"""Before the name of a node, in `Loaded.reports`."""


def of_node(document: Any) -> Message:
    """Return the policies of a node, and how many of its CPUs are free on each of its NUMA nodes.

    >>> found = of_node({"metadata": {"name": "n1"}, "spec": {
    ...     "policies": {"TopologyManagerPolicy": "restricted", "CPUManagerPolicy": "static"},
    ...     "numares": {"cpu": {"allocatable": "0,2-3"}},
    ...     "cpuDetail": {"0": {}, "1": {}, "2": {"numa": 1}, "3": {"numa": 1}}}})
    >>> found.facts["policy"], found.facts["cpus"], found.facts["free"]
    ('restricted', 'static', ['1', '2'])
    """
    policies, free = at(document, "spec.policies", {}), {*_cpus(document)}
    count = Counter[int]()
    for cpu, detail in at(document, "spec.cpuDetail", {}).items():
        count[int(at(detail, "numa", 0))] += cpu in free
    return Message("numa.node", node=str(at(document, "metadata.name")),
                   policy=str(policies.get("TopologyManagerPolicy", "none")),
                   cpus=str(policies.get("CPUManagerPolicy", "none")),
                   free=[str(count[each]) for each in sorted(count)])


def _cpus(document: Any) -> Iterator[str]:
    """Yield the CPUs that are free."""
    for part in str(at(document, "spec.numares.cpu.allocatable", "")).split(","):
        first, _, last = part.partition("-")
        if first.strip().isdecimal() and (last or first).strip().isdecimal():
            yield from map(str, range(int(first), int(last or first) + 1))
