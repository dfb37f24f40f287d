"""`volcano-lab why`: why a job, pod or queue is as it is, the decisions behind it, and what would
change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from volcano_lab.cli import DONE, Mistake
from volcano_lab.cli.inputs import cluster_of, mistakes, moment, warnings_of
from volcano_lab.cli.output import print_data, warn, width
from volcano_lab.explain import Explainer, Explanation
from volcano_lab.trace.narration import sentence

MOST = 12
"""Decisions that are printed; `-o json` has all."""


def why(files: Sequence[str], name: str, node: str | None = None, conf: str | None = None,
        output: str = "table", namespace: str = "", now: str | None = None) -> int:
    """Explain and print; warnings go to the error output. Raises `Mistake`."""
    loaded, text = cluster_of(files, conf)
    with mistakes(conf):
        explainer = Explainer(loaded, text, moment(now))
    explanation = explain(explainer, name, node, namespace)
    warnings = loaded.warnings + warnings_of(explainer.session)
    warn(warnings)
    if output in ("json", "yaml"):
        print_data({**as_dict(explanation), "warnings": warnings}, output)
    else:
        print(explanation.about.replace(" ", "/", 1) if output == "name" else report(explanation))
    return DONE


def explain(explainer: Explainer, name: str, node: str | None = None,
            namespace: str = "") -> Explanation:
    """The explanation of what has that name, or of why a pod is not on a node; a namespace is tried
    first. Raises `Mistake` with what is near.
    """
    places = [f"{namespace}/{name}"] if namespace and "/" not in name else []
    for place in [*places, name]:
        try:
            return explainer.why(place) if node is None else explainer.why_not(node, place)
        except LookupError as error:
            problem = str(error.args[0])
    raise Mistake(problem)


def report(explanation: Explanation) -> str:
    """The paragraph, the decisions behind it, and the changes that would turn it, as text."""
    most = width()
    lines = [fill(explanation.text, most)]
    if explanation.chain:
        shown = explanation.chain[:MOST]
        lines += ["", "Decided by these records of the cycle:"]
        lines += [
            fill(f"{record.action}: {sentence(record)}", most,
                 initial_indent=f"  {record.number:>6}  ", subsequent_indent=" " * 10)
            for record in shown
        ]
        if len(shown) < len(explanation.chain):
            lines.append(f"          and {len(explanation.chain) - len(shown)} more")
    if explanation.seeks_remedies:
        lines += ["", "What would change it (each found by running the cycle again):"]
        lines += [fill(str(remedy), most, initial_indent="  ", subsequent_indent="    ")
                  for remedy in explanation.remedies] or ["  no change of one number that was tried"]
    return "\n".join(lines)


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """All of an explanation as plain data; amounts are in internal units (millicores, bytes,
    thousandths).
    """
    return {
        "about":
        explanation.about,
        "text":
        explanation.text,
        "causes": [{
            "code": cause.code, "text": cause.text, "numbers": cause.numbers, "context":
            cause.context
        } for cause in explanation.causes],
        "chain":
        [{**record.as_dict(), "sentence": sentence(record)} for record in explanation.chain],
        "remedies": [{
            "what": remedy.what, "field": remedy.field, "before": remedy.before, "after":
            remedy.after, "effect": remedy.effect
        } for remedy in explanation.remedies],
    }
