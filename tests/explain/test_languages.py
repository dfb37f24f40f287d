"""Answers in both languages: the same numbers, and no English sentence in a Chinese one."""

import re
from collections import Counter

import pytest
from recorded_cases import HERE, rows

from volcano_lab.explain import Explainer
from volcano_lab.framework.config.yaml import ConfError
from volcano_lab.manifests import loader as manifests
from volcano_lab.messages import Message, paragraph

NUMBER = re.compile(r"(?<![\w./-])\d[\d.]*(?:Ki|Mi|Gi|Ti)?(?![\w/-])")
COMMAND = re.compile(r"kubectl [!-~ ]+")
PROSE = re.compile(r"\b(?!kubectl )[a-z]{2,} [a-z]{2,} [a-z]{2,}\b")


def quoted(said):
    """What plugins said in Volcano's words, which stay as they are in every language."""
    if isinstance(said, Message):
        for name, value in said.facts.items():
            if name in ("reason", "message", "warning") and not isinstance(value, Message):
                yield from [value] if isinstance(value, str) else value or ()
            else:
                yield from quoted(value)
    elif isinstance(said, list | tuple):
        for each in said:
            yield from quoted(each)


def compare(said):
    """One message's text in both languages."""
    english, chinese = paragraph([said], "en"), paragraph([said], "zh")
    for text in quoted(said):
        english, chinese = english.replace(text, ""), chinese.replace(text, "")
    assert not PROSE.search(COMMAND.sub("", chinese)), chinese
    numbers, theirs = (Counter(number.rstrip(".") for number in NUMBER.findall(text))
                       for text in (english, chinese))
    singular = isinstance(said, Message) and said.facts.get("n") == 1  # "a pod" is 1 个 Pod
    assert numbers == theirs or (singular and {*(theirs - numbers)} == {"1"}), (english, chinese)


def compared(case):
    try:
        explain = Explainer([manifests.from_dict(obj) for obj in case["objects"]], case["conf"])
    except ConfError:
        return 0
    answers = [explain.why(uid) for uid, job in explain.session.jobs.items()
               if job.has_pending_tasks() or job.is_pending()]
    answers += [explain.why_queue(name) for name in explain.session.queues]
    said = [each for answer in answers for part in (answer, *answer.causes)
            for each in (part.sentences if hasattr(part, "sentences") else (
                part.said if isinstance(part.said, list) else [part.said]))]
    messages = [each for each in said if isinstance(each, Message)]
    for each in messages:
        compare(each)
    return len(messages)


@pytest.mark.long
def test_chinese_answers_have_the_numbers_of_english_ones_in_a_sample():
    cases = list(rows(HERE / "dev-cases.jsonl.gz"))[7::60]
    assert sum(map(compared, cases)) > 3 * len(cases)


@pytest.mark.slow
def test_chinese_answers_have_the_numbers_of_english_ones(no_until):
    cases = list(rows(HERE / "dev-cases.jsonl.gz"))[::2]
    assert sum(map(compared, cases)) > 6_000
