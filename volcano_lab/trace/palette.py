"""Colours that are distinct for colour-blind readers (Okabe and Ito)."""

from collections.abc import Iterable
from itertools import cycle

COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C")


def colors_of(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each name, in their order; they repeat from the eighth name on.

    >>> colors_of(["b", "a"])
    {'a': '#0072B2', 'b': '#E69F00'}
    """
    return dict(zip(sorted({*names}), cycle(COLORS), strict=False))
