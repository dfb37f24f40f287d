"""Ten thousand random messages, and answers to the riddles with reworded templates: in Chinese each
is whole, with the numbers of the English one.
"""

import re
from collections import Counter
from random import Random
from string import Formatter

import pytest

from volcano_lab.course.riddles.game import FOLDER, Riddle
from volcano_lab.messages import Message, speaking
from volcano_lab.messages.texts import SUBJECTS, TEXTS

pytestmark = pytest.mark.slow

COUNT = 10_000
EXPLAIN = ("admission", "answers", "changes", "common", "evictions", "gangs", "lint", "lives",
           "objects", "placement", "reports")
CODES = [code for subject in EXPLAIN for code in SUBJECTS[subject]]
COMMANDS = re.compile(
    r"kubectl (get|logs|cordon|delete pod\S*|create \S+|rollout restart) |--[a-z]+ ")
PROSE = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b")
DIGITS = re.compile(r"\d")
NAMES = ("train", "team/report", "n-17", "gpu", "a800", "default/web-3")


def random_message(random: Random, depth: int = 2) -> Message:
    """A message of a random code with random facts of the types that its places show."""
    code = random.choice([*TEXTS])
    forms = [TEXTS[code]] if isinstance(TEXTS[code], str) else TEXTS[code]
    places = {name: spec or "" for form in forms
              for _, name, spec, _ in Formatter().parse(form) if name}
    return Message(code, **{name: random_fact(random, name, spec, depth)
                            for name, spec in places.items()})


def random_fact(random: Random, name: str, spec: str, depth: int):
    if name == "n":
        return random.randint(1, 50)
    if re.fullmatch(r"[,.\d]*[fge%]", spec):
        return random.uniform(0, 5000)
    names = [f"{random.choice(NAMES)}-{random.randint(0, 999)}"
             for _ in range(random.randint(1, 9))]
    amounts = {"cpu": 500.0 * random.randint(1, 99), "memory": 2.0**30 * random.randint(1, 9)}
    if spec == "bare":
        return {"cpu": amounts["cpu"]}
    if spec and spec != "()":
        return names
    kinds = [names[0], names, amounts, random.randint(0, 10_000), None]
    return random_message(random, depth - 1) if depth and random.random() < 0.3 else (
        random.choice(kinds))


def test_random_messages_are_whole_in_chinese_with_the_same_numbers():
    random, english_prose, other_digits = Random(7), [], []
    for _ in range(COUNT):
        said = random_message(random)
        english, chinese = said.text("en"), said.text("zh")
        digits, theirs = (Counter(DIGITS.findall(text)) for text in (english, chinese))
        english_prose += [chinese] * bool(PROSE.search(COMMANDS.sub("", chinese)))
        other_digits += [(english, chinese)] * bool(
            {*(digits - theirs), *(theirs - digits)} - {"1"})  # "a pod" is one
    assert (english_prose, other_digits) == ([], [])


def test_answers_with_one_word_changed_in_one_template_stay_chinese(monkeypatch):
    explanations = [riddle.cluster.why(riddle.asks, conf=riddle.conf)
                    for riddle in map(Riddle.read, sorted(FOLDER.glob("[0-9]*.yaml")))]

    def answers() -> str:
        with speaking("zh"):
            return "\n".join(str(each) for each in explanations)

    before, english = answers(), "\n".join(map(str, explanations))
    reworded = 0
    for code in CODES:
        forms = [TEXTS[code]] if isinstance(TEXTS[code], str) else TEXTS[code]
        others = [re.sub(r"(?<!\{)\b[a-z]{2,}\b(?![:}])", "reworded", form, count=1)
                  for form in forms]
        with monkeypatch.context() as patch:
            patch.setitem(TEXTS, code, others if len(others) > 1 else others[0])
            assert answers() == before, code
            reworded += "\n".join(map(str, explanations)) != english
    assert reworded > 20
