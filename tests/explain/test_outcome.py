"""What becomes of a cluster is counted cycle by cycle, and equals what all its cycles did."""

from collections import Counter, namedtuple
from itertools import takewhile
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from volcano_lab.cluster import Cluster
from volcano_lab.explain.evidence import counts
from volcano_lab.explain.outcome import CYCLES, Eviction, Outcome, _is_over
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.conf import scheduler_conf_of
from volcano_lab.manifests.loader import loads
from volcano_lab.scheduler import life
from volcano_lab.trace.recorder import Turns

RECLAIM = """actions: "enqueue, allocate, reclaim"
tiers: [{plugins: [{name: gang, enableReclaimable: false}, {name: predicates}, {name: proportion}]}]
"""


def given_back():
    """What is reclaimed for a gang of queue b is too little for it, and is given back."""
    cluster = Cluster(conf=RECLAIM).node("n1", cpu=8).queue("a").queue("b")
    cluster.job("old", queue="a", pods=8, min_member=1, cpu=1, running={"n1": 8})
    return cluster.job("new", queue="b", pods=5, min_member=1, cpu=1)


def loop():
    """Two pods that are evicted in turns, for a gang that has too little with one of them."""
    objects = loads(Path("docs/loop.yaml").read_text("utf-8"))
    return Cluster(objects, scheduler_conf_of(objects))


def reclaimed():
    """A gang of queue a loses a pod that it needs."""
    cluster = Cluster(conf=RECLAIM).node("n1", cpu=8).queue("a").queue("b")
    return cluster.job("gang", queue="a", pods=8, cpu=1, running={"n1": 8}).job(
        "new", queue="b", cpu=1)


def quiet():
    """A cluster that evicts nothing: one job runs, one is placed, one never fits."""
    return (Cluster().node("n1", cpu=4).job("runs", cpu=1, running={"n1": 1}).job("new", cpu=2)
            .job("large", cpu=9))


@pytest.mark.parametrize("given", [loop, given_back, reclaimed, quiet])
def test_an_outcome_is_the_sum_of_its_cycles(given):
    cluster, found = given(), Outcome()
    done, placed, given_after = [], [], Counter()
    for cycle in life(cluster.objects(), load_conf(cluster.conf), 1_800_000_000.0, CYCLES, Turns,
                      False):
        found.add(cycle.session, cycle.trace)
        jobs = cycle.session.jobs
        of = {task.key: uid for uid, job in jobs.items() for task in job.tasks.values()}
        done.append([(of[key], key, node) for word, key, node, *_ in cycle.session.committed
                     if word == "evict" and key in of])
        placed.append({uid: counts(job)[0] for uid, job in jobs.items()})
        number = len(done)
        assert (found.cycles, found.last) == (number, cycle.session)
        assert [(each.cycle, each.job, each.pod, each.node) for each in found.evictions] == [
            (at, *each) for at, some in enumerate(done, 1) for each in some]
        assert [(each.job, each.pod, each.node) for each in found.gone] == done[-1]
        assert found.evicted == Counter(job for some in done for job, *_ in some)
        alike = takewhile(lambda some: bool(some) == bool(done[-1]), reversed(done))
        assert found.row == sum(1 for _ in alike)
        assert found.fewest == {uid: min(each[uid] for each in placed if uid in each)
                                for uid in placed[-1].keys() | found.fewest.keys()}
        often = Counter(pod for some in done for _, pod, _ in some)
        endless = number == CYCLES and found.row > 1 and done[-1]
        assert found.loops == [each for each in found.evictions
                               if often[each.pod] > 1 or (endless and each.cycle == number)]
        given_after += Counter(of[key] for word, key, *_ in cycle.session.committed
                               if word == "allocate" and any(done[:-1]) and key in of)
        assert found.given == given_after
        assert found.kinds == {(each.action, jobs[each.job].queue) for each in found.evictions
                               if each.job in jobs}
        for uid in jobs:
            assert found.placed(uid) == placed[-1][uid]
            assert found.touches(uid) == any(uid in (each.job, each.winner)
                                             for each in found.loops)
        begun = found.begun(next(iter(jobs)))
        assert begun.cycles == 1 and begun.evicted == Counter(
            each.job for each in found.evictions
            if each.cycle == 1 or each.winner == next(iter(jobs)))
    assert bool(found.evictions) == (given is not quiet) and found.cycles > 1
    assert bool(found.loops) == (given is loop) and (given is not loop or found.row == CYCLES - 1)


