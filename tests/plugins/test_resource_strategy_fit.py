"""resource-strategy-fit: scores and the proportional check, by sentences. The pod asks for 1 CPU
and 1 GiB, n1 has 4 and 8.
"""

import json

import pytest
from small_cluster import NOW, conf, group, node, open_session, pod, queue, run, task

from volcano_lab.cache import Cache
from volcano_lab.framework.config.conf import ConfError, load_conf
from volcano_lab.framework.placement.arrays import node_arrays
from volcano_lab.framework.session import Session

GPU, NPU = "nvidia.com/gpu", "example.com/npu"
TYPE, WEIGHT = "volcano.sh/resource-strategy-scoring-type", "volcano.sh/resource-strategy-weight"


def plugin(**arguments):
    return f"{{name: resource-strategy-fit, arguments: {json.dumps(arguments)}}}"


def one(arguments, requests=None, notes=None, offered=None, running=()):
    """A session, the pod to place, and the only node."""
    objects = [
        queue(),
        group("a"),
        node("n1", **(offered or {})),
        pod("a-0", "a", requests=requests, annotations=notes),
        *(pod(f"a-r{i}", "a", "n1", requests=r) for i, r in enumerate(running))
    ]
    ssn = open_session(*objects, plugins=plugin(**arguments))
    return ssn, task(ssn, "a-0"), ssn.nodes["n1"]


def strategies(**by_name):
    return {"resources": by_name, "resourceStrategyFitWeight": 1}


MOST, LEAST = {"type": "MostAllocated"}, {"type": "LeastAllocated"}


@pytest.mark.parametrize(
    ("sentence", "arguments", "score"),
    [
        ("the emptier by default: 3/4 and 7/8 stay, times 10", {}, 812.5),
        ("a weight below 0 is 10", {"resourceStrategyFitWeight": -1}, 812.5),
        ("a fraction of a weight is cut off", {"resourceStrategyFitWeight": 1.9}, 81.25),
        ("a weight of nothing is 0: no say at all", {"resourceStrategyFitWeight": None}, 0.0),
        ("the fuller by CPU", strategies(cpu=MOST), 25.0),
        ("one the one way, one the other", strategies(cpu=MOST, memory=LEAST), 56.25),
        ("by weight", strategies(cpu={**MOST, "weight": 3}, memory=LEAST), 40.625),
        ("a weight of 0 is 1", strategies(cpu={**MOST, "weight": 0}, memory=LEAST), 56.25),
        ("an unknown type is LeastAllocated", strategies(cpu={"type": "Fullest"}), 75.0),
        ("nothing that is asked for is named", strategies(**{GPU: MOST}), 0.0),
        ("no resources is as unset", strategies(), 81.25),
        ("all that is named is unusable: nothing counts", strategies(**{"*": MOST, "a*b": MOST}),
         0.0),
    ],
)
def test_strategies(sentence, arguments, score):
    ssn, asked, n1 = one(arguments)
    assert ssn.node_order(asked, n1) == pytest.approx(score), sentence


@pytest.mark.parametrize(
    ("sentence", "resources", "share"),
    [
        ("by its own name", {GPU: MOST, "nvidia.com/*": LEAST}, 0.25),
        ("by a beginning", {"nvidia.com/*": MOST}, 0.25),
        ("by the longest beginning", {"nvidia*": LEAST, "nvidia.com/g*": MOST, "nv*": LEAST}, 0.25),
        ("by another beginning: not at all", {"example.com/*": MOST}, 0.0),
    ],
)
def test_names(sentence, resources, share):
    ssn, asked, n1 = one(strategies(**resources), {GPU: "2"}, offered={GPU: "8"})
    assert ssn.node_order(asked, n1) == pytest.approx(100 * share), sentence


@pytest.mark.parametrize(
    ("sentence", "notes", "score"),
    [
        ("of its own", {TYPE: "MostAllocated", WEIGHT: '{"cpu": 3, "memory": 1}'}, 100 *
         (3 / 4 + 1 / 8) / 4),
        ("the plugin's weight holds, what isn't named doesn't count",
         {TYPE: "LeastAllocated", WEIGHT: '{"cpu": 1}'}, 75.0),
        ("a type without weights: no score", {TYPE: "MostAllocated"}, 0.0),
        ("weights that are no JSON: no score", {TYPE: "MostAllocated", WEIGHT: "cpu=1"}, 0.0),
        ("weights that are no whole numbers: no score",
         {TYPE: "MostAllocated", WEIGHT: '{"cpu": 1.0}'}, 0.0),
        ("an unknown type scores 0", {TYPE: "Fullest", WEIGHT: '{"cpu": 1}'}, 0.0),
        ("weights without a type: the plugin's own", {WEIGHT: '{"cpu": 1}'}, 25.0),
    ],
)
def test_strategies_of_a_pod(sentence, notes, score):
    ssn, asked, n1 = one(strategies(cpu=MOST), notes=notes)
    assert ssn.node_order(asked, n1) == pytest.approx(score), sentence


