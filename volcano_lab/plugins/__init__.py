"""The plugins, one file each; they meet in the session and never import one another.

Importing this package registers them; each is loaded when a configuration first names it.
"""

from volcano_lab.framework.plugin import PLUGINS, UNMODELLED, plugin_class

BUILT_IN = {"binpack": "binpack:Binpack", "capacity": "capacity:Capacity",
            "cdp": "cdp:CooldownProtection", "conformance": "conformance:Conformance",
            "drf": "drf:Drf", "gang": "gang:Gang",
            "network-topology-aware": "network_topology_aware.plugin:NetworkTopologyAware",
            "nodegroup": "nodegroup:NodeGroup", "nodeorder": "nodeorder:NodeOrder",
            "overcommit": "overcommit:Overcommit", "pdb": "pdb:Pdb",
            "predicates": "predicates:Predicates", "priority": "priority:Priority",
            "proportion": "proportion:Proportion", "rescheduling": "rescheduling:Rescheduling",
            "resource-strategy-fit": "resource_strategy_fit.plugin:ResourceStrategyFit",
            "resourcequota": "resourcequota:ResourceQuotas", "sla": "sla:Sla",
            "task-topology": "task_topology.plugin:TaskTopologyPlugin", "tdm": "tdm:Tdm",
            "usage": "usage:Usage"}
"""Volcano's plugins: name in a configuration -> module and class in this package."""

LAB_PLUGINS: dict[str, str] = {}
"""Plugins of the lab's own, which Volcano does not have, in the same form."""

NOT_MODELLED = ("deviceshare", "extender", "numa-aware")

PLUGINS.built_in.update({name: f"volcano_lab.plugins.{place}"
                         for name, place in {**LAB_PLUGINS, **BUILT_IN}.items()})
UNMODELLED.update(NOT_MODELLED)


def answering(point: str) -> list[str]:
    """Return the plugins of Volcano that implement an extension point.

    >>> answering("overused")
    ['proportion']
    """
    return [name for name in BUILT_IN if hasattr(plugin_class(name), point)]
