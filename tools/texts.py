"""The texts that a reader sees, collected from the source, the notebooks and the pages.

`collected` has them by catalogue: texts of the library and the lessons stand in
`volcano_lab/messages/languages/zh`, Markdown and comments of the notebooks in `docs/languages/zh`,
what `--help` shows in the catalogue `help`.
"""

import ast
import inspect
import io
import json
import re
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import yaml

from volcano_lab.cli import grammar, help as cli_help
from volcano_lab.course.kit.questions import HINTS, RECAP, RIGHT, TASKS
from volcano_lab.messages import known
from volcano_lab.messages.catalogue import HELP as OF_HELP, SCRIPT

ROOT = Path(__file__).parents[1]
LANGUAGE = "zh"
TEXTS = ROOT / "volcano_lab" / "messages" / "languages" / LANGUAGE
PAGES = ROOT / "docs" / "languages" / LANGUAGE
HELP = TEXTS / f"{OF_HELP}.po"
ERRORS = "errors"
"""The catalogue of what is wrong or without effect. Only texts that code looks up are in it: beside
them stand names, states and Volcano's own sentences.
"""
ROOMS = {"library": ["explain", "debug", "trace", "cli/why.py", "cli/capture.py", "cluster.py",
                     "framework/points"],
         ERRORS: ["framework", "plugins", "actions", "manifests", "changes", "cache", "simulation",
                  "server", "messages", "cli", "__init__.py"],
         "widgets": ["widgets"],
         "kit": ["course/kit", "course/lessons.yaml", "course/riddles", "../tools/lesson_links.py"],
         "pending": ["../docs/pending/pages.yaml"],
         "script": ["widgets/js", "course/kit/live.js", "../docs/front/ask.js",
                    "../docs/front/front.js"],
         "sheet": ["../tools/cheat_sheet.py", "../docs/glossary.yaml", "../docs/generate.py",
                   "../docs/manual.py", "../docs/front"]}
"""Catalogue -> where its texts are. Lessons have one each."""
ENGLISH_ALONE = {"volcano_log.py"}
"""Files whose texts are lines of Volcano's log."""

LOOKED_UP = {**dict.fromkeys((
    "gettext", "ConfError", "ManifestError", "Mistake", "Misuse", "NoSuch", "NotRegistered",
    "UnknownPlugin", "QueueTreeError", "HyperNodeError", "TopologyError", "Unreadable",
    "DumpError", "LifeError", "WorkloadError", "SweepError", "BreakpointError",
    "ExtensionError"), (0,)),
    "_check_number": (2,)}
"""Functions that look up texts -> the places of these among their arguments."""

WORDS = re.compile(r"[A-Za-z]{2,}\S*\s+\S*[a-z]{2,}")
NO_TEXT = re.compile("|".join((
    r"<\w+[ >]|style=|://|[{;] *\w+-\w+:|^[-.#\w]+ \{|rgba?\(|var\(--|\bpx\b",  # HTML and CSS
    r"^(vp|vs|vl)[-{]|^\(prefers|\[data-|^M[\d.]|^#",  # classes, queries, paths, colours
    r"\n  |apiVersion|^[\w.-]+/|^\w+=|^--",  # manifests, commands
    r"^def |^import |^from \w+ import|\(\?|\\[sdw]")))  # code, patterns
"""What has words, and is not for people."""

OF_CLICK = (
    "Usage:", "Options", "default: {default}", "required", "Show this message and exit.",
    "Show the version and exit.", "Missing command.", "Missing argument", "Missing option",
    "Choose from:\n\t{choices}", "No such option {name!r}.", "No such command {name!r}.",
    "Did you mean {possibility}?", "(Did you mean one of: {possibilities}?)",
    "Invalid value: {message}", "Invalid value for {param_hint}: {message}",
    "Option {name!r} requires an argument.", "Option {name!r} does not take a value.",
    "Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})",
    "Argument {name!r} takes {nargs} values.", "{value!r} is not one of {choices}.",
    "{value!r} is not a valid {number_type}.", "{value} is not in the range {range}.")
"""Texts that click adds to ours, in its own form."""

GRADES = {"check", "check_class"}
"""Decorators of functions whose docstring is a task."""

