"""The language in which people are spoken to: English, or one of `languages/`.

Texts stand in the source in English, where they are needed, and nothing there knows of other
languages. What is shown passes through `say`, which finds the text in the catalogues (gettext's
`.po` files): as it stands, or as one that has names or numbers put in (in an entry they stand in
braces), or sentence by sentence. What no catalogue has, such as names and Volcano's own condition
texts, stays. `tools/translate.py` collects the entries from the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from volcano_lab.messages.catalogue import fallback
from volcano_lab.messages.language import ENGLISH, languages, speak, spoken

__all__ = ["ENGLISH", "languages", "speak", "spoken"]

CHINESE = re.compile("[\u4e00-\u9fff]")
"""What a message has that was filled in Chinese already."""

FOLDER = Path(__file__).parents[1] / "messages" / "languages"
SCRIPT, LABELS = "script", "labels"
"""The catalogues of scripts' texts, which are no others', and of headings and labels."""

SENTENCES = re.compile(r"(?:(?<=[.!?])|(?<=[.!?]\*\*)) (?=\S)")
BREAKS = (("\n", "\n"), ("; ", "；"), (": ", "："), (" · ", " · "), (", ", "，"))
"""Where a sentence is taken apart that no entry has as a whole -> what stands there instead."""

BOLD = re.compile(r"\*\*[^*]+\*\*")
SIGNATURE = re.compile(r"[a-z_]+\([a-z_, ]*\)")
"""Code that looks like words, such as `job_order(left, right)`."""

FIELDS = re.compile(r"(?=.*\b[a-z]+[A-Z])\w+(, \w+)+")
"""A list of names of fields, such as `name, enableNodeOrder`."""

CONDITION = re.compile(r"(?:(?:\w+: )?\d+/\d+ (?:tasks in gang|nodes are)|Not enough valid) .*",
                       re.DOTALL)
"""Volcano's own condition texts; they stay as they are."""

ANSWER = re.compile(r" (→ (?:\*\*[^*]+\*\*|`[^`]+`))(?:: |\.$)")
"""The right answer, as `answered` writes it, between what is said of a wrong one and its reason."""

LEAD = re.compile(r"\{(\w+)\}(?:[.,;]? )?(?=[A-Z`*{])")
"""What is put in before an entry's first sentence, and may itself be some sentences, or nothing."""

LOOSE = re.compile("(?<=[\u3001-\u9fff，：；（）”]) (?=[\u3001-\u9fff，：；（）“])")
"""A space between two Chinese signs: around what is put in, which may be a name or Chinese."""

AROUND = "*“”()[]✓✗– "
ENDS = {".": "。", ":": "：", "?": "？", "!": "！"}
NAMES = frozenset({
    "widget", "id", "kind", "name", "names", "key", "color", "colors", "state", "fate", "outcome",
    "values", "value", "start", "node", "queue", "job", "pod", "parent", "group", "plugin",
    "widgets", "way", "detail", "resource", "field", "type", "ghost", "options", "copied", "model",
    "link", "n"})
"""Keys of plain data below which programs read, and not people."""

WITHIN = {"tasks": frozenset(), "columns": frozenset(), "heads": frozenset(),
          "controls": NAMES - {"group"}, "difference": NAMES - {"name"},
          "tiers": NAMES - {"name"} | {"plugins"}, "work": NAMES - {"way"},
          "rows": NAMES - {"name"}, "lines": NAMES - {"name"},
          "growth": NAMES - {"name", "names"}, "asked": NAMES | {"question"}}
"""The same where it differs, below some keys."""

def say(text: str) -> str:
    """Return a text in the reader's language.

    >>> say("No job waits."), spoken()
    ('No job waits.', 'en')
    """
    return text if spoken() == ENGLISH or CHINESE.search(text) else _said(spoken(), text)


def mark(sign: str) -> str:
    """Return a punctuation mark, such as "." or ": ", in the reader's language.

    >>> mark(": ")
    ': '
    """
    return sign if spoken() == ENGLISH else ENDS.get(sign.strip(), sign)


def answered(answer: str, reason: str) -> str:
    """Write the right answer, bold or code, and its reason, behind what is said of a wrong one.

    >>> answered("**b**", "It is the emptier one."), answered("**b**", "")
    ('→ **b**: It is the emptier one.', '→ **b**.')
    """
    return f"→ {answer}: {reason}" if reason else f"→ {answer}."


