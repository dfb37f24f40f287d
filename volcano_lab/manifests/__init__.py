"""Manifests in and out, with the defaults of a cluster and the objects its controllers create."""

from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.files import Reader, Unreadable
from volcano_lab.manifests.loader import Loaded, ManifestError
from volcano_lab.manifests.schema import found_text

__all__ = ["Loaded", "ManifestError", "Reader", "Unreadable", "found_text", "with_defaults"]
