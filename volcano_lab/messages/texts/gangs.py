"""Gangs and their pods: what is missing, and what became of places."""

TEXTS = {
    "gang.no_pods": "The PodGroup has no pods yet.",
    "gang.no_pods.short": "the PodGroup has no pods yet",
    "gang_invalid": "The gang is not valid ({reason}: {message}): {needs:,}.",
    "gang_invalid.role": "{least} pods of role {role} are needed, {count} exist that may run",
    "gang_invalid.all": "{least} pods are needed, {count} exist that may run",
    "gang_invalid.later": "With a minimum of {count}, pods that are created later are placed one "
                          "by one.",
    "hyper_nodes_not_ready": "Jobs with a network topology wait until the HyperNodes form a tree.",
    "no_gang": "The configuration does not name the plugin gang: its pods are placed one by one, "
               "whatever its minimum of {least}.",
    "no_gang.owner": "It is no gang: its {owner} came without a PodGroup, so Volcano's controller "
                     "created one with a minimum of 1, and its pods are placed one by one.",
    "gang_short": "The gang needs {least} pods at once: {found} placed, {short} not; all were "
                  "rolled back.",
    "gang_short.beside": "The gang needs {least} pods at once: {ready} were placed before, {found} "
                         "in this attempt, {short} not; the attempt was rolled back.",
    "gang_short.roles": "{placed} pods of its gang of {least} were placed, but not the ones that "
                        "its roles or sub-groups need; they were rolled back.",

    "topology.takes": "No single HyperNode{limit} holds {who}: {least} pods are needed together, "
                      "and {takes:,}.",
    "topology.take": "{hyper_node} takes {count}",
    "topology.placed": "Its placed pods are in {hyper_node}, and its own topology (hard, tier "
                       "{tier}) keeps the others there.",
    "topology.not_tried": "Not tried, as its minimum of {least} pods requests {need}: {left}.",
    "topology.left": "{hyper_node} has {amount} left",
    "topology.none": "There is no HyperNode{limit}, the highest tier that it allows.",
    "topology.full": "No HyperNode{limit} has enough left for {who}: its minimum of {least} pods "
                     "requests {need}, and {left}.",
    "topology.untried": "No HyperNode{limit} could be tried for {who}.",
    "topology.outside": "In no HyperNode of these tiers: {nodes}.",
    "topology.limit": " up to tier {tier}",
    "topology.it": "it",
    "topology.sub_group": "its sub-group",

    "job.head": "{job} waits for {gap}. ({status:,})",
    "job.waits": "{job} waits. ({status:,})",
    "job.stands": "{job} does not wait. ({status:,})",
    "status.phase": "PodGroup {phase}",
    "status.placed": "{placed} of {pods} pods placed",
    "status.no_pods": "no pods yet",
    "status.ended": "{count} succeeded",
    "status.promised": "{count} pipelined",
    "status.leaving": "{count} leaving",
    "status.failed": "{count} failed",
    "job.was_admitted": "It had been admitted, and its phase is Pending again, as none of its pods "
                        "runs.",
    "phase.unknown_waits": ("Unknown means: {n} of its pods runs, and this cycle cannot place the "
                            "rest of its gang of {least}.",
                            "Unknown means: {n} of its pods run, and this cycle cannot place the "
                            "rest of its gang of {least}."),
    "phase.unknown": ("Unknown means: {n} of its pods runs, fewer than its gang of {least}, and "
                      "none waits.",
                      "Unknown means: {n} of its pods run, fewer than its gang of {least}, and "
                      "none waits."),
    "phase.completed": "Completed does not mean that it has ended: {ended} of its pods have ended, "
                       "its minMember is {least}, none runs, and this phase counts no more.",
    "hours": "Node {node} is in the revocable zone {zone}, open {open} (UTC); it is {time} in this "
             "cycle.",

    "other_scheduler": ("Pod {pod} names the scheduler {schedulers} (spec.schedulerName); Volcano "
                        "places pods that name {own}.",
                        "{n} pods, such as {pod}, name the scheduler {schedulers} "
                        "(spec.schedulerName); Volcano places pods that name {own}."),
    "failed": "Pod {pod} failed: {message}.",
    "failed.refused": "The kubelet refused it: the node had less left than Volcano had counted.",
    "groups_beside": "{owner} has {count} PodGroups, each a gang of its own: {groups:3}.",
    "group": "{group} ({phase}, {pods})",
    "groups_beside.rollout": "During a rollout a Deployment creates only maxSurge new pods (25%, "
                             "unless set): fewer than a gang's minimum wait forever.",
    "deadline": "Plugin sla admits it from {moment} UTC on.",
    "deadline.past": "Plugin sla: its deadline was {moment} UTC, so sla admits it, before jobs "
                     "with a later deadline. That evicts no pod.",

    "promised": "{parts:3}",
    "promised.part": ("Pod {pod} is pipelined to node {node}: {why:;}.",
                      "{n} pods, such as {pod}, are pipelined to node {node}: "
                      "{why:;}."),
    "promised.evicts": "{action} evicts {pods:3}",
    "promised.leaves": "{pods:3} leaving",
    "promised.free": "it is free, and no pod leaves for it",
    "promised.more": "Others are pipelined to {count} more nodes.",
    "pod.of": "{pod} (of {job})",
    "promised.overdue": "overdue since {moment} UTC: the kubelet there does not answer, or a "
                        "finalizer keeps them",
    "promised.then": "The next cycle binds them once the resources are free (Pipelined).",
    "promised.again": "The next cycle tries them again (Pipelined).",
    "never_bound": "Pod {pod} is pipelined to node {node} in every cycle, where no pod is leaving, "
                   "and allocate refuses it in every cycle. It never starts while that stays so:",
    "never_bound.gang": "Pod {pod} is pipelined to node {node} in every cycle, where no pod is "
                        "leaving, and allocate binds none of its gang. It never starts while that "
                        "stays so.",
    "node_missing": ("Pod {pod} is on {nodes:3}, which is not among the objects.",
                     "{n} pods, such as {pod}, are on {nodes:3}, which are not among the objects."),
    "pods_leave": ("{n} of its pods is leaving its node.", "{n} of its pods are leaving their "
                   "nodes."),
    "pods_leave.all": ("{n} of its pods is leaving its node, and it has no others to place.",
                       "{n} of its pods are leaving their nodes, and it has no others to place."),
    "pods_leave.for": "{action} evicts {pods:3} for {job}.",
    "pods_leave.ask": "Ask why about {pod} to see which plugins allowed it.",
    "gated": ("Pod {pod} has a scheduling gate ({gates:3}); whoever set it has to remove it.",
              "{n} pods, such as {pod}, have a scheduling gate ({gates:3}); whoever set it has to "
              "remove it."),
    "no_backfill_action": ("Pod {pod} requests nothing; only backfill places such pods, and the "
                           "configuration does not have it.",
                           "{n} pods, such as {pod}, request nothing; only backfill places such "
                           "pods, and the configuration does not have it."),
    "no_default_sub_group": "Its pods belong to sub-groups. Without a hard network topology, "
                            "allocate looks at the pods that belong to none, and there are none.",
    "not_starving": "Its gang has its minimum, so no pod is evicted for more of it, and the "
                    "configuration has no allocate action.",
    "no_allocate_action": "The configuration has no allocate action.",
    "condition": "{reason}: {message}.",
    "no_turn": "This cycle did not reach it.",
    "unknown": "This cycle considered it, and recorded no refusal.",
    "pods_later": "Its pods do not exist yet (created after admission); this answer assumes that "
                  "they do.",
}
