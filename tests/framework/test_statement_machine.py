"""Statements in any order, over every sum that follows them: after each step the session equals one
that is built from scratch in that state.

A step does something in one of several open statements, ends one, saves and recovers one, or goes
without a statement; commits may be refused by the cache. A statement may place a task and evict it
again, which is where the order of undoing matters.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress

import pytest
from hyper_scene import hyper_node
from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from rebuilt import held, rebuilt, seen_by, shares, tasks_of
from small_cluster import NOW, group, node, pod, queue

from volcano_lab.api.node import NodeError, NodeInfo
from volcano_lab.api.panics import Panic, panics_stop
from volcano_lab.api.status import BOUND, PENDING, RUNNING
from volcano_lab.cache import Cache
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.plugin import Plugin
from volcano_lab.framework.registry import registered
from volcano_lab.framework.session import Session
from volcano_lab.framework.statement import Statement, StatementError, save_operations, unplace
from volcano_lab.messages import log
from volcano_lab.plugins.drf import Drf
from volcano_lab.scheduler import actions, plugins

assert actions and plugins  # importing them registers the built-in ones

COMMON = """\
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: nodeorder
  - name: binpack
  - name: network-topology-aware
  - name: resource-strategy-fit
  - name: stubborn
"""
CONFS = {
    "flat": COMMON + "  - name: drf\n  - name: proportion\n",
    "tree": COMMON + "  - name: drf\n  - name: capacity\n    enableHierarchy: true\n",
    "hierarchical drf": COMMON + "  - name: drf\n    enableHierarchy: true\n",
}
REQUESTS = ((("cpu", "1"), ("memory", "1Gi")), (("cpu", "1500m"),),
            (("cpu", "1"), ("nvidia.com/gpu", "1")), ())


def tree_of_queues():
    places = {"root": "", "eng": "", "dev": "eng", "ops": "eng", "art": ""}
    paths = {"dev": ("root/eng/dev", "1/2/3"), "ops": ("root/eng/ops", "1/2/1"),
             "art": ("root/art", "1/1")}
    for name, parent in places.items():
        path, weights = paths.get(name, ("root", "1"))
        notes = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
        yield queue(name, notes, parent=parent, deserved={"cpu": "4", "memory": "8Gi"})


def _near_web(**affinity):
    return {"labelSelector": {"matchLabels": {"role": "web"}}, "topologyKey": "host", **affinity}


KINDS = {
    "plain": {},
    "port": {},  # its own host port: free when the first pod with it is removed
    "near": {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 5, "podAffinityTerm": _near_web()}]}}},
    "spread": {"topologySpreadConstraints": [
        _near_web(maxSkew=1, whenUnsatisfiable="DoNotSchedule")]},
}
GUARD = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_near_web()]}}
PODS = st.tuples(st.sampled_from(["", "", "n0", "n1", "n2"]),
                 st.sampled_from(["Running", "Pending"]),
                 st.sampled_from(REQUESTS), st.sampled_from(["web", "db"]),
                 st.sampled_from(sorted(KINDS)))
JOBS = st.lists(st.tuples(st.sampled_from(["dev", "ops", "art"]),
                          st.lists(PODS, min_size=1, max_size=4)), min_size=2, max_size=4)


def objects_of(jobs):
    """Three nodes in two HyperNodes, a tree of queues, gangs of waiting and running pods; on n0
    stands a pod that keeps pods of role "web" away.
    """
    objects = [*tree_of_queues(), group("guard", "art"),
               pod("guard-0", "guard", "n0", affinity=GUARD)]
    objects += [node(f"n{n}", "4", labels={"host": f"n{n}"},
                     **({"nvidia.com/gpu": "2"} if n else {})) for n in range(3)]
    objects += [hyper_node("s0", 1, "node:n0", "node:n1"), hyper_node("s1", 1, "node:n2")]
    for job, (home, pods) in enumerate(jobs):
        objects.append(group(f"j{job}", home))
        objects += [pod(f"j{job}-p-{number}", f"j{job}", place, phase if place else "",
                        requests=dict(request), labels={"role": role},
                        host_port=8000 + 10 * job + number if kind == "port" else 0, **KINDS[kind])
                    for number, (place, phase, request, role, kind) in enumerate(pods)]
    return objects


class RefusingCache(Cache):
    """A cache that refuses while a flag is set."""

    refuse = False

    def evict(self, task, reason):
        if self.refuse:
            raise NodeError("refused for the test")
        super().evict(task, reason)

    def add_bind_task(self, context):
        if self.refuse:
            raise NodeError("refused for the test")
        super().add_bind_task(context)


class Stubborn(Plugin):
    """A plugin whose handler fails while a flag is set."""

    fails = False

    def on_allocate(self, event):
        if self.fails:
            event.error = "cannot follow"


class StatementMachine(RuleBasedStateMachine):
    """`owners` says which open statement works on a task; no other may touch it meanwhile."""

    statements = Bundle("statements")

    @initialize(jobs=JOBS, conf=st.sampled_from(sorted(CONFS)))
    def open(self, jobs, conf):
        self.objects = objects_of(jobs)
        self.cache = RefusingCache(self.objects)
        self.ssn = Session(self.cache, load_conf(CONFS[conf]), now=NOW)
        self.owners: dict[str, Statement] = {}
        self.waiting = [t.uid for t in tasks_of(self.ssn) if t.status == PENDING]

    def some(self, data, *statuses, statement=None):
        """A task in one of some statuses that is free or the statement's own, or None."""
        tasks = [t for t in tasks_of(self.ssn) if t.status in statuses and t.job != "default/guard"
                 and self.owners.get(t.uid) in (None, statement)]
        return data.draw(st.sampled_from(tasks), label="task") if tasks else None

    def ended(self, statement):
        self.owners = {uid: owner for uid, owner in self.owners.items() if owner is not statement}

    # -- doing -----------------------------------------------------------------------------------

    @rule(target=statements)
    def begin(self):
        return self.ssn.statement()

    @rule(statement=statements, data=st.data(), pipeline=st.booleans(), fails=st.booleans())
    def place(self, statement, data, pipeline, fails):
        self.put(statement, data, pipeline, fails)

    def put(self, statement, data, pipeline, fails=False):
        task = self.some(data, PENDING, statement=statement)
        if task is None:
            return None
        node = data.draw(st.sampled_from(self.ssn.node_list), label="node")
        task.job_allocated_hyper_node = data.draw(st.sampled_from(["", "s0"]), label="near")
        if fails:
            self.ssn.plugins["stubborn"].fails = True
            with pytest.raises(StatementError, match="cannot follow"):
                statement.allocate(task, node)
            self.ssn.plugins["stubborn"].fails = False
            unplace(self.ssn, task)
            return None
        if pipeline:
            statement.pipeline(task, node.name, True)
        else:
            statement.allocate(task, node)  # beyond its idle amount, too: the cache will refuse
        self.owners[task.uid] = statement
        return task

    @rule(statement=statements, data=st.data(), copied=st.booleans())
    def evict(self, statement, data, copied):
        task = self.some(data, RUNNING, BOUND, statement=statement)
        if task is not None:
            statement.evict(task.clone() if copied else task, "for a test")
            self.owners[task.uid] = statement

    @rule(statement=statements, data=st.data(), pipeline=st.booleans())
    def place_and_evict(self, statement, data, pipeline):
        task = self.put(statement, data, pipeline)
        if task is not None:
            statement.evict(task.clone(), "for a test")

    # -- ending ----------------------------------------------------------------------------------

    @rule(statement=consumes(statements))
    def discard(self, statement):
        statement.discard()
        self.ended(statement)

    @rule(statement=consumes(statements), refuse=st.booleans())
    def commit(self, statement, refuse):
        """Only what actions could commit: no task twice."""
        uids = [operation.task.uid for operation in statement.operations]
        if len(set(uids)) < len(uids):
            return self.discard(statement)
        self.cache.refuse = refuse
        statement.commit()
        self.cache.refuse = False
        self.ended(statement)

    @rule(target=statements, statement=consumes(statements))
    def save_discard_and_recover(self, statement):
        done, saved, again = held(self.ssn), save_operations(statement), self.ssn.statement()
        statement.discard()
        self.compare()
        again.recover(saved)
        assert held(self.ssn) == done
        self.owners = {uid: again if owner is statement else owner
                       for uid, owner in self.owners.items()}
        return again

    # -- without a statement -----------------------------------------------------------------------

    @precondition(lambda self: not self.owners)
    @rule(data=st.data(), refuse=st.booleans())
    def evict_directly(self, data, refuse):
        task, self.cache.refuse = self.some(data, RUNNING), refuse
        if task is not None:
            with pytest.raises(StatementError) if refuse else nullcontext():
                self.ssn.evict_directly(task, "for a test")
        self.cache.refuse = False

    @precondition(lambda self: not self.owners)
    @rule(data=st.data())
    def allocate_directly(self, data):
        task = self.some(data, PENDING)
        if task is None:
            return
        node = data.draw(st.sampled_from(self.ssn.node_list), label="node")
        with suppress(StatementError):  # the node is full: then the task stays Allocated
            self.ssn.allocate_directly(task, node)

    # -- after each step ---------------------------------------------------------------------------

    @invariant()
    def compare(self):
        fresh = rebuilt(self.ssn, self.objects)
        for of in (held, lambda ssn: seen_by(ssn, self.waiting)):
            mine, theirs = of(self.ssn), of(fresh)
            for part in mine:
                assert mine[part] == theirs[part], part
        for name, (kept, due) in shares(self.ssn).items():
            assert kept == due, name


