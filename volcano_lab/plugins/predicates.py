"""predicates: which nodes a pod may be placed on, by Kubernetes' own rules.

A node is checked in this order: the number of its pods; node affinity, cordons and taints (the
*stable* rules, which no placement changes); pod affinity, host ports and topology spread. A rule
that evictions cannot change ends the check; other reasons are collected. Rules of one kind run by
name.

`pre_predicate` checks the whole cluster once for a task. A rule with nothing to check is skipped
for that task for the rest of the session, even if a later check would have found something: Volcano
never revokes a skip.

Volumes are checked where the cluster has any volume object (claim, volume, StorageClass, CSINode);
Volcano does not check whether a ReadWriteOncePod volume is in use. Dynamic resource allocation is
not modelled. Differs on purpose: `predicate_nodes` answers for all nodes at once.

Volcano: pkg/scheduler/plugins/predicates
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from volcano_lab.api import UNRESOLVABLE, FitError, NodeInfo, TaskInfo, node_affinity, taints
from volcano_lab.api.fit_error import ABORT_CODES, ERROR, SUCCESS, UNSCHEDULABLE, Status
from volcano_lab.api.status import ALLOCATED
from volcano_lab.framework import ByRow, Event, Plugin, Session
from volcano_lab.framework.points.table import State
from volcano_lab.plugins.kube import (
    inter_pod_affinity,
    node_ports,
    topology_spread,
    volume_binding,
    volume_limits,
)
from volcano_lab.plugins.kube.inter_pod_affinity import AffinityState
from volcano_lab.plugins.kube.node_pods import KubeNode, kube_nodes
from volcano_lab.plugins.kube.pod_info import PodInfo
from volcano_lab.plugins.kube.volume_binding import ClaimsState

TEMPLATE_UID = "volcano.sh/template-uid"
CACHE_ENABLE = "predicate.CacheEnable"
CACHED_REFUSAL = "plugin equivalence cache predicates failed"
ALLOCATED_TO = "allocated to"
TOO_MANY_PODS = "node(s) pod number exceeded"
SKIPPED = "skipped predicates"
"""Key of a task's cycle state with the names of the rules that are skipped for it."""

PRE_FILTERS = {inter_pod_affinity.NAME: inter_pod_affinity.pre_filter,
               node_ports.NAME: node_ports.pre_filter,
               topology_spread.NAME: topology_spread.pre_filter}
VOLUME_PRE_FILTERS = {volume_binding.NAME: volume_binding.pre_filter,
                      volume_limits.LIMITS: volume_limits.pre_filter_limits,
                      volume_limits.ZONE: volume_limits.pre_filter_zones}
"""Rule name -> cluster-wide check, for rules whose answer changes with placements."""

RULES = (node_affinity.NAME, taints.NAME, *PRE_FILTERS, *VOLUME_PRE_FILTERS)


