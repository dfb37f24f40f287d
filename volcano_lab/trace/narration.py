"""A record of a trace as one sentence, with its numbers in the units people use. Answers to no Go
file.

The stepper shows it at each step, `volcano-lab why` prints the records behind an explanation with
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from volcano_lab.api.formatting import amount_text
from volcano_lab.trace import OPERATIONS, Record

PREPOSITION = {"allocate": "on", "pipeline": "on", "evict": "from"}


def sentence(record: Record | None) -> str:
    """What a record says; None stands for the moment when the session has opened.

    >>> sentence(Record(3, "allocate", "call", ("point", "tier", "plugin", "queue", "answer"), ("overused", 1, "p", "a", True)))
    'p on overused, about queue a: yes'
    >>> sentence(Record(9, "allocate", "do", ("operation", "task", "job", "node", "statement"),
    ...                 ("pipeline", "default/a-0", "default/a", "n1", 2)))
    'pipeline a-0 on n1'
    """
    if record is None:
        return "the session is open"
    if record.kind in OPERATIONS:
        return _operation(record)
    say = SENTENCES.get(record.kind)
    return say(record) if say is not None else _other(record)


def short(name: str) -> str:
    """A name without the default namespace.

    >>> short("default/train-0"), short("team/train-0")
    ('train-0', 'team/train-0')
    """
    return name.removeprefix("default/")


def amounts_side(amounts: dict[str, float], names: list[str] | None = None) -> str:
    """Amounts as text, those of some resources or all but pods.

    >>> amounts_side({"cpu": 1500.0, "pods": 2.0})
    'cpu 1.5'
    """
    chosen = [name for name in amounts if name != "pods"] if names is None else names
    return ", ".join(f"{name} {amount_text(name, amounts.get(name, 0.0))}"
                     for name in chosen) or "nothing"


def answer_text(answer: Any) -> str:
    """A plugin's answer in words.

    >>> answer_text(True), answer_text(None), answer_text(-1), answer_text([["default/a-0"], 1])
    ('yes', 'no objection', '-1', 'a-0')
    """
    match answer:
        case bool():
            return "yes" if answer else "no"
        case None:
            return "no objection"
        case float() | int():
            return f"{answer:.4g}"
        case [list() as victims, int()]:
            return _names(victims) if answer[1] else "does not vote"
        case list() if all(isinstance(item, str) for item in answer):
            return _names(answer)
        case dict():
            return ", ".join(f"{short(str(name))} {answer_text(value)}"
                             for name, value in list(answer.items())[:6]) or "nothing"
    text = str(answer)
    return text if len(text) <= 200 else text[:199] + "…"


def _operation(record: Record) -> str:
    name = record["operation"]
    text = f"{name} {short(record['task'])} {PREPOSITION.get(name, 'on')} {record['node'] or 'no node'}"
    return text if record.kind == "do" else f"{record.kind}: {text}"


def _names(names: list[str], most: int = 5) -> str:
    listed = ", ".join(map(short, names[:most]))
    return (f"{listed} and {len(names) - most} more" if len(names) > most else listed) or "nobody"


ABOUT = ("queue", "job", "sub_job", "task", "node", "left", "right", "reclaimer", "preemptor")


def _about(record: Record) -> str:
    """Who a question is about."""
    parts = [
        short(str(record[name]))
        if name in ("left", "right") else f"{name.replace('_', ' ')} {short(str(record[name]))}"
        for name in ABOUT
        if record.get(name) is not None
    ]
    candidates = record.get("candidates")
    if isinstance(candidates, list):
        parts.append(f"{len(candidates)} candidate{'s' if len(candidates) != 1 else ''}")
    return ", ".join(parts)


def _question(record: Record) -> str:
    who = f"{record['plugin']} on {record['point']}" if record.kind == "call" else f"{record['point']}, all plugins together"
    about = _about(record)
    return f"{who}{f', about {about}' if about else ''}: {answer_text(record['answer'])}"


def _popped(record: Record) -> str:
    kind, following, decided = record.kind, record["next"], record["decided_by"]
    text = f"{kind} {short(record[kind])} has its turn"
    if following is None or not decided:
        return text
    return f"{text}, before {short(following)} ({decided[0] or 'the default: the older, then the smaller uid'} decides)"


def _chose(record: Record) -> str:
    task = short(record["task"])
    if record["node"] is not None:
        return f"of {record['nodes']} nodes, {record['node']} is chosen for {task}"
    return f"no node for {task}: {record['errors']}"


def _compared(record: Record) -> str:
    """Both sides of an admission, or of one level's limit."""
    names = record["short_of"] or None
    asked, limit = record["asked"], record["limit"]
    names = names or [name for name in asked if name != "pods"]
    about = short(record.get("job") or record.get("task") or "")
    where = f", queue {record['level']}" if record.get("level") else ""
    verdict = f"too little {', '.join(record['short_of'])}" if record["short_of"] else "room"
    return (f"{record['plugin']} counts for {about}{where}: {amounts_side(asked, names)} against "
            f"{amounts_side(limit, names)}: {verdict}")


