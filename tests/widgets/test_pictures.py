"""Each picture of the vocabulary: what it says, and that a still is the same everywhere."""

import json
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from drawn_words import words_of

from volcano_lab.trace.palette import COLORS
from volcano_lab.widgets import pictures
from volcano_lab.widgets.scripts import HERE

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "labs-and-pictures.md").read_text(encoding="utf-8")
SAMPLES = {block.split("(")[0].removeprefix("pictures."): block
           for block in re.findall(r"```python\n(pictures\..*?)```", GUIDE, re.DOTALL)}


@pytest.mark.long
def test_the_guide_s_lab_is_complete():
    block = next(block for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
                 if "cluster_of" in block)
    assert sum(bool(line.strip()) for line in block.splitlines()) <= 34
    names = {}
    exec(block, names)
    lab = names["lab"]
    said = re.search(r"lab.set\(a_weight=3\).said +# '(.*)'", GUIDE)[1]
    assert lab.said == "Both deserve 50: weights are equal."
    assert lab.set(a_weight=3).said == said
    assert lab.begin("thrice").set(a_weight=3).done == {"thrice": True}


def sample(kind):
    return eval(SAMPLES[kind], {"pictures": pictures})


def test_the_guide_has_each_picture():
    named = set(re.findall(r"import \{(\w+)\} from \"./pictures/",
                           (HERE / "js" / "pictures.js").read_text()))
    assert named == set(SAMPLES)


@pytest.mark.long
@pytest.mark.parametrize("kind", SAMPLES)
def test_a_picture_draws_its_data_and_says_them(kind):
    picture = sample(kind)
    bundle, _ = picture._repr_mimebundle_()
    assert bundle["text/plain"] == picture.alt and picture.title in picture.alt
    for name in re.findall(r'"(?:name|queue)": "([\w-]+)"', json.dumps(picture.data)):
        assert name in picture.alt, f"{name} is in the data and not in the words"
    if kind == "table":
        assert "<th" in bundle["text/html"]
        return
    svg = ET.fromstring(picture.svg)
    width, height = float(svg.get("width")), float(svg.get("height"))
    assert width == picture.width and 60 < height < 640
    assert "prefers-color-scheme: dark" in picture.svg
    for text in svg.iter("{http://www.w3.org/2000/svg}text"):
        assert 0 <= float(text.get("x")) <= width, "no words beside the picture"


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind != "table"])
def test_the_guide_s_stills_are_those_of_its_examples(kind):
    stored = (ROOT / "docs" / "pictures" / f"{kind}.svg").read_text(encoding="utf-8")
    assert stored == sample(kind).svg + "\n", "renew them: python tools/screenshots.py"


@pytest.mark.long
def test_a_still_has_the_same_bytes_in_another_process():
    code = (f"from volcano_lab.widgets import pictures\n"
            f"print({SAMPLES['channels']}.svg)\nprint({SAMPLES['cluster']}.svg)")
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout == f"{sample('channels').svg}\n{sample('cluster').svg}\n"


def test_colours_are_those_of_the_palette():
    source = (HERE / "js" / "marks.js").read_text()
    listed = re.search(r"COLORS = \[(.*?)\]", source)[1]
    assert tuple(json.loads(f"[{listed}]")) == COLORS


def test_data_that_cannot_be_drawn_are_one_sentence():
    with pytest.raises(ValueError, match="the picture bars cannot draw its data"):
        pictures.bars("Bars", {"name": "a"}).alt  # noqa: B018
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        pictures.bars("Bars", [], colour=1)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bars", "channels", "tree", "sums"])
def test_whatever_the_numbers_are_nothing_is_drawn_with_no_number(kind):
    chance, picture = random.Random(kind), sample(kind)

    def shaken(value):
        if isinstance(value, dict):
            return {key: shaken(each) for key, each in value.items()}
        if isinstance(value, list):
            return [shaken(each) for each in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return chance.choice([0, 0.001, value, value * 3.3, 10**6])
        return value

    for _ in range(40):
        svg = pictures.evolve(picture, data=shaken(picture.data)).svg
        assert "NaN" not in svg and "Infinity" not in svg and 'width="-' not in svg


def boxes(picture, style):
    """[(x, y, width)] of a still's boxes of a class, or filled so; not those of a hatch."""
    return [tuple(float(box.get(name)) for name in ("x", "y", "width")) for box in
            ET.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}rect")
            if not box.get("opacity")
            and style in ((box.get("class") or "").split() or [box.get("fill")])]


