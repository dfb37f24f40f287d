"""The kit of the lessons: questions that own what they reveal, checks, results, progress.

`docs/writing-a-lesson.md` shows how a lesson uses it. In short, the cells of a lesson are:

    lesson("03")                            # shows the reader's place; keeps progress
    ask("who_pays", table(rows))            # a question; the results show when it is answered
    checks.take(take)                       # an answer in code, graded
    recap()                                 # what was learned, and where it is in the real Volcano

and results are `finding("…")`, `table(rows)`, `bars(values)`, or anything a notebook can show.
Questions, their answers and the replies to each are data of the lesson (`kit.questions`).

A check that computes is a function of the lesson's `checks.py`. Its docstring is the task, and it
returns `well_done(why)` or `try_again(hint)`; one whose answers are a table is an entry of
`questions.yaml`, which also has the place of the other one (`deserved_of_a: {}`):

    @check(takes=float)
    def deserved_of_a(answer):
        '''How many CPUs does queue a deserve?'''
        if answer == 20:
            return try_again("That is after round 1. What c leaves is shared once more.")
        return well_done("20 + 2/5 of 20.") if answer == 28 else try_again("…")

Texts may contain `code`, **strong** and *emphasis*. Nothing here needs a kernel to be read.
"""

from importlib import import_module

_HOMES = {"Check": "checking", "Prediction": "question", "Verdict": "verdict",
          "answers": "tracing", "ask": "question", "asked": "tracing", "bars": "results",
          "broken_cluster": "boss", "check": "checking", "finding": "results", "lesson": "thread",
          "recap": "recapping", "table": "results", "trace_of": "tracing",
          "try_again": "verdict", "ways": "thread", "well_done": "verdict"}

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
