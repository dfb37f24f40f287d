"""Pages that are made from the code: the map from Volcano's files, the tables, the reference from
docstrings.
"""

from __future__ import annotations

import ast
import re
import shutil
from functools import cache
from pathlib import Path

import yaml
from manual import markdown
from reference import (
    code,
    described_class,
    described_module,
    fields,
    signature,
    text_of,
    write_sources,
)

from lesson_links import course_table
from volcano_lab.course.kit.lessons import TABLE, WAYS
from volcano_lab.messages import ENGLISH, gettext, spoken

HERE = Path(__file__).parent
MADE = HERE / "made"
PACKAGE = HERE.parent / "volcano_lab"
SOURCE = re.compile(r"`(?:pkg/|cmd/|k8s\.io/|volcano\.sh/)?([\w./-]*?[\w-]+(?:\.go|/[\w-]+))`")
GROUPS = {
    "": "a cluster, a scheduler",
    "api": "the nouns",
    "messages": "errors, log, guards",
    "framework": "session, extension points, statements, configuration",
    "plugins": "the policies",
    "actions": "the steps of a cycle",
    "manifests": "objects in and out",
    "cache": "the cluster as the scheduler knows it",
    "trace": "what a cycle did",
    "simulation": "a cluster in simulated time",
    "debug": "step, stop, try by hand",
    "explain": "why, and what would change it",
    "widgets": "what moves in a notebook",
    "server": "a folder that is watched, a page, metrics",
    "cli": "the command",
}


@cache
def modules() -> list[tuple[str, Path]]:
    """(dotted name, file) of every module with a docstring, in order; the lessons' are left out."""
    files = sorted(p for p in PACKAGE.rglob("*.py") if "course" not in p.parts
                   and (p.name != "__init__.py" or p.parent.name not in GROUPS))
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
            short = name.removeprefix("volcano_lab.")
            rows.append(f"| [`{short}`](reference/{page}.md) | {about} | {files[1]} |")
    head = [
        "# " + gettext("From Volcano's files to the lab's"), "", "Volcano v1.14.0.", "",
        gettext("| module | what it is | answers to |"), "|---|---|---|"
    ]
    return "\n".join(head + rows) + "\n"


def extension_points() -> str:
    from volcano_lab.framework.points.table import BUILT_IN as POINTS
    from volcano_lab.plugins import answering

    lines = [
        f"# {gettext('Extension points')}", "",
        gettext("What the session asks its plugins, how the answers combine, and who asks."), "",
        gettext("| point, its switch | question | rule; without an answer | plugins | asked by |"),
        "|---|---|---|---|---|"
    ]
    for name, point in POINTS.items():
        names = "<br>".join(f"`{each}`" for each in (name, *point.switches))
        rule = f"{gettext(point.rule)}<br>*{gettext(point.default)}*"
        cells = (names, gettext(point.sentence), rule,
                 *(", ".join(f"`{x}`" for x in many) or "–"
                   for many in (answering(name), point.asked_by)))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


# What a plugin holds in its hands: file -> class.
TOUCHED = {"framework/plugin.py": "Plugin", "framework/session.py": "Session",
           "framework/config/arguments.py": "Arguments", "api/job.py": "JobInfo",
           "api/task.py": "TaskInfo", "api/node.py": "NodeInfo", "api/queue.py": "QueueInfo",
           "api/resource.py": "Resource"}


# What a user of the package meets, in the order of use: class -> file.
FACE = {"Cluster": "cluster.py", "ClusterObjects": "manifests/described.py",
        "Cycle": "trace/views/cycle.py", "Explanation": "explain/explanation.py",
        "Waiting": "explain/explanation.py", "Remedy": "explain/remedy.py",
        "Comparison": "trace/views/comparison.py", "Findings": "explain/findings.py",
        "Sweep": "simulation/sweep/run.py", "History": "simulation/history.py",
        "Timeline": "explain/timeline.py", "Shown": "trace/shown.py"}


def face() -> str:
    """The reference of a cluster and of what its methods return."""
    head = [f"# {gettext('Cluster and its results')}", "",
            gettext("From the docstrings; the examples are run by the tests."), ""]
    return "\n".join(head + [described_class(name, PACKAGE / file)
                             for name, file in FACE.items()])


def touch() -> str:
    """A table per class that a plugin meets: its fields and methods, each with a sentence."""
    parts = []
    for file, name in TOUCHED.items():
        tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
        node = next(each for each in tree.body
                    if isinstance(each, ast.ClassDef) and each.name == name)
        parts += [f"### {name}", "", text_of(ast.get_docstring(node)), "", "| what | meaning |",
                  "|---|---|"]
        parts += [f"| {code(f'{field}: {kind}')} | {what} |"
                  for field, kind, _, what in fields(node) if not field.startswith("_")]
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
                said = " ".join((ast.get_docstring(each) or "").split("\n\n")[0].split())
                given = signature(each).replace("(self, ", "(").replace("(self)", "()")
                shown = given.partition("(")[0] if any(
                    "property" in ast.unparse(mark) for mark in each.decorator_list) else given
                parts.append(f"| {code(shown)} | {said} |")
        parts.append("")
    return "\n".join(parts)


