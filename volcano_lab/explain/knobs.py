"""All numbers that could be other than they are, by what they belong to: queues, jobs, the cluster
and its configuration.
"""

from __future__ import annotations

from volcano_lab.explain.cluster_knobs import ClusterKnobs
from volcano_lab.explain.job_knobs import JobKnobs
from volcano_lab.explain.knob import Knob, Objects
from volcano_lab.explain.queue_knobs import QueueKnobs

__all__ = ["Knob", "Knobs", "Objects"]


class Knobs(QueueKnobs, JobKnobs, ClusterKnobs):
    """The knobs of one cluster and configuration; each method gives those of one kind.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> conf = load_conf("actions: allocate")
    >>> knobs = Knobs(Cluster().queue("a", weight=2).objects(), conf)
    >>> knob = next(knobs.weight("a"))
    >>> knob.what, knob.field, knob.before, knob.turn(3)[0]
    ('queue a', 'weight', '2', '5')
    """
