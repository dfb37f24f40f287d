"""Planted bugs, one at a time, in a copy of the tree: which does the soak see, which do the tests?

Each mutant names a place by a piece of code (`after`) and what to replace the first time it comes
from there on. A piece that is no longer there, or is there more than once, ends the run: the list
is to be kept up to date with the code. Wanted: the soak sees nine of ten, the tests all.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attrs import define

ROOT = Path(__file__).parents[1]
TESTS = [*(f"tests/{room}" for room in
           ("cache", "framework", "simulation", "actions", "plugins", "api")),
         "tests/test_recorded.py"]


@define
class Mutant:
    """A bug: in the only file that has `after`, the first `old` from there on becomes `new`."""

    name: str
    after: str
    old: str
    new: str = "pass"

    def plant(self, tree: Path) -> str:
        """Change the copy of the tree; return the room. Raises `SystemExit`."""
        path, text = self.changed(tree)
        path.write_text(text, encoding="utf-8")
        return path.relative_to(tree).parts[1]

    def changed(self, tree: Path) -> tuple[Path, str]:
        """Return the file and its text with the bug. Raises `SystemExit` where the code is gone."""
        found = [(path, text) for path in sorted((tree / "volcano_lab").rglob("*.py"))
                 if self.after in (text := path.read_text(encoding="utf-8"))]
        if len(found) != 1 or found[0][1].count(self.after) != 1:
            raise SystemExit(f"mutant {self.name}: {self.after!r} is in {len(found)} files; "
                             "allowed is one place")
        path, text = found[0]
        start = text.index(self.after)
        if self.old not in text[start:]:
            raise SystemExit(f"mutant {self.name}: {self.old!r} does not follow {self.after!r}")
        mutated = text[:start] + text[start:].replace(self.old, self.new, 1)
        compile(mutated, str(path), "exec")
        return path, mutated


MUTANTS = [
    # statements and the session
    Mutant("discard goes forwards", "class Statement:", "reversed(self.operations)",
           "self.operations"),
    Mutant("discard skips the first operation", "class Statement:", "reversed(self.operations)",
           "reversed(self.operations[1:])"),
    Mutant("an eviction is undone to Pending", "class Evict(Operation)",
           "self._set(ssn, RUNNING)", "self._set(ssn, PENDING)"),
    Mutant("a commit leaves Allocated", "class Allocate(Operation)",
           "ssn.set_status(self.task, BINDING)"),
    Mutant("a refused allocation is not undone", "class Operation:", "self.undo(ssn)",
           'self.name == "evict" and self.undo(ssn)'),
    Mutant("a refused eviction is not undone", "class Operation:", "self.undo(ssn)",
           'self.name == "allocate" and self.undo(ssn)'),
    Mutant("undoing leaves the task on its node", "def unplace(", "node.remove_task(task)"),
    Mutant("undoing does not tell the plugins", "def unplace(", "ssn.fire_deallocate(task)"),
    Mutant("undoing keeps the node's name", "def unplace(",
           'task.node_name = task.job_', 'task.job_'),
    Mutant("an eviction does not tell the plugins", "class Evict(Operation)",
           "ssn.fire_deallocate(self.task)"),
    Mutant("an undone eviction does not tell the plugins", "class Evict(Operation)",
           "ssn.fire_allocate(self.task)"),
    Mutant("a placed task is not on its node", "def _place(ssn", "node.add_task(task)"),
    Mutant("an eviction is not counted on its node", "class Evict(Operation)",
           "node.update_task(self.task)"),
    Mutant("a direct allocation stays Allocated", "def allocate_directly(",
           "self.set_status(ready, BINDING)"),
    # the cache
    Mutant("the cache keeps an evicted task's status",
           "def evict(self, task: TaskInfo, reason: str) -> None:\n        \"\"\"A session",
           "job.update_task_status(known, RELEASING)"),
    Mutant("the cache does not count an eviction",
           "def evict(self, task: TaskInfo, reason: str) -> None:\n        \"\"\"A session",
           "node.update_task(known)"),
    Mutant("a refused bind keeps its status",
           "def add_bind_task(self, context: BindContext) -> None:\n        \"\"\"A session",
           "job.update_task_status(known, before)"),
    Mutant("a bind is not counted on the node",
           "def add_bind_task(self, context: BindContext) -> None:\n        \"\"\"A session",
           "node.add_task(known)"),
    Mutant("older news sets a binding pod back", "def _add_pod(", "known is not None", "False"),
    Mutant("a deleted pod stays on its node", "def delete_task(", "node.remove_task(task)"),
    Mutant("a lost node's pods are forgotten", "def _delete_node(",
           "self.gone_nodes[node.name] = self.nodes.pop(node.name)", "self.nodes.pop(node.name)"),
    Mutant("a node that returns does not count its pods", "def set_node(self, node: Node)",
           "self._account(task, put=True)"),
    Mutant("the informer takes older versions", "class Informer", "version < newest", "False"),
    Mutant("a failed bind is not compared", "def _failed(", "self.resync_task(task)"),
    Mutant("a failed eviction is not compared", "def process_evictions(",
           "self.resync_task(task)"),
    Mutant("a bind is sent twice", "def send(self, context", "self.channel.append(context)",
           "self.channel.extend([context, context])"),
    Mutant("an eviction is lost",
           "def evict(self, task: TaskInfo, reason: str) -> None:\n        \"\"\"A task is to be",
           "self.evictions.append((task, reason))"),
    Mutant("jobs that are gone stay", "def clean_up_jobs(", "del self.cache.jobs[uid]"),
    Mutant("the server lets a pod be bound again", "def bind(self, key: str, uid: str, node: str)",
           "if pod.spec.node_name:", "if False:"),
    Mutant("a snapshot shares its nodes' tasks with the cache",
           "def snapshot(self, table: NodeTable, row: int)", "dict(self.tasks)", "self.tasks"),
    Mutant("a snapshot leaves jobs out without a word", "def _left_out(self, job",
           "if job.pod_group is None:",
           "if job.priority > 500:\n            return 'x'\n        if job.pod_group is None:"),
    # jobs and nodes
    Mutant("a job's sum is not reduced", "def update_task_status(self, task: TaskInfo",
           "self.allocated = self.allocated - known.resreq"),
    Mutant("releasing is never reduced", "def _account(self", "if task.status == RELEASING:",
           "if task.status == RELEASING and put:"),
    Mutant("a gang is ready one task early",
           "def is_ready(self) -> bool:\n        \"\"\"Enough tasks",
           ">= self.min_available", "+ 1 >= self.min_available"),
    Mutant("a gang is promised one task early",
           "def is_pipelined(self) -> bool:\n        \"\"\"Enough tasks",
           ">= self.min_available", "+ 1 >= self.min_available"),
    # plugins
    Mutant("queues do not count what is freed",
           "    def on_deallocate(self, event: Event) -> None:\n        self._recount",
           "self._recount(event.task, Resource.sub)"),
    Mutant("proportion lets a queue have more than it deserves", "class Proportion(",
           "queue.is_open and attr.allocated.stays_within(attr.deserved, candidate.resreq)",
           "True"),
    Mutant("queues do not reserve for admitted jobs", "class QueueShares(",
           "attr.inqueue = attr.inqueue + reserved"),
    Mutant("proportion takes the fullest queue first", "class Proportion(",
           "self.queue_opts[left.uid].share - self.queue_opts[right.uid].share",
           "self.queue_opts[right.uid].share - self.queue_opts[left.uid].share"),
    Mutant("water-filling forgets the request", "def _step(claim",
           "capped.min_dimension_resource(claim.request, ZERO)", "capped"),
    Mutant("queues count on the leaf alone",
           "line = self.tree.line(self.ssn.jobs[task.job].queue)", "for attr in line:",
           "for attr in line[:1]:"),
    Mutant("capacity asks the leaf alone", "class Capacity(",
           "for attr in self.tree.line(queue.uid))", "for attr in self.tree.line(queue.uid)[:1])"),
    Mutant("queues reserve on the leaf alone", "reserved = job.deduct_sch_gated_resources(",
           "for attr in line:", "for attr in line[:1]:"),
    Mutant("a child's limit ignores its parent's", "def _limit_children(",
           "attr.real_capability, guarantees", "attr.real_capability * 2, guarantees"),
    Mutant("drf does not count what is freed", "class Drf(",
           "attr.allocated = attr.allocated.sub(request)"),
    Mutant("drf looks at CPU alone", "def dominant_share(allocated: Resource, total",
           "for name, amount in total:", "for name, amount in total[:1]:"),
    Mutant("gangs are always ready", "class Gang(",
           "job.is_ready() and job.check_task_ready()", "True or job.check_task_ready()"),
    Mutant("gangs ignore their roles", "class Gang(",
           "job.is_ready() and job.check_task_ready()", "job.is_ready()"),
    Mutant("gangs may be evicted below their minimum", "class Gang(", "left > job.min_available",
           "left > 0"),
    Mutant("low priority goes first", "class Priority(", "return -task.priority",
           "return task.priority"),
    Mutant("equal priority may be preempted", "class Priority(",
           "jobs[task.job].priority < claimant.priority",
           "jobs[task.job].priority <= claimant.priority"),
    Mutant("host ports are free for all", "def conflict(", "for address, protocol, port in wanted:",
           "for address, protocol, port in ():"),
    Mutant("node selectors are ignored", "class RequiredNodeAffinity",
           "not self.selector.matches(node.metadata.labels)", "False"),
    Mutant("the first plugin names the victims alone", "class Victims(",
           "victims = [task for task in victims if task.uid in uids]"),
    # actions
    Mutant("allocate does not discard", "def allocate_tasks(self",
           "        statement.discard()\n        return None", "        return None"),
    Mutant("allocate does not ask the queue", "def allocate_tasks(self",
           "not ssn.allocatable(ssn.queues[job.queue], task)", "False"),
    Mutant("allocate takes room that is not there", "def _place(self, statement",
           "fits_now = node.has_room(task.init_resreq)", "fits_now = True"),
    Mutant("enqueue asks nobody", "class Enqueue(", "or ssn.job_enqueueable(job)", "or True"),
    Mutant("reclaim commits whatever comes", "def _reclaim_for_job(", "if ssn.job_pipelined(job):",
           "if True:"),
    Mutant("reclaim takes from its own queue", "class Reclaim(",
           "if name != queue and other.reclaimable", "if other.reclaimable"),
    Mutant("reclaim takes from queues that forbid it", "class Reclaim(",
           "if name != queue and other.reclaimable", "if name != queue"),
    Mutant("preempt takes from other queues", "class Preempt(",
           " and jobs[other.job].queue == queue", ""),
    Mutant("preempt evicts one too many", "def _until_room(",
           "while left and not self._has_room(task, queue, node):", "while left:"),
    Mutant("backfill forgets the promise it takes back", "def _pick_up_pending_tasks(",
           "unplace(ssn, task)"),
    # the simulated cluster
    Mutant("a lost pod comes back with its old uid", "def _unborn(", 'uid="", '),
    Mutant("pods of a node that returns are not started", "def node_returns(",
           "self._expect(pod)"),
    Mutant("pods of a lost node stay", "def pods_collected(", 'self.server.remove("Pod", pod.key)'),
    Mutant("evicted pods never end", "def pod_ends(", 'self.server.remove("Pod", pod)'),
]


def outcome(mutant: Mutant | None, given: argparse.Namespace) -> tuple[str, str]:
    """Plant a bug (or none) in a copy of the tree; return what soak and tests say of it."""
    with tempfile.TemporaryDirectory(prefix="volcano-lab-mutant-") as folder:
        tree = Path(folder)
        for part in ("volcano_lab", "tests", "benchmarks", "pyproject.toml"):
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, tree / part)
        room = mutant.plant(tree) if mutant is not None else ""
        soak = ["benchmarks/soak.py", "--seeds", str(given.seeds), "--events", str(given.events),
                "--chance", str(given.chance)]
        tests = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow",
                 *sorted(TESTS, key=lambda path: not path.endswith(room))]  # the nearest first
        return tuple(_said(command, tree) if wanted else "" for command, wanted in
                     ((soak, "soak" in given.by), (tests, "tests" in given.by)))


def _said(command: list[str], tree: Path) -> str:
    """Run one of them; return "" where it found nothing, else the beginning of what it said."""
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = subprocess.run([sys.executable, *command], cwd=tree, env=environment,
                             capture_output=True, text=True, timeout=1800)
    except subprocess.TimeoutExpired:
        return "does not end"
    if run.returncode == 0:
        return ""
    lines = (run.stdout + run.stderr).strip().splitlines()
    told = [line for line in lines if "InvariantBroken: " in line or line.startswith("FAILED")]
    return (told or lines or ["fails"])[-1].replace(str(tree), "")[:150]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="of the soak")
    parser.add_argument("--events", type=int, default=600, help="of each seed")
    parser.add_argument("--chance", type=float, default=0.1, help="of each fault")
    parser.add_argument("--by", nargs="+", default=["soak", "tests"], choices=["soak", "tests"])
    parser.add_argument("--only", default="", help="mutants with this in their name")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if given.only in mutant.name]
    for mutant in MUTANTS:  # a list that is out of date is no use
        mutant.changed(ROOT)
    before = outcome(None, given)
    if any(before):
        print("without any bug:", *before)
        return 1
    caught = dict.fromkeys(given.by, 0)
    with ThreadPoolExecutor(given.jobs) as pool:
        for mutant, said in zip(chosen, pool.map(lambda m: outcome(m, given), chosen), strict=True):
            told = dict(zip(("soak", "tests"), said, strict=True))
            for by in given.by:
                caught[by] += bool(told[by])
            marks = ", ".join(f"{by} {'yes' if told[by] else 'NO '}" for by in given.by)
            print(f"{marks}  {mutant.name}: {told['soak'] or told['tests']}", flush=True)
    print(", ".join(f"{by} saw {count} of {len(chosen)}" for by, count in caught.items()))
    wanted = {"soak": 0.9, "tests": 1.0}
    return int(any(count < wanted[by] * len(chosen) for by, count in caught.items()))


if __name__ == "__main__":
    sys.exit(main())
