"""The plugins: one file each; they meet in the session and never import one another.

Importing this package makes Volcano's plugins known by name; each is loaded when a configuration first names it.
"""

from volcano_lab.framework.plugin import register_not_modelled, register_plugin

BUILT_IN = {
    "binpack": "binpack:Binpack",
    "capacity": "capacity:Capacity",
    "cdp": "cdp:CooldownProtection",
    "conformance": "conformance:Conformance",
    "drf": "drf:Drf",
    "gang": "gang:Gang",
    "network-topology-aware": "network_topology_aware:NetworkTopologyAware",
    "nodegroup": "nodegroup:NodeGroup",
    "nodeorder": "nodeorder:NodeOrder",
    "overcommit": "overcommit:Overcommit",
    "pdb": "pdb:Pdb",
    "predicates": "predicates:Predicates",
    "priority": "priority:Priority",
    "proportion": "proportion:Proportion",
    "rescheduling": "rescheduling:Rescheduling",
    "resource-strategy-fit": "resource_strategy_fit:ResourceStrategyFit",
    "resourcequota": "resourcequota:ResourceQuotas",
    "sla": "sla:Sla",
    "task-topology": "task_topology:TaskTopologyPlugin",
    "tdm": "tdm:Tdm",
    "usage": "usage:Usage",
}
"""Plugin name in a configuration -> module and class in this package."""

NOT_MODELLED = {
    "deviceshare": "GPU, vGPU and NPU sharing",
    "extender": "calls to an outside scheduler",
    "numaaware": "NUMA topology within a node",
}

for _name, _place in BUILT_IN.items():
    register_plugin(_name, f"volcano_lab.plugins.{_place}")
for _name, _what in NOT_MODELLED.items():
    register_not_modelled(_name, f'plugin "{_name}" is not modelled by the lab ({_what}); the rest of the configuration runs.')
