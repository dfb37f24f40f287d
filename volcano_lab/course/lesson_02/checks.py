"""Checks of lesson 02: resources, and how they are compared."""

from volcano_lab.api.resource import ZERO, Resource
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check, is_empty
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.widgets.story import counted

GPU = "nvidia.com/gpu"


@check(takes=str)
def half_a_gibibyte(answer: str) -> Mistakes:
    """Write a quantity that is a half of 1Gi of memory, such as a pod's request would say it, as a
    text.
    """
    wanted, got = 2**29, Resource.from_list({"memory": answer}).memory
    if got == wanted:
        return well_done("half_a_gibibyte", answer=answer, wanted=f"{wanted:,}")
    yield answer.endswith("m"), "thousandths"
    size = counted(got, "bytes", f"{got:,.0f}")
    return try_again(
        "size_too_much" if got > wanted else "size_too_little", answer=answer, size=size)


def small_cluster() -> Cluster:
    """The lesson's cluster: a node of one CPU, and two queues whose parts are no whole numbers.

    >>> small_cluster().run().committed
    [['allocate', 'default/a-work-0', 'n1']]
    """
    return cluster_of("02", "small")


@check(takes=int)
def largest_request(answer: int) -> Mistakes:
    """How many millicores may a pod of queue b ask for at the most, so that one of them starts?"""

    def starts(millicores: int) -> bool:
        placed = small_cluster().job("b-work", cpu=f"{millicores}m").run().committed
        return any(row[1].startswith("default/b-work") for row in placed)

    yield not starts(answer), try_again("no_pod_starts", answer=answer)
    yield starts(answer + 1), try_again("a_larger_one_too", answer=answer)
    return well_done("largest_request")


@check(takes=dict, wanted='a dict, such as {"cpu": 2}')
def no_gpus(answer: dict) -> Mistakes:
    """Write a capability, such as {"cpu": 2}, with which a queue may hold 4 CPUs and no GPU."""
    cluster = Cluster().node("gpu-1", cpu=10, gpu=4).queue("team", capability=answer).job(
        "work", queue="team", cpu=1)
    most = cluster.run().queues()[0]["real_capability"]
    cpus, gpus = most["cpu"], most.get(GPU, 0)
    yield "gpu" in answer, try_again("full_name", GPU=GPU)
    yield gpus, try_again("what_is_not_mentioned", gpus=gpus)
    written = Resource.from_list({"cpu": str(answer.get("cpu", 0))}).milli_cpu / 1000
    yield written > 10, try_again("whole_cpus", written=written)
    yield written == 0 and "cpu" in answer, "zero_is_no_limit"
    yield cpus == 10, "cpu_not_limited"
    yield cpus != 4, try_again("cpu_not_four", cpus=cpus)
    return well_done("no_gpus")


@check(takes=callable, wanted="a function of a request and what is idle")
def fits(answer) -> Mistakes:
    """Write fits(request, idle), which compares two dicts as a node does: tolerant, and missing is
    zero.
    """
    pairs = entries("02")["fits"]["cases"]
    for request, idle, hint in pairs:
        try:
            got = answer(dict(request), dict(idle))
        except KeyError as missing:
            return try_again("fits_stopped", request=str(request), idle=str(idle), missing=missing)
        if is_empty(got):
            return None
        yield not isinstance(got, bool), try_again(
            "fits_no_bool", request=str(request), idle=str(idle), got=repr(got))
        truth = Resource.from_dict(request).less_equal(Resource.from_dict(idle), ZERO)
        yield got != truth, try_again(
            "fits_otherwise", request=str(request), idle=str(idle), got=got, truth=truth, hint=hint)
    return well_done("fits", len=len(pairs))
