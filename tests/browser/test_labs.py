"""The labs of the frame in a real Chromium, on a plain page with a real scheduler behind it: keys,
dragging, undo, tasks, copies, screen readers, heights, and that nothing jumps.
"""

import json
import re
from importlib import import_module

import pytest
from axe_playwright_python.sync_playwright import Axe
from widget_page import WidgetPage

from volcano_lab.course.lesson_13.scene import export
from volcano_lab.widgets import Lab, pictures
from volcano_lab.widgets.cluster_lab import lab as opened
from volcano_lab.widgets.controls import choice, slider, switch

pytestmark = pytest.mark.browser

LABS = {"00": "fair_share_lab", "01": "cycle_lab", "02": "comparison_lab", "03": "proportion_lab",
        "04": "admission_lab", "05": "queue_tree_lab", "07": "hierarchy_lab", "08": "placement_lab",
        "09": "evictions_lab", "10": "topology_lab", "11": "run_lab", "12": "combination_lab",
        "14": "day_lab",
        "15": "cost_lab"}
MOST_HIGH, JUMP = 660, 2

RECTS = """() => [...document.querySelectorAll('.vp-lab, .vp-panel, .vp-said, .vp-controls')]
  .map((node) => node.getBoundingClientRect())
  .map(({x, y, width, height}) => [x, y, width, height])"""


STICKS_OUT = """() => [...document.querySelectorAll('.vp-controls')].flatMap((controls) =>
  [...controls.querySelectorAll('.vp-control > :not(:has(*))')].filter((node) => {
    const words = document.createRange();
    words.selectNodeContents(node);
    return words.getBoundingClientRect().right > controls.getBoundingClientRect().right;
  })).map((node) => node.textContent)"""


def make(lesson):
    return getattr(import_module(f"volcano_lab.course.lesson_{lesson}.lab"), LABS[lesson])()


@pytest.fixture
def shown(browser):
    """`shown(widget, …)` opens a page with widgets and gives it."""
    contexts = []

    def open_page(*widgets, width=900, theme="light", fragment="", **options):
        context = browser.new_context(viewport={"width": width + 30, "height": 768},
                                      color_scheme=theme, **options)
        contexts.append(context)
        page = WidgetPage(context.new_page(), theme).open(fragment)
        for widget in widgets:
            page.show(widget, width)
        page.page.wait_for_timeout(250)
        return page

    yield open_page
    for context in contexts:
        context.close()


def handle(shown, name, place=0):
    return shown.page.locator(".place").nth(place).get_by_role("slider", name=name, exact=True)


def press(shown, name, key):
    """Press a key at a handle of the lab."""
    handle(shown, name).focus()
    shown.page.keyboard.press(key)


@pytest.mark.parametrize("lesson", LABS)
def test_a_lab_fits_a_screen_and_no_move_makes_it_jump(lesson, shown):
    lab = make(lesson)
    shown = shown(lab, width=848)  # a notebook's output beside the file browser, at 1280 pixels
    assert shown.page.locator(".vp-lab").bounding_box()["height"] <= MOST_HIGH
    assert shown.page.evaluate(STICKS_OUT) == []
    before, jumps = shown.page.evaluate(RECTS), set()

    def look(after):
        shown.page.wait_for_timeout(120)
        now = shown.page.evaluate(RECTS)
        if any(abs(one - other) > JUMP for first, second in zip(before, now, strict=True)
               for one, other in zip(first, second, strict=True)):
            jumps.add(after)

    for place, control in enumerate(shown.page.locator(".noUi-handle").all()):
        for key in ("End", "Home"):
            control.focus()
            shown.page.keyboard.press(key)
            look(f"{key} on slider {place}")
    for menu in shown.page.locator(".vp-controls select").all():
        menu.select_option(index=1)
        look(f"another {menu.get_attribute('aria-label')}")
    assert not jumps and shown.asked[0]
    assert shown.errors == []


