"""Why a pod is on its node and not on another, node by node."""

from __future__ import annotations

from volcano_lab.api import TaskInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, amounts_text, part
from volcano_lab.explain.nodes import rule_of
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
    return not _lacking(seen, task, node, choice) and not _objectors(seen, task, node, choice)


def why_not_cause(seen: Evidence, task: str, node: str, choice: Record) -> Cause | None:
    """Why a node was no place for a pod at that choice; None where it was one."""
    short = _lacking(seen, task, node, choice)
    if short:
        request, free = seen.trace.start["tasks"][task]["request"], seen.free(choice)[node]
        numbers = {"request": part(request, short), "free": part(free, short)}
        text = (f"Pod {task} asks for {amounts_text(request, short)}; node {node} had "
                f"{amounts_text(free, short)} left when it was tried.")
        return Cause("insufficient", text, numbers, [choice])
    objectors = _objectors(seen, task, node, choice)
    if not objectors:
        return None
    said = seen.refusal(task, node)
    if said is None:
        return Cause("refused", f"Plugin {objectors[0]} does not let pod {task} go to node {node}.",
                     {}, [choice])
    reason = said["answer"] if isinstance(said["answer"], str) else ", ".join(said["answer"])
    code, words = rule_of(reason)
    text = f"Node {node} has {words}" if code else f"Plugin {said['plugin']} objects"
    text += f", so pod {task} may not go there ({reason})."
    here = seen.trace.records[said.number:said.number +
                              1]  # the run node by node numbers its records otherwise
    return Cause(code or "refused", text, {"reason": reason},
                 [*(record for record in here if record is said), choice])


def _lacking(seen: Evidence, task: str, node: str, choice: Record) -> list[str]:
    """The resources of which the node had too little."""
    request, free = seen.trace.start["tasks"][task]["request"], seen.free(choice)[node]
    return [name for name, amount in request.items() if amount - free.get(name, 0.0) >= 0.1]


def _objectors(seen: Evidence, task: str, node: str, choice: Record) -> list[str]:
    """The plugins that refused the node, by the calls or by the values of all nodes."""
    calls = [record["plugin"] for record in seen.of("predicate", task=task, node=node)
             if record.number < choice.number and record["answer"] is not None]
    values = seen.trace.node_values(task, choice.number + 1).get(node, {})
    return calls + [column.partition(" ")[2] for column, value in values.items()
                    if column.startswith("predicate ") and not value]


def _points(scores: dict[str, float]) -> str:
    return ", ".join(
        f"{plugin} {score:.6g}" for plugin, score in scores.items() if score) or "nobody gives any"
