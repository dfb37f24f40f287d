"""The kinds of records: one table of each kind's fields, what it stands for, and its sentence, with
its numbers in the units that people use.

The stepper, breakpoints, the log, `diff`, `volcano-lab why` and the documentation read it. A kind
of your own is added in the same way:

>>> from volcano_lab.trace.record import Record
>>> @kind("tea_break", "queue minutes", "nobody works", level=4)
... def _tea(record):
...     return f"queue {record['queue']} rests for {record['minutes']} minutes"
>>> KINDS["tea_break"].sentence(Record(1, "", "tea_break", ("queue", "minutes"), ("a", 5)))
'queue a rests for 5 minutes'
>>> del KINDS["tea_break"]
"""

from collections.abc import Callable
from typing import Any

from attrs import define

from volcano_lab.api import amount_text
from volcano_lab.messages import Message, listed
from volcano_lab.trace.record import Record

Sentence = Callable[[Record], str]
OPERATIONS = ("do", "undo", "commit")
"""Kinds that tell of a statement's operation."""
PREPOSITION = {"allocate": "on", "pipeline": "on", "evict": "from"}


@define(slots=True, frozen=True)
class Kind:
    """One kind of record.

    Attributes:
        fields: The names of its facts; a record may lack some.
        about: What it stands for, in half a sentence.
        sentence: A record of the kind as one sentence.
        level: V(n) at which the log shows it; 0: the log tells of it in another way.
        detail: True where a stepper shows it only at its finest: it decides nothing by itself.
    """

    name: str
    fields: tuple[str, ...]
    about: str
    sentence: Sentence
    level: int = 5
    detail: bool = False


KINDS: dict[str, Kind] = {}
"""Every known kind by its name."""


def kind(name: str, fields: str, about: str, level: int = 5, detail: bool = False
         ) -> Callable[[Sentence], Sentence]:
    """Register the function below as the sentence of a kind of record."""

    def register(sentence: Sentence) -> Sentence:
        KINDS[name] = Kind(name, tuple(fields.split()), about, sentence, level, detail)
        return sentence

    return register


def sentence(record: Record | None) -> str:
    """What a record says; None stands for the moment when the session has opened.

    >>> names = ("point", "tier", "plugin", "queue", "answer")
    >>> sentence(Record(3, "allocate", "call", names, ("overused", 1, "p", "a", True)))
    'p on overused, about queue a: yes'
    >>> sentence(Record(9, "allocate", "do", ("operation", "task", "job", "node", "statement"),
    ...                 ("pipeline", "default/a-0", "default/a", "n1", 2)))
    'pipeline a-0 on n1'
    """
    if record is None:
        return "the session is open"
    known = KINDS.get(record.kind)
    return known.sentence(record) if known is not None else _other(record)


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


def told(name: str, fields: str, about: str, words: str, level: int = 5) -> None:
    """Register a kind whose sentence is some words around its facts."""

    def sentence(record: Record) -> str:
        facts = {each: short(str(value)) for each, value in record.facts.items()}
        return words.format_map(facts | {"action": record.action})

    kind(name, fields, about, level)(sentence)


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


told("start", "", "an action begins", "action {action} begins", 0)
told("end", "", "an action has ended", "action {action} ends", 0)

DONE = "operation task job node statement changes"


@kind("do", DONE, "an operation was done; without a statement: by the action itself", 0)
@kind("undo", DONE, "an operation was undone", 0)
@kind("commit", DONE, "an operation was sent to the cache", 0)
def _operation(record: Record) -> str:
    text = operation_text(record["operation"], record["task"], record["node"])
    return text if record.kind == "do" else f"{record.kind}: {text}"


def operation_text(name: str, task: str, node: str) -> str:
    """An operation in words.

    >>> operation_text("evict", "default/a-0", "n1")
    'evict a-0 from n1'
    """
    return f"{name} {short(task)} {PREPOSITION.get(name, 'on')} {node or 'no node'}"


def _names(names: list[str], most: int = 5) -> str:
    return listed(map(short, names), most) or "nobody"


ABOUT = ("queue", "job", "sub_job", "task", "node", "left", "right", "reclaimer", "preemptor")


def _about(record: Record) -> str:
    """Who a question is about."""
    parts = [short(str(record[name])) if name in ("left", "right")
             else f"{name.replace('_', ' ')} {short(str(record[name]))}" for name in ABOUT
             if record.get(name) is not None]
    candidates = record.get("candidates")
    if isinstance(candidates, list):
        parts.append(f"{len(candidates)} candidate{'s' if len(candidates) != 1 else ''}")
    return ", ".join(parts)


@kind("call", "point tier plugin answer", "a plugin answered; its arguments stand by name", 0, True)
@kind("asked", "point since answer", "answers since a record were combined, where they are several",
      0, True)
def _question(record: Record) -> str:
    who = (f"{record['plugin']} on {record['point']}" if record.kind == "call" else
           f"{record['point']}, all plugins together")
    about = _about(record)
    return f"{who}{f', about {about}' if about else ''}: {answer_text(record['answer'])}"


@kind("queue", "queue next decided_by share",
      "a queue has its turn; what put it before the next: [plugin, comparison]", 3)
@kind("job", "job next decided_by", "a job has its turn", 3)
def _popped(record: Record) -> str:
    following, decided = record.get("next"), record.get("decided_by")
    text = f"{record.kind} {short(record[record.kind])} has its turn"
    if following is None or not decided:
        return text
    by = decided[0] or "the default: the older, then the smaller uid"
    return f"{text}, before {short(following)} ({by} decides)"