def test_the_same_amount_has_the_same_pixels_on_every_level_of_a_tree():
    sizes = {"root": 20, "prod": 20, "batch": 20, "web": 20, "research": 8, "train": 8, "eval": 6}
    above = {"prod": "root", "research": "root", "batch": "prod", "web": "prod",
             "train": "research", "eval": "research"}
    picture = pictures.tree("T", {"queues": [
        {"queue": name, "parent": above.get(name, ""), "size": size, "allocated": size / 2,
         "color": "#0072B2"} for name, size in sizes.items()]})
    for found, amounts in ((boxes(picture, "vp-level"), sizes.values()),
                           (boxes(picture, "#0072B2"), [size / 2 for size in sizes.values()])):
        assert len({round(width / amount, 1) for (_, _, width), amount in zip(
            found, amounts, strict=True)}) == 1
        assert len({x for x, _, _ in found}) == 1, "all begin at the same 0"


def lane(name, color, *values):
    return {"name": name, "color": color, "points": [[i, each] for i, each in enumerate(values)]}


def test_the_longest_legend_of_a_film_explains_all_its_moments():
    moments = {legend: pictures.bars("Held", [{"name": "a", "held": 1}], legend=legend)
               for legend in ("", "Full: runs. ×: leaving.", "Full: runs.")}
    assert pictures.film(moments).legend == "Full: runs. ×: leaving."


def test_a_film_rests_at_its_last_moment_and_names_it():
    moments = {name: pictures.bars("Held", [{"name": "a", "held": held}], most=4)
               for name, held in (("at first", 1), ("at last", 3))}
    film, last = pictures.film(moments), moments["at last"]
    assert [row["held"] for (row,) in film.data] == [1, 3] and film.title == "Held"
    assert film.alt == f"Held. at last: {last.alt.removeprefix('Held. ')}"
    assert [each[:3] for each in words_of(film.svg)[:-1]] == [
        each[:3] for each in words_of(last.svg)], "the picture is that of the moment"
    line, *_, words = words_of(film.svg)[-1]
    assert words == "at last" and line > max(each[0] for each in words_of(last.svg))


BLUE, ORANGE = "#0072B2", "#E69F00"
ALIKE = [
    ("bars", "what is held, of other limits", pictures.bars("T", [
        {"name": "a", "held": 16, "limit": 50}, {"name": "b", "held": 16, "limit": 70}]), "width"),
    ("cluster", "a pod on a small node and on a large one", pictures.cluster("T", {"nodes": [
        {"name": f"n{size}", "size": size, "pods": [{"name": "x", "size": 2, "color": color}]}
        for size, color in ((4, BLUE), (16, ORANGE))]}), "width"),
    ("sums", "the same part of two limits", pictures.sums("T", [
        {"name": "a", "parts": [4], "limit": 8, "text": "x", "color": BLUE},
        {"name": "b", "parts": [8], "limit": 16, "text": "y", "color": ORANGE}]), "width"),
]


@pytest.mark.parametrize(("kind", "sentence", "picture", "side"), ALIKE,
                         ids=[row[0] for row in ALIKE])
def test_the_same_amount_has_the_same_pixels(kind, sentence, picture, side):
    sizes = [[float(box.get(side)) for box in ET.fromstring(picture.svg).iter(
        "{http://www.w3.org/2000/svg}rect") if box.get("fill") == color and (
            box.get("class") is None) and box.get("opacity") in (None, "1")
        and float(box.get("width")) != 13] for color in (BLUE, ORANGE)]
    assert sizes[0] == sizes[1] != [], sentence


def test_the_parts_of_a_sum_have_the_colours_that_are_given():
    svg = pictures.sums("T", [{"name": "50", "parts": [20, 30], "limit": 60, "text": "50",
                               "colors": [BLUE, ORANGE]}], parts=["a", "b"]).svg
    drawn = [(box.get("fill"), float(box.get("width")) == 13) for box in ET.fromstring(svg).iter(
        "{http://www.w3.org/2000/svg}rect")]
    for color in (BLUE, ORANGE):
        assert (color, False) in drawn and (color, True) in drawn, "the bar and the key"


