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
    policies, free = at(document, "spec.policies", {}), [*_ranges(document)]
    count = Counter[str]()
    for cpu, detail in at(document, "spec.cpuDetail", {}).items():
        count[str(at(detail, "numa", 0))] += any(str(cpu).isdecimal() and first <= int(cpu) <= last
                                                 for first, last in free)
    return Message("numa.node", node=str(at(document, "metadata.name")),
                   policy=str(policies.get("TopologyManagerPolicy", "none")),
                   cpus=str(policies.get("CPUManagerPolicy", "none")),
                   free=[str(count[each]) for each in sorted(count, key=lambda each: (
                       len(each), each))])


def _ranges(document: Any) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of CPUs that are free."""
    for part in str(at(document, "spec.numares.cpu.allocatable", "")).split(","):
        first, _, last = map(str.strip, part.partition("-"))
        if first.isdecimal() and (last or first).isdecimal():
            yield int(first), int(last or first)
