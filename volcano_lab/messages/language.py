"""The language of all texts: English, or one with a gettext catalogue in `languages/`."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from gettext import c2py
from pathlib import Path

ENGLISH = "en"
FOLDER = Path(__file__).parent / "languages"
FIELD = re.compile(r'^(msg\S+) ((?:".*"\n?)+)', re.MULTILINE)

_spoken = ENGLISH


@cache
def languages() -> list[str]:
    """Return the codes of the available languages.

    >>> languages()
    ['en', 'zh']
    """
    return [ENGLISH, *sorted(path.stem for path in FOLDER.glob("*.po"))]


def speak(language: str) -> None:
    """Set the language of all texts.

    Raises:
        ValueError: for a language without a catalogue.

    >>> speak("tlh")
    Traceback (most recent call last):
    ValueError: language is "tlh"; allowed are en, zh
    """
    global _spoken
    if language not in languages():
        raise ValueError(f'language is "{language}"; allowed are {", ".join(languages())}')
    _spoken = language


def spoken() -> str:
    """Return the code of the current language."""
    return _spoken


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Use another language within a `with` block.

    >>> with speaking("zh"):
    ...     spoken()
    'zh'
    """
    before = spoken()
    speak(language)
    try:
        yield
    finally:
        speak(before)


@cache
def translations(language: str) -> dict[str, list[str]]:
    """Return {code of a message: its translation, a form for each plural} of a language.

    A message is found by its code (the entry's context), so that a reworded English sentence keeps
    its translation, marked fuzzy, until a translator has checked it.
    """
    found = {}
    for entry in entries(FOLDER / f"{language}.po"):
        forms = [text for field, text in entry.items() if field.startswith("msgstr")]
        if "msgctxt" in entry and all(forms):
            found[entry["msgctxt"]] = forms
    return found


def plural_form(language: str, count: float) -> int:
    """Return which plural form a number takes in a language.

    >>> plural_form("en", 1), plural_form("en", 3), plural_form("zh", 3)
    (0, 1, 0)
    """
    return int(count != 1) if language == ENGLISH else _rule(language)(int(count))


@cache
def _rule(language: str) -> Callable[[int], int]:
    head = next(entries(FOLDER / f"{language}.po"))["msgstr"]
    rule: Callable[[int], int] = c2py(head.partition("plural=")[2].partition(";")[0])
    return rule


def entries(path: Path) -> Iterator[dict[str, str]]:
    r"""Return {field: text} of each entry of a catalogue, as tools/translate.py writes it.

    A library that reads every dialect takes seconds in a browser's Python.

    >>> next(entries(FOLDER / "zh.po"))["msgstr"].partition("\n")[0]
    'Language: zh'
    """
    for entry in path.read_text(encoding="utf-8").split("\n\n"):
        yield {field: "".join(map(json.loads, lines.splitlines()))
               for field, lines in FIELD.findall(entry)}
