"""Names for users: a Volcano Job has its own name, not that of its PodGroup.

The controller names a Job's PodGroup "train-<uid>", a Deployment's "podgroup-<uid>"; users ask
about them by the Job's or the Deployment's name.

Volcano: none
"""

from collections import Counter
from collections.abc import Iterable

from volcano_lab.api import PENDING, JobInfo, objects as api
from volcano_lab.framework.session import Session
from volcano_lab.messages import NoSuch, gettext, near

SHORT = {"q": "queue", "vcjob": "job", "vj": "job", "pg": "podgroup", "po": "pod", "no": "node",
         "hn": "hypernode", "pc": "priorityclass", "deploy": "deployment", "sts": "statefulset",
         "ds": "daemonset", "rs": "replicaset", "ns": "namespace", "quota": "resourcequota",
         "pdb": "poddisruptionbudget", "pvc": "persistentvolumeclaim", "pv": "persistentvolume",
         "lws": "leaderworkerset", "sparkapp": "sparkapplication"}
"""kubectl's short names of kinds."""
KINDS = {"job": "job", "podgroup": "job", "deployment": "job", "pod": "pod", "queue": "queue",
         "node": "node"}
"""Kind in lower case -> what is found by it; beside them, kinds of owners are those of jobs."""
TEMPLATE_HASH, JOB_SET = "pod-template-hash", "jobset.sigs.k8s.io/jobset-name"
HIGHEST = 4
"""The most owners above an object."""


class Names:
    """The names of a session's jobs, pods and queues, and their lookup; a job is also found by the
    names of all owners that are among the `given` objects, such as the RayJob of its RayCluster.

    >>> from volcano_lab.cluster import Cluster
    >>> names = Names(Cluster().node("n1", cpu=4).queue("team").job("train", cpu=1).run().session)
    >>> names.find("train"), names.find("queue/team"), names.find("train-0")
    (('job', 'default/train'), ('queue', 'team'), ('pod', 'default/train-0'))
    """

    def __init__(self, ssn: Session, given: Iterable[api.KubernetesObject] = ()):
        above = {  # the kind and name of each object -> those of its owner
            (obj.kind, f"{space}/{obj.name}"): (ref.kind, f"{space}/{ref.name}")
            for obj in given for space in [obj.namespace or "default"]
            for ref in obj.metadata.owner_references}
        self._kinds = {kind.lower() for kind, _ in above.values()}
        self.above = {uid: _owners(job, above) for uid, job in ssn.jobs.items()}
        self.owned = owned = {uid: owner_key(job) for uid, job in ssn.jobs.items()}
        self.jobs = _called_by(ssn, owned)
        self.waiting = [uid for uid, job in ssn.jobs.items() if job.in_status(PENDING)]
        self.pods = {task.key: task.key for job in ssn.jobs.values() for task in job.tasks.values()}
        self.queues = {name: name for name in ssn.queues}
        self.nodes = ssn.nodes

    def called(self, uid: str) -> str:
        """Return a job's name as its author wrote it, with the namespace."""
        return self.jobs.get(uid, uid)

    def plainly(self, text: str) -> str:
        """Replace names of PodGroups in a text by those of their jobs."""
        for uid, name in self.jobs.items():
            if uid != name:
                text = text.replace(uid, name).replace(uid.partition("/")[2],
                                                       name.partition("/")[2])
        return text

    def find(self, name: str, kind: str = "") -> tuple[str, str]:
        """Return (what it is: "job", "pod", "queue" or, after `node/`, "node", its key).

        Raises `LookupError` with a sentence where no object, or more than one, has the name.
        """
        kinds = {what: keys for what, keys in self._by_kind().items()
                 if kind == what or (not kind and what != "node")}
        word, _, rest = name.partition("/")
        for wanted in (name, f"default/{name}"):
            for what, keys in kinds.items():
                if wanted in keys:
                    return what, keys[wanted]
        meant = self._meant(word) if rest else ""
        if meant and kind in ("", meant):
            return self.find(rest, meant)
        found = self._without_namespace(name, kinds)
        if len(found) == 1:
            return found.pop()
        if found:
            raise NoSuch("names.several", name=name, count=len(found),
                         names=sorted(f"{gettext(what)} {self.called(key)}" for what, key in found))
        if name in self.nodes and not kind:
            raise NoSuch("names.is_node", name=name)
        called = {"job": self.jobs.values(), "queue": self.queues, "pod": self.pods,
                  "node": self.nodes}
        known_here = [each for what in called if what in kinds for each in sorted(called[what])]
        raise NoSuch("names.no_such" + f".{kind}" * bool(kind), name=name,
                     near=near(name, known_here))

    def _meant(self, word: str) -> str:
        """Return what a kind before a slash finds; "" where it is no kind of the session."""
        owners = {kind.lower() for found in self.above.values() for kind in found.values()}
        known = dict.fromkeys(owners | self._kinds, "job") | KINDS
        return next((known[kind] for kind in kinds_meant(word) if kind in known), "")

    def _without_namespace(self, name: str, kinds: dict[str, dict[str, str]]
                           ) -> set[tuple[str, str]]:
        """Return the objects with a name in any namespace, also jobs with several PodGroups, and no
        pod beside the job that is named by it.
        """
        known = [(what, full, key) for what, keys in kinds.items() for full, key in keys.items()]
        known += [("job", owner, uid) for uid, owners in self.above.items() for owner in owners
                  if "job" in kinds and owner not in kinds["job"]]
        found = {(what, key) for what, full, key in known
                 if name and name in (full, full.partition("/")[2])}
        return found - {("pod", self.called(key)) for what, key in found if what == "job"}

    def groups(self, name: str) -> list[str]:
        """Return the PodGroups of a job, or of an owner, by its name. Raises `LookupError`."""
        uid = self.find(name, "job")[1]
        named = [each for each in self.above[uid].items()
                 if each[0].rpartition("/")[2] == name.rpartition("/")[2]]
        return sorted(other for other, owners in self.above.items()
                      if any(each in owners.items() for each in named)) or [uid]

    def beside(self, uid: str) -> list[str]:
        """Return all PodGroups of a job's owner, if it has others."""
        return sorted(other for other, owner in self.owned.items()
                      if owner == self.owned[uid] != self.jobs[uid])

    def _by_kind(self) -> dict[str, dict[str, str]]:
        """Return keys by name; an owner of several PodGroups maps to the first that waits, where
        owners of one kind alone have that name.
        """
        owners = {owned for found in self.above.values() for owned in found.items()}
        kinds = Counter(name for name, _ in owners)
        first = {owner: uid for uid in reversed([*self.waiting, *self.above])
                 for owner in self.above[uid] if kinds[owner] == 1}
        named = {uid: uid for uid in self.jobs} | {name: uid for uid, name in self.jobs.items()}
        waiting = {*self.waiting}
        jobs = first | {name: uid for name, uid in named.items()
                        if uid in waiting or first.get(name) not in waiting}
        return {"job": jobs, "pod": self.pods, "queue": self.queues,
                "node": {name: name for name in self.nodes}}


