"""A lab without a browser: what a move, undo, reset, a task, a copy and a question answer."""

import asyncio
from importlib import import_module
from pathlib import Path

import pytest

from volcano_lab import course
from volcano_lab.cluster import Cluster
from volcano_lab.messages import attempt
from volcano_lab.messages.guard import ExtensionError
from volcano_lab.widgets import Lab, Task, pictures
from volcano_lab.widgets.controls import choice, group, slider, switch
from volcano_lab.widgets.story import amounts, outcome

CONTROLS = group("queue a", {"weight": slider(2, 1, 9, "weight"),
                             "part": slider(0.1, label="part",
                                            options={"a tenth": 0.1, "half": 0.5})},
                 color="#0072B2") | {
    "plugin": choice("drf", ["drf", "gang"], "plugin"), "on": switch(True, "on"),
    "word": choice("x", ["x", "y", "z"], "word"), "pods": slider(3, 0, 5, "pods")}


def decide(values):
    if values["pods"] == 5:
        raise ValueError("five pods are too many")
    return {"a": 10.0 * values["weight"], "b": 90 - 10 * values["weight"], "end":
            "commit" if values["weight"] < 5 else "discard"}


@pytest.fixture
def lab():
    table = pictures.table("Rows", lambda facts: [{"queue": name, "deserved": facts[name]}
                                                  for name in "ab"], columns=["queue", "deserved"])
    return Lab(CONTROLS, decide, [table], title="A lab", opening="At first.",
               says=[amounts("deserves", lambda facts: {name: facts[name] for name in "ab"}),
                     outcome("The statement", lambda facts: facts["end"], lambda facts: "too big")],
               tasks=[Task("weight", "Make it 9.", lambda values, facts: values["weight"] == 9,
                           {"weight": 3}, {"weight": 9})],
               code=lambda values: Cluster().queue("a", weight=values["weight"]),
               why=lambda facts, about: f"{about['node']} is full")


def ask(lab, **asked):
    lab.set_state({"ask": {"n": lab.ask.get("n", 0) + 1, **asked}})  # as the page sends it
    return lab


MOVES = [
    ("a slider", {"weight": 3},
     "Queue a: weight 3 (was 2). a deserves 30 (was 20), b 60 (was 70)."),
    ("an outcome turns", {"weight": 6}, "Queue a: weight 6 (was 2). a deserves 60 (was 20), b 30 "
     "(was 70). The statement: discard (was commit): too big."),
    ("a slider over options", {"part": 0.5},
     "Queue a: part half (was a tenth). Nothing else changes."),
    ("a menu", {"plugin": "gang"}, "Plugin: gang (was drf). Nothing else changes."),
    ("a switch", {"on": False}, "On: off (was on). Nothing else changes."),
    ("many at once", {"weight": 3, "on": False, "pods": 1},
     "3 controls are moved. a deserves 30 (was 20), b 60 (was 70)."),
    ("what does not work", {"pods": 5}, "This does not work: five pods are too many"),
]


def test_a_move_that_moves_nothing_cannot_be_undone(lab):
    assert not lab.set(**lab.start).shown["undo"]
    moved = lab.set(weight=4)
    assert moved.set(weight=4).undo().values == lab.start and not lab.shown["undo"]


@pytest.mark.parametrize(("name", "values", "said"), MOVES, ids=[row[0] for row in MOVES])
def test_a_move_says_what_changed(lab, name, values, said):
    assert lab.set(**values).said == said
    assert lab.values == lab.start | values and lab.shown["undo"] and lab.shown["moved"]
    assert lab.undo().values == lab.start and not lab.shown["undo"]
    assert lab.set(**values).reset().said == "At first." and lab.values == lab.start


def test_what_is_said_where_nothing_changes_may_look_at_the_facts():
    table = pictures.table("Rows", lambda facts: [facts], columns=["a"])
    lab = Lab(CONTROLS, decide, [table], title="A lab",
              nothing=lambda facts: f"It stays a {facts['end']}.")
    assert lab.set(word="y").said == "Word: y (was x). It stays a commit."
    assert lab.set(weight=6, word="z").said.endswith("It stays a discard.")


def test_the_cause_stands_behind_what_changed_and_where_nothing_did():
    table = pictures.table("Rows", lambda facts: [facts], columns=["a"])
    lab = Lab(CONTROLS, decide, [table], title="A lab",
              says=[outcome("The statement", lambda facts: facts["end"])],
              because=lambda before, now: f"{before['a']:g} and {now['a']:g}." * (before != now))
    assert lab.set(word="y").said == "Word: y (was x). Nothing else changes."
    assert lab.set(weight=6).said.endswith("The statement: discard (was commit). 20 and 60.")


