"""Fields of the API that are known and not modelled, because no scheduling decision reads them.

A manifest may carry them without a warning; they are not written out again. `ignored.md` names
them.
"""

import re
from pathlib import Path

_ROW = re.compile(r"^\| ([A-Z]\w+) \| (.+) \|$", re.MULTILINE)
IGNORED = {owner: frozenset(names.split()) for owner, names in _ROW.findall(
    Path(__file__).with_suffix(".md").read_text("utf-8"))}
"""Class name -> names as a manifest has them."""