def kinds_meant(word: str) -> list[str]:
    """Return the kinds, in lower case, that a kubectl word may mean: a kind, a short name, one of
    them in the plural, or with its API group.

    >>> kinds_meant("vcjobs")[1], kinds_meant("RayClusters.ray.io")[1]
    ('job', 'raycluster')
    """
    name = word.lower().partition(".")[0]
    return [SHORT.get(each, each) for each in (name, name[:-1], name[:-2]) if each]


def owner_of(job: JobInfo) -> api.OwnerReference | None:
    """Return the PodGroup's owner."""
    references = job.pod_group.metadata.owner_references if job.pod_group is not None else []
    return next((ref for ref in references if ref.name and (
        ref.controller or len(references) == 1)), None)


def _owners(job: JobInfo, above: dict[tuple[str, str], tuple[str, str]]) -> dict[str, str]:
    """Return the names of all owners of a job, the highest first, each with its kind; where its
    PodGroup has none, those of its pods.
    """
    owner, found = owner_of(job), dict[str, str]()
    refs = [owner] if owner else [ref for task in job.tasks.values()
                                  for ref in task.pod.metadata.owner_references if ref.controller]
    for first in dict.fromkeys((ref.kind, f"{job.namespace}/{ref.name}") for ref in refs):
        line = [first]
        while line[-1] in above and len(line) <= HIGHEST:
            line.append(above[line[-1]])
        found |= reversed({name: kind for kind, name in line}.items())
    key, above_that = owner_key(job), {"ReplicaSet": "Deployment", "Job": "JobSet"}
    return found if key in found else {key: above_that[owner.kind] if owner else ""} | found


def _called_by(ssn: Session, owned: dict[str, str]) -> dict[str, str]:
    """Return how each job is called: by its owner or what created that, where no other job is; one
    without pods does not count beside one that has some.
    """
    owners = {uid: owner_of(job) for uid, job in ssn.jobs.items()}
    direct = {uid: f"{ssn.jobs[uid].namespace}/{owner.name}" if owner else uid
              for uid, owner in owners.items()}
    alike = {(pods, kind): Counter(names[uid] for uid, job in ssn.jobs.items()
                                   if job.tasks or not pods)
             for kind, names in enumerate((owned, direct)) for pods in (True, False)}
    return {uid: next((name for kind, name in enumerate((owned[uid], direct[uid]))
                       if alike[bool(job.tasks), kind][name] == 1
                       and (name == uid or name not in owned)), uid)
            for uid, job in ssn.jobs.items()}


def owner_key(job: JobInfo) -> str:
    """Return the namespace and name of the PodGroup's owner, or of the Deployment or JobSet that
    created this.
    """
    owner = owner_of(job)
    if owner is None:
        return job.uid
    labels = next((task.pod.metadata.labels for task in job.tasks.values()), {})
    name = owner.name.removesuffix(f"-{labels.get(TEMPLATE_HASH, '')}") if (
        owner.kind == "ReplicaSet") else owner.name
    return f"{job.namespace}/{labels.get(JOB_SET, name) if owner.kind == 'Job' else name}"