def _round(record: Record) -> str:
    steps = ", ".join(
        f"{step['queue']} {amounts_side(step['after'])}{' (done)' if step['met'] else ''}"
        for step in record["round"]["steps"])
    return f"round {record['number']} of deserved: {steps}; left {amounts_side(record['round']['remaining'])}"


def _passed_over(record: Record) -> str:
    return f"passed over: {_about(record)} ({record['reason']})"


def _victims(record: Record) -> str:
    where = f" on {record['node']}" if record.get("node") else ""
    task = f" for {short(record['task'])}" if record.get("task") else ""
    return f"victims{task}{where}: {_names(record['chosen'])}"


def _claimant(record: Record) -> str:
    return f"{record.action} looks for room for {short(record['task'])} of queue {record['queue']}"


def _reclaimee(record: Record) -> str:
    return f"{record['plugin']} on taking {short(record['task'])} from queue {record['queue']}: {record['verdict']}"


def _preemptive(record: Record) -> str:
    within = record["within"]
    verdict = f"within in {', '.join(within)}" if within else "beyond it in every resource"
    return (
        f"queue {record['queue']} would hold {amounts_side(record['asked'])} with {short(record['task'])}, and deserves "
        f"{amounts_side(record['deserved'])}: {verdict}")


def _node_values(record: Record) -> str:
    count = len(record["rows"])
    return f"what plugins say of nodes for {short(record['task'])}: {count or 'no'} row{'s' if count != 1 else ''} new"


def _tried(record: Record) -> str:
    return f"a trial in HyperNode {record['hyper_node']} for {short(record['job'])}: {'it fits' if record['fits'] else 'no'}"


def _other(record: Record) -> str:
    """A kind of a plugin's own."""
    facts = ", ".join(
        f"{name} {answer_text(value)}" for name, value in record.facts.items() if name != "changes")
    return f"{record.kind.replace('_', ' ')}: {facts}" if facts else record.kind


SENTENCES: dict[str, Callable[[Record], str]] = {
    "start": lambda record: f"action {record.action} begins",
    "end": lambda record: f"action {record.action} ends",
    "call": _question,
    "asked": _question,
    "queue": _popped,
    "job": _popped,
    "enqueued": lambda record: f"job {short(record['job'])} is let in",
    "unplaced": lambda record: f"the promise to {short(record['task'])} is taken back",
    "settle":
    lambda record: f"{len(record['changes'])} values change without an operation of their own",
    "chose": _chose,
    "node_values": _node_values,
    "deserved_round": _round,
    "enqueue_comparison": _compared,
    "allocatable_level": _compared,
    "preemptive_comparison": _preemptive,
    "reclaimee": _reclaimee,
    "claimant": _claimant,
    "victims": _victims,
    "passed_over": _passed_over,
    "hyper_node_tried": _tried,
    "hyper_node_chosen":
    lambda record: f"HyperNode {record['hyper_node']} is chosen for {short(record['job'])}",
    "saved": lambda record: f"copies of {len(record['operations'])} operations are saved",
    "recovers": lambda record: f"{len(record['operations'])} operations are recovered",
}
"""Kind of record -> its sentence."""
