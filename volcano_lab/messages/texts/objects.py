"""Objects: what a cycle leaves out of them and why."""

TEXTS = {
    "left_out.never_announced": "node {name}: pods name it, but it was never announced",
    "left_out.gone": ("node {name}: it is gone, but {n} of its pods is not",
                      "node {name}: it is gone, but {n} of its pods are not"),
    "left_out.no_pod_group": "job {name}: its pods name a PodGroup that doesn't exist",
    "left_out.no_queue": "job {name}: its queue {queue} doesn't exist",
    "left_out.other_scheduler": "pod {name}: it is for another scheduler, {scheduler}",
    "left_out.no_annotation": "pod {name}: it has no annotation {annotation} that names its "
                              "PodGroup",
    "left_out": "The cycle leaves it out.",
    "left_out.head": "The cycle leaves it out: {why:;}.",
    "left_out.alike": "there is {groups:3}, but pods and their PodGroup have to be in one "
                      "namespace",
    "left_out.cycle": "Left out of the cycle: {why}.",
}
