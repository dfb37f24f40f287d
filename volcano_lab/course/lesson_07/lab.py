"""Lesson 07: the pictures of teams in a tree that share by dominant resource, and its lab."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from attrs import define, evolve

from volcano_lab.api import EMPTY, dominant_share
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.results import bars
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.course.kit.tracing import DataFrame
from volcano_lab.course.lesson_07 import scene
from volcano_lab.course.lesson_07.scene import CPUS, HIERARCHICAL, PARENTS, placed, tree_cluster
from volcano_lab.course.lesson_07.turns import OldPlaces, run_found_again
from volcano_lab.messages import Message, gettext, mark, paragraph
from volcano_lab.plugins.drf import Drf
from volcano_lab.trace import colors_of, short
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.controls import Control, group, slider
from volcano_lab.widgets.lab import Lab, Values
from volcano_lab.widgets.story import amounts, plain

QUEUES = ("dev", "prod", "sci")
COLORS = colors_of(QUEUES) | {"eng": "#8C8C8C"}
OPENING = scene.START | {"dev_pods": 2}
"""The lab's first values: dev leaves some of its share, and the rule is seen without exception."""


def level_picture(title: str, cycle: Cycle, parent: str = "") -> pictures.Picture:
    """Draw the dominant share (pale) of both levels below one, and what is compared of it (full).

    >>> held = {"sci": 4, "dev": 2, "prod": 5}
    >>> stopped = tree_cluster(eng_weight=2, dev_pods=2, running=held).run(scene.AT_REST)
    >>> [(row["name"], round(row["held"], 2)) for row in level_picture("", stopped).data]
    [('sci', 4.0), ('eng', 3.5)]
    """
    return pictures.bars(title, compared(cycle, parent), width=760, legend=COMPARED, **TWELFTHS)


def compared(cycle: Cycle, parent: str) -> list[dict[str, Any]]:
    """Return the levels right below one when the cycle ends, as data of `pictures.bars`: their
    dominant shares in twelfths, and what drf compares: rescaled, if the children hold unequal
    shares, and divided by the weight.
    """
    rows, drf = [], cycle.session.plugins["drf"]
    assert isinstance(drf, Drf)
    tree = drf.hierarchy
    levels = (tree.root.children[parent] if parent else tree.root).children
    for name in [name for name, above in PARENTS.items() if above == parent]:
        node = levels[name]
        held = dominant_share(sum((child.allocated for child in node.children.values()), EMPTY),
                              tree.total)[1] * CPUS
        share = node.share * CPUS
        steps = [gettext("rescaled from {share}", share=plain(held))] * (share < held - 1e-9)
        steps += [f"{plain(share)} ÷ {node.weight:g}"] * (node.weight > 1)
        says = f"({mark(': ').join(steps)})" if steps else ""
        rows.append({"name": name, "color": COLORS[name], "asked": held,
                     "held": share / node.weight, "saturated": node.saturated,
                     "says": gettext("(saturated: last)") if node.saturated else says})
    return rows


def served(cycle: Cycle) -> list[str]:
    """Return the queues of the turns in which a pod was placed."""
    return [turn["queue"] for turn in cycle.turns() if turn["pods"]]


