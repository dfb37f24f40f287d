"""A riddle: the cluster, the cause to name, the repair, and the score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from attrs import Factory, define
from IPython.display import display

from volcano_lab.changes.draft import SHORT
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit import progress
from volcano_lab.course.kit.boss import at_work, run_changed
from volcano_lab.course.kit.checking import Check, is_empty
from volcano_lab.course.kit.markup import plain
from volcano_lab.course.kit.question import Asked
from volcano_lab.course.kit.results import Finding, finding
from volcano_lab.course.kit.scenery import cluster_from
from volcano_lab.course.kit.verdict import RIGHT, Verdict, to_do, try_again, well_done
from volcano_lab.course.riddles.kubectl import Kubectl
from volcano_lab.explain import Explainer, Explanation
from volcano_lab.framework.config.conf import ConfError
from volcano_lab.manifests.files import values
from volcano_lab.manifests.loader import Loaded, ManifestError, from_dict
from volcano_lab.messages import Message, gettext, paragraph, wrapped
from volcano_lab.trace.names import Names
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import pictures
from volcano_lab.widgets.pictures import Picture

FOLDER = Path(__file__).parent
PRICES = {"hint": 10, "asked": 10, "wrong cause": 20, "one change more": 10}
"""What is taken from 100 points."""


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
    wants: dict[str, int]
    """Job -> the pods that have to have a place or the promise of one."""

    smallest: int
    may: tuple[str, ...]
    """Kinds that may be changed; conf and plugin are parts of the configuration."""

    cluster_of: dict[str, Any]
    pays: tuple[str, ...] = ()
    """Jobs that may lose pods."""

    conf: str | None = None
    shows: tuple[str, ...] = ()
    """The commands of kubectl that a reader begins with."""

    taken: dict[str, int] = Factory(lambda: dict.fromkeys(PRICES, 0))
    named: set[str] = Factory(set)
    repaired: bool = False

    @classmethod
    def read(cls, path: Path) -> Riddle:
        """Read a riddle."""
        given = values(path.read_text(encoding="utf-8"))[0]
        parts = {name: given.pop(name, []) for name in ("nodes", "queues", "running", "waiting",
                                                        "objects")}
        return cls(int(path.stem), cluster_of=parts,
                   **{name: tuple(value) if name in ("may", "shows", "pays") else value
                      for name, value in given.items()})

    # -- the cluster -----------------------------------------------------------------------------

    def objects(self) -> Loaded:
        """The manifests as they were applied, before controllers."""
        parts = self.cluster_of
        made = cluster_from(parts | {"jobs": parts["running"]},
                            (from_dict(each, strict=True) for each in parts["objects"]))
        jobs = (from_dict(_vcjob(**job), strict=True) for job in parts["waiting"])
        return Loaded([*made.objects(), *jobs])

    @property
    def cluster(self) -> Cluster:
        """The cluster, for whatever one likes to try with it."""
        return Cluster(self.objects())

    @cached_property
    def kubectl(self) -> Kubectl:
        """The cluster after a cycle as `kubectl` shows it."""
        return Kubectl(self.cluster, self.conf)

    def text(self) -> str:
        """The story, and what `kubectl` shows, as text."""
        return "\n\n".join([gettext("Riddle {number}", number=self.number),
                            wrapped(plain(self.story), 96), self._shown()]) + "\n"

    def _shown(self) -> str:
        return "\n\n".join(f"$ kubectl {each}\n{self.kubectl(each)}" for each in self.shows)

    def open(self) -> Asked:
        """Show the riddle, and return the question for its cause, to be answered on the page."""
        display({"text/plain": self.text(), "text/markdown":
                 f"{gettext(self.story)}\n\n```text\n{self._shown()}\n```"}, raw=True)
        more = gettext("It has two causes; name one after the other.") if (
            len(self.right) > 1) else None
        graded = Check(f"17.cause {self.number}", self._grade, str, options=tuple(self.causes))
        return Asked(paragraph([gettext("Why is {job} pending?", job=self.asks), more]), graded)

    def _grade(self, text: str) -> Verdict:
        return self.cause(next((letter for letter, said in self.options.items() if said == text),
                               text))

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
        """Give the next hint, at its price; the last one is the repair."""
        number = min(self.taken["hint"], len(self.hints) - 1)
        self.taken["hint"] = number + (not self.solved)
        return finding(self.hints[number])

    def why(self, name: str = "") -> Explanation:
        """Ask the lab, at its price."""
        self.taken["asked"] |= not self.solved
        return Explainer(self.cluster.objects(), self.conf).why(name or self.asks)

    def cause(self, letter: str) -> Verdict:
        """Name a cause by its letter."""
        letter = str(letter).strip().casefold()
        if letter not in self.options:
            return try_again(gettext("Choose one of: {answers:;}.", answers=[*self.options]))
        text = self.causes[self.options[letter]]
        if letter not in self.right:
            self.taken["wrong cause"] += 1
            return try_again(text)
        self.named.add(letter)
        reason = gettext(text.removeprefix("right: "))
        if self.right <= self.named:
            return well_done(paragraph([reason, self._end()]))
        return Verdict(RIGHT, paragraph([reason, gettext("There is another cause.")]))

    def repair(self, *settings: str, remove: Iterable[str] = ()) -> Verdict:
        """Change the cluster, run the cycle, and see whether all that is wanted is at work.

        Args:
            settings: Changes in the words of `volcano-lab what-if --set`:
                "queue/a.weight=5", "plugin/gang.enablePreemptable=true", "conf/actions=allocate".
            remove: Objects that go, as "job/train".
        """
        removals = [remove] if isinstance(remove, str) else list(remove)
        changes = [each for each in (*settings, *removals) if not is_empty(each)]
        if not changes:
            return to_do(gettext("Get {jobs:and} to work with the fewest changes, such as "
                                 'repair("queue/a.weight=5").', jobs=[*self.wants]))
        try:
            return self.graded(self.changed(settings, removals), len(changes))
        except (ManifestError, ConfError) as error:
            return try_again(str(error))

    def changed(self, settings: Iterable[str], removals: Sequence[str]) -> Cycle:
        """Run a cycle with changes. Raises `ManifestError`, `ConfError` for one that cannot be."""
        for each in map(str, (*settings, *removals)):
            if ".allocatable" in each:
                raise ManifestError('"{change}": nodes keep their size here', change=each)
            kind = each.partition("/")[0].lower()
            if SHORT.get(kind, kind.removesuffix("s")) not in self.may:
                begins = [f"{kind}/{'actions=' * (kind == 'conf')}" for kind in self.may]
                raise ManifestError('"{change}": what may be changed here begins with {kinds:,}',
                                    change=each, kinds=begins)
        return run_changed(self.objects(), self.conf, settings, removals)

    def graded(self, after: Cycle, changes: int) -> Verdict:
        """The wanted jobs run, and no other job has lost pods."""
        had, has = ({name.rpartition("/")[2]: pods for name, pods in at_work(cycle).items()}
                    for cycle in (self.kubectl.cycle, after))
        called = Names(after.session).called
        jobs = {called(row["job"]).rpartition("/")[2]: row for row in after.jobs()}
        for job, pods in self.wants.items():
            if job not in jobs:
                return try_again(gettext("{job} is not there any more.", job=job))
            if has.get(job, 0) < pods:
                said = after.why(jobs[job]["job"])
                return try_again(paragraph([gettext(
                    "{job} is {phase}, and {placed} of its pods are placed; wanted are {pods}.",
                    job=job, phase=jobs[job]["phase"], placed=has.get(job, 0), pods=pods),
                    gettext("The reason: {reason}.", reason=said[0].rstrip(".。"))
                    if said else None]))
        for job, pods in had.items():
            if job not in {*self.wants, *self.pays} and has.get(job, 0) < pods:
                return try_again(gettext(
                    "{job} has lost {lost} of its {pods} pods; find a repair that others do not "
                    "pay for.", job=job, lost=pods - has.get(job, 0), pods=pods))
        self.taken["one change more"] = max(changes - self.smallest, 0)
        self.repaired = True
        progress.note(f"17.repair {self.number}")
        fewer = None if changes <= self.smallest else Message(
            "riddle.fewer", n=self.smallest, changes=changes)
        return well_done(paragraph([gettext("{jobs:,} at work.", jobs=[*self.wants]), fewer,
                                    self._end()]))

    # -- the score -------------------------------------------------------------------------------

    @property
    def solved(self) -> bool:
        """Whether all causes are named and the cluster is repaired."""
        return self.repaired and self.right <= self.named

    @property
    def points(self) -> int:
        """What is left of 100."""
        return max(100 - sum(PRICES[name] * count for name, count in self.taken.items()), 10)

    def _end(self) -> str:
        return gettext("**{title}: riddle {number} is solved, {points} points.**",
                       title=gettext(self.title), number=self.number, points=self.points
                       ) if self.solved else ""

    def again(self) -> None:
        """Begin again, with 100 points."""
        self.taken = dict.fromkeys(PRICES, 0)
        self.named, self.repaired = set(), False


def _vcjob(name: str, pods: int = 1, min: int | None = None, queue: str = "default",
           spec: dict[str, Any] | None = None, job: dict[str, Any] | None = None,
           **requests: Any) -> dict[str, Any]:
    """A Volcano Job of equal pods; `spec` is more of its pods, `job` more of itself."""
    requests = {{"gpu": "nvidia.com/gpu"}.get(each, each): amount
                for each, amount in requests.items()}
    container = {"name": "main", "image": "example/work", "resources": {"requests": requests}}
    template = {"spec": {"containers": [container], **(spec or {})}}
    task = {"name": "worker", "replicas": pods, "template": template}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"queue": queue, "minAvailable": pods if min is None else min, "tasks": [task],
                     **(job or {})}}


@cache
def riddles() -> dict[int, Riddle]:
    """All riddles by number."""
    return {int(path.stem): Riddle.read(path) for path in sorted(FOLDER.glob("*.yaml"))}


def riddle(number: int) -> Riddle:
    """Open a riddle, as far as it was solved before. Raises `LookupError` for one there is not."""
    if number not in riddles():
        raise LookupError(gettext("there is no riddle {number}; allowed are 1 to {count}",
                                  number=number, count=len(riddles())))
    return riddles()[number]


def score() -> Picture:
    """Show a node for each riddle: its title and points, and its job at work, when it is solved."""
    nodes = [{"name": f"{each.number} {gettext(each.title)}" if each.solved else str(each.number),
              "note": str(each.points) if each.solved else "", "size": 1,
              "pods": [{"name": each.asks, "size": 1, "color": "#009E73"}] * each.solved}
             for each in riddles().values()]
    done = [each.points for each in riddles().values() if each.solved]
    text = gettext("{solved} of {all} jobs are at work.", solved=len(done), all=len(nodes))
    title = gettext("{points} of {most} points", points=sum(done), most=100 * len(nodes))
    return pictures.cluster(title, {"nodes": nodes, "text": text}, cell=1, width=760)
