"""A folder of manifests, applied to a simulated API server as `kubectl apply` would.

Status, bindings, uids and creation times are the server's; the manifests decide everything else.
Each file is judged alone: one that is broken, or contradicts others, keeps its previous content,
and `problems` has the reason; `warnings` name what has no effect.
"""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup, Queue, VolcanoJob
from volcano_lab.cache.api_server import ApiServer
from volcano_lab.manifests import job_of, with_defaults
from volcano_lab.manifests.admission import admit
from volcano_lab.manifests.conf import scheduler_conf_of
from volcano_lab.manifests.files import SUFFIXES
from volcano_lab.manifests.loader import Loaded, ManifestError, load
from volcano_lab.messages import Message, gettext, one_line

Place = tuple[str, str]
Contents = dict[Path, list[KubernetesObject]]
THEIRS = ("uid", "creation_timestamp", "deletion_timestamp", "resource_version")
"""Fields of an object that the API server sets, not its file."""


class Folder:
    """The manifests of a folder (not of its subfolders); `problems` has a sentence for each file
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
        self._broken: dict[str, str] = {}
        self._objects: Contents = {}
        self._accepted: Contents = {}  # per file, objects that contradict no other file
        self._stamps: dict[Path, tuple[int, int, int]] = {}
        self._born: dict[Place, float] = {}
        self._wanted: dict[Place, KubernetesObject] = {}
        self._applied: dict[Place, KubernetesObject] = {}
        self._later: dict[str, list[Pod]] = {}  # per waiting PodGroup
        self._seen: set[str] = set()

    def read(self, again: bool = False) -> list[str]:
        """Read the changed files, or `again` all, and apply them; return their names.
        Pods of a Job are created once it is admitted, those of dependent tasks once their
        dependencies run, so call it after each cycle. Raises `NotADirectoryError`.
        """
        if not self.path.is_dir():
            raise NotADirectoryError(str(Message("folder.none", path=self.path)))
        try:
            stamps = {file: stamp(file) for file in sorted(self.path.iterdir())
                      if file.name.endswith(SUFFIXES) and not file.name.startswith(".")}
            files = {file: stamp for file, stamp in stamps.items() if stamp}
        except OSError as error:
            self.problems[""] = gettext("{path}: cannot be read ({strerror}); all stays",
                                        path=self.path, strerror=error.strerror)
            return []
        self.problems.pop("", None)
        changed = [file for file, stamp in files.items()
                   if again or self._stamps.get(file) != stamp]
        deleted = self._stamps.keys() - files.keys()
        self._stamps = files
        for file in deleted:
            self._objects.pop(file, None)
            self._broken.pop(file.name, None)
            self.warnings.pop(file.name, None)
        for file in changed:
            try:
                loaded = load(file)
            except Exception as error:  # one file must not affect the others
                self._broken[file.name] = gettext("{problem} (what the file said before stays)",
                                                  problem=_sentence(error, file))
            else:
                self._objects[file], self.warnings[file.name] = list(loaded), [
                    *map(str, loaded.warnings)]
                self._broken.pop(file.name, None)
        if changed or deleted or self._progress() != self._seen:
            self._apply()
        return sorted(file.name for file in {*changed, *deleted})

    def _progress(self) -> set[str]:
        """Return PodGroups of admitted Jobs, and pods on which tasks of Jobs may depend."""
        return {*self._admitted(self._later), *self._running()}

    def _admitted(self, groups: Iterable[str]) -> list[str]:
        found = {key: self.server.find("PodGroup", key) for key in groups}
        return [key for key, group in found.items()
                if group is not None and group.status.phase not in ("", "Pending")]

    def _running(self) -> set[str]:
        jobs = (obj for objects in self._objects.values() for obj in objects
                if isinstance(obj, VolcanoJob))
        if not any(task.depends_on for job in jobs for task in job.spec.tasks):
            return set()
        return {pod.key for pod in self.server.list("Pod") if pod.status.phase != "Pending"}

    def conf(self) -> str | None:
        """Return the scheduler's configuration from a ConfigMap among the manifests.

        Raises `ManifestError` where two of them differ.
        """
        return scheduler_conf_of(obj for objects in self._accepted.values() for obj in objects)

    def has(self, obj: KubernetesObject) -> bool:
        """Return whether the files say that an object exists, itself or by its owner."""
        return (obj.kind, obj.key) in self._applied

    def _apply(self) -> None:
        """Apply the objects of all files to the server, without those that contradict others."""
        self._seen = self._progress()
        changes = sorted((file for file in self._accepted.keys() | self._objects.keys()
                          if self._accepted.get(file) is not self._objects.get(file)),
                         key=lambda file: (self._stamps.get(file, ()), file))
        refused = self._accept(changes)
        while refused and len(refused) < len(changes):  # one may need an object of a later one
            changes = list(refused)
            refused = self._accept(changes)
        if refused:
            refused |= self._accept([])
        self.problems = {file.name: problem for file, problem in refused.items()} | self._broken
        for place, obj in self._wanted.items():
            if self._applied.get(place) != obj:
                self._put(obj, self._applied.get(place))
        for kind, key in sorted(self._applied.keys() - self._wanted.keys()):
            if self.server.find(kind, key) is not None:
                self.server.delete(kind, key)
        self._applied = self._wanted
        places = {(obj.kind, obj.key) for objects in self._objects.values() for obj in objects}
        self._born = {place: born for place, born in self._born.items() if place in places}

    def _accept(self, changes: list[Path]) -> dict[Path, str]:
        """Accept the current content of these files, all together or else each half; return the
        reasons for those that contradict accepted files.
        """
        files = sorted(self._accepted.keys() | self._objects.keys())
        now = {file: (self._objects if file in changes else self._accepted).get(file)
               for file in files}
        contents = {file: objects for file, objects in now.items() if objects is not None}
        try:
            wanted = self._complete(contents)
        except Exception as error:
            if len(changes) > 1:
                half = len(changes) // 2
                return self._accept(changes[:half]) | self._accept(changes[half:])
            file = changes[0] if changes else self.path
            there = file in self._objects or not changes
            return {file: gettext(
                "{file}: {problem} (what the file said before stays)" if there else
                "{file} is gone, but {problem} (what the file said before stays)", file=file,
                problem=_sentence(error, self.path))}
        self._accepted, self._wanted = contents, {(obj.kind, obj.key): obj for obj in wanted}
        self.warnings[""] = [*map(str, wanted.warnings)]
        return {}

    def _complete(self, contents: Contents) -> Loaded:
        """Return all wanted objects, with the defaults of a cluster. Raises `ManifestError`."""
        found: dict[Place, tuple[KubernetesObject, Path]] = {}
        for file, objects in contents.items():
            for obj in objects:
                place = (obj.kind, obj.key)
                if place in found:
                    raise ManifestError("folder.twice", kind=obj.kind, key=obj.key,
                                        name=found[place][1].name, name_2=file.name)
                born = obj.metadata.creation_timestamp
                if born is None:
                    born = self._born.setdefault(place, self.server.now())
                found[place] = obj.changed(metadata={"creation_timestamp": born}), file
        given = Loaded(obj for obj, _ in found.values())
        warnings = admit(given)
        world = with_defaults(given, self.server.list("Pod"))
        world.warnings += warnings
        self._later = {job_of(pods[0]): pods for pods in world.later.values() if pods}
        world += chain.from_iterable(self._later[key] for key in self._admitted(self._later))
        return world

    def _put(self, obj: KubernetesObject, before: KubernetesObject | None) -> None:
        known = self.server.find(obj.kind, obj.key)
        if known is None:
            self.server.create(obj)
            return
        obj = obj.changed(metadata={name: getattr(known.metadata, name) for name in THEIRS})
        if isinstance(obj, Pod) and not obj.spec.node_name:
            obj = obj.changed(spec={"node_name": known.spec.node_name})
        if isinstance(obj, Pod | PodGroup | Queue) and (
                getattr(before, "status", obj.status) == obj.status):
            obj = obj.evolve(status=getattr(known, "status", obj.status))
        self.server.update(obj)


def _sentence(error: Exception, where: Path) -> str:
    """Return an error as one sentence; an unexpected one with its type."""
    if isinstance(error, ManifestError):
        return "; ".join(error.problems)
    return one_line(gettext("{where}: cannot be used ({name}: {error})", where=where,
                            name=type(error).__name__, error=error))


def stamp(file: Path) -> tuple[int, int, int] | None:
    """Return a value that differs after each change of a file; None where it is missing, or no
    file.
    """
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if file.is_file() else None
