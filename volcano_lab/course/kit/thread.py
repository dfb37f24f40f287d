"""The reader's progress: in a lesson, and in the whole course."""

from typing import Any

from volcano_lab.course.kit import progress
from volcano_lab.course.kit.field import show_fields
from volcano_lab.course.kit.lessons import LESSONS, TABLE, WAYS, Lesson, Way
from volcano_lab.course.kit.live import Shown
from volcano_lab.course.kit.markup import FONT, GREEN, INK, LINE, LINK, html, plain
from volcano_lab.course.kit.questions import COURSE, entries, opened
from volcano_lab.messages import Message, gettext, mark
from volcano_lab.trace.shown import image


class Standing(Shown):
    """A lesson's checks and minutes, done and left; it is updated with every completed check.

    >>> Standing(LESSONS["00"])
    00 Fair share: about 35 minutes
    """

    def __init__(self, lesson: Lesson):
        self.lesson, self.checks = lesson, count_checks(lesson.number)

    @property
    def done(self) -> int:
        """Return the number of completed checks."""
        return min(len(progress.done(self.lesson.number)), self.checks)

    def _words(self, done: int) -> str:
        left = self.lesson.minutes * (1 - done / max(self.checks, 1))
        minutes = gettext("about {minutes} minutes left" if done else "about {minutes} minutes",
                          minutes=5 * round(left / 5))
        if not self.checks:
            return minutes
        checks = str(Message("checks" if not done else "checks.of", n=self.checks, done=done))
        return f"{checks} · {minutes if done < self.checks else gettext('all done')}"

    def __repr__(self) -> str:
        return f"{self.lesson.number} {plain(self.lesson.title)}{mark(': ')}{plain(self._words(0))}"

    def _repr_html_(self) -> str:
        return f'<div style="color: {INK}; font-family: {FONT}">{html(self._words(0))}</div>'

    def _state(self) -> dict[str, Any]:
        return {"kind": "standing", "done": self.done, "checks": self.checks,
                "says": html(self._words(self.done))}

    def _received(self, content: dict[str, Any]) -> None:
        if "forget" in content:
            progress.forget(self.lesson.number)


def lesson(number: str) -> Standing:
    """Open a lesson: show its reader's progress, and record it from now on."""
    standing = Standing(LESSONS[number])
    opened.number = number
    progress.start(standing._refresh)
    show_fields()
    return standing


def count_checks(number: str) -> int:
    """Return the number of checks of a lesson.

    >>> count_checks("17")
    24
    """
    if number == "17":  # each riddle's cause and its repair
        return 2 * len(list((COURSE / "riddles").glob("*.yaml")))
    return sum("predicts" not in entry for entry in entries(number).values())


class Ways(Shown):
    """The ways through the course as cards, with the progress in each lesson.

    >>> print(str(ways()).splitlines()[0])
    - Why is my job pending? (For a team that uses Volcano, about 6 hours): 00, 04, 06, 08, 13, 17
    """

    def __repr__(self) -> str:
        return "\n".join(f"- {plain(way.title)} ({plain(way.whom)}, {plain(way.time)}): "
                         f"{', '.join(way.numbers)}" for way in WAYS)

    def _repr_html_(self) -> str:
        return (f'<div style="display: flex; flex-wrap: wrap; gap: 12px; color: {INK}; '
                f'font-family: {FONT}; font-size: 14px; line-height: 1.5">'
                f'{"".join(map(_card, WAYS))}</div>')


ways = Ways


def _card(way: Way) -> str:
    style = (f"border: 1px solid {LINE}; border-radius: 10px; padding: 12px 14px; "
             "flex: 1 1 190px; max-width: 320px; box-sizing: border-box")
    before = {*way.numbers}
    for lesson in reversed(TABLE):
        before.update(lesson.needs if lesson.number in before else ())
    needs, rows = sorted(before - {*way.numbers}), [_row(LESSONS[each]) for each in way.numbers]
    hung = "list-style: none; margin: 8px 0; padding: 0 0 0 1.2em; text-indent: -1.2em"
    return (f'<div style="{style}">{image(way.picture, "")}<br>'
            f'<b style="font-size: 15px">{html(way.title)}</b><br>{html(way.whom)} · '
            f'{html(way.time)}<ul style="{hung}">{"".join(rows)}</ul>'
            f"{gettext('It builds on {needs:,}.', needs=needs) if needs else ''}</div>")


def _row(lesson: Lesson) -> str:
    checks, done = count_checks(lesson.number), len(progress.done(lesson.number))
    color = f"color-mix(in srgb, {GREEN} 70%, currentColor)" if done else "inherit"
    sign = "○◐●"[(done > 0) + (done >= checks)] if checks else "·"  # some have no checks
    count = gettext("{count} of {all}", count=min(done, checks), all=checks)
    return (f'<li><span aria-hidden="true" style="color: {color}">{sign}</span> '
            f'<a href="{lesson.file}" style="color: {LINK}; text-decoration: underline">'
            f"{lesson.number} {html(lesson.title)}</a>{f' {count}' * bool(done and checks)}</li>")