LITERAL = r'"((?:[^"\\\n]|\\.)*)"'
IN_SCRIPT = re.compile(rf'\bt\((?:[^"()]*\? )?{LITERAL}(?: : {LITERAL})?')
"""A text that a script looks up, or both of a conditional one."""


def texts_of(source: str, all_words: bool = True) -> list[str]:
    """The texts of Python source in their order: what is looked up, and what has words unless
    `all_words` is false.

    >>> texts_of('gettext("{n} pods" if n else "none"); x = "a long name"; y = "key"')
    ['{n} pods', 'none', 'a long name']
    >>> texts_of('WORDS = {int: "a number"}; x = "a long name"; gettext(WORDS[kind])', False)
    ['a number']
    >>> texts_of('WORDS = dict.fromkeys((int, float), "a number"); gettext(WORDS[kind])', False)
    ['a number']
    """
    tree = ast.parse(source)
    parts = {id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
             for value in node.values}
    parts |= {id(value) for node in ast.walk(tree) if is_conf(node) for value in ast.walk(node)}
    docs = {id(node.value): False for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    docs |= {id(node.body[0].value): True for node in ast.walk(tree) if graded(node)}
    looked_up = {id(each) for each in all_looked_up(tree)}
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value):
            continue
        if id(node) in looked_up and not ("." in node.value and known(node.value)):
            found.append((node.lineno, node.col_offset, node.value, True))
        elif all_words and id(node) not in parts and docs.get(id(node), True):
            clean = " ".join(inspect.cleandoc(node.value).split())
            text = clean if id(node) in docs else node.value
            found.append((node.lineno, node.col_offset, text, False))
    return list(dict.fromkeys(text.strip() if not sure else text
                              for _, _, text, sure in sorted(found)
                              if sure or is_text(text.strip())))


def all_looked_up(tree: ast.AST) -> Iterator[ast.Constant]:
    """The texts that code looks up, also those of a name or a table that it takes them from."""
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        values.setdefault(name.id, []).append(node.value)
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Tuple):
            for row in inner(node.iter):
                for name, value in zip(node.target.elts, inner(row), strict=False):
                    values.setdefault(getattr(name, "id", ""), []).append(value)

    def texts(node: ast.expr | None, known: frozenset[str] = frozenset()) -> Iterator[ast.Constant]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node
        elif isinstance(node, ast.Name) and node.id not in known:
            for value in values.get(node.id, ()):
                yield from texts(value, known | {node.id})
        else:
            for part in inner(node):
                yield from texts(part, known)

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            for place in LOOKED_UP.get(called, ()):
                yield from texts(node.args[place] if place < len(node.args) else None)


def inner(node: ast.expr | None) -> list[ast.expr | None]:
    """The expressions of which a text may be the value of one."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp | ast.Dict):
        return node.values
    if isinstance(node, ast.Tuple | ast.List):
        return node.elts
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get":
        return [node.func.value, *node.args[1:]]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "fromkeys":
        return [*node.args[1:]]
    return []


SAID = re.compile(r"[a-z]{2}.* |[^`] .*[a-z]{2}")
"""In a question or an answer: more than a name."""


def is_text(text: str) -> bool:
    """Whether it has words for people, as far as one can see that."""
    bare = re.sub(r"\{\w+\}", "x", text)
    return bool(WORDS.search(bare)) and not NO_TEXT.search(bare)


def is_conf(node) -> bool:
    """Whether it makes a configuration, whose words are names."""
    return isinstance(node, ast.Call) and name_of(node.func) == "conf_text"


def graded(node) -> bool:
    """Whether a function's docstring is a task."""
    return isinstance(node, ast.FunctionDef) and isinstance(node.body[0], ast.Expr) and any(
        getattr(getattr(each, "func", each), "id", "") in GRADES for each in node.decorator_list)


def name_of(node) -> str:
    """A name for an expression: its own, or that of its outermost part."""
    for part in ("id", "attr"):
        if hasattr(node, part):
            return getattr(node, part).strip("_") or "x"
    if isinstance(node, ast.Call | ast.Subscript):
        return name_of(node.func if isinstance(node, ast.Call) else node.value)
    return "x"


