"""Random clusters and pods with any of the wishes that placement knows, as Hypothesis strategies.
"""

from __future__ import annotations

from attrs import evolve
from hypothesis import strategies as st
from kube_scene import HOSTNAME, Scene, apps, node, pod

from volcano_lab.api.objects import (
    Affinity,
    LabelSelector,
    LabelSelectorRequirement,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PreferredSchedulingTerm,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)

KEYS = ("zone", "rack", HOSTNAME)
_app = st.sampled_from(["web", "db", "cache"])
_key = st.sampled_from(("zone", *KEYS))
_weight = st.integers(1, 100)
_namespace = st.sampled_from(["default", "team"])
_taints = st.lists(
    st.builds(
        Taint,
        st.sampled_from(["gpu", "slow"]),
        st.sampled_from(["", "x"]),
        st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
    ),
    max_size=2,
)
_tolerations = st.lists(
    st.builds(
        Toleration,
        st.sampled_from(["", "gpu", "slow"]),
        st.sampled_from(["Exists", "Equal"]),
        st.sampled_from(["", "x"]),
        st.sampled_from(["", "NoSchedule", "PreferNoSchedule"]),
    ),
    max_size=2,
)
_selector = st.one_of(
    _app.map(apps),
    _app.map(apps),
    _app.map(apps),
    st.none(),
    st.just(LabelSelector()),
    st.builds(
        lambda a: LabelSelector(match_expressions=[LabelSelectorRequirement("app", "NotIn", [a])]),
        _app),
)
_namespace_selector = st.one_of(
    st.none(),
    st.none(),
    st.just(LabelSelector()),
    st.just(LabelSelector({"tier": "gold"})),
    st.just(LabelSelector(match_expressions=[LabelSelectorRequirement("tier", "DoesNotExist")])),
)
_term = st.builds(PodAffinityTerm, _selector, st.lists(_namespace, max_size=1), _key,
                  _namespace_selector)
_weighted = st.builds(WeightedPodAffinityTerm, _weight, _term)
_node_term = st.builds(
    lambda key, op, values: NodeSelectorTerm([NodeSelectorRequirement(key, op, values)]),
    _key,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt"]),
    st.lists(st.sampled_from(["a", "b", "1", "n1"]), max_size=2),
)
_node_affinity = st.builds(
    NodeAffinity,
    st.one_of(st.none(), st.builds(NodeSelector, st.lists(_node_term, max_size=2))),
    st.lists(st.builds(PreferredSchedulingTerm, _weight, _node_term), max_size=2),
)
_near = st.builds(PodAffinity, st.lists(_term, max_size=1), st.lists(_weighted, max_size=2))
_apart = st.builds(PodAntiAffinity, st.lists(_term, min_size=1, max_size=2),
                   st.lists(_weighted, max_size=1))
_affinity = st.one_of(
    _apart.map(lambda wish: Affinity(pod_anti_affinity=wish)),
    _near.map(lambda wish: Affinity(pod_affinity=wish)),
    st.builds(Affinity, _node_affinity, _near, _apart),
    st.none(),
)
_policy = st.sampled_from([None, "Honor", "Ignore"])
_spread = st.lists(
    st.builds(
        TopologySpreadConstraint,
        st.sampled_from([1, 1, 2]),
        _key,
        st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
        _selector,
        st.sampled_from([None, 1, 3]),
        _policy,
        _policy,
        st.sampled_from([[], ["app"]]),
    ),
    max_size=2,
)

_labels = st.fixed_dictionaries({"zone": st.sampled_from("ab")},
                                optional={"rack": st.sampled_from("12")})


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """A few nodes with pods on them, plugins with any weights."""
    nodes = [
        node(
            f"n{i}",
            cpu=draw(st.sampled_from(["0", "2", "3500m", "64"])),
            pods=str(draw(st.integers(1, 6))),
            taints=draw(_taints),
            unschedulable=draw(st.integers(0, 5)) == 0,
            extra={"nvidia.com/gpu": "2"} if draw(st.booleans()) else None,
            **draw(_labels),
        )
        for i in range(draw(st.integers(2, 5)))
    ]
    pods = draw(
        st.lists(st.tuples(st.sampled_from([n.name for n in nodes]), pods_to_place("old")),
                 min_size=3, max_size=7))
    running: dict[str, list[Pod]] = {}
    for number, (name, one) in enumerate(pods):
        running.setdefault(name, []).append(renamed(one, f"old-{number}"))
    weights = draw(
        st.fixed_dictionaries(
            {},
            optional={
                f"{rule}.weight": st.integers(0, 5)
                for rule in (
                    "leastrequested",
                    "mostrequested",
                    "nodeaffinity",
                    "podaffinity",
                    "balancedresource",
                    "tainttoleration",
                    "podtopologyspread",
                )
            },
        )
    )
    return Scene(nodes, running, weights, {"default": {}, "team": {"tier": "gold"}})


@st.composite
def pods_to_place(draw: st.DrawFn, name: str = "new") -> Pod:
    """A pod with any of the wishes that placement knows."""
    return pod(
        name,
        draw(_app),
        draw(st.sampled_from(["", "0", "250m", "1"])),
        draw(st.sampled_from(["", "1Gi", "7"])),
        draw(_namespace),
        draw(st.sampled_from([0, 0, 0, 80, 443])),
        {"nvidia.com/gpu": "1"} if draw(st.integers(0, 3)) == 0 else None,
        node_selector=draw(st.sampled_from([{}, {}, {}, {"zone": "a"}])),
        affinity=draw(_affinity),
        tolerations=draw(_tolerations),
        topology_spread_constraints=draw(_spread),
    )


def renamed(one: Pod, name: str) -> Pod:
    return evolve(one, metadata=evolve(one.metadata, name=name, uid=f"uid-{name}"))
