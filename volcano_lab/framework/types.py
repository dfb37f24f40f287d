"""Names that annotations need in modules which those that define them import."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from volcano_lab.framework.config.conf import PluginOption, Tier
    from volcano_lab.framework.placement.arrays import NodeArrays
    from volcano_lab.framework.session import Session
else:
    NodeArrays = PluginOption = Session = Tier = Any
