"""`volcano-lab why`: why a job, pod or queue is as it is, the decisions behind it, and what would
change it.
"""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any

from volcano_lab.api import amount_text
from volcano_lab.changes.patches import STAYING
from volcano_lab.cli import DONE, Mistake, inputs
from volcano_lab.cli.output import print_data, styled, table, warn, width
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer, Explanation, Remedy, Timeline, brief, lint
from volcano_lab.framework import load_conf
from volcano_lab.messages import Message, NoSuch, columns, gettext, one_line, parts, wrapped
from volcano_lab.trace import Names, grouped, quantities, sentence

COLUMN = 38
"""Columns of a change, with its effect beside it if it fits."""
PART = 4
"""1/`PART` of the time is for what the cluster repeats without a change."""
MOST = 12
"""The most decisions that are printed; `-o json` has all."""


def why(words: tuple[str, ...], filenames: tuple[str, ...], every: bool, no_remedies: bool,
        node: str | None, before: str | None, evict: bool, conf: str | None, output: str,
        namespace: str, now: str | None, seconds: float, cycle: int | None, life: str | None,
        recursive: bool = False, context: str | None = None) -> int:
    """Explain and print, each change as soon as it is found; with `every`, all jobs that wait.
    Warnings are written to the error output. Raises `Mistake`.
    """
    _check(seconds, now and life, {"node": node, "before": before, "evict": evict})
    files, name = (words + filenames, None) if every else _named(words, filenames)
    seconds = 0.0 if no_remedies else seconds
    read = partial(inputs.cluster_of, files, conf, recursive, context)
    explainer, timeline, warnings, after = _cycle(files, read, name, conf, now, cycle, life)
    explanation = None if name is None else explain(
        _question(explainer, timeline, node, before, evict), name, namespace)
    said = [] if explanation is None else [*parts(explanation.messages)]
    warn(each for each in warnings if each.facts.get("what") not in said)
    if explanation is None:
        _all(explainer, output, namespace, seconds)
    elif output in ("json", "yaml"):
        found = list(explanation.remedies_within(seconds))
        print_data({**as_dict(explanation, found), "warnings": [*map(str, warnings + after)]},
                   output)
    elif output == "name":
        print(explanation.about.replace(" ", "/", 1))
    else:
        given = [*files, *(["--base-conf", conf] if conf and explainer.conf != load_conf() else [])]
        _print(explanation, explainer, seconds, given if output == "wide" else None)
    warn(after)
    return DONE


def _print(explanation: Explanation, explainer: Explainer, seconds: float,
           files: Sequence[str] | None) -> None:
    """Print an answer and the changes that are found in some seconds; with `files` all of it."""
    wide, looks = files is not None, bool(explanation.find_remedies and seconds)
    print(report(explanation, explainer.names, wide, looks), flush=True)
    end = perf_counter() + seconds
    loops = explainer.loops(seconds / PART) if explanation.find_remedies else None
    if loops is not None and not {*loops.messages} <= {*explanation.messages}:
        print(_lines(loops.text, "    ", "  "), flush=True)
    more = _print_remedies(explanation, seconds, files) if looks else 0
    _print_loops(loops, end)
    if wide and (page := explanation.page):
        print("\n" + _lines(str(Message("why.more", page=page))))
    elif more:
        print(_lines(str(Message("why.wide", n=more)), "    ", "  "))


def _cycle(files: Sequence[str], read: Callable[[], Cluster], name: str | None,
           conf: str | None, now: str | None, cycle: int | None, life: str | None
           ) -> tuple[Explainer, Timeline | None, list[Message], list[Message]]:
    """Return the cycle that is explained, the history up to it where there is one, warnings, and
    which configuration is taken where none is given, for after the answer.
    """
    timeline = None
    if cycle is None and life is None:
        cluster = read()
        refused = inputs.unless_refused(cluster)
        warnings = cluster.admit(refuse=False) + refused
        explainer = cluster.explainer(now=inputs.moment(now), about=name or None)
        warnings, known = explainer.objects.warnings + warnings, cluster.has_configuration()
    else:
        from volcano_lab.cli.past import past  # simulated time is not imported for one cycle

        # no object is called "/ ": the causes of no single job are requested
        timeline, warnings, known = past(files, read, name or "/ ", conf, cycle, life,
                                           now)
        explainer = timeline.at()
    after = [] if known else [Message("why.default")]
    return explainer, timeline, warnings + lint.doubts(explainer.session), after


