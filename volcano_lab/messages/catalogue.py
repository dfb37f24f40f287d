"""gettext: texts written in English where they are used, and translated by `languages/LANGUAGE`.

A text is looked up as a whole, before facts are filled in; one that no catalogue has stays English.
A text found by a code instead of its English wording is a `Message`.
"""

from functools import cache
from typing import Any

from volcano_lab.messages.language import ENGLISH, FOLDER, entries, spoken
from volcano_lab.messages.message import Untranslated, filled

SCRIPT, HELP = "script", "help"
"""The catalogues of scripts and of `--help`, whose words are used nowhere else."""
SENT_BACK = frozenset({"key", "options", "start", "values", "detail", "fate"})
"""Keys of a page's data whose texts its scripts compare or send back."""
FULL_WIDTH = {".": "。", ":": "：", "?": "？", "!": "！", ",": "，", ";": "；"}


def gettext(text: str, /, **facts: Any) -> str:
    """Return a text in the current language, with facts filled in as `Message` does.

    >>> gettext("No job waits."), gettext("{jobs:and} wait for {queue}", jobs=["x", "y"], queue="a")
    ('No job waits.', 'x and y wait for a')
    """
    language = spoken()
    found = text if language == ENGLISH else catalogue(language).get(text, text)
    if not facts:
        return found
    try:
        return filled(found, facts, language)
    except Untranslated:  # a message among the facts: the whole is English
        return filled(text, facts, ENGLISH)


def localized(data: Any) -> Any:
    """Return plain data of a page with its texts in the current language; single words are names.

    >>> localized({"name": "a", "texts": ["No job waits.", 3]})
    {'name': 'a', 'texts': ['No job waits.', 3]}
    """
    if isinstance(data, str):
        return gettext(data) if " " in data else data
    if isinstance(data, dict):
        return {key: each if key in SENT_BACK else localized(each) for key, each in data.items()}
    return [localized(each) for each in data] if isinstance(data, list | tuple) else data


def mark(sign: str) -> str:
    """Return a punctuation mark, such as "." or ": ", as the current language writes it.

    >>> mark(": ")
    ': '
    """
    return sign if spoken() == ENGLISH else FULL_WIDTH.get(sign.strip(), sign)


@cache
def catalogue(language: str, name: str = "*") -> dict[str, str]:
    """Return {English: translation} of one catalogue, or of all but those of scripts and help."""
    return {entry["msgid"]: entry["msgstr"]
            for path in sorted((FOLDER / language).glob(f"{name}.po"))
            if name != "*" or path.stem not in (SCRIPT, HELP)
            for entry in entries(path) if entry["msgid"] and entry["msgstr"]}
