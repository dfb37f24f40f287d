"""Whatever a notebook hands to the laboratory's words: one sentence with what is allowed."""

import traceback

import pytest

from volcano_lab.cache import Cache, dump
from volcano_lab.cache.dump import DumpError
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer, Timeline
from volcano_lab.manifests import loader
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.messages import Misuse, NoSuch, OneSentence
from volcano_lab.scheduler import Scheduler, run_once
from volcano_lab.simulation import (
    Faults,
    JobTemplate,
    Latencies,
    Life,
    Simulation,
    every,
    poisson,
)
from volcano_lab.simulation.sweep import sweep
from volcano_lab.trace import Outline
from volcano_lab.trace.stepper import Stepper


def cluster():
    return Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1)


@pytest.mark.parametrize(("use", "sentence"), [
    (lambda: Cache(5), "Cache: objects is 5; allowed is a list"),
    (lambda: Cluster.read(5), "Cluster.read: sources is 5; allowed is text, a Path or an IO"),
    (lambda: Cluster().queue("q", wieght=5),
     "Cluster.queue: got an unexpected keyword argument 'wieght' (weight?); allowed are name, "
     "weight, capability, guarantee, deserved, parent, priority, reclaimable"),
    (lambda: Cluster().node(), "Cluster.node: missing a required argument: 'name'; allowed are "
     "name, cpu, memory, gpu, pods, resources, labels"),
    (lambda: cluster().run(None, None, 5),
     "Cluster.run: too many positional arguments; allowed are conf, cycles, now, trace, lang"),
    (lambda: cluster().run(trace=5), "Cluster.run: trace is 5; allowed is an Outline or None"),
    (lambda: cluster().cache(5),
     "Cluster.cache: too many positional arguments; allowed are no arguments"),
    (lambda: Scheduler(cluster()), "Scheduler: cache is Cluster(Node=1, Pod=2, PodGroup=1, "
     "Queue=2); allowed is a Cache"),
    (lambda: run_once(None), "run_once: cache is None; allowed is a Cache"),
    (lambda: Scheduler(Cache()).run_once(now="x"),
     "Scheduler.run_once: now is 'x'; allowed is a number or None"),
    (lambda: Scheduler(Cache()).cycle(5),
     "Scheduler.cycle: observer is 5; allowed is an Observer or None"),
    (lambda: Simulation(sede=1), "Simulation: got an unexpected keyword argument 'sede' (seed?); "
     "allowed are cluster, conf, seed, workload, period, latencies, node_failures, faults, "
     "observer, check, skip_idle"),
    (lambda: Simulation(latencies=5), "Simulation: latencies is 5; allowed is a Latencies or None"),
    (lambda: Simulation(faults=5), "Simulation: faults is 5; allowed is a Faults or None"),
    (lambda: JobTemplate(5), "JobTemplate: name is 5; allowed is text"),
    (lambda: Latencies(bnid=1), "Latencies: got an unexpected keyword argument 'bnid' (bind?); "
     "allowed are bind, evict, start, end, recreate, collect, remove"),
    (lambda: Faults(5), "Faults: chance is 5; allowed is a mapping"),
    (lambda: Faults.all("x"), "Faults.all: chance is 'x'; allowed is a number"),
    (lambda: poisson("x"), "poisson: rate is 'x'; allowed is a number"),
    (lambda: every(1, JobTemplate(), cuont=2), "every: got an unexpected keyword argument 'cuont' "
     "(count?); allowed are seconds, templates, count"),
    (lambda: Cluster().job(5), "Cluster.job: name is 5; allowed is text"),
    (lambda: Cluster().queue(["a"]), "Cluster.queue: name is ['a']; allowed is text"),
    (lambda: cluster().run().why(["a"]), "Cycle.why: job is ['a']; allowed is text"),
    (lambda: Stepper(5), "Stepper: trace is 5; allowed is a TraceReader"),
    (lambda: loader.load(5), "load: sources is 5; allowed is text, a Path or an IO"),
    (lambda: loader.loads(None), "loads: text is None; allowed is text"),
    (lambda: loader.dump(5), "dump: objects is 5; allowed is a list"),
    (lambda: with_defaults(5), "with_defaults: objects is 5; allowed is a list"),
    (lambda: sweep(5, {}), "sweep: base is 5; allowed is a list or a Callable"),
    (lambda: sweep(cluster(), [1]), "sweep: grid is [1]; allowed is a mapping"),
    (lambda: sweep(cluster(), {}, "placed"),
     "sweep: metrics is 'placed'; allowed is a list or a mapping"),
    (lambda: sweep(cluster(), {}, workers="2"),
     "sweep: workers is '2'; allowed is a whole number"),
    (lambda: loader.dump([1]), "dump: objects[0] is 1; allowed is a KubernetesObject"),
    (lambda: loader.dump({"a": 1}), "dump: objects[0] is 'a'; allowed is a KubernetesObject"),
    (lambda: with_defaults([*cluster().objects(), "pod"]),
     "with_defaults: objects[6] is 'pod'; allowed is a KubernetesObject"),
    (lambda: Explainer(5), "Explainer: "),
    (lambda: Explainer([]).why(5),
     "Explainer.why: what is 5; allowed is text, a TaskInfo, a JobInfo or a QueueInfo"),
    (lambda: Timeline(keep=-1), "Timeline: keep is -1; allowed is 0 or more"),
    (lambda: Timeline(every="x"), "Timeline: "),
    (lambda: Life(x=5), "Life: "),
])
def test_what_a_word_does_not_take_is_one_sentence(use, sentence):
    with pytest.raises(Misuse) as told:
        use()
    assert str(told.value) == sentence or (sentence.endswith(": ")
                                           and str(told.value).startswith(sentence))
    assert told.value._render_traceback_() == [f"Misuse: {told.value}"]


def test_words_of_its_own_go_first(tmp_path):
    with pytest.raises(ManifestError, match=r"Node n: status.allocatable.cpu is a l"):
        Cluster().node("n", cpu=[1]).objects()
    with pytest.raises(ManifestError, match=r"spec.capability\[5\] is 5; allowed is a name of tex"):
        Cluster().queue("q", capability={5: 1}).objects()
    with pytest.raises(DumpError, match="is a folder; allowed is a file"):
        dump.read(tmp_path)
    with pytest.raises(NoSuch) as told:
        cluster().run().why("nobody")
    assert str(told.value) == "no job is called \"nobody\"; there are default/a."
    assert isinstance(told.value, OneSentence) and isinstance(told.value, KeyError)


def test_a_fault_of_the_laboratory_keeps_its_frames(monkeypatch):
    def broken(*_):
        raise TypeError("a fault")

    monkeypatch.setattr(Outline, "opened", broken)
    with pytest.raises(TypeError, match="a fault") as told:
        cluster().run(trace=Outline())
    assert not isinstance(told.value, OneSentence)
    assert "broken" in "".join(traceback.format_tb(told.tb))
