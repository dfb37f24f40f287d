"""A folder of manifests, applied to a simulated API server as `kubectl apply` would.

Status, bindings, uids and times of creation are the server's; the manifests decide everything else.
A file that is broken, whatever is wrong with it, keeps what it said before, and `problems` says
why; `warnings` say what has no effect.
"""

from pathlib import Path

import attrs

from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup, Queue, VolcanoJob
from volcano_lab.cache.api_server import ApiServer
from volcano_lab.framework import one_line
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.files import SUFFIXES
from volcano_lab.manifests.loader import ManifestError, load

Place = tuple[str, str]
THEIRS = ("uid", "creation_timestamp", "deletion_timestamp", "resource_version")
"""Fields of an object that the API server sets, not its file."""


class Folder:
    """The manifests of a folder (not of folders in it); `problems` has a sentence for each file
    that can't be used.

    >>> Folder("no-such-folder", ApiServer()).read()
    Traceback (most recent call last):
    ...
    NotADirectoryError: no-such-folder is no folder; allowed is a folder of manifests
    """

    def __init__(self, path: str | Path, server: ApiServer):
        self.path, self.server = Path(path), server
        self.problems: dict[str, str] = {}
        self.warnings: dict[str, list[str]] = {}
        self.changed: list[str] = []
        self._objects: dict[Path, list[KubernetesObject]] = {}
        self._stamps: dict[Path, tuple[int, int, int]] = {}
        self._born: dict[Place, float] = {}
        self._applied: dict[Place, KubernetesObject] = {}
        self._ran: set[str] = set()

    def forget(self) -> None:
        """Read every file anew the next time, changed or not."""
        self._stamps = dict.fromkeys(self._stamps, (0, 0, 0))

    def read(self) -> bool:
        """Read files that have changed and apply what they say; return whether anything had.

        Tasks that depend on others get their pods when those run, so call it after each cycle.
        Raises `NotADirectoryError`.
        """
        self.changed = []
        if not self.path.is_dir():
            raise NotADirectoryError(f"{self.path} is no folder; allowed is a folder of manifests")
        try:
            files = {file: stamp
                     for file in sorted(self.path.iterdir()) if file.name.endswith(SUFFIXES)
                     and not file.name.startswith(".") and (stamp := _stamp(file))}
        except OSError as error:
            self.problems[""] = f"{self.path}: cannot be read ({error.strerror}); all stays"
            return False
        changed = [file for file, stamp in files.items() if self._stamps.get(file) != stamp]
        gone = self._stamps.keys() - files.keys()
        self._stamps = files
        self.changed = sorted(file.name for file in {*changed, *gone})
        for file in gone:
            self._objects.pop(file, None)
            self.problems.pop(file.name, None)
            self.warnings.pop(file.name, None)
        for file in changed:
            self._read_file(file)
        if changed or gone or self._running() != self._ran:
            self._apply()
        return bool(changed or gone)

    def _running(self) -> set[str]:
        """Pods on which tasks of Jobs may depend."""
        jobs = (obj for objects in self._objects.values() for obj in objects
                if isinstance(obj, VolcanoJob))
        if not any(task.depends_on for job in jobs for task in job.spec.tasks):
            return set()
        return {pod.key for pod in self.server.list("Pod") if pod.status.phase != "Pending"}

    def _read_file(self, file: Path) -> None:
        try:
            loaded = load(file)
        except Exception as error:  # one file must not end the others
            self.problems[file.name] = f"{_told(error, file)} (what the file said before stays)"
        else:
            self._objects[file], self.warnings[file.name] = loaded.objects, loaded.warnings
            self.problems.pop(file.name, None)

    def _apply(self) -> None:
        """Make the server's objects what all files together say; where they contradict each other,
        nothing changes.
        """
        self.problems.pop("", None)
        try:
            wanted = self._wanted()
        except Exception as error:
            self.problems[""] = f"{_told(error, self.path)} (what the files said before stays)"
            return
        for place, obj in wanted.items():
            if self._applied.get(place) != obj:
                self._put(obj, self._applied.get(place))
        for kind, key in sorted(self._applied.keys() - wanted.keys()):
            if self.server.find(kind, key) is not None:
                self.server.delete(kind, key)
        self._applied = wanted

    def _wanted(self) -> dict[Place, KubernetesObject]:
        """Everything that there should be, with the defaults of a cluster. Raises `ManifestError`.
        """
        found: dict[Place, KubernetesObject] = {}
        for file, objects in self._objects.items():
            for obj in objects:
                place = (obj.kind, obj.key)
                if place in found:
                    raise ManifestError(
                        [f"{obj.kind} {obj.key} ({file}): another file has it, too; allowed is one "
                         "of a name"])
                born = obj.metadata.creation_timestamp
                if born is None:
                    born = self._born.setdefault(place, self.server.now())
                found[place] = obj.changed(metadata={"creation_timestamp": born})
        self._born = {place: born for place, born in self._born.items() if place in found}
        self._ran = self._running()
        complete = with_defaults(found.values(), self.server.list("Pod"))
        self.warnings[""] = complete.warnings
        return {(obj.kind, obj.key): obj for obj in complete}

    def _put(self, obj: KubernetesObject, before: KubernetesObject | None) -> None:
        known = self.server.find(obj.kind, obj.key)
        if known is None:
            self.server.create(obj)
            return
        obj = obj.changed(metadata={name: getattr(known.metadata, name) for name in THEIRS})
        if isinstance(obj, Pod) and not obj.spec.node_name:
            obj = obj.changed(spec={"node_name": known.spec.node_name})
        if isinstance(obj, Pod | PodGroup | Queue) and (before is None
                                                        or before.status == obj.status):
            obj = attrs.evolve(obj, status=known.status)
        self.server.update(obj)


def _told(error: Exception, where: Path) -> str:
    """Return an error as one sentence; what nobody has foreseen names itself."""
    if isinstance(error, ManifestError):
        return "; ".join(error.problems)
    return one_line(f"{where}: cannot be used ({type(error).__name__}: {error})")


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """What changes when a file does; None where it is gone already, or is no file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if file.is_file() else None
