"""The kinds of records: one table of each kind's fields, meaning and sentence, with numbers in
display units.

The stepper, breakpoints, `diff`, `volcano-lab why` and the documentation read it. Add a kind of
your own in the same way:

>>> from volcano_lab.trace.record import Record
>>> @kind("tea_break", "queue minutes", "nobody works")
... def _tea(record):
...     return f"queue {record['queue']} rests for {record['minutes']} minutes"
>>> KINDS["tea_break"].sentence(Record(1, "", "tea_break", ("queue", "minutes"), ("a", 5)))
'queue a rests for 5 minutes'
>>> del KINDS["tea_break"]
"""

from collections.abc import Callable
from typing import Any

from attrs import define

from volcano_lab.messages import Message, Said
from volcano_lab.trace.record import Record

Sentence = Callable[[Record], Said]
OPERATIONS = ("do", "undo", "commit")
"""Kinds of records about a statement's operation."""
PREPOSITION = {"allocate": "on", "pipeline": "on", "evict": "from"}


@define(slots=True, frozen=True)
class Kind:
    """One kind of record.

    Attributes:
        fields: The names of its facts; a record may lack some.
        about: Its meaning, in half a sentence.
        sentence: Returns a record of the kind as one sentence.
        detail: True where a stepper shows it only at its finest: it is no decision by itself.
    """

    name: str
    fields: tuple[str, ...]
    about: str
    sentence: Sentence
    detail: bool = False


KINDS: dict[str, Kind] = {}
"""Every known kind by its name."""


def kind(name: str, fields: str, about: str, detail: bool = False
         ) -> Callable[[Sentence], Sentence]:
    """Register the function below as the sentence of a kind of record."""

    def register(sentence: Sentence) -> Sentence:
        KINDS[name] = Kind(name, tuple(fields.split()), about, sentence, detail)
        return sentence

    return register


def sentence(record: Record | None) -> str:
    """Return a record's sentence in the current language; None is the moment when the session has
    opened.

    >>> names = ("point", "tier", "plugin", "queue", "answer")
    >>> sentence(Record(3, "allocate", "call", names, ("overused", 1, "p", "a", True)))
    'p on overused, about queue a: yes'
    >>> sentence(Record(9, "allocate", "do", ("operation", "task", "job", "node", "statement"),
    ...                 ("pipeline", "default/a-0", "default/a", "n1", 2)))
    'pipeline a-0 on n1'
    """
    return str(message_of(record))


def message_of(record: Record | None) -> Said:
    """Return a record's message; for an unknown kind, its facts by name."""
    if record is None:
        return Message("record.opened")
    found = KINDS.get(record.kind)
    return found.sentence(record) if found is not None else _other(record)


def short(name: str) -> str:
    """Return a name without the default namespace.

    >>> short("default/train-0"), short("team/train-0")
    ('train-0', 'team/train-0')
    """
    return name.removeprefix("default/")


def shown(value: Any) -> Any:
    """Return a fact in display form: names without the default namespace."""
    if isinstance(value, list):
        return [shown(each) for each in value]
    return short(value) if isinstance(value, str) else value


def plain_kind(name: str, fields: str, about: str) -> None:
    """Register a kind whose message has the record's own facts."""

    def message(record: Record) -> Message:
        facts = {each: shown(value) for each, value in record.facts.items()}
        return Message(f"record.{name}", **{"action": record.action} | facts)

    kind(name, fields, about)(message)


def answer(value: Any) -> Said:
    """Return a plugin's answer in words.

    >>> [str(answer(value)) for value in (True, None, -1, [["default/a-0"], 1])]
    ['yes', 'no objection', '-1', 'a-0']
    """
    match value:
        case bool():
            return Message("yes" if value else "no")
        case None:
            return Message("answer.none")
        case float() | int():
            return f"{value:.4g}"
        case [list() as victims, int()]:
            return names(victims) if value[1] else Message("answer.abstains")
        case list() if all(isinstance(item, str) for item in value):
            return names(value)
        case dict():
            return Message("parts", parts=[
                Message("part", name=short(str(name)), value=answer(each))
                for name, each in list(value.items())[:6]]) if value else Message("nothing")
    text = str(value)
    return text if len(text) <= 200 else text[:199] + "…"


