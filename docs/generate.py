"""Pages that are made from the code: the map from Volcano's files, the tables, the reference from
docstrings.
"""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import yaml
from manual import markdown

from volcano_lab.course.kit.lessons import TABLE, WAYS, course_table

HERE = Path(__file__).parent
MADE = HERE / "made"
PACKAGE = HERE.parent / "volcano_lab"
SOURCE = re.compile(r"`(?:pkg/|cmd/|k8s\.io/|volcano\.sh/)?([\w./-]*?[\w-]+(?:\.go|/[\w-]+))`")
GROUPS = {
    "": "a cluster, a scheduler",
    "api": "the nouns",
    "framework": "session, extension points, statements, configuration",
    "plugins": "the policies",
    "actions": "the steps of a cycle",
    "manifests": "objects in and out",
    "cache": "the cluster as the scheduler knows it",
    "trace": "what a cycle did",
    "metrics": "series, calls, logs",
    "simulation": "a cluster in simulated time",
    "debug": "step, stop, try by hand",
    "explain": "why, and what would change it",
    "display": "tables and charts",
    "widgets": "what moves in a notebook",
    "cli": "the command",
    "course": "the lessons",
}


def modules() -> list[tuple[str, Path]]:
    """(dotted name, file) of every module with a docstring, in order."""
    files = sorted(
        p for p in PACKAGE.rglob("*.py") if p.name != "__init__.py" or p.parent.name not in GROUPS)
    names = [(".".join(p.relative_to(
        PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"), p) for p in files]
    return [(name, path) for name, path in names if ast.get_docstring(ast.parse(path.read_text()))]


def the_map() -> str:
    """Which module answers to which file of Volcano."""
    rows = []
    for name, path in modules():
        text = " ".join(ast.get_docstring(ast.parse(path.read_text())).split())
        files = re.search(r"Answers? to (.+?)(?:\. |\.$|; )", text) or re.search(
            r" Volcano: (.+)$", text)
        if files:
            about = text.split(". ")[0].rstrip(".")
            page = group_of(name) or "volcano_lab"
            rows.append(f"| [`{name}`](reference/{page}.md) | {about} | {files[1]} |")
    title = "# From Volcano's files to the lab's"
    head = [
        title, "", "Volcano v1.14.0.", "", "| module | what it is | answers to |", "|---|---|---|"
    ]
    return "\n".join(head + rows) + "\n"


def extension_points() -> str:
    from volcano_lab.plugins.catalogue import table

    lines = [
        "# Extension points", "",
        "What the session asks its plugins, how the answers combine, and who asks.", "",
        "| point | question | rule | without an answer | switch | plugins | asked by |",
        "|---|---|---|---|---|---|---|"
    ]
    for row in table():
        cells = (f"`{row.point}`", row.question, row.rule, row.default,
                 *(", ".join(f"`{x}`"
                             for x in many) or "–"
                   for many in (row.switches, row.plugins, row.asked_by)))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def metrics() -> str:
    from volcano_lab.metrics.series import table

    about = ("The series that `volcano-lab serve` and `volcano_lab.metrics.prometheus.Metrics` "
             "expose, under Volcano's names.")
    return f"# Metrics\n\n{about}\n\n{table()}"


def records() -> str:
    from volcano_lab.trace.kinds import table

    about = ("What a `Trace` records; breakpoints stop at these names, the stepper and the log "
             "show their sentences.")
    return f"# Records of a trace\n\n{about}\n\n{table()}"


def lessons() -> str:
    """The list of the notebooks, each under its number and its title."""
    lines = ["```{toctree}", ":caption: Lessons", ":maxdepth: 1", "", "Start </lessons/start>"]
    lines += [f"{each.number} · {each.title} </lessons/{each.number}-{each.name}>"
              for each in TABLE]
    return "\n".join([*lines, "```", ""])


def ways() -> str:
    """The ways through the course as a list."""
    return "\n".join(f"- **{way.title}** ({way.whom[0].lower()}{way.whom[1:]}, {way.time}): "
                     f"{', '.join(way.numbers)}." for way in WAYS) + "\n"


def glossary() -> str:
    """The words of the course, with their Chinese."""
    words = yaml.safe_load((HERE / "glossary.yaml").read_text(encoding="utf-8"))
    rows = [f"| **{word}** | {chinese} | {text} |" for word, (chinese, text) in words.items()]
    head = ["# Glossary", "", "| word | 中文 | what it means |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def group_of(name: str) -> str:
    """The package a module belongs to, "" for those that stand alone."""
    group = name.split(".")[1] if name.count(".") > 1 else ""
    return group if group in GROUPS else ""


def described_module(name: str, path: Path) -> str:
    """One module: its docstring, and the signature and docstring of what is public in it."""
    tree = ast.parse(path.read_text())
    parts = ["", f"## `{name}`", "", fenced(ast.get_docstring(tree))]
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            parts += described(node, "###")
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef
                              ) and not inner.name.startswith("_") and ast.get_docstring(inner):
                    parts += described(inner, "####")
    return "\n".join(parts) + "\n"


def described(node: ast.ClassDef | ast.FunctionDef, level: str) -> list[str]:
    if isinstance(node, ast.ClassDef):
        signature = f"class {node.name}" + (f"({', '.join(ast.unparse(b) for b in node.bases)})"
                                            if node.bases else "")
    else:
        signature = f"{node.name}({ast.unparse(node.args)})" + (f" -> {ast.unparse(node.returns)}"
                                                                if node.returns else "")
    return [
        "", f"{level} `{node.name}`", "", "```python", signature, "```", "",
        fenced(ast.get_docstring(node) or "")
    ]


def fenced(text: str) -> str:
    """A docstring as Markdown: examples become code blocks, headings are left to the page."""
    out, inside = [], False
    for line in text.splitlines():
        example = line.startswith((">>>", "...")) or (inside and line.strip() != "")
        if example != inside:
            out += ["```pycon"] if example else ["```", ""]
            inside = example
        out.append(line)
    return "\n".join(out + ["```"] * inside)


def generate() -> None:
    """Make all pages anew."""
    shutil.rmtree(MADE, ignore_errors=True)
    (MADE / "reference").mkdir(parents=True)
    (MADE / "lessons.md").write_text(lessons())
    (MADE / "course-table.md").write_text(course_table("lessons/") + "\n")
    (MADE / "ways.md").write_text(ways())
    (MADE / "map.md").write_text(the_map())
    (MADE / "extension-points.md").write_text(extension_points())
    (MADE / "metrics.md").write_text(metrics())
    (MADE / "command.md").write_text(markdown())
    (MADE / "records.md").write_text(records())
    (MADE / "glossary.md").write_text(glossary(), encoding="utf-8")
    lines = [
        "# Reference", "", "From the docstrings; the examples are run by the tests.", "",
        "```{toctree}", ":maxdepth: 1", ""
    ]
    for group, what in GROUPS.items():
        page = group or "volcano_lab"
        texts = [
            described_module(name, path) for name, path in modules() if group_of(name) == group
        ]
        (MADE / "reference" / f"{page}.md").write_text(f"# {page}: {what}\n" + "".join(texts))
        lines.append(f"reference/{page}")
    (MADE / "reference.md").write_text("\n".join([*lines, "```", ""]))
