"""Each picture of the vocabulary: what it says, and that a still is the same everywhere."""

import json
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from volcano_lab.trace.palette import COLORS
from volcano_lab.widgets import pictures
from volcano_lab.widgets.scripts import HERE

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "labs-and-pictures.md").read_text(encoding="utf-8")
SAMPLES = {block.split("(")[0].removeprefix("pictures."): block
           for block in re.findall(r"```python\n(pictures\..*?)```", GUIDE, re.DOTALL)}


def test_the_guide_s_lab_is_complete():
    block = next(block for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
                 if "cluster_of" in block)
    assert sum(bool(line.strip()) for line in block.splitlines()) <= 34
    names = {}
    exec(block, names)
    lab = names["lab"]
    said = re.search(r"lab.set\(a_weight=3\).said +# '(.*)'", GUIDE)[1]
    assert lab.said == "Both deserve 50: weights are equal."
    assert lab.set(a_weight=3).said == said and lab.done == {"thrice": True}


def sample(kind):
    return eval(SAMPLES[kind], {"pictures": pictures})


def test_the_guide_has_each_picture():
    named = set(re.findall(r"import \{(\w+)\} from \"./pictures/",
                           (HERE / "js" / "pictures.js").read_text()))
    assert named == set(SAMPLES)


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


def test_a_still_has_the_same_bytes_in_another_process():
    code = (f"from volcano_lab.widgets import pictures\n"
            f"print({SAMPLES['vessels']}.svg)\nprint({SAMPLES['cluster']}.svg)")
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout == f"{sample('vessels').svg}\n{sample('cluster').svg}\n"


def test_colours_are_those_of_the_palette():
    source = (HERE / "js" / "marks.js").read_text()
    listed = re.search(r"COLORS = \[(.*?)\]", source)[1]
    assert tuple(json.loads(f"[{listed}]")) == COLORS


def test_data_that_cannot_be_drawn_are_one_sentence():
    with pytest.raises(ValueError, match="the picture bars cannot draw its data"):
        pictures.bars("Bars", {"name": "a"}).alt  # noqa: B018
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        pictures.bars("Bars", [], colour=1)


@pytest.mark.parametrize("kind", ["bars", "vessels", "tree", "sums"])
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


def rounds(queues, most):
    """The water of one round, of 30 in each queue."""
    return {"queues": [{"queue": queue, "weight": 1, "limit": limit, "rim": "limit"}
                       for queue, limit in queues.items()],
            "rounds": [{"left_before": most, "left": 0, "steps": {
                queue: {"before": 0, "offered": 30, "after": 30} for queue in queues}}]}


def lane(name, color, *values):
    return {"name": name, "color": color, "points": [[i, each] for i, each in enumerate(values)]}


BLUE, ORANGE = "#0072B2", "#E69F00"
ALIKE = [
    ("bars", "what is held, of other limits", pictures.bars("T", [
        {"name": "a", "held": 16, "limit": 50}, {"name": "b", "held": 16, "limit": 70}]), "width"),
    ("vessels", "the water of queues with other rims", pictures.vessels(
        "T", rounds({"a": 50, "b": 80}, 100), most=100), "height"),
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


def test_lanes_of_a_timeline_have_one_scale():
    picture = pictures.timeline("T", {"lanes": [lane("a", BLUE, 0, 8, 0),
                                                lane("b", ORANGE, 0, 8, 16, 0)]}, until=4)
    small, large = (sorted({float(y) for y in re.findall(r"V([\d.]+)", path)}) for path in
                    re.findall(r'<path d="([^"]+)" fill="#', picture.svg))
    assert small[-1] - small[0] == large[-1] - large[1], "8 and 8 are equally high"


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


@pytest.mark.parametrize("kind", ["bars", "sums", "tree", "turns", "cluster", "vessels"])
def test_long_names_stay_in_the_picture(kind):
    picture = sample(kind)
    names = set(re.findall(r'"(?:name|queue)": "([\w-]+)"', json.dumps(picture.data)))
    text = re.sub(r'"(' + "|".join(map(re.escape, names)) + r')"', rf'"{LONG}-\1"',
                  json.dumps(picture.data))
    svg = ET.fromstring(pictures.evolve(picture, data=json.loads(text)).svg)
    for each in svg.iter("{http://www.w3.org/2000/svg}text"):
        words = "".join(each.itertext())
        assert len(words) < 100 and 0 <= float(each.get("x")) <= picture.width, words


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
