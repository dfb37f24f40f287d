"""A fact that may stand in two places: which of them counts, and that each counts alone."""

from itertools import product

import pytest

from volcano_lab.api import JobInfo, objects as api
from volcano_lab.api.job import (
    JDB_MAX_UNAVAILABLE,
    JDB_MIN_AVAILABLE,
    SLA_WAITING_TIME,
    SLA_WAITING_TIME_SHORT,
)
from volcano_lab.api.storage import CLASS, class_of
from volcano_lab.api.task import (
    COOLDOWN_TIME,
    PREEMPTABLE,
    REVOCABLE_ZONE,
    TASK_PRIORITY_ANNOTATION,
    TASK_SPEC,
    TaskInfo,
)
from volcano_lab.plugins.cdp import cooldown_time


def of_job(field):
    def read(group):
        job = JobInfo(group.key)
        job.set_pod_group(group)
        return getattr(job, field)

    return read


def of_task(field):
    return lambda pod: getattr(TaskInfo(pod), field)


def budgets(group):
    return of_job("min_available_budget")(group), of_job("max_unavailable_budget")(group)


def put(obj, place, value):
    """The object with a value in "note:KEY", "label:KEY" or a field of its spec."""
    kind, colon, key = place.partition(":")
    if not colon:
        return obj.changed(spec={place: value})
    part = {"note": "annotations", "label": "labels"}[kind]
    return obj.changed(metadata={part: getattr(obj.metadata, part) | {key: value}})


GROUP, POD, CLAIM = api.PodGroup, api.Pod, api.PersistentVolumeClaim
YES_NO = {"true": True, "false": False}
TIMES = {"1h": 3600.0, "1m": 60.0}
NAMES = {"a": "a", "b": "b"}
TWO_PLACES = [  # the kind, how it is read; the place that counts, its values; the other one, its
    (GROUP, of_job("waiting_time"), f"note:{SLA_WAITING_TIME}", TIMES | {"soon": None, "-1m": None},
     f"note:{SLA_WAITING_TIME_SHORT}", TIMES),
    (GROUP, of_job("preemptable"), f"note:{PREEMPTABLE}", YES_NO, f"label:{PREEMPTABLE}", YES_NO),
    (GROUP, of_job("revocable_zone"), f"note:{REVOCABLE_ZONE}", {"*": "*", "a": ""},
     f"note:{PREEMPTABLE}", {"true": "*", "false": ""}),
    (GROUP, budgets, f"note:{JDB_MIN_AVAILABLE}", {"1": ("1", "")}, f"note:{JDB_MAX_UNAVAILABLE}",
     {"2": ("", "2")}),
    (POD, of_task("preemptable"), f"note:{PREEMPTABLE}", YES_NO, f"label:{PREEMPTABLE}", YES_NO),
    (POD, of_task("revocable_zone"), f"note:{REVOCABLE_ZONE}", {"*": "*", "a": ""},
     f"note:{PREEMPTABLE}", {"true": "*", "false": ""}),
    (POD, of_task("task_role"), f"note:{TASK_SPEC}", NAMES, f"label:{TASK_SPEC}", NAMES),
    (POD, of_task("priority"), f"note:{TASK_PRIORITY_ANNOTATION}", {"7": 7, "-9": -9}, "priority",
     {1000: 1000, 0: 0}),
    (POD, cooldown_time, f"label:{COOLDOWN_TIME}", TIMES, f"note:{COOLDOWN_TIME}", TIMES),
    (CLAIM, class_of, f"note:{CLASS}", NAMES, "storage_class_name", NAMES),
]


@pytest.mark.parametrize(("kind", "read", "first", "values", "other", "more"), TWO_PLACES,
                         ids=[f"{row[0].kind}-{row[2]}" for row in TWO_PLACES])
def test_one_of_two_places_counts_and_the_other_without_it(kind, read, first, values, other, more):
    bare = kind(api.ObjectMeta("a", "default"))
    for text, expected in values.items():
        assert read(put(bare, first, text)) == expected
    for text, expected in more.items():
        assert read(put(bare, other, text)) == expected
    for (text, expected), (second, otherwise) in product(values.items(), more.items()):
        both = put(put(bare, other, second), first, text)
        assert read(both) == (otherwise if expected is None else expected), (text, second)