class Predicates(Plugin):
    """Kubernetes' placement rules; `predicate.…Enable` arguments disable single ones."""

    name = "predicates"

    def on_session_open(self, ssn: Session) -> None:
        switch, storage = self.arguments.get_bool, ssn.snapshot.storage
        # PodAffinityEnable enables InterPodAffinity
        self.enabled = frozenset(rule for rule in RULES if switch(
            f"predicate.{rule.removeprefix('Inter')}Enable", True))
        self.cache_enabled = switch(CACHE_ENABLE, False)
        self.kube = kube_nodes(ssn)
        self.in_use = any(option.name == self.name and option.enables("enablePredicate")
                            for tier in ssn.conf.tiers for option in tier.plugins)
        self.pod_limit = np.array([int(node.allocatable.get("pods")) for node in ssn.node_list],
                                  np.int64)
        self._nothing = ByRow(lambda row: 0.0, lambda: np.zeros(len(self.kube.nodes)))
        self.cache: dict[tuple[str, str], bool] = {}
        self.has_volumes = bool(storage)
        checks = PRE_FILTERS | {rule: partial(check, storage=storage)
                                for rule, check in VOLUME_PRE_FILTERS.items() if storage}
        self._pre_filters = {rule: checks[rule] for rule in sorted(checks) if rule in self.enabled}
        self._rules = frozenset(self._pre_filters)
        self.alike_by_template = not self.kube.rows_with_affinity  # else pods may match labels

    # -- once per task ---------------------------------------------------------------------------

    def pre_predicate(self, task: TaskInfo) -> str | None:
        """Prepare the rules' state over the whole cluster; return a reason if no node can fit."""
        state, info = self.ssn.cycle_state(task.uid), self.kube.info_of(task)
        if (info.plain and not self.kube.rows_with_required_anti_affinity
                and not (self.has_volumes and info.pod.spec.volumes)):
            state[SKIPPED] = self._rules
            return None
        found = {rule: check(self.kube, info) for rule, check in self._pre_filters.items()}
        state.update({rule: value for rule, value in found.items()
                      if value is not None and not isinstance(value, str)})
        state[SKIPPED] = state.get(SKIPPED, frozenset()) | {
            rule for rule, value in found.items() if value is None}
        objection = found.get(volume_binding.NAME)
        return (f"plugin {volume_binding.NAME} pre-predicates failed {objection}"
                if isinstance(objection, str) else None)

    def _rules_for(self, state: State) -> list[str]:
        """Return the rules that are not skipped for a task, by its cycle state."""
        skipped = state.get(SKIPPED, ())
        return [rule for rule in self._pre_filters if rule not in skipped]

    # -- per node --------------------------------------------------------------------------------

    def predicate(self, task: TaskInfo, node: NodeInfo) -> FitError | None:
        """Return why the task cannot be placed on this node, or None."""
        kube_node = self.kube.by_name.get(node.name)
        if kube_node is None:
            return FitError(task.key, node.name, (Status(ERROR, "node info not found", self.name),))
        statuses = []
        if node.allocatable.get("pods") <= self.kube.pod_count[kube_node.row]:
            statuses.append(Status(UNSCHEDULABLE, TOO_MANY_PODS, self.name))
        info = self.kube.info_of(task)
        refusal = self._stable_with_cache(info, kube_node)
        if refusal is not None:
            return FitError(task.key, node.name, (*statuses, refusal))
        state = self.ssn.cycle_state(task.uid)
        for rule in self._rules_for(state):
            refusal = state[rule].refusal(kube_node) if rule in state else Status(
                ERROR, _not_prepared(rule), rule)
            if refusal is not None:
                statuses.append(refusal)
                if refusal.code in ABORT_CODES:
                    break
        return FitError(task.key, node.name, tuple(statuses)) if statuses else None

    def _stable_with_cache(self, info: PodInfo, node: KubeNode) -> Status | None:
        """Check the stable rules; with the cache, pods of one template (by annotation) share the
        answer.
        """
        template = info.pod.metadata.annotations.get(TEMPLATE_UID, "") if self.cache_enabled else ""
        if (node.name, template) in self.cache:
            return None if self.cache[node.name,
                                      template] else Status(ERROR, CACHED_REFUSAL, CACHE_ENABLE)
        refusal = self._stable(info, node)
        if template:
            self.cache[node.name, template] = refusal is None
        return refusal

    def _stable(self, info: PodInfo, kube_node: KubeNode) -> Status | None:
        """Check node affinity, cordon, taints: return the first refusal."""
        if node_affinity.NAME in self.enabled and not info.required_nodes.matches(kube_node.node):
            return Status(UNRESOLVABLE, node_affinity.REASON, node_affinity.NAME)
        return self._kept_off(info, kube_node)

    def _kept_off(self, info: PodInfo, kube_node: KubeNode) -> Status | None:
        """Check cordon and taints: return the first refusal."""
        node, tolerations = kube_node.node, info.pod.spec.tolerations
        if node.spec.unschedulable and not taints.tolerated(taints.CORDON, tolerations):
            return Status(UNRESOLVABLE, taints.UNSCHEDULABLE_REASON, taints.UNSCHEDULABLE_NAME)
        taint = taints.first_untolerated(node.spec.taints, tolerations)
        return None if taint is None or taints.NAME not in self.enabled else Status(
            UNRESOLVABLE, f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}",
            taints.NAME)

    # -- all nodes at once -----------------------------------------------------------------------

    def predicate_nodes(self, task: TaskInfo) -> np.ndarray | None:
        """Return True for each node, in the session's order, that passes; None: check each."""
        if self.cache_enabled:
            return None  # its answers depend on the pods checked before
        state = self.ssn.cycle_state(task.uid)
        mask = self._stable_nodes(self.kube.info_of(task)) & (self.kube.pod_count < self.pod_limit)
        for rule in self._rules_for(state):
            if rule not in state:
                return None
            mask &= state[rule].codes() == SUCCESS
        return mask

    def predicate_alike(self, task: TaskInfo) -> ByRow | None:
        """Return one answer for tasks with only stable rules to check, shared where those have the
        same inputs.
        """
        if self.cache_enabled or self._rules_for(self.ssn.cycle_state(task.uid)):
            return None
        info = self.kube.info_of(task)
        stable, count, limit = self._stable_nodes(info), self.kube.pod_count, self.pod_limit
        return self.kube.remember(("alike", id(stable)), lambda: ByRow(
            lambda row: stable[row] and count[row] < limit[row], lambda: stable & (count < limit)))

    def predicate_unresolvable(self, task: TaskInfo, refused: np.ndarray) -> np.ndarray:
        """Return True for each node that a rule refuses whatever is evicted."""
        state = self.ssn.cycle_state(task.uid)
        mask = ~self._stable_nodes(self.kube.info_of(task))
        for rule in self._rules_for(state):
            mask |= np.isin(state[rule].codes(), [*ABORT_CODES])
        return mask

    def _stable_nodes(self, info: PodInfo) -> np.ndarray:
        key = "stable", self.enabled, info.required_nodes, info.tolerations
        return self.kube.remember(key, lambda: self.kube.mask(
            ("open to", self.enabled, info.tolerations),
            lambda node: self._kept_off(info, node) is None) & (
            node_affinity.NAME not in self.enabled or self.kube.required(info.required_nodes)))

    # -- simulated evictions, on a copy of the cycle state (`copy.copy` of each value) -------------

    def simulate_add_task(self, state: State, task_to_schedule: TaskInfo, task_to_add: TaskInfo,
                          node: NodeInfo) -> str | None:
        """Count `task_to_add` on the node for pod affinity; return what went wrong, if anything."""
        info = self.kube.info_of(task_to_add)
        return self._simulate(state, node, "add pod to",
                              lambda affinity, at: affinity.update(info, at.row, 1))

    def simulate_remove_task(self, state: State, task_to_schedule: TaskInfo,
                             task_to_remove: TaskInfo, node: NodeInfo) -> str | None:
        """Remove `task_to_remove` from the simulated counts."""
        info = self.kube.info_of(task_to_remove)
        return self._simulate(state, node, "remove pod from",
                              lambda affinity, at: affinity.update(info, at.row, -1))

    def simulate_predicate(self, state: State, task: TaskInfo, node: NodeInfo) -> str | None:
        """Return why simulated pod affinity refuses the node, or None."""
        return self._simulate(state, node, "filter pod on", lambda affinity, at: getattr(
            affinity.refusal(at), "reason", None))

    def _simulate(self, state: State, node: NodeInfo, verb: str,
                  act: Callable[[AffinityState, KubeNode], str | None]) -> str | None:
        rule = inter_pod_affinity.NAME
        if rule not in self._rules_for(state):
            return None
        problem = act(state[rule], self.kube.by_name[node.name]) if rule in state else (
            _not_prepared(rule))
        return f"failed to {verb} node {node.name}: {problem}" if problem else None

    # -- scores: for volumes only, and 0 for all nodes without any ---------------------------------

    def batch_node_order(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> dict[str, float]:
        """Return 0 for every node of the cluster, not only for the candidates, as Volcano does."""
        names = self.kube.by_name if volume_binding.NAME in self.enabled else ()
        return dict.fromkeys(names, 0.0)

    def batch_node_order_nodes(self, task: TaskInfo, mask: np.ndarray | None = None) -> np.ndarray:
        return np.zeros(len(self.kube.nodes))

    def batch_node_order_alike(self, task: TaskInfo) -> ByRow:
        return self._nothing

    # -- events ----------------------------------------------------------------------------------

    def on_allocate(self, event: Event) -> None:
        """Reserve the volumes that `pre_predicate` found: with `enablePredicate: false` there are
        none, and no statement can place a task.
        """
        if volume_binding.NAME in self.enabled and not self.in_use:
            event.error = 'reading "VolumeBinding" from cycleState: not found'
        self._volumes(event.task, event.task.status == ALLOCATED, ClaimsState.reserve)
        if event.task.node_name in self.kube.by_name:
            self.kube.add_pod(event.task.node_name, event.task.pod)

    def on_deallocate(self, event: Event) -> None:
        self._volumes(event.task, False, ClaimsState.release)
        if event.task.node_name in self.kube.by_name:
            self.kube.remove_pod(event.task.node_name, event.task.pod)

    def _volumes(self, task: TaskInfo, allocated: bool, act: Callable[[ClaimsState, str], None]
                 ) -> None:
        """Reserve or release the volumes of a pod on the node to which it was last allocated."""
        state = self.ssn.cycle_state(task.uid)
        claims = state.get(volume_binding.NAME)
        if isinstance(claims, ClaimsState):
            if allocated:
                state[ALLOCATED_TO] = task.node_name
            act(claims, state.get(ALLOCATED_TO, ""))


def _not_prepared(rule: str) -> str:
    """Return the error for a node checked before `pre_predicate` ran for the task."""
    prefix = "error " if rule == inter_pod_affinity.NAME else ""
    return f'{prefix}reading "PreFilter{rule}" from cycleState: not found'
