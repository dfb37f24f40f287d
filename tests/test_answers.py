"""What is answered about recorded clusters is what was answered before.

The clusters are chosen so that the questions between them take nearly every branch. Where a change
is meant to be one, `python tests/support/recorded_answers.py` shows and records it.
"""

import pytest
from recorded_answers import FILE, VERBS, answers
from recorded_cases import difference, rows

ASKED: dict[tuple[str, int], list] = {}
PART = 4
for world in rows(FILE):
    for verb in world["answers"]:
        number = sum(len(found) for (asked, _), found in ASKED.items() if asked == verb)
        ASKED.setdefault((verb, number // PART), []).append(world)


def test_every_verb_is_asked():
    assert {verb for verb, _ in ASKED} == VERBS.keys()


@pytest.mark.long
@pytest.mark.parametrize(("verb", "part"), ASKED)
def test_the_answers_are_those_recorded(verb, part):
    found = {world["name"]: text for world in ASKED[verb, part] if (
        text := difference(world["answers"][verb], answers(world, verb)))}
    assert not found
