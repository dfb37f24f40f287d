"""Twelve riddles, "why is it pending?": a cluster as `kubectl` shows it, a cause to name, a repair.

A riddle is a YAML file of this folder: `title`, `story`, `asks` (the job), `nodes`, `queues`,
`running` and `waiting` jobs in a few words, `objects` as manifests, `conf`, `causes` (text -> why
not, or "right: why"), `hints`, `wants` (job -> pods at work), `may` (what may be changed) and
`smallest` (the fewest changes that help).
"""

from volcano_lab.course.riddles.board import riddle, riddles, score
from volcano_lab.course.riddles.game import Riddle
from volcano_lab.course.riddles.kubectl import Kubectl

__all__ = ["Kubectl", "Riddle", "riddle", "riddles", "score"]
