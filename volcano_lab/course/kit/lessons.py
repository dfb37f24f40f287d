"""The course as one table: what each lesson is called, how long it takes, what it needs.

The line of links at the top and the end of each lesson, the start page, and the documentation's
list are made from it.
"""

from attrs import define

from volcano_lab.trace.language import mark, say

START = "start.ipynb"
"""The start page's notebook."""


@define(frozen=True, slots=True)
class Lesson:
    """A lesson: its notebook is `NUMBER-NAME.ipynb`. An appendix has a letter, such as "03b"."""

    number: str
    name: str
    title: str
    minutes: int
    can: str
    """What a reader can do afterwards."""

    needs: tuple[str, ...] = ()
    """Numbers of lessons that come before."""

    @property
    def file(self) -> str:
        """The notebook's file."""
        return f"{self.number}-{self.name}.ipynb"

    @property
    def link(self) -> str:
        """Number and title as a Markdown link."""
        return f"[{self.number} {say(self.title)}]({self.file})"


@define(frozen=True, slots=True)
class Way:
    """A way through the course: for whom it is, how long it takes, which lessons it has."""

    title: str
    whom: str
    time: str
    numbers: tuple[str, ...]


TABLE = (
    Lesson("00", "fair-share", "Fair share", 30,
           "read a queue's weight, capability, guarantee and deserved; say who comes next"),
    Lesson("01", "one-scheduling-cycle", "One scheduling cycle", 45,
           "name what a cycle does in which order, and find the slow part of a real scheduler"),
    Lesson("01b", "the-cycle-in-the-source", "The cycle in the source", 10,
           "place breakpoints in a cycle, read its log and metrics, and go by symptoms", ("01",)),
    Lesson("02", "resources", "Resources", 40,
           'say which comparison tolerates a small difference, and what "not mentioned" means'),
    Lesson("03", "proportion", "Proportion", 45,
           "compute what a queue deserves round by round, and its share", ("00",)),
    Lesson("03b", "proportion-in-the-source", "Proportion in the source", 10,
           "place breakpoints in proportion, read its metrics, and go by symptoms", ("03",)),
    Lesson("04", "admission", "Admission", 40,
           "compute the sum by which enqueue admits a job", ("01", "03")),
    Lesson("04b", "admission-in-the-source", "Admission in the source", 10,
           "place breakpoints at the sum of admission, and find reservations of nobody", ("04",)),
    Lesson("05", "capacity-and-the-queue-tree", "Capacity and the queue tree", 45,
           "say which level of a tree refuses a job; fix the bug of v1.11.0", ("03", "04")),
    Lesson("05b", "deep-queue-trees", "Deep queue trees", 5,
           "say what depth costs, and what grows with the number of queues", ("05",)),
    Lesson("06", "gangs-and-statements", "Gangs and statements", 50,
           "follow a statement to its commit or discard; write a dry run", ("00", "01")),
    Lesson("06b", "statements-in-the-source", "Statements in the source", 10,
           "say what travels with a bind, and what a pod remembers of a plan", ("06",)),
    Lesson("06c", "boss-a-cluster-that-stands-still", "Boss: a cluster that stands still", 9,
           "find and fix four reasons at once", ("01", "02", "04", "06")),
    Lesson("07", "dominant-resource-fairness", "Dominant resource fairness", 35,
           "compute a dominant share, flat and in a tree", ("00", "03")),
    Lesson("08", "placement", "Placement", 40,
           "say which node gets a pod, and why the others do not"),
    Lesson("08b", "placement-in-large-clusters", "Placement in large clusters", 5,
           "say what is decided by chance, and what the predicate cache may spoil", ("08",)),
    Lesson("09", "preempt-and-reclaim", "Preempt and reclaim", 35,
           "tell preempt from reclaim; make a reclaim fire that does not", ("00", "06")),
    Lesson("09b", "a-dry-run-of-preemption", "A dry run of preemption", 5,
           "say what topology-aware preemption asks before it evicts", ("09",)),
    Lesson("10", "network-topology", "Network topology", 45,
           "follow a dry run over HyperNodes", ("06",)),
    Lesson("10b", "who-is-in-a-hypernode", "Who is in a HyperNode", 10,
           "name the members of a HyperNode, and say what one wrong HyperNode stops", ("10",)),
    Lesson("11", "binding-faults-and-healing", "Binding, faults and healing", 45,
           "say what happens after the decision, and how a failed bind heals", ("01", "06")),
    Lesson("11b", "watching-a-scheduler", "Watching a scheduler", 20,
           "follow an eviction; say what a session writes; read metrics, log and dump", ("11",)),
    Lesson("12", "your-own-plugin", "Your own plugin", 60,
           "write a plugin, an action, an extension point", ("01",)),
    Lesson("13", "your-own-cluster", "Your own cluster", 20,
           "export a cluster, ask why its jobs wait, try a change, compare before and after",
           ("04", "09")),
    Lesson("14", "time", "Time", 25,
           "simulate a day, say how long queues wait, and why a large gang may never start",
           ("04", "06")),
    Lesson("15", "what-a-cycle-costs", "What a cycle costs", 45,
           "say what a cycle costs, and which part grows with what", ("01", "08")),
    Lesson("16", "boss-the-morning-after", "Boss: the morning after", 13,
           "repair a cluster and its configuration without harm to others", ("05", "09", "10")),
    Lesson("17", "riddles", "Twelve riddles", 60,
           "say why a job is pending from what kubectl prints, and repair it with one change",
           ("04", "06", "09")),
)

