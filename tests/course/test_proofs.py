"""Every number of every lesson's text: the cells run, and after each what is said of it is so."""

from pathlib import Path

import pytest

from cells import processes
from course.proofs.running import failures

LESSONS = sorted(path.stem.removeprefix("lesson_")
                 for path in (Path(__file__).parent / "proofs").glob("lesson_*.py"))


@pytest.fixture(scope="module")
def lessons(request):
    """{lesson: what does not hold}, of those that are wanted in this run."""
    wanted = [item.callspec.params["lesson"] for item in request.session.items
              if item.path == request.path and hasattr(item, "callspec")]
    with processes(failures, wanted) as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_what_the_lesson_says_is_so(lesson, lessons):
    wrong = lessons[lesson].get()
    assert not wrong, "\n".join(wrong)
