"""The language of all texts: English, or one with a gettext catalogue in `languages/`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from gettext import c2py
from pathlib import Path

ENGLISH = "en"
FOLDER = Path(__file__).parent / "languages"

_spoken = ENGLISH


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
    return {entry.msgctxt: forms for entry in _catalogue(language)
            if all(forms := [*entry.msgstr_plural.values()] or [entry.msgstr])}


def plural_form(language: str, count: float) -> int:
    """Return which plural form a number takes in a language.

    >>> plural_form("en", 1), plural_form("en", 3), plural_form("zh", 3)
    (0, 1, 0)
    """
    return int(count != 1) if language == ENGLISH else _rule(language)(int(count))


@cache
def _rule(language: str):
    forms = _catalogue(language).metadata["Plural-Forms"]
    return c2py(forms.partition("plural=")[2].rstrip(";"))


@cache
def _catalogue(language: str):
    import polib  # not loaded for English

    return polib.pofile(str(FOLDER / f"{language}.po"))
