"""The kit of the lessons: questions before a result, checks after it, and the recap at the end.

A lesson is a notebook, `notebooks/NN-name.ipynb`, with its checks in `checks_NN.py` here. Its cells are short:

    from volcano_lab.lessons import ask, checks_02 as checks, predict, recap

1. *Predict*: the reader chooses (options) or types (none) an answer; it is kept.

       first = predict("Which queue goes first?", ["a", "b", "c"])
       first

2. *Run* the cluster, and then compare. This cell shows both answers, also when the prediction is changed later.

       first.compare(cycle.queue_order[0], "Queue b holds 20 of the 42 CPUs that it deserves, the smallest share.")

   Why it came out so is in the trace: `answers(trace_of(cluster), "overused", "allocatable")` is a table of what plugins
   answered.

3. *Check*: the answer is written in the cell, in place of the dots; to do, try again with a hint, or well done.

       answer = ...
       checks.smallest_share(answer)

   A short answer may also be asked for on the page, which works where code is hidden (Voila), too:

       ask("How many CPUs does queue a deserve?", checks.deserved_of_a)

4. *Recap*: what was learned, and where it is in the real Volcano.

       recap(["…"], files={"pkg/scheduler/plugins/proportion/proportion.go": "the rounds"}, commands={"kubectl get queue": "…"})

A check is a function of `checks_NN.py` with `check` above it. Its docstring is the task, shown as long as the answer is
`...`, None, "" or empty. It returns `well_done(why)`, `try_again(hint)`, or None for "to do". `takes` is what an answer
must be; `right` and `wrong` are examples (a function that makes them where that costs something), and the tests try all:

    @check(takes=float, right=[28, "28"], wrong=[(20, "first round")])
    def deserved_of_a(answer):
        '''What does queue a deserve, in CPUs?'''
        if answer == 20:
            return try_again("That is after the first round. What c leaves is shared once more.")
        return well_done("20 + 2/5 of 20.") if answer == 28 else try_again("…")

An exception that an answer raises becomes a "try again" that says which. Texts know `code`, **strong** and nothing else.
Nothing here needs a kernel to be read: on a page without one, a question is a text with its options, a verdict a text.
"""

from importlib import import_module, resources

_HOMES = {"Check": "checking", "Prediction": "question", "Verdict": "verdict", "all_checks": "checking",
          "answers": "tracing", "ask": "question", "check": "checking", "predict": "question", "recap": "recapping",
          "trace_of": "tracing", "try_again": "verdict", "well_done": "verdict"}

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name.startswith("checks_") and resources.files(__name__).joinpath(f"{name}.py").is_file():
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__} has no attribute {name}")
