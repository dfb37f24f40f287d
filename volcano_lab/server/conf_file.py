"""A configuration that may change while the scheduler runs: from a file, or from a ConfigMap.

If a file can't be read or is refused, the last good configuration stays in force; before the first
one, Volcano's default.

Volcano: pkg/scheduler/scheduler.go (loadSchedulerConf, watchSchedulerConf)
"""

from collections.abc import Callable
from pathlib import Path

from volcano_lab.cache import Cache
from volcano_lab.framework import SchedulerConfiguration, load_conf
from volcano_lab.manifests import ManifestError, Reader
from volcano_lab.messages import OneSentence, gettext, log, one_line
from volcano_lab.scheduler import Scheduler


class ConfFile:
    """`conf` is the configuration in force and `text` its source; `problem` describes what is wrong
    with the file, "" if nothing.

    Without a path, `otherwise` returns the text, of a ConfigMap for example; None stands for
    Volcano's default. `report` is called with each new problem; unset, it is logged.

    >>> ConfFile(None).conf.actions
    ['enqueue', 'allocate', 'backfill']
    """

    def __init__(self, path: str | Path | None, report: Callable[[str], None] | None = None,
                 otherwise: Callable[[], str | None] = lambda: None):
        self.path, self.otherwise = None if path is None else Path(path), otherwise
        self.report = report or (lambda problem: log.error("%s", problem))
        self.text: str | None = None
        self.problem = ""
        self._read: str | None = None
        self.conf: SchedulerConfiguration = load_conf()
        self.load()

    def load(self, again: bool = False) -> bool:
        """Read the file, `again` also if it is unchanged; return whether the configuration in force
        changed.
        """
        try:
            text = self._given()
            if text == self._read and (text is None or not again):
                return False
            self._read = text
            conf = load_conf(text)
            ssn = Scheduler(Cache(), conf).run_once()  # its plugins check their arguments
        except OSError as error:
            self._read = None
            return self._broken(gettext("cannot be read ({strerror})", strerror=error.strerror))
        except OneSentence as error:
            self._read = None if isinstance(error, ManifestError) else self._read
            return self._broken("; ".join(str(error).splitlines()).rstrip("."))
        except Exception as error:  # a plugin may raise anything
            return self._broken(one_line(f"{type(error).__name__}: {error}"))
        self.problem, self.text, self.conf = "", text, conf
        for warning in conf.warnings + ssn.warnings:
            log.warning("%s: %s", self.where, warning)
        plugins = [option.name for tier in conf.tiers for option in tier.plugins]
        log.v(2, "configuration read: actions %s; plugins %s", ", ".join(conf.actions),
              ", ".join(plugins))
        return True

    @property
    def where(self) -> str:
        """The source of the configuration that was read."""
        return str(self.path or (gettext("the ConfigMap") if self._read is not None else
                                 gettext("Volcano's default")))

    def _given(self) -> str | None:
        """Return the text that is in force if it has no error."""
        if self.path is None:
            return self.otherwise()
        self.path.stat()  # a pattern is no file
        return Reader().text(self.path)

    def _broken(self, problem: str) -> bool:
        before = gettext("Volcano's default is in force" if self.text is None else
                         "the last good configuration stays in force")
        sentence = gettext("{where}: {problem}; {before}", problem=problem, before=before,
                           where=self.path or gettext("the ConfigMap"))
        if sentence != self.problem:
            self.report(sentence)
        self.problem = sentence
        return False
