"""Answers to the checks of lesson 11b: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers

answers(
    "11b.still_there",
    right=["its kubelet has not ended it yet"],
    wrong=[("the eviction failed", "Running in the cache"),
           ("the pod that waits has not come", "The victim goes first"),
           ("its queue holds no more than it deserves", "before the eviction"),
           ("the next cycle takes the eviction back", "its own plans"),
           ("a finalizer", "Choose one of")],
)
answers(
    "11b.wrong_plugin",
    right=["the new file, without that plugin"],
    wrong=[("the last good configuration", "wrong *action*"),
           ("the default configuration", "no file at all"),
           ("nothing: the scheduler stops", "goes on"),
           ("the new file, with the nearest name", "Nobody guesses"),
           ("gang", "Choose one of")],
)
answers(
    "11b.look_first",
    right=["what refuses the bind: the API server, a webhook, a volume"],
    wrong=[("its queue's capability", "Unschedulable"), ("the room on the nodes", "was chosen"),
           ("the gang's minimum", "was ready"), ("the kubelet of the node", "when it is bound"),
           ("the moon", "Choose one of")],
)
