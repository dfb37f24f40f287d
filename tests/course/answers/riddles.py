"""The repairs of the riddles: each stands in the last hint."""

import re


def last_hint(game):
    """The repair that the last hint of a riddle names."""
    return re.findall(r"`([^`]+)`", game.hints[-1])
