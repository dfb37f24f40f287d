"""Answers to the check of the page "In Volcano's source", with words of the hints."""

from __future__ import annotations

from course.answers import answers

answers(
    "18.wrong_plugin",
    right=["the new file, without that plugin"],
    wrong=[("the last good configuration", "wrong *action*"),
           ("the default configuration", "no file at all"),
           ("nothing: the scheduler stops", "continues"),
           ("the new file, with the nearest name", "There is no guess"),
           ("gang", "Choose one of")],
)
