"""Why a pod is on its node and not on another, node by node."""

from __future__ import annotations

from volcano_lab.api.task import TaskInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, amounts_text, part
from volcano_lab.explain.nodes import rule_of
from volcano_lab.trace import Record


def last_choice(seen: Evidence, task: str) -> Record | None:
    """The last time that a node was sought for a pod."""
    return next((record for record in reversed(seen.trace.records) if record.kind == "chose" and record["task"] == task), None)


def why_here(seen: Evidence, task: TaskInfo) -> Cause | None:
    """What made a placed pod's node the best, with the scores of the next one."""
    choice = last_choice(seen, task.key)
    if choice is None or choice["node"] is None:
        return None
    scores = seen.trace.scores(task.key, choice.number + 1)
    totals = {node: sum(by.values()) for node, by in scores.items() if may_go(seen, task.key, node, choice)}
    chosen = choice["node"]
    others = sorted((node for node in totals if node != chosen), key=lambda node: -totals[node])
    if chosen not in totals or not others:
        return Cause("only_node", f"Node {chosen} was the only one that it fits.", {"node": chosen}, [choice])
    second = others[0]
    words = "more than" if totals[chosen] > totals[second] else "as many as, and comes before,"
    text = (f"Of {len(totals)} nodes that it fits, node {chosen} has {totals[chosen]:.6g} points ({_points(scores[chosen])}), "
            f"{words} node {second} with {totals[second]:.6g} ({_points(scores[second])}).")  # fmt: skip
    return Cause("best_score", text, {"scores": {chosen: scores[chosen], second: scores[second]}}, [choice])


def may_go(seen: Evidence, task: str, node: str, choice: Record) -> bool:
    return why_not_cause(seen, task, node, choice) is None


def why_not_cause(seen: Evidence, task: str, node: str, choice: Record) -> Cause | None:
    """Why a node was no place for a pod at that choice; None where it was one."""
    request = seen.trace.start["tasks"][task]["request"]
    free = seen.free(choice)[node]
    short = [name for name, amount in request.items() if amount - free.get(name, 0.0) >= 0.1]
    if short:
        numbers = {"request": part(request, short), "free": part(free, short)}
        text = (f"Pod {task} asks for {amounts_text(request, short)}; node {node} had {amounts_text(free, short)} left "
                "when it was tried.")  # fmt: skip
        return Cause("insufficient", text, numbers, [choice])
    asked = seen.trace.of("predicate", task=task, node=node)
    refusals = [record for record in asked if record.number < choice.number and record["answer"] is not None]
    values = seen.trace.node_values(task, choice.number + 1).get(node, {})
    forbidden = [column for column, value in values.items() if column.startswith("predicate ") and not value]
    if not refusals and not forbidden:
        return None
    if not refusals:
        return Cause("refused", f"{forbidden[0].partition(' ')[2]} does not let pod {task} go to node {node}.", {}, [choice])
    reasons = refusals[-1]["answer"]
    reason = reasons if isinstance(reasons, str) else ", ".join(reasons)
    code, words = rule_of(reason)
    text = f"Node {node} has {words}" if code else f"Plugin {refusals[-1]['plugin']} objects"
    text += f", so pod {task} may not go there ({reason})."
    return Cause(code or "refused", text, {"reason": reason}, [refusals[-1], choice])


def _points(scores: dict[str, float]) -> str:
    return ", ".join(f"{plugin} {score:.6g}" for plugin, score in scores.items() if score) or "nobody gives any"
