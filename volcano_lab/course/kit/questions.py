"""A lesson's questions and conclusions, as data: the file `questions.yaml` of its folder.

An entry has the name by which a cell refers to it, `ask("c_after_round_one")`:

    c_after_round_one:
      predicts: What does queue c deserve after round 1, in CPUs?
      answers:
        50: 50 is the offer; rule 3 still follows.
        30: "right: It takes what it asks for."
      takes: float
      then: ["The queues take 20 + 30 + 30 = 80, so 20 are left."]

`predicts` is a question that is answered once and then shows the truth; `asks` is a check: a wrong
answer gets its hint and may be changed, and `otherwise` is the hint for an answer that is not in
the table. The answers are the options, unless `takes` (a prediction) or `otherwise` (a check)
lets the reader type one. `first` and `then` are texts before and after the result. A check that
computes is a function of `checks.py`; here it has its place among the checks, maybe a `first` and a
`then`, and the `cases` that it tries.
The entry `hints` has the replies of such checks, by name; `recap` has `points`, and where they are
in the real Volcano (`kit.recapping`); `tasks` are those of the lab (`kit.tasks`), `clusters` are
built by `kit.scenery`. A check with `needs` is the repair of the cluster of its name: these jobs
need that number of placed pods, and the kinds that it `keeps` stay unchanged (`kit.boss`).
"""

from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from volcano_lab.messages import NoSuch

COURSE = Path(__file__).parents[1]
RIGHT = "right: "
"""The prefix of a table's right answer."""

PARTS = RECAP, HINTS, TASKS, CLUSTERS = "recap", "hints", "tasks", "clusters"
KEYS = {"predicts", "asks", "answers", "otherwise", "takes", "first", "then", "cases", "needs",
        "keeps"}
Entry = Mapping[str, Any]


@cache
def entries(lesson: str) -> dict[str, Entry]:
    """Return the questions of a lesson's `questions.yaml`, by name.

    >>> entries("03")["second_offer"]["asks"]
    'How many CPUs does round 2 offer to queue b, beside the 30 that it has?'
    """
    found = {name: entry for name, entry in _file(lesson).items() if name not in PARTS}
    for name, entry in found.items():
        if unknown := entry.keys() - KEYS:
            raise ValueError(f"lesson_{lesson}/questions.yaml: {name} has {min(unknown)}; allowed "
                             f"are {', '.join(sorted(KEYS))}.")
    return found


def part(lesson: str, name: str) -> Entry:
    """Return one of the `PARTS` of a lesson that are no questions.

    >>> part("03", HINTS)["a_smaller_one"]
    'With a guarantee of {guarantee} they deserve {total} together. A smaller one is enough.'
    """
    return _file(lesson).get(name, {})


@cache
def _file(lesson: str) -> dict[str, Entry]:
    path = COURSE / f"lesson_{lesson}" / "questions.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}


def right(entry: Entry) -> Any:
    """Return the right answer of a table.

    >>> right({"answers": {"a": "a holds more.", "b": "right: It is the emptier one."}})
    'b'
    """
    return next(each for each, reply in entry["answers"].items() if reply.startswith(RIGHT))


class Opened:
    """The open lesson, set by the cell at the top of a lesson, `lesson("03")`.

    >>> Opened().number
    Traceback (most recent call last):
    volcano_lab.messages.errors.NoSuch: No lesson is open: run the cell lesson("…") first.
    """

    @cached_property
    def number(self) -> str:
        """The lesson's number, once it is set."""
        raise NoSuch('No lesson is open: run the cell lesson("…") first.')


opened = Opened()
"""The open lesson of this kernel."""
