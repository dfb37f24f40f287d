"""Symptoms, and the places of a trace that decide them: what users see first, and where to look.

`symptoms.toml` lists them. Each symptom needs a queue or a job; `find` moves the stepper to the
deciding record.
"""

import tomllib
from pathlib import Path

from attrs import define

from volcano_lab.debug.breakpoints import Breakpoint
from volcano_lab.messages import Misuse, gettext
from volcano_lab.trace import Record, Stepper


@define(slots=True, frozen=True)
class Symptom:
    """What is seen, its likely cause, and the breakpoint at the deciding record.

    In the breakpoint {queue} or {job} is replaced by the given name; `about` has which of them, ""
    for neither.
    """

    seen: str
    likely: str
    place: str
    about: str = ""

    def breakpoint(self, name: str = "") -> Breakpoint:
        """Return the breakpoint for one queue or job. Raises `ValueError` without its name."""
        if self.about and not name:
            raise Misuse("stepper.nameless", seen=gettext(self.seen), about=gettext(self.about))
        return Breakpoint(self.place.format(**{self.about: repr(name)} if self.about else {}))


SYMPTOMS = tuple(Symptom(**row) for row in tomllib.loads(
    Path(__file__).with_name("symptoms.toml").read_text("utf-8"))["symptom"])


def find(stepper: Stepper, symptom: Symptom, name: str = "") -> Record | None:
    """Move a stepper to the first record that decides a symptom, searching from the start; return
    None without moving if there is none.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=1).job("a", pods=2, cpu=1).objects())
    >>> find(Stepper(trace), SYMPTOMS[3], "default/a").facts["plugin"]
    'overcommit'
    """
    at, wanted = stepper.at, symptom.breakpoint(name)
    record = stepper.goto(-1).find(wanted)
    if record is None:
        stepper.goto(at)
    return record
