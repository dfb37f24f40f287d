"""Arguments that a function does not have: one sentence with the names that it has."""

import traceback

import pytest

from volcano_lab.cache import dump
from volcano_lab.cache.dump import DumpError
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Timeline
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.messages import Misuse, NoSuch, OneSentence
from volcano_lab.simulation import JobTemplate, Latencies, Life, Simulation, every
from volcano_lab.trace import Outline


def cluster():
    return Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1)


@pytest.mark.parametrize(("use", "sentence"), [
    (lambda: Cluster().queue("q", wieght=5),
     "Cluster.queue: got an unexpected keyword argument 'wieght' (weight?); allowed are name, "
     "weight, capability, guarantee, deserved, parent, priority, reclaimable"),
    (lambda: Cluster().node(), "Cluster.node: missing a required argument: 'name'; allowed are "
     "name, cpu, memory, gpu, pods, resources, labels"),
    (lambda: cluster().run(None, None, 5),
     "Cluster.run: too many positional arguments; allowed are conf, cycles, now, trace, lang"),
    (lambda: cluster().cache(5),
     "Cluster.cache: too many positional arguments; allowed are no arguments"),
    (lambda: Simulation(sede=1), "Simulation: got an unexpected keyword argument 'sede' (seed?); "
     "allowed are cluster, conf, seed, workload, period, latencies, node_failures, faults, "
     "observer, check, skip_idle, start"),
    (lambda: Latencies(bnid=1), "Latencies: got an unexpected keyword argument 'bnid' (bind?); "
     "allowed are bind, evict, start, end, recreate, collect, remove"),
    (lambda: every(1, JobTemplate(), cuont=2), "every: got an unexpected keyword argument 'cuont' "
     "(count?); allowed are seconds, templates, count"),
    (lambda: Timeline(keep=-1), "Timeline: keep is -1; allowed is 0 or more"),
    (lambda: Life(x=5), "Life: "),
])
def test_what_a_word_does_not_take_is_one_sentence(use, sentence):
    with pytest.raises(Misuse) as shown:
        use()
    assert str(shown.value) == sentence or (sentence.endswith(": ")
                                           and str(shown.value).startswith(sentence))
    assert shown.value._render_traceback_() == [f"Misuse: {shown.value}"]


def test_words_of_its_own_go_first(tmp_path):
    with pytest.raises(ManifestError, match=r"Node n: status.allocatable.cpu is a l"):
        Cluster().node("n", cpu=[1]).objects()
    with pytest.raises(ManifestError, match=r"spec.capability\[5\] is 5; allowed is a name of tex"):
        Cluster().queue("q", capability={5: 1}).objects()
    with pytest.raises(ManifestError, match=r"metadata\.name is 5; allowed is text"):
        Cluster().job(5).objects()
    with pytest.raises(DumpError, match="is a folder; allowed is a file"):
        dump.read(tmp_path)
    with pytest.raises(NoSuch) as shown:
        cluster().run().why("nobody")
    assert str(shown.value) == "no job is called \"nobody\"; there is default/a."
    assert isinstance(shown.value, OneSentence) and isinstance(shown.value, KeyError)


def test_a_fault_of_the_laboratory_keeps_its_frames(monkeypatch):
    def broken(*_):
        raise TypeError("a fault")

    monkeypatch.setattr(Outline, "opened", broken)
    with pytest.raises(TypeError, match="a fault") as shown:
        cluster().run(trace=Outline())
    assert not isinstance(shown.value, OneSentence)
    assert "broken" in "".join(traceback.format_tb(shown.tb))