def last_choice(cycle: Cycle, values: Values, parent: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the queue below the parent that got its last pod, and `compared` right before; its row
    says where no number put it first, but an old place, or its age: rows stand in the
    order in which their queues were created.
    """
    turns = served(cycle)
    last = max(at for at, name in enumerate(turns) if parent in ("", PARENTS[name]))
    running = {name: turns[:last].count(name) for name in QUEUES}
    rows = compared(tree_cluster(running=running, **values).run(scene.AT_REST), parent)
    taken = next(row for row in rows if row["name"] in (turns[last], PARENTS[turns[last]]))
    keys = [(row["saturated"], round(row["held"], 9)) for row in rows]
    first = taken is rows[keys.index(min(keys))]
    if not first or keys[0] == keys[1]:
        why = gettext("(first, as it is older)" if first else "(first, by an old place)")
        taken["says"] = f"{taken['says']} {why}".lstrip()
    return turns[last], rows


def pods_picture(title: str, cycle: Cycle, other: Cycle | None = None, line: str = ""
                 ) -> pictures.Picture:
    """Show how many pods of each queue have a place, and have in another cycle."""
    return evolve(bars(placed(cycle), was=placed(other) if other else None, unit="pods",
                       title=title, line=line), width=760)


def tree_drawn(placed: Mapping[str, int], **weights: int) -> dict[str, Any]:
    """Return the tree as data of `pictures.tree`: each level as wide as its part by the weights,
    with the pods of 1 CPU that have a place.
    """
    said = {name: weights.get(f"{name}_weight", 1) for name in PARENTS}
    pods = {**placed, "eng": placed["dev"] + placed["prod"]}
    size = {"": float(CPUS)}
    for name, parent in PARENTS.items():
        among = sum(said[each] for each, above in PARENTS.items() if above == parent)
        size[name] = size[parent] * said[name] / among
    return {"text": "", "queues": [
        {"queue": name, "parent": parent, "size": round(size[name], 2),
         "allocated": pods[name], "color": COLORS[name]} for name, parent in PARENTS.items()]}


def tree_picture(cycle: Cycle, title: str) -> pictures.Picture:
    """Draw the tree with all weights 1; it plays the pods that the cycle placed."""
    turns = served(cycle)
    return _film(lambda at: pictures.tree(
        title, tree_drawn({name: turns[:at].count(name) for name in QUEUES}), width=760,
        **PARTS | {"most": CPUS / 2}),
        [gettext("CPU {at} to {name}", at=at, name=name) for at, name in enumerate(turns, 1)])


def _film(draw: Callable[[int], pictures.Picture], said: list[str]) -> pictures.Picture:
    return pictures.film({each: draw(at) for at, each in enumerate([gettext("no pod yet"), *said])})


PARTS: dict[str, Any] = {
    "most": CPUS, "lines": 0, "of": "{0} / {2}",
    "legend": "Box: the part by the weights. Full: placed pods. Numbers: pods / part."}
COMPARED = "Pale: dominant share. Full: what of it is compared. The lower one goes first."
RINGED = ("Filled: a pod was placed. Dotted: none waits, or none fits. "
          "Ringed: by old places, which change the pods.")
BY_PLACE = "turn {at}: {queue} by its old place; the numbers put {first} first"
TWELFTHS: dict[str, Any] = {
    "most": CPUS, "unit": "twelfths", "words": {"held": "compared", "asked": "dominant share"}}


@define
class Shared:
    """A cycle over the tree, the values that it was decided from, the turns that came by an old
    place, if such places change the pods, the pods without them, and the last choice below each
    parent.
    """

    cycle: Cycle
    values: Values
    early: dict[int, str]
    exact: dict[str, int]
    last: dict[str, tuple[str, list[dict[str, Any]]]]


def decide(values: Values) -> Shared:
    """Run a cycle of some values."""
    tree, turns = tree_cluster(**values), OldPlaces()
    cycle = tree.run(HIERARCHICAL, trace=turns)
    exact = placed(run_found_again(tree, HIERARCHICAL))
    return Shared(cycle, values, turns.early if exact != placed(cycle) else {}, exact,
                  {parent: last_choice(cycle, values, parent) for parent in ("", "eng")})


PANELS = [pictures.tree("The tree, when the cycle ends",
                        lambda at: tree_drawn(placed(at.cycle), **at.values), key="tree", **PARTS),
          pictures.turns("The order of queues", lambda at: drawn_turns(at.cycle, at.early),
                         key="turns", slots=18, lanes=3, legend=RINGED),
          *(pictures.bars(title, lambda at, parent=parent: at.last[parent][1], key=f"last {parent}",
                          rows=2, **TWELFTHS)
            for parent, title in (("", "Before the last pod: sci or eng"),
                                  ("eng", "Before eng's last: dev or prod")))]


def drawn_turns(cycle: Cycle, early: Collection[int]) -> dict[str, Any]:
    """Return the data of `pictures.turns`, in the lesson's colours, the early turns ringed."""
    found = facts.turns(cycle)
    turns = [turn | {"ring": at in early} for at, turn in enumerate(found["turns"], 1)]
    return {"turns": turns, "queues": [{"queue": name, "color": COLORS[name]} for name in QUEUES]}


def turns_picture(cluster: Cluster, title: str) -> pictures.Picture:
    """Play the turns in their order, with a ring around each that came by an old place."""
    noted = OldPlaces()
    drawn = drawn_turns(cluster.run(HIERARCHICAL, trace=noted), noted.early)
    turns = drawn["turns"]
    return _film(lambda at: pictures.turns(title, drawn | {"turns": turns[:at]}, slots=18,
                                           width=760, legend=RINGED),
                 [gettext(BY_PLACE if at in noted.early else "turn {at}: {queue}", at=at,
                          queue=turn["queue"], first=noted.early.get(at))
                  for at, turn in enumerate(turns, 1)])


def rescaling(title: str, cycle: Cycle) -> pictures.Picture:
    """Play how eng is rescaled where dev holds less of its resource than prod of another one."""
    rows = [row | {"says": ""} for row in (*compared(cycle, "eng"), compared(cycle, "")[1])]
    in_full = [row | {"held": row["asked"]} for row in rows]
    poorer = [row | {"held": min(row["asked"], rows[2]["held"])} for row in rows]
    return pictures.film({
        gettext(moment): pictures.bars(title, drawn, width=760, legend=COMPARED, **TWELFTHS)
        for moment, drawn in (("what each holds", in_full),
                              ("prod counts as the poorer child, dev; so eng does", poorer))})


def resources_picture(title: str, cycle: Cycle, without: Cycle | None = None,
                      first: int | None = None) -> pictures.Picture:
    """Draw the CPUs and the memory of the node, with drf and without it, as boxes of one width: a
    pod is as wide as its share. Beside each box is what each job holds of it; `first` is how many
    of the placed pods are drawn.

    >>> two = Cluster().node("n1", cpu=9, memory="18Gi").job("a", pods=2, cpu=3, memory="1Gi")
    >>> [node["note"] for node in resources_picture("", two.run(scene.FLAT)).data["nodes"]]
    ['a 6/9', 'a 2/18']
    """
    nodes = []
    cycles = {gettext("with drf"): cycle} | ({gettext("without drf"): without} if without else {})
    for which, ran in cycles.items():
        (node,) = ran.session.nodes.values()
        for name, unit, word in (("cpu", 1000, "{whole} CPUs"),
                                 ("memory", 2**30, "{whole}Gi of memory")):
            whole = node.allocatable.get(name)
            pods = [(key, short(node.tasks[key].job), node.tasks[key].resreq.get(name))
                    for key in sorted(pod for _, pod, _ in ran.committed[:first])]
            held = {job: sum(part for _, other, part in pods if other == job) for _, job, _ in pods}
            nodes.append({
                "name": gettext(word, whole=plain(whole / unit)), "group": which, "size": 1,
                "note": ", ".join(f"{job} {plain(part / unit)}/{plain(whole / unit)}"
                                  for job, part in held.items()),
                "pods": [{"name": key, "label": job, "size": part / whole,
                          "color": colors_of(held)[job]} for key, job, part in pods]})
    return pictures.cluster(title, {"nodes": nodes, "groups": [
        {"name": name} for name in cycles]}, width=760,
        legend="A pod is as wide as its share of the resource.")


def resources_film(title: str, cycle: Cycle, turns: DataFrame) -> pictures.Picture:
    """Play the turns of a cycle on its node: which job, and which plugin put it first."""
    return _film(lambda at: resources_picture(title, cycle, first=at), [
        gettext("turn {turn}: {job} before {other}, decided by {plugin}", turn=turn,
                job=row["job"], other=row["before"], plugin=gettext(row["decided by"]))
        for turn, row in turns.iterrows()])


def _controls() -> dict[str, Control]:
    found: dict[str, Control] = {}
    for name in PARENTS:
        sliders = {f"{name}_{word}": slider(OPENING[f"{name}_{word}"], 1, most, word)
                   for word, most in (("weight", 6), ("pods", 16)) if f"{name}_{word}" in OPENING}
        if name == "prod":
            sliders["prod_gi"] = slider(0, 0, 4, "memory", unit="Gi")
        found |= group(gettext("queue {name}" if name in QUEUES else "level {name}", name=name),
                       sliders, color=COLORS[name], link=name)
    return found


def hierarchy_lab() -> Lab:
    """Make the lab: the weights of the tree, and the pods that each queue asks for.

    >>> lab = hierarchy_lab().set(sci_pods=2)
    >>> lab.said
    'Queue sci: pods 2 (was 12). prod has 8 pods (was 4), sci 2 pods (was 6). The last pod goes to \
prod: drf compares share ÷ weight, sci 2/12 (saturated: last), eng 9/12.'
    """
    return Lab(_controls(), decide, PANELS, title="Two families on 12 CPUs", tasks=tasks("07"),
               says=[amounts("has", lambda at: placed(at.cycle), "pods")],
               code=lambda values: tree_cluster(**values), opening=_opening,
               nothing=_same, because=_because)


def _opening(at: Shared) -> str:
    pods = placed(at.cycle)
    return paragraph([Message("drf.opening", sci=pods["sci"], eng=pods["dev"] + pods["prod"]),
                      _because(at, at)])


def _same(at: Shared) -> str:
    """Return why no queue has another number of pods: which have all, and which wait."""
    full = [name for name, pods in placed(at.cycle).items() if pods == at.values[f"{name}_pods"]]
    waits = [name for name in QUEUES if name not in full]
    return str(Message("drf.same", parts=[
        Message(code, n=len(names), queues=names)
        for code, names in (("drf.full", full), ("drf.waits", waits)) if names]))


def _because(before: Shared, now: Shared) -> str:
    """Return what drf compares at the level of what was moved, or at the first one if the move
    changed what sci has; and what old places changed. Where all have as many pods as before, the
    turns may be others.
    """
    moved = [key.partition("_")[0] for key, value in now.values.items()
             if before.values[key] != value]
    pods = placed(now.cycle)
    across = placed(before.cycle)["sci"] != pods["sci"]
    within = PARENTS[moved[0]] if moved else ""
    parent = "" if across else within
    queue, rows = now.last[parent]
    shares = [f"{row['name']} {plain(row['held'])}/{CPUS} {row['says']}".rstrip() for row in rows]
    said = [Message("drf.last.of" if parent else "drf.last", queue=queue, parent=parent,
                    shares=shares)]
    if within and across and rows[1]["held"] < rows[1]["asked"]:
        said.append(Message("drf.rescaled"))
    if pods == placed(before.cycle) and served(before.cycle) != served(now.cycle):
        said.insert(0, Message("drf.order"))
    if now.early and (now.early, now.exact) != (before.early, before.exact):
        said.append(Message("drf.early", turns=[*now.early],
                            exact=[f"{name} {pods}" for name, pods in now.exact.items()]))
    return paragraph(said)