def _check(seconds: float, both: object, questions: Mapping[str, object]) -> None:
    """Refuse what click lets through: no number of seconds, the times of `both` one cycle and
    a recording, two questions. Raises `Mistake`.
    """
    if seconds != seconds:  # click's range accepts NaN
        raise Mistake("why.seconds")
    if both:
        raise Mistake("why.times")
    asked = [f"--{name}" for name, given in questions.items() if given]
    if len(asked) > 1:
        raise Mistake("why.questions", one=asked[0], other=asked[1])


def _named(words: tuple[str, ...], filenames: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the files and the name in the words of a command. Raises `Mistake`."""
    if not words or (len(words) == 1 and not filenames and os.path.exists(words[0])):
        raise Mistake("why.no_name")
    *files, name = words
    if files and os.path.exists(name) and not os.path.exists(files[0]):  # as kubectl describe
        name, *files = words
    return (*files, *filenames), name


def _lines(text: str, indent: str = "", first: str | None = None) -> str:
    """Return a sentence in the reader's language, in lines."""
    return wrapped(gettext(text), width(), indent, first)


def _all(explainer: Explainer, output: str, namespace: str, seconds: float) -> None:
    """Print the jobs that wait, by cause, and what would change it for the first of each."""
    loops = explainer.loops(seconds / PART)
    groups = [group for group in explainer.waiting() if not namespace or any(
        job.startswith(f"{namespace}/") for job in group.jobs)]
    if output in ("json", "yaml"):
        repeats = {} if loops is None else {"loops": loops.text}
        print_data({"waiting": [{"code": group.code, "text": group.text, "jobs": group.jobs}
                                for group in groups], **repeats}, output)
        return
    end = perf_counter() + seconds
    if loops is not None:
        print(_lines(loops.text), flush=True)
    for group in groups:
        print(_lines(str(Message("waiting.group", jobs=Message("jobs", n=len(group.jobs)),
                                 names=group.jobs))))
        print(_lines(group.text, "  "), flush=True)
        left = end - perf_counter()
        remedy = _sparing(group.explain().remedies_within(left / 2)) if left > 0 else None
        if remedy is not None:
            started = {*group.jobs} & {*map(remedy.world.called, remedy.price.starts)}
            print(_lines(str(Message("waiting.change", name=group.jobs[0], remedy=str(remedy),
                                     also=Message("waiting.also", n=len(started))
                                     if started else None)), "     ", "  -> "), flush=True)
    if not groups:
        print(str(Message("why.none_waits")))
    _print_loops(loops, end)


def _sparing(remedies: Iterable[Remedy]) -> Remedy | None:
    """Return the first change that takes nothing from others, without waiting for their end; where
    none is, the first.
    """
    first = None
    for remedy in remedies:
        if not (remedy.price.takes or remedy.tried.removals):
            return remedy
        first = first or remedy
    return first


def _print_loops(loops: Explanation | None, end: float) -> None:
    """Print what ends what the cluster evicts again and again without a change."""
    left = end - perf_counter()
    for remedy in islice(loops.remedies_within(left), 1) if loops is not None else ():
        print(_lines(str(Message("why.ends", remedy=remedy))))


def _print_remedies(explanation: Explanation, seconds: float, files: Sequence[str] | None) -> int:
    """Print the changes that change the answer, each as soon as it is found, below until when the
    job waits without, and a command that carries it out if it fits beside; with `files`, all of
    them, the commands that try them, too, and what is created again. Return how many are left out.
    """
    start, found, again = perf_counter(), explanation.remedies_within(seconds), dict[str, None]()
    fields = dict[tuple[str, str, str], None]()
    wide, left, none = files is not None, list[Remedy](), True
    print(styled(_lines(brief.changes_head(explanation, wide)), bold=True), flush=True)
    for remedy in found if wide else brief.chosen(explanation, found, left):
        none, commands = False, remedy.kubectl
        fields |= dict.fromkeys(remedy.fields)
        line = _beside(*brief.texts(remedy, wide), width())
        beside = f"{line}  $ {commands[0]}" if len(commands) == 1 and not wide else ""
        print(beside if 0 < columns(beside) <= width() else line, flush=True)
        if wide:
            again |= dict.fromkeys(remedy.again)
            lines = [shlex.join(["volcano-lab", "what-if", *(files or ()), *remedy.args])] * bool(
                files and remedy.args)
            print(*(f"      $ {line}" for line in lines + commands), sep="\n", flush=True)
    if perf_counter() - start > seconds:
        print("  " + str(Message("why.stopped", seconds=seconds)))
    elif none:
        print("  " + str(Message("why.no_change")))
    for (kind, name), some in grouped(((kind, name), each) for kind, name, each in fields).items():
        code = f"why.written{'.renewed' * (kind in STAYING)}"
        print(_lines(str(Message(code, kind=kind, name=name, fields=some)), "    ", "  "))
    if again:
        print(_lines(str(Message("why.again", n=len(again), objects=[*again])), "    ", "  "))
    return len(left)


def _beside(change: str, effect: str, most: int) -> str:
    """Return a change with its effect beside it, or below it if both are too long for a line.

    >>> print(_beside("uncordon n1", "train is placed on n1", 80))
      uncordon n1                           train is placed on n1
    """
    head = "  " + change + " " * (COLUMN - columns(change)) + "  "
    if columns(head + effect) <= most or (columns(change) <= COLUMN and most > 2 * COLUMN):
        return wrapped(effect, most, " " * 6, head)
    return f"{wrapped(change, most, '    ', '  ')}\n{wrapped(effect, most, ' ' * 6)}"


def _question(explainer: Explainer, timeline: Timeline | None, node: str | None,
              before: str | None, evict: bool) -> Callable[[str], Explanation]:
    """Return the question about a name."""
    if node:
        return partial(explainer.why_not, node)
    if before:
        return lambda name: explainer.why_before(name, before)
    return explainer.who_evicts if evict else (timeline or explainer).why


def explain(ask: Callable[[str], Explanation], name: str, namespace: str = "") -> Explanation:
    """Return the explanation of the object with that name; a namespace is tried first. Raises
    `Mistake` with similar names.
    """
    places = [f"{namespace}/{name}"] if namespace and "/" not in name else []
    for place in [*places, name]:
        try:
            found = ask(place)
        except NoSuch as error:
            problem = str(error.args[0])
            continue
        kind, _, called = found.about.partition(" ")
        if places and kind in ("job", "pod") and not called.startswith(f"{namespace}/"):
            raise Mistake("why.namespace", name=name, namespace=namespace, other=called.split()[0])
        return found
    raise Mistake(one_line(problem))


def report(explanation: Explanation, names: Names, wide: bool = False, looks: bool = False) -> str:
    """Return the answer, a paragraph per cause, and if it is `wide` all details and the records
    behind it; where it `looks` for changes, these say until when a job waits.
    """
    most, texts = width(), brief.paragraphs(explanation, wide)
    lines = [_lines(brief.head(explanation, wide, looks))]
    lines += ["", *(_lines(text, "    ", "  ") for text in texts)] if texts else []
    if explanation.chain and wide:
        shown = explanation.chain[:MOST]
        lines += ["", str(Message("why.records"))]
        lines += [_lines(f"{record.action}: {names.plainly(sentence(record))}", " " * 10,
                         f"  {record.number:>6}  ") for record in shown]
        if len(shown) < len(explanation.chain):
            more = len(explanation.chain) - len(shown)
            lines.append(" " * 10 + gettext("and {count} more", count=more))
    some_ended = any(row["ended"] for row in explanation.rows)
    rows = [{name: gettext(cell) if name == "what" else cell for name, cell in row.items()
             if name != "ended" or some_ended} for row in explanation.rows]
    lines += ["", table(rows, most=most)] if rows else []
    return "\n".join(lines)


def as_dict(explanation: Explanation, remedies: Sequence[Remedy]) -> dict[str, Any]:
    """Return all of an explanation as plain data, its amounts as quantities."""
    return {"about": explanation.about, "text": explanation.text,
            "causes": [{"code": cause.code, "text": cause.text, "context": cause.context,
                        "facts": quantities(cause.numbers, amount_text)}
                       for cause in explanation.causes],
            "chain": [{**quantities(record.as_dict(), amount_text), "sentence": sentence(record)}
                      for record in explanation.chain],
            "remedies": [remedy.as_dict() for remedy in remedies], "cycles": explanation.rows}