def test_the_figure_of_a_part_does_not_cross_the_line_of_the_limit():
    svg = pictures.sums("T", [{"name": "80", "parts": [80, 40], "limit": 100, "text": "120",
                               "over": True}], most=1.2).svg
    line = next(float(line.get("x1")) for line in ET.fromstring(svg).iter(
        "{http://www.w3.org/2000/svg}line") if line.get("class") == "vp-limit")
    figure = next(float(text.get("x")) for text in ET.fromstring(svg).iter(
        "{http://www.w3.org/2000/svg}text") if text.text == "40")
    assert figure + 8 < line


def queue(name, color, limit, **more):
    """A queue that deserves 30 and holds a pod of 10, with its limit elsewhere."""
    pod = {"job": name, "called": name, "name": f"{name}-job", "pods": 1, "size": 10, "min": 1,
           "running": 1, "now": 0, "leaving": 0, "waiting": 0, "fate": "running", "reason": ""}
    return {"queue": name, "parent": "", "leaf": True, "color": color, "weight": 1, "deserved": 30,
            "allocated": 10, "request": 80, "held": 10, "limit": limit, "capability": limit,
            "guarantee": 0, "share": 0.5, "after": 0.5, "turn": None, "jobs": [pod], **more}


def a_vote(plugins):
    return {"name": f"tier of {len(plugins)}", "plugins": plugins}


SAME = [
    ("channels", "water of queues with other limits", "rect.vp-water-0", "width", pictures.channels(
        "T", {"unit": "CPUs", "plugin": "proportion", "total": 100, "nodes": [], "rounds": [],
              "queues": [queue("a", BLUE, 50), queue("b", ORANGE, 80)]})),
    ("channels", "a pod in queues with other limits", "rect.vp-pod-running", "width",
     pictures.channels("T", {"unit": "CPUs", "plugin": "", "total": 100, "nodes": [], "rounds": [],
                             "queues": [queue("a", BLUE, 50), queue("b", ORANGE, 80)]})),
    ("channels", "the same share of two queues", "path.vp-diamond", "style", pictures.channels(
        "T", {"unit": "CPUs", "plugin": "", "total": 100, "nodes": [], "rounds": [],
              "queues": [queue("a", BLUE, 50), queue("b", ORANGE, 80)]}, width=760)),
    ("curves", "the same number of two lines", "circle", "cy", pictures.curves(
        "T", {"lines": [{"name": name, "points": [], "dot": [nodes, 500]}
                        for name, nodes in (("a", 20), ("b", 90))]},
        x="nodes", y="scores", least=(10, 10), most=(100, 1000))),
    ("statement", "pods in all states", "rect[rx=6][stroke-width]", "width", pictures.statement(
        "T", {"outcome": "discard", "headline": "x", "minimum": 3, "color": BLUE, "pods": [
            {"name": state, "state": state, "step": 1} for state in (
                "running", "placed", "promised", "tried", "waiting")]})),
    ("turns", "turns of one pod and of nine", "rect[rx=4]", "width", pictures.turns(
        "T", {"queues": [{"queue": "a"}, {"queue": "b"}], "turns": [
            {"queue": "a", "outcome": "placed", "pods": 1}, {"queue": "b", "outcome": "placed",
                                                             "pods": 9}]})),
    ("votes", "plugins of a small tier and of a large one", "rect[rx=5]", "width", pictures.votes(
        "T", {"tiers": [a_vote(["a"]), a_vote(["b", "c", "d"])],
              "rows": [{"name": "x", "votes": {"a": True, "b": False, "c": None}}]})),
    ("states", "pods where few are and where many are", "rect[rx=3]", "width", pictures.states(
        "T", {"pods": [{"name": f"p{number}", "state": "Running" if number else "Pending"}
                       for number in range(8)]})),
    ("band", "the same difference, tolerant and strict", "circle", "cx", pictures.band(
        "T", [{"name": name, "value": 0.2, "text": "x", "strict": name == "strict"}
              for name in ("tolerant", "strict")])),
]


@pytest.mark.parametrize(("kind", "sentence", "mark", "side", "picture"), SAME,
                         ids=[f"{row[0]}: {row[1]}" for row in SAME])
