"""What is known of a volume or claim: the API server's last news, or what was assumed since."""

from itertools import product

import pytest

from volcano_lab.api import objects as api
from volcano_lab.api.storage import CLAIM, VOLUME, Storage


def version(kind, number, name="a"):
    """An object in one of its versions; number 0 is one without a version, as of a manifest."""
    obj = api.PersistentVolume if kind == VOLUME else api.PersistentVolumeClaim
    return obj(api.ObjectMeta(name, "" if kind == VOLUME else "default",
                              resource_version=str(number or "")))


STEPS = ("news 1", "news 2", "news 0", "assume", "restore", "delete")


def by_definition(history):
    """(the last news, what is assumed since then)."""
    known = assumed = None
    for step, obj in history:
        if step == "assume":
            assumed = obj
        elif step == "restore":
            assumed = None
        elif step == "delete":
            known = assumed = None
        elif known is None or obj.metadata.resource_version == "" or (
                obj.metadata.resource_version != known.metadata.resource_version):
            known, assumed = obj, None
    return known, assumed


@pytest.mark.parametrize("kind", [VOLUME, CLAIM])
def test_what_was_assumed_holds_until_other_news_or_until_it_is_taken_back(kind):
    other = version(kind, 7, "other")
    for steps in product(STEPS, repeat=3):
        storage, history = Storage(), []
        storage.add(other)
        for step in steps:
            verb, _, number = step.partition(" ")
            obj = version(kind, int(number or 9))
            history.append((verb, obj))
            if verb == "restore":
                storage.restore(kind, obj.key)
            else:
                {"news": storage.add, "assume": storage.assume, "delete": storage.delete}[verb](obj)
            known, assumed = by_definition(history)
            assert storage.get(kind, obj.key) is known, steps
            assert storage.latest(kind, obj.key) is (assumed or known), steps
            there = [each for each in (known and (assumed or known), other) if each]
            assert storage.all(kind) == there and storage.latest(kind, other.key) is other
