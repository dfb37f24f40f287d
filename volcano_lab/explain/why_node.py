"""Why a pod is on its node and not on another, node by node."""

from __future__ import annotations

from volcano_lab.api import TaskInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, part
from volcano_lab.explain.nodes import rule_causes, then_said
from volcano_lab.messages import Message
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
        return Cause("only_node", Message("only_node", node=chosen), {"node": chosen}, [choice])
    second = others[0]
    said = Message("best_score" if totals[chosen] > totals[second] else "best_score.equal",
                   count=len(totals), node=chosen, total=totals[chosen],
                   points=_points(scores[chosen]), second=second, less=totals[second],
                   fewer=_points(scores[second]))
    return Cause("best_score", said, {"scores": {chosen: scores[chosen], second: scores[second]}},
                 [choice])


def may_go(seen: Evidence, task: str, node: str, choice: Record) -> bool:
    return not _lacking(seen, task, node, choice) and not seen.objector(task, node, choice)


def why_not_cause(seen: Evidence, task: str, node: str, choice: Record) -> Cause | None:
    """Why a node was no place for a pod at that choice; None where it was one."""
    short = _lacking(seen, task, node, choice)
    if short:
        request, free = seen.trace.start["tasks"][task]["request"], seen.free(choice)[node]
        numbers = {"request": part(request, short), "free": part(free, short)}
        return Cause("insufficient", Message("insufficient", pod=task, node=node, **numbers),
                     numbers, [choice])
    plugin = seen.objector(task, node, choice)
    return next(rule_causes(seen, task, {node: then_said(seen, task, node, plugin)}, (0, None),
                            choice)) if plugin else None


def _lacking(seen: Evidence, task: str, node: str, choice: Record) -> list[str]:
    """The resources of which the node had too little."""
    request, free = seen.trace.start["tasks"][task]["request"], seen.free(choice)[node]
    return [name for name, amount in request.items() if amount - free.get(name, 0.0) >= 0.1]


def _points(scores: dict[str, float]) -> list[Message]:
    return [Message("points", plugin=plugin, score=score)
            for plugin, score in scores.items() if score] or [Message("points.none")]