def test_the_same_number_has_the_same_pixels(kind, sentence, mark, side, picture):
    tag, style, fixed = re.fullmatch(r"(\w+)(?:\.([\w-]+))?((?:\[[\w=-]+\])*)", mark).groups()
    found = [shape.get(side) for shape in drawn(picture, tag) if (
        not style or style in (shape.get("class") or "").split())
        and all(shape.get(name) == (value or shape.get(name)) and shape.get(name)
                for name, value in re.findall(r"\[([\w-]+)=?(\w*)\]", fixed))]
    if side == "style":  # where it stands across
        found = [re.search(r"translate\(([\d.]+)px", each)[1] for each in found]
    assert len(found) > 1 and len(set(found)) == 1, sentence


def test_ten_times_as_much_is_as_far_on_every_part_of_a_curve():
    line = {"name": "a", "points": [[10, 10], [20, 100], [90, 1000]]}
    picture = pictures.curves("T", {"lines": [line]}, x="nodes", y="scores", least=(10, 10),
                              most=(100, 1000))
    low, middle, high = (float(dot.get("cy")) for dot in drawn(picture, "circle"))
    assert abs((low - middle) - (middle - high)) < 0.2


def drawn(picture, tag):
    """The shapes of a still."""
    return ET.fromstring(picture.svg).iter(f"{{http://www.w3.org/2000/svg}}{tag}")


def test_lanes_of_a_timeline_have_one_scale():
    picture = pictures.timeline("T", {"lanes": [lane("a", BLUE, 0, 8, 0),
                                                lane("b", ORANGE, 0, 8, 16, 0)]}, until=4)
    small, large = (sorted({float(y) for y in re.findall(r"V([\d.]+)", path)}) for path in
                    re.findall(r'<path d="([^"]+)" fill="#', picture.svg))
    assert small[-1] - small[0] == large[-1] - large[1], "8 and 8 are equally high"


@pytest.mark.parametrize("width", [440, 640])
@pytest.mark.parametrize("way", [["Allocated", "Pending", ""], ["Pending", "Allocated", ""]])
def test_one_step_between_states_keeps_the_words_of_all_arrows(width, way):
    picture = pictures.states("T", {"pods": [{"name": "p", "state": way[1]}], "way": [way]})
    svg = pictures.evolve(picture, width=width).svg
    words = words_of(svg)
    assert {"allocate", "commit", "bind", "start"} <= {word[3] for word in words}
    assert "1" not in {word[3] for word in words}
    taken = re.search(r'd="M(\S+) \S+ H(\S+)" class="vp-edge vp-taken"', svg)
    assert (float(taken[1]) > float(taken[2])) == (way[1] == "Pending"), "between the two boxes"


@pytest.mark.parametrize(("state", "size", "shown"), [
    ("running", 4, "web-0"), ("leaving", 4, "web-0"), ("promised", 4, "→ web-0"),
    ("running", 0.5, None)])
def test_a_pod_shows_its_name_where_the_whole_name_fits(state, size, shown):
    pod = {"name": "web-0", "size": size, "color": BLUE, "state": state}
    svg = pictures.cluster("T", {"nodes": [{"name": "n", "size": 8, "pods": [pod]}]}).svg
    assert [word[3] for word in words_of(svg) if "web" in word[3]] == [shown] * bool(shown)


def test_pods_keep_their_place_when_others_come_and_leave():
    def places(pods):
        svg = pictures.cluster("T", {"nodes": [{"name": "n", "size": 8, "pods": [
            {"name": name, "size": 1, "color": BLUE, "state": state}
            for name, state in pods.items()]}]}).svg
        return re.findall(r'x="([\d.]+)" y="25"', svg)

    before = places({"a": "running", "b": "running"})
    after = places({"a": "evicted", "b": "running", "c": "allocated"})
    assert after[:2] == before[:2]


LONG = "a-queue-with-a-very-long-name-of-a-team-in-a-department"


