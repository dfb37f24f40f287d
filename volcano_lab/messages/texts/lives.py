"""What becomes of promises, what comes behind a first refusal, known defects of Volcano v1.14.0."""

TEXTS = {
    "promise_lost": "It does not keep that place: in the {cycles} cycles that follow, {count} pods "
    "are evicted ({victims:3}), and it has {placed} of {least} pods at the end.",
    "promise_lost.takers": "The places are given to {takers:3}: each cycle orders queues and jobs "
    "again, and an eviction reserves nothing.",
    "gap.promise_lost": "a place that it keeps; what is freed for it goes to others",
    "once_admitted": "Once admitted, it would wait, too:",
    "hierarchical_order": "drf orders queues by hierarchical share (enableHierarchy; place and "
    "weights in brackets): {queues}. What is freed is offered in this order.",
    "node_selector": "Its node selector is {labels}.",
    "known_defect": "This is volcano-sh/volcano#{issue}:",
    "known_defect.mended": "{release} decides otherwise.",
    "known_defect.4817": "enqueue counts all that is allocated against queue root, so that a job "
    "is not admitted for which its queue has a guarantee, and reclaim looks at admitted jobs only. "
    "The configuration without enqueue lets reclaim act.",
    "known_defect.4679": "enqueue counts all that is allocated against queue root, so that a job "
    "is not admitted whose queue is below what it deserves, and reclaim looks at admitted jobs "
    "only. The configuration without enqueue lets reclaim act.",
    "known_defect.2976": "preempt does not evict the pods that the pod's anti-affinity excludes, "
    "and promises it a node that allocate refuses. Evict or move one of those pods, or make the "
    "anti-affinity a preference.",
    "known_defect.4947": "reclaim takes from a queue until its share is the smallest, so that the "
    "next cycle gives the place back to it. A higher deserved or priority for the claiming queue, "
    "or a deserved of the other queue that covers its pod, ends it.",
    "known_defect.4579": "Volcano counts volumes of a driver that no node announces, and places no "
    "such pod. The flag --ignored-provisioners names the driver.",
    "known_defect.5189": "highestTierName of a partitionPolicy is not read. Write "
    "highestTierAllowed.",
}
