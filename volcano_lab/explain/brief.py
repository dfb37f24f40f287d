"""What of an answer a command shows at first: each fact once, and the cheapest change of each kind.
`-o wide` and plain data have all of it.

Volcano: none
"""

from collections.abc import Container, Iterable, Iterator

from volcano_lab.explain.explanation import TABLES, Explanation, each_said
from volcano_lab.explain.options import Rank
from volcano_lab.explain.remedy import Remedy
from volcano_lab.messages import Message, Said, known, paragraph, parts, spoken

DETAILS = TABLES["details"]
MOST = 3
"""The most changes that are shown at first."""


def head(explanation: Explanation, wide: bool, looks: bool) -> str:
    """Return the first line; where it `looks` for changes, these have until when a job waits."""
    later = _until(explanation) if looks else []
    return _paragraph((each for each in each_said(explanation.said) if each not in later), wide)


def changes_head(explanation: Explanation, wide: bool) -> str:
    """Return the line above the changes: until when a job waits without one."""
    return _paragraph([*_until(explanation), Message("why.changes")], wide)


def _until(explanation: Explanation) -> list[Message]:
    return [said for said in each_said(explanation.said)
            if isinstance(said, Message) and said.code.startswith("until.")]


def _paragraph(said: Iterable[Said], wide: bool) -> str:
    return paragraph(said if wide else brief(said))


def brief(said: Iterable[Said], beside: Container[str] = ()) -> list[Said]:
    """Return messages without details, `beside` causes, or a first line, with some codes; those
    that have a short text (`CODE.brief`) with that.

    >>> brief([Message("gang_short", n=2, placed=1, unplaced=1), "Pending"])
    ['Pending']
    """
    kept = list[Said]()
    for each in said:
        code = each.code if isinstance(each, Message) else ""
        unless, by = DETAILS["unless"].get(code), DETAILS["beside"].get(code, "")
        if any(map(beside.__contains__, by.split())) or (unless is not None and not any(
                map(beside.__contains__, unless.split()))):
            if code in DETAILS["first"]:
                break
        elif isinstance(each, Message) and known(f"{code}.brief"):
            kept.append(Message(f"{code}.brief", **each.facts))
        else:
            kept.append(each)
    return kept


def paragraphs(explanation: Explanation, wide: bool) -> list[str]:
    """Return a paragraph for each cause; without details, and what holds resources behind the sum
    that it belongs to, unless `wide`.
    """
    if wide:
        return [*filter(None, dict.fromkeys(cause.text for cause in explanation.causes))]
    found, codes = list[list[Said]](), {cause.code for cause in explanation.causes}
    codes |= {".".join(each.code.split(".")[:2]) for each in parts(explanation.said)}
    for cause in explanation.causes:
        said = brief(cause.sentences, codes)
        if found and cause.code == "held_by":
            found[-1] += said
        else:
            found.append(said)
    return [*filter(None, dict.fromkeys(map(paragraph, found)))]


def chosen(explanation: Explanation, remedies: Iterable[Remedy], left: list[Remedy]
           ) -> Iterator[Remedy]:
    """Yield the changes that are shown at first, and append those to `left` that are not: one of
    each kind, as many as `MOST`, and that of some pods only where none before places all; none is
    left alone. An end of jobs is left out where the answer says which would be enough.
    """
    kinds, whole = set[tuple[int, bool]](), False
    ends = any(each.facts.get("jobs") for each in _until(explanation))
    for each in remedies:
        some = any(said.code == "gains.left" for said in each.brings)
        waits = each.rank == Rank.WAIT and not each.tried.settings
        if ends and waits:
            continue
        if (some and whole) or (each.rank, waits) in kinds or len(kinds) == MOST:
            left.append(each)
        else:
            kinds.add((each.rank, waits))
            yield each
        whole |= not some
    if len(left) == 1:
        yield left.pop()


def texts(remedy: Remedy, wide: bool) -> tuple[str, str]:
    """Return what is changed, and what that gives and takes: without details unless `wide`, but
    whether an object has to be created again.
    """
    if wide:
        return remedy.change, remedy.effect
    does = Message("change.again", does=remedy.does) if remedy.again else remedy.does
    effect = Message("clauses", parts=brief(remedy.brings))
    return does.text(spoken()), effect.text(spoken())
