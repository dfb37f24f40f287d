"""Messages: errors in one sentence, the words in them, the log, and the guards that turn whatever
user code raises into a sentence.
"""

from .arguments import friendly_errors
from .errors import Misuse, NoSuch, OneSentence
from .similar import did_you_mean, meant, near
from .text import capped, listed, one_line, printable

__all__ = ["Misuse", "NoSuch", "OneSentence", "capped", "did_you_mean", "friendly_errors", "listed",
           "meant", "near", "one_line", "printable"]