@pytest.mark.parametrize("lesson", LABS)
def test_screen_readers_find_nothing_to_complain_of(lesson, shown):
    lab = make(lesson)
    shown = shown(lab)

    def serious():
        found = Axe().run(shown.page).response["violations"]
        return [f"{each['id']}: {each['nodes'][0]['html'][:150]}" for each in found
                if each["impact"] in ("serious", "critical")]

    assert serious() == []
    if (first := shown.page.locator(".noUi-handle")).count():
        first.first.focus()
        shown.page.keyboard.press("ArrowRight")
    shown.page.get_by_role("button", name="copy ▾").click()
    assert serious() == []
    shown.page.emulate_media(color_scheme="dark")
    shown.page.evaluate("document.body.className = 'dark'")
    shown.page.wait_for_timeout(250)
    assert serious() == []
    for control in shown.page.locator(".noUi-handle").all():
        assert control.get_attribute("aria-label") and control.get_attribute("aria-valuetext")


def test_a_key_moves_the_picture_and_says_what_changed(shown):
    shown = shown(make("00"))
    press(shown, "weight, queue a", "ArrowRight")
    said = shown.page.get_by_role("status").filter(has_text="Queue a: weight 3 (was 2)")
    said.wait_for()
    assert "a deserves 35 CPUs (was 28), b 35 CPUs (was 42)" in said.inner_text()
    assert shown.page.locator(".vp-was").count() == 2, "the state before stays as a ghost"
    assert shown.page.locator("svg .vp-delta").first.text_content() == "▲7"
    label = shown.page.locator("svg").first.get_attribute("aria-label")
    assert "a: asks for 80 CPUs, deserves 35" in label, "the words follow the picture"
    assert [asked["values"] for asked in shown.asked[0]] == [{"queue/a.weight": 3}]


ANSWERED = """([node, key]) => {
  node.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  return document.querySelector("svg.vp-end, table.vp-end") !== null;
}"""


@pytest.mark.parametrize(("lesson", "name", "key", "end"), [
    ("03", "memory of a new pod of a", "End", "6 Gi is the largest"),
    ("04", "old needs", "Home", "1 pod is the smallest"),
    ("14", "weight, queue research", "End", "4 is the largest"),
    ("00", "weight, queue a", "End", "30 is the largest"),
    ("00", "guarantee, queue b", "Home", "0 CPUs is the smallest")])
def test_a_key_at_the_end_of_a_range_says_so(lesson, name, key, end, shown):
    shown = shown(make(lesson))
    handle(shown, name).focus()
    for _ in range(2):
        shown.page.keyboard.press(key)
        shown.page.wait_for_timeout(300)
    shown.page.get_by_text(f"{name}: {end}.").wait_for()
    for _ in range(2):
        node = handle(shown, name).element_handle()
        assert shown.page.evaluate(ANSWERED, [node, key]), "the pictures blink at once"
        shown.until(lambda: not shown.page.locator(".vp-end").count())
        assert not shown.page.locator(".vp-end").count()


def test_a_key_at_the_end_of_a_range_joins_no_two_moves(shown):
    lab = make("00")
    shown = shown(lab)
    press(shown, "weight, queue a", "ArrowRight")
    shown.page.get_by_text("Queue a: weight 3").wait_for()
    press(shown, "capability, queue b", "ArrowRight")
    shown.page.keyboard.press("ArrowLeft")
    shown.page.get_by_text("Queue b: capability 99 CPUs (was no limit)").wait_for()
    assert lab.undo().values == lab.start | {"queue/a.weight": 3}


def test_a_lane_names_its_job_beside_its_handles(shown):
    shown = shown(make("00"))
    press(shown, "minimum, job a-gang", "PageUp")
    said = shown.page.locator("svg text").filter(has_text="not tried")
    said.wait_for()
    words = said.bounding_box()
    assert "a-gang" in said.text_content()
    for name in ("minimum, job a-gang", "pods, job a-gang"):
        knob = handle(shown, name).locator("circle").bounding_box()
        assert knob["x"] + knob["width"] <= words["x"], name


OWN_CENTRE = """(handles) => handles.map((handle) => {
  const {x, y, width, height} = handle.getBoundingClientRect();
  return handle.contains(document.elementFromPoint(x + width / 2, y + height / 2));
})"""


