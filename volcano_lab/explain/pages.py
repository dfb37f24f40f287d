"""The pages "Why is it pending" of the documentation, by the causes that lead there."""

_CAUSES = {
    "minimum-above-limit": ["queue_over_capability", "min_resources_beyond", "real_capability",
                            "tree_broken"],
    "overcommitted": ["overcommit_refuses", "no_enqueue_action"],
    "queue-closed": ["queue_closed", "queue_opened"],
    "no-such-queue": ["left_out"],
    "no-pods": ["no_pods", "pods_not_made", "pods_later", "groups_beside", "gang_invalid",
                "no_gang", "never_starts", "role_failed", "no_default_sub_group"],
    "queue-full": ["over_deserved", "queue_over_deserved", "overused", "best_effort_queue",
                   "quota_used", "resource_quota"],
    "parent-limit": ["ancestor_over_capability"],
    "no-node-large-enough": ["fragmented", "insufficient", "cluster_full", "larger_than_any_node",
                             "allowed_nodes_full", "only_node", "pods_exceeded"],
    "gang-one-too-many": ["gang_short", "stranded", "minimum_promised", "starving_beyond"],
    "taint-or-label": ["taint", "cordoned", "node_affinity", "node_missing", "node_group"],
    "resource-no-node-has": ["pod_too_large"],
    "volume": ["claim_missing", "claim_unbound", "claim_refused", "volume_missing", "volume_node",
               "volume_zone", "volume_unbound", "volume_limit"],
    "pods-keep-away": ["anti_affinity", "pod_affinity", "topology_spread", "spread_label",
                       "host_ports"],
    "no-hypernode": ["topology_too_small", "hyper_nodes_not_ready"],
    "smaller-share": ["came_first", "no_turn"],
    "higher-priority": ["less_important_claimant"],
    "reclaim-never-evicts": ["no_reclaim_action", "reclaim_no_candidates", "victims_insufficient",
                             "victims_disagree", "not_starving"],
    "preempt-never-evicts": ["preempt_no_candidates", "no_preempt_action"],
    "evicted-again": ["room_taken", "evicted_again", "promised", "victim"],
    "another-scheduler": ["other_scheduler", "gated", "driver_nowhere", "no_allocate_action",
                          "no_backfill_action"],
}
"""Page -> the codes of its causes."""

PAGES = {code: page for page, codes in _CAUSES.items() for code in codes}
"""Code of a cause -> its page."""


def page_of(codes: list[str]) -> str:
    """Return the page of the first cause that has one, "" without.

    >>> page_of(["held_by", "over_deserved"])
    'queue-full'
    """
    return next((PAGES[code] for code in codes if code in PAGES), "")
