"""Admission, and what queues may hold: who refuses, the sum, where the limit comes from."""

TEXTS = {
    "no_enqueue_action": "No action of the configuration admits jobs (enqueue or allocate).",
    "no_enqueue_action.short": "not admitted: the configuration has no enqueue action",
    "overcommit_refuses": "Not admitted by overcommit: {sums:;}.",
    "overcommit_refuses.short": "not admitted by overcommit: {sums:;}",
    "overcommit.sum": "{reserved} reserved + {requested:bare} requested = {asked:bare}, limit "
                      "{limit:bare} ({total:bare} in the cluster × factor {factor:g}{used})",
    "overcommit.used": ", less {used:bare} in use",
    "overcommit.none": "{requested} requested, and the nodes of the cluster have 0",
    "above_limit": "{asked} > limit {limit:bare}",
    "above_deserved": "{asked} > deserved {limit:bare}",
    "queue_refuses.short": "not admitted by queue {queue} ({plugin}): {sums:;}",
    "resource_quota": "Not admitted: ResourceQuota {quota} has too little {names:,} left "
                      "({sums:;}).",
    "resource_quota.short": "not admitted: ResourceQuota {quota} has too little {names:,} left",
    "resource_quota.sum": "{resource} {used} used + {pending} of jobs admitted in this cycle + "
                          "{asked} requested > {hard}",
    "never_starts": "{job} can never start here: {why}.",
    "never_starts.cluster": "its minimum is {least}, and the cluster has {there:bare}",
    "never_starts.large": "no node is large enough for its pods, even empty",
    "never_starts.rules": "no node that is large enough accepts its pods",
    "min_resources_beyond": "Its PodGroup's minResources are {least}; the pods that exist request "
                            "{asked:bare}.",
    "min_resources_ahead": "Its PodGroup's minResources are {least}: they count its {later}, which "
                           "are created when its other pods run; these request {asked:bare}.",
    "admission.refused": "Not admitted by plugin {plugin}{warning:()}.",
    "allocation.refused": "Plugin {plugin} does not let queue {queue} take pod {pod}{warning:()}.",

    "queue_closed": "Queue {queue} takes no jobs: its state is {state}, not Open{above}.",
    "queue_closed.short": "queue {queue} is {state}, not Open",
    "queue_closed.above": ", and so is that of {queues:and} above it",
    "queue": "queue {queue}",
    "queue.this": "Queue {queue}",
    "queue.above": "Queue {queue}, above queue {below},",
    "queue_over.admission": "{queue} refuses it: {only}{parts:+}{elastic} = {asked:bare}, limit "
                            "{limit:bare}{origin:()}.",
    "queue_over.pod": "{queue} refuses pod {pod}: {held} allocated + {each:bare} requested = "
                      "{asked:bare}, limit {limit:bare}{origin:()}.",
    "queue_over.too": "Queue {queue} would refuse it, too: {asked} > limit {limit:bare}"
                      "{origin:()}.",
    "sum.allocated": "{amount:bare} allocated",
    "sum.inqueue": "{amount:bare} reserved by admitted jobs",
    "sum.min_resources": "{amount:bare} requested",
    "sum.elastic": " - {amount:bare} above the minimums",
    "overused": "Queue {queue} is overused by {plugin}: {allocated} allocated, {deserved:bare} "
                "deserved. Allocate passes it over.",
    "overused.nothing": "Queue {queue} is overused by {plugin}: it deserves nothing. Allocate "
                        "passes it over.",
    "over_deserved": "Queue {queue} refuses pod {pod}: {held} allocated + {each:bare} requested = "
                     "{asked:bare}, deserved {deserved:bare}{why:()}.",
    "over_deserved.short": "queue {queue} refuses pod {pod}: {sums:;}",
    "queue_over.short": "queue {queue} refuses pod {pod}: {sums:;}",
    "over_deserved.rounding": "The difference is {differences:,} in internal units (rounding); "
                              "this comparison has no tolerance.",
    "difference": "{resource} {amount:.1e}",
    "weight": "weight {weight}",
    "resources.kept": "A node has free resources: they are kept for {queues:3}.",
    "resources.stranded": "A node has free resources that no queue can use: one more pod would "
                          "exceed the share of {queues:3}, too.",
    "queue.sums": "queue {queue} ({allocated} allocated, {deserved:bare} deserved)",
    "own_pods": ("Counted in: {n} pod of this job, placed earlier in the same attempt.",
                 "Counted in: {n} pods of this job, placed earlier in the same attempt."),
    "resource.unknown": "No node announces {resource}: such a node is missing, or the device "
                        "plugin on it does not run.",
    "resource.near": "No node announces {resource}; the nearest name is {near} "
                     "({amount:bare} on all nodes).",
    "init_containers": "Its init containers request this much; the other containers request "
                       "{later}.",
    "tree_broken": "The tree of queues is broken: {parts:3}. Until it is repaired, {plugin} admits "
                   "no job of any queue.",
    "tree.missing": "{queue}, the parent of {children:3}, does not exist ({near})",
    "tree.inner": "{job} is in {queue}, which has queues below it",
    "best_effort_queue": "Queue {queue} deserves nothing (best effort): its share counts as 1, "
                         "after every queue that holds less than it deserves.",
    "pod_too_large": "No node is large enough for its pod {pod}, even empty: {asked} requested, "
                     "the largest has {largest:bare}.",
    "near": "near: {names:,}",
    "near.none": "known: {names:8}",

    "origin.cluster": "all that the cluster has",
    "origin.capability": "its capability",
    "origin.parent": "the limit of queue {parent} above it",
    "origin.unnamed": "the capability of queue {above} above it names no {resource}",
    "origin.guarantee": "its own guarantee: {kept:bare} guaranteed to others leave nothing more of "
                        "{whole}",
    "origin.less": "{whole} - {kept:bare} guaranteed to {queues}",
    "origin.in_cluster": "{amount:bare} in the cluster",
    "origin.in_parent": "{amount:bare} of queue {parent} above it",

    "held_by": "Held by {holders:,}.",
    "held_by.used": "In use by {holders:,}.",
    "held_by.reserved": "Reserved by {holders:,}.",
    "held_by.resources": "Holders of {resources:and}: {holders:,}.",
    "held_by.queue": "Holders of {resources:and} in queue {queue}: {holders:,}.",
    "held_by.this_cycle": "Placed in this cycle: {holders:,}.",
    "held_by.later": "Placed after its refusal: {holders:,}.",
    "holder": "{job} {amount:bare}{about:()}",
    "holder.rest": "{jobs} {amount:bare}",
    "holder.ghosts": "{n} PodGroups without a single pod ({jobs:8}{each})",
    "holder.ghosts_each": ", {amount} each",
    "holder.no_pods": "its PodGroup has no pods",
    "holder.admitted": "admitted before it in this cycle",
    "holder.phase": "{phase}, {placed} of its {pods} placed",
    "holder.waits": "{pods} waiting",
    "strangers": "Pods that Volcano does not schedule hold {taken} ({pods:3}).",
    "node_over": "Node {node} has {held} in use and {allocatable:bare} allocatable.",
    "all_wait": "All of them wait for more themselves. Minimums (minMember, minResources) that "
                "count all that a job needs admit fewer at once.",
    "counted_twice": "Counted in: {amount} of its own, because the configuration names {plugin} "
                     "twice, and the first has admitted it.",

    "came_first": "Served before it: {first}. {plugin} compares {what}: {theirs} ({first}) before "
                  "{own} ({second}).",
    "came_first.decided": "Served before it: {first}, as {plugin} decides.",
    "came_first.older": "Served before it: {first}. All plugins put both level, and it is older.",
    "compared.share": "priority and share",
    "compared.dominant": "dominant shares",
    "compared.priority": "priorities of jobs",
    "compared.minimum": "whether a gang has its minimum",
    "compared.deadline": "deadlines",
    "compared.preemptable": "whether a job may be preempted",
    "compared.two": "{priority:.4g} and {share:.4g}",
    "yes": "yes",
    "no": "no",
    "priority.no_class": "{job} has priority {priority}: its PodGroup names no PriorityClass, and "
                         "the priority of its pods, {pods}, does not count between jobs.",
    "priority.lost_class": "{job} has priority {priority}: there is no PriorityClass {name} among "
                           "the objects, and the priority of its pods, {pods}, does not count "
                           "between jobs.",
}
