"""Changes of numbers, with the values that are tried: weights, amounts, minimums, nodes.

Volcano: none
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import ceil
from typing import Any

from volcano_lab.api import ATTACHABLE, Resource, objects as api, quantity
from volcano_lab.changes import Change, at_path, key_of, requests_of, value_text
from volcano_lab.explain import options
from volcano_lab.explain.explanation import TABLES, Amounts, in_quantity
from volcano_lab.explain.options import Option, Rank, World, once, setting
from volcano_lab.manifests.operators import pod_count
from volcano_lab.manifests.operators.model import OperatorObject, at

FEW_DEVICES = 16
"""So many devices of a pod, or fewer, are cut to a part that divides them."""
LARGE_CUT, KEPT = 3, 4
"""A request beyond all nodes is cut by 1/`LARGE_CUT`, one of cpu or memory by 1/`KEPT`, before
other jobs are changed; by more, or of devices, last of all.
"""


def stepped(path: str, before: float, by: float = 1, steps: int = 1, **given: Any) -> Option:
    """A number that is changed `by` so much in each of some steps.

    >>> stepped("queue/a.weight", 2, steps=9).most.settings
    ('queue/a.weight=11',)
    """
    return Option(lambda step: Change((f"{path}={before + by * step:.10g}",)), steps=steps, **given)


def amounts_of(queue: api.Queue, field: str) -> dict[str, str]:
    """A queue's `capability`, `deserved` or `guarantee.resource`."""
    return at_path(queue.spec, field.split(".")) or {}


def raised(world: World, queue: str, field: str, levels: Sequence[Amounts],
           unset: bool = False) -> Iterator[Option]:
    """A queue's `capability` or `deserved`, raised to one of these levels, the least first; each in
    those resources only in which it is less. A capability that isn't set is no limit, but where it
    names some resources only there is nothing of others in a tree (`unset`: these).
    """
    if queue not in world.queues:
        return
    amounts = amounts_of(world.queues[queue], field)

    def meant(name: str) -> bool:
        missing = field == "capability" and name not in amounts
        return missing == unset and bool(amounts or not missing) and name != "pods"

    def change(level: Amounts) -> Change:
        more = {name: in_quantity(name, amount) for name, amount in level.items() if meant(name)}
        return Change(tuple(
            setting(f"queue/{queue}", *field.split("."), name,
                    to=options.text_of(name, amount, amounts.get(name, "")))
            for name, amount in more.items() if quantity.parse(amounts.get(name, "0")) < amount))

    yield from options.stages(map(change, levels))


