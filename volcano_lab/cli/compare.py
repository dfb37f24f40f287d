"""`volcano-lab what-if` and `volcano-lab diff`: the differences of two clusters at rest."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from volcano_lab.changes.conf import IN_CONF
from volcano_lab.changes.draft import CLASSES, kind_of
from volcano_lab.cli import DONE, FOUND, Mistake, inputs
from volcano_lab.cli.output import show, warn
from volcano_lab.cluster import Cluster
from volcano_lab.messages import Message
from volcano_lab.trace import Names
from volcano_lab.trace.views.comparison import EXPECTED, Comparison


def what_if(files: Sequence[str], settings: Sequence[str], add: Sequence[str],
            remove: Sequence[str], conf: str | None, base_conf: str | None, now: str | None,
            output: str, recursive: bool, expect: Sequence[str] = (), context: str | None = None,
            namespace: str = "") -> int:
    """Print the effect of a change; 1 if it is not the expected one. Raises `Mistake`."""
    if namespace:
        settings, remove = ([_within(namespace, text) for text in texts]
                            for texts in (settings, remove))
    if conf and base_conf is None and (settings or add or remove):
        base_conf, conf = conf, None  # as in every command: the configuration of the cluster
    cluster = inputs.cluster_of(files, base_conf, recursive, context)
    warn(inputs.unless_refused(cluster))
    more = Cluster.read(*add, recursive=recursive).others if add else ()
    found = cluster.what_if(*settings, add=more, remove=remove, conf=inputs.conf_file(conf),
                            now=inputs.moment(now))
    warn([Message("compare.refused", what=each) for each in found.refused])
    warn(sorted({*cluster.warnings(found.before), *cluster.warnings(found.after)}, key=str))
    _show(found, output)
    return DONE if all(_holds(found, text, namespace) for text in expect) else FOUND


def _within(namespace: str, text: str) -> str:
    """Return a setting or KIND/NAME with the namespace where it names none and the kind has one.

    >>> _within("ml", "job/a.queue=b/c"), _within("ml", "job/x/a"), _within("ml", "q/a.weight=2")
    ('job/ml/a.queue=b/c', 'job/x/a', 'q/a.weight=2')
    """
    kind, _, rest = text.partition("/")
    known = not text.startswith(IN_CONF) and CLASSES[kind_of(kind, text)].namespaced
    bare = "/" not in re.split(r"[.=\[]", rest, maxsplit=1)[0]
    return f"{kind}/{namespace}/{rest}" if known and bare else text


def _holds(found: Comparison, text: str, namespace: str) -> bool:
    """Return whether jobs are as expected, by default the added ones; report those that are not."""
    name, equals, expected = text.rpartition("=")
    if expected not in EXPECTED or (equals and not name):
        raise Mistake("expect.text", text=text, expected=[*EXPECTED])
    name = name if "/" in name or not (name and namespace) else f"{namespace}/{name}"
    jobs = [name] if name else found.added
    if not jobs:
        raise Mistake("expect.no_job", text=text)
    missed = [job for job in jobs if not found.holds(job, expected)]
    there = (obj for cycle in (found.before, found.after) for obj in cycle.world)
    if name and missed and not any(  # perhaps it is left out
            name in (obj.name, obj.key, *(ref.name for ref in obj.metadata.owner_references))
            for obj in there):
        Names(found.before.session, found.before.world).find(name, "job")  # refuses it
    after = Cluster(found.after.world, found.after.session.conf)
    for job in missed:
        why = None
        with suppress(LookupError):
            why = after.explainer(now=found.after.session.now, about=job).why(job).head
        warn([Message("expected.why" if why else "expected", job=job, expected=expected, why=why)])
    return not missed


def diff(a: str, b: str, conf: str | None, now: str | None, output: str, recursive: bool) -> int:
    """Print the differences between the cycles of two exports; 1 if any. Raises `Mistake`."""
    one, other = (inputs.cluster_of([file], conf, recursive) for file in (a, b))
    found = one.diff(other, now=inputs.moment(now))
    _show(found, output, given=found.given)
    return FOUND if found else DONE


def _show(found: Comparison, output: str, **more: Any) -> None:
    show(output, found.as_dict() | more, found, [f"job/{row['job']}" for row in found.jobs])
