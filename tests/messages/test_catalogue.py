"""Texts found whole in gettext's catalogues, in Python, in a page's data and in its scripts."""

import re
from string import Formatter

import polib
import pytest

import texts
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit import bars, table
from volcano_lab.course.kit.tracing import answers, trace_of
from volcano_lab.course.lesson_12.lab import combination, combined
from volcano_lab.manifests.loader import ManifestError, loads
from volcano_lab.messages import Message, catalogue, gettext, localized, speak
from volcano_lab.messages.language import FOLDER, entries
from volcano_lab.widgets import pictures, stills

KNOWN = {"queue {name} {what}": "队列 {name}：{what}", "waits": "在等待", "last one": "最后一个",
         "pods: {pods:2}": "Pod：{pods:2}"}
CATALOGUES = sorted(path for path in texts.TEXTS.glob("*.po") if path.stem != catalogue.SCRIPT)


@pytest.fixture
def chinese(monkeypatch):
    monkeypatch.setattr(catalogue, "catalogue", lambda _language: KNOWN)
    speak("zh")


@pytest.mark.parametrize(("text", "facts", "shown"), [
    ("waits", {}, "在等待"),
    ("queue a waits", {}, "queue a waits"),  # found whole, or not at all
    ("Waits. It waits.", {}, "Waits. It waits."),
    ("queue {name} {what}", {"name": "waits", "what": "waits"}, "队列 waits：waits"),
    ("queue {name} {verb}", {"name": "a", "verb": "sleeps"}, "queue a sleeps"),
    ("pods: {pods:2}", {"pods": ["a", "b", "c"]}, "Pod：a、b 和另外 1 个")])
def test_a_text_is_looked_up_as_a_whole_before_facts_are_put_in(chinese, text, facts, shown):
    assert gettext(text, **facts) == shown


def test_of_a_pages_data_words_alone_and_what_it_sends_back_stay(chinese):
    assert localized({"name": "waits", "texts": ["last one"], "options": ["last one"]}) == {
        "name": "waits", "texts": ["最后一个"], "options": ["last one"]}


def test_a_message_without_a_translation_makes_the_whole_text_english(monkeypatch, chinese):
    monkeypatch.setattr("volcano_lab.messages.message.translations", lambda _language: {})
    assert gettext("queue {name} {what}", name="a", what=Message("pods", n=2)) == "queue a 2 pods"


def places(text):
    return {name for _, name, *_ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_translation_keeps_the_places_of_facts(path):
    for english, chinese in catalogue.catalogue("zh", path.stem).items():
        if re.search(r"\{\w+(:[^{}]*)?\}", english):
            assert places(english) == places(chinese), english


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.po")), ids=lambda path: path.stem)
def test_a_catalogue_is_read_as_gettext_s_own_tools_read_it(path):
    read = [entry for entry in entries(path) if entry and (entry["msgid"] or "msgctxt" in entry)]
    assert read == [
        {**({"msgctxt": each.msgctxt} if each.msgctxt else {}), "msgid": each.msgid,
         **({"msgid_plural": each.msgid_plural} if each.msgid_plural else {"msgstr": each.msgstr}),
         **{f"msgstr[{form}]": text for form, text in each.msgstr_plural.items()}}
        for each in polib.pofile(str(path))]


def test_scripts_find_their_texts_in_the_language_of_the_page():
    speak("zh")
    drawing = pictures.turns("轮次", {"queues": [{"queue": "a"}], "turns": [
        {"queue": "a", "outcome": "placed", "pods": 2, "job": "x", "share": 0.5}]}).drawing
    assert stills.html(drawing)
    assert not re.search("[A-Za-z]{3,}", drawing["alt"]), drawing["alt"]


@pytest.mark.parametrize(("shown", "said"), [
    (lambda: bars({"4 nodes": 1, "8 nodes": 2}, unit="pods").alt, "8 个节点：Pod 数 2。"),
    (lambda: bars({"4 per hour": 12}, unit="minutes").alt, "4/小时：分钟 12。"),
    (lambda: table([{"2 CPUs": 1, "4 stars": 2}]).headings, "['2 个 CPU', '4 stars']"),
    (lambda: refusal("a: 1\n---\n- {}\n- 3\n"), "对象（text，第 2 个文档，第 2 项）：是 3"),
    (lambda: combined("reclaimable", a=1)[2], "x 和 y"),
    (lambda: combined("reclaimable", a=-1)[2], "没有"),
    (lambda: combination("predicate", b=-1).alt, "B 一个原因"),
    (lambda: answers(trace_of(Cluster().node("n1", cpu=4).job("train", pods=1, cpu=1)),
                     "allocatable")["about"].tolist(), "队列 default，任务 train-0")])
def test_a_template_says_in_chinese_what_is_put_together_at_run_time(shown, said):
    speak("zh")
    assert said in str(shown())


def refusal(text):
    with pytest.raises(ManifestError) as problem:
        loads(text)
    return problem.value