def script_texts(source: str) -> list[str]:
    """The texts that JavaScript looks up with `t`.

    >>> script_texts('t(n > 1 ? "{0} pods" : "{0} pod", n) + t("on {0}", t("a node"))')
    ['{0} pods', '{0} pod', 'on {0}', 'a node']
    """
    found = [text for pair in IN_SCRIPT.findall(source) for text in pair if text]
    return list(dict.fromkeys(json.loads(f'"{text}"') for text in found))


def blocks(source: str) -> list[str]:
    """A cell's Markdown in parts: paragraphs, lists, tables, each fence with its code as one.

    >>> blocks("# Title\\n\\nText\\n\\n```python\\na\\n\\nb\\n```\\nEnd")
    ['# Title', 'Text', '```python\\na\\n\\nb\\n```', 'End']
    """
    parts = re.split(r"^(```.*?^```)[ \t]*$", source, flags=re.MULTILINE | re.DOTALL)
    found = []
    for place, part in enumerate(parts):
        found += [part] if place % 2 else re.split(r"\n\s*\n", part)
    return [part.strip("\n") for part in found if part.strip()]


def has_words(block: str) -> bool:
    """Whether a part of a page is for people, and not made from the course's table. A fence is
    where it has commands with what each does beside it, or what a command prints.
    """
    if block.startswith("```"):
        return bool(re.match(r"```\n([\w-]+ .*  # |What )", block))
    made = "[all lessons](" in block or block.startswith(
        ("</details", "|---", "**Next:**", "**This was"))
    return not made and bool(re.search(r"[A-Za-z]{2}", re.sub(
        r'`[^`]*`|<(?![^>]* alt=")[^>]*>', "", block)))


