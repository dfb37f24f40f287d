"""`volcano-lab capture` and `export`: save a cluster to a file, check it, and export it."""

from collections import Counter
from collections.abc import Sequence

from volcano_lab.cli import DONE, FOUND
from volcano_lab.cli.inputs import cluster_of
from volcano_lab.cli.output import print_data, styled, width
from volcano_lab.manifests.live import command_line
from volcano_lab.messages import Message, wrapped


def capture(files: Sequence[str], namespace: str, output: str) -> int:
    """Print the command that saves a cluster to a file; with files, what is missing in them (1 if
    something is). Raises `Mistake`.
    """
    if not files:
        print(command_line(namespace or "volcano-system"))
        return DONE
    cluster = cluster_of(files)
    found = cluster.missing()
    if output in ("json", "yaml"):
        print_data({"objects": len(cluster.others), "missing": found}, output)
    else:
        for sentence in found:
            print(wrapped(str(Message("missing.what", what=sentence)), width(), "  ", ""))
        counts = sorted(Counter(obj.kind for obj in cluster.others).items())
        summary = Message("objects", n=len(cluster.others),
                          kinds=[f"{kind} {count}" for kind, count in counts])
        print(styled(str(summary), bold=not found))
    return FOUND if found else DONE


def export(files: Sequence[str], form: str, anonymise: bool, conf: str | None,
           recursive: bool, context: str | None = None) -> int:
    """Print objects as manifests or as a case. Raises `Mistake`."""
    print(cluster_of(files, conf, recursive, context).export(form, anonymise=anonymise), end="")
    return DONE
