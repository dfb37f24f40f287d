"""Whatever a file holds ends in objects that a cycle takes, or in `ManifestError`."""




import pytest

from manifests import hostile
from volcano_lab.cache import Cache
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import ManifestError, loads
from volcano_lab.scheduler import run_cycle

CONF = load_conf(hostile.CONF)


def read_and_run(text: str) -> None:
    run_cycle(Cache(with_defaults([*AROUND, *loads(text)])), CONF)


AROUND = loads(hostile.AROUND)


def tried(count: int, seed: int) -> list[str]:
    return [f"{problem}: {text[:500]}" for text in hostile.cases(count, seed)
            if (problem := hostile.failure(text, read_and_run, (ManifestError,)))]


@pytest.mark.long
def test_the_generators_documents_are_good_before_they_are_damaged():
    for document in hostile.documents():
        assert hostile.failure(hostile.json.dumps(document), read_and_run, ()) is None


@pytest.mark.long
def test_bad_manifests_end_in_objects_or_a_sentence():
    assert tried(300, seed=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_thousands_of_bad_manifests_do(seed):
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert tried(1000, seed=100 + seed) == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # KiB


def test_the_generator_sees_what_it_is_for():
    def careless(text):
        raise KeyError("spec")

    def wordy(text):
        raise ManifestError("a") from None

    assert hostile.failure("", careless, (ManifestError,)) == "KeyError: 'spec'"
    assert hostile.failure("", wordy, (ManifestError,)) is None
    wrong = type("Wrong", (Exception,), {"problems": ["a\nb"]})
    shown = hostile.failure("", lambda text: (_ for _ in ()).throw(wrong()), (wrong,))
    assert "no short sentence" in shown
