"""A cluster and what can be asked of it: one method for each command of `volcano-lab`.

Objects, the scheduler's configuration and the controllers around the scheduler are one thing here,
read in one way; every method looks at the same. What a method needs is imported when it is called:
a cycle needs no explanations, and no simulated time.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from volcano_lab.cache import Cache
from volcano_lab.changes import Change, Draft
from volcano_lab.changes.differences import differences
from volcano_lab.framework import ConfError, SchedulerConfiguration
from volcano_lab.manifests.admission import admit, verdicts
from volcano_lab.manifests.conf import conf_text, scheduler_conf_of
from volcano_lab.manifests.described import Added, ClusterObjects, Objects, One
from volcano_lab.manifests.files import Source
from volcano_lab.manifests.loader import ManifestError, load
from volcano_lab.messages import Message, Misuse, NoSuch, friendly_errors, log
from volcano_lab.scheduler import MOST_CYCLES, at_rest, conf_of
from volcano_lab.trace import Outline, Shown
from volcano_lab.trace.views.comparison import Comparison
from volcano_lab.trace.views.cycle import Cycle

if TYPE_CHECKING:
    from volcano_lab.explain import Explainer, Explanation, Timeline
    from volcano_lab.explain.explanation import Waiting
    from volcano_lab.explain.findings import Findings
    from volcano_lab.simulation import History
    from volcano_lab.simulation.sweep import Sweep

__all__ = ["Cluster"]
Answer = TypeVar("Answer", bound=Shown)
Conf = SchedulerConfiguration | Mapping[str, Any] | str | Path | None


@friendly_errors
class Cluster(ClusterObjects):
    """A cluster that is read or described, asked, changed, and asked again.

    `node`, `queue`, `job`, `add` (see `ClusterObjects`) and `remove` return the cluster, so that
    calls can be chained. `conf` is the scheduler's configuration: a mapping, its text, or its file;
    without, that of a ConfigMap among the objects, or else Volcano's default. Each method takes
    another one, and with `lang` ("en", "zh") shows its result in a language: else in the cluster's.

    >>> cluster = Cluster().node("n1", cpu=4).queue("team", weight=2)
    >>> cluster = cluster.job("train", queue="team", pods=3, cpu=1)
    >>> cluster.run().committed[0]
    ['allocate', 'default/train-0', 'n1']
    >>> cluster.job("train", cpu=2).run().committed  # three pods of 2 CPUs, all or none, on 4 CPUs
    []
    """

    def __init__(self, objects: Objects = (), conf: Conf = None):
        super().__init__(objects)
        self.conf = conf

    @classmethod
    def read(cls, *sources: Source, conf: Conf = None, recursive: bool = False) -> Self:
        """Read manifests: files, folders, patterns, open streams, or "-", the standard input; what
        `kubectl get -o yaml` prints is read as it comes. Raises `ManifestError`.

        >>> Cluster.read("docs/cluster.yaml").run().queue_order
        ['research', 'prod']
        """
        return cls(load(*sources, recursive=recursive), conf)

    @classmethod
    def live(cls, context: str = "", conf: Conf = None) -> Self:
        """Read the cluster that kubectl's context names, the current one unless another is given;
        nothing in it is changed. Raises `ManifestError`.
        """
        from volcano_lab.manifests.live import objects

        return cls(objects(context), conf)

    def copy(self) -> Self:
        """Return the same cluster once more; changing one leaves the other as it is.

        >>> one = Cluster(conf="actions: allocate").node("n1", cpu=4)
        >>> one.copy().node("n2", cpu=4).conf, len(one)
        ('actions: allocate', 3)
        """
        other = super().copy().in_language(self.lang)
        other.conf = self.conf
        return other

    def configuration(self, conf: Conf = None) -> SchedulerConfiguration:
        """Return the scheduler's configuration: the one that is given, the cluster's own, that of a
        ConfigMap among the objects, or Volcano's default. Raises `ConfError`, `ManifestError`.

        >>> Cluster(conf={"actions": "allocate"}).configuration().actions
        ['allocate']
        """
        given = self.conf if conf is None else conf
        try:
            if given is None:
                return conf_of(scheduler_conf_of(self.others))
            return given if isinstance(given, SchedulerConfiguration) else conf_of(conf_text(given))
        except ConfError as error:
            if isinstance(given, Path) or given == "-":
                error.args = (f"{given}: {error}",)
            raise

    def has_configuration(self) -> bool:
        """Return whether a configuration is named, or Volcano's default is taken."""
        return self.conf is not None or scheduler_conf_of(self.others) is not None

    def cache(self) -> Cache:
        """Return the cluster as a scheduler comes to know it."""
        return Cache(self.objects())

    def admit(self, refuse: bool = True) -> list[Message]:
        """Return a message for each rule of Volcano's webhooks that objects break which exist
        already. Raises `ManifestError` for new ones, unless these are not to be refused.
        """
        try:
            return admit(self.manifests())
        except ManifestError as error:
            if refuse:
                raise
            return [Message("manifest.now", problem=problem) for problem in error.found]

    def warnings(self, cycle: Cycle, cycles: int = 1) -> list[Message]:
        """Return what has no effect in a cycle of this cluster: in manifests, in the configuration,
        fields that nothing reads, amounts that cannot be had; and that it is not at rest, or that
        pods were evicted in the last of up to so many `cycles`.
        """
        from volcano_lab.explain.lint import doubts

        more = [] if cycle.rests else [Message("run.not_at_rest", cycles=MOST_CYCLES)]
        if cycles > 1 and {"evict", "pipeline"} & {done[0] for done in cycle.session.committed}:
            more.append(Message("run.evicts", cycles=cycles))
        return [*cycle.world.warnings, *doubts(cycle.session), *more]

    # -- one method for each command ---------------------------------------------------------------

    def run(self, conf: Conf = None, *, cycles: int | str = 1, now: float | None = None,
            trace: Outline | None = None, lang: str | None = None) -> Cycle:
        """Run scheduling cycles until no pods of admitted jobs are left to be created, at most
        `cycles` ("rest": ten); `now` is their time in seconds since 1970.

        The cycle keeps an outline; for all that happened give a `Trace` to be filled.

        >>> from volcano_lab import Trace
        >>> result = Cluster().node("n1", cpu=4).job("a", cpu=1).run(trace=Trace())
        >>> result.trace.of("job_ready")[0]["answer"]
        True
        """
        most = MOST_CYCLES if cycles == "rest" else cycles
        if not isinstance(most, int) or most < 1:
            raise Misuse("cluster.cycles", cycles=cycles)
        cycle = at_rest(self.objects(), self.configuration(conf), now, most,
                        Outline if trace is None else lambda: trace)
        return self._spoken(cycle, lang)

    def why(self, name: str = "", *, node: str = "", before: str = "", evict: bool = False,
            conf: Conf = None, now: float | None = None, lang: str | None = None
            ) -> Explanation | Waiting:
        """Return why a job, pod or queue is as it is, or why a pod is not on a node; why a job is
        served before or after another (`before`), or who may `evict` its pods; without a name, all
        jobs that wait, by cause. Raises `LookupError`.

        >>> cluster = Cluster().node("n1", cpu=4).job("train", cpu=6)
        >>> cluster.why("train").codes, cluster.why()
        (['overcommit_refuses'], <1 of 1 jobs waits>)
        """
        explainer = self.explainer(conf, now, name or None)
        if not name:
            return self._spoken(explainer.waiting(), lang)
        if before:
            found = explainer.why_before(name, before)
        elif evict:
            found = explainer.who_evicts(name)
        else:
            found = explainer.why_not(node, name) if node else explainer.why(name)
        return self._spoken(found, lang)

    def explainer(self, conf: Conf = None, now: float | None = None, about: str | None = ""
                  ) -> Explainer:
        """Return what answers questions about the cycle in which the cluster is at rest; soonest
        those `about` one job, by its name, or (None) which jobs wait.

        >>> cluster = Cluster().node("n1", cpu=4).job("train", cpu=6)
        >>> [group.jobs for group in cluster.explainer().waiting()]
        [['default/train']]
        """
        from volcano_lab.explain import Explainer
        from volcano_lab.trace.cause_trace import CauseTrace

        cycle = at_rest(self.objects(), self.configuration(conf), now,
                        trace=lambda: CauseTrace(about))
        found = Explainer(cycle.world, cycle.session.conf, cycle.session.now,
                          (cycle.trace, cycle.session))
        found.evidence.fresh, found.first = True, cycle.first
        return found

    def timeline(self, cycles: int, about: str = "", conf: Conf = None,
                 now: float | None = None) -> Timeline:
        """Return what a simulation's first `cycles` were, one a second from `now` on, in which pods
        run for ever; `timeline.why(name)` explains the last one. `about` is the name of the one job
        or pod whose causes are wanted.

        >>> cluster = Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1)
        >>> cluster.timeline(3).why("train").rows[-1]["running"]
        2
        """
        from volcano_lab.explain import Timeline
        from volcano_lab.simulation import Simulation

        world = self.objects()
        timeline = Timeline(1, about, world.later, world.given)
        with log.quiet():
            Simulation(world, self.configuration(conf), observer=timeline, start=now).run(
                cycles - 0.5)
        return timeline

    def what_if(self, *settings: str, add: Sequence[Added] | Added = (),
                remove: Sequence[str] | str = (), conf: Conf = None, base_conf: Conf = None,
                now: float | None = None, lang: str | None = None) -> Comparison:
        """Return what a change would change, once the cluster is at rest.

        Args:
            settings: `KIND/NAME.FIELD=VALUE`, `plugin/NAME.ARGUMENT=VALUE`, `conf/actions=NAMES`.
            add: Objects, clusters, texts of manifests, or files; or one of them.
            remove: `KIND/NAME`, one or several; what an object has created goes with it.
            conf: Another configuration, after the change.
            base_conf: The configuration before, and after it unless `conf` is given.
            now: The time of the cycles in seconds since 1970.
            lang: The language of the result, "en" or "zh".

        Raises `ManifestError`, `ConfError`.

        >>> cluster = Cluster().node("n1", cpu=4).queue("a", capability=2)
        >>> cluster = cluster.job("train", queue="a", pods=3, cpu=1)
        >>> found = cluster.what_if("queue/a.capability.cpu=3")
        >>> found.jobs[0]["placed"], found.holds("train", "placed")
        ([0, 3], True)
        """
        before, base = self.objects(), self.configuration(base_conf)
        added = [add] if isinstance(add, One | ClusterObjects) else add
        removals = (remove,) if isinstance(remove, str) else tuple(remove)
        whole = type(self)(self.manifests(), self.conf).add(*added)
        after, changed = Change(_texts(settings), removals).given(
            whole.others, whole.configuration(base_conf if conf is None else conf))
        known = verdicts(before)
        refused = [each.text for each in verdicts(after) if each not in known]
        from volcano_lab.explain import beyond
        from volcano_lab.explain.holdings import unmoved
        from volcano_lab.explain.price import later

        any_change = settings or added or removals or conf
        found = Comparison(
            at_rest(before, base, now), at_rest(after, changed, now), sorted({*refused}),
            lambda: later((before, base), (after, changed), now), (), lambda nodes, same: unmoved(
                type(self)(after, changed).explainer(now=now).evidence, nodes, same)
            if any_change and (nodes or same or beyond.named(changed)) else ())
        return self._spoken(found, lang)

    def remove(self, name: str) -> Self:
        """Remove every object of that name, with what it has created; `KeyError` if there is none.

        >>> len(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).remove("train"))
        3
        """
        arguments, draft = [key for key in self._described if key[1] == name], Draft(self.others)
        removed = {each for place, obj in enumerate(self.others) if obj.name == name
                   for each in draft.with_children(place)}
        if not arguments and not removed:
            raise NoSuch("cluster.no_object", name=name)
        for key in arguments:
            del self._described[key]
            self._written.pop(key, None)
        self.others[:] = [obj for place, obj in enumerate(self.others) if place not in removed]
        return self

    def changed(self, *settings: str) -> Self:
        """Return the cluster after some changes, with its configuration. Raises `ManifestError`.

        >>> cluster = Cluster().node("n1", cpu=4).queue("a").changed("queue/a.weight=5")
        >>> [queue.spec.weight for queue in cluster.objects() if queue.name == "a"]
        [5]
        """
        return type(self)(*Change(_texts(settings)).given(self.manifests(), self.configuration()))

    def lab(self, **options: Any) -> Any:
        """Open the lab of this cluster: a picture whose marks are moved; see `volcano_lab.lab`.

        >>> cluster = Cluster().node("n1", cpu=9).queue("a").job("train", queue="a", pods=6, cpu=2)
        >>> cluster.lab().set(**{"queue/a.weight": 4}).changes()
        ['queue/a.weight=4']
        """
        import volcano_lab

        return volcano_lab.lab(self, **options)

    def diff(self, other: Objects, *, conf: Conf = None, now: float | None = None,
             lang: str | None = None) -> Comparison:
        """Return in what this cluster and another, or the one of some files, are decided otherwise.

        >>> one = Cluster().node("n1", cpu=4).job("train", cpu=1)
        >>> bool(one.diff(one)), one.diff(one.copy().job("train", cpu=9)).jobs[0]["placed"]
        (False, [1, 0])
        """
        second = other if isinstance(other, Cluster) else type(self)(other)
        one, two = ((each.objects(), each.configuration(conf)) for each in (self, second))
        found = Comparison(at_rest(*one, now), at_rest(*two, now), given=differences(one, two))
        return self._spoken(found, lang)

    def lint(self, conf: Conf = None, *, lang: str | None = None) -> Findings:
        """Return what cannot work, cancels itself or has no effect.

        >>> [finding.rule for finding in Cluster().node("n1", cpu=4).job("train", cpu=6).lint()]
        ['gang-impossible']
        """
        from volcano_lab.explain.findings import findings

        found = findings(self.manifests(), self.objects, lambda: self.configuration(conf))
        return self._spoken(found, lang)

    def sweep(self, grid: Mapping[str, Iterable[Any]] | Iterable[str] | str,
              metrics: Sequence[str] | Mapping[str, Any] = ("placed", "pending"), *,
              conf: Conf = None, over: Mapping[str, Any] | None = None, workers: int = 1,
              scheduler: str | None = None, path: str | Path | None = None,
              progress: Callable[[int, int], None] | None = None, lang: str | None = None) -> Sweep:
        """Run the cluster to rest, or `over` time, for every setting of a grid, and measure it; see
        `volcano_lab.sweep`.

        >>> cluster = Cluster().node("n1", cpu=4).queue("a").job("train", queue="a", pods=2, cpu=1)
        >>> cluster.sweep("queue/a.capability.cpu=1,2", ["placed"]).rows
        [{'queue/a.capability.cpu': 1, 'placed': 0}, {'queue/a.capability.cpu': 2, 'placed': 2}]
        """
        from volcano_lab.simulation.sweep import sweep

        found = sweep(self, grid, metrics, conf=self.configuration(conf), over=over,
                      workers=workers, scheduler=scheduler, path=path, progress=progress)
        return self._spoken(found, lang)

    def simulate(self, until: float | str | None = None, conf: Conf = None, *,
                 lang: str | None = None, **given: Any) -> History:
        """Let the jobs come, run and end for `until` (seconds, or "10m"), or until nothing happens
        any more.

        Further arguments are those of `simulation.simulate`: arrivals, duration, failures, period,
        seed. Raises `WorkloadError`.

        >>> cluster = Cluster().node("n1", cpu=4).job("train", cpu=4).job("next", cpu=4)
        >>> cluster.simulate(duration="1m").measures("cluster")[0]["waiting_median"]
        32.03
        """
        from volcano_lab.simulation import simulate

        history = simulate(self, self.configuration(conf), until=until, **given)
        return self._spoken(history, lang)

    def export(self, form: str = "yaml", *, anonymise: bool = False, conf: Conf = None) -> str:
        """Return the cluster as text: "yaml" or "json" for `kubectl apply`, "case" for `volcano-lab
        replay`; with `anonymise` under other names.

        >>> print(Cluster.read("docs/cluster.yaml").export(anonymise=True)[:14])
        apiVersion: v1
        """
        from volcano_lab.manifests.export import exported

        text = conf_text(self.conf if conf is None else conf)
        return exported(self.manifests(), text, form, anonymise)

    def missing(self) -> list[str]:
        """Return a sentence for each thing that objects name and that is not among them.

        >>> [sentence.partition(",")[0] for sentence in Cluster().missing()]
        ['there are no Nodes', "there is no ConfigMap with the scheduler's configuration"]
        """
        from volcano_lab.manifests.missing import missing

        return [*map(str, missing(self.manifests()))]

    def _spoken(self, found: Answer, lang: str | None) -> Answer:
        return found.in_language(lang or self.lang)


def _texts(settings: tuple[str, ...]) -> tuple[str, ...]:
    for each in settings:
        if not isinstance(each, str):
            raise Misuse("cluster.setting", found=repr(each), example="queue/a.weight=5")
    return settings