def test_a_task_is_done_at_its_start_or_at_what_show_me_shows():
    table = pictures.table("Rows", lambda facts: [facts], columns=["a"])
    lab = Lab(CONTROLS, decide, [table], title="A lab", tasks=[
        Task("there", "Begin there.", start={"weight": 3}),
        Task("on", "Go on.", start={"weight": 3}, show={"pods": 1})])
    assert lab.done == {"there": False, "on": False}
    assert not any(lab.set(weight=3, pods=1).done.values()), "by accident: none was begun"
    assert lab.begin("there").done == {"there": True, "on": False}
    assert lab.begin("on").set(pods=1).done == {"there": True, "on": True}


def test_what_differs_most_is_said_first():
    shown = amounts("holds", lambda facts: facts).sentences(dict.fromkeys("abcdef", 9),
                                                      dict(zip("abcdef", range(6), strict=True)))
    assert shown == ["**a** holds 0 (was 9), **b** 1 (was 9), **c** 2 (was 9), **d** 3 (was 9), "
                    "and 2 more."]
    shown = amounts("holds", lambda facts: facts).sentences({"a": 1, "b": 1}, {"a": 2, "b": 5})
    assert shown == ["**b** holds 5 (was 1), **a** 2 (was 1)."]


def test_one_gesture_is_one_move(lab):
    ask(lab, values={"weight": 3})
    for weight in (4, 5, 6):
        ask(lab, values={"weight": weight}, more=True)
    assert lab.said.startswith("Queue a: weight 6 (was 2). a deserves 60 (was 20)")
    assert lab.shown["ghost"] == "keep" and ask(lab, undo=1).values == lab.start


BAD = [
    ("a name that is none", {"wieght": 3}, KeyError,
     "wieght is no control; there are weight, part"),
    ("beyond the end", {"weight": 10}, ValueError, "weight is 10; allowed is 1 to 9"),
    ("no number", {"weight": "3"}, ValueError, "weight is '3'; allowed is a number"),
    ("no option", {"plugin": "tdm"}, ValueError, "plugin is 'tdm'; allowed are drf, gang"),
    ("no word", {"word": 3}, ValueError, "word is 3; allowed are x, y, z"),
]


@pytest.mark.parametrize(("name", "values", "error", "sentence"), BAD, ids=[row[0] for row in BAD])
def test_a_value_that_no_control_takes_is_one_sentence(lab, name, values, error, sentence):
    with pytest.raises(error, match=sentence):
        lab.set(**values)
    ask(lab, values=values)
    assert sentence in lab.said and lab.shown["error"] and lab.values == lab.start


def test_between_two_steps_the_nearer_one_counts(lab):
    assert lab.set(weight=3.4).values["weight"] == 3


def test_a_move_within_a_task_ticks_no_other():
    lab = Lab({"a": slider(1, 1, 9), "b": slider(1, 1, 9)}, dict, [], title="Two", tasks=[
        Task("first", "Set a.", show={"a": 3}),
        Task("second", "Set b.", start={"a": 3}, show={"b": 3})])
    assert lab.begin("second").set(b=3).done == {"first": False, "second": True}
    assert lab.begin("first").set(a=3).done == {"first": True, "second": True}


def test_a_task_is_asked_again_after_a_move_of_its_own_controls():
    lab = Lab({"a": slider(1, 1, 9), "b": slider(1, 1, 9)}, dict, [], title="Two", tasks=[
        Task("first", "Set a.", show={"a": 3})]).begin("first")
    assert "first. Set a." not in lab.set(b=2).said
    assert lab.set(a=2).said.endswith("first. Set a.")


def test_a_task_begins_is_shown_and_stays_done(lab):
    assert ask(lab, task=0).said == "weight. Make it 9." and lab.values["weight"] == 3
    assert lab.shown["task"] == 0 and lab.shown["done"] == [False]
    assert ask(lab, show=0).said.startswith("One way:") and lab.done == {"weight": True}
    assert lab.reset().done == {"weight": True} and lab.shown["task"] == -1


def test_copies_and_questions_leave_the_board(lab):
    lab.set(weight=4)
    board = lab.board
    assert "weight=4" in ask(lab, copy="python").shown["copied"]["text"]
    assert "weight: 4" in ask(lab, copy="yaml").shown["copied"]["text"]
    assert ask(lab, why={"node": "n1"}).shown["why"] == "n1 is full"
    assert lab.board == board and "copied" not in lab.shown


def test_every_question_is_answered_once(lab):
    sent = []
    lab.send_state = lambda key=None: sent.append(key)
    questions = [{"undo": 1}, {"values": {"weight": 2}}, {"values": {"weight": 4}}, {"undo": 1},
                 {"reset": 1}, {"tea": 1}]
    for place, asked in enumerate(questions, 1):
        ask(lab, **asked)
        assert sent == ["shown"] * place and lab.shown["n"] == place, asked


