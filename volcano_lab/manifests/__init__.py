"""Manifests in and out, with the defaults of a cluster and the objects its controllers create."""

from volcano_lab.manifests.admission import verdicts
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.files import Reader, Unreadable, values
from volcano_lab.manifests.loader import Loaded, ManifestError, from_dict
from volcano_lab.manifests.misfits import found_text
from volcano_lab.manifests.operators import OPERATORS, OperatorObject
from volcano_lab.manifests.owners import job_of
from volcano_lab.manifests.pod_group_controller import SCHEDULER
from volcano_lab.manifests.schema import unstructure
from volcano_lab.manifests.writer import to_dict

__all__ = ["OPERATORS", "SCHEDULER", "Loaded", "ManifestError", "OperatorObject", "Reader",
           "Unreadable", "found_text", "from_dict", "job_of", "to_dict", "unstructure", "values",
           "verdicts", "with_defaults"]
