"""Texts in another language: what is translated, what stays, and that nothing is lost."""

import re

import pytest

from volcano_lab.trace import language
from volcano_lab.trace.language import Catalogue, say, say_all, speak
from volcano_lab.widgets.scripts import bundle, in_script


@pytest.fixture
def spoken(monkeypatch):
    """Speak with these entries."""

    def speaking(entries):
        known = Catalogue(entries.items())
        monkeypatch.setattr(language, "catalogue", lambda _language, _name="": known)
        speak("zh")
        language._said.cache_clear()

    yield speaking
    language._said.cache_clear()


def test_what_is_put_in_is_translated_too_and_names_stay(spoken):
    spoken({"queue {name} {what}": "队列 {name} {what}", "waits": "在等待"})
    assert say("queue a waits") == "队列 a 在等待"
    assert say("queue a sleeps") == "队列 a sleeps"


def test_two_letters_match_numbers_only_and_a_sign_before_a_text_stays(spoken):
    spoken({"{0} of {1}": "{0} / {1}", "yes": "是", "{0} pods": "{0} 个 Pod"})
    assert [say(text) for text in ("2 of 10", "one of them", "✓ yes", "✓ 2 pods")] == [
        "2 / 10", "one of them", "✓ 是", "✓ 2 个 Pod"]


def test_what_begins_a_sentence_is_found_as_it_stands_within_one(spoken):
    spoken({"nothing fits": "放不下"})
    assert [say(text) for text in ("Nothing fits", "nothing fits", "NOTHING fits")] == [
        "放不下", "放不下", "NOTHING fits"]


def test_sentences_are_found_one_by_one_and_the_longest_run_first(spoken):
    spoken({"It waits.": "它在等待。", "It waits. It is the last one.": "它最后等待。"})
    assert say("It waits. It is the last one. It waits.") == "它最后等待。它在等待。"
    assert say("It waits. Nobody knows why.") == "它在等待。Nobody knows why."


def test_of_two_entries_that_match_the_one_with_more_words_is_said(spoken):
    spoken({"{job} waits for it": "{job} 等它", "{job} of queue {queue} waits for it":
            "队列 {queue} 的 {job} 等它"})
    assert say("a of queue b waits for it") == "队列 b 的 a 等它"


def test_what_is_put_in_ends_where_a_sentence_ends(spoken):
    spoken({"You said {given}; it is {truth}.": "你说 {given}；正确的是 {truth}。", "Yes.": "是。"})
    assert say("You said a; it is b. c has less. Yes.") == "你说 a；正确的是 b。c has less. 是。"


def test_the_right_answer_parts_what_is_said_of_a_wrong_one_from_its_own_reason(spoken):
    spoken({"You said {given}.": "你说 {given}。", "It is full.": "它满了。", "It waits.":
            "它在等待。", "No room is left. It waits.": "没有空间。"})
    assert say("You said **a**. It is full. → **b**: No room is left. It waits.") == (
        "你说 **a**。它满了。 → **b**：没有空间。")
    assert say("You said **a**. → `b`: It waits.") == "你说 **a**。 → `b`：它在等待。"
    assert say("You said **a**. → **b**.") == "你说 **a**。 → **b**。"


def test_nothing_may_be_put_in_after_a_question(spoken):
    spoken({"Why is {name} pending?{more}": "{name} 为什么是 Pending？{more}", " Look.": "看。"})
    assert say("Why is a pending?") == "a 为什么是 Pending？"


def test_what_programs_read_is_not_translated(spoken):
    spoken({"last": "最后", "the last one": "最后一个"})
    shown = {"ghost": "last", "said": ["the last one"], "tasks": [{"name": "last"}],
             "controls": [{"name": "last", "group": "last", "label": "last"}]}
    assert say_all(shown) == {
        "ghost": "last", "said": ["最后一个"], "tasks": [{"name": "最后"}],
        "controls": [{"name": "last", "group": "最后", "label": "最后"}]}


def test_a_language_without_a_catalogue_is_refused():
    with pytest.raises(ValueError, match='language is "tlh"; allowed are en, zh'):
        speak("tlh")
    assert say("No job waits.") == "No job waits."


@pytest.mark.parametrize("entry", ["widget.js", "still.js"])
def test_scripts_stay_the_same_but_for_their_texts(entry):
    source = bundle(entry)
    assert in_script(source, lambda text: text) == source
    other = in_script(source, lambda text: text.upper() if text == "copy link" else text)
    assert other == source.replace('"copy link"', '"COPY LINK"')


def test_the_catalogues_keep_what_is_put_in():
    for english, said in language.catalogue("zh").entries.items():
        assert set(language.PLACE.findall(english)) == set(language.PLACE.findall(said)), english


def test_why_answers_in_chinese_with_the_same_numbers_and_names(capsys):
    from volcano_lab.cli import main

    told = []
    for lang in ("en", "zh"):
        main(["why", "docs/cluster.yaml", "huge", "--no-remedies", "--lang", lang])
        told.append(capsys.readouterr().out)
    assert re.search("[一-鿿]", told[1]) and not re.search("[一-鿿]", told[0])


def test_volcanos_messages_stay_whole_at_the_end_of_a_sentence():
    message = "Not enough valid tasks for gang-scheduling, valid: 1, min: 3"
    speak("zh")
    told = say(f"allocate: gang on job_valid, about job a: reason NotEnough, message {message}")
    assert "关于作业 a" in told and told.endswith(message)


def test_names_of_fields_that_are_put_in_stay(spoken):
    spoken({"known are {fields}": "认得的有 {fields}", "name": "名称", "state": "状态"})
    assert say("known are name, enableNodeOrder") == "认得的有 name, enableNodeOrder"
    assert say("known are name, state") == "认得的有名称，状态"


def test_a_unit_is_said_as_behind_a_number_and_lanes_and_rows_have_labels(spoken):
    spoken({"CPUs": "CPU", "{0} CPUs": "{0} 个 CPU", "pods that wait": "在等待的 Pod",
            "answer": "答案"})
    assert say("CPUs") == "CPU"
    assert say_all({"unit": "CPUs", "most": {"waiting": 3}, "rows": [{"name": "answer"}], "lanes": [
        {"name": "answer", "label": "pods that wait"}]}) == {
            "unit": "个 CPU", "most": {"waiting": 3}, "rows": [{"name": "答案"}], "lanes": [
                {"name": "answer", "label": "在等待的 Pod"}]}
