"""Names that resemble a word: what a sentence about a misspelt one suggests."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import chain

from volcano_lab.messages.catalogue import gettext
from volcano_lab.messages.message import Message, Said


def did_you_mean(word: str, known: Iterable[str], otherwise: Said = "") -> Said:
    """Return the end of a sentence about an unknown word: the known one that resembles it.

    >>> str(did_you_mean("wieght", ["weight", "parent"])), did_you_mean("x", ["weight"], ".")
    ('; did you mean weight?', '.')
    """
    near = get_close_matches(word, list(known), 1)
    return Message("hint.meant", name=near[0]) if near else otherwise


def meant(name: str, there: Iterable[str], alike: float = 0.93) -> str:
    """Return the existing name of which `name` is probably a misspelling, or has the words in
    another order; "" without one.

    >>> meant("nvidia.com/gpus", ["cpu", "nvidia.com/gpu"]), meant("amd.com/gpu", ["cpu"])
    ('nvidia.com/gpu', '')
    >>> meant("prod-spark", ["spark-dev", "spark-prod"])
    'spark-prod'
    """
    lower = {each.lower(): each for each in there}
    words = _words(name)
    same = (each for each in lower if _words(each) == words)
    close = next(chain(same, get_close_matches(name.lower(), lower, 1, alike)), "")
    return lower.get(close, "")


def _words(name: str) -> list[str]:
    return sorted(re.split(r"\W", name.lower()))


def near(name: str, known: Iterable[str]) -> str:
    """List the names with the same beginning, or similar ones, or else the first ones.

    >>> near("vc", ["default/vc1", "default/vc2", "default/other"])
    'near it are default/vc1, default/vc2'
    """
    known = list(known)
    if found := alike(name, known):
        return gettext("near it is {names:,}" if len(found) == 1 else "near it are {names:,}",
                       names=found)
    text = "there is {names:,}" if len(known) == 1 else "there are {names:,}"
    return gettext("there are {names:,}, ..." if len(known) > 8 else text,
                   names=known[:8] or gettext("none"))


def alike(name: str, known: Iterable[str]) -> list[str]:
    """Return the names, at most 6, with the same beginning, or similar ones.

    >>> alike("vc", ["default/vc1", "default/vc2", "default/other"])
    ['default/vc1', 'default/vc2']
    """
    shorts = {full: full.partition("/")[2] or full for full in known}
    begin = [full for full, short in shorts.items()
             if name and (full.startswith(name) or short.startswith(name))]
    close = {*get_close_matches(name, {*shorts, *shorts.values()}, n=6, cutoff=0.5)}
    return (begin or [full for full in shorts if close & {full, shorts[full]}])[:6]
