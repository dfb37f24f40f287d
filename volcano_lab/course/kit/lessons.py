"""The course as one table, `lessons.yaml`: each lesson's title, duration and prerequisites.

The links of each lesson (`tools/lesson_links.py`), the start page, and the documentation's list are
built from it.
"""

from collections.abc import Sequence
from pathlib import Path

import yaml
from attrs import define

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


@define(frozen=True, slots=True)
class Way:
    """A way through the course: for whom it is, how long it takes, its picture, its lessons."""

    title: str
    whom: str
    time: str
    picture: str
    numbers: Sequence[str]


_GIVEN = yaml.safe_load((Path(__file__).parents[1] / "lessons.yaml").read_text(encoding="utf-8"))
TABLE = [Lesson(**row) for row in _GIVEN["lessons"]]
"""All lessons, in their order."""

WAYS = [Way(**row) for row in _GIVEN["ways"]]
"""Ways through the course, by the reader's goal."""

LESSONS = {lesson.number: lesson for lesson in TABLE}
