"""Texts for users: sentences by code in two languages, errors in one sentence, the log, and the
guards that turn any exception of user code into a sentence.

A cause, a record or a finding is a `Message`: the code of a template with named facts (amounts by
resource, names, lists, other messages). `texts` has the English templates, `languages/*.po`
(gettext) their translations, found by the code.

Volcano: none
"""

from .arguments import friendly_errors, misused
from .catalogue import gettext, localized, mark
from .errors import Misuse, NoSuch, OneSentence
from .language import ENGLISH, languages, speak, speaking, spoken
from .message import Message, Said, known, paragraph, parts
from .similar import alike, did_you_mean, meant, near
from .text import capped, columns, one_line, padded, printable, wrapped

__all__ = ["ENGLISH", "Message", "Misuse", "NoSuch", "OneSentence", "Said", "alike", "capped",
           "columns", "did_you_mean", "friendly_errors", "gettext", "known", "languages",
           "localized", "mark", "meant", "misused", "near", "one_line", "padded", "paragraph",
           "parts", "printable", "speak", "speaking", "spoken", "wrapped"]
