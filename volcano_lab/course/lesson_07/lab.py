"""Lesson 07: teams in a tree that share by dominant resource, and what every level of the tree
holds.
"""

from collections.abc import Iterator
from typing import Any

from attrs import define

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.results import Bars, bars
from volcano_lab.course.kit.scenery import conf_text
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.messages import gettext
from volcano_lab.plugins.hierarchy import HierarchicalNode
from volcano_lab.trace.palette import colors_of
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.controls import Control, group, slider
from volcano_lab.widgets.lab import Lab, Values
from volcano_lab.widgets.story import amounts

CPUS = 12
QUEUES = ("dev", "prod", "sci")
PARENTS = {"sci": "", "eng": "", "dev": "eng", "prod": "eng"}
COLORS = colors_of(QUEUES) | {"eng": "#8C8C8C"}
START = {"sci_weight": 1, "eng_weight": 1, "dev_weight": 1, "prod_weight": 1, "sci_pods": 12,
         "dev_pods": 12, "prod_pods": 12}

FLAT = conf_text("enqueue, allocate", "priority, gang", "drf, predicates, proportion, nodeorder")
HIERARCHICAL = conf_text("enqueue, allocate", "priority, gang", "drf, predicates, nodeorder",
                         switches={"drf": "enableHierarchy: true"})
WITHOUT_DRF = FLAT.replace("  - name: drf\n", "")


def queue_text(name: str, path: str, weights: str) -> str:
    """The manifest of a queue with a place in the tree.

    >>> print(queue_text("sci", "root/sci", "1/2").splitlines()[5].strip())
    volcano.sh/hierarchy: root/sci
    """
    return (f"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n  name: {name}\n"
            f"  annotations:\n    volcano.sh/hierarchy: {path}\n"
            f'    volcano.sh/hierarchy-weights: "{weights}"\nspec:\n  weight: 1\n')


def tree_cluster(prod_memory: bool = False, running: dict[str, int] | None = None,
                 **values: int) -> Cluster:
    """A node of 12 CPUs and 12Gi; root has sci and eng, eng has dev and prod. Pods ask for 1 CPU.

    With `prod_memory` those of prod ask for 1Gi of memory and nothing else; `running` are pods of
    each queue that run already.

    >>> len(tree_cluster(eng_weight=2).run(HIERARCHICAL).committed)
    12
    """
    said = START | values
    sci, eng, dev, prod = (said[f"{name}_weight"] for name in ("sci", "eng", "dev", "prod"))
    cluster = Cluster().node("n1", cpu=CPUS, memory=f"{CPUS}Gi")
    cluster.add(queue_text("sci", "root/sci", f"1/{sci}"),
                queue_text("dev", "root/eng/dev", f"1/{eng}/{dev}"),
                queue_text("prod", "root/eng/prod", f"1/{eng}/{prod}"))
    for queue in QUEUES:
        asked = {"memory": "1Gi"} if prod_memory and queue == "prod" else {"cpu": 1}
        runs = {"n1": (running or {})[queue]} if running else {}
        cluster.job(f"{queue}-work", queue=queue, pods=said[f"{queue}_pods"], min_member=1,
                    running=runs, **asked)
    return cluster


def placed(cycle: Cycle) -> dict[str, int]:
    """How many pods of each job have a place.

    >>> placed(tree_cluster(sci_pods=2).run(HIERARCHICAL))["sci-work"]
    2
    """
    return {row["job"].removeprefix("default/"): row["placed"] for row in cycle.jobs()}


def levels(cycle: Cycle) -> list[dict[str, Any]]:
    """A row a level of the tree when the cycle ends: its weight, its (scaled) dominant share, and
    whether it is saturated.

    >>> [row["level"] for row in levels(tree_cluster().run(HIERARCHICAL))]
    ['root', 'root/eng', 'root/eng/dev', 'root/eng/prod', 'root/sci']
    """
    return list(_levels(cycle.session.plugins["drf"].hierarchy.root, ""))


def _levels(node: HierarchicalNode, above: str) -> Iterator[dict[str, Any]]:
    path = f"{above}/{node.name}".lstrip("/")
    yield {"level": path, "weight": node.weight, "dominant": node.dominant_resource or "none",
           "share": node.share, "share_by_weight": node.share / node.weight,
           "saturated": node.saturated}
    for _, child in sorted(node.children.items()):
        if not child.is_job:
            yield from _levels(child, path)


def levels_picture(cycle: Cycle, title: str) -> pictures.Picture:
    """Draw each level's dominant share (pale) and its share for its weight (full), which is what is
    compared.

    >>> picture = levels_picture(tree_cluster(eng_weight=2).run(HIERARCHICAL), "Level by level")
    >>> [(row["name"], round(row["held"], 2)) for row in picture.data][::3]
    [('eng', 0.33), ('sci', 0.33)]
    """
    return pictures.bars(title, compared(cycle), most=1, words=WORDS, width=760,
                         legend="Pale: dominant share. Full: divided by the weight, which is "
                                "compared.")


def compared(cycle: Cycle) -> list[dict[str, Any]]:
    """Return the levels below the root as data of `pictures.bars`."""
    rows = []
    for row in levels(cycle)[1:]:
        name = row["level"].rpartition("/")[2]
        rows.append({"name": name, "color": COLORS[name], "asked": row["share"],
                     "held": row["share_by_weight"]})
    return rows


