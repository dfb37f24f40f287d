"""The questions of a page about a user's own cluster: JSON in, JSON out.

The page of the site asks Python in a worker of the browser, a notebook's panel (`ask`) its kernel:
one message per question, so that the page stays responsive while a cycle runs.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from volcano_lab.api import in_units, quantity_text
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer, evidence
from volcano_lab.framework import ConfError, Session
from volcano_lab.manifests import ManifestError
from volcano_lab.messages import gettext
from volcano_lab.trace import Names, Row
from volcano_lab.trace.state import queues_of

SUMS = ("guarantee", "deserved", "allocated", "real_capability", "request")
SECONDS = 20.0
"""How many seconds changes of one job are searched."""


class Questions:
    """The answers to a page's questions about the cluster of some files.

    The first is {"ask": "open", "files": [names of manifests, of `kubectl get -o yaml|json`]}; the
    others are "why", "next" and "try" about that cluster, "lint", and of its lab "lab", "move" and
    "after".

    >>> import json
    >>> questions = Questions()
    >>> opened = questions.answer('{"ask": "open", "files": ["docs/cluster.yaml"]}')
    >>> [(row["job"], row["code"]) for row in json.loads(opened)["waiting"]]
    [('default/huge', 'overcommit_refuses')]
    >>> json.loads(questions.answer('{"ask": "why", "job": "b"}'))["error"][:33]
    'no job, pod or queue is called "b'
    """

    cluster: Cluster
    explainer: Explainer
    _lab: Any

    def __init__(self) -> None:
        self._remedies: dict[str, Iterator[Any]] = {}

    def answer(self, question: str) -> str:
        """Return the answer to a question, both as JSON; {"error": a sentence} where it fails."""
        asked = json.loads(question)
        answers: dict[str, Callable[[], Any]] = {
            "open": lambda: self.open(asked["files"]), "lint": self.lint,
            "why": lambda: self.why(asked["job"]), "next": lambda: self.next(asked["job"]),
            "try": lambda: self.tried(asked["args"]), "lab": self.lab,
            "move": lambda: self.moved(asked["what"]), "after": lambda: self.after(asked["job"])}
        try:
            found = answers[asked["ask"]]()
        except (ManifestError, ConfError, LookupError) as error:
            found = {"error": gettext(str(error))}
        return json.dumps(found)

    def open(self, files: Sequence[str]) -> Row:
        """Read the files and run the cluster to rest: the waiting jobs with the first line of
        `why`, those without pods last, and all jobs, queues and nodes.
        """
        self.cluster = Cluster.read(*files)
        self.explainer = self.cluster.explainer()
        ssn = self.explainer.session
        waiting = [{"job": each.about, "code": group.code, "text": gettext(each.head)}
                   for group in self.explainer.waiting() for each in group.answers]
        now, names = state(ssn), {row["job"] for row in waiting}
        return {"waiting": sorted(waiting, key=lambda row: row["code"] == "no_pods"),
                "runs": sum(row["job"] not in names for row in now["jobs"]),
                "plugins": ssn.conf.plugin_names(), **now}

    def lint(self) -> list[Row]:
        """Return the findings of `volcano-lab lint`, errors first."""
        return [{"level": each.level, "rule": each.rule, "text": gettext(str(each))}
                for each in self.cluster.lint()]

    def why(self, job: str) -> Row:
        """Return the answer of `volcano-lab why` for a job."""
        found = self.explainer.why(job)
        self._remedies[job] = iter(found.remedies_within(SECONDS))
        causes = [{"code": cause.code, "text": gettext(cause.text), "context": cause.context}
                  for cause in found.causes if cause.text]
        return {"head": gettext(found.head), "causes": causes, "page": found.page,
                "seeks": found.find_remedies is not None}

    def next(self, job: str) -> Row | None:
        """Return the next change that changes the answer, once found; None after the last one."""
        remedy = next(self._remedies.get(job, iter(())), None)
        return remedy and {"text": gettext(remedy.change), "effect": gettext(remedy.effect),
                           "args": remedy.args, "kubectl": remedy.kubectl}

    def tried(self, args: Sequence[str]) -> Row:
        """Return the cluster at rest, without and with a change (arguments of `what-if`)."""
        pairs = list(zip(args[::2], args[1::2], strict=True))
        found = self.cluster.what_if(
            *(text for word, text in pairs if word == "--set"),
            remove=[text for word, text in pairs if word == "--remove"])
        return {"before": state(found.before.session), "after": state(found.after.session)}

    def lab(self) -> Row:
        """Return the data of the lab of the cluster at rest, whose queues, jobs and limits can be
        moved.
        """
        from volcano_lab.widgets.cluster_lab import lab  # loads modules that a page may never need

        ssn = self.explainer.session
        self._lab = lab(Cluster(self.explainer.objects, ssn.conf),
                        resource=next(iter(resources(ssn)), "cpu"))
        return self._lab.get_state(["fixed", "shown"])

    def moved(self, what: Row) -> Row:
        """Return the lab's data after a move, an undo or a click of its page."""
        self._lab.set_state({"ask": what})
        return self._lab.get_state(["shown"])["shown"]

    def after(self, job: str) -> Row:
        """Return the first line of `why` without and with the moves in the lab."""
        changes = self._lab.changes()
        changed = self.cluster.changed(*changes).explainer() if changes else self.explainer
        before, after = (gettext(each.why(job).head) for each in (self.explainer, changed))
        return {"sets": changes, "before": before, "after": after}


def state(ssn: Session) -> Row:
    """Return jobs, queues and nodes after a cycle; amounts as numbers, those of queues with text.

    >>> found = state(Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1).run().session)
    >>> found["jobs"][0]["placed"], found["nodes"][0]["idle"]
    (2, [2])
    """
    called = Names(ssn).called
    jobs = [{"job": called(uid), "queue": job.queue, "pods": len(job.tasks),
             "minimum": job.min_available, "placed": placed, "promised": promised}
            for uid, job in ssn.jobs.items() for placed, promised, _ in (evidence.counts(job),)]
    names = resources(ssn)
    return {"jobs": jobs, "resources": names, "queues": list(_queues(ssn, names)),
            "nodes": list(_nodes(ssn, names))}


def resources(ssn: Session) -> list[str]:
    """Return the resources that jobs request, devices before cpu and memory."""
    asked = {name for job in ssn.jobs.values() for task in job.tasks.values()
             for name, amount in task.init_resreq if amount and name != "pods"}
    return sorted(asked, key=lambda name: (name in ("cpu", "memory"), name))


def _queues(ssn: Session, names: Sequence[str]) -> Iterator[Row]:
    for queue, row in queues_of(ssn).items():
        for name in names:
            amounts = {what: in_units(name, row[what].get(name, 0.0)) for what in SUMS}
            yield {"queue": queue, "parent": row["parent"], "weight": row["weight"],
                   "resource": name, **amounts, "text": {
                       what: quantity_text(name, amount) for what, amount in amounts.items()}}


def _nodes(ssn: Session, names: Sequence[str]) -> Iterator[Row]:
    for name, node in ssn.nodes.items():
        held: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(names))
        for task in node.tasks.values():
            queue = ssn.jobs[task.job].queue if task.job in ssn.jobs else ""
            for place, resource in enumerate(names):
                held[queue][place] += in_units(resource, task.resreq.get(resource)) or 0
        yield {"node": name, "held": held,
               "idle": [in_units(each, node.idle.get(each)) for each in names],
               "allocatable": [in_units(each, node.allocatable.get(each)) for each in names]}
