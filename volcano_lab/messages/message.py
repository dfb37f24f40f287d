"""A sentence as data: the code of a template and the facts that fill it.

In a template `{name}` is a fact, shown by its type: a dict as amounts ("cpu 4 and memory 1Gi"), a
list as names ("a, b and 3 more"), a message as its own sentence. After a colon follows the form:

- `{names:3}`: at most 3 entries of a list are named, the others counted;
- `{names:and}`, `{names:or}`, `{needs:,}`, `{parts:;}`, `{sums:+}`: the separator of the entries;
- `{limit:bare}`: an amount of one resource as a number, where the resource was named before;
- `{origin:()}`: in brackets, after a space; empty for an empty fact;
- `{share:.3g}`: a number, as in Python.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from string import Formatter
from typing import Any

from volcano_lab.api.formatting import amount_text
from volcano_lab.messages.language import ENGLISH, plural_form, spoken, translations
from volcano_lab.messages.texts import TEXTS

MOST = 4
"""How many entries of a list are named unless the template has another number."""
LOOSE = re.compile(r"(?<=[，。：；、（）”]) (?=\S)|"
                   r"(?<=[\u3001-\u9fff]) (?=[\u3001-\u9fff，：；（）“])")
"""A space after a Chinese mark, or between two Chinese characters around a Chinese fact."""


class Message:
    """The code of a template in `texts`, and the facts that fill it.

    `str` gives the sentence in the current language; one without a translation is English as a
    whole. A template with two forms takes the second unless the fact `n` is 1.

    >>> held = Message("list.held", who="default/a", amount={"cpu": 4000.0, "memory": 2.0**30})
    >>> str(held), held.text("zh")
    ('default/a cpu 4 and memory 1Gi', 'default/a cpu 4 和 memory 1Gi')
    >>> str(Message("pods", n=1)), str(Message("pods", n=2))
    ('1 pod', '2 pods')
    """

    __slots__ = ("code", "facts")

    def __init__(self, code: str, /, **facts: Any):
        if code not in TEXTS:
            raise KeyError(f"message {code} has no text in volcano_lab.messages.texts")
        self.code, self.facts = code, facts

    def text(self, language: str) -> str:
        """Return the sentence in a language, or English where a part has no translation."""
        try:
            return _filled(self, language)
        except Untranslated:
            return _filled(self, ENGLISH)

    def __str__(self) -> str:
        return self.text(spoken())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.code, self.facts) == (other.code, other.facts)

    def __hash__(self) -> int:
        return hash(self.code)

    def __repr__(self) -> str:
        return f"Message({self.code!r}, {', '.join(f'{k}={v!r}' for k, v in self.facts.items())})"


def known(code: str) -> bool:
    """Return whether a message with this code exists."""
    return code in TEXTS


Said = Message | str
"""A message, or a text that is never translated: a name, or Volcano's own condition."""


def parts(said: Any) -> Iterator[Message]:
    """Yield a message and those among its facts, at any depth; of a list, those of each.

    >>> [each.code for each in parts([Message("sentence", what=Message("nothing"))])]
    ['sentence', 'nothing']
    """
    if isinstance(said, Message):
        yield said
        said = [*said.facts.values()]
    for each in said if isinstance(said, list | tuple) else ():
        yield from parts(each)


class Untranslated(LookupError):
    """A message has no translation."""


def paragraph(sentences: Iterable[Said | None], language: str | None = None) -> str:
    """Return sentences as one paragraph; "" without any.

    >>> paragraph([Message("gang.no_pods"), None, "NotEnoughTasks"])
    'The PodGroup has no pods yet. NotEnoughTasks'
    """
    language = language or spoken()
    texts = [each if isinstance(each, str) else each.text(language) for each in sentences if each]
    joined = " ".join(filter(None, texts))
    return re.sub("(?<=[。！？；：）]) ", "", joined) if language != ENGLISH else joined


def template(code: str, language: str, count: float = 1) -> str:
    """Return the template of a code in a language. Raises `Untranslated`."""
    english = TEXTS[code]
    forms = [english] if isinstance(english, str) else [*english]
    if language != ENGLISH:
        forms = translations(language).get(code, [])
    if not forms:
        raise Untranslated(code)
    return forms[min(plural_form(language, count), len(forms) - 1)]


def _filled(message: Message, language: str) -> str:
    count = message.facts.get("n", 1)
    return filled(template(message.code, language, count), message.facts, language)


def filled(text: str, facts: Mapping[str, Any], language: str) -> str:
    """Return a template of a language with its facts; raises `Untranslated` as `template`."""
    text = _Filler(language).vformat(text, (), facts)
    return text if language == ENGLISH else LOOSE.sub("", text)


class _Filler(Formatter):
    """A formatter of templates, for a language."""

    def __init__(self, language: str):
        self.language = language

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "()":
            inner = self._shown(value)
            return template("brackets", self.language).format(inner=inner) if inner else ""
        if isinstance(value, int | float) and format_spec:
            return format(value, format_spec)
        return self._shown(value, format_spec)

    def _shown(self, value: Any, how: str = "") -> str:
        """Return a fact as text."""
        if value is None:
            return ""
        if isinstance(value, Message):
            return _filled(value, self.language)
        if isinstance(value, Mapping):
            return self._amounts({name: amount_text(name, amount) for name, amount in value.items()
                                  if name != "pods" or how == "bare"}, how)
        if isinstance(value, list | tuple):
            return self._listed([self._shown(part) for part in value], how)
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    def _amounts(self, texts: dict[str, str], how: str) -> str:
        if how == "bare" and len(texts) == 1:
            return next(iter(texts.values()))
        return self._joined([" ".join(each) for each in texts.items()] or [
            template("nothing", self.language)], "and" if how in ("", "bare") else how)

    def _listed(self, parts: list[str], how: str) -> str:
        """Return some entries, and the number of the others; all if there is a separator."""
        parts = [part for part in parts if part]
        if how and not how.isdigit():
            return self._joined(parts, how)
        most = int(how or MOST)
        shown = self._joined(parts[:most], ",")
        rest = len(parts) - most
        return shown if rest <= 0 else template("list.more", self.language).format(
            shown=shown, rest=rest)

    def _joined(self, parts: list[str], how: str) -> str:
        if how in ("and", "or") and len(parts) > 2:
            parts = [self._joined(parts[:-1], ","), parts[-1]]
        return template(f"join.{how}", self.language).join(parts)
