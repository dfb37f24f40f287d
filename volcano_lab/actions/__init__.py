"""The actions, one file each; a cycle runs those that its configuration lists, in that order.

Importing this package registers Volcano's actions; each is loaded when it first runs.
"""

from volcano_lab.framework.action import ACTIONS

BUILT_IN = {"allocate": "allocate:Allocate", "backfill": "backfill:Backfill",
            "enqueue": "enqueue:Enqueue", "preempt": "preempt:Preempt",
            "reclaim": "reclaim:Reclaim", "shuffle": "shuffle:Shuffle"}
"""Action name in a configuration -> module and class in this package."""

ACTIONS.built_in.update({name: f"volcano_lab.actions.{place}" for name, place in BUILT_IN.items()})
