"""Pictures of any cycle: each draws its numbers at one scale, and no words lie on each other."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from drawn_words import words_of

from volcano_lab import Cluster, Trace
from volcano_lab.course.lesson_05.lab import tree_cluster, tree_conf
from volcano_lab.course.lesson_09.scene import conf_with, eviction_cluster
from volcano_lab.course.lesson_13.scene import export
from volcano_lab.trace.palette import COLORS
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import pictures
from volcano_lab.widgets.channels import channels
from volcano_lab.widgets.plots import Plot

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
LONG = "team-of-a-department-with-a-name-that-is-far-too-long"
TREE = """
actions: "enqueue, allocate"
tiers: [{plugins: [{name: gang}, {name: capacity, enableHierarchy: true}]}]
"""


def flat(pods=6, suffix=""):
    cluster = Cluster()
    for number in range(4):
        cluster.node(f"node-{number}{suffix}", cpu=5)
    for queue, weight in (("a", 2), ("b", 3)):
        cluster.queue(f"{queue}{suffix}", weight=weight, guarantee=2, capability=14)
        cluster.job(f"{queue}-work{suffix}", queue=f"{queue}{suffix}", pods=pods, cpu=1,
                    min_member=1, running={f"node-0{suffix}": 2})
        cluster.job(f"{queue}-gang{suffix}", queue=f"{queue}{suffix}", pods=8, cpu=1)
    return cluster


PLOTS = [name for name in vars(Plot) if not name.startswith("_")]
OF_A_JOB = ("sums", "statement")


@pytest.mark.long
@pytest.mark.parametrize("name", PLOTS)
def test_every_cycle_has_every_picture(name):
    for cycle, job in ((flat().run(), "b-gang"),
                       (tree_cluster().run(tree_conf()), "eval-gang"),
                       (Cluster.read(export("plots")).run(), "ci/nightly-4412"),
                       (Cluster().node("n", cpu=1).job("j", cpu=1).run(), "j")):
        picture = getattr(cycle.plot, name)(*([job] if name in OF_A_JOB else []))
        drawn = ET.fromstring(picture.svg)
        assert picture.alt.startswith(picture.title.rstrip(".")) and float(drawn.get("width")) > 0


def test_every_picture_is_named_where_a_reader_looks():
    page = (ROOT / "docs" / "labs-and-pictures.md").read_text(encoding="utf-8")
    for text in (page.partition("### Pictures of any cycle")[2].partition("\n## ")[0],
                 Cycle.plot.__doc__):
        assert {*PLOTS} <= {*re.findall(r"`\.(\w+)\(", text)}


def test_votes_are_those_of_the_cycle():
    outline = eviction_cluster().run(conf_with("preempt")).plot.votes("urgent-0").data["verdict"]
    assert outline == "The outline of a cycle has no votes; run(trace=Trace()) records them."
    cycle = eviction_cluster().run(conf_with("preempt"), trace=Trace())
    assert cycle.plot.votes("urgent-0").data["verdict"] == "Evicted: old-1, named by tier 1."
    assert cycle.plot.votes().data == cycle.plot.votes("urgent-0").data


def test_the_timeline_ends_with_what_queues_hold():
    cycle = flat().run()
    ends = {lane["name"]: lane["points"][-1][1]
            for lane in cycle.plot.timeline().data["lanes"]}
    assert ends == {row["queue"]: row["allocated"]["cpu"] for row in cycle.queues()
                    if row["queue"] != "default"}


def test_queues_hold_what_their_pods_request_where_no_plugin_computes_sums():
    conf = {"actions": "enqueue, allocate",
            "tiers": [{"plugins": [{"name": "gang"}, {"name": "predicates"}]}]}
    cycle = (Cluster().node("n1", cpu=4).queue("a")
             .job("old", queue="a", pods=1, cpu=1, running={"n1": 1})
             .job("new", queue="a", pods=4, min_member=1, cpu=1).run(conf))
    row, = cycle.plot.queues().data["queues"]
    assert (row["held"], row["allocated"], row["request"]) == (1, 4, 5)
    assert cycle.plot.timeline().data["lanes"][0]["points"] == [[0, 1], [1, 2], [2, 3], [3, 4]]


def test_the_timeline_has_a_lane_for_jobs_of_the_root():
    cluster = (Cluster().node("n1", cpu=4).queue("a", parent="root")
               .job("old", queue="root", pods=1, cpu=1, running={"n1": 1})
               .job("new", queue="root", pods=2, cpu=1))
    lane, = cluster.run().plot.timeline().data["lanes"]
    assert (lane["name"], lane["points"]) == ("root", [[0, 1], [1, 2], [2, 3]])


KINDS = ["queues", "water", "tree", "sums", "nodes", "timeline"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("node", [{"gpu": 4}, {}])
def test_a_resource_of_nodes_or_pods_is_known_by_its_short_name(kind, node):
    plot = Cluster().node("n1", cpu=4, **node).job("a", pods=2, cpu=1, gpu=2).run().plot
    short, whole = (getattr(plot, kind)(resource=name) for name in ("gpu", "nvidia.com/gpu"))
    assert (short.data, short.svg) == (whole.data, whole.svg)
    assert not node or short.svg != getattr(plot, kind)().svg


@pytest.mark.parametrize("kind", KINDS)
def test_a_resource_that_is_not_there_is_refused(kind):
    with pytest.raises(LookupError, match="no node has gpu, and no pod requests it; there are cpu"):
        getattr(flat().run().plot, kind)(resource="gpu")


def rects(svg, kind):
    return [box for box in ET.fromstring(svg).iter(f"{SVG}rect")
            if kind in (box.get("class") or "").split()]


def widths(svg, kind):
    return sorted({round(float(box.get("width")), 1) for box in rects(svg, kind)})


def test_the_same_number_has_the_same_pixels_on_every_row():
    picture = flat().run().plot.queues()
    running = widths(picture.svg, "vp-pod-running") + widths(picture.svg, "vp-pod-now")
    assert max(running) - min(running) < 1.5, "a pod of one CPU in the strip and in its queue"
    scale = {round(float(node.get("width")) + 3) / 5 for node in rects(picture.svg, "vp-node")}
    assert len(scale) == 1 and abs(running[-1] - scale.pop()) < 3


@pytest.mark.long
def test_twice_as_much_is_twice_as_wide():
    one, two = ({row["queue"]: (row["deserved"], width) for row, width in zip(
        channels(cluster.run())["queues"], bands(cluster.run().plot.queues().svg), strict=True)}
        for cluster in (flat(6), flat(2)))
    for rows in (one, two):
        assert len({round(width / deserved, 1) for deserved, width in rows.values()}) == 1


def bands(svg):
    """How wide the water of each row is."""
    found = []
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        boxes = [box for box in group if (box.get("class") or "").startswith("vp-water vp-water-")]
        if boxes and not any("vp-least-thin" in (each.get("class") or "") for each in group):
            found.append(sum(float(box.get("width")) for box in boxes))
    return found


@pytest.mark.parametrize("width", [390, 640, 860, 1240])
@pytest.mark.parametrize("suffix", ["", f"-{LONG}"])
def test_no_words_overlap(width, suffix):
    deep = Cluster().node("n", cpu=20)
    deep.queue(f"top{suffix}", deserved=9, capability=9).queue(
        f"below{suffix}", parent=f"top{suffix}", deserved=9, guarantee=9, capability=9)
    deep.job(f"gang{suffix}", queue=f"below{suffix}", pods=12, cpu=1)
    for cycle in (flat(suffix=suffix).run(), deep.run(TREE)):
        picture = pictures.channels("Queues", channels(cycle), width=width)
        words = words_of(picture.svg)
        for place, (y, left, right, text) in enumerate(words):
            assert left >= -1 and right <= width + 1, f"{text} is cut off"
            for other_y, other_left, other_right, other in words[place + 1:]:
                apart = abs(y - other_y) > 7 or right <= other_left + 1 or other_right <= left + 1
                assert apart, f"{text} lies on {other}"


def test_labels_say_the_number_of_their_mark():
    said = " ".join(words for _, _, _, words in words_of(flat().run().plot.queues().svg))
    assert re.search(r"guarantee 2 deserves [\d.]+ limit 14", said)


def test_the_row_of_the_whole_cluster_is_in_the_reader_s_language():
    from volcano_lab.messages.language import speaking

    cycle = Cluster().node("n1", cpu=4).job("a", pods=9, cpu=1).run()
    assert [row["label"] for row in cycle.plot.sums("a").data] == ["cluster"]
    with speaking("zh"):
        (row,) = cycle.plot.sums("a").data
    assert (row["name"], row["label"]) == ("cluster", "集群")


def test_nodes_stand_in_frames_by_a_label():
    cluster = Cluster().node("n3", cpu=4)
    for number, rack in enumerate("ab", 1):
        cluster.node(f"n{number}", cpu=4, labels={"rack": rack})
    data = cluster.run().plot.nodes(by="rack").data
    assert {node["name"]: node["group"] for node in data["nodes"]} == {
        "n1": "rack a", "n2": "rack b", "n3": ""}
    assert [group["name"] for group in data["groups"]] == ["rack a", "rack b"]
    assert cluster.run().plot.nodes().data["groups"] == []


def test_turns_have_lanes_where_no_plugin_computes_shares():
    conf = 'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n'
    cluster = Cluster().node("n1", cpu=4).queue("a").queue("b")
    cycle = cluster.job("x", queue="a", cpu=1).job("y", queue="b", cpu=1).run(conf)
    assert cycle.queues() == []
    assert [row["queue"] for row in cycle.plot.turns().data["queues"]] == ["a", "b"]


def test_where_capacity_has_stopped_the_lines_are_those_of_the_manifests():
    cluster = Cluster().node("n1", cpu=4).queue("team", capability=3, deserved=2)
    cluster.queue("below", parent="team").job("x", queue="below", cpu=1, running={"n1": 1})
    picture = cluster.copy().job("y", queue="team", cpu=1).run(TREE).plot.queues()
    assert "computed neither limits nor shares" in picture.legend
    assert picture.spec["without"] == ["shares"]
    assert [(row["queue"], row["limit"], row["deserved"], row["held"])
            for row in picture.data["queues"]] == [("team", 3, 2, 0), ("below", 4, 0, 1)]
    assert cluster.run(TREE).plot.queues().legend == ""


@pytest.mark.parametrize("above, shown", [
    ({"a": "a"}, {"a": "", "b": "", "c": ""}),
    ({"a": "b", "b": "a"}, {"a": "", "b": "", "c": ""}),
    ({"a": "b", "b": "a", "c": "a"}, {"a": "", "b": "", "c": "a"}),
    ({"a": "b", "b": "c", "c": "a"}, {"a": "", "b": "", "c": ""})])
def test_queues_in_a_cycle_of_parents_stand_alone_and_a_sentence_says_so(above, shown, caplog):
    cluster = Cluster(conf=TREE).node("n1", cpu=4)
    for name in "abc":
        cluster.queue(name, parent=above.get(name)).job(f"job-{name}", queue=name, cpu=1)
    objects = [obj.evolve(status=obj.status.evolve(phase="Inqueue")) if obj.kind == "PodGroup"
               else obj for obj in cluster.objects()]
    cycle = Cluster(objects, TREE).run()
    assert "The parents of queues form a cycle" in caplog.text
    legend = cycle.plot.queues().legend
    assert legend.index("form a cycle") < legend.index("capacity has stopped")
    rows = {row["queue"]: row for row in channels(cycle)["queues"]}
    assert {name: row["parent"] for name, row in rows.items()} == shown
    assert not any(rows[name]["leaf"] for name in above.values())
    for picture in (cycle.plot.queues("All"), cycle.plot.tree("All")):
        assert all(f"job-{name}" in picture.alt for name in "abc")


def test_the_line_of_deserved_leaves_the_words_below_alone():
    def drawn(deserved):
        cluster = Cluster().node("n1", cpu=20).queue("a", capability=1, deserved=deserved)
        return bottom_of(cluster.job("x", queue="a", pods=4, cpu=1).run(TREE).plot.queues().svg)

    assert drawn(9) < drawn(4) == drawn(3)


def bottom_of(svg):
    """How low the line of deserved ends."""
    lines = [line for line in ET.fromstring(svg).iter(f"{SVG}line")
             if line.get("class") == "vp-limit"]
    return max(float(line.get("y2")) for line in lines if float(line.get("y2"))
               - float(line.get("y1")) > 20)


@pytest.mark.long
def test_how_many_pods_were_placed_stands_beside_those_that_were_not():
    cluster = Cluster().node("n1", cpu=60).queue("a", weight=2).queue("b", weight=3)
    cluster.job("x", queue="a", pods=40, cpu=1, min_member=1)
    cluster.job("y", queue="b", pods=40, cpu=1, min_member=1)
    said = [words for _, _, _, words in words_of(cluster.run().plot.queues().svg)]
    assert any(words.startswith("✓ placed: 24 of 40 pods") for words in said), said


def test_a_job_that_was_not_compared_has_a_row_that_says_so():
    cluster = Cluster().node("n1", cpu=4).queue("a").job("x", queue="a", cpu=1, running={"n1": 1})
    (row,) = cluster.run().plot.sums("x").data
    assert (row["name"], row["parts"], row["text"]) == ("a", [], "not compared in this cycle")


def test_a_sum_over_a_limit_of_0_is_all_right_of_the_line():
    svg = pictures.sums("T", [{"name": "a", "parts": [6], "limit": 0, "text": "6 of 0"}]).svg
    limit, = (float(line.get("x1")) for line in ET.fromstring(svg).iter(f"{SVG}line")
              if line.get("class") == "vp-limit")
    part, = (float(box.get("x")) for box in ET.fromstring(svg).iter(f"{SVG}rect")
             if box.get("fill") == "#0072B2" and float(box.get("width")) > 14)
    assert part == pytest.approx(limit, abs=0.2)


def test_a_new_queue_changes_the_colour_of_no_other_in_any_picture():
    cluster = Cluster().node("n1", cpu=4)
    for name in ("web", "ads"):
        cluster.queue(name).job(f"job-{name}", queue=name, cpu=1)
    more = cluster.copy().queue("a-new-one").job("first", cpu=1)
    more.job("second", queue="a-new-one", cpu=1)

    def colours(cluster, conf):
        plot = cluster.run(conf).plot
        drawn = [{row["queue"]: row["color"] for row in picture.data["queues"]}
                 for picture in (plot.queues(), plot.turns(), plot.tree())]
        drawn += [{lane["name"]: lane["color"] for lane in plot.timeline().data["lanes"]}]
        return [*filter(None, drawn)]

    for conf in (None, TREE):
        for before, after in zip(colours(cluster, conf), colours(more, conf), strict=True):
            for found in (before, after):
                assert {"web": COLORS[0], "ads": COLORS[1]}.items() <= found.items()
            assert len({after[name] for name in ("web", "ads", "a-new-one", "default")}) == 4
