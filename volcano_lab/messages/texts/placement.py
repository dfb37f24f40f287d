"""Nodes: which rules refuse them, what they have left, volumes, and why one was chosen."""

TEXTS = {
    "nodes.refuse": "{n} of {count} nodes{inside}{names:()} cannot take pod {pod}: {rule}.",
    "node.refuses": "Node {node} cannot take pod {pod}: {rule}.",
    "nodes.after": "{then}, it would wait, too: {large} of {count} nodes are large enough.",
    "nodes.after.admitted": "Admitted",
    "nodes.after.queue": "With quota in its queue",
    "rule.quoted": "{reason}",
    "rule.taint": "a taint that the pod does not tolerate ({reason})",
    "rule.anti_affinity": "anti-affinity with a pod there ({reason})",
    "rule.pod_affinity": "no pod there that its affinity requires ({reason})",
    "rule.node_affinity": "no matching labels, nodeSelector or node affinity ({reason})",
    "rule.spread_label": "no label by which its topology spread counts ({reason})",
    "rule.topology_spread": "too many such pods in the domain, topology spread ({reason})",
    "rule.pods_exceeded": "the maximum number of pods is reached ({reason})",
    "rule.cordoned": "cordoned ({reason})",
    "rule.host_ports": "the host port is in use ({reason})",
    "rule.volume_node": "a volume of the pod cannot be reached from there ({reason})",
    "rule.volume_unbound": "no volume for a claim of the pod ({reason})",
    "rule.volume_missing": "a volume of the pod does not exist ({reason})",
    "rule.volume_limit": "the maximum number of volumes of a driver is reached ({reason})",
    "rule.volume_zone": "a volume of the pod is in another zone ({reason})",
    "rule.node_group_label": "no label volcano.sh/nodegroup-name, by which the affinity of queue "
                             "{queue} chooses ({reason})",
    "rule.node_group": "a node group that queue {queue} does not use ({reason})",
    "rule.node_group_unset": "queue {queue} has no node group affinity, and the nodes are in node "
                             "groups ({reason})",
    "rule.zone_closed": "a revocable zone that is closed at this hour ({reason})",
    "rule.zone_preemptable": "a revocable zone, and the pod is not preemptable ({reason})",
    "zone.now": "It is {time} UTC in this cycle.",
    "taint.kubernetes": "Kubernetes keeps this taint as long as the node is in that state.",
    "taint.near": "It tolerates {own}, and the taint is {taint}.",
    "label.near": "No node has {label}; the nearest label is {near}.",
    "label.values": "No node has {label}; there is {values:4}.",
    "label.none": "No node has the label {label}.",
    "ports": "It requests host port {ports}.",
    "pods.slots": "{node} has {own} pods of Volcano's jobs and {others} others, of at most {most}.",
    "in_the_way": "In the way: {pods}.",
    "pod.there": "{pod} ({node})",
    "pod.there_new": "{pod} ({node}, placed in this cycle)",
    "plugin.refuses": "plugin {plugin} refuses it",
    "inside.hyper_node": " of HyperNode {hyper_node}",
    "inside.devices": " with {devices}",

    "role_failed": "Pod {pod} was not tried on {nodes}: another pod of its role had not fitted "
                   "there in the same attempt.",
    "larger_than_any_node": "Pod {pod} requests {request}; no node{inside} is that large, even "
                            "empty: the largest has {largest:bare}.",
    "larger_than_any_node.some": "Pod {pod} requests {request}; no rule refuses {allowed} of "
                                 "{count} nodes{inside}, and none of these is that large, even "
                                 "empty: the largest has {largest:bare}.",
    "nodes_full.some": "Pod {pod} requests {request}; no rule refuses {allowed} of {count} "
                       "nodes{inside}: {left}.",
    "cluster_full": "Pod {pod} requests {request}; all {count} nodes{inside} together have "
                    "{total:bare} left.",
    "cluster_full.one": "Pod {pod} requests {request}; {node}, the only node{inside}, has "
                        "{total:bare} left.",
    "fragmented": "Pod {pod} requests {request}; the nodes{inside} have {total:bare} left in "
                  "total, but no single node has enough: {left}.",
    "left.each": "{nodes:,}",
    "left.one": "{node} has {left} left",
    "left.most": "the most that one node has left is {most}",
    "left.too_little": "{parts:and}",
    "left.short": "{nodes} have too little {resource} (at most {most:bare} left)",

    "insufficient": "Pod {pod} requests {request}; node {node} had {free:bare} left.",
    "only_node": "Node {node} was the only node that it fits.",
    "best_score": "Of {count} nodes that it fits, node {node} has the highest score, {total:.6g} "
                  "({points:,}), before node {second} with {less:.6g} ({fewer:,}).",
    "best_score.equal": "Of {count} nodes that it fits, node {node} has the highest score, "
                        "{total:.6g} ({points:,}), as has node {second} ({fewer:,}), which comes "
                        "later.",
    "points": "{plugin} {score:.6g}",
    "points.none": "no plugin scores it",

    "claim": "Pod {pod} fits no node: {why}.",
    "claim_missing": "its PersistentVolumeClaim {claim} does not exist",
    "claim_missing.ephemeral": "its PersistentVolumeClaim {claim} does not exist; Kubernetes "
                               "creates it for the pod",
    "claim_unbound.volume": "its PersistentVolumeClaim {claim} names the volume {volume} and is "
                            "not bound to it yet",
    "claim_unbound.no_class": "its PersistentVolumeClaim {claim} has no volume, and names no "
                              "StorageClass",
    "claim_unbound.lost_class": "its PersistentVolumeClaim {claim} has no volume, and there is no "
                                "StorageClass {storage_class}",
    "claim_unbound.immediate": "its PersistentVolumeClaim {claim} has no volume; StorageClass "
                               "{storage_class} binds at once (Immediate), before Volcano places "
                               "the pod",
    "driver_nowhere": "PersistentVolumeClaim {claim} counts as a volume of the driver {driver}, "
                      "and no node has a CSINode that offers any. Volcano places no pod with this "
                      "claim unless its scheduler runs with --ignored-provisioners={driver}.",
    "volume.reach": "PersistentVolume {volume} requires nodes with {terms:or}.",
    "with_volume": "With a volume, it would wait, too:",
}
