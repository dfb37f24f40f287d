"""Lint: fields without an effect, what contradicts itself or cannot work, and what to do."""

TEXTS = {
    "notice": "{place}: {what}.",
    "sentence": "{what}.",
    "finding": "{place}: {what}{remedy:()}",
    "place.queue": "Queue {name}",
    "place.job": ("Job {names:3}", "Jobs {names:3}"),
    "place.plugin": "Plugin {name}",
    "place.object": "{kind} {name}",
    "place.configuration": "configuration",
    "place.cluster": "cluster",

    "unread.only": "{field} has no effect: only the plugin {plugin} reads it, and the "
                   "configuration does not name it",
    "unread.scheduler": "{field} has no effect on the scheduler: only the plugin {plugin} reads "
                        "it, and the configuration does not name it",
    "unread.annotation": "the annotation {field} has no effect: only the plugin {plugin} reads "
                         "it, and the configuration does not name it",
    "unread.limits": "{field} has no effect: proportion and capacity read it, and the "
                     "configuration names neither",
    "unread.parent": "{field} has no effect: it takes the plugin capacity (for affinity, "
                     "nodegroup) with enableHierarchy: true",
    "unread.hierarchy": "the annotation {field} has no effect: it takes the plugin drf with "
                        "enableHierarchy: true",
    "unread.root_parent": "{field} is \"{found}\" and has no effect: allowed is none, the root is "
                          "above all other queues",
    "unread.usage": "it refuses no node and prefers none, as no node's usage is known (the lab "
                    "reads the annotation {field})",
    "unread.queue_label": "that its pods name queue {found} has no effect: when Volcano makes a "
                          "PodGroup it reads their annotation {allowed}",
    "unread.tier_name": "{field} {found} has no effect: no HyperNode has this tierName; there are "
                        "{allowed:,}",
    "unread.tier_name.none": "{field} {found} has no effect: no HyperNode has a tierName",
    "unread.partition_tier": "{field} {found} of its partitionPolicy has no effect in v1.14.0, so "
                             "that its sub-groups lie anywhere; write {allowed}",
    "unread.tier": "highestTierAllowed: {tier}",
    "unread.tier_number": "a tier's number",
    "unread.resource": "{field} names {found}, of which no node has anything; near it is {allowed}",
    "unread.one_pod": "it is {found} and named by {pods} pods; Volcano does not look at that, and "
                      "places them all",

    "two_shares": "The plugins proportion and capacity both say what queues deserve, and "
                  "contradict each other: name one of them",
    "guarantees_above_cluster": "Queues are guaranteed {sum} in sum ({parts:,}), and the cluster "
                                "has {total}",
    "guarantee": "{queue} {amount:bare}",
    "queue_circle": "Queues stand below each other in a circle ({queues}), so that they and all "
                    "below them hang on nothing and may hold nothing: give one of them another "
                    "spec.parent",
    "driver_unknown": "PersistentVolumeClaim {claim} counts as a volume of the driver {driver}, "
                      "and no node has a CSINode that offers any: Volcano places no pod with this "
                      "claim. Install the driver, or start Volcano's scheduler with "
                      "--ignored-provisioners={driver} (ignored-provisioners in the lab's "
                      "configuration)",
    "tree.capability": "Queue \"{queue}\": spec.capability <{found}> is more than that of its "
                       "parent \"{parent}\", <{allowed}>, which limits it",
    "tree.sum": "Queue \"{queue}\": its children's {field} add up to <{found}>, more than its own "
                "<{allowed}>; they can't all have it at once",

    "plugin_twice": "the plugin {plugin} is named more than once",
    "plugin_twice.remedy": "name it in one tier",
    "all_switched_off": "all switches of the plugin {plugin} that it needs are off, so it does "
                        "nothing",
    "all_switched_off.remedy": "take it out, or switch it on",
    "no_votes": "the action {action} runs, and no plugin answers {point}, so it evicts no pod",
    "no_votes.remedy": "add gang, and a plugin that says what queues deserve",
    "nothing_reclaimable": "the action reclaim runs, and every queue has reclaimable: false",
    "nothing_reclaimable.remedy": "set reclaimable: true where it may take",
    "closed_in_use": "it is {state}, and jobs are in it",
    "closed_in_use.remedy": "open it, or move them",
    "not_leaf": "jobs are in it, and it has queues below",
    "not_leaf.remedy": "put jobs into a queue without children",
    "unusable": "no pod that requests {resource} may run in it: spec.capability of queue {level} "
                "is 0 for it",
    "unusable.remedy": "raise that capability",
    "unusable.kept": "no pod that requests {resource} may run in it: its real capability of that "
                     "is 0, for other queues are guaranteed all that there is",
    "unusable.kept.remedy": "lower their guarantees",
    "gang_too_large": "its minimum is {least} pods, and it has {pods}",
    "gang_too_large.remedy": "lower minAvailable, or raise replicas",
    "gang_above_cluster": "its minimum of {least} pods requests {asked}; all nodes together have "
                          "{total}",
    "gang_above_cluster.remedy": "lower minAvailable or the requests, or add nodes",
    "pod_above_nodes": "no node is large enough for its pod {pod}, were it empty",
    "pod_above_nodes.remedy": "lower its requests, or add a larger node",
}
