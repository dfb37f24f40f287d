"""Why pods run on their nodes: by what plugins would score now, with one of them taken away.

What was free when a pod was placed is over, and so may be the configuration; the scores that are
compared are those of the end of this cycle.

Volcano: none
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attrs import Factory, define

from volcano_lab.api import FAILED, RELEASING, RUNNING, TaskInfo
from volcano_lab.api.resource import ZERO
from volcano_lab.explain import rules, topology
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause
from volcano_lab.framework import NoScore, Session
from volcano_lab.framework.statement import unplace
from volcano_lab.manifests import SCHEDULER
from volcano_lab.messages import Message
from volcano_lab.trace import grouped
from volcano_lab.trace.reading import SCORES

Scores = dict[str, dict[str, float]]
"""Node -> plugin -> its score."""
Weight = tuple[str, int, dict[str, float]]
MOST = 100
"""The highest weight of a plugin that is tried."""
PARTS = ("least_requested", "most_requested", "balanced_resource", "node_affinity", "pod_affinity",
         "taint_toleration", "topology_spread")
"""The weights of nodeorder's scores; their arguments have no underscores."""


@define(slots=True)
class Scored:
    """A pod that is placed now: the scores of nodes that it fits, and by which rule, or for want of
    which resources, the others do not take it; by the argument that is a weight of scores, its
    plugin, its value and what one more of it adds to each node.
    """

    scores: Scores = Factory(dict)
    refused: dict[str, str] = Factory(dict)
    short: dict[str, list[str]] = Factory(dict)
    weights: dict[str, Weight] = Factory(dict)


def best_of(scores: Scores) -> str:
    """Return the first node of the highest sum.

    >>> best_of({"n1": {"a": 1.0, "b": 1.0}, "n2": {"a": 2.0}, "n3": {}})
    'n1'
    """
    return max(scores, key=lambda node: sum(scores[node].values()))


@contextmanager
def _taken_away(ssn: Session, task: TaskInfo) -> Iterator[None]:
    """A session as if a pod that runs were not placed."""
    node, status, job = ssn.nodes[task.node_name], task.status, ssn.jobs[task.job]
    there = [*node.tasks]
    unplace(ssn, task)
    sub_job = job.sub_jobs[job.task_to_sub_job[task.uid]]
    if sub_job.with_network_topology():
        task.job_allocated_hyper_node = sub_job.allocated_hyper_node
    try:
        yield
    finally:
        ssn.set_status(task, status)
        node.add_task(task)
        node.tasks = {key: node.tasks[key] for key in there}
        task.job_allocated_hyper_node = ""
        ssn.fire_allocate(task)


def scored(seen: Evidence, task: TaskInfo) -> Scored:
    """Return what plugins would say now of a pod that runs, if it were not placed."""
    found, hard = Scored(), seen.ssn.jobs[task.job].contains_hard_topology()
    with _taken_away(seen.ssn, task):
        seen.ssn.pre_predicate(task)
        for name, node in seen.ssn.nodes.items():
            fits, names = task.init_resreq.less_equal_with_resources_name(node.idle, ZERO)
            if reason := rules.refused_now(seen, task, name):
                found.refused[name] = reason
            elif hard and topology.outside(seen, task, name):
                found.refused[name] = ""
            elif not fits:
                found.short[name] = names
            else:
                found.scores[name] = {}
        found.scores = _scores(seen, task, [*found.scores])
        if len(found.scores) > 1:
            found.weights = dict(_weights(seen, task, found.scores))
    return found


def _weights(seen: Evidence, task: TaskInfo, scores: Scores) -> Iterator[tuple[str, Weight]]:
    """Yield the weights of plugins that have one for their whole score, and those of nodeorder."""
    for name in next(iter(scores.values())):
        plugin: Any = seen.ssn.plugins[name]
        if now := getattr(plugin, "weight", 0):
            yield f"{name}.weight", (name, now, {
                node: by[name] / now for node, by in scores.items()})
        for part in PARTS if name == "nodeorder" else ():
            now = getattr(plugin, part)
            setattr(plugin, part, now + 1)
            more = _scores(seen, task, [*scores], [name])
            setattr(plugin, part, now)
            argument = f"{'pod' * (part == 'topology_spread')}{part.replace('_', '')}.weight"
            yield argument, (name, now, {
                node: more[node][name] - by[name] for node, by in scores.items()})


def _scores(seen: Evidence, task: TaskInfo, names: list[str], only: list[str] | None = None
            ) -> Scores:
    """What each plugin, or `only` some, give nodes, in the order in which these are tried."""
    nodes = [node for node in seen.ssn.node_list if node.name in names]
    found: Scores = {node.name: {} for node in nodes}
    for each in SCORES if len(nodes) > 1 else ():
        point = seen.ssn.points[each]
        for plugin in seen.plugins(each) if only is None else only:
            answer = point.functions[plugin]
            try:
                given = answer(task, nodes) if each == "batch_node_order" else {
                    node.name: answer(task, node) for node in nodes}
            except NoScore:
                continue
            for name, by in found.items():
                by[plugin] = by.get(plugin, 0.0) + given.get(name, 0.0)
    return found


