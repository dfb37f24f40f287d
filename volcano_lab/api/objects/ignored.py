"""Fields of the API that are known but not modelled, because no scheduling decision reads them.

A manifest may have them without a warning; they are not written out again. `ignored.md` lists them.
"""

import re
from pathlib import Path

_ROW = re.compile(r"^\| ([A-Z]\w+) \| (.+) \|$", re.MULTILINE)
IGNORED = {owner: frozenset(names.split()) for owner, names in _ROW.findall(
    Path(__file__).with_suffix(".md").read_text("utf-8"))}
"""Class name -> field names as in a manifest."""
