"""Manifests in and out, with the defaults of a cluster and what its controllers make of them."""

from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.files import Reader, Unreadable
from volcano_lab.manifests.loader import Loaded, ManifestError
from volcano_lab.manifests.schema import found_text

__all__ = ["Loaded", "ManifestError", "Reader", "Unreadable", "found_text", "with_defaults"]
