"""The one language of change: a path and a value (`queue/a.weight=5`), objects added and removed, a
configuration; parsed, applied, as messages and as commands of kubectl.

Volcano: none
"""

from volcano_lab.changes.change import Change
from volcano_lab.changes.conf import change_conf, parted
from volcano_lab.changes.objects import change

__all__ = ["Change", "change", "change_conf", "parted"]