@pytest.mark.parametrize("minimum", [30, 29, 26, 34])
def test_the_centre_of_a_handle_takes_no_other_one(minimum, shown):
    lab = opened(export()).set(**{"job/ci/nightly-4412.minAvailable": minimum})
    handles = shown(lab, width=1040).page.locator("svg [role=slider]")
    assert handles.count() > 20 and all(handles.evaluate_all(OWN_CENTRE))
    boxes = [handles.and_(handles.page.get_by_label(f"{name}, job ci/nightly-4412")).bounding_box()
             for name in ("minimum", "pods")]
    assert abs(boxes[0]["x"] - boxes[1]["x"]) >= 17.9, "as wide as their reach"


# In one call: between calls a busy machine may take the second that ends a gesture.
PRESSED = """(node, [key, times]) => {
  for (let i = 0; i < times; i += 1)
    node.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
}"""


def test_undo_with_the_keyboard_and_one_gesture_is_one_move(shown):
    lab = make("00")
    shown = shown(lab)
    handle(shown, "weight, queue a").focus()
    handle(shown, "weight, queue a").evaluate(PRESSED, ["ArrowRight", 3])
    shown.page.get_by_text("Queue a: weight 5").wait_for()
    press(shown, "guarantee, queue b", "End")
    shown.page.get_by_text("Queue b: guarantee 100").wait_for()
    shown.page.keyboard.press("Control+z")
    shown.page.get_by_text("Undone.").wait_for()
    assert lab.values["queue/b.guarantee.resource.cpu"] == 0 and lab.values["queue/a.weight"] == 5
    shown.page.get_by_role("button", name="undo").click()
    shown.page.wait_for_function("document.querySelector('.vp-scrub').ariaValueNow === '2'")
    assert lab.values == lab.start
    assert shown.page.get_by_role("button", name="undo").is_disabled()


def test_a_task_is_begun_done_and_ticked(shown):
    lab = make("00")
    shown = shown(lab)
    chip = shown.page.get_by_role("button", name="weight", exact=True)
    chip.click()
    shown.page.get_by_text("Which weight of a is just enough").wait_for()
    press(shown, "weight, queue a", "ArrowRight")
    shown.page.locator(".vp-task[data-done]").wait_for()
    assert shown.page.locator(".vp-task[data-done]").inner_text().split()[:2] == ["✓", "weight"]
    shown.page.get_by_role("button", name="guarantee", exact=True).click()
    shown.page.get_by_role("button", name="show me").click()
    shown.page.wait_for_function("document.querySelectorAll('.vp-task[data-done]').length === 2")
    assert lab.values["queue/b.guarantee.resource.cpu"] == 20


DRAGS = [
    ("a limit", "00", "capability, queue a", -40,
     lambda lab: lab.values["queue/a.capability.cpu"] < 50),
    ("a guarantee", "00", "guarantee, queue a", 12,
     lambda lab: lab.values["queue/a.guarantee.resource.cpu"] > 10),
    ("a gang's minimum", "00", "minimum, job a-gang", 30,
     lambda lab: lab.values["job/default/a-gang.minAvailable"] == 4),
    ("a number", "00", "weight, queue a", 30, lambda lab: lab.values["queue/a.weight"] > 2),
    ("a slider", "07", "weight, queue sci", 30, lambda lab: lab.values != lab.start),
]


@pytest.mark.parametrize(("name", "lesson", "selector", "by", "moved"), DRAGS,
                         ids=[row[0] for row in DRAGS])
def test_a_hand_drags(name, lesson, selector, by, moved, shown):
    lab = make(lesson)
    shown = shown(lab)
    box = handle(shown, selector).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    shown.page.mouse.move(x, y)
    shown.page.mouse.down()
    shown.page.mouse.move(x + by / 2, y)
    shown.page.mouse.move(x + by, y)
    shown.until(lambda: moved(lab))
    held = shown.at_rest(handle(shown, selector))
    shown.page.mouse.up()
    left = shown.at_rest(handle(shown, selector))
    assert moved(lab), lab.values
    assert left == pytest.approx(held, abs=0.5), "it stays where it was dragged to"
    assert lab.undo().values == lab.start, "a drag is one move"


