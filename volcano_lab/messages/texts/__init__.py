"""The English sentences, by code: one table for each subject. Two forms are singular and plural."""

from volcano_lab.messages.texts import (
    admission,
    answers,
    common,
    evictions,
    gangs,
    lint,
    lives,
    objects,
    placement,
    records,
)

Text = str | tuple[str, str]
SUBJECTS = (common, answers, admission, placement, gangs, evictions, lives, objects, lint,
            records)
TEXTS: dict[str, Text] = {code: text for subject in SUBJECTS
                          for code, text in subject.TEXTS.items()}
