"""The course as one table, `lessons.yaml`: each lesson's title, duration and prerequisites.

The line of links at the top and the end of each lesson, the start page, and the documentation's
list are built from it.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import yaml
from attrs import define

from volcano_lab.messages import gettext, mark

START = "start.ipynb"
"""The start page's notebook."""


@define(frozen=True, slots=True)
class Lesson:
    """A lesson: its notebook is `NUMBER-NAME.ipynb`. An appendix has a letter, such as "04b"."""

    number: str
    name: str
    title: str
    minutes: int
    can: str
    """What a reader can do afterwards."""

    needs: Sequence[str] = ()
    """Numbers of lessons to read before."""

    @property
    def file(self) -> str:
        """The notebook's file."""
        return f"{self.number}-{self.name}.ipynb"

    @property
    def link(self) -> str:
        """Number and title as a Markdown link."""
        return f"[{self.number} {gettext(self.title)}]({self.file})"


@define(frozen=True, slots=True)
class Way:
    """A way through the course: for whom it is, how long it takes, which lessons it has."""

    title: str
    whom: str
    time: str
    numbers: Sequence[str]


_GIVEN = yaml.safe_load((Path(__file__).parents[1] / "lessons.yaml").read_text(encoding="utf-8"))
TABLE = [Lesson(**row) for row in _GIVEN["lessons"]]
"""All lessons, in their order."""

WAYS = [Way(**row) for row in _GIVEN["ways"]]
"""Ways through the course, by the reader's goal."""

LESSONS = {lesson.number: lesson for lesson in TABLE}


def neighbours(number: str) -> tuple[Lesson | None, Lesson | None]:
    """Return the lessons before and after one, without appendices.

    >>> [lesson and lesson.title for lesson in neighbours("00")]
    [None, 'One scheduling cycle']
    """
    main = [lesson for lesson in TABLE if len(lesson.number) == 2]
    return (next((each for each in reversed(main) if each.number < number), None),
            next((each for each in main if each.number > number), None))


def top_line(number: str) -> str:
    """Return the links at the top of a lesson: previous, this, next, and the start page.

    >>> print(top_line("00"))
    **00 Fair share** · [01 One scheduling cycle](01-one-scheduling-cycle.ipynb) ▸ ·
    [all lessons](start.ipynb)
    """
    before, after = neighbours(number)
    here = f"**{number} {gettext(LESSONS[number].title)}**"
    parts = [f"◂ {before.link}" if before else "", here, f"{after.link} ▸" if after else "",
             f"[{gettext('all lessons')}]({START})"]
    return " · ".join(part for part in parts if part)


def end_line(number: str) -> str:
    """Return the links at the end of a lesson, as Markdown: the next lesson, and the next one of
    each way that goes on elsewhere.

    >>> print(end_line("08"))
    **Next:** [09 Preempt and reclaim](09-preempt-and-reclaim.ipynb): ... **Next in “Why is my job
    pending?”:** [13 Your own cluster](13-your-own-cluster.ipynb). ...
    """
    _, after = neighbours(number)
    stop, colon = mark("."), mark(": ")
    onward = (f"**{gettext('Next:')}** {after.link}{colon}{gettext(after.can)}{stop}" if after else
              f"**{gettext('This was the last lesson.')}**")
    for way in WAYS:
        onward += "".join(f" **{gettext('Next in “{way}”:', way=gettext(way.title))}** "
                          f"{LESSONS[other].link}{stop}" for here, other in pairwise(way.numbers)
                          if here == number and LESSONS[other] is not after)
    links = [each.link for each in TABLE if each.number != number and each.number[:-1] == number]
    more = f" **{gettext('More:')}** {' · '.join(links)}{stop}" if links else ""
    return f"{onward}{more} [{gettext('All lessons and ways through')}]({START}){stop}"


def course_table(folder: str = "") -> str:
    """Return all lessons as a Markdown table; `folder` is that of the notebooks.

    >>> print(course_table().splitlines()[2])
    | [00 Fair share](00-fair-share.ipynb) | read a queue's weight, ... comes next | – | ...
    """
    heads = ("lesson", "you can afterwards", "needs", "time")
    lines = [f"| {' | '.join(map(gettext, heads))} |", "|---|---|---|---|"]
    for lesson in TABLE:
        link = f"[{lesson.number} {gettext(lesson.title)}]({folder}{lesson.file})"
        needs = gettext("{names:,}", names=lesson.needs) if lesson.needs else "–"
        lines.append(f"| {link} | {gettext(lesson.can)} | {needs} | "
                     f"{gettext('{minutes} min', minutes=lesson.minutes).replace(' ', chr(160))} |")
    return "\n".join(lines)