@pytest.mark.parametrize("kind", [MOST, LEAST])
@pytest.mark.parametrize(("weight", "share"), [(1, 1 / 2), (3, 1 / 4)])
def test_a_resource_that_a_node_lacks_scores_0_with_its_whole_weight(kind, weight, share):
    lacking = strategies(**{"cpu": kind, GPU: {**kind, "weight": weight}})
    (ssn, asked, n1), (alone, same, like) = (
        one(lacking, {"cpu": "1", GPU: "1"}), one(strategies(cpu=kind), {"cpu": "1"}))
    found = ssn.node_order(asked, n1)
    assert 0 < found == pytest.approx(share * alone.node_order(same, like))


def test_a_node_that_is_too_full_for_one_resource_has_no_score_at_all():
    running = [{"cpu": "3500m"}]
    ssn, asked, n1 = one(strategies(cpu=LEAST, memory=LEAST), running=running)
    assert ssn.node_order(asked, n1) == 0.0
    ssn, asked, n1 = one(strategies(memory=LEAST), running=running)
    assert ssn.node_order(asked, n1) == pytest.approx(87.5)
    ssn, asked, n1 = one(strategies(cpu=MOST), running=[{"cpu": "3"}])
    assert ssn.node_order(asked, n1) == 100.0, "the pod fills it exactly"


@pytest.mark.parametrize(
    ("sentence", "sra", "offered", "requests", "score"),
    [
        ("a node with none of them", {"resources": GPU}, {}, None, 500.0),
        ("a node with the only one", {"resources": GPU}, {GPU: "1"}, None, 0.0),
        ("who needs it has no better node either", {"resources": GPU}, {GPU: "1"}, {GPU: "1"}, 0.0),
        ("one of two by weight", {"resources": f"{GPU}, {NPU}", "resourceWeight": {GPU: 3}
                                  }, {GPU: "1"}, None, 125.0),
        ("a weight below 0 is 1", {"resources": f"{GPU}, {NPU}", "resourceWeight": {GPU: -3}
                                   }, {GPU: "1"}, None, 250.0),
        ("named twice it counts twice in the sum", {"resources": f"{GPU},{GPU}"}, {GPU: "1"
                                                                                   }, None, 250.0),
        ("a node that lacks what is asked for", {"resources": NPU}, {}, {GPU: "1"}, 0.0),
        ("nothing is scarce", {"resources": ""}, {}, None, 0.0),
        ("switched off", {"resources": GPU, "enable": False}, {}, None, 0.0),
    ],
)
def test_scarce_resource_avoidance(sentence, sra, offered, requests, score):
    arguments = {"resourceStrategyFitWeight": 0, "sra": {"enable": True, "weight": 5, **sra}}
    ssn, asked, n1 = one(arguments, requests, offered=offered)
    assert ssn.node_order(asked, n1) == pytest.approx(score), sentence


def proportional(**rates):
    return {
        "proportional": {
            "enable": True, "resources": GPU, "resourceProportion":
            {f"{GPU}.{k}": v for k, v in rates.items()}
        }
    }


@pytest.mark.parametrize(
    ("sentence", "arguments", "offered", "requests", "fits"),
    [
        ("one CPU and 10^9 bytes a GPU stay", proportional(), {GPU: "2"},
         {"cpu": "2", "memory": "1Gi"}, True),
        ("too few CPUs would", proportional(), {GPU: "2"}, {"cpu": "2001m"}, False),
        ("by rate: 4 CPUs a GPU", proportional(cpu=4), {GPU: "1"}, {"cpu": "1m"}, False),
        ("too little memory", proportional(memory=8), {GPU: "1"}, {"memory": "1Gi"}, False),
        ("a rate below 0 is 1", proportional(cpu=-4), {GPU: "2"}, {"cpu": "2"}, True),
        ("rates of 0", proportional(cpu=0, memory=0), {GPU: "8"}, {"cpu": "4"}, True),
        ("who asks for the scarce one needs to leave nothing", proportional(cpu=4), {GPU: "1"},
         {GPU: "1", "cpu": "4"}, True),
        ("a node without", proportional(cpu=4), {}, {"cpu": "4"}, True),
        ("switched off", {"proportional": {**proportional()["proportional"], "enable": False}
                          }, {GPU: "8"}, {"cpu": "4"}, True),
    ],
)
def test_proportional(sentence, arguments, offered, requests, fits):
    ssn, asked, n1 = one(arguments, requests, offered=offered)
    error = ssn.predicate_for_allocate(asked, n1)
    assert (error is None) is fits, sentence
    assert error is None or error.reasons == [f"proportional of resource {GPU} check failed"]