def test_without_a_kernel_it_is_a_still_that_says_so(lab):
    bundle, _ = lab._repr_mimebundle_()
    assert "moves in the lab" in bundle["text/html"] and "<table" in bundle["text/html"]
    assert bundle["text/plain"] == "<the lab A lab; it moves while a kernel runs>"


def test_two_panels_of_one_kind_need_keys():
    twice = [pictures.table("T", [], columns=["a"])] * 2
    with pytest.raises(ValueError, match="two panels have the key table"):
        Lab(CONTROLS, decide, twice, title="Twice")


LABS = {name: make for path in sorted(Path(course.__file__).parent.glob("lesson_*/lab.py"))
        for name, make in vars(import_module(f"{course.__name__}.{path.parent.name}.lab")).items()
        if name.endswith("_lab")}


@pytest.mark.long
@pytest.mark.parametrize("make", LABS.values(), ids=LABS)
def test_the_sentence_of_a_move_names_what_was_moved_and_what_followed(make):
    lab = make()
    for name, control in lab.controls.items():
        for value in control.choices()[:1] + control.choices()[-1:]:
            if value == control.start:
                continue
            said = lab.set(**{name: value}).said
            if said.startswith("This does not work: "):
                lab.reset()
                continue
            moved, _, followed = said.partition("(was ")
            assert control.label.lower() in moved.lower(), said
            assert followed.partition(").")[2].strip(), said
            lab.reset()


@pytest.mark.long
def test_values_beside_a_move_are_decided_before_they_are_asked_for(lab):
    seen = []

    def counted(values):
        seen.append(values["weight"])
        return decide(values)

    lab = Lab(CONTROLS, counted, lab.panels, title="Ahead")

    async def moved():
        ask(lab, values={"weight": 3})
        assert seen == [2, 3], "the answer waits for nothing else"
        while len(seen) < 3:
            await asyncio.sleep(0.01)
        ask(lab, values={"weight": 4})

    asyncio.run(moved())
    assert seen == [2, 3, 4] and lab.board["table"][0]["deserved"] == 40


def test_the_way_to_a_tasks_end_says_what_was_moved(lab):
    ask(lab, task=0)
    ask(lab, show=0)
    assert lab.said.startswith("One way: Queue a: weight 9 (was 3; 2 at the start). "
                               "a deserves 90 (was 30)")


RAISED = [TypeError("it broke"), ZeroDivisionError("it broke"), ExtensionError("it broke"),
          AttributeError("it broke"), RecursionError("it broke"), MemoryError(), SystemExit()]


@pytest.mark.parametrize("place", ["decide", "panel", "task", "says", "why"])
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_whatever_is_raised_behind_a_move_is_a_sentence(place, error):
    def at(here, facts, answer):
        if here == place and facts == 4:
            raise error
        return answer

    lab = Lab({"pods": slider(3, 0, 5, "pods")}, lambda values: at("decide", values["pods"],
                                                                   values["pods"]),
              [pictures.table("Rows", lambda facts: at("panel", facts, [{"pods": facts}]),
                              columns=["pods"])], title="A lab",
              tasks=[Task("a", "Do it.", lambda values, facts: at("task", facts, False))],
              says=[amounts("has", lambda facts: at("says", facts, {"a": facts}))],
              why=lambda facts, about: at("why", 4, "so"))
    board = lab.begin("a").board
    ask(lab, **({"why": {}} if place == "why" else {"values": {"pods": 4}}))
    assert lab.shown["n"] == 1 and lab.shown["error"] and lab.board == board
    assert lab.said.startswith("This does not work: ") and lab.said.count("\n") == 0
    ask(lab, values={"pods": 5})
    assert not lab.shown["error"] and lab.facts == 5 and lab.shown["undo"]


@pytest.mark.parametrize("asked", [{"values": None}, {"values": [1]}, {"task": 99}, {"task": "x"},
                                   {"show": -5}, {"why": None}, {"copy": None, "n": None}])
def test_a_broken_message_is_answered(lab, asked):
    ask(lab, **asked)
    assert lab.shown["n"] == lab.ask["n"]
    assert lab.shown["error"] or "copy" in asked


@pytest.mark.long
def test_a_decision_that_does_not_end_is_interrupted(lab, monkeypatch):
    monkeypatch.setattr(attempt, "MOST_SECONDS", 0.1)

    def forever(values):
        while True:
            pass

    lab.decide = forever
    assert "has not returned after 0.1 seconds" in lab.set(pods=4).said
