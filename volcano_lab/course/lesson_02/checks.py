"""Checks of lesson 02: resources, and how they are compared."""

from volcano_lab.api.resource import ZERO, Resource
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check, is_empty
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.messages import gettext
from volcano_lab.widgets.story import counted

GPU = "nvidia.com/gpu"


@check(takes=str)
def half_a_gibibyte(answer: str) -> Mistakes:
    """Write a quantity that is a half of 1Gi of memory, such as a pod's request would say it, as a
    text.
    """
    wanted, got = 2**29, Resource.from_list({"memory": answer}).memory
    if got == wanted:
        return well_done(gettext("`{answer}` is {wanted} bytes. `Mi` and `Gi` count in steps of "
                                 "1024, `M` and `G` in steps of 1000.", answer=answer,
                                 wanted=f"{wanted:,}"))
    yield answer.endswith("m"), (
        "`m` means thousandths, so this is about a half of one byte. Memory wants `Mi` or `Gi`.")
    size = counted(got, "bytes", f"{got:,.0f}")
    return try_again(gettext(
        "`{answer}` is {size}, which is too much: 1Gi is 1024Mi, or 2**30 bytes." if got > wanted
        else "`{answer}` is {size}, which is too little: 1Gi is 1024Mi, or 2**30 bytes.",
        answer=answer, size=size))


def small_cluster() -> Cluster:
    """The lesson's cluster: a node of one CPU, and two queues whose parts are no whole numbers.

    >>> small_cluster().run().committed
    [['allocate', 'default/a-work-0', 'n1']]
    """
    cluster = Cluster().node("n1", cpu=1, pods=27).queue("a", weight=1).queue("b", weight=26)
    cluster.job("a-work", queue="a", pods=2, cpu="37m", min_member=1)
    return cluster.job("b-work", queue="b", pods=2, cpu="963m", min_member=1)


@check(takes=int)
def largest_request(answer: int) -> Mistakes:
    """How many millicores may a pod of queue b ask for at the most, so that one of them starts?"""

    def starts(millicores: int) -> bool:
        placed = small_cluster().job("b-work", cpu=f"{millicores}m").run().committed
        return any(row[1].startswith("default/b-work") for row in placed)

    yield not starts(answer), (gettext("With {answer} millicores no pod of b starts: b deserves "
                                       "962.963, and the comparison is strict.", answer=answer))
    yield starts(answer + 1), gettext("With {answer} one starts, but a larger one would, too.",
                                      answer=answer)
    return well_done(
        "962 is within the 962.963 that b deserves; 963 is above it, if only by 0.037.")


@check(takes=dict, wanted='a dict, such as {"cpu": 2}')
def no_gpus(answer: dict) -> Mistakes:
    """Write a capability, such as {"cpu": 2}, with which a queue may hold 4 CPUs and no GPU."""
    cluster = Cluster().node("gpu-1", cpu=10, gpu=4).queue("team", capability=answer).job(
        "work", queue="team", cpu=1)
    most = cluster.run().queues()[0]["real_capability"]
    cpus, gpus = most["cpu"], most.get(GPU, 0)
    yield "gpu" in answer, (
        gettext('A GPU has its full name, `"{GPU}"`; other names are left out without a word.',
                GPU=GPU))
    yield gpus, (
        gettext("The queue may still hold {gpus} GPUs: what a capability does not mention is no "
                "limit.", gpus=gpus))
    written = Resource.from_list({"cpu": str(answer.get("cpu", 0))}).milli_cpu / 1000
    yield written > 10, (
        gettext("A capability counts whole CPUs here, and this is {written} of them. The node "
                "has 10.", written=written))
    yield written == 0 and "cpu" in answer, (
        "The queue may hold all 10 CPUs: for CPU and memory, zero in a capability means no limit.")
    yield cpus == 10, "No GPU, as wanted; but it does not limit CPU: the queue may hold all 10."
    yield cpus != 4, gettext("No GPU, as wanted; but the queue may hold {cpus} CPUs, and 4 are "
                             "wanted.", cpus=cpus)
    return well_done(
        "For a GPU, zero is a limit of zero. For CPU and memory, zero would be no limit at all.")


PAIRS = [({"cpu": 500}, {"cpu": 1000}, "500 millicores fit into 1000."),
         ({"cpu": 1000}, {"cpu": 1000}, "What fills the room exactly fits, too."),
         ({"cpu": 2000}, {"cpu": 1000}, "2000 millicores do not fit into 1000."),
         ({"cpu": 1000.05}, {"cpu": 1000},
          "A difference below 0.1 is forgiven: this is the tolerance."),
         ({"cpu": 1000.2}, {"cpu": 1000}, "A difference of 0.2 is not forgiven."),
         ({"cpu": 0.1}, {"cpu": 0}, "Only a difference below 0.1 is forgiven, not 0.1 itself."),
         ({"cpu": 1, "memory": 5}, {"cpu": 2, "memory": 4},
          "Every resource must fit, and memory does not."),
         ({"gpu": 1000}, {"cpu": 1000}, "The room has no GPU: what is missing counts as zero."),
         ({"gpu": 0.05}, {}, "Zero, and the tolerance, hold for a missing resource, too."),
         ({"cpu": 1}, {"cpu": 2, "gpu": 1000}, "Only what the request mentions is looked at."),
         ({}, {"cpu": 1}, "Nothing fits everywhere.")]


@check(takes=callable, wanted="a function of a request and a room")
def fits(answer) -> Mistakes:
    """Write fits(request, room), which compares two dicts as a node does: tolerant, and missing is
    zero.
    """
    for request, room, hint in PAIRS:
        try:
            got = answer(dict(request), dict(room))
        except KeyError as missing:
            return try_again(gettext("fits({request}, {room}) stopped, because the room has no "
                                     "{missing}. `room.get(name, 0)` gives zero then.",
                                     request=str(request), room=str(room), missing=missing))
        if is_empty(got):
            return None
        yield not isinstance(got, bool), (
            gettext("fits({request}, {room}) gives {got}; wanted is True or False.",
                    request=str(request), room=str(room), got=repr(got)))
        truth = Resource.from_dict(request).less_equal(Resource.from_dict(room), ZERO)
        yield got != truth, gettext("fits({request}, {room}) gives {got}; wanted is {truth}. "
                                    "{hint}", request=str(request), room=str(room),
                                    got=got, truth=truth, hint=gettext(hint))
    return well_done(gettext("All {len} pairs are as a node decides them. This is `LessEqual(…, "
                             "Zero)` of the Go.", len=len(PAIRS)))
