"""`volcano-lab why`: why a job, pod or queue is as it is, the decisions behind it, and what would
change it.
"""

from __future__ import annotations

import json
import sys
from textwrap import fill
from typing import Any

from volcano_lab.cli import Mistake
from volcano_lab.cli.run import WIDTH, conf_text, load_files, moment, warnings_of
from volcano_lab.explain import Explainer, Explanation
from volcano_lab.framework.config.conf import ConfError
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.trace.narration import sentence

MOST = 12
"""Decisions that are printed; `--output json` has all."""


def why(files: list[str], name: str, node: str | None, conf: str | None, output: str,
        now: str | None = None) -> int:
    """Explain and print; warnings go to the error output. Raises `Mistake`."""
    loaded = load_files(files)
    try:
        loaded = with_defaults(loaded)
        explainer = Explainer(loaded, conf_text(conf), moment(now))
    except ManifestError as error:
        raise Mistake(str(error)) from None
    except ConfError as error:
        raise Mistake(f"{conf}: {error}") from None
    explanation = explain(explainer, name, node)
    for warning in loaded.warnings + warnings_of(explainer.session):
        print(f"warning: {warning}", file=sys.stderr)
    print(json.dumps(as_dict(explanation), indent=2) if output == "json" else report(explanation))
    return 0


def explain(explainer: Explainer, name: str, node: str | None = None) -> Explanation:
    """The explanation of what has that name, or of why a pod is not on a node. Raises `Mistake`
    with what is near.
    """
    try:
        return explainer.why(name) if node is None else explainer.why_not(node, name)
    except LookupError as error:
        raise Mistake(str(error.args[0])) from None


def report(explanation: Explanation) -> str:
    """The paragraph, the decisions behind it, and the changes that would turn it, as text."""
    lines = [fill(explanation.text, WIDTH)]
    if explanation.chain:
        shown = explanation.chain[:MOST]
        lines += ["", "Decided by these records of the cycle:"]
        lines += [
            fill(f"{record.action}: {sentence(record)}", WIDTH,
                 initial_indent=f"  {record.number:>6}  ", subsequent_indent=" " * 10)
            for record in shown
        ]
        if len(shown) < len(explanation.chain):
            lines.append(f"          and {len(explanation.chain) - len(shown)} more")
    if explanation.seeks_remedies:
        lines += ["", "What would change it (each found by running the cycle again):"]
        lines += [f"  {remedy}" for remedy in explanation.remedies
                  ] or ["  no change of one number that was tried"]
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
