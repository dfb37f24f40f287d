"""The checks of lesson 11b: what one sees of a scheduler at work."""

from __future__ import annotations

from volcano_lab.course.kit.checking import choice
from volcano_lab.course.kit.verdict import well_done


@choice({"the eviction failed": "Then it would be Running in the cache, and an error task.",
         "its kubelet has not ended it yet": well_done(
             "The deletion is a request. The kubelet ends the pod within its grace period; until "
             "then it is Releasing, and its room is not free."),
         "the pod that waits has not come": "The victim goes first, and then the other one comes.",
         "its queue holds no more than it deserves":
         "That is asked before the eviction. Now it has been decided and sent.",
         "the next cycle takes the eviction back":
         "A cycle takes back its own plans. What is committed is sent."})
def still_there() -> None:
    """A second after its eviction the victim is still on n1. Why?"""


@choice({"the last good configuration":
         "So it is with a wrong *action*: such a file is refused. And a wrong plugin? (Lesson 01)",
         "the new file, without that plugin": well_done(
             "A file with a wrong action is refused; a wrong plugin is only missing. Gangs may "
             "start in part then, and nothing but a line of the log tells."),
         "the default configuration": "The default counts only where there is no file at all.",
         "nothing: the scheduler stops": "It goes on, in every case.",
         "the new file, with the nearest name": "Nobody guesses. The log has the name as it is."})
def wrong_plugin() -> None:
    """The file is fixed, but says `gnag` where it said `gang`. With what does the next cycle run?
    """


@choice({"its queue's capability": "Then no bind was tried, and the reason is Unschedulable.",
         "the room on the nodes": "A node was chosen, so there was room.",
         "what refuses the bind: the API server, a webhook, a volume": well_done(
             "SchedulerError stands for a bind that was tried. The condition's message has the "
             "answer of whoever refused it."),
         "the gang's minimum": "The gang was ready, else nothing would have been sent.",
         "the kubelet of the node": "The kubelet hears of a pod when it is bound. It is not."})
def look_first() -> None:
    """A pod is Pending, and its condition says SchedulerError. Where do you look first?"""
