"""The checks of lesson 11: binding, faults and healing."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from volcano_lab.course.kit.checking import Mistakes, check, short
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_11.scene import JOB, delays, train
from volcano_lab.simulation import Simulation

Row = Sequence[Any]


@check(takes=int)
def failures_until_a_second(answer: int) -> Mistakes:
    """After how many failures in a row does the scheduler wait for more than a second before it
    reads the pod again?
    """
    yield answer < 1, "at_least_one"
    yield answer == 200, "doubled_each_time"
    waits = delays(min(answer, 40))["seconds"].tolist()
    yield waits[-1] <= 1, try_again("go_on_doubling", answer=answer, waits=waits[-1])
    yield len(waits) > 1 and waits[-2] > 1, try_again(
        "a_smaller_number", answer=answer, waits=waits[-1])
    return well_done("doubled", waits=waits[-1])



@check(takes=callable, wanted="a function of a list of events")
def own_invariant(answer: Callable[[list[Row]], Any]) -> Mistakes:
    """Write bound_twice(events): the pods that were bound although they were bound already."""
    for name, (events, wanted) in histories().items():
        got = answer([list(row) for row in events])
        if got is None or got is ...:
            return None
        pods = [*got] if hasattr(got, "__iter__") else [got]
        yield isinstance(got, str) or not all(isinstance(pod, str) for pod in pods), try_again(
            "no_list_of_pods", got=short(got))
        found, expected = set(pods), set(wanted)
        if found == expected:
            continue
        yield found and name == "a run in which a node is lost", try_again(
            "recreated_pod", name=name, pods=sorted(found))
        yield found - expected, try_again("bound_once", name=name, pods=sorted(found - expected))
        same = "_same_node" if "forged" in name and not _by_node(events) else ""
        return try_again(f"bound_twice{same}", name=name, wanted=wanted[0])
    return well_done("quiet_and_finds")


@check(takes=list, wanted='a list of faults, such as [(1, "bind_refused")]')
def half_a_gang(answer: list[Any]) -> Mistakes:
    """Write a plan of at most three faults by which train has some of its pods bound, but not all,
    for 3 seconds or more. No pod may be lost."""
    yield not all(isinstance(entry, list | tuple) and len(entry) == 2 and isinstance(entry[1], str)
                  for entry in answer), "second_and_kind"
    yield len(answer) > 3, "three_faults_at_most"
    sim = train(answer)  # breaks off if an invariant is broken
    run = sim.run(until=60)
    times = [time for time, what, *_ in run.rows["events"] if what == "pod bound"]
    job = sim.side.jobs[JOB]
    yield job.lost, "pod_lost"
    yield job.finished is None, "not_finished"
    gap = round(times[-1] - times[0], 2)
    if gap >= 3:
        return well_done("half_a_gang", times=times[0], times1=times[-1], done=sim.calendar.done)
    yield gap == 0 and sim.faults.struck["bind_refused"] == len(answer) == 3, "refused_together"
    yield gap == 0, "same_moment"
    return try_again("next_cycle_heals", gap=gap)


# -- make: an invariant


def _by_node(events: Sequence[Row]) -> list[str]:
    """Only those that were bound to another node."""
    nodes: dict[str, str] = {}
    found: list[str] = []
    for _, what, pod, node in events:
        if what == "pod bound":
            found += [pod] if nodes.get(pod, node) != node else []
            nodes[pod] = node
        elif what == "pod lost":
            nodes.pop(pod, None)
    return found


@cache
def _healed() -> Simulation:
    """A pod is bound, its node is away so long that the pod is recreated, and that is bound once
    more.
    """
    sim = train()
    sim.run(until=5)
    sim.side.node_fails("n2", back_after=25.0)
    sim.run(until=60)
    return sim


def histories() -> dict[str, tuple[list[list[Any]], list[str]]]:
    """Events, and the pods that were bound twice in them: all well, a recreated pod, and two forged
    ones.

    >>> [pods for _, pods in histories().values()]
    [[], [], ['default/train-1-0'], ['default/train-1-2']]
    """
    refused = train([(1, "bind_refused")]).run(until=20).rows["events"]
    healed = _healed().history.rows["events"]
    again = [*refused, [20.5, "pod bound", "default/train-1-0", "n1"]]
    other = [*refused[:-2], [2.6, "pod bound", "default/train-1-2", "n2"], *refused[-2:]]
    return {"a run with a refused bind": (refused, []),
            "a run in which a node is lost": (healed, []),
            "a forged run": (again, ["default/train-1-0"]),
            "another forged run": (other, ["default/train-1-2"])}


# -- three patients

def patients() -> dict[str, Simulation]:
    """Three runs of train, in each of which a pod does not run at second 7.9.

    >>> [sorted(str(task.status) for task in sim.cache.jobs[JOB].tasks.values())[0]
    ...  for sim in patients().values() if sim.run(until=7.9)]
    ['Bound', 'Pending', 'Binding']
    """
    one = train()
    one.calendar.after(1.5, one.side.node_fails, node="n2")
    two = train([(second, "bind_refused") for second in range(1, 20)])
    three = train([(1, "bind_refused")] + [(1, "read_refused")] * 30)
    return {"one": one, "two": two, "three": three}
