"""The page about plugins shows what its code prints."""

import re
from pathlib import Path

from volcano_lab.framework.plugin import PLUGINS

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-plugin.md"


def test_the_example_of_the_page_prints_what_the_page_says(capsys):
    code, printed = re.findall(r"```(?:python|text)\n(.*?)```", PAGE.read_text(encoding="utf-8"),
                               re.DOTALL)
    with PLUGINS.restored():
        exec(code, {})
    assert capsys.readouterr().out == printed
