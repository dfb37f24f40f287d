"""The input of the commands: a cluster (from files, or a live one), a configuration, a time."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve

from volcano_lab.cli import Mistake
from volcano_lab.cluster import Cluster
from volcano_lab.framework import ConfError, load_conf
from volcano_lab.messages import Message


def cluster_of(files: Sequence[str], conf: str | None = None, recursive: bool = False,
               context: str | None = None) -> Cluster:
    """Return the cluster of some files, folders, patterns or "-" (the input); without any, that of
    kubectl's context. Raises `Mistake`.
    """
    if "" in files:
        raise Mistake("command.file")
    if files and context is not None:
        raise Mistake("command.context")
    return Cluster.read(*files, conf=conf_file(conf), recursive=recursive
                        ) if files else Cluster.live(context or "", conf_file(conf))


def conf_file(conf: str | None) -> str | Path | None:
    """Return a configuration's file in the form that `Cluster` takes. Raises `Mistake`."""
    if conf == "":
        raise Mistake("command.conf")
    return conf if conf is None or conf == "-" else Path(conf)


def unless_refused(cluster: Cluster) -> list[Message]:
    """Give a cluster whose configuration Volcano refuses its default one, with which it starts; and
    return a sentence that says so.
    """
    try:
        cluster.configuration()
    except ConfError as error:
        cluster.conf = evolve(load_conf(), refused=error.conf)
        return [Message("why.refused", why=str(error))]
    return []


def moment(text: str | None) -> float | None:
    """Return a time in seconds since 1970: of a day (UTC), or an hour of today. Raises `Mistake`.

    >>> moment("2026-01-01T13:00Z"), moment("13:30") % 86400, moment(None)
    (1767272400.0, 48600.0, None)
    """
    if text is None:
        return None
    today = datetime.now(UTC).date().isoformat()
    try:
        if text.isdigit() and len(text) > 6:  # seconds since 1970
            raise ValueError(text)
        found = datetime.fromisoformat(text if "-" in text else f"{today}T{text}")
    except ValueError:
        raise Mistake("command.now", text=text) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