def test_a_queue_is_dragged_onto_another_parent_and_moved_by_keys(shown):
    lab = make("05")
    lab.begin("move batch")
    shown = shown(lab)

    def middle(queue):
        box = shown.page.locator(f'[data-drop="{queue}"] .vp-name').first.bounding_box()
        return box["x"] + box["width"] / 3, box["y"] + 8

    shown.page.mouse.move(*middle("batch"))
    shown.page.mouse.down()
    shown.page.mouse.move(*middle("web"))
    shown.page.mouse.move(*middle("research"))
    shown.page.mouse.up()
    shown.page.get_by_text("Queue batch: parent research (was prod).").wait_for()
    assert lab.values["queue/batch.parent"] == "research" and lab.done["move batch"]

    name = shown.page.locator('[data-drop="web"] g:has(> .vp-name)')
    name.focus()
    shown.page.keyboard.press("m")
    shown.page.get_by_text("Moving web").wait_for()
    shown.page.locator('[data-drop="research"] g:has(> .vp-name)').focus()
    shown.page.keyboard.press("Enter")
    shown.page.get_by_text("Queue web: parent research (was prod).").wait_for()
    assert lab.values["queue/web.parent"] == "research" and shown.errors == []


def test_the_arrow_keys_walk_through_a_picture_and_show_the_words_of_hover(shown):
    shown = shown(make("00"))
    parts = shown.page.locator("svg [data-tip][role]:not([role=slider])")
    parts.first.focus()
    first = shown.page.locator(".vp-tip").inner_text()
    shown.page.keyboard.press("ArrowDown")
    second = shown.page.locator(".vp-tip").inner_text()
    assert first.startswith("machine: 0 of 100 CPUs") and second.startswith("default/a-work-0 on")
    assert shown.page.locator("[data-link=a][data-on]").count() > 3, "queue a lights up everywhere"
    shown.page.keyboard.press("Enter")
    shown.page.get_by_text("why here? Pod default/a-work-0").wait_for()
    stops = shown.page.locator("svg [tabindex='0']:not([role=slider])")
    assert stops.count() == 1, "but for what can be moved, a picture is one stop of the Tab key"


def test_what_stands_beside_a_queue_answers_as_the_queue_does_by_click_and_by_key(shown):
    page = shown(make("00")).page
    page.get_by_text("deserves 28", exact=True).click()
    page.get_by_text("why here? a deserves 28").wait_for()
    page.get_by_role("button", name="b: turn").focus()
    page.keyboard.press("Enter")
    page.get_by_text("why here? b deserves 42").wait_for()


def test_the_phases_stand_in_the_order_of_the_list(shown):
    shown = shown(make("01"))

    def heads():
        return shown.page.locator("thead th").all_inner_texts()

    assert heads() == ["job", "open", "enqueue", "allocate", "backfill", "close"]
    places = shown.page.get_by_role("group", name="actions").get_by_role("combobox")
    for at, action in enumerate(("allocate", "enqueue", "–")):
        places.nth(at).select_option(action)
    shown.page.locator("thead th", has_text="backfill").wait_for(state="detached")
    assert heads() == ["job", "open", "allocate", "enqueue", "close"]
    row = shown.page.locator("tbody tr", has_text="train").locator("th, td").all_inner_texts()
    assert row == ["train", "✓ copied", "·", "✓ admitted", "Inqueue"]


