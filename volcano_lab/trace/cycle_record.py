"""The old place of `trace.state.queue_attributes`."""

from volcano_lab.trace.state import queue_attributes as queue_attributes
