"""The one language of change: a path and a value (`queue/a.weight=5`), objects added and removed, a
configuration; parsed, applied, as messages and as commands of kubectl.

Volcano: none
"""

from volcano_lab.changes.change import Change, path_text, value_before, value_text
from volcano_lab.changes.conf import change_conf, parted, value_of
from volcano_lab.changes.draft import Draft, Index, keys_of
from volcano_lab.changes.job_fields import at_path, requests_of
from volcano_lab.changes.objects import UNSCHEDULABLE, change, key_of

__all__ = ["UNSCHEDULABLE", "Change", "Draft", "Index", "at_path", "change", "change_conf",
           "key_of", "keys_of", "parted", "path_text", "requests_of", "value_before", "value_of",
           "value_text"]
