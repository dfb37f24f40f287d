"""The repairs of the riddles: each stands in the last hint."""

import re


def last_hint(game):
    """The repair that the last hint of a riddle names: settings, and what is removed."""
    removals = re.findall(r"remove `([^`]+)`", game.hints[-1])
    return [each for each in re.findall(r"`([^`]+)`", game.hints[-1]) if each not in removals], \
        removals
