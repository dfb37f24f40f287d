"""Messages: each template is whole in both languages, and shows the facts that fill it."""

import itertools
import re
from collections import Counter
from string import Formatter

import pytest

from volcano_lab import Cluster
from volcano_lab.messages import Message, one_line, paragraph, speaking
from volcano_lab.messages.language import translations
from volcano_lab.messages.message import Untranslated, template
from volcano_lab.messages.similar import near
from volcano_lab.messages.text import capped
from volcano_lab.messages.texts import SUBJECTS, TEXTS

PROSE = re.compile(r"[a-z]{2,}[ -][a-z]{2,}[ -][a-z]{2,}")
COMMANDS = re.compile("fact-|kubectl (get|cordon|delete pod|create clusterrole(binding)?|"
                      "rollout restart( -n volcano-system)?)|volcano-lab (why|replay)|"
                      "config-features|sla-waiting-time|resource-strategy-fit|network-topology-aware")
"""Three English words, which no name and no field of Kubernetes is."""
NUMBERS = re.compile(r"\d+")


def places(text):
    return {name: spec or "" for _, name, spec, _ in Formatter().parse(text) if name}


def generated(code, count):
    """Facts with a number each for all places of a message's forms, in both languages."""
    forms = [TEXTS[code]] if isinstance(TEXTS[code], str) else TEXTS[code]
    specs = {name: spec for form in forms for name, spec in places(form).items()}
    facts = {name: 1000.0 + number if spec[:1] == "." else f"fact-{1000 + number}"
             for number, (name, spec) in enumerate(specs.items())}
    return facts | ({"n": count} if "n" in specs else {})


def subject(code):
    return code.partition(".")[0]


@pytest.fixture(params=sorted({*map(subject, TEXTS)}))
def codes(request):
    """All codes of a subject."""
    return [code for code in TEXTS if subject(code) == request.param]


def test_no_code_stands_in_two_subjects():
    assert len(TEXTS) == sum(map(len, SUBJECTS.values()))


def test_a_message_has_the_same_facts_in_both_languages(codes):
    for code, count in itertools.product(codes, (1, 2)):
        said = Message(code, **generated(code, count))
        english, chinese = said.text("en"), said.text("zh")
        numbers, theirs = (Counter(NUMBERS.findall(text)) for text in (english, chinese))
        assert numbers == theirs or (
            count == 1 and {*(theirs - numbers)} == {"1"}), code  # "a" is a 1
        assert not PROSE.search(COMMANDS.sub("", chinese)), chinese

@pytest.mark.parametrize("code", [code for code, text in TEXTS.items()
                                  if not isinstance(text, str)])
def test_singular_and_plural_have_the_same_facts(code):
    one, many = map(places, TEXTS[code])
    assert {*one} - {"n", "pod"} == {*many} - {"n", "pod"}


def test_a_reworded_sentence_keeps_its_translation(codes, monkeypatch):
    for code in codes:
        facts = generated(code, 2)
        before = Message(code, **facts).text("zh")
        text = TEXTS[code]
        words = [text] if isinstance(text, str) else text
        reworded = tuple(re.sub(r"\b(?<!\{)[a-z]{2,}\b(?![:}])", "reworded", each, count=1)
                         for each in words)
        monkeypatch.setitem(TEXTS, code, reworded[0] if isinstance(text, str) else reworded)
        assert Message(code, **facts).text("zh") == before, code


def test_a_message_without_a_translation_is_english_as_a_whole(monkeypatch):
    monkeypatch.setitem(TEXTS, "new", "{job} waits for {gap}.")
    said = Message("new", job="default/a", gap=Message("gang.no_pods.short"))
    assert said.text("zh") == said.text("en") == (
        "default/a waits for the PodGroup has no pods yet.")
    inside = Message("job.head", job="default/a", gap=said, status=[])
    assert inside.text("zh") == inside.text("en")
    with pytest.raises(Untranslated):
        template("new", "zh")


def test_a_finding_is_whole_in_chinese():
    cluster = Cluster().node("n1", cpu=4).queue("a", deserved=2).job("train", pods=3, cpu=2)
    with speaking("zh"):
        found = [*map(str, cluster.lint())]
    assert found == [
        "作业 default/train：它的最小数量 3 个 Pod 共请求 cpu 6；所有节点合计只有 cpu 4"
        "（降低 minMember 或请求，或增加节点）",
        "队列 a：spec.deserved 不起作用：只有插件 capacity 读取它，而配置中没有这个插件"]


def test_messages_of_one_code_and_facts_are_equal():
    assert Message("pods", n=1) == Message("pods", n=1) != Message("pods", n=2)
    assert len({Message("pods", n=1), Message("pods", n=1), Message("jobs", n=1)}) == 2


