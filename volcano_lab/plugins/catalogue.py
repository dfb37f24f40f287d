"""The extension points as one table: what is asked, how answers combine, who answers, who asks.

Written down from `pkg/scheduler/framework/session_plugins.go`, the plugins and the actions of Volcano, not worked out from
the lab's code; a test compares it with what plugins register, with the switches of the configuration, and with who asks.
Plugins that the lab doesn't model (`NOT_MODELLED`) are left out.
"""

from __future__ import annotations

from attrs import define

from volcano_lab.framework.conf import SWITCHES
from volcano_lab.framework.points import extension_points

ANSWERS: dict[str, tuple[str, str, str]] = {
    "job_order": ("Which of two jobs comes first?", "drf gang priority sla tdm", "allocate backfill enqueue preempt reclaim"),
    "queue_order": ("Which of two queues comes first?", "capacity drf proportion",
                    "allocate backfill enqueue reclaim"),
    "victim_queue_order": ("Which of two queues loses a task first, to a third?", "capacity", "reclaim"),
    "task_order": ("Which of two tasks comes first?", "priority task-topology", "allocate backfill preempt reclaim"),
    "sub_job_order": ("Which of two sub-groups of a job comes first?", "gang priority", "allocate"),
    "cluster_order": ("Which of two clusters comes first?", "", ""),
    "job_valid": ("Why can a job not be scheduled, whatever the cluster has?", "gang", "allocate backfill preempt reclaim"),
    "pre_predicate": ("Why is there no point in looking at nodes for a task?", "capacity predicates proportion",
                      "allocate backfill preempt reclaim"),
    "predicate": ("Why can a task not go to a node?", "nodegroup predicates resource-strategy-fit tdm usage",
                  "allocate backfill preempt reclaim"),
    "simulate_predicate": ("Why could it not, once others are evicted?", "predicates", "preempt"),
    "simulate_add_task": ("What if a task were on a node?", "capacity predicates proportion", "preempt"),
    "simulate_remove_task": ("What if a task were gone from a node?", "capacity predicates proportion", "preempt"),
    "simulate_allocatable": ("Might a queue then take a task?", "capacity proportion", "preempt"),
    "allocatable": ("May a queue take a task?", "capacity proportion", "allocate preempt"),
    "preemptive": ("May a queue take back, from others, what a task needs?", "capacity proportion", "reclaim"),
    "job_ready": ("Has a job enough tasks placed to start?", "gang", "allocate backfill"),
    "sub_job_ready": ("Has a sub-group?", "gang", "allocate"),
    "overused": ("Has a queue all that it deserves?", "proportion", "allocate reclaim"),
    "job_starving": ("Does a job lack tasks for which others should be evicted?", "gang priority tdm", "preempt reclaim"),
    "job_pipelined": ("Has a job enough tasks placed, or waiting for room that is being freed?", "gang sla tdm",
                      "allocate preempt reclaim"),
    "sub_job_pipelined": ("Has a sub-group?", "gang", "allocate"),
    "job_enqueueable": ("May a job be let in?", "capacity overcommit proportion resourcequota sla", "enqueue"),
    "job_enqueued": ("A job has been let in.", "overcommit", "enqueue"),
    "reserved_nodes": ("Reserve nodes.", "", ""),
    "preemptable": ("Which tasks may a task of the same queue evict?", "cdp conformance drf gang pdb priority tdm", "preempt"),
    "reclaimable": ("Which tasks may a task of another queue evict?", "capacity cdp conformance drf gang pdb proportion",
                    "reclaim"),
    "victim_tasks": ("Which running tasks should move?", "pdb rescheduling tdm", "shuffle"),
    "node_order": ("How good is a node for a task?",
                   "binpack nodegroup nodeorder resource-strategy-fit task-topology tdm usage", "allocate backfill preempt"),
    "batch_node_order": ("How good are all these nodes?", "network-topology-aware nodeorder predicates",
                         "allocate backfill preempt"),
    "node_map": ("How good is a node, on a scale of the plugin's own?", "", "allocate backfill preempt"),
    "node_reduce": ("And on the common scale?", "", "allocate backfill preempt"),
    "best_node": ("Which node, whatever the scores?", "", "allocate backfill"),
    "hyper_node_order": ("How good is a HyperNode for a sub-group?", "network-topology-aware", "allocate"),
    "target_job": ("For which job should room be reserved?", "", ""),
    "hyper_node_gradient_for_job": ("Which HyperNodes may a job be tried in, the nearer ones first?",
                                    "network-topology-aware", "allocate"),
    "hyper_node_gradient_for_sub_job": ("And a sub-group, within the job's?", "network-topology-aware", "allocate"),
}
"""Point -> (the question, plugins that answer, actions that ask); nobody asks those that Volcano itself no longer uses."""


@define(slots=True, frozen=True)
class Row:
    """One extension point. `switches` are the configuration's keys, of which any one switches a plugin's answer on;
    `default` is what holds where no plugin answers."""

    point: str
    question: str
    rule: str
    default: str
    switches: tuple[str, ...]
    plugins: tuple[str, ...]
    asked_by: tuple[str, ...]


def table() -> list[Row]:
    """Every extension point, in the order in which the session holds them; of one's own, only the rule is known.

    >>> row = next(row for row in table() if row.point == "overused")
    >>> row.question, row.rule, row.default, row.switches, row.plugins
    ('Has a queue all that it deserves?', 'any one suffices', 'no', ('enabledOverused',), ('proportion',))
    """
    keys = {attribute: key for key, attribute in SWITCHES.items()}
    rows = []
    for point in extension_points(None).values():
        question, plugins, asked_by = ANSWERS.get(point.name, ("", "", ""))
        rows.append(Row(point.name, question, point.rule, point.default, tuple(keys[switch] for switch in point.switches),
                        tuple(plugins.split()), tuple(asked_by.split())))
    return rows