def test_a_scarce_resource_that_is_all_in_use_still_needs_idle_resources():
    ssn, asked, n1 = one(proportional(), {"cpu": "4"}, offered={GPU: "1"},
                         running=[{GPU: "1", "cpu": "1"}])
    assert ssn.predicate_for_allocate(asked, n1) is not None


def test_a_scarce_resource_that_pods_have_on_a_node_without_scalars_needs_none():
    bare = node("n1").changed(status={"allocatable": {"cpu": "4", "memory": "8Gi"}})
    ssn = open_session(queue(), group("a"), bare, pod("a-0", "a", requests={"cpu": "5"}),
                       pod("a-1", "a", "n1", requests={"cpu": "1", GPU: "1"}),
                       plugins=plugin(**proportional()))
    assert ssn.nodes["n1"].scalar_names == set()
    assert ssn.predicate_for_allocate(task(ssn, "a-0"), ssn.nodes["n1"]) is None


def test_all_nodes_at_once_are_as_one_by_one_also_after_a_placement():
    arguments = {**proportional(), "sra": {"enable": True, "weight": 1, "resources": GPU}}
    pods = [pod(f"a-{i}", "a") for i in range(3)]
    nodes = [node("n1", **{GPU: "1"}), node("n2", cpu="2")]
    ssn = open_session(queue(), group("a", minMember=3), *pods, *nodes, plugins=plugin(**arguments))
    asked, statement, known = task(ssn, "a-2"), ssn.statement(), ssn.plugins[
        "resource-strategy-fit"]
    arrays = node_arrays(ssn)
    for name, on in (("a-0", "n1"), ("a-1", "n2")):
        assert arrays.orders[0](asked).tolist() == [
            known.node_order(asked, n) for n in ssn.node_list
        ]
        assert arrays.predicates[0](asked).tolist() == [
            known.predicate(asked, n) is None for n in ssn.node_list
        ]
        statement.allocate(task(ssn, name), ssn.nodes[on])
    assert arrays.orders[0](asked).tolist() == [
        known.node_order(asked, n) for n in ssn.node_list
    ]


def test_a_cycle_fills_by_gpu_and_spreads_by_cpu():
    arguments = {
        "resources":
        {GPU: {"type": "MostAllocated", "weight": 2}, "cpu": {"type": "LeastAllocated"}}
    }
    nodes = [node("n1", cpu="16", **{GPU: "8"}), node("n2", cpu="16", **{GPU: "4"})]
    objects = queue(), *nodes, group("a"), pod("a-0", "a", requests={GPU: "2", "cpu": "2"}), pod(
        "a-1", "a")
    assert run(*objects, conf=conf(plugin(**arguments))).committed == [
        ["allocate", "default/a-0", "n2"], ["allocate", "default/a-1", "n1"]]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"resourceStrategyFitWeight": "ten"
          }, "resourceStrategyFitWeight is 'ten'; allowed is a whole number"),
        ({"resources": ["cpu"]}, "resources is ['cpu']; allowed is a mapping"),
        ({"resources": {"cpu": {"weight": True}}
          }, "resources.cpu.weight is True; allowed is a whole number"),
        ({"sra": {"enable": "yes, please"}
          }, "sra.enable is 'yes, please'; allowed is true or false"),
        ({"proportional": {"resourceProportion": {f"{GPU}.cpu": "4"}}
          }, f"proportional.resourceProportion.{GPU}.cpu is '4'; allowed is a number"),
    ],
)
def test_arguments_of_the_wrong_type_are_refused_with_a_sentence(arguments, problem):
    with pytest.raises(ConfError) as error:
        Session(Cache(), load_conf(conf(plugin(**arguments))), now=NOW)
    assert str(error.value
               ) == f"scheduler configuration: plugin resource-strategy-fit: argument {problem}."
