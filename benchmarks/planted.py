"""The bugs that `mutants.py` plants, one at a time: where each goes, and what it changes there."""

from functools import lru_cache
from pathlib import Path

from attrs import define


@define
class Mutant:
    """A bug: in the only file that has `after`, the first `old` from there on becomes `new`. Of one
    that no decision depends on the soak sees nothing.
    """

    name: str
    after: str
    old: str
    new: str = "pass"
    by_soak: bool = True

    def plant(self, tree: Path) -> str:
        """Change the copy of the tree; return the module in it. Raises `SystemExit`."""
        path, text = self.changed(tree)
        path.write_text(text, encoding="utf-8")
        return str(path.relative_to(tree))

    def changed(self, tree: Path) -> tuple[Path, str]:
        """Return the file and its text with the bug. Raises `SystemExit` where the code is gone."""
        found = [(path, text) for path, text in _texts(tree) if self.after in text]
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


@lru_cache(maxsize=1)
def _texts(tree: Path) -> list[tuple[Path, str]]:
    return [(path, path.read_text(encoding="utf-8"))
            for path in sorted((tree / "volcano_lab").rglob("*.py"))]


MUTANTS = [
    # statements and the session
    Mutant("discard goes forwards", "class Statement:", "reversed(self.operations)",
           "self.operations"),
    Mutant("discard skips the first operation", "class Statement:", "reversed(self.operations)",
           "reversed(self.operations[1:])"),
    Mutant("an eviction is undone to Pending", "class Evict(Operation)",
           "self._set(ssn, states.RUNNING)", "self._set(ssn, states.PENDING)"),
    Mutant("a commit leaves Allocated", "class Allocate(Placement)",
           "ssn.set_status(self.task, states.BINDING)"),
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
    Mutant("a placed task is not on its node", "class Placement(Operation)", "node.add_task(task)"),
    Mutant("an eviction is not counted on its node", "class Evict(Operation)",
           "node.update_task(self.task)"),
    Mutant("a direct allocation stays Allocated", "def allocate_directly(",
           "self.set_status(ready, BINDING)"),
    # the cache
    Mutant("the cache keeps an evicted task's status",
           "def evict(self, task: TaskInfo, reason: str) -> None:\n        \"\"\"Evict a task:",
           "job.update_task_status(known, RELEASING)"),
    Mutant("the cache does not count an eviction",
           "def evict(self, task: TaskInfo, reason: str) -> None:\n        \"\"\"Evict a task:",
           "node.update_task(known)"),
    Mutant("a refused bind keeps its status",
           "def add_bind_task(self, context: BindContext) -> None:\n        \"\"\"Accept",
           "job.update_task_status(known, before)"),
    Mutant("a bind is not counted on the node",
           "def add_bind_task(self, context: BindContext) -> None:\n        \"\"\"Accept",
           "node.add_task(known)"),
    Mutant("older news sets a binding pod back", "def _add_pod(", "known is not None", "False"),
    Mutant("a deleted pod stays on its node", "def delete_task(", "node.remove_task(task)"),
    Mutant("a lost node's pods are forgotten", "def _delete_node(",
           "self.deleted_nodes[node.name] = self.nodes.pop(node.name)",
           "self.nodes.pop(node.name)"),
    Mutant("a node that returns does not count its pods", "def set_node(self, node: Node,",
           "self._account(task, put=True)"),
    Mutant("the informer takes older versions", "class Informer", "version < latest", "False"),
    Mutant("a failed bind is not compared", "def _failed(self", "self.resync_task(task)"),
    Mutant("a failed eviction is not compared", "def process_evictions(",
           "self.resync_task(task)"),
    Mutant("a bind is sent twice", "def send(self, context", "self.channel.append(context)",
           "self.channel.extend([context, context])"),
    Mutant("an eviction is lost",
           "def evict(self, task: TaskInfo, reason: str) -> None:\n        \"\"\"Queue a task",
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
           "def is_ready(self) -> bool:\n        \"\"\"Return whether",
           ">= self.min_available", "+ 1 >= self.min_available"),
    Mutant("a gang is promised one task early",
           "def is_pipelined(self) -> bool:\n        \"\"\"Return whether",
           ">= self.min_available", "+ 1 >= self.min_available"),
    # plugins
    Mutant("queues do not count what is freed",
           "class QueueShares(", "self._recount(event.task, Resource.sub)"),
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
           "self._recount(event.task, Resource.sub)"),
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
           "jobs[task.job].priority < jobs[preemptor.job].priority",
           "jobs[task.job].priority <= jobs[preemptor.job].priority"),
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
           "not ssn.allocatable(queue, task)", "False"),
    Mutant("allocate takes room that is not there", "def _place(self, statement",
           "fits_now = node.has_room(task.init_resreq)", "fits_now = True"),
    Mutant("enqueue asks no plugin", "class Enqueue(", "or ssn.job_enqueueable(job)", "or True"),
    Mutant("an attempt to evict is kept whatever comes", "class Attempts:",
           "if ssn.job_pipelined(job):", "if True:"),
    Mutant("reclaim takes from its own queue", "class Reclaim(",
           "if name != queue and other.reclaimable", "if other.reclaimable"),
    Mutant("reclaim takes from queues that forbid it", "class Reclaim(",
           "if name != queue and other.reclaimable", "if name != queue"),
    Mutant("preempt takes from other queues", "class Preempt(",
           " and jobs[other.job].queue == queue", ""),
    Mutant("preempt evicts one too many", "def _preempt_on(",
           "while in_order and not self._fits(task, queue, node):", "while in_order:"),
    Mutant("backfill forgets the promise it takes back", "def _pick_up_pending_tasks(",
           "unplace(ssn, task)"),
    # the simulated cluster
    Mutant("a lost pod comes back with its old uid", "def _pod_deleted(self, job", '"uid": ""',
           '"uid": pod.metadata.uid'),
    Mutant("pods of a node that returns are not started", "def node_returns(",
           '(self._expect if pod.status.phase == "Pending" else self.finishes_after)(pod)'),
    Mutant("pods of a lost node stay", "def pods_collected(", 'self.server.remove("Pod", pod.key)'),
    Mutant("evicted pods never end", "def pod_ends(", 'self.server.remove("Pod", pod)'),
    # functions drawn at random, by their size
    Mutant("queues are written before jobs", "opening.close_plugins(self)",
           "update_all(self)\n        update_queue_status(self)",
           "update_queue_status(self)\n        update_all(self)"),
    Mutant("a session's task is found by its name", "failed to find Job", ".get(task.uid)",
           ".get({each.key: each.uid for each in job.tasks.values()}.get(task.key))"),
    Mutant("yes and no change places in arrays", "return no if condition is False else",
           "(condition, yes, no)", "(condition, no, yes)"),
    Mutant("the common ancestor is one lower", "def level(self, left: str", " - 1, 0)", ", 0)"),
    Mutant("selected rows are in the table's order", "table = NodeTable(self.dimensions)",
           "rows, dtype", "sorted(rows), dtype"),
    Mutant("a parent requests what its last queue does", "attr.allocated, attr.request =",
           "attr.request + request", "request"),
    Mutant("without a default class a job has priority 1",
           "self.priority_classes: dict[str, api.PriorityClass] = {}", "priority = 0",
           "priority = 1"),
    Mutant("a dumped task is where its pod is", "task = cache.new_task(obj)", 'moved["node"]',
           "task.node_name"),
    Mutant("an unplaced pod stays for the predicates", "def on_deallocate(self, event: Event) "
           "-> None:\n        self._volumes", "self.kube.remove_pod(", "str("),
    Mutant("a taint to avoid counts where each node has one", "def untolerated_preferences(kube",
           "any(counts)", "all(counts)"),
    Mutant("predicates' reasons are not shown", "def nodes(self) -> dict[str, FitError]:",
           "{**written, **self.others}", "written"),
    Mutant("nodes change places in the lowest tier", "def _lowest(self)", "unique(around",
           "unique(sorted(around)"),
    Mutant("where the board has no node the search ends", "self._best_on_board(board, task",
           "if node is not None", "if board is not None"),
    Mutant("a bind does not move the task", "before = known.status",
           "job.update_task_status(known,", "setattr(known, 'status',"),
]


