"""Why a pod is on its node and not on another, node by node."""

from __future__ import annotations

from volcano_lab.api import TaskInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, amounts_text, part
from volcano_lab.explain.nodes import rule_causes, then_said
from volcano_lab.trace import Record


def last_choice(seen: Evidence, task: str) -> Record | None:
    """The last time that a node was sought for a pod."""
    return next((record for record in reversed(seen.trace.records)
                 if record.kind == "chose" and record["task"] == task), None)


def why_here(seen: Evidence, task: TaskInfo) -> Cause | None:
    """What made a placed pod's node the best, with the scores of the next one."""
    choice = last_choice(seen, task.key)
    if choice is None or choice["node"] is None:
        return None
    scores = seen.trace.scores(task.key, choice.number + 1)
    totals = {node: sum(by.values()) for node, by in scores.items() if may_go(seen, task.key, node,
                                                                              choice)}
    chosen = choice["node"]
    others = sorted((node for node in totals if node != chosen), key=lambda node: -totals[node])
    if chosen not in totals or not others:
        return Cause("only_node", f"Node {chosen} was the only one that it fits.", {"node": chosen},
                     [choice])
    second = others[0]
    words = "more than" if totals[chosen] > totals[second] else "as many as, and comes before,"
    text = (f"Of {len(totals)} nodes that it fits, node {chosen} has {totals[chosen]:.6g} points "
            f"({_points(scores[chosen])}), {words} node {second} with {totals[second]:.6g} "
            f"({_points(scores[second])}).")
    return Cause("best_score", text, {"scores": {chosen: scores[chosen], second: scores[second]}},
                 [choice])


def may_go(seen: Evidence, task: str, node: str, choice: Record) -> bool:
    return not _lacking(seen, task, node, choice) and not seen.objector(task, node, choice)


def why_not_cause(seen: Evidence, task: str, node: str, choice: Record) -> Cause | None:
    """Why a node was no place for a pod at that choice; None where it was one."""
    short = _lacking(seen, task, node, choice)
    if short:
        request, free = seen.trace.start["tasks"][task]["request"], seen.free(choice)[node]
        numbers = {"request": part(request, short), "free": part(free, short)}
        text = (f"Pod {task} asks for {amounts_text(request, short)}; node {node} had "
                f"{amounts_text(free, short)} left when it was tried.")
        return Cause("insufficient", text, numbers, [choice])
    plugin = seen.objector(task, node, choice)
    return next(rule_causes(seen, task, {node: then_said(seen, task, node, plugin)}, (0, ""),
                            choice)) if plugin else None


def _lacking(seen: Evidence, task: str, node: str, choice: Record) -> list[str]:
    """The resources of which the node had too little."""
    request, free = seen.trace.start["tasks"][task]["request"], seen.free(choice)[node]
    return [name for name, amount in request.items() if amount - free.get(name, 0.0) >= 0.1]


def _points(scores: dict[str, float]) -> str:
    return ", ".join(
        f"{plugin} {score:.6g}" for plugin, score in scores.items() if score) or "nobody gives any"