def say_all(data: Any, names: frozenset[str] = NAMES) -> Any:
    """Return plain data with its texts in the reader's language; what programs read stays."""
    if spoken() == ENGLISH:
        return data
    if isinstance(data, str):
        return say(data)
    if isinstance(data, dict):
        return {key: inner if key in names else _unit(inner) if key == "unit" and inner
                else say_all(inner, WITHIN.get(key, names)) for key, inner in data.items()}
    return [say_all(inner, names) for inner in data] if isinstance(data, list | tuple) else data


def _unit(unit: str) -> str:
    """A unit as it stands behind a number; alone, as a heading, it may be another word."""
    told = say(f"1 {unit}")
    return told.removeprefix("1 ") if told.startswith("1 ") else say(unit)


@cache
def catalogue(language: str, name: str = "*") -> Catalogue:
    """Return what is said in a language, by one catalogue or all."""
    import polib

    said = {path.stem: [(entry.msgid, entry.msgstr) for entry in polib.pofile(str(path))
                        if entry.translated()]
            for path in sorted((FOLDER / language).glob(f"{name}.po"))
            if name != "*" or path.stem != SCRIPT}
    return Catalogue((entry for entries in said.values() for entry in entries),
                     {english for english, _ in said.get(LABELS, ())})


class Catalogue:
    """Entries: English -> what is said instead; those with braces match whatever is put in, but
    `labels` only a whole text: as a part of one such a word is a name.

    >>> said = Catalogue([("queue {name} waits", "{name} 队列等待"), ("cpu", "CPU")])
    >>> said.of("queue a waits"), said.of("queue a runs"), said.of("cpu")
    ('a 队列等待', None, 'CPU')
    """

    def __init__(self, entries: Iterable[tuple[str, str]], labels: Iterable[str] = ()):
        whole = dict(entries)
        self.entries = {part: said for entry in whole.items() for part, said in sentences(*entry)
                        } | whole
        self.labels = set(labels)
        braced = [english for english in self.entries if PLACE.search(english)]
        lengths = {english: len(PLACE.sub("", english)) for english in braced
                   if any(map(str.isalpha, PLACE.sub("", english)))}
        self.patterns = [(length, max(PLACE.split(english)[::2], key=len), english)
                         for english, length in sorted(lengths.items(), key=lambda each: -each[1])]

    def of(self, text: str) -> str | None:
        """Return what is said for a text as a whole, or None."""
        if text in self.entries:
            return self.entries[text]
        for length, part, english in self.patterns:
            found = pattern(english).fullmatch(text) if part in text else None
            if found and (length > SHORT or self._fit(english, found.groups())):
                said = PLACE.sub(lambda place, found=found: found["_" + place[1]] if place[1] in RAW
                                 else self._put_in(found["_" + place[1]]), self.entries[english])
                return LOOSE.sub("", said)
        return None

    def _put_in(self, part: str) -> str:
        """A word of the labels may be a name; an "s" is an English plural."""
        name = part in self.labels and " " not in part and part.islower()
        if part == "s" or name or FIELDS.fullmatch(part):
            return "" if part == "s" else part
        said = say(part)
        if said == part and " " in part:  # a sentence, whose full stop is the entry's
            said = say(f"{part}.").removesuffix("。").removesuffix(".")
        return said

    def _fit(self, english: str, parts: tuple[str, ...]) -> bool:
        if sum(map(str.isalpha, PLACE.sub("", english))) < LEAST:
            return all(part[:1].isdigit() and self._known(part) for part in parts)
        return all(map(self._known, parts))

    def _known(self, part: str) -> bool:
        """Whether a part is names, or has entries; what is bold is a name, or an answer."""
        return (not re.search("(?<!,) ", part.strip()) or BOLD.fullmatch(part) is not None
                or say(part) != part)


def sentences(english: str, said: str) -> list[tuple[str, str]]:
    """Return an entry's sentences one by one, where it has as many in both languages.

    >>> sentences("It waits. Look at {job}.", "它在等待。请看 {job}。")
    [('It waits.', '它在等待。'), ('Look at {job}.', '请看 {job}。')]
    """
    lead = LEAD.match(english)
    if lead and (rest := re.match(rf"\{{{lead[1]}\}}[。.，；]? ?", said)):
        inner = english[lead.end():], said[rest.end():]
        return [inner, *sentences(*inner)]
    ours, theirs = SENTENCES.split(english), re.split("(?<=[。！？])(?=.)", said)
    return list(zip(ours, theirs, strict=True)) if 1 < len(ours) == len(theirs) else []


