"""What the commands are given: manifests, a configuration, and the objects of a cluster made of
them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from volcano_lab.cli import Mistake
from volcano_lab.explain.lint import contradictions, ignored_fields
from volcano_lab.framework import ConfError, Session
from volcano_lab.manifests import loader as manifests
from volcano_lab.manifests.admission import admit
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.files import Reader, Unreadable, values
from volcano_lab.manifests.loader import Loaded, ManifestError, from_dict
from volcano_lab.scheduler import MOST_CYCLES
from volcano_lab.trace.views.cycle import Cycle


@contextmanager
def mistakes(conf: str | None = None) -> Iterator[None]:
    """Tell what manifests and a configuration have wrong as a `Mistake`."""
    try:
        yield
    except ManifestError as error:
        raise Mistake(str(error)) from None
    except ConfError as error:
        raise Mistake(f"{conf}: {error}" if conf else str(error)) from None


def load_files(files: Sequence[str], recursive: bool = False) -> Loaded:
    """Return the objects of some files, folders, patterns or "-" (the input). Raises `Mistake`."""
    if "" in files:
        raise Mistake('"" is no file; allowed are files, folders, patterns, or - for the input')
    with mistakes():
        return manifests.load(*files, recursive=recursive)


def cluster_of(files: Sequence[str], conf: str | None = None,
               recursive: bool = False, refuse: bool = True) -> tuple[Loaded, str | None]:
    """Return what the scheduler of a cluster with these objects would hear of (its `warnings` say
    what has no effect, and what admission would refuse of objects that exist already), and the text
    of its configuration. Raises `Mistake`, also for what admission refuses; without `refuse` that
    is a warning, too: who asks why has such an object in a cluster.
    """
    loaded = load_files(files, recursive)
    text = conf_of(conf, loaded)
    with mistakes():
        told = _admitted(loaded, refuse)
        complete = with_defaults(loaded)
    complete.warnings += told
    return complete, text


def _admitted(loaded: Loaded, refuse: bool) -> list[str]:
    try:
        return admit(loaded)
    except ManifestError as error:
        if refuse:
            raise
        return [f"{problem}; admission would refuse it now" for problem in error.problems]


def conf_of(conf: str | None, loaded: Loaded) -> str | None:
    """Return the text of the configuration that is named, or else of the one that a ConfigMap among
    the objects holds; None for Volcano's default. Raises `Mistake`.
    """
    with mistakes():
        return manifests.scheduler_conf_of(loaded) if conf is None else conf_text(conf)


def conf_text(conf: str | None) -> str | None:
    """Return the text of a volcano-scheduler.conf, or of the one in a ConfigMap; None for Volcano's
    default. Raises `Mistake`.
    """
    if conf is None:
        return None
    try:
        if conf != "-":
            Path(conf).stat()  # a pattern is no file
            if Path(conf).is_dir():  # "" is the folder one is in
                raise Mistake(f"{conf or '--conf'}: is no file; allowed is a "
                              "volcano-scheduler.conf, or - for the input")
        text = Reader().text(conf)
    except OSError as error:
        raise Mistake(f"{conf}: cannot be read ({error.strerror})") from None
    except Unreadable as error:
        raise Mistake(f"{conf}: {error}") from None
    return _in_config_map(text, conf) if "ConfigMap" in text else text


def _in_config_map(text: str, conf: str) -> str:
    """The configuration in a ConfigMap; any other text is taken as it is."""
    try:
        maps = [part for part in values(text)
                if isinstance(part, dict) and part.get("kind") == "ConfigMap"]
    except Unreadable:
        return text
    with mistakes(conf):
        found = [(key, value) for part in maps for key, value in from_dict(part).data.items()
                 if key.endswith(".conf")]
    if maps and len(found) != 1:
        raise Mistake(f"{conf}: the ConfigMap has {len(found)} keys of data that end in .conf; "
                      "allowed is one, such as volcano-scheduler.conf")
    return found[0][1] if found else text


def moment(text: str | None) -> float | None:
    """A time in seconds since 1970: of a day (UTC), or an hour of today. Raises `Mistake`.

    >>> moment("2026-01-01T13:00Z"), moment("13:30") % 86400, moment(None)
    (1767272400.0, 48600.0, None)
    """
    if text is None:
        return None
    today = datetime.now(UTC).date().isoformat()
    try:
        if text.isdigit() and len(text) > 6:  # seconds since 1970 are no hour of today
            raise ValueError(text)
        found = datetime.fromisoformat(text if "-" in text else f"{today}T{text}")
    except ValueError:
        raise Mistake(f'--now is "{text}"; allowed is a time such as 13:30 or '
                      "2026-01-01T13:30Z (UTC where no zone is named)") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def not_at_rest(cycle: Cycle) -> list[str]:
    """What is said of a cycle after which pods are still to be created."""
    return [] if cycle.rests else ["pods of jobs that were admitted in the last cycle are still to "
                                   "be created; --cycles rest runs up to "
                                   f"{MOST_CYCLES} cycles"]


def warnings_of(ssn: Session) -> list[str]:
    """What a configuration and its plugins say of themselves, fields that nothing reads, and
    amounts that cannot be had.
    """
    told = ssn.conf.warnings + ssn.warnings + ignored_fields(ssn)
    return told + [sentence for _, sentence in contradictions(ssn)]
