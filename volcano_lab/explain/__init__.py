"""Explanations: why a job waits, why a pod is on its node, what a queue holds, and which changes
help.

An explanation of one cycle reads its trace and its session. It is a first line with the gap, causes
by code with their numbers, the chain of records behind them, and remedies: the smallest changes
that turn the answer, verified by running the cycle again on changed objects.

Similar causes have codes of their own: `overused` (a queue holds all that it deserves) and
`over_deserved` (one more pod exceeds that), `queue_over_capability` and
`ancestor_over_capability`, `overcommit_refuses`, `cluster_full` and `fragmented` (enough in total,
but on no single node), `larger_than_any_node` (even an empty one), `cluster_too_small`,
`gang_short`, `topology_too_small`, `victims_within_deserved` and `protected_by_gang`,
`best_effort_queue`.

A new cause has these parts:

- where it is found: a reason of a plugin against nodes is a line of `[rules]` in `tables.toml` (the
  first line that is part of the reason counts; `rules._about_rule` adds numbers), any other fact a
  `Cause` in `refusals` (admission and queues), `nodes`, `volumes`, `gangs`, `evictions`, or
  `why_job`, which puts all in order;
- its sentence in the file of `messages/texts` that has those of similar causes, as `CODE`, or as
  `rule.NAME` for a reason against nodes;
- `gap.CODE` in `messages/texts/answers.toml`, for the first line of the answer: without it that
  line is "NAME waits.";
- in `tables.toml` the page that it leads to, and the changes that are tried;
- one that only adds facts to another has `context=True` and needs neither of these two;
  `Explanation.codes` leaves it out;
- the translations of its sentences in `messages/languages/zh.po`, which `tools/translate.py update`
  adds to.

A field that has no effect is no cause, but a notice of `lint.ignored_fields`.

Volcano: none
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from volcano_lab.explain.explainer import Explainer
    from volcano_lab.explain.explanation import Cause, Explanation
    from volcano_lab.explain.remedy import Remedy
    from volcano_lab.explain.timeline import Timeline

__all__ = ["Cause", "Explainer", "Explanation", "Remedy", "Timeline"]


def __getattr__(name: str) -> object:
    """Load a name's module when it is used: `volcano-lab run` needs the lint alone."""
    homes = {"Explainer": "explainer", "Remedy": "remedy", "Timeline": "timeline"}
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{homes.get(name, 'explanation')}"), name)