def names(keys: list[str]) -> Message:
    """Return names without the default namespace, at most five."""
    return Message("names", names=shown(keys)) if keys else Message("nobody")


plain_kind("start", "", "an action begins")
plain_kind("end", "", "an action has ended")

DONE = "operation task job node statement changes"


@kind("do", DONE, "an operation was done; without a statement: by the action itself")
@kind("undo", DONE, "an operation was undone")
@kind("commit", DONE, "an operation was sent to the cache")
def _operation(record: Record) -> Message:
    return Message(f"record.{record.kind}", operation=operation(
        record["operation"], record["task"], record["node"]))


def operation(name: str, task: str, node: str) -> Message:
    """Return an operation in words.

    >>> str(operation("evict", "default/a-0", "n1"))
    'evict a-0 from n1'
    """
    where = ".from" if PREPOSITION.get(name) == "from" else ""
    return Message(f"operation{where if node else '.nowhere'}", name=name, task=short(task),
                   node=node)


ABOUT = ("queue", "job", "sub_job", "task", "node", "left", "right", "reclaimer", "preemptor")


def _about(record: Record) -> list[Said]:
    """Return the subjects of a call."""
    parts: list[Said] = [
        short(str(record[name])) if name in ("left", "right") else
        Message("about", kind=Message(f"about.kind.{name}"), name=short(str(record[name])))
        for name in ABOUT if record.get(name) is not None]
    candidates = record.get("candidates")
    if isinstance(candidates, list):
        parts.append(Message("about.candidates", n=len(candidates)))
    return parts


@kind("call", "point tier plugin answer", "a plugin answered; its arguments stand by name", True)
@kind("asked", "point since answer", "answers since a record were combined, where they are several",
      True)
def _question(record: Record) -> Message:
    about = _about(record)
    return Message(f"record.{record.kind}", point=record["point"], plugin=record.get("plugin"),
                   about=Message("record.about", parts=about) if about else None,
                   answer=answer(record["answer"]))


@kind("queue", "queue next decided_by share",
      "a queue is next; what put it before the one after it: [plugin, comparison]")
@kind("job", "job next decided_by", "a job is next")
def _popped(record: Record) -> Message:
    following, decided = record.get("next"), record.get("decided_by")
    before = Message("record.before", next=short(following), by=decided[0] or Message(
        "record.default_order")) if following is not None and decided else None
    return Message(f"record.{record.kind}", before=before,
                   **{record.kind: short(record[record.kind])})


plain_kind("enqueued", "job changes", "a job was admitted")
plain_kind("unplaced", "task changes", "a promise was withdrawn without a statement")


@kind("settle", "changes", "what else had changed when an action, or the cycle, ended", detail=True)
def _settle(record: Record) -> Message:
    return Message("record.settle", n=len(record["changes"]))


@kind("chose", "task nodes node errors reasons",
      "one of so many nodes was chosen, or none: why, and {reason: nodes}")
def _chose(record: Record) -> Message:
    return Message("record.chose" if record["node"] is not None else "record.chose_none",
                   nodes=record["nodes"], node=record["node"], task=short(record["task"]),
                   errors=record["errors"])


@kind("enqueue_comparison",
      "plugin job queue level min_resources allocated inqueue elastic asked limit short_of",
      "both sides of an admission; without a level: of the cluster")
@kind("allocatable_level", "plugin task queue level allocated request asked limit short_of",
      "both sides of a queue's limit, level by level")
def _compared(record: Record) -> Message:
    """Return both sides of an admission, or of one level's limit."""
    short_of, level = record["short_of"], record.get("level")
    wanted = short_of or [name for name in record["asked"] if name != "pods"]
    asked, limit = ({name: record[side].get(name, 0.0) for name in wanted}
                    for side in ("asked", "limit"))
    return Message(f"record.enqueue_comparison{'' if short_of else '.fits'}", asked=asked,
                   limit=limit, plugin=record["plugin"],
                   about=short(record.get("job") or record.get("task") or ""),
                   level=Message("record.level", queue=level) if level else None)