def why_runs(seen: Evidence, tasks: list[TaskInfo]) -> Cause | None:
    """Return why pods that have run before this cycle are on their nodes: of one, or of a job by
    the first pod of its most frequent role.
    """
    runs = [task for task in tasks if task.status == RUNNING and task.node_name in seen.ssn.nodes
            and not seen.is_new(task)]
    if not runs or len(seen.ssn.nodes) < 2 or any(
            task.status in (RELEASING, FAILED) for task in tasks):
        return None
    role = Counter(task.task_role for task in runs).most_common(1)[0][0]
    task = min((task for task in runs if task.task_role == role), key=lambda task: task.key)
    used = [*dict.fromkeys(each.node_name for each in sorted(runs, key=lambda each: each.key))]
    if other := _by_others(seen, task):
        return Cause("placed", other, {"nodes": used}, context=True)
    found = scored(seen, task)
    if task.node_name not in found.scores:
        return None  # its node would refuse it by now: `questions.despite`
    if len(found.scores) < 2:
        return Cause("placed", [Message("placed.only", node=task.node_name, pod=task.key), *_counts(
            seen, task, found)], {"nodes": used, "by": "only"}, context=True)
    return _compared(seen, task, used, found)


def _by_others(seen: Evidence, task: TaskInfo) -> Message | None:
    """That another scheduler, or the template of its owner, has chosen the node of a pod."""
    scheduler, owner = task.pod.spec.scheduler_name, seen.called(task.job)
    if scheduler not in ("", SCHEDULER):
        return Message("placed.scheduler", pod=task.key, node=task.node_name, scheduler=scheduler)
    named = any(part.template.spec.node_name == task.node_name
                for obj in seen.named.get(owner, ()) for part in (
                    getattr(obj.spec, "tasks", None) or [obj.spec] if hasattr(obj, "spec") else ())
                if hasattr(part, "template"))
    return Message("placed.named", owner=owner, node=task.node_name) if named else None


def _counts(seen: Evidence, task: TaskInfo, found: Scored) -> Iterator[Message]:
    """Yield by which rules, and for want of what, how many nodes do not take a pod."""
    by_rule = grouped((rules.rule_of(reason)[1], (reason, node))
                      for node, reason in found.refused.items())
    parts = [Message("placed.short", n=len(nodes), resources=names.split(" "))
             for names, nodes in grouped((" ".join(names), node)
                                         for node, names in found.short.items()).items()]
    parts += [Message("placed.rule", n=len(same), rule=Message(
        f"rule.{rule or 'quoted'}", reason=same[0][0], queue=seen.ssn.jobs[task.job].queue)
        if same[0][0] else Message("placed.outside")) for rule, same in by_rule.items()]
    if parts:
        yield Message("placed.others", parts=parts)


def _compared(seen: Evidence, task: TaskInfo, used: list[str], found: Scored) -> Cause:
    """The scores of a pod's node and of the one that would be next, or is best now; of pods that
    are apart, the best that another of them is on.
    """
    scores, node, best = found.scores, task.node_name, best_of(found.scores)
    others = [name for name in used if name in scores and name != node] or [
        name for name in scores if name != node]
    second = best_of({name: scores[name] for name in others}) if best == node else node
    if best != node:
        return Cause("placed", [Message("placed.moved", **_facts(scores, best, node)), Message(
            "placed.now", pod=task.key)], {"nodes": used, "by": "moved"}, context=True)
    by = turning(scores, node, second) or [
        name for name, score in scores[node].items() if score > scores[second][name]]
    return Cause("placed", [
        *before(scores, node, second), _weight(found, node, second, by),
        *_filled(seen, used, by, found), Message("placed.now", pod=task.key)], {
            "nodes": used, "plugins": by, "by": "plugins" if by else "best",
            "scores": {name: scores[name] for name in (node, second)}}, context=True)


def before(scores: Scores, node: str, second: str) -> Iterator[Message]:
    """Yield by how much a node is before a second one, and by which plugins alone."""
    facts, by = _facts(scores, node, second), turning(scores, node, second)
    yield Message("best_score" if facts["total"] > facts["less"] else "best_score.equal", **facts)
    if by:
        yield Message("best_score.without", plugins=by, node=node, second=second)


def _facts(scores: Scores, node: str, second: str) -> dict[str, Any]:
    return {"node": node, "second": second, "count": len(scores),
            "total": sum(scores[node].values()), "less": sum(scores[second].values()),
            "points": _points(scores[node]), "fewer": _points(scores[second])}


def turning(scores: Scores, node: str, second: str) -> list[str]:
    """Return the plugins without which a second node would come before the best one."""
    less, more = (sum(scores[name].values()) for name in (node, second))
    return [plugin for plugin, score in scores[node].items()
            if less - score < more - scores[second].get(plugin, 0.0)]


def _points(scores: dict[str, float]) -> list[Message]:
    """What each plugin gives a node."""
    return [Message("points", plugin=plugin, score=score)
            for plugin, score in scores.items() if score] or [Message("points.none")]


def _weight(found: Scored, node: str, second: str, by: list[str]) -> Message | None:
    """The weight next to its value with which a second node would be the best, of a plugin that
    decides if there is one.
    """
    nearest = list[tuple[bool, int, Message]]()
    for argument, (plugin, now, adds) in found.weights.items():
        for to in range(MOST + 1) if adds[node] != adds[second] else ():
            sums = {name: sum(scores.values()) + (to - now) * adds[name]
                    for name, scores in found.scores.items()}
            if sums[second] == max(sums.values()) > sums[node]:
                nearest.append((plugin not in by, abs(to - now), Message(
                    "placed.weight", argument=argument, to=to, now=now, other=second)))
    return min(nearest, key=lambda each: each[:2])[2] if nearest else None


def _filled(seen: Evidence, used: list[str], by: list[str], found: Scored) -> Iterator[Message]:
    """Yield that by binpack pods fill a node while others that they fit hold none."""
    empty = [name for name in found.scores if not seen.ssn.nodes[name].tasks]
    if "binpack" in by and len(used) == 1 and empty:
        yield Message("packed", n=len(empty), nodes=empty)
