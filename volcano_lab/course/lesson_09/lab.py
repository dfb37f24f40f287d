"""The lab of preempt and reclaim: the votes on each candidate, the evicted pods, and what
became of the gang.
"""

from functools import cached_property
from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.boss import evicted
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.course.lesson_09 import scene
from volcano_lab.explain import Cause, Explainer
from volcano_lab.messages import gettext, mark
from volcano_lab.trace import Trace
from volcano_lab.widgets import pictures
from volcano_lab.widgets.controls import choice, group, slider, switch
from volcano_lab.widgets.lab import Lab, Values
from volcano_lab.widgets.plots import VOTES, votes
from volcano_lab.widgets.story import outcome

ORDERS = {"no eviction": (), "preempt": ("preempt",), "reclaim": ("reclaim",),
          "preempt, reclaim": ("preempt", "reclaim"), "reclaim, preempt": ("reclaim", "preempt")}
"""Its name in the lab -> the actions that follow allocate."""

JOB, FIRST = "default/urgent", "default/urgent-0"
SHORT = {"overcommit_refuses": "overcommit does not admit it",
         "reclaim_no_candidates": "reclaim has no candidate",
         "protected_by_drf": "drf keeps too many", "protected_by_gang": "gang keeps too many",
         "not_less_important": "too few candidates", "victims_insufficient": "too few candidates",
         "no_reclaim_action": "no action evicts such pods"}
"""Code of a cause -> the same in few words; the first one counts."""


def cluster_of(values: Values) -> Cluster:
    """Return the cluster that the controls describe."""
    return scene.eviction_cluster(**{name: value for name, value in values.items()
                                     if name not in ("actions", "one_tier")})


class Evicted:
    """One cycle of the lab: who was evicted, and what became of the gang."""

    def __init__(self, values: Values):
        self.cluster = cluster_of(values)
        self.conf = scene.conf_with(*ORDERS[values["actions"]], one_tier=values["one_tier"])
        self.cycle = self.cluster.run(self.conf, trace=Trace())
        self.evicted = evicted(self.cycle)

    @cached_property
    def end(self) -> str:
        """How the gang's statement ended."""
        tried = any(record["operation"] == "evict" for record in self.cycle.trace.of("do"))
        without = "discard" if tried else "not tried"
        return "commit" if self.evicted else without

    @cached_property
    def why(self) -> Cause:
        """Why nothing came of it, where nothing did."""
        causes = Explainer(self.cluster.objects(), self.conf).why(JOB).causes
        return next((each for code in SHORT for each in causes if each.code == code), causes[0])

    @property
    def text(self) -> str:
        """The outcome in a sentence."""
        if self.evicted:
            return gettext("{pods:and} evicted: their CPUs are promised to urgent",
                           pods=self.evicted)
        short = SHORT.get(self.why.code)
        return gettext(short) if short else self.why.text.rstrip(".。")

    @cached_property
    def votes(self) -> dict[str, Any]:
        """What was said of the candidates; why there were none."""
        drawn = votes(self.cycle.trace, self.cycle.session, FIRST, self.end == "discard")
        return drawn if drawn["rows"] else drawn | {"verdict": self.why.text}


CONTROLS = group("configuration", {
    "actions": choice("preempt", list(ORDERS), "actions"),
    "one_tier": switch(False, "one tier", about="all plugins that name victims are in tier 1"),
}) | group("urgent, in queue a", {
    "priority_class": choice("high", {"high": "high", "none": None}, "class"),
    "urgent_pods": slider(2, 1, 4, "pods", about="of 1 CPU, all or none"),
}, color=scene.COLORS["urgent"]) | group("old, in queue a", {
    "old_minimum": slider(1, 1, 3, "minimum", about="of its 3 pods"),
}, color=scene.COLORS["old"]) | group("greedy, in queue b", {
    "greedy_minimum": slider(1, 1, 9, "minimum", about="of its 9 pods"),
    "reclaimable": switch(True, "reclaimable", about="spec.reclaimable of queue b"),
    "preemptable": switch(True, "preemptable", about="the annotation of greedy's pods"),
}, color=scene.COLORS["greedy"])

PANELS = [pictures.cluster("Evicted pods, and promised nodes",
                           lambda at: scene.nodes_drawn(at.cycle), key="nodes", unit="CPUs",
                           wide="half", legend="Hollow: being evicted. Dashed: promised."),
          pictures.votes("Votes on the candidates for urgent-0", lambda at: at.votes,
                         key="votes", rows=3, wide="half", legend=VOTES)]
TASKS = tasks("09", {
    "not reclaimable": lambda values, at: not values["reclaimable"] and at.end == "commit",
    "who pays": lambda values, at: (
        values["actions"] == "preempt, reclaim" and {name[:3] for name in at.evicted} == {"old"}),
    "one pod more": lambda values, at: values["urgent_pods"] > 2 and at.end == "not tried"})


def evictions_lab() -> Lab:
    """Make the lab: the actions, the tiers, and the jobs of the lesson.

    >>> lab = evictions_lab()
    >>> lab.facts.evicted, lab.set(actions="no eviction").facts.end
    (['old-1', 'old-0'], 'not tried')
    """
    return Lab(CONTROLS, Evicted, PANELS, title="Two full nodes, and a gang that waits",
               tasks=TASKS, code=cluster_of,
               says=[outcome("The gang", lambda at: at.end, lambda at: at.text),
                     outcome("Evicted", lambda at: gettext("{pods:,}", pods=at.evicted) or "none")],
               opening=lambda at: at.text + mark("."),
               nothing=lambda at: gettext("As before: {text}", text=at.text + mark(".")))