def test_an_unknown_code_is_an_error_where_it_is_written():
    with pytest.raises(KeyError, match="message nothing_known has no text"):
        Message("nothing_known")


FACTS = [
    ("{pods}", ["a", "b"], "a, b", "a、b"),
    ("{pods:1}", ["a", "b", "c"], "a and 2 more", "a 和另外 2 个"),
    ("{pods:and}", ["a", "b", "c"], "a, b and c", "a、b 和 c"),
    ("x{pods:()}", ["a", "b"], "x (a, b)", "x（a、b）"),
    ("x{pods:()}", [], "x", "x"),
    ("x{pods}", None, "x", "x"),
    ("{pods}", {"cpu": 1500.0, "memory": 2.0**31}, "cpu 1.5 and memory 2Gi",
     "cpu 1.5 和 memory 2Gi"),
    ("{pods:bare}", {"cpu": 1500.0}, "1.5", "1.5"),
    ("{pods:bare}", {"cpu": 1500.0, "a/b": 1000.0}, "cpu 1.5 and a/b 1", "cpu 1.5 和 a/b 1"),
    ("{pods}", {"pods": 3.0}, "nothing", "无"),
    ("{pods:.2f}", 1 / 3, "0.33", "0.33"),
    ("{pods}", 2.0, "2", "2"),
]


@pytest.mark.parametrize(("text", "fact", "english", "chinese"), FACTS)
def test_a_fact_is_shown_by_its_type(text, fact, english, chinese, monkeypatch):
    monkeypatch.setitem(TEXTS, "pods", text)
    monkeypatch.setitem(translations("zh"), "pods", [text])
    said = Message("pods", pods=fact)
    assert (said.text("en"), said.text("zh")) == (english, chinese)


def test_sentences_stand_side_by_side_without_a_space_in_chinese():
    said = [Message("gang.no_pods"), None, Message("no_turn")]
    assert paragraph(said) == "The PodGroup has no pods yet. This cycle did not reach it."
    with speaking("zh"):
        assert paragraph(said) == "该 PodGroup 还没有 Pod。本周期没有处理到它。"


@pytest.mark.parametrize(("length", "shown"), [(20, "x" * 20), (21, "xxxxxxxxxxx ... xxxx")])
def test_a_line_is_shortened_where_it_is_too_long_and_no_sooner(length, shown):
    assert one_line("x" * length, 20) == shown


@pytest.mark.parametrize("groups", [
    [], [1], [5], [6], [9, 1, 6], [1] * 100, [1] * 101, [1] * 105, [7] * 60, [1] * 99 + [8],
    [5] * 20, [5] * 20 + [1], [6] * 17], ids=lambda groups: f"{sum(groups)} in {len(groups)}")
def test_each_of_many_problems_is_named_or_counted(groups):
    letters = ("".join(pair) for pair in itertools.product("abcdefghijklmnop", repeat=2))
    found = [Message("problem", place=f"Pod p{number}", what=f"field {name} is null")
             for name, size in zip(letters, groups, strict=False) for number in range(size)]
    sentences, lines = ([*map(str, each)] for each in (found, capped(found)))
    counted = [int(number[1]) for line in lines if (number := re.match(r"(\d+) more ", line))]
    named = [line for line in lines if line in sentences]
    assert len(named) + len(counted) == len(lines) <= 101
    assert len(named) + sum(counted) == len(sentences) and len({*named}) == len(named)


@pytest.mark.parametrize("name, known, said", [
    ("x", 0, "there are none"), ("x", 8, "there are a0, a1, a2, a3, a4, a5, a6, a7"),
    ("x", 9, "there are a0, a1, a2, a3, a4, a5, a6, a7, ..."), ("a7", 8, "near it is a7"),
    ("a", 7, "near it are a0, a1, a2, a3, a4, a5"), ("a1", 11, "near it are a1, a10")])
def test_of_names_that_exist_the_similar_ones_are_reported_else_the_first_eight(name, known, said):
    assert near(name, [f"a{number}" for number in range(known)]) == said


CLUSTER_WIDE = re.compile(r"kubectl (is asked|that would|cordon|create clusterrole|"
                          r"get (nodes|numatopologies|nodeclaims|csinodes))")


def test_each_command_of_kubectl_names_a_namespace():
    forms = [[text] if isinstance(text, str) else text for text in TEXTS.values()]
    commands = [each for text in itertools.chain(*forms)
                for each in re.findall(r"kubectl [a-z].{60}", text + " " * 60)]
    wide = [each for each in commands if CLUSTER_WIDE.match(each)]
    assert len(commands) > len(wide) > 5
    assert not [each for each in commands if each not in wide and not re.search(" -(n|A)", each)]
