"""`volcano-lab why`: why a job, pod or queue is as it is, the decisions behind it, and what would
change it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from textwrap import fill
from typing import Any

from volcano_lab.cli import Mistake
from volcano_lab.cli.run import WIDTH, conf_text, load_files, warnings_of
from volcano_lab.explain import Explainer, Explanation
from volcano_lab.framework.config.conf import ConfError
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.trace.narration import sentence

MOST = 12
"""Decisions that are printed; `--output json` has all."""


def why(files: list[str], name: str, node: str | None, conf: str | None, output: str) -> int:
    """Explain and print; warnings go to the error output. Raises `Mistake`."""
    loaded = load_files(files)
    try:
        loaded = with_defaults(loaded)
        explainer = Explainer(loaded, conf_text(conf))
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
    """The explanation of what has that name, in the default namespace or with it. Raises `Mistake`
    with what is near.
    """
    ssn = explainer.session
    pods = [task.key for job in ssn.jobs.values() for task in job.tasks.values()]
    if node is not None:
        if node not in ssn.nodes:
            raise Mistake(f'no node is called "{node}"; {_near(node, ssn.nodes)}.')
        pod = next((known for known in (name, f"default/{name}") if known in pods), None)
        if pod is None:
            raise Mistake(
                f'with --node a pod is named, and no pod is called "{name}"; {_near(name, pods)}.')
        return explainer.why_not(node, pod)
    known = [*ssn.jobs, *pods, *ssn.queues]
    for wanted in (name, f"default/{name}"):
        try:
            return explainer.why(wanted)
        except LookupError:
            continue
    if name in ssn.nodes:
        raise Mistake(f'"{name}" is a node; name a pod and `--node {name}`.')
    raise Mistake(f'no job, pod or queue is called "{name}"; {_near(name, known)}.')


def _near(name: str, known: Iterable[str]) -> str:
    """The names that resemble one, or else the first that there are."""
    names = {short: full for full in known for short in (full, full.partition("/")[2] or full)}
    near = sorted({names[match] for match in get_close_matches(name, names, n=6, cutoff=0.5)})
    if near:
        return f"near it {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    listed = list(dict.fromkeys(names.values()))
    return f"there are {', '.join(listed[:8]) or 'none'}{', ...' if len(listed) > 8 else ''}"


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