@pytest.mark.parametrize("seed", range(30))
def test_which_evictions_go_round_or_have_no_end(seed):
    """By definition: those of a pod that is evicted twice; those of the last cycle where it is the
    last that is looked at, and the one before it evicted, too.
    """
    random, job = Random(seed), namedtuple("Job", "queue")
    cycles = random.choice((CYCLES - 1, CYCLES))
    evictions = [Eviction(cycle, f"{name}-{random.choice((cycle, 0))}", name, "n1",
                          random.choice(("preempt", "reclaim")), random.choice("xy"))
                 for cycle in range(cycles - random.choice((1, 2, 4)), cycles + 1)
                 for name in "abc"[:random.randint(0, 3)]]
    by_cycle = [sum(each.cycle == cycle for each in evictions) for cycle in range(1, cycles + 1)]
    row = len([*takewhile(lambda some: bool(some) == bool(by_cycle[-1]), reversed(by_cycle))])
    last = SimpleNamespace(jobs={"a": job("q"), "b": job("r")})  # job c is gone
    found = Outcome(last=last, cycles=cycles, row=row, evictions=evictions)
    assert found.gone == evictions[len(evictions) - by_cycle[-1]:]
    pods = Counter(each.pod for each in evictions)
    loops = [each for each in evictions if pods[each.pod] > 1 or (
        cycles == CYCLES and each in found.gone and by_cycle[-2])]
    assert found.loops == loops
    assert found.again == {each.job for each in loops} - {"c"}
    assert found.kinds == {(each.action, "qr"["ab".index(each.job)]) for each in evictions
                           if each.job != "c"}
    for uid in "abcxy":
        assert found.touches(uid) == any(uid in (each.job, each.winner) for each in loops)


class Bound:
    """A job that has its places, or waits."""

    tasks = (1,)

    def __init__(self, bound):
        self.bound = bound

    def is_ready(self):
        return self.bound

    def in_status(self, _):
        return ()


def gone(*cycles, pod="x-{}", job="x", winner="y"):
    return [Eviction(cycle, pod.format(cycle), job, "n1", "reclaim", winner) for cycle in cycles]


OVER = [  # whether the job is bound, cycle, row, evictions, as before, in a small and a large one
    (True, 1, 1, [], None, (True, True)), (False, 1, 1, [], None, (False, False)),
    (True, 3, 1, gone(1, 2), None, (False, True)), (False, 3, 1, gone(1, 2), None, (False, False)),
    (True, 2, 2, gone(1, 2), None, (False, False)), (True, 3, 1, gone(1, 2), True, (False, True)),
    (True, 9, 2, gone(1, 9, pod="x"), True, (False, False)),
    (True, 9, 2, gone(1, 9, pod="x"), False, (True, True)),
    (True, 9, 2, gone(1, 9, pod="x", job="new"), True, (True, True)),
    (True, 9, 2, gone(1, 9, pod="x", winner="new"), True, (True, True)),
    (False, 1, 1, gone(1), True, (False, False)), (False, 2, 2, gone(1, 2), True, (False, False)),
    (False, 3, 3, gone(1, 2, 3), True, (False, True)), (False, 3, 3, [], True, (False, True)),
    (True, 3, 3, gone(1, 2, 3), True, (False, False)),
    (True, 3, 3, gone(1, 2, 3, winner="new"), True, (False, True))]


@pytest.mark.parametrize(("bound", "cycle", "row", "evictions", "as_before", "over"), OVER)
def test_when_further_cycles_show_nothing_more(bound, cycle, row, evictions, as_before, over):
    """A bound job is enough without evictions, or once these are over; in a large cluster, too, a
    job that waits after a few cycles.
    """
    jobs = {name: Bound(bound) for name in ("new", "x")}
    for large, said in zip((False, True), over, strict=True):
        found = Outcome(last=SimpleNamespace(jobs=jobs), cycles=cycle, row=row,
                        evictions=evictions)
        assert _is_over(found, SimpleNamespace(rests=True, session=found.last), "new", large,
                        None if as_before is None else lambda _: as_before) is said, large


@pytest.mark.parametrize("as_before", [True, False])
def test_a_job_that_stays_in_its_places_is_enough_where_the_cluster_evicts_as_before(as_before):
    """Two cycles in a row without an eviction of it or for it; one for it begins again."""
    found, said = Outcome(last=SimpleNamespace(jobs={"new": Bound(True), "x": Bound(True)})), []
    for cycle, winner in enumerate("yyyny", 1):
        found.cycles, found.row = cycle, cycle
        found.evictions += gone(cycle, winner="new" if winner == "n" else winner)
        said.append((_is_over(found, SimpleNamespace(rests=True, session=found.last), "new", True,
                              lambda _: as_before), found.stays))
    assert [stays for _, stays in said] == [1, 2, 3, 0, 1]
    assert [over for over, _ in said] == [False, as_before, as_before, True, False]
