"""The objects that the scheduler receives, as the Kubernetes and Volcano API define them.

`from volcano_lab.api.objects import Pod, Queue`; the modules below group them by theme, `meta` has
their common parts.
"""

from .affinity import *
from .cluster import *
from .ignored import IGNORED
from .job import *
from .meta import *
from .pod import *
from .storage import *
from .volcano import *
from .workloads import *

__all__ = ["IGNORED", "KINDS", *(name for name, thing in globals().items() if name[0].isupper()
                                 and getattr(thing, "__module__", "").startswith(__name__))]
