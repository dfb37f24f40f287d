"""`volcano-lab lint`: what cannot work, cancels itself or has no effect."""

from collections.abc import Sequence

from volcano_lab.cli import DONE, FOUND, inputs
from volcano_lab.cli.output import show, styled
from volcano_lab.explain.findings import ERROR, Findings
from volcano_lab.messages import gettext, mark, wrapped


def lint(files: Sequence[str], conf: str | None, output: str, recursive: bool,
         context: str | None = None) -> int:
    """Print findings, errors first; 1 if one is an error. Raises `Mistake`."""
    found = inputs.cluster_of(files, conf, recursive, context).lint()
    show(output, found._frames(), lambda most: report(found, most or 10_000),
         [finding.rule for finding in found])
    return FOUND if found.errors else DONE


def report(found: Findings, most: int = 80) -> str:
    """Return the findings as text: level, rule, place and remedy, and their number."""
    lines = []
    for finding in found:
        level, colour = gettext(finding.level), "red" if finding.level == ERROR else "yellow"
        text = wrapped(f"{level}{mark(': ')}{finding} [{finding.rule}]", most, "  ", "")
        lines.append(styled(level, fg=colour) + text[len(level):])
    return "\n".join([*lines, gettext(found.counted)])
