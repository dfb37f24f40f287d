"""Reclaim and preempt: why no pod is evicted for a job, why a pod was, and what repeats."""

TEXTS = {
    "gang_content": ("Its gang has its minimum of {least}, so {actions:and} evicts no pod for more "
                     "of it.", "Its gang has its minimum of {least}, so {actions:and} evict no pod "
                     "for more of it."),
    "attempt.overused": "{action} does nothing for it: its queue is overused{sums:()}.",
    "attempt.not_eligible": "{action} does nothing for pod {pod}: {reason}{sums:()}.",
    "no_candidates.reclaim": "reclaim finds no node where evicting pods of other queues would "
                             "free enough.",
    "no_candidates.preempt": "preempt finds no node where evicting pods of its own queue would "
                             "free enough.",
    "no_candidates.closed": "reclaim takes nothing from {queues}.",
    "queue.holds": "queue {queue}, which holds {held} and has spec.reclaimable: false",
    "not_preemptable": "Pods of {jobs:3} have volcano.sh/preemptable: false.",
    "candidates": ("{action} finds {n} candidate (of {jobs:3}), but {plugin} allows none: {why}.",
                   "{action} finds {n} candidates (of {jobs:3}), but {plugin} allows none: {why}."),
    "protected": "it says so",
    "protected_by_gang": "evicting any would put its gang below its minimum",
    "protected_by_conformance": "they are critical",
    "not_less_important": "the lowest priority among their jobs is {least}, and this job has "
                          "{priority}",
    "protected_by_drf": "their jobs would then have a smaller dominant share than this job",
    "protected_by_cooldown": "they have run for less than their cooldown time",
    "protected_by_pdb": "a PodDisruptionBudget protects them ({budgets:3})",
    "protected_by_pdb.labels": "a PodDisruptionBudget protects them (pods without labels always)",
    "budget": "{budget} allows {allowed} disruptions",
    "victims_within_deserved": "{reasons:or}{sums:()}",
    "reclaim.within_deserved": "their queues hold no more than they deserve",
    "reclaim.below_guarantee": "their queue would fall below its guarantee",
    "reclaim.nothing_asked": "they hold nothing that the reclaimer requests",
    "queue.sums_of": "queue {queue}: {allocated} allocated, {deserved:bare} deserved",
    "deserved.sum": "The queues deserve {deserved} in total, and the cluster has {there:bare}.",
    "minimum_promised": "{action} evicts for its gang's minimum of {least}, and for no more.",
    "victims_insufficient": "{action} finds pods that may be evicted, but on no node would that "
                            "free enough.",
    "victims_insufficient.gang": "{action} could free resources for {made} of the {least} pods "
                                 "that its gang needs at once, and not for the others: no pod was "
                                 "evicted.",
    "victims_disagree": "{action} finds no pod that all plugins of a tier allow: they name "
                        "different ones.",
    "no_reclaim_action": "Queue {queue} holds {held} and deserves {deserved:bare}, but the "
                         "configuration has no reclaim action that would take it back.",
    "no_reclaim_action.closed": "Queue {queue} holds {held} and deserves {deserved:bare}, but the "
                                "configuration has no reclaim action that would take it back, and "
                                "its spec says reclaimable: false.",

    "times": ("once", "{n} times"),
    "clauses": "{parts:;}",
    "names.jobs": "{names:3}",
    "evicted_again": "Evicted {times} ({pods:3}), {whom}.",
    "evicted.pod": ("{pod} in cycle {cycles}", "{pod} in cycles {cycles}"),
    "evicted.for": "for {job} {times}",
    "evicted.each_time": ("for {job}", "each time for {job}"),
    "evicted.whom": "{whom:3}, {ways:and}",
    "evicted.by": "by {action}, as {rules:and} allowed it",
    "evicted.by_action": "by {action}",
    "evicted.taken": "The freed resources went to {jobs} {times} before {winners} was placed: a "
                     "later cycle gives them away again, in its own order.",
    "evicted.in_turn": "In turn, pods of {jobs} were evicted for it {times}.",
    "room_taken": "Pods were evicted for it {times}. Job {job}:",
    "stranded": ("Stranded since cycle {cycle}: {n} of its pods holds a place, its minimum is "
                 "{least}.", "Stranded since cycle {cycle}: {n} of its pods hold a place, its "
                 "minimum is {least}."),
    "stranded.evicted": "Evicted since then: {pods:3}, {whom}.",
    "stranded.from_start": "So it was from the first cycle that was seen.",
    "stranded.lost": "None of its pods was evicted then: they failed, were deleted, or lost their "
                     "node.",
    "stranded.short": "It did not have its minimum before.",
    "stranded.placed": "Placed since then: {jobs}.",
    "effect.placed": "{job} has {pods} placed",
    "effect.evicted": "{job} is evicted {times} instead of {before}",
    "effect.evicted_waits": "{job} is evicted {times} instead of {before}, and then waits",
    "effect.placed_in": "{job} is placed in cycle {cycle}",
    "effect.waits": "{job} waits",
    "row.evicted": "{pod} is evicted by {action}",
    "row.evicted_for": "{pod} is evicted by {action} for {job}",
    "timeline": "{cycles} cycles with {jobs} jobs and {evictions} evictions; ask why(name, cycle) "
                "about a job.",
    "timeline.job": "Job {job}:",
    "job_gone": "Job {job} was there from cycle {first} to cycle {last}; in cycle {now} it is "
                "gone.",
    "shuffled": "{action} evicts it, as the plugins that choose victims say.",
    "victim": "{action} evicts it from node {node} for pod {pod}: {plugins:and} of the deciding "
              "tier allowed it, and evicting {chosen} of {count} candidates is enough.",
    "victim.nobody": "no plugin",
    "less_important_claimant": "{victim} has priority {priority} and {claimant} {other}; plugin "
                               "priority, which compares them, is not asked about victims.",
    "less_important_claimant.absent": "{victim} has priority {priority} and {claimant} {other}; "
                                      "plugin priority, which compares them, is not configured.",
    "starving_beyond": "The minimum of {job} is {least}, but gang, which looks at that, is not "
                       "asked (enableJobStarving): for priority a job starves until all its pods "
                       "are placed.",
    "queue_of_victim": "Queue {queue} held {held} and deserves {deserved:bare}.",
    "queue_of_victim.later": "Plugin {plugin}, which compares these, was not asked: the first tier "
                             "that names a victim decides, and it is in a later one.",
}