def rescaled_picture(cycle: Cycle, title: str) -> pictures.Picture:
    """Draw the dominant share of eng as its queues hold it and as it counts, beside that of sci."""
    attrs, scaled = cycle.session.plugins["drf"].job_attrs, {
        row["level"]: row["share"] for row in levels(cycle)}
    held = [attrs[f"default/{name}-work"].allocated for name in ("dev", "prod")]
    whole = cycle.session.total_resource
    raw = max((held[0] + held[1]).get(name) / whole.get(name) for name in ("cpu", "memory"))
    rows = [("dev", "dev", scaled["root/eng/dev"]), ("prod", "prod", scaled["root/eng/prod"]),
            ("eng, as it holds", "eng", raw), ("eng, rescaled", "eng", scaled["root/eng"]),
            ("sci", "sci", scaled["root/sci"])]
    return pictures.bars(title, [{"name": gettext(name), "color": COLORS[color], "held": share}
                                 for name, color, share in rows], most=1,
                         words={"held": "dominant share"}, width=760)


def pods_picture(title: str, cycle: Cycle, other: Cycle | None = None, dashed: str = "was") -> Bars:
    """Show how many pods of each queue have a place, and have in another cycle."""
    return bars(_by_queue(cycle), was=_by_queue(other) if other else None, unit="pods",
                title=title, dashed=dashed)


def _by_queue(cycle: Cycle) -> dict[str, int]:
    return {name.removesuffix("-work"): pods for name, pods in placed(cycle).items()}


def tree_drawn(cycle: Cycle, **weights: int) -> dict[str, Any]:
    """Return the tree as data of `pictures.tree`: each level as wide as its part by the weights,
    with the pods of 1 CPU that have a place.
    """
    said = {name: weights.get(f"{name}_weight", 1) for name in PARENTS}
    pods = _by_queue(cycle)
    pods["eng"] = pods["dev"] + pods["prod"]
    size = {"": float(CPUS)}
    for name, parent in PARENTS.items():
        among = sum(said[each] for each, above in PARENTS.items() if above == parent)
        size[name] = size[parent] * said[name] / among
    return {"text": "", "queues": [
        {"queue": name, "parent": parent, "size": round(size[name], 2),
         "allocated": pods[name], "color": COLORS[name]} for name, parent in PARENTS.items()]}


def tree_picture(cycle: Cycle, title: str) -> pictures.Picture:
    """Draw the tree with all weights 1."""
    return pictures.tree(title, tree_drawn(cycle), lines=0, width=760, legend=LEGEND)


LEGEND = "A box is as wide as its share by the weights. Full: placed pods, as a part of that share."
WORDS = {"held": "compared", "asked": "dominant share"}


@define
class Shared:
    """A cycle over the tree, and the values that it was decided from."""

    cycle: Cycle
    values: Values


PANELS = [pictures.tree("The tree, when the cycle ends",
                        lambda at: tree_drawn(at.cycle, **at.values), key="tree", lines=0,
                        wide=True, legend=LEGEND),
          pictures.bars("What is compared, level by level", lambda at: compared(at.cycle),
                        key="levels", most=1, rows=4, words=WORDS,
                        legend="Pale: share. Full: by weight."),
          pictures.turns("The order of queues", lambda at: drawn_turns(at.cycle), key="turns",
                         slots=18, lanes=3, legend="Filled: placed. Dotted: none placed.")]


def drawn_turns(cycle: Cycle) -> dict[str, Any]:
    """Return the data of `pictures.turns`, in the lesson's colours."""
    return facts.turns(cycle) | {"queues": [{"queue": name, "color": COLORS[name]}
                                            for name in QUEUES]}


def turns_picture(cycle: Cycle, title: str, early: int) -> pictures.Picture:
    """Draw the turns in their order, with a ring around the one that comes early."""
    drawn = drawn_turns(cycle)
    drawn["turns"][early - 1]["ring"] = True
    return pictures.turns(title, drawn, slots=18, width=760, legend=(
        "Filled: a pod was placed. Dotted: no pod was placed. Ringed: one turn early."))


TASKS = tasks("07", {"a third for sci": lambda values, at: (
    _by_queue(at.cycle)["sci"] == 4 and values["sci_pods"] == 12)})


def _controls() -> dict[str, Control]:
    found: dict[str, Control] = {}
    for name in PARENTS:
        sliders = {f"{name}_{word}": slider(START[f"{name}_{word}"], 1, most, word)
                   for word, most in (("weight", 6), ("pods", 16)) if f"{name}_{word}" in START}
        found |= group(gettext("queue {name}", name=name), sliders, color=COLORS[name], link=name)
    return found


def hierarchy_lab() -> Lab:
    """Make the lab: the weights of the tree, and the pods that each queue asks for.

    >>> lab = hierarchy_lab().set(sci_pods=2)
    >>> lab.said
    'Queue sci: pods 2 (was 12). sci has 2 pods (was 5), prod 5 pods (was 3), dev 5 pods (was 4).'
    """
    return Lab(_controls(), lambda values: Shared(tree_cluster(**values).run(HIERARCHICAL), values),
               PANELS, title="Two families on 12 CPUs", tasks=TASKS,
               says=[amounts("has", lambda at: _by_queue(at.cycle), "pods")],
               code=lambda values: tree_cluster(**values), opening=_opening,
               nothing="All jobs have as many pods as before.")


def _opening(at: Shared) -> str:
    pods = _by_queue(at.cycle)
    return (gettext("**sci** has {pods} pods and **eng** {x}: two halves, up to a pod. Below "
                    "eng, dev and prod share.", pods=pods["sci"], x=pods["dev"] + pods["prod"]))
