"""A riddle in a terminal: `volcano-lab riddle N`, a dialogue line by line."""

from collections.abc import Iterator

from volcano_lab.api.objects import ConfigMap, ObjectMeta
from volcano_lab.course.kit.boss import REMOVE
from volcano_lab.course.kit.markup import plain
from volcano_lab.course.riddles.board import riddle as numbered, riddles
from volcano_lab.course.riddles.game import Riddle
from volcano_lab.framework.config.yaml import ConfError
from volcano_lab.manifests.export import as_manifests
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.messages import gettext, wrapped

COMMANDS = {
    "get, describe, logs …": "as with kubectl: get podgroups, describe podgroup NAME, get events",
    "why [NAME]": "ask the lab (10 points)",
    "hint": "the next hint (10 points); the last one is the repair",
    "cause [LETTER]": "the causes to choose from; name one (20 points for a wrong one)",
    "KIND/NAME.FIELD=VALUE": "change something, and run the cycle; it is kept for the next",
    "remove KIND/NAME": "take something away, and run the cycle; likewise",
    "reset": "take all changes back",
    "quit": "give up"}
"""What one may write -> what it does."""


def _help() -> str:
    return "\n".join(f"  {command:32}{plain(text)}" for command, text in COMMANDS.items())


def play(number: int | None) -> Iterator[str]:
    """Yield what is to be printed; a line is read from the input whenever more is wanted.

    Raises `LookupError` for a riddle that there is not.
    """
    if number is None:
        yield "\n".join(f"{each.number:3}  {plain(f'Why is {each.asks} pending?')}"
                        for each in riddles().values())
    else:
        yield from _played(numbered(number))


def manifests_of(number: int | None, form: str) -> Iterator[str]:
    """Yield the manifests of a riddle, with its configuration as a ConfigMap."""
    found = numbered(1 if number is None else number)
    conf = [ConfigMap(ObjectMeta("volcano-scheduler-configmap", "volcano-system"),
                      {"volcano-scheduler.conf": found.conf})] if found.conf else []
    yield as_manifests([*found.objects(), *conf], form)


def _played(riddle: Riddle) -> Iterator[str]:
    yield riddle.text()
    yield _help()
    changes: list[str] = []
    while not riddle.solved:
        try:
            line = input("> ").strip()
        except EOFError:
            break
        if line in ("quit", "exit"):
            break
        yield _answered(riddle, line, changes)
    if not riddle.solved:
        yield plain(gettext("Not solved. One repair: {hints}", hints=gettext(riddle.hints[-1])))


def _answered(riddle: Riddle, line: str, changes: list[str]) -> str:
    """What is said to one line; `changes` are kept from line to line."""
    word, _, rest = line.removeprefix("kubectl ").partition(" ")
    try:
        match word:
            case "get" | "describe" | "logs" | "-n" | "--namespace":
                return riddle.kubectl(f"{word} {rest}")
            case "why":
                found = riddle.why(rest.strip())
                return "\n".join(wrapped(plain(text), 96, "    ", "  ")
                                 for text in (found.head, *(each.text for each in found.causes)))
            case "hint":
                return repr(riddle.hint())
            case "cause" if not rest:
                return "\n".join([plain("What is the cause?"), *(
                    wrapped(plain(text), 96, "     ", f"  {letter}  ")
                    for letter, text in riddle.options.items())])
            case "cause":
                return repr(riddle.cause(rest))
            case "remove" if rest:
                return _tried(riddle, changes, REMOVE + rest.strip().replace(" ", "/", 1))
            case "reset":
                changes.clear()
                return plain("All is as it was.")
    except (ManifestError, LookupError) as error:
        return plain(str(error.args[0]))
    change = line.removeprefix("set ").strip()
    return _tried(riddle, changes, change) if "=" in change else _help()


def _tried(riddle: Riddle, changes: list[str], change: str) -> str:
    """What comes of one change more; it is kept where the cycle could be run with it."""
    tried = [*changes, change]
    try:
        after = riddle.changed(tried)
    except (ManifestError, ConfError) as error:
        return plain(gettext("Not changed: {error}", error=gettext(str(error))))
    changes[:] = tried
    return f"{plain(gettext('With {changes:,}:', changes=tried))}\n{riddle.graded(after, tried)!r}"