PLACE = re.compile(r"\{(\w+)\}")
RAW = ("code", "short", "message")
"""What is put in as it is: code, answers of readers and plugins, Volcano's own messages."""

SHORT = 10
"""Signs of an entry that matches only where all that is put in is known, or a name."""

LEAST = 3
"""Letters of an entry that matches more than numbers, unlike "{0} of {1}"."""


@cache
def pattern(english: str) -> re.Pattern[str]:
    """Return how an entry with braces matches. What is put in ends where a sentence or a part of it
    does; not so after a colon, at the end, nor at a colon of a dict, nor in a message of Volcano's.
    """
    parts = PLACE.split(english)
    text = re.escape(parts[0])
    for place in range(1, len(parts), 2):
        free = (parts[place - 1].endswith((": ", "allowed is "))
                and parts[place + 1] in ("", "."))
        stop = r"[.!?](?:\*\*)? |\n" if free else r"(?:[.!?;]|(?<!'):)(?:\*\*)? |, \*\*|\n"
        count = "*" if parts[place - 1] else "+"
        again = parts[place] in parts[1:place:2]
        quoted = parts[place - 1].endswith("“") and parts[place + 1].startswith("”")
        put_in = "[^”]+" if quoted else (
            ".+?" if parts[place] == "message" else rf"(?:(?!{stop}).){count}?")
        text += rf"(?P=_{parts[place]})" if again else rf"(?P<_{parts[place]}>{put_in})"
        text += re.escape(parts[place + 1])
        if place == len(parts) - 2 and not (parts[-1] or free or parts[place - 1].endswith(
                (". ", ".", "?"))):
            text += "(?<![.?])"  # that is the sentence's
    return re.compile(text, re.DOTALL)


@lru_cache(20_000)
def _said(language: str, text: str) -> str:
    inner = text.strip()
    if not re.search("[A-Za-z]{2}", inner) or SIGNATURE.fullmatch(inner):
        return text
    found = _found(catalogue(language), inner)
    return text if found is None else text.replace(inner, found)


def _found(known: Catalogue, text: str) -> str | None:
    """What is said for a text, or for its parts; None where nothing of it is known."""
    found = known.of(text)
    condition = CONDITION.search(text) if found is None else None
    if condition:
        said = _found(known, text[:condition.start()].rstrip(": ")) if condition.start() else None
        return None if said is None else f"{said}：{text[condition.start():]}"
    answer = ANSWER.search(text) if found is None else None
    if answer:
        before, reason = say(text[:answer.start()]), text[answer.end():]
        return f"{before} {answer[1]}：{say(reason)}" if reason else f"{before} {answer[1]}。"
    if found is None and text[-1] in ENDS and (said := known.of(text[:-1])) is not None:
        found = said if said.endswith("？") else said + ENDS[text[-1]]
    if found is None and text[0].isupper():  # as a sentence begins
        found = known.entries.get(text[0].lower() + text[1:])
    for around in ("*“”", AROUND):
        if found is None and (inner := text.strip(around)) not in ("", text):
            said = known.of(inner)
            found = None if said is None else text.replace(inner, said, 1)
    if found is not None:
        return found
    several = SENTENCES.split(text)
    if len(several) > 1:
        return _in_parts(known, several, " ", "")
    for mark, other in BREAKS:
        if mark in text:
            return _in_parts(known, text.split(mark), mark, other)
    inner = text.strip(AROUND)
    said = _found(known, inner) if inner and inner != text else None
    return None if said is None else text.replace(inner, said, 1)


def _in_parts(known: Catalogue, parts: list[str], mark: str, other: str) -> str | None:
    """The longest runs of parts that are known, one after the other; `other` stands after them."""
    text, at, any_known = "", 0, False
    while at < len(parts):
        runs = ((end, known.of(mark.join(parts[at:end]))) for end in range(len(parts), at + 1, -1))
        end, said = next((run for run in runs if run[1] is not None), (at + 1, None))
        if said is None and parts[at]:
            said = _found(known, parts[at])
        here = mark.join(parts[at:end])
        known_here = said not in (None, here)  # a state or phase stays as it is
        any_known = any_known or known_here
        text += said if known_here and said else here
        at = end
        if at < len(parts):
            text += other if known_here else mark
    return text if any_known else None


fallback.append(say)