@pytest.mark.parametrize("width", [390, 640, 1240])
@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind not in ("table", "states")])
def test_long_names_stay_in_the_picture_and_overlap_nothing(kind, width):
    picture = sample(kind)
    names = set(re.findall(r'"(?:name|queue)": "([\w-]+)"', json.dumps(picture.data)))
    text = re.sub(r'"(' + "|".join(map(re.escape, names)) + r')"', rf'"{LONG}-\1"',
                  json.dumps(picture.data))
    words = words_of(pictures.evolve(picture, data=json.loads(text), width=width,
                                       legend="").svg)
    for place, (y, left, right, said) in enumerate(words):
        assert left >= -2 and right <= width + 2, f"{said} is cut off"
        for other_y, other_left, other_right, other in words[place + 1:]:
            apart = abs(y - other_y) > 7 or right <= other_left + 1 or other_right <= left + 1
            assert apart, f"{said} lies on {other}"


def test_what_is_held_beyond_a_limit_is_drawn_beyond_it():
    held = pictures.tree("T", {"queues": [
        {"queue": "a", "parent": "", "size": 3, "allocated": allocated, "color": "#0072B2"}
        for allocated in (4,)]})
    (_, _, limit), = boxes(held, "vp-level")
    (_, _, pods), = boxes(held, "#0072B2")
    assert round(pods / limit, 2) == round(4 / 3, 2)


def test_only_a_tolerant_row_forgives():
    rows = [{"name": name, "value": 0.05, "text": "x", "strict": strict}
            for name, strict in (("tolerant", False), ("strict", True))]
    (_, y, _), = boxes(pictures.band("T", rows), "url(#s-009E73)")
    (_, other, _), = boxes(pictures.band("T", rows[::-1]), "url(#s-009E73)")
    assert y < other


def test_words_of_a_narrow_band_end_before_its_line():
    svg = ET.fromstring(pictures.band("T", [{"name": "tolerant", "value": 0.05, "text": "yes"}],
                                      width=290).svg)
    line, = (float(each.get("x1")) for each in svg.iter() if each.get("class") == "vp-limit")
    word, = (each for each in svg.iter() if each.text == "left ≤ right")
    assert word.get("text-anchor") == "end" and float(word.get("x")) < line
    assert "-0.1" not in [each.text for each in svg.iter()]


def test_for_against_and_no_opinion_look_different():
    votes = {"a": {"text": "PERMIT", "yes": True}, "b": {"text": "REJECT", "yes": False},
             "c": {"text": "ABSTAIN", "yes": None}}
    picture = pictures.votes("T", {"tiers": [{"name": "tier 1", "plugins": [*votes, "d"]}],
                                   "rows": [{"name": "answer", "votes": votes}]})
    kinds = ("vp-yes", "vp-against", "vp-silent", "vp-unasked")
    assert [len(boxes(picture, kind)) for kind in kinds] == [1, 1, 1, 1]


@pytest.mark.parametrize("nodes", [10, 11, 40, 120])
def test_a_dot_s_number_never_stands_over_the_numbers_of_the_axis(nodes):
    line = {"color": COLORS[0], "points": [[10, 100], [120, 1200]], "dot": [nodes, 1600]}
    svg = pictures.curves("T", {"lines": [{**line, "name": "a"}, {**line, "name": "b"}]}, x="nodes",
                          y="scores", least=(10, 10), most=(120, 20_000)).svg
    axis = max(float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*class="vp-soft">1,000<', svg))
    numbers = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>1,600<', svg)
    assert len(numbers) == 2
    for x, anchor in numbers:
        assert float(x) - len("1,600") * (7 if anchor == "end" else 3.5) > axis


def test_a_share_that_rises_in_the_cycle_has_both_numbers_and_the_sign_at_the_second():
    rising = queue("a", BLUE, 100, share=0.25, after=1.0)
    rising["jobs"][0] |= {"fate": "placed", "running": 0, "now": 1}
    data = {"unit": "CPUs", "plugin": "", "total": 100, "nodes": [], "rounds": [],
            "queues": [rising, queue("b", ORANGE, 100)]}
    drawn = ET.fromstring(pictures.channels("T", data, width=900).svg)
    texts = drawn.iter("{http://www.w3.org/2000/svg}text")
    heights = {text.text: float(text.get("y")) for text in texts
               if text.text in ("0.25", "→ 1.00", "✓", "0.50", "→ 0.50")}
    assert heights.keys() == {"0.25", "→ 1.00", "✓", "0.50"}
    assert heights["0.25"] < heights["→ 1.00"] == heights["✓"]