def elsewhere(*rows: tuple[str, ...]) -> list[Mutant]:
    """Bugs that the soak need not see."""
    return [Mutant(*row, by_soak=False) for row in rows]


MUTANTS += elsewhere(
    # amounts
    ("a scalar that is only taken is not counted", "def __sub__(self, other: Resource)",
     "scalars.get(name, 0.0) - amount", "scalars.get(name, amount) - amount"),
    ("the tolerance is one hair wider", "def less_equal(self", "amount - theirs[name] >= MIN",
     "amount - theirs[name] > 2 * MIN"),
    ("what is asked for at the limit does not fit", "def stays_within(",
     "self.milli_cpu + cpu > other", "self.milli_cpu + cpu >= other"),
    ("a larger scalar of the other is lost", "def max_of(", "max(amount, scalars.get(name, 0.0))",
     "scalars.get(name, amount)"),
    ("something of nothing is nothing", "def share_of(", "else 1.0", "else 0.0"),
    ("quantities are rounded down", "def _round_up(", "-(-abs(number.numerator) // "
     "number.denominator)", "abs(number.numerator) // number.denominator"),
    ("sidecars end with the init containers", "def sum_of_containers(", "add(amounts, sidecars)"),
    ("the smaller of two keeps a scalar without limit", "def min_dimension_resource(",
     "missing == INFINITY", "missing == ZERO"),
    # what is read
    ("the root may be reclaimed from", "def _queues_of_the_cluster(", '{"root": False',
     '{"root": True'),
    ("of two default classes the higher counts", "class FieldDefaults:", "min((cls for",
     "max((cls for"),
    ("a gang's least is that of its cheap tasks", "def min_resources(job: api.",
     "key=lambda task: -prior", "key=lambda task: prior"),
    ("partitions are numbered by pod", "def _pods(job: api.VolcanoJob", "index // size",
     "index % size"),
    ("any of several is all of them", "with `iteration: any`", "if any_will_do", "if False"),
    ("a deleted object stays in a life", "def _receive(self, obj: KubernetesObject",
     "self.objects.pop(place, None)"),
    # plugins' order
    ("jobs without a deadline go first", "until when a job may wait", "math.inf if",
     "-math.inf if"),
    ("jobs that can be preempted go first", "Keeps pods off revocable nodes",
     "return job.preemptable", "return not job.preemptable"),
    ("equal shares are no reason", "Job order and victims by dominant share",
     "if claim - dominant_share(left[task.job], self.total)[1] <= SHARE_DELTA:",
     "if claim < dominant_share(left[task.job], self.total)[1]:"),
    ("the nearest queue gives last", "def victim_queue_order(self, left: QueueInfo, right: "
     "QueueInfo, preemptor: QueueInfo) -> int:\n        \"\"\"Put first the queue",
     "self.tree.level(right.uid, preemptor.uid),\n                        "
     "self.tree.level(left.uid, preemptor.uid)",
     "self.tree.level(left.uid, preemptor.uid),\n                        "
     "self.tree.level(right.uid, preemptor.uid)"),
    ("the queue with the lower priority goes first", "branches of the tree that",
     "right.queue.spec.priority - left.queue.spec.priority",
     "left.queue.spec.priority - right.queue.spec.priority"),
    ("binpack scores what does not fit", "def _fullness(", "where(too_much, 0.0, ", "where(False, "
     "0.0, "),
    # explanations and traces
    ("a limit that is just reached is exceeded", "def over(some:",
     "amount > limit.get(name, 0.0)", "amount >= limit.get(name, 0.0)"),
    ("the fewest steps are one too many", "def smallest(", "return high", "return high + 1"),
    ("what is uncommitted comes last", "class Stepper", "under_way.insert(0, entry)",
     "under_way.append(entry)"),
    ("queues above keep their sums in a trace", "class Changes:",
     "(queue, *self._ancestors[queue])", "(queue,)"),
    # simulated time
    ("time is cut off, not rounded", "class Calendar", "round(min(seconds, NEVER) * TICKS)",
     "int(min(seconds, NEVER) * TICKS)"),
    ("an entry is in the past", "class Calendar", "max(round(min(seconds, NEVER) * TICKS), 0)",
     "round(min(seconds, NEVER) * TICKS)"),
    ("binding pods count as running", "Count pods that wait, are starting",
     "(BINDING, BOUND), (RUNNING,)", "(BINDING,), (RUNNING, BOUND)"),
    # commands
    ("differences end with 0", "def diff(a: str", "return FOUND if found", "return DONE if found"),
    ("a job that waits is none", "def run(files", "return FOUND if fail_on_pending",
     "return DONE if fail_on_pending"),
    ("a mistake ends with 0", "except OSError:  # the output is closed", "\n    return MISTAKE",
     "\n    return DONE"),
    ("Ctrl-C is a success", "except click.Abort:", "return INTERRUPTED", "return DONE"),
    ("lint's errors are warnings", "def lint(files", "return FOUND if found.errors",
     "return FOUND if found.errors > 1"),
    ("a file that comes back unchanged stays broken", "class ConfFile:", "self._read = None\n"
     "            return self._broken(gettext(\"cannot", "return self._broken(gettext(\"cannot"),
    # by a stranger
    ("an hour's last second is outside", "def closed_because(", "% DAY <= end", "% DAY < end"),
    ("a percentage is rounded down", "def number_or_percent(", "math.ceil(", "math.floor("),
    ("no pod to spare is none given", "def max_evictions(", "if spare >= 0", "if spare > 0"),
    ("a revocable zone is emptied too often", "class Tdm(", "self.evict_period > self.ssn.now",
     "self.evict_period < self.ssn.now"),
    ("at its deadline a job still waits", "class Sla(", "self.ssn.now < deadline",
     "self.ssn.now <= deadline"),
    ("the emptier bucket goes first", "class TaskTopologyPlugin(",
     "len(right_bucket.tasks) - len(left_bucket.tasks)",
     "len(left_bucket.tasks) - len(right_bucket.tasks)"),
    ("foes draw", "def _bucket_score(", "+ driven_off", "- driven_off"),
    ("buckets do not count what is freed", "return offered + node.idle",
     " + node.releasing", ""),
    ("the largest volume is taken", "class Volumes:", "key=stored.size)",
     "key=stored.size)[::-1]"),
    ("a volume of just the size is too small", "def suits(", ">= size(claim)", "> size(claim)"),
    ("two claims have one volume", "def _unbound_on(",
     "{volume.name for volume, _ in found if volume is not None}", "set()"),
    ("volumes are not given back", "def release(self",
     "self.storage.restore(obj.kind, obj.key)", "pass"),
    ("any access mode will do", "def free(self, claim", "and modes <= set(", "and set() <= set("),
    ("a volume that is kept may be elsewhere", "def _first(self, kept",
     "return volume if self.volumes.reaches(volume)[row] else None", "return volume"),
    ("reclaim evicts all that it may", "class Reclaim(",
     "if task.init_resreq.less_equal(available, ZERO):\n                break", "pass"),
    ("an overused queue reclaims", "class Reclaim(", "if ssn.overused(queue):", "if False:"),
    ("who never preempts reclaims", "class Reclaim(", "if evictions.never_preempts(task):",
     "if False:"),
    ("a queue deserves less than its guarantee", "class Capacity(", "INFINITY), attr.guarantee)",
     "INFINITY), attr.deserved)"),
    ("queues above are ordered again", "class Capacity(", "for attr in line[:1]:",
     "for attr in line:"),
    ("binpack looks at what is used alone", "def _fullness(", "used[key] + amount", "used[key]"),
    ("a budget is spent to the last but one", "allowed = [budget.status.disruptions_allowed",
     "allowed[number] >= 0", "allowed[number] > 0"),
    ("a quota that is just reached is passed", "def exceeded(", "> hard[name]", ">= hard[name]"),
    ("quotas forget who was let in", "quotas = {namespace: sorted(",
     "add(pending, requested)", "pass"),
    ("overcommit forgets who was let in", "fits, names = asked.less_equal_with_dimension_and_"
     "resources_name(self.idle_resource, least)",
     "self.inqueue_resource = self.inqueue_resource + job", "job"),
    ("a cooldown ends a moment late", "class CooldownProtection",
     "cooled(task.pod) <= self.ssn.now", "cooled(task.pod) < self.ssn.now"),
    ("disliked groups are forbidden", "def allow(self, group: str)", "return True", "return False"),
    ("a branch's weight is turned around", "class Hierarchy:",
     "mine.share / mine.weight", "mine.share * mine.weight"),
    ("the incoming pod is not counted", "class SpreadState", "int(c.selector.matches(info.labels))",
     "0"),
    ("too few domains are enough", "class SpreadState", "0 < len(in_domains) >= c.min_domains",
     "len(in_domains)"),
    ("changed nodes are forgotten by HyperNodes", "def set_node(self, name: str, labels",
     "self._touched.add(name)", "pass"),
    ("latencies are in seconds", "def _observe(", "observe(seconds * 1000)", "observe(seconds)"),
    ("refused binds are counted", "def attach(self, pipeline", "if not error:", "if True:"),
    ("facts are put in before a text is looked up", "def gettext(", "get(text, text)",
     "get(text.format(**facts), text)"),
    ("half an answer is whole", "def _read(self, answer: Any)", "number != int(number)", "False"),
    ("one letter is an answer", "def _means(", "len(words) > 2", "len(words) > 0"),
    ("what differs least is said first", "class Amounts:", "key=lambda name: -abs(",
     "key=lambda name: abs("),
    ("an entry is not added behind a list", "def edited(part", "int(step) > len(part)",
     "int(step) >= len(part)"),
    ("a Job's pods stay without it", "def with_children(", "(obj.kind,", '("",'),
    ("files are not counted together", "class Reader:\n    \"\"\"Reads texts",
     "self.left -= len(data)", "self.left = self.most - len(data)"),
    ("what is merged in wins", "def entries(node", "if key not in found}", "}"),
    ("a sweep does all of it again", "def sweep(base", " if number not in done]", "]"),
    ("a range ends one too soon", "def _column(text", "int(span[2]) + 1", "int(span[2])"),
    # functions drawn at random, by their size
    ("deleted volumes are not noticed", "getattr(self.storage, verb)(obj)", "= True",
     '= verb == "add"'),
    ("what was undone counts once more", "row, info, sign = seen.change", "-sign", "sign"),
    ("only the first group's roles are checked", "for key, named in groups.items():",
     "key, named)", "key, named[:1])"),
    ("tasks without a bucket go first", "if left_bucket is None or right_bucket is None:",
     "(left_bucket is None) - (right_bucket", "(right_bucket is None) - (left_bucket"),
    ("a HyperNode keeps what is removed", "for name, amount in request.items:", "sign * amount",
     "amount"),
    ("patterns are found at the start alone", "def __init__(self, pattern", ".search", ".match"),
    ("a sub-group without a size needs no pod", "super().__init__(1 if policy", "(1 if", "(0 if"),
    ("the container's port is taken on the node", "sidecars + pod.spec.containers",
     "port.host_port) for", "port.container_port) for"),
)