def test_water_is_poured_round_by_round(shown):
    shown = shown(make("00"))
    player = shown.page.get_by_role("group", name="play", exact=True)
    scrub, picture = player.get_by_role("slider", name="step"), shown.page.locator("svg").first
    scrub.focus()
    shown.page.keyboard.press("Home")
    assert scrub.get_attribute("aria-valuetext") == "round 0 of 2"
    assert "100 left to share" in picture.text_content()
    shown.page.keyboard.press("ArrowRight")
    assert scrub.get_attribute("aria-valuetext") == "round 1 of 2"
    assert "↩ 20 back" in picture.text_content()
    shown.page.keyboard.press("Home")
    player.get_by_role("button", name="play").click()
    seen = set()
    for _ in range(100):
        seen |= set(re.findall(r"([\d.]+) left to share", picture.text_content()))
        if "left to share" not in picture.text_content():
            break
        shown.page.wait_for_timeout(50)
    assert seen - {"100", "20"}, "it pours"
    player.get_by_role("button", name="play").wait_for(timeout=60_000)
    assert "deserves 28" in picture.text_content()
    assert shown.asked[0] == [], "playing asks the kernel nothing"


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_film_steps_plays_and_rests_at_its_end(shown, motion):
    film = pictures.film({f"held {held}": pictures.bars("Held", [{"name": "a", "held": held}],
                                                        most=4) for held in (1, 2, 4)})
    shown = shown(film.live(), reduced_motion=motion)
    player, picture = shown.page.get_by_role("group", name="play: Held"), shown.page.locator("svg")
    scrub = player.get_by_role("slider", name="step")

    def wide():
        return float(picture.locator("rect[height='16']").get_attribute("width"))

    last = wide()
    assert "held 4" in picture.text_content() and "▲" not in picture.text_content()
    player.get_by_role("button", name="one step back").click()
    assert scrub.get_attribute("aria-valuetext") == "held 2"
    assert wide() == pytest.approx(last / 2, abs=1) and "▲1" in picture.text_content()
    scrub.focus()
    shown.page.keyboard.press("Home")
    assert "held 1" in picture.text_content() and "▲" not in picture.text_content()
    player.get_by_role("button", name="play").click()
    player.get_by_role("button", name="pause").wait_for()
    player.get_by_role("button", name="play").wait_for(timeout=60_000)
    assert wide() == last and scrub.get_attribute("aria-valuetext") == "held 4"


def test_without_motion_nothing_moves_by_itself(shown):
    shown = shown(make("00"), reduced_motion="reduce")
    moving = shown.page.evaluate("""[...document.querySelectorAll('.vp svg *')]
        .filter((node) => getComputedStyle(node).transitionDuration !== '0s').length""")
    assert moving == 0


def test_two_labs_on_a_page_have_nothing_in_common(shown):
    one, other = make("00"), make("00")
    shown = shown(one, other)
    handle(shown, "weight, queue a", place=1).focus()
    shown.page.keyboard.press("ArrowRight")
    shown.page.locator(".place").nth(1).get_by_text("Queue a: weight 3").wait_for()
    assert one.values == one.start and other.values["queue/a.weight"] == 3
    ids = shown.page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))


def test_a_copied_link_brings_the_state_back_and_copies_have_the_code(shown):
    lab = make("00")
    first = shown(lab, permissions=["clipboard-read", "clipboard-write"])
    press(first, "weight, queue a", "ArrowRight")
    first.page.get_by_text("Queue a: weight 3").wait_for()

    def copied(item):
        first.page.get_by_role("button", name="copy").first.click()
        first.page.get_by_role("button", name=item).click()
        first.page.get_by_text("copied ✓").wait_for()
        return first.page.evaluate("navigator.clipboard.readText()")

    assert 'cluster.changed("queue/a.weight=3")' in copied("copy as Python")
    assert "weight: 3" in copied("copy as YAML")
    assert copied("copy as --set") == "--set 'queue/a.weight=3'"
    first.page.get_by_role("button", name="reset").first.click()
    first.page.get_by_text("Copied: ").first.wait_for(state="detached")  # not only after a time
    press(first, "weight, queue a", "ArrowRight")
    first.page.get_by_text("Queue a: weight 3").wait_for()
    link = copied("copy link")
    assert link.endswith("queue%2Fa.weight=3")
    again = make("00")
    second = shown(again, fragment="#" + link.split("#")[1])
    second.page.get_by_text("Queue a: weight 3").wait_for()
    assert again.values == lab.values


def test_keys_that_come_faster_than_answers_end_at_the_last_one(shown):
    lab = make("03")
    shown = shown(lab)
    handle(shown, "pods, job a-work").focus()
    for _ in range(12):
        shown.page.keyboard.press("ArrowRight")
    shown.until(lambda: lab.values["job/default/a-work.pods"] == 27)
    now = handle(shown, "pods, job a-work").get_attribute("aria-valuenow")
    assert lab.values["job/default/a-work.pods"] == 27 == int(now)
    assert len(shown.asked[0]) <= 12