@kind("deserved_round", "plugin number round",
      "a round of sharing: weights, each queue's step, what remains")
def _round(record: Record) -> Message:
    steps = [Message("round.done" if step["met"] else "round.step", queue=step["queue"],
                     after=step["after"]) for step in record["round"]["steps"]]
    return Message("record.deserved_round", number=record["number"],
                   steps=Message("parts", parts=steps), remaining=record["round"]["remaining"])


@kind("passed_over", "queue job task node reason error", "a queue, job or pod was skipped: why")
def _passed_over(record: Record) -> Message:
    return Message("record.passed_over", about=_about(record), reason=passed(record))


def passed(record: Record) -> Message:
    """Return why a queue, job or pod was skipped."""
    return Message(f"passed.{record['reason']}", node=record.get("node"),
                   error=record.get("error"))


@kind("prepared", "task node chosen", "the node on which a pod will preempt, of several")
def _prepared(record: Record) -> Message:
    return Message("record.prepared", task=short(record["task"]), node=record["node"],
                   chosen=names(record["chosen"]))


@kind("victims", "action task node candidates chosen",
      "who could be evicted on a node, and who was")
def _victims(record: Record) -> Message:
    task, node = record.get("task"), record.get("node")
    return Message("record.victims", chosen=names(record["chosen"]),
                   task=Message("victims.for", task=short(task)) if task else None,
                   node=Message("victims.on", node=node) if node else None)


plain_kind("claimant", "task job queue within_job", "a pod for which others may be evicted")


@kind("reclaimee", "plugin reclaimer task queue verdict allocated deserved guarantee",
      "why a pod may be reclaimed, or not")
def _reclaimee(record: Record) -> Message:
    return Message("record.reclaimee", plugin=record["plugin"], task=short(record["task"]),
                   queue=record["queue"], verdict=Message(f"verdict.{record['verdict']}"))


@kind("preemptive_comparison", "plugin task queue allocated asked deserved within",
      "both sides of whether a queue may reclaim")
def _preemptive(record: Record) -> Message:
    within = record["within"]
    return Message(f"record.preemptive_comparison{'' if within else '.beyond'}", within=within,
                   queue=record["queue"], task=short(record["task"]), asked=record["asked"],
                   deserved=record["deserved"])


@kind("quota_comparison", "plugin job quota short_of requested pending used hard",
      "both sides of a ResourceQuota")
def _quota(record: Record) -> Message:
    return Message(f"record.quota_comparison{'' if record['short_of'] else '.fits'}",
                   quota=record["quota"], job=short(record["job"]), short_of=record["short_of"])


@kind("node_values", "task alike rows columns",
      "of all nodes what has changed since the last record of tasks alike", detail=True)
def _node_values(record: Record) -> Message:
    return Message("record.node_values", n=len(record["rows"]), task=short(record["task"]))


@kind("hyper_node_tried", "job sub_job hyper_node fits operations score",
      "a dry run in a HyperNode")
def _tried(record: Record) -> Message:
    return Message(f"record.hyper_node_tried{'' if record['fits'] else '.not'}",
                   hyper_node=record["hyper_node"], job=short(record["job"]))


plain_kind("hyper_node_chosen", "job sub_job hyper_node scores", "the best of those where it fits")
plain_kind("queue_tree_warning", "plugin message", "what a queue says that its parent overrules")


@kind("saved", "operations", "copies of operations were saved")
@kind("recovers", "operations", "saved operations are done once more")
def _saved(record: Record) -> Message:
    return Message(f"record.{record.kind}", n=len(record["operations"]))


def _other(record: Record) -> Said:
    """Return the message of a plugin's own kind."""
    facts = [Message("part", name=name, value=answer(value))
             for name, value in record.facts.items() if name != "changes"]
    name = record.kind.replace("_", " ")
    return Message("record.other", kind=name, facts=Message("parts", parts=facts)
                   ) if facts else record.kind