def notebooks() -> list[Path]:
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def pages() -> list[Path]:
    """Pages of the documentation that people wrote, plans of those who teach, and the readme."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *plans()]


def plans() -> list[Path]:
    """The pages of `notebooks/instructor`."""
    return sorted((ROOT / "notebooks" / "instructor").glob("*.md"))


def comments(source: str) -> list[tokenize.TokenInfo]:
    """A code cell's comments, of which a line has one at most.

    >>> [comment.string for comment in comments("a = 1  # change it\\nb = '# c'  # a name")]
    ['# change it', '# a name']
    """
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token for token in found if token.type == tokenize.COMMENT]


def page_catalogue(path: Path) -> Path:
    return PAGES / f"{'instructor-' * (path in plans())}{path.stem}.po"


def cells(path: Path, kind: str) -> list[str]:
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found
            if cell["cell_type"] == kind and cell.get("id") not in ("thread-end", "thread-table")]


def collected() -> dict[Path, dict[str, str]]:
    """{catalogue: {text: the file where it is}}; a text is in the first catalogue that needs it."""
    wanted: dict[Path, dict[str, str]] = {}

    def want(catalogue: Path, file: Path, texts: Iterable[str]) -> None:
        known = wanted.setdefault(catalogue, {})
        for text in texts:
            known.setdefault(text, str(file.relative_to(ROOT)))

    for name, places in ROOMS.items():
        for file in (file for place in places for file in sources(ROOT / "volcano_lab" / place)):
            want(TEXTS / f"{name}.po", file.resolve(), of_file(file, name != ERRORS))
    for folder in sorted((ROOT / "volcano_lab" / "course").glob("lesson_*")):
        for file in sources(folder):
            want(TEXTS / f"{folder.name}.po", file, of_file(file))
    for path in pages():
        text = path.read_text(encoding="utf-8")
        want(page_catalogue(path), path, filter(has_words, blocks(text)))
    for path in notebooks():
        number = path.stem.partition("-")[0]
        want(page_catalogue(path), path, filter(has_words, (
            block for cell in cells(path, "markdown") for block in blocks(cell))))
        want(page_catalogue(path), path, (
            comment.string for cell in cells(path, "code") for comment in comments(cell)))
        want(TEXTS / f"lesson_{number}.po", path, (
            text for cell in cells(path, "code") for text in texts_of(cell)))
    guide = ROOT / "docs" / "labs-and-pictures.md"
    examples = re.findall(r"```python\n(pictures\..*?)```", guide.read_text(encoding="utf-8"),
                          re.DOTALL)
    want(TEXTS / "pictures.po", guide, (text for block in examples for text in texts_of(block)))
    want(HELP, Path(grammar.__file__), help_texts())
    seen: set[str] = set()
    for path, texts in wanted.items():
        if path.parent != PAGES and path.stem not in (SCRIPT, OF_HELP):  # no other catalogue's
            wanted[path] = {text: file for text, file in texts.items() if text not in seen}
            seen.update(texts)
    return {path: texts for path, texts in wanted.items() if texts}


def help_texts() -> list[str]:
    """The texts of `--help`: paragraphs, options, heads of sections, and what click adds."""
    found = [*OF_CLICK, cli_help.EXAMPLES, *grammar.SECTIONS]
    for command in (grammar.volcano_lab, *grammar.volcano_lab.commands.values()):
        parts = cli_help.paragraphs(inspect.cleandoc(command.help or ""))
        found += [part.removeprefix(cli_help.RAW) for part in parts
                  if not part.startswith(cli_help.RAW + cli_help.EXAMPLES)]
        found += [param.help for param in command.params
                  if isinstance(param, click.Option) and param.help]
    return found


def sources(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    endings = ("*.js",) if place.name == "js" else (
        "*.py", "*.yaml", "*.toml", "*.html")
    return sorted(path for ending in endings for path in place.rglob(ending)
                  if path.name not in ENGLISH_ALONE)


def of_file(path: Path, all_words: bool = True) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return re.findall(r'\bsay\("(.+?)"\)', text)
    if path.name == "glossary.yaml":
        return [meaning for _, meaning in yaml.safe_load(text).values()]
    if path.name == "lessons.yaml":
        rows = [row for rows in yaml.safe_load(text).values() for row in rows]
        return [part for row in rows for part in row.values() if is_text(str(part))]
    if path.name == "pages.yaml":
        given = yaml.safe_load(text)
        return [*given["texts"].values(), *(each for group in given["groups"] for each in (
            group["group"], *(row[name] for row in group["pages"]
                              for name in ("title", "lead", "not"))))]
    if path.name == "kinds.toml":
        return [row["about"] for row in tomllib.loads(text).values()]
    if path.suffix == ".toml" and not all_words:
        return []
    if path.suffix == ".toml":
        return [row[name] for row in tomllib.loads(text).get("symptom", ())
                for name in ("seen", "likely")]
    if path.suffix == ".yaml":
        return riddle_texts(text) if path.parent.name == "riddles" else question_texts(text)
    return script_texts(text) if path.suffix == ".js" else texts_of(text, all_words)


def riddle_texts(text: str) -> list[str]:
    """The texts of a riddle: its title and story, causes and what is said of them, hints."""
    riddle = next(iter(yaml.safe_load_all(text)))
    said = [part for cause in riddle["causes"].items() for part in cause]
    texts = [riddle["title"], riddle["story"], *said, *riddle["hints"]]
    return [" ".join(each.removeprefix(RIGHT).split()) for each in texts]


def question_texts(text: str) -> list[str]:
    """The texts of a lesson's questions and recap: what is asked, answers, what is said of them.
    """
    found: list[str] = []
    for name, entry in yaml.safe_load(text).items():
        if name == RECAP:
            found += entry.get("points", [])
            found += [what for part in entry.values() if isinstance(part, dict)
                      for what in part.values()]
            continue
        if name == HINTS:
            found += entry.values()
            continue
        if name == TASKS:
            found += [text for task, given in entry.items()
                      for text in (task, given["text"], *filter(None, [given.get("answer")]))]
            continue
        said = [str(part) for answer in entry.get("answers", {}).items() for part in answer]
        found += [entry.get("predicts", ""), entry.get("asks", ""), *entry.get("first", []),
                  *said, entry.get("otherwise", ""), *entry.get("then", []),
                  *(each for case in entry.get("cases", []) for each in case
                    if isinstance(each, str))]
    return [each for each in (part.removeprefix(RIGHT) for part in found)
            if is_text(each) or SAID.search(re.sub(r"`[^`]*`|\{[^}]*\}", "x", each))]
