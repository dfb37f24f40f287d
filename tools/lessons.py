"""Measures lessons: words, code cells that show, minutes; fails where a page gives an answer away.

`python tools/lessons.py` prints a line for each lesson. A lesson is wanted to have at most 1,500
words and 32 code cells beside its questions, and to take the minutes that the course's table says.
Minutes are the words at 90 a minute (for many readers English is a second language), those that
cells print too, and the tasks. It fails on an
`assert`, on an answer of a prediction that has no word of its own, and on an answer in what is
visible before its question is answered: a source, a stored output, a text beside the question.
"""

import ast
import json
import re
import sys
from pathlib import Path

from notebooks import only_asks
from volcano_lab.course.kit.lessons import LESSONS
from volcano_lab.course.kit.questions import RECAP, RIGHT, entries, part, right

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
WORDS, CELLS, PACE = 1500, 32, 90
MINUTES = {"cell": 0.35, "predicts": 0.75, "asks": 1.5, "check": 5, "lab": 6, "riddle": 5}
"""What else takes time: a code cell to read, a question, a task in code, a lab, a riddle."""

SHORTEST = 25
"""Characters from which on a reason that stands elsewhere, too, is no coincidence."""

FOLD = re.compile(r"<details.*?</details>", re.DOTALL)
COINCIDENCES = {
    ("resources-16p", "overused_from"): "963 is what the pod asks for",
    ("proportion-23", "guarantee_of_seventy"): "100 is the whole cluster, in a task",
    ("proportion-41", "guarantee_of_seventy"): "100 is the whole cluster, in a title",
    ("a035q", "who_refuses_memory"): "the cluster, in another question",
    ("a076", "who_refuses_memory"): "the cluster, in a recap",
    ("cell-20", "next_reason"): "another cluster with nine faults",
    ("cell-56", "nineteen_free"): "it waits, an option of another question"}
"""(Cell, question): why a stored output has the words of the answer, and does not give it."""


def words_of(text):
    """How many words a text has, without code and tables."""
    return len(re.findall(r"\w+", re.sub(r"`[^`]*`|\|[^\n]*\|", " ", text)))


def calls_of(source, *names):
    """Calls of these functions or methods in a source."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) in names]


def code_of(notebook):
    """(cell, its source) of each code cell."""
    return [(cell, "".join(cell["source"])) for cell in notebook["cells"]
            if cell["cell_type"] == "code"]


def asked(notebook, lesson):
    """[(id of a cell, name of what it asks, its entry)] of a notebook."""
    return [(cell["id"], name, entries(lesson).get(name, {}))
            for cell, source in code_of(notebook) for call in calls_of(source, "ask")
            for name in [ast.literal_eval(call.args[0])]]


def reasons(entry):
    """What an entry says when it is answered, without marks."""
    said = [*entry.get("answers", {}).values(), entry.get("otherwise", ""), *entry.get("first", ()),
            *entry.get("then", ())]
    return [re.sub(r"[`*]", "", each.removeprefix(RIGHT)).strip() for each in said]


def stored(cell):
    """What a page shows of a cell's stored outputs, as text: nothing of what is folded."""
    shown = []
    for output in cell.get("outputs", []):
        data = {kind: "".join(part) for kind, part in output.get("data", {}).items()}
        folded = "<details" in data.get("text/html", "")
        shown += [FOLD.sub("", part) for kind, part in data.items()
                  if kind.startswith("text/") and not (folded and kind == "text/plain")]
        shown.append("".join(output.get("text", "")))
    return re.sub(r"[`*]|<[^>]*>", "", "\n".join(shown))


def visible_text(notebook):
    """What a page shows of a stored notebook: texts, sources, outputs."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    text = re.sub(r"[`*]|<[^>]*>", "", "\n".join(FOLD.sub("", source) for source in sources))
    return "\n".join([text, *map(stored, notebook["cells"])])


def telling(truth):
    """The words of an answer where they are more than a name, a yes or a small number, else "".

    >>> [telling(truth) for truth in ("train and helper", 9.6, "b, c, a", "yes", 2, "train")]
    ['train and helper', '9.6', 'b, c, a', '', '', '']
    """
    text = re.sub(r"[`*]", "", str(truth)).strip()
    long = len(text.split()) > 1 or re.search(r"\d\.\d|\d{3}", text)
    return text if long else ""


def given_away(notebook, lesson):
    """(cell, question) where a stored output has the answer to a question of another cell."""
    found = []
    for where, name, entry in asked(notebook, lesson):
        truth = telling(right(entry)) if "answers" in entry else ""
        pattern = re.compile(rf"(?<![\w.]){re.escape(truth)}(?![\w]|\.\d)", re.IGNORECASE)
        found += [(cell["id"], name) for cell, _ in code_of(notebook) if truth
                  and cell["id"] != where and pattern.search(stored(cell))]
    return [pair for pair in found if pair not in COINCIDENCES]


def faults(notebook, lesson):
    """What a page gives away or should not show, a sentence for each."""
    found, shown = [], visible_text(notebook)
    for cell, source in code_of(notebook):
        if re.search(r"^\s*assert ", source, re.MULTILINE):
            found.append(f"{cell['id']}: a visible assert")
    for where, name, entry in asked(notebook, lesson):
        if "predicts" in entry:
            found += [f"{where}: {name} has no word of its own for who answers {answer}"
                      for answer, said in entry["answers"].items()
                      if not said.removeprefix(RIGHT).strip()]
        found += [f"{where}: stands on the page before {name} is answered: {text}"
                  for text in reasons(entry) if len(text) >= SHORTEST and text in shown]
    found += [f"{cell}: its stored output answers {name}"
              for cell, name in given_away(notebook, lesson)]
    return found


def measured(notebook, lesson):
    """(words, code cells beside the questions, minutes) of a lesson."""
    cells = notebook["cells"]
    text = " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    read = [source for _, source in code_of(notebook) if not only_asks(source)]
    questions = [entry for _, _, entry in asked(notebook, lesson)]
    said = [text for entry in questions for text in (
        entry.get("predicts", entry.get("asks", "")), *map(str, entry.get("answers", ())),
        *reasons(entry))]
    said += part(lesson, RECAP).get("points", [])
    printed = [text for cell in cells for output in cell.get("outputs", [])
               for text in ["".join(output.get("text", ""))]]
    minutes = sum(map(words_of, [text, *said, *printed])) / PACE + MINUTES["cell"] * len(read)
    minutes += sum(MINUTES["predicts" if "predicts" in entry else "asks"] for entry in questions)
    for what, pattern in (("check", r"^checks\.\w+\("), ("lab", r"_(lab|stepper)\(\)|stepper\("),
                          ("riddle", r"\.repair\(")):
        minutes += MINUTES[what] * sum(bool(re.search(pattern, source, re.MULTILINE))
                                       for source in read)
    return words_of(text), len(read), minutes


def main():
    wrong = []
    print("lesson                        words  cells  minutes  in the table")
    for number, lesson in LESSONS.items():
        notebook = json.loads((NOTEBOOKS / lesson.file).read_text(encoding="utf-8"))
        words, cells, minutes = measured(notebook, number)
        marks = [name for name, over in (
            ("words", words > WORDS), ("cells", cells > CELLS),
            ("time", not 0.75 <= minutes / lesson.minutes <= 1.25)) if over]
        wrong += [f"{number} {fault}" for fault in faults(notebook, number)]
        print(f"{number} {lesson.title:26} {words:6,} {cells:6} {minutes:8.0f} {lesson.minutes:8}"
              f"      {'not yet: ' + ', '.join(marks) if marks else 'good'}")
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