QUICK = settings(max_examples=25, stateful_step_count=20, deadline=None,
                 suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True)
def stubborn():
    with registered(plugin={"stubborn": Stubborn}), log.quiet():
        yield


@pytest.mark.long
def test_the_session_always_equals_one_that_is_built_from_scratch():
    run_state_machine_as_test(StatementMachine, settings=QUICK)


def undo_in_order(statement):
    for operation in statement.operations:
        operation.undo(statement.ssn)


def forget_to_note(account):
    """A node's account that changes the amounts without an entry for readers."""

    def accounting(node, task, put):
        changes = list(node.table.changes)
        account(node, task, put)
        node.table.changes[:] = changes

    return accounting


BUGS = {
    "undone in the order of doing": (Statement, "discard", lambda _: undo_in_order),
    "a lost task still counts in drf": (Drf, "on_deallocate", lambda _: lambda self, event: None),
    "a change of a node that is not noted": (NodeInfo, "_account", forget_to_note),
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_the_machine_finds(bug, monkeypatch):
    owner, name, broken = BUGS[bug]
    monkeypatch.setattr(owner, name, broken(getattr(owner, name)))
    with pytest.raises((AssertionError, ExceptionGroup, Panic)), panics_stop():
        run_state_machine_as_test(StatementMachine, settings=settings(
            QUICK, max_examples=1000, phases=[Phase.generate], database=None))
