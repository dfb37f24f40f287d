"""The kinds of records: `kinds.toml` has the fields and the meaning of each; its sentence is here,
with numbers in display units.

The stepper, breakpoints, `volcano-lab why` and the documentation read them. A plugin may note kinds
of its own, whose sentence is the list of their facts.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
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
    if record is None:
        return str(Message("record.opened"))
    found = KINDS.get(record.kind)
    return str(found.sentence(record) if found is not None else _other(record))


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
    return Message("names", names=shown(keys)) if keys else Message("names.none")


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


def _question(record: Record) -> Message:
    about = _about(record)
    return Message(f"record.{record.kind}", point=record["point"], plugin=record.get("plugin"),
                   about=Message("record.about", parts=about) if about else None,
                   answer=answer(record["answer"]))


def _popped(record: Record) -> Message:
    following, decided = record.get("next"), record.get("decided_by")
    before = Message("record.before", next=short(following), by=decided[0] or Message(
        "record.default_order")) if following is not None and decided else None
    return Message(f"record.{record.kind}", before=before,
                   **{record.kind: short(record[record.kind])})


def _compared(record: Record) -> Message:
    """Return both sides of an admission, or of one level's limit, and what of it was requested."""
    short_of, level = record["short_of"], record.get("level")
    wanted = short_of or [name for name in record["asked"] if name != "pods"]
    request = "min_resources" if "min_resources" in record.facts else "request"
    asked, limit, requested = ({name: record[side].get(name, 0.0) for name in wanted}
                               for side in ("asked", "limit", request))
    return Message(f"record.enqueue_comparison{'' if short_of else '.fits'}", asked=asked,
                   limit=limit, requested=requested, plugin=record["plugin"],
                   about=short(record.get("job") or record.get("task") or ""),
                   level=Message("record.level", queue=level) if level else None)


def _round(record: Record) -> Message:
    steps = [Message("round.done" if step["met"] else "round.step", queue=step["queue"],
                     after=step["after"]) for step in record["round"]["steps"]]
    return Message("record.deserved_round", number=record["number"],
                   steps=Message("parts", parts=steps), remaining=record["round"]["remaining"])


def passed(record: Record) -> Message:
    """Return why a queue, job or pod was skipped."""
    return Message(f"passed.{record['reason']}", node=record.get("node"), error=record.get("error"))


def _victims(record: Record) -> Message:
    task, node = record.get("task"), record.get("node")
    return Message("record.victims", chosen=names(record["chosen"]),
                   task=Message("victims.for", task=short(task)) if task else None,
                   node=Message("victims.on", node=node) if node else None)


def _other(record: Record) -> Said:
    """Return the message of a plugin's own kind."""
    facts = [Message("part", name=name, value=answer(value))
             for name, value in record.facts.items()]
    name = record.kind.replace("_", " ")
    return Message("record.other", kind=name, facts=Message("parts", parts=facts)
                   ) if facts else record.kind


SENTENCES: dict[str, Sentence] = {
    "do": _operation, "undo": _operation, "commit": _operation, "call": _question,
    "asked": _question, "queue": _popped, "job": _popped, "enqueue_comparison": _compared,
    "allocatable_level": _compared, "deserved_round": _round, "victims": _victims,
    "passed_over": lambda record: Message("record.passed_over", about=_about(record),
                                          reason=passed(record))}
"""The sentences of kinds whose messages have other facts than the record."""
SHOWN: dict[str, Callable[[Any], Any]] = {
    "chosen": names, "verdict": lambda verdict: Message(f"verdict.{verdict}")}
"""How a fact of a message is made of a record's, where that is not its display form."""


def _plain(name: str, row: Mapping[str, Any]) -> Sentence:
    """Return the sentence of a kind whose message has the record's own facts."""
    fields = row.get("fields", "").split()
    fact, ending = row.get("lacks", ("", ""))

    def sentence(record: Record) -> Message:
        facts = {field: SHOWN.get(field, shown)(record.get(field)) for field in fields}
        count = {"n": len(record[row["counted"]])} if "counted" in row else {}
        code = f"record.{name}{ending if fact and not record[fact] else ''}"
        return Message(code, **{"action": record.action} | facts | count)

    return sentence


KINDS = {name: Kind(name, tuple(row.get("fields", "").split()), row["about"],
                    SENTENCES.get(name) or _plain(name, row), row.get("detail", False))
         for name, row in tomllib.loads(
             Path(__file__).with_suffix(".toml").read_text("utf-8")).items()}
"""Every known kind by its name."""
