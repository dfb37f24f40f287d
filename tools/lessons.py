"""Measures lessons: words, code cells that show, minutes; fails where a page gives an answer away.

`python tools/lessons.py` prints a line for each lesson. A lesson is wanted to have at most 1,500
words and 32 visible code cells, and to take the minutes that the course's table says. Minutes are
the words at 120 a minute, those that cells print too, and the tasks. It fails on a visible
`assert`, on an option of a prediction that has no word of its own, and on an answer in what is
visible: in a source that is not hidden, in the first line of one that is (JupyterLab shows it), in
a stored output, or in a text beside its question.
"""

import ast
import json
import re
import sys
from pathlib import Path

from volcano_lab.course.kit.lessons import LESSONS

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
WORDS, CELLS, PACE = 1500, 32, 120
MINUTES = {"cell": 0.25, "predict": 0.5, "ask": 1, "check": 4, "lab": 5, "riddle": 4}
"""What else takes time: a code cell to read, a question, a task in code, a lab, a
riddle."""

ANSWERS = {"answer", "because", "show"}
SHORTEST = 25
"""Characters from which on a reason that stands elsewhere, too, is no coincidence."""


def words_of(text):
    """How many words a text has, without code and tables."""
    return len(re.findall(r"\w+", re.sub(r"`[^`]*`|\|[^\n]*\|", " ", text)))


def is_hidden(cell):
    return bool(cell["metadata"].get("jupyter", {}).get("source_hidden"))


def calls_of(source, *names):
    """Calls of these functions or methods in a source."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) in names]


def texts_of(node):
    """The texts in a piece of source, each without marks."""
    found = [each.value for each in ast.walk(node)
             if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return [re.sub(r"[`*]", "", text).strip() for text in found]


def unanswered(call):
    """The options of a prediction of which its `because` says nothing."""
    options = [node for node in call.args[1:] if isinstance(node, ast.List)]
    because = next((word.value for word in call.keywords if word.arg == "because"), None)
    said = {ast.unparse(key) for key in getattr(because, "keys", [])}
    return [option for node in options for option in map(ast.unparse, node.elts)
            if option not in said]


def visible_text(notebook):
    """What a page shows of a stored notebook: texts, sources that are not hidden, outputs."""
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown" or not is_hidden(cell):
            shown.append("".join(cell["source"]))
        for output in cell.get("outputs", []):
            shown += ["".join(part) for kind, part in output.get("data", {}).items()
                      if kind.startswith("text/")] + ["".join(output.get("text", ""))]
    return re.sub(r"[`*]|<[^>]*>", "", "\n".join(shown))


def faults(notebook):
    """What a page gives away or should not show, a sentence for each."""
    found, shown = [], visible_text(notebook)
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        if not is_hidden(cell) and re.search(r"^\s*assert ", source, re.MULTILINE):
            found.append(f"{cell['id']}: a visible assert")
        if is_hidden(cell) and "answer=" in source.partition("\n")[0]:
            found.append(f"{cell['id']}: the first line of a hidden source holds an answer")
        for call in calls_of(source, "predict", "ask", "compare"):
            answers = [word.value for word in call.keywords if word.arg in ANSWERS]
            compared = getattr(call.func, "attr", "") == "compare"
            if not is_hidden(cell) and (compared or answers):
                found.append(f"{cell['id']}: a visible source that holds an answer")
            options = {text for node in call.args for text in texts_of(node)}
            texts = [text for node in answers for text in texts_of(node) if text not in options]
            found += [f"{cell['id']}: no word of its own for who answers {option}"
                      for option in unanswered(call)]
            found += [f"{cell['id']}: stands on the page before its question is answered: {text}"
                      for text in texts if len(text) >= SHORTEST and text in shown]
    return found


def measured(notebook):
    """(words, visible code cells, minutes) of a lesson."""
    cells = notebook["cells"]
    text = " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    visible = [source for cell, source in zip(
        (cell for cell in cells if cell["cell_type"] == "code"), code, strict=True)
        if not is_hidden(cell)]
    asked = sum(words_of(text) for source in code
                for call in calls_of(source, "predict", "ask") for text in texts_of(call))
    printed = sum(words_of("".join(output.get("text", ""))) for cell in cells
                  for output in cell.get("outputs", []))
    minutes = (words_of(text) + asked + printed) / PACE + MINUTES["cell"] * len(visible)
    for name in ("predict", "ask"):
        minutes += MINUTES[name] * sum(len(calls_of(source, name)) for source in code)
    minutes += MINUTES["check"] * sum(bool(re.search(r"^checks\.\w+\(", source, re.MULTILINE))
                                      for source in visible)
    minutes += MINUTES["lab"] * sum(bool(re.search(r"_(lab|stepper)\(\)|stepper\(", source))
                                    for source in visible)
    minutes += MINUTES["riddle"] * sum(len(calls_of(source, "repair")) for source in visible)
    return words_of(text), len(visible), minutes


def main():
    wrong = []
    print("lesson                        words  cells  minutes  in the table")
    for number, lesson in LESSONS.items():
        notebook = json.loads((NOTEBOOKS / lesson.file).read_text(encoding="utf-8"))
        words, cells, minutes = measured(notebook)
        marks = [name for name, over in (
            ("words", words > WORDS), ("cells", cells > CELLS),
            ("time", not 0.75 <= minutes / lesson.minutes <= 1.25)) if over]
        wrong += [f"{number} {fault}" for fault in faults(notebook)]
        print(f"{number} {lesson.title:26} {words:6,} {cells:6} {minutes:8.0f} {lesson.minutes:8}"
              f"      {'not yet: ' + ', '.join(marks) if marks else 'good'}")
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
