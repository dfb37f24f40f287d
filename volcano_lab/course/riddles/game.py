"""A riddle: the cluster, the cause to name, the repair, and the score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import Factory, define
from IPython.display import display

from volcano_lab.changes.kubectl import kubectl
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit import progress
from volcano_lab.course.kit.boss import REMOVE, at_work, change_of, lowered, run_changed
from volcano_lab.course.kit.checking import Check, ended, is_empty
from volcano_lab.course.kit.markup import plain
from volcano_lab.course.kit.question import Asked
from volcano_lab.course.kit.results import Finding, Printed, finding
from volcano_lab.course.kit.scenery import cluster_from
from volcano_lab.course.kit.verdict import GOOD, RIGHT, Verdict, to_do, try_again, well_done
from volcano_lab.course.riddles.kubectl import Kubectl
from volcano_lab.explain import Explainer, Explanation
from volcano_lab.framework.config.yaml import ConfError
from volcano_lab.manifests import Loaded, ManifestError, from_dict, values
from volcano_lab.messages import Message, gettext, paragraph, wrapped
from volcano_lab.trace.names import SHORT
from volcano_lab.trace.views.comparison import Comparison
from volcano_lab.trace.views.cycle import Cycle

FOLDER = Path(__file__).parent
PRICES = {"hint": 10, "asked": 10, "wrong cause": 20, "one change more": 10}
"""What is taken from 100 points."""

REACH = {"job": 0, "queue": 1, "node": 2, "plugin": 3, "conf": 3}
"""Kind -> how far a change of it reaches: one job, some of them, all."""

BY_HAND = dict.fromkeys(
    ["conf", "plugin"], "kubectl edit configmap volcano-scheduler-configmap -n volcano-system")
"""Kind -> the command for a change that no single command makes; jobs are submitted again."""

PARTS = ("nodes", "queues", "running", "waiting", "objects")  # of a riddle's cluster

FORCED = "kubectl replace --force -f"
NAME = re.compile(r"(?:remove )?[\w-]+/(?:[\w-]+/)?([\w-]+)")
"""The name of the object that a change is for."""


@define(slots=False)
class Riddle:
    """One riddle of the folder, and how far its reader is.

    >>> first = Riddle.read(FOLDER / "01.yaml")
    >>> first.number, first.points
    (1, 100)
    """

    number: int
    title: str
    """Names the cause, often enough; it shows when the riddle is solved."""

    story: str
    asks: str
    causes: dict[str, str]
    """What may be the cause -> why it is not; or "right: " and why it is."""

    hints: list[str]
    needs: int
    """The pods of the job that have to have a place or the promise of one."""

    smallest: int
    may: Sequence[str]
    """Kinds that may be changed; conf and plugin are parts of the configuration."""

    cluster_of: dict[str, Any]
    pays: Sequence[str] = ()
    """Jobs that may lose pods."""

    conf: str | None = None
    shows: Sequence[str] = ()
    """The commands of kubectl that a reader begins with."""

    taken: dict[str, int] = Factory(lambda: dict.fromkeys(PRICES, 0))
    named: set[str] = Factory(set)
    repaired: tuple[list[int], list[str]] | None = None
    """The cheapest repair so far: its changes and evicted pods and how far it reaches, as numbers;
    and the changes.
    """

    @classmethod
    def read(cls, path: Path) -> Riddle:
        """Read a riddle."""
        (given,) = values(path.read_text(encoding="utf-8"))
        parts = {name: given.get(name, []) for name in PARTS}
        return cls(int(path.stem), cluster_of=parts, **{
            key: given[key] for key in given.keys() - {*PARTS}})

    # -- the cluster -----------------------------------------------------------------------------

    def objects(self) -> Loaded:
        """The manifests as they were applied, before controllers."""
        parts = self.cluster_of
        runs = cluster_from(parts | {"jobs": parts["running"]}).objects()
        return Loaded([*runs, *(from_dict(job, strict=True) for job in parts["waiting"])])

    @property
    def cluster(self) -> Cluster:
        """The cluster, for whatever one likes to try with it."""
        return Cluster(self.objects(), self.conf)

    def what_if(self, *changes: str) -> Comparison | Verdict:
        """Compare a cycle with changes to one without; they are those of `repair`. Where the job
        waits as before, say in Volcano's words what stops it now, if it is something new.
        """
        if is_empty(changes):
            return to_do(gettext('Write a change, such as what_if("queue/a.weight=5").'))
        found = self._compared(changes)
        was, now = (self._row(cycle) for cycle in (found.before, found.after))
        if was and now and now["why"]:
            display(finding("{job} waits for the same reason as before." if now["why"] == was["why"]
                            else "{job} waits for a new reason: {why}", job=self.asks,
                            why=now["why"][0]))
        return found

    def _compared(self, changes: Sequence[str]) -> Comparison:
        change = change_of(changes)
        return self.cluster.what_if(*change.settings, remove=change.removals)

    def _row(self, cycle: Cycle) -> dict[str, Any] | None:
        return next((row for row in cycle.jobs() if row["job"].endswith(f"/{self.asks}")), None)

    @cached_property
    def kubectl(self) -> Kubectl:
        """The cluster after a cycle as `kubectl` shows it."""
        return Kubectl(self.cluster)

    def text(self, *commands: str) -> str:
        """The story, and what `kubectl` shows, as text."""
        return "\n\n".join([gettext("Riddle {number}", number=self.number),
                            wrapped(plain(self.story), 96), self._shown(*commands)]) + "\n"

    def _shown(self, *more: str) -> Printed:
        commands = [each.removeprefix("kubectl ") for each in (*self.shows, *more)]
        return Printed("\n\n".join(f"$ kubectl {each}\n{self.kubectl(each)}" for each in commands))

    def open(self, *commands: str) -> Asked:
        """Show the story and what `kubectl` prints, first and for more commands; return the
        question for its cause, to be answered on the page, with the choices in a fold and what was
        answered before.
        """
        display({"text/plain": self.text(*commands), "text/html": Finding(self.story)._repr_html_()
                 + self._shown(*commands)._repr_html_()}, raw=True)
        more = gettext("It has two causes; name one after the other.") if (
            len(self.right) > 1) else None
        graded = Check(f"17.cause {self.number}", self.cause, str, options=tuple(self.causes))
        asked = Asked(paragraph([gettext("Why is {job} pending?", job=self.asks), more]), graded,
                      closed=gettext("Name the cause"))
        for letter in sorted(self.named, key=lambda letter: letter in self.right):
            asked.say(self.options[letter])
        return asked

    # -- asking ----------------------------------------------------------------------------------

    @property
    def options(self) -> dict[str, str]:
        """Letter -> what may be the cause."""
        return dict(zip("abcdefg", self.causes, strict=False))

    @property
    def right(self) -> set[str]:
        """The letters of the causes."""
        return {letter for letter, text in self.options.items()
                if self.causes[text].startswith("right: ")}

    def hint(self) -> Finding:
        """Give the next hint, at its price; the last one is a repair."""
        number = min(self.taken["hint"], len(self.hints) - 1)
        return finding(paragraph([gettext(self.hints[number]), self._charged("hint", number + 1)]))

    def why(self, name: str = "") -> Explanation:
        """Ask the lab, at its price."""
        self._charged("asked", 1)
        return Explainer(self.cluster.objects(), self.conf).why(name or self.asks)

    def cause(self, name: str) -> Verdict:
        """Name a cause, by its letter or its text."""
        letter = next((letter for letter, text in self.options.items() if text == name),
                      str(name).strip().casefold())
        if letter not in self.options:
            return try_again(gettext("Choose one of: {answers:;}.", answers=[*self.options]))
        self.named.add(letter)
        text = self.causes[self.options[letter]]
        if letter not in self.right:
            return try_again(paragraph([gettext(text), self._charged(
                "wrong cause", len(self.named - self.right))]))
        reason = gettext(text.removeprefix("right: "))
        if self.right <= self.named:
            return well_done(paragraph([reason, self._end()]))
        return Verdict(RIGHT, paragraph([reason, gettext("There is another cause.")]))

    def _charged(self, what: str, count: int) -> str:
        """Take the price of something that was asked `count` times; return what is left."""
        before = self.points
        self.taken[what] = self.taken[what] if self.solved else count
        return gettext("**−{price} points: {points} left.**", price=before - self.points,
                       points=self.points) if self.points < before else ""

    def repair(self, *changes: str) -> Verdict:
        """Change the cluster, run the cycle, and see whether its job is at work.

        Args:
            changes: KIND/NAME.FIELD=VALUE or remove KIND/NAME: "queue/a.weight=5",
                "plugin/gang.enablePreemptable=true", "conf/actions=allocate", "remove job/train".
        """
        if is_empty(changes):
            return self.repair(*self.repaired[1]) if self.repaired else to_do(gettext(
                'Get {job} to work with the fewest changes, such as repair("queue/a.weight=5"). '
                "Allowed are changes of {kinds:or}.", job=self.asks, kinds=self.may))
        try:
            after = self.changed(changes)
        except (ManifestError, ConfError) as error:
            return try_again(ended(str(error)))
        found = self.graded(after, changes)
        if found.state in GOOD:
            display(after.plot.nodes("After the repair", cell=1))
        return found

    def changed(self, changes: Sequence[str]) -> Cycle:
        """Run a cycle with changes, once all causes are named. Raises `ManifestError`, `ConfError`
        for one that cannot be.
        """
        if found := self.right - self.named:
            raise ManifestError("Name every cause first ({named} of {count} named); then your "
                                "repair is run", named=len(self.right) - len(found),
                                count=len(self.right))
        for each in map(str, changes):
            if ".allocatable" in each:
                raise ManifestError('"{change}": nodes keep their size here', change=each)
            if "/" in each and _kind(each) not in self.may:
                raise ManifestError('"{change}" is not allowed in this riddle; allowed are changes '
                                    "of {kinds:or}", change=each, kinds=self.may)
        return run_changed(self.objects(), self.conf, changes)

    def graded(self, after: Cycle, changes: Sequence[str]) -> Verdict:
        """The job runs with the minimum that it asks for, and no other job has lost pods."""
        had, has = ({name.rpartition("/")[2]: pods for name, pods in at_work(cycle).items()}
                    for cycle in (self.kubectl.cycle, after))
        job, placed, row = self.asks, has.get(self.asks, 0), self._row(after)
        if row is None:
            return try_again(gettext("{job} is not there any more.", job=job))
        if said := lowered(after, {row["job"]: self.needs}):
            return try_again(said)
        if placed < self.needs:
            later = self._compared(changes).later
            why = Explainer(after.world, after.session.conf).why(row["job"]).causes
            return try_again(paragraph([gettext(
                "{job} is {phase}, and {placed} of its pods are placed; wanted are {pods}.",
                job=job, phase=row["phase"], placed=placed, pods=self.needs),
                *([Message("later", n=later.cycles, parts=[*later.said])] if later.said else
                  [cause.text for cause in why[:3]])]))
        lost = {job: pods - has.get(job, 0) for job, pods in had.items() if has.get(job, 0) < pods}
        for other, pods in lost.items():
            if other not in self.pays:
                return try_again(gettext(
                    "{job} has lost {lost} of its {pods} pods; find a repair that others do not "
                    "pay for.", job=other, lost=pods, pods=had[other]))
        costs = [gettext("{job}: {count} of {pods} pods are evicted first.", job=other, count=pods,
                         pods=had[other]) for other, pods in lost.items()]
        cost = [len(changes), sum(lost.values()), sum(REACH[_kind(each)] for each in changes)]
        before = self.repaired
        if before is None or cost < before[0]:
            self.repaired = cost, [*changes]
            self.taken["one change more"] = max(len(changes) - self.smallest, 0)
        progress.note(f"17.repair {self.number}")
        return well_done("\n\n".join([
            paragraph([gettext("{job}: {count} of {pods} pods get a node.", job=job, count=placed,
                               pods=row["pods"]), *costs]),
            *map(str, self._notes(cost, [*changes], before)), self._end()]))

    def _notes(self, cost: list[int], changes: list[str],
               before: tuple[list[int], list[str]] | None) -> Iterator[Message | str]:
        """The commands of a repair and the lines of the configuration that are other, what else it
        reaches, how many changes were enough, and which repair is cheaper.
        """
        commands = [line for each in changes for line in kubectl(
            change_of([each]), self.cluster.objects()) or [
                BY_HAND.get(_kind(each)) or f"{FORCED} {NAME.findall(each)[0]}.yaml"]]
        lines = [f"`{_line(each)}`" for each in changes if _kind(each) in BY_HAND]
        yield paragraph([
            Message("riddle.commands", commands=" && ".join(
                f"`{each}`" for each in dict.fromkeys(commands))),
            Message("riddle.lines", lines=lines) if lines else None,
            Message("riddle.forced") if any(
                each.startswith(FORCED) for each in commands) else None])
        reached = {str(Message(f"reach.{_kind(each)}", name=NAME.findall(each)[0]))
                   for each in changes if NAME.findall(each)[0] != self.asks}
        if reached:
            yield Message("riddle.reach", job=self.asks, reached=sorted(reached))
        if len(changes) > self.smallest:
            yield Message("riddle.fewer", n=self.smallest, changes=len(changes))
        if before and before[1] != changes:
            code = "cheaper" if cost < before[0] else "dearer"
            code = "as_dear" if cost == before[0] else code
            reach = ".reach" if code != "as_dear" and cost[:2] == before[0][:2] else ""
            yield Message(f"riddle.{code}{reach}", changes=[f"`{each}`" for each in before[1]])

    # -- the score -------------------------------------------------------------------------------

    @property
    def solved(self) -> bool:
        """Whether all causes are named and the cluster is repaired."""
        return self.repaired is not None and self.right <= self.named

    @property
    def points(self) -> int:
        """What is left of 100."""
        return max(100 - sum(PRICES[name] * count for name, count in self.taken.items()), 10)

    def _end(self) -> str:
        return gettext("**Riddle {number} is solved: {title}. {points} of 100 points.**",
                       title=gettext(self.title), number=self.number, points=self.points
                       ) if self.solved else ""

    def again(self) -> None:
        """Begin again, with 100 points."""
        self.taken = dict.fromkeys(PRICES, 0)
        self.named, self.repaired = set(), None


def _kind(change: str) -> str:
    """The kind of the object that a change names; that of a job for its PodGroup."""
    kind = change.removeprefix(REMOVE).partition("/")[0].lower()
    return SHORT.get(kind, kind.removesuffix("s")).replace("podgroup", "job")


def _line(change: str) -> str:
    """What a change writes into the configuration.

    >>> _line("conf/actions=allocate, backfill"), _line("plugin/gang.enablePreemptable=true")
    ('actions: "allocate, backfill"', '- {name: gang, enablePreemptable: true}')
    """
    path, _, value = change.partition("/")[2].partition("=")
    name, _, field = path.partition(".")
    return f"- {{name: {name}, {field}: {value}}}" if field else f'{name}: "{value}"'