def lowered(world: World, queue: str, field: str, resource: str, least: float) -> Iterator[Option]:
    """A queue's amount of one resource, lowered by about `least`. Others are owed it: it is theirs
    to give.
    """
    known = amounts_of(world.queues[queue], field) if queue in world.queues else {}
    before = quantity.parse(text := known.get(resource, "0"))
    if not before:
        return
    step = options.step_of(resource, before)

    def change(number: int) -> Change:
        return Change((setting(f"queue/{queue}", *field.split("."), resource,
                               to=options.text_of(resource, before - number * step, text)),))

    others = field == "deserved" and len(known) > 1  # which alone are compared with 0 of this one
    steps = ceil(before / step) - 1 if others else int(before // step)
    first = options.steps_between(resource, 0, least, step)
    yield Option(change, Rank.QUEUE, steps, min(steps, first))


def minimum(world: World, uid: str, rank: int = Rank.LESS) -> Option:
    """A lower minimum of a gang."""
    least = world.groups[uid].spec.min_member
    return stepped(f"{world.job(uid)}.minAvailable", least, -1, least - 1, rank=rank,
                   kind="minimum")


def role_minima(world: World, uid: str) -> Iterator[Option]:
    """A lower minimum of one of a gang's roles that have several pods, and of the gang."""
    spec, job = world.groups[uid].spec, world.job(uid)

    def less(field: str, count: int, step: int) -> Change:
        return Change((f"{field}={count - step}", f"{job}.minAvailable={spec.min_member - step}"))

    for role, count in (spec.min_task_member or {}).items():
        yield Option(partial(less, world.of_role(uid, role), count), Rank.LESS, count - 1,
                     kind="minimum")


def fewer(world: World, uid: str) -> Iterator[Option]:
    """Fewer of the pods that an operator creates for a job's owner, of which its kind needs no
    certain number, and no higher minimum of an autoscaler, or of the gang.
    """
    for owner in world.creators(uid):
        for path, count in _counts(owner):
            yield _fewer(owner, "", {
                path: count, _least(path): count,
                "runPolicy.schedulingPolicy.minAvailable": pod_count(owner, [])})


def least_replicas(world: World, uid: str) -> Iterator[Option]:
    """As many pods at least, of which an operator computes the gang's minimum, as are to be."""
    yield once(*(
        f"{key_of(owner)}.{_least(path)}={count}" for owner in world.creators(uid)
        for path, count in _counts(owner) if path.split(".")[-2].isdigit()  # of a group of a list
        and count > (at_path(owner.spec, _least(path).split(".")) or 0)), rank=Rank.SWITCH)


def _counts(owner: OperatorObject) -> Iterator[tuple[str, int]]:
    """Each field of an owner's spec with a number of pods of which its kind needs no certain one,
    and this number.
    """
    listed, each, field = TABLES["owners"]["fewer"].get(owner.kind, "").partition(".#.")
    for number in range(len(at(owner.spec, listed, [])) if each else 1):
        path = f"{listed}.{number}.{field}" if each else listed
        count = at_path(owner.spec, path.split("."))
        if isinstance(count, int):
            yield path, count


def _least(path: str) -> str:
    """The field with the least number of an autoscaler, beside one with a number of pods."""
    return f"{path.removesuffix('replicas')}minReplicas"


def smaller_world(job: api.VolcanoJob) -> Iterator[Option]:
    """Fewer pods of a task of a Volcano Job, and no higher minimum."""
    pods = sum(task.replicas for task in job.spec.tasks)
    for number, task in enumerate(job.spec.tasks):
        path = f"tasks.{number}."
        yield _fewer(job, "spec.", {f"{path}replicas": task.replicas,
                                    f"{path}minAvailable": task.replicas, "minAvailable": pods})


def fewer_replicas(world: World, uid: str, most: int) -> Iterator[Option]:
    """At `most` so many pods fewer of what creates a job's pods, all of a Deployment if need be; of
    a Volcano Job those of its largest task, which then has no higher minimum: Volcano's webhook
    would refuse it.
    """
    for obj in world.given:
        if isinstance(obj, api.VolcanoJob | api.Deployment | api.StatefulSet) and (
                obj.key == world.called(uid)):
            fewer = smaller_world(obj) if isinstance(obj, api.VolcanoJob) else [_fewer(
                obj, "spec.", {"replicas": at_path(obj, ["spec", "replicas"]) or 1}, 0)]
            for option in sorted(fewer, key=lambda each: each.steps)[-1:]:
                yield Option(option.at, Rank.OTHERS, min(most, option.steps))


def _fewer(owner: Any, part: str, most: dict[str, int], least: int = 1) -> Option:
    """Fields of an owner's spec with numbers of pods, each of those that are there by as many less,
    and not below the `least`.
    """
    kept = {path: at_path(owner.spec, path.split(".")) for path in most}

    def less(step: int) -> Change:
        return Change(tuple(
            f"{key_of(owner)}.{part}{path}={pods - step}" for path, pods in most.items()
            if isinstance(kept[path], int) and kept[path] > pods - step))

    return Option(less, Rank.LESS, min(most.values()) - least, kind="minimum")


def request(world: World, uid: str, resource: str, target: float = 0.0) -> Iterator[Option]:
    """What the waiting pods of a job ask for at most; never nothing, and whole pieces of what
    cannot be divided. It takes about `target` (internal units) to fit.
    """
    texts = requests_of(world.waiting(uid), resource)
    if not texts:
        return
    most = max(map(quantity.parse, texts))
    step = options.step_of(resource, most)
    if float(most) - float(in_quantity(resource, target)) < step:  # a little less is enough
        step = options.step_of(resource)
    whole = ceil(most / step)  # after the first step it is a multiple
    like, levels = max(texts, key=quantity.parse), _levels(resource, whole)
    cut = options.steps_between(resource, most, max(target, 0.0), step)
    first = 1 + sum(level > whole - cut for level in levels)

    def less(number: int) -> Change:
        text = options.text_of(resource, levels[number - 1] * step, like)
        return Change((setting(world.job(uid), "requests", resource, to=text),))

    fits = any(quantity.parse(node.status.allocatable.get(resource, "0")) >= most
               for node in world.nodes.values())
    small = 0
    if not fits or resource in options.STEPS:
        small = whole // (KEPT if fits else LARGE_CUT)
    small = sum(level >= whole - small for level in levels)
    for rank, steps in ((Rank.JOB, small), (Rank.REQUEST, len(levels))):
        yield Option(less, rank, steps, min(first, steps), "cut")


def _levels(resource: str, whole: int) -> Sequence[int]:
    """The numbers of steps below a `whole` request, from the most; of a few devices only those that
    divide it, as work is divided among them.

    >>> _levels("nvidia.com/gpu", 8), _levels("memory", 4)
    ([4, 2, 1], range(3, 0, -1))
    """
    less = range(whole - 1, 0, -1)
    return [level for level in less if not whole % level] if (
        "/" in resource and whole <= FEW_DEVICES) else less


def requests(world: World, uid: str, left: Amounts) -> Iterator[Option]:
    """What the waiting pods of a job ask for of several resources, lowered at once to what is left
    on a node, in whole small steps.
    """
    most = {name: max(map(quantity.parse, requests_of(world.waiting(uid), name)), default=0)
            for name in left}
    texts: dict[str, str] = {}
    for name, amount in left.items():
        step = options.step_of(name)
        whole, fits = ceil(most[name] / step), in_quantity(name, amount) // step
        texts[name] = options.text_of(name, step * next((level for level in (
            whole, *_levels(name, whole)) if level <= fits), 0))
    if len(texts) > 1 and all(map(quantity.parse, texts.values())) and world.waiting(uid):
        small = all(quantity.parse(text) * KEPT >= most[name] * (KEPT - 1)
                    for name, text in texts.items())
        yield once(*(setting(world.job(uid), "requests", name, to=text)
                     for name, text in texts.items()), kind="cut",
                   rank=Rank.JOB if small else Rank.REQUEST)


def nodes(world: World, asked: Amounts, lacking: Amounts, names: Iterable[str],
          devices: Amounts, labels: dict[str, str]) -> Iterator[Option]:
    """More nodes like one that is there, but with devices and `labels` that no node has, and large
    enough for what a pod asks for; an option for each size of node. `lacking` is about what is
    missing in all.
    """
    exact = {name: in_quantity(name, amount) for name, amount in devices.items()}
    steps = {name: options.step_of(name, amount) for name, amount in exact.items()}
    more = {name: options.text_of(name, ceil(amount / steps[name]) * steps[name])
            for name, amount in exact.items()}
    sizes = {repr((sorted(amounts.items()), node.spec)): (node, Resource.from_list(amounts))
             for node in reversed(world.nodes_called(names).values())
             for amounts in [node.status.allocatable | more]}
    large = [each for each in reversed(sizes.values()) if not any(
        each[1].get(name) < amount for name, amount in asked.items()
        if name != "pods" and not name.startswith(ATTACHABLE))]
    # the node for which devices are meant is the largest
    large = sorted(large, key=lambda each: -each[1].milli_cpu)[:1] if more else large
    for node, size in large:
        first = max([1, *(ceil(amount / size.get(name)) for name, amount in lacking.items()
                          if size.get(name))])
        yield Option(partial(_more, node, more | ({"labels": labels} if labels else {})),
                     Rank.NODES, 2 * first, first)


def _more(like: api.Node, more: dict[str, Any], count: int) -> Change:
    text = value_text({"count": count, **more} if more else count)
    return Change((f"node/{like.name}.more={text if count > 1 else text.replace('-#', '')}",))


def within_quota(world: World, uid: str, numbers: dict[str, Any]) -> Iterator[Option]:
    """Fewer of the pods that a job's owner asks for, or smaller requests, with which all of them
    are within what a ResourceQuota allows of the first resource that it lacks.
    """
    (name, wanted), *_ = numbers["wanted"]
    each, hard, count = (quantity.parse(str(numbers[key])) for key in ("asked", "hard", "pods"))
    left = hard - quantity.parse(wanted) + each * count
    resource = name.removeprefix("requests.").removeprefix("limits.")
    fields = {path: int(left // each) for path in world.written(uid, "replicas", int(count))}
    fields |= {path: int(left // each) for path in world.written(uid, "minAvailable", int(count))
               if fields}
    step = options.step_of(resource)
    size = options.text_of(resource, left / count // step * step, numbers["asked"])
    for texts, least in ((fields, left - each), (dict.fromkeys(
            world.written(uid, resource, numbers["asked"]), size), left / count - step)):
        if least >= 0:
            yield once(*(f"{path}={text}" for path, text in texts.items()), rank=Rank.LESS)


def sum_of(parts: Iterable[str], like: str) -> str:
    """The sum of quantities, as this one is written."""
    return quantity.to_text(sum(map(quantity.parse, parts)), quantity.style_of(like))


def cuts_more(change: Change, other: Change) -> bool:
    """Whether a change lowers all requests to which another one is limited, as much or more.

    >>> one = Change(("job/a.requests.cpu=6900m",))
    >>> cuts_more(Change(("job/a.requests.cpu=5", "job/a.requests.memory=1Gi")), one)
    True
    """
    own, least = (dict(text.rpartition("=")[::2] for text in each.settings)
                  for each in (change, other))
    return bool(least) and not other.removals and all(
        ".requests" in target and target in own and "null" not in (text, own[target])
        and quantity.parse(own[target]) <= quantity.parse(text) for target, text in least.items())
