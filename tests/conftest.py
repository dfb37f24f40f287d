"""What all tests share."""

import gc
import linecache
import os

import hypothesis
import pytest

# No deadlines: a busy machine is not a bug. In CI the same examples every time. For planted bugs
# (benchmarks/mutants.py) it is enough that an example fails: a smaller one is not looked for.
hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.register_profile("mutants", deadline=None, derandomize=True, phases=[
    hypothesis.Phase.explicit, hypothesis.Phase.generate])
if "HYPOTHESIS_PROFILE" in os.environ:
    hypothesis.settings.load_profile(os.environ["HYPOTHESIS_PROFILE"])

# What whoever runs the tests has done of the lessons is neither shown nor changed.
os.environ["VOLCANO_LAB_PROGRESS"] = os.devnull
os.environ["VOLCANO_LAB_LANG"] = "en"


# Garbage is looked for ten times less often than by default, the oldest a hundred times: tests
# leave little of it, and keep much.
gc.set_threshold(7_000, 10, 100)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep what is collected out of the search for garbage: it stays as long as the process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


LONGEST = ("site", "browser", "built", "slow", "notebook", "long", "")
"""Kinds of files in the order in which they are begun: a process that gets a file of minutes last
keeps all others waiting. The first file of the site's builds it; its others come when it stands.
"""


def pytest_collection_modifyitems(items):
    """Order the files by how long their tests take, as far as marks say it."""
    kinds = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        here = "site" if marks >= {"browser", "slow"} else "notebook" if (
            item.path.suffix == ".ipynb") else next(filter(marks.__contains__, LONGEST), "")
        kinds[item.path] = min(kinds.get(item.path, ""), here, key=LONGEST.index)
    site = [path for path, kind in kinds.items() if kind == "site"]
    kinds |= dict.fromkeys(site[1:], "built")
    items.sort(key=lambda item: LONGEST.index(kinds[item.path]))


def pytest_runtest_setup(item):
    """Forget the sources of files that tracebacks have shown: doctest looks whether each of them
    has changed before it runs an example.
    """
    if isinstance(item, pytest.DoctestItem):
        linecache.clearcache()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    """Leave the garbage of all tests to the end of the process; pytest would walk it for seconds.
    In CI it does, and tells which finalizers raise.
    """
    if "CI" not in os.environ:
        gc.freeze()


@pytest.fixture(autouse=True)
def _nothing_stays():
    """What a test registers is gone after it, also where it fails, and so is another language."""
    from volcano_lab.framework.registry import registered
    from volcano_lab.messages import ENGLISH, speak

    with registered():
        yield
    speak(ENGLISH)


@pytest.fixture
def no_until(monkeypatch):
    """Let answers do without the search of until when jobs wait, which takes half of their time."""
    monkeypatch.setattr("volcano_lab.explain.explainer.until", lambda *_, **__: [])