told("enqueued", "job changes", "a job was admitted", "job {job} is admitted")
told("unplaced", "task changes", "a promise was withdrawn without a statement",
     "the promise to {task} is taken back")


@kind("settle", "changes", "what else had changed when an action, or the cycle, ended", detail=True)
def _settle(record: Record) -> str:
    return f"{len(record['changes'])} values change without an operation of their own"


@kind("chose", "task nodes node errors reasons",
      "one of so many nodes was chosen, or none: why, and {reason: nodes}")
def _chose(record: Record) -> str:
    task = short(record["task"])
    if record["node"] is not None:
        return f"of {record['nodes']} nodes, {record['node']} is chosen for {task}"
    return f"no node for {task}: {record['errors']}"


@kind("enqueue_comparison",
      "plugin job queue level min_resources allocated inqueue elastic asked limit short_of",
      "both sides of an admission; without a level: of the cluster")
@kind("allocatable_level", "plugin task queue level allocated request asked limit short_of",
      "both sides of a queue's limit, level by level")
def _compared(record: Record) -> str:
    """Both sides of an admission, or of one level's limit."""
    short_of, level = record["short_of"], record.get("level")
    names = short_of or [name for name in record["asked"] if name != "pods"]
    asked, limit = ({name: record[side].get(name, 0.0) for name in names}
                    for side in ("asked", "limit"))
    said = Message("record.compared" if short_of else "record.compared_fits", asked=asked,
                   limit=limit, plugin=record["plugin"],
                   about=short(record.get("job") or record.get("task") or ""),
                   level=Message("record.level", queue=level) if level else None)
    return str(said)


@kind("deserved_round", "plugin number round",
      "a round of sharing: weights, each queue's step, what remains", 4)
def _round(record: Record) -> str:
    steps = ", ".join(
        f"{step['queue']} {amounts_side(step['after'])}{' (done)' if step['met'] else ''}"
        for step in record["round"]["steps"])
    left = amounts_side(record["round"]["remaining"])
    return f"round {record['number']} of deserved: {steps}; left {left}"


@kind("passed_over", "queue job task node reason", "a queue, job or pod got no turn", 3)
def _passed_over(record: Record) -> str:
    return f"passed over: {_about(record)} ({record['reason']})"


@kind("prepared", "task node chosen", "the node on which a pod will preempt, of several", 3)
def _prepared(record: Record) -> str:
    return f"{short(record['task'])} will preempt on {record['node']}: {_names(record['chosen'])}"


@kind("victims", "action task node candidates chosen",
      "who could be evicted on a node, and who was", 3)
def _victims(record: Record) -> str:
    where = f" on {record['node']}" if record.get("node") else ""
    task = f" for {short(record['task'])}" if record.get("task") else ""
    return f"victims{task}{where}: {_names(record['chosen'])}"


told("claimant", "task job queue within_job", "a pod for which others may be evicted",
     "{action} looks for room for {task} of queue {queue}")
told("reclaimee", "plugin reclaimer task queue verdict allocated deserved guarantee",
     "why a pod may be reclaimed, or not",
     "{plugin} on taking {task} from queue {queue}: {verdict}")


@kind("preemptive_comparison", "plugin task queue allocated asked deserved within",
      "both sides of whether a queue may reclaim")
def _preemptive(record: Record) -> str:
    within = record["within"]
    verdict = f"within in {', '.join(within)}" if within else "beyond it in every resource"
    return (f"queue {record['queue']} would hold {amounts_side(record['asked'])} with "
            f"{short(record['task'])}, and deserves {amounts_side(record['deserved'])}: {verdict}")


@kind("quota_comparison", "plugin job quota short_of requested pending used hard",
      "both sides of a ResourceQuota")
def _quota(record: Record) -> str:
    names = record["short_of"]
    verdict = f"too little {', '.join(names)}" if names else "room"
    return f"ResourceQuota {record['quota']} for {short(record['job'])}: {verdict}"


@kind("node_values", "task alike rows columns",
      "of all nodes what has changed since the last record of tasks alike", detail=True)
def _node_values(record: Record) -> str:
    count = len(record["rows"])
    rows = f"{count or 'no'} row{'s' if count != 1 else ''}"
    return f"what plugins say of nodes for {short(record['task'])}: {rows} new"


@kind("hyper_node_tried", "job sub_job hyper_node fits operations score",
      "a dry run in a HyperNode", 3)
def _tried(record: Record) -> str:
    return (f"a trial in HyperNode {record['hyper_node']} for {short(record['job'])}: "
            f"{'it fits' if record['fits'] else 'no'}")


told("hyper_node_chosen", "job sub_job hyper_node scores", "the best of those where it fits",
     "HyperNode {hyper_node} is chosen for {job}", 3)
told("queue_tree_warning", "plugin message", "what a queue says that its parent overrules",
     "{plugin}: {message}", 3)


@kind("saved", "operations", "copies of operations were saved")
def _saved(record: Record) -> str:
    return f"copies of {len(record['operations'])} operations are saved"


@kind("recovers", "operations", "saved operations are done once more")
def _recovers(record: Record) -> str:
    return f"{len(record['operations'])} operations are recovered"


def _other(record: Record) -> str:
    """A kind of a plugin's own."""
    facts = ", ".join(
        f"{name} {answer_text(value)}" for name, value in record.facts.items() if name != "changes")
    return f"{record.kind.replace('_', ' ')}: {facts}" if facts else record.kind
