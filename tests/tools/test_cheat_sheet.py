"""The cheat sheet has what its tables have."""

import click
import pytest

import cheat_sheet
from volcano_lab.cli.grammar import volcano_lab
from volcano_lab.framework.config.conf import ACTIONS, ALL_SWITCHES
from volcano_lab.messages import speak


def test_it_has_every_switch_action_and_word_on_two_pages():
    assert {switch for switch, _ in cheat_sheet.switches()} == ALL_SWITCHES
    assert [action for action, _ in cheat_sheet.asked()] == list(ACTIONS)
    assert dict(cheat_sheet.asked())["shuffle"] == "victim_tasks"
    page = cheat_sheet.html()
    assert page.count('class="page"') == 2 and "入队" in page and "http" not in page


def test_every_word_of_the_glossary_has_both_languages():
    first, second = cheat_sheet.pages()
    assert len(first) == 7 and len(second) == 3
    words = second[-1].split("<tr>")[1:]
    assert len(words) > 30 and all(any(sign >= "\u4e00" for sign in row) for row in words)


def test_the_chinese_sheet_has_chinese_in_every_row_of_words_and_the_names_as_they_are():
    speak("zh")
    first, second = cheat_sheet.pages()
    rows = "".join([*first, second[-1]]).split("<tr>")[1:]
    assert len(rows) > 60
    assert all(any(sign >= "\u4e00" for sign in row.split("<td>")[2]) for row in rows)
    assert dict(cheat_sheet.asked())["reclaim"] in second[0] and "<td>weight<" in first[1]


@pytest.mark.parametrize("line", [*cheat_sheet.COMMANDS])
def test_each_command_has_the_options_that_the_sheet_names(line):
    words = line.split()[1:]
    shown = volcano_lab.commands[words[0]].get_params(
        click.Context(volcano_lab, help_option_names=["-h", "--help"]))
    options = {option for param in shown for option in param.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_the_cycle_has_every_action():
    steps = " ".join(cheat_sheet.CYCLE)
    assert all(action in steps for action in ACTIONS if action != "shuffle")