WAYS = (Way("Why is my job pending?", "For a team that uses Volcano", "half a day",
            ("00", "04", "06", "08", "13", "17")),
        Way("Queues of a company", "For those who write them", "half a day",
            ("00", "03", "04", "05", "09")),
        Way("Running the scheduler", "For those on call", "half a day", ("01", "11", "11b", "15")),
        Way("Changing the scheduler", "For developers", "a day", ("01", "02", "06", "08", "12")))

LESSONS = {lesson.number: lesson for lesson in TABLE}


def neighbours(number: str) -> tuple[Lesson | None, Lesson | None]:
    """The lessons before and after one, without appendices.

    >>> [lesson and lesson.title for lesson in neighbours("00")]
    [None, 'One scheduling cycle']
    """
    main = [lesson for lesson in TABLE if len(lesson.number) == 2]
    return (next((each for each in reversed(main) if each.number < number), None),
            next((each for each in main if each.number > number), None))


def top_line(number: str) -> str:
    """The links at the top of a lesson: before, here, next, and the start page, as Markdown.

    >>> print(top_line("00"))
    **00 Fair share** · [01 One scheduling cycle](01-one-scheduling-cycle.ipynb) ▸ ·
    [all lessons](start.ipynb)
    """
    before, after = neighbours(number)
    here = f"**{number} {say(LESSONS[number].title)}**"
    parts = [f"◂ {before.link}" if before else "", here, f"{after.link} ▸" if after else "",
             f"[{say('all lessons')}]({START})"]
    return " · ".join(part for part in parts if part)


def end_line(number: str) -> str:
    """The links at the end of a lesson, as Markdown."""
    _, after = neighbours(number)
    stop, colon = mark("."), mark(": ")
    onward = (f"**{say('Next:')}** {after.link}{colon}{say(after.can)}{stop}" if after else
              f"**{say('This was the last lesson.')}**")
    links = [each.link for each in TABLE if each.number != number and each.number[:-1] == number]
    more = f" **{say('More:')}** {' · '.join(links)}{stop}" if links else ""
    return f"{onward}{more} [{say('All lessons and ways through')}]({START}){stop}"


def course_table(folder: str = "") -> str:
    """All lessons as a Markdown table; `folder` is where the notebooks are.

    >>> print(course_table().splitlines()[2])
    | [00 Fair share](00-fair-share.ipynb) | read a queue's weight, ... comes next | – | ...
    """
    heads = ("lesson", "you can afterwards", "needs", "time")
    lines = [f"| {' | '.join(map(say, heads))} |", "|---|---|---|---|"]
    for lesson in TABLE:
        link = f"[{lesson.number} {say(lesson.title)}]({folder}{lesson.file})"
        needs = ", ".join(lesson.needs) or "–"
        lines.append(f"| {link} | {say(lesson.can)} | {needs} | "
                     f"{say(f'{lesson.minutes} min').replace(' ', chr(160))} |")
    return "\n".join(lines)
