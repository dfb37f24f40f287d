"""The cluster of lesson 11 in simulated time, and tables of what the scheduler and the API server
know of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from volcano_lab.cache.api_server import WatchEvent
from volcano_lab.cache.work_queue import WorkQueue
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import cluster_of, conf_text
from volcano_lab.course.kit.tracing import DataFrame, frame, logged
from volcano_lab.messages import gettext, log
from volcano_lab.server.conf_file import ConfFile
from volcano_lab.simulation import Faults, JobTemplate, Latencies, Simulation, every, poisson
from volcano_lab.simulation.history import History
from volcano_lab.simulation.measures import average, timed
from volcano_lab.simulation.watching import watched
from volcano_lab.trace.palette import COLORS, colors_of
from volcano_lab.widgets import pictures

JOB = "default/train-1"
SHOWN = ("bind refused", "bind timed out", "pod bound", "pod deleted", "pod lost", "node lost",
        "node back", "scheduler died", "job started", "job finished")
KNOWN = ("cache: pods with a node", "API server: pods with a node", "kubelets: pods that run")
FAULTY = {"scheduler died": KNOWN[0], **dict.fromkeys((*SHOWN[:2], "pod deleted"), KNOWN[1]),
          "node lost": KNOWN[2]}
HOUR = 3600
RECLAIM = conf_text("enqueue, allocate, reclaim", "gang, conformance",
                    "predicates, proportion, nodeorder")


def train(plan: Iterable[Sequence[Any]] = (), pods: int = 3, bind: float = 0.4,
          **given: Any) -> Simulation:
    """Two nodes of 4 CPUs; at second 1 the gang *train* comes, `pods` of 2 CPUs, all or none. A
    cycle every second.

    `plan` are faults as (second, kind), `bind` is the seconds that a bind request takes. Invariants
    are checked after every event.

    >>> sim = train()
    >>> _ = sim.run(until=5)
    >>> [task["in the cache"] for task in look(sim).to_dict("records")]
    ['Running', 'Running', 'Running']
    """
    gang = JobTemplate("train", pods=pods, cpu=2, run_time=10, at_once=True)
    return Simulation(Cluster().node("n1", cpu=4).node("n2", cpu=4), seed=3, check=True,
                      workload=[every(1, gang, count=1)], latencies=Latencies(bind=bind),
                      faults=Faults(plan=[list(entry) for entry in plan]), **given)


def reclaimed() -> Simulation:
    """A node of 4 CPUs that queue *a* holds, and a pod of queue *b* at second 6: one of a's pods
    is evicted.

    >>> sim = reclaimed()
    >>> _ = sim.run(until=7)
    >>> sorted(look(sim)["in the cache"])
    ['Pending', 'Releasing', 'Running']
    """
    web = JobTemplate("web", "a", pods=2, min_member=1, cpu=2, run_time=30, at_once=True)
    pod = JobTemplate("train", "b", cpu=2, run_time=5, at_once=True)
    return Simulation(Cluster().node("n1", cpu=4).queue("a").queue("b"), RECLAIM, check=True,
                      workload=[every(1, web, count=1), every(6, pod, count=1)],
                      latencies=Latencies(bind=0.4, evict=0.2, end=2.0))


def look(sim: Simulation) -> DataFrame:
    """A row a pod: its state in the scheduler's cache, what the API server says, and where a
    request for it is.
    """
    pipeline = sim.pipeline
    where = {context.task.uid: "channel" for context in pipeline.channel}
    where |= {context.task.uid: "bind request" for contexts in pipeline.in_flight.values()
              for context in contexts}
    where |= {task.uid: "evict request" for task, _ in pipeline.evictions}
    where |= {key.rpartition("/")[2]: "to be read again" for key in pipeline.errors.due}
    rows = []
    for job in sim.cache.jobs.values():
        for task in sorted(job.tasks.values(), key=lambda task: task.name):
            pod = sim.server.find("Pod", task.key)
            rows.append({"pod": task.name, "in the cache": str(task.status),
                         "node": task.node_name or "–", "on its way": where.get(task.uid, "–"),
                         "API server": "gone" if pod is None else pod.status.phase,
                         "node there": (pod.spec.node_name if pod is not None else "") or "–"})
    return frame(rows, "pod", ["pod", "in the cache", "node", "on its way", "API server",
                               "node there"])


def known(title: str, sim: Simulation, until: float) -> pictures.Picture:
    """Run until some seconds and draw what the cache, the API server and the kubelets know."""
    lanes = [{"name": name, "label": gettext(name), "color": color, "points": points,
              "marks": faults_of(sim, name)}
             for name, color, points in zip(KNOWN, COLORS, watched(sim, until), strict=False)]
    note = "×: a fault, where it strikes." if faults_of(sim, *KNOWN) else ""
    return pictures.timeline(title, {"lanes": lanes}, until=until, lane=24, width=760, legend=note)


def refused_way() -> pictures.Picture:
    """Draw the statuses of a pod whose first bind is refused."""
    placed = [["Pending", "Allocated", "allocate"], ["Allocated", "Binding", "commit"]]
    return pictures.states("The way of the refused pod", {"at": "Running", "way": [
        *placed, ["Binding", "Pending", "refused"], *placed, ["Binding", "Bound", "bind"],
        ["Bound", "Running", "start"]]})


def story(sim: Simulation) -> DataFrame:
    """What happened, in order.

    >>> sim = train([(1, "bind_refused")])
    >>> _ = sim.run(until=2)
    >>> story(sim)["what"].tolist()
    ['bind refused', 'pod bound', 'pod bound']
    """
    rows = [[time, what, name.removeprefix("default/"), detail]
            for time, what, name, detail in sim.history.rows["events"] if what in SHOWN]
    return frame(rows, "at second", ["at second", "what", "about", "detail"])


def events(sim: Simulation, about: str = "") -> DataFrame:
    """The events that `kubectl describe` would show, about objects whose name has this word, and
    how often each was written.

    >>> sim = train([(1, "bind_refused")])
    >>> _ = sim.run(until=1.5)
    >>> events(sim, "train-1-0")["reason"].tolist()
    ['FailedScheduling']
    """
    rows = [[name.replace("default/", ""), reason, message, count]
            for (name, _, reason, message), count in sim.pipeline.status.events.items()
            if about in name]
    return frame(rows, "about", ["about", "reason", "message", "times"])


def lines(sim: Simulation, until: float, level: int, *words: str) -> list[str]:
    """Lines of the log up to a level, from the first pod that is sent to be bound on: those with
    one of the words.

    >>> lines(train(), 1.1, 5, "train-1-0")[0]
    'V5 task default/train-1-0 waits to be bound to node n1'
    """
    written = logged(lambda: sim.run(until=until), level)
    start = next((number for number, line in enumerate(written) if "waits to be bound" in line), 0)
    return [line for line in written[start:] if any(word in line for word in words)]


def running(title: str, runs: Mapping[str, Simulation], until: float) -> pictures.Picture:
    """Run each until some seconds and draw how many pods run, a lane for each run; and dashed how
    many have a node in the cache.
    """
    lanes = []
    for name, sim in runs.items():
        cached, _, run = watched(sim, until)
        lanes.append({"name": name, "color": COLORS[0], "points": run, "line": cached,
                      "marks": faults_of(sim, *KNOWN)})
    return pictures.timeline(title, {"lanes": lanes}, until=until, lane=24, width=760,
                             legend="Full: pods that run. Dashed: pods that have a node in the "
                                    "cache. ×: a fault.")


def faults_of(sim: Simulation, *where: str) -> list[list[Any]]:
    """Return a mark for each fault of a run that strikes one of these, of `KNOWN`."""
    return [[at, "×"] for at, what, *_ in sim.history.rows["events"] if FAULTY.get(what) in where]


def writes(sim: Simulation) -> list[tuple[float, str]]:
    """A list that grows as the run goes on: the second and the kind of each object that is written
    again.
    """
    seen: list[tuple[float, str]] = []

    def watch(event: WatchEvent) -> None:
        if event.type == "MODIFIED":
            seen.append((sim.calendar.now, event.object.kind))

    sim.server.watchers.append(watch)
    return seen


def day(failures: bool = False) -> Simulation:
    """Three nodes of 8 CPUs for a day, a cycle every ten seconds; with `failures` 3 binds in 10
    fail, and nodes go and return.

    Queue *prod* (weight 3) gets a gang of 4 pods of 2 CPUs an hour, queue *lab* (weight 1) three
    jobs of 4 single CPUs.
    """
    gangs = JobTemplate("train", "prod", pods=4, cpu=2, run_time=("uniform", HOUR, 2.5 * HOUR))
    small = JobTemplate("scan", "lab", pods=4, min_member=1, cpu=1, run_time=("exponential", HOUR))
    wrong: dict[str, Any] = {"faults": Faults({"bind_refused": 0.3}),
             "node_failures": (("exponential", 3 * HOUR), HOUR)} if failures else {}
    return Simulation(cluster_of("11", "day"), seed=1, period=10, **wrong,
                      skip_idle=True, latencies=Latencies(collect=600),
                      workload=[poisson(1 / HOUR, gangs), poisson(3 / HOUR, small)])


def day_lanes(history: History, queues: Sequence[str] = ("prod", "lab"), nodes: bool = False
              ) -> dict[str, Any]:
    """The data of `pictures.timeline` for a day, in hours: what each queue holds, and dashed what
    it deserves; a mark where a node goes (×) or returns (+), or, with `nodes`, a lane of the CPUs
    of all nodes.

    >>> [lane["label"] for lane in day_lanes(day().run(until=HOUR))["lanes"]]
    ['prod, CPUs held', 'lab, CPUs held']
    """
    words = {"node lost": "×", "node back": "+"}
    marks = [[time / HOUR, words[what]] for time, what, *_ in history.rows["events"]
             if what in words and not nodes]

    def steps(rows: DataFrame, word: str) -> list[list[float]]:
        cpus = rows[word].fillna(0.0).round(2)
        kept = zip(rows["time"] / HOUR, cpus, cpus.diff().fillna(cpus), strict=True)
        return [[0.0, 0.0], *([hour, amount] for hour, amount, step in kept if step)]

    there = {"name": "nodes", "label": gettext("CPUs of all nodes"), "color": COLORS[-1],
             "points": steps(history.frame("cluster"), "all_cpu")}
    held, colors = dict(iter(history.frame("queues").groupby("queue"))), colors_of(queues)
    return {"lanes": [{"name": queue, "label": gettext("{queue}, CPUs held", queue=queue),
                       "color": colors[queue], "points": steps(held[queue], "allocated_cpu"),
                       "line": steps(held[queue], "deserved_cpu"),
                       "marks": marks if queue == queues[0] else []}
                      for queue in queues] + [there] * nodes}


def day_summary(history: History) -> dict[str, float]:
    """A day in numbers: how much was in use, how even, how long jobs waited, what was lost."""
    jobs = history.frame("jobs")
    wait = {row["queue"]: round(row["waiting_mean"] / 60) for row in history.measures("queues")}
    there, used = (24 * (average(timed(history, "cluster"), column) or 0.0)
                   for column in ("all_cpu", "used_cpu"))
    return {"CPU-hours of all nodes": round(there), "of these in use, %": round(100 * used / there),
            "prod waits, minutes": wait["prod"], "lab waits, minutes": wait["lab"],
            "jobs finished": int(jobs["finished"].count()), "pods lost": int(jobs["lost"].sum())}


def delays(failures: int) -> DataFrame:
    """Seconds of waiting after each failure in a row, as the queue of tasks to read again says."""
    queue = WorkQueue()
    return frame([{"failures in a row": number, "seconds": queue.retry("a pod", 0.0)}
                  for number in range(1, failures + 1)], "failures in a row")


def how_often(seen: Sequence[tuple[float, str]]) -> list[dict[str, Any]]:
    """How often each kind of object was written, and when last; of what `writes` has seen."""
    times = {kind: [second for second, each in seen if each == kind]
             for kind in ("PodGroup", "Pod", "Queue")}
    return [{"kind": kind, "written, times": len(seconds),
             "last at second": max(seconds, default=None)} for kind, seconds in times.items()]


def saved_files(*texts: str) -> list[dict[str, str]]:
    """What a scheduler that runs enqueue and allocate has in force after each version of its file
    was saved.

    >>> [row["in force"] for row in saved_files("enqueue, alocate", "enqueue")]
    ['enqueue, allocate', 'enqueue']
    """
    rows = []
    with TemporaryDirectory() as folder, log.quiet():
        path = Path(folder, "volcano-scheduler.conf")
        path.write_text('actions: "enqueue, allocate"')
        conf = ConfFile(path)
        for text in texts:
            path.write_text(f'actions: "{text}"')
            conf.load()
            rows.append({"the file says": text, "in force": ", ".join(conf.conf.actions),
                         "problem": conf.problem.split(path.name)[-1].lstrip(":\uff1a ") or "none"})
    return rows


def beside(**histories: History) -> list[dict[str, Any]]:
    """What `day_summary` says of several days, side by side."""
    days = {name.replace("_", " "): day_summary(history) for name, history in histories.items()}
    return [{"": name, **{day: said[name] for day, said in days.items()}}
            for name in next(iter(days.values()))]
