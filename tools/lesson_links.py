"""The links at the top and the end of each lesson, and the table of all, as Markdown."""

from itertools import pairwise

from volcano_lab.course.kit.lessons import LESSONS, START, TABLE, WAYS, Lesson
from volcano_lab.messages import gettext, mark


def link(lesson: Lesson, folder: str = "") -> str:
    """Return a lesson's number and title as a Markdown link; `folder` is that of the notebooks.

    >>> link(LESSONS["00"])
    '[00 Fair share](00-fair-share.ipynb)'
    """
    return f"[{lesson.number} {gettext(lesson.title)}]({folder}{lesson.file})"


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
    parts = [f"◂ {link(before)}" if before else "", here, f"{link(after)} ▸" if after else "",
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
    onward = (f"**{gettext('Next:')}** {link(after)}{colon}{gettext(after.can)}{stop}" if after else
              f"**{gettext('This was the last lesson.')}**")
    for way in WAYS:
        onward += "".join(f" **{gettext('Next in “{way}”:', way=gettext(way.title))}** "
                          f"{link(LESSONS[other])}{stop}" for here, other in pairwise(way.numbers)
                          if here == number and LESSONS[other] is not after)
    links = [link(each) for each in TABLE if each.number != number and each.number[:-1] == number]
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
        needs = gettext("{names:,}", names=lesson.needs) if lesson.needs else "–"
        lines.append(f"| {link(lesson, folder)} | {gettext(lesson.can)} | {needs} | "
                     f"{gettext('{minutes} min', minutes=lesson.minutes).replace(' ', chr(160))} |")
    return "\n".join(lines)
