"""`volcano-lab lint`: what cannot work, cancels itself or has no effect."""

from collections.abc import Sequence

from attrs import asdict

from volcano_lab.cache import Cache
from volcano_lab.cli import DONE, FOUND
from volcano_lab.cli.inputs import conf_of, load_files, mistakes
from volcano_lab.cli.output import show, styled, wrapped
from volcano_lab.explain.findings import ERROR, WARNING, Finding, of_cycle, of_objects
from volcano_lab.manifests import ManifestError, with_defaults
from volcano_lab.scheduler import run_once
from volcano_lab.trace.language import say


def lint(files: Sequence[str], conf: str | None, output: str, recursive: bool) -> int:
    """Print findings, errors first; 1 where one is an error. Raises `Mistake`."""
    loaded = load_files(files, recursive)
    text = conf_of(conf, loaded)
    found = list(of_objects(loaded))
    try:
        complete = with_defaults(loaded)
        with mistakes(conf):
            ssn = run_once(Cache(complete), text)
        told = {f"{finding.place}: {finding.text}" for finding in found}
        found += [Finding("unread", WARNING, *warning.split(": ", 1))
                  for warning in complete.warnings if warning not in told and ": " in warning]
        found += of_cycle(ssn)
    except ManifestError as error:
        found += [Finding("refused", ERROR, *problem.split(": ", 1)) for problem in error.problems]
    found.sort(key=lambda finding: finding.level != ERROR)
    errors = sum(finding.level == ERROR for finding in found)
    show(output, {"findings": [asdict(finding) for finding in found]},
         lambda most: report(found, most or 10_000), [finding.rule for finding in found])
    return FOUND if errors else DONE


def report(found: Sequence[Finding], most: int = 80) -> str:
    """The findings as text: level, rule, place and remedy, and how many there are."""
    lines = []
    for finding in found:
        colour = "red" if finding.level == ERROR else "yellow"
        head, _, rest = wrapped(f"{say(finding.level)}: {say(str(finding))} [{finding.rule}]", most,
                                "  ", "").partition(": ")
        lines.append(f"{styled(head, fg=colour)}: {rest}")
    errors = sum(finding.level == ERROR for finding in found)
    warnings = len(found) - errors
    lines.append(say(f"{errors} error{'s' * (errors != 1)}, "
                     f"{warnings} warning{'s' * (warnings != 1)}"))
    return "\n".join(lines)