def test_every_kind_of_control_moves(shown):
    controls = {"whole": slider(1, 0, 3, "whole"), "part": slider(0.5, 0, 1, "part", step=0.1),
                "named": slider("b", label="named", options={"first": "a", "second": "b"}),
                "menu": choice(1, {"one": 1, "two": 2}, "menu"), "on": switch(False, "on")}
    table = pictures.table("Values", lambda values: [{"name": name, "value": str(value)}
                                                     for name, value in values.items()],
                           columns=["name", "value"])
    lab = Lab(controls, dict, [table], title="Controls")
    shown = shown(lab)
    for name in ("whole", "part", "named"):
        handle(shown, name).focus()
        shown.page.keyboard.press("Home")
        shown.page.keyboard.press("ArrowRight")
    shown.page.get_by_label("menu").select_option("two")
    shown.page.get_by_role("switch", name="on").check()
    moved = {"whole": 1, "part": 0.1, "named": "b", "menu": 2, "on": True}
    shown.until(lambda: lab.values == moved)
    assert lab.values == moved
    assert json.dumps(lab.values) and shown.errors == []


def test_a_pointer_on_a_nested_part_does_not_erase_what_is_beside_it(shown):
    shown = shown(make("10"))
    node = shown.page.locator("svg g[data-link]:not(:has(g[data-link]))").first
    node.hover()
    shown.page.wait_for_timeout(600)
    linked = shown.page.locator("svg [data-link]")
    opacities = linked.evaluate_all("""(parts) => parts.map((part) => {
      let seen = 1;
      for (let at = part; at; at = at.parentElement) seen *= getComputedStyle(at).opacity;
      return seen;
    })""")
    assert max(opacities) == 1 and min(opacities) == pytest.approx(0.38, abs=0.01)


def test_nothing_is_dim_after_a_drag_until_the_pointer_is_elsewhere(shown):
    shown = shown(make("07"))
    mouse, box = shown.page.mouse, shown.at_rest(handle(shown, "weight, queue dev"))
    lit = shown.page.locator("[data-lit]")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse.move(x, y)
    assert lit.count(), "what belongs to dev is lit"
    mouse.down()
    mouse.move(x + 30, y, steps=5)
    mouse.up()
    mouse.move(x + 31, y + 1)
    assert not lit.count()
    other = shown.page.locator("svg [data-link=sci]").first.locator("rect").last
    assert shown.until(lambda: shown.asked[-1]) and shown.at_rest(other)  # drawn after the drag
    other.hover()
    assert shown.until(lit.count)


@pytest.mark.parametrize("lesson", LABS)
def test_there_is_place_for_the_sentence_after_each_task(lesson, shown):
    lab = make(lesson)
    shown = shown(lab, width=848)
    said = shown.page.locator(".vp-said")
    held = said.bounding_box()["height"]
    for task in lab.tasks:
        shown.page.get_by_role("button", name=task.name).first.click()
        for _ in range(2):
            shown.page.wait_for_timeout(300)
            assert said.bounding_box()["height"] == held, f"{task.name}: {said.text_content()}"
            if task.show is not None and (way := said.get_by_role("button")).count():
                way.click()


def test_a_sentence_longer_than_its_place_is_smaller_in_place_of_higher(shown):
    lab = Lab({"n": slider(1, 1, 3, "n")}, lambda values: values["n"], [pictures.table(
        "Rows", lambda n: [{"n": n}])], title="A sentence", nothing="Five lines. " * 33)
    shown = shown(lab, width=848)
    said = shown.page.locator(".vp-said")
    style = "(node) => [getComputedStyle(node).fontSize, node.offsetHeight]"
    assert said.evaluate(style) == ["14px", 91]
    press(shown, "n", "ArrowRight")
    said.get_by_text("Five lines.").wait_for()
    assert said.evaluate(style) == ["13px", 91]


def test_a_long_sentence_is_shown_whole_and_its_place_is_kept(shown):
    lab = Lab({"n": slider(1, 1, 3, "n")}, lambda values: values["n"], [pictures.table(
        "Rows", lambda n: [{"n": n}])], title="A long sentence", nothing=lambda n: "Long. " * 99
        if n == 2 else "Short.")
    shown = shown(lab, width=848)
    said, heights = shown.page.locator(".vp-said"), []
    for _ in range(2):
        press(shown, "n", "ArrowRight")
        shown.page.wait_for_timeout(300)
        heights.append(said.evaluate("(node) => [node.clientHeight, node.scrollHeight]"))
    assert heights[0][0] > 100, "four lines are too few"
    assert heights[0] == heights[1] and heights[0][0] == heights[0][1]