def metrics() -> str:
    from volcano_lab.server.series import catalogue

    about = ("The series that `volcano-lab serve` and `volcano_lab.server.prometheus.Metrics` "
             "expose, under Volcano's names.")
    head = gettext("| series | kind | labels | meaning | set by |") + "\n|---|---|---|---|---|\n"
    rows = (f"| `{name}` | {kind} | {labels} | {meaning} | {source} |\n"
            for name, kind, labels, meaning, source in map(dict.values, catalogue()))
    return f"# {gettext('Metrics')}\n\n{gettext(about)}\n\n{head}{''.join(rows)}"


def records() -> str:
    from volcano_lab.trace.kinds import KINDS

    about = ("What a `Trace` records; breakpoints stop at these names, the stepper and the log "
             "show their sentences.")
    head = gettext("| kind | fields | what it stands for |") + "\n|---|---|---|\n"
    rows = (f"| `{each.name}` | {', '.join(each.fields)} | {gettext(each.about)} |\n"
            for each in KINDS.values())
    return f"# {gettext('Records of a trace')}\n\n{gettext(about)}\n\n{head}{''.join(rows)}"


def lessons() -> str:
    """The page of the notebooks, each under its number and its title; folded in the sidebar."""
    title, start = ("Lessons", "Start") if spoken() == ENGLISH else ("课程", "开始")
    lines = [f"# {title}", "", course_table("../lessons/"), "", "```{toctree}", ":hidden:",
             ":maxdepth: 1", "", f"{start} </lessons/start>"]
    lines += [f"{each.number} · {gettext(each.title)} </lessons/{each.number}-{each.name}>"
              for each in TABLE]
    return "\n".join([*lines, "```", ""])


def ways() -> str:
    """The ways through the course as a list, each number a link to its lesson."""
    links = {each.number: f"[{each.number}](lessons/{each.file})" for each in TABLE}
    if spoken() != ENGLISH:
        return "\n".join(f"- **{gettext(way.title)}**（{gettext(way.whom)}，{gettext(way.time)}）："
                         f"{'、'.join(map(links.get, way.numbers))}。" for way in WAYS) + "\n"
    return "\n".join(f"- **{way.title}** ({way.whom[0].lower()}{way.whom[1:]}, {way.time}): "
                     f"{', '.join(map(links.get, way.numbers))}." for way in WAYS) + "\n"


def glossary() -> str:
    """The words of the course, with their Chinese."""
    words = yaml.safe_load((HERE / "glossary.yaml").read_text(encoding="utf-8"))
    rows = [f"| **{word}** | {chinese} | {gettext(text)} |"
            for word, (chinese, text) in words.items()]
    head = [f"# {gettext('Glossary')}", "", gettext("| word | 中文 | what it means |"),
            "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def group_of(name: str) -> str:
    """The package a module belongs to, "" for those that stand alone."""
    group = name.split(".")[1] if name.count(".") > 1 else ""
    return group if group in GROUPS else ""


def generate() -> None:
    """Write all pages again."""
    shutil.rmtree(MADE, ignore_errors=True)
    (MADE / "reference").mkdir(parents=True)
    (MADE / "static").mkdir()
    (MADE / "lessons.md").write_text(lessons())
    (MADE / "course-table.md").write_text(course_table("lessons/") + "\n")
    (MADE / "ways.md").write_text(ways())
    (MADE / "map.md").write_text(the_map())
    (MADE / "extension-points.md").write_text(extension_points())
    (MADE / "metrics.md").write_text(metrics())
    (MADE / "command.md").write_text(markdown())
    (MADE / "records.md").write_text(records())
    (MADE / "touch.md").write_text(touch(), encoding="utf-8")
    (MADE / "glossary.md").write_text(glossary(), encoding="utf-8")
    lines = [
        f"# {gettext('Reference')}", "",
        gettext("From the docstrings; the examples are run by the tests."), "",
        "```{toctree}", ":maxdepth: 1", ""
    ]
    (MADE / "reference" / "face.md").write_text(face(), encoding="utf-8")
    write_sources(modules(), MADE / "static" / "source")
    for group, what in GROUPS.items():
        page = group or "volcano_lab"
        texts = [
            described_module(name, path) for name, path in modules() if group_of(name) == group
        ]
        # Contents down to classes: each page's menu is copied from those of all pages.
        title = f"---\ntocdepth: 3\n---\n\n# {page}: {gettext(what)}\n"
        (MADE / "reference" / f"{page}.md").write_text(title + "".join(texts))
        lines.append(f"reference/{page}")
    (MADE / "reference.md").write_text("\n".join([*lines, "```", ""]))
