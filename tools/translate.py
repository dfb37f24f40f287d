"""The catalogues of other languages, and the notebooks made from them.

`python tools/translate.py update` collects all texts that a reader sees and puts them into the
catalogues: texts of the library and the lessons into `volcano_lab/trace/languages/zh`, Markdown of
the notebooks into `docs/languages/zh`. What was translated stays; a text that changed gets the
translation of the nearest old one, marked fuzzy, until somebody has read it.
`check` names every text without a translation, and terms that are not the glossary's.
`missing NOTEBOOK...` shows what stays English when a lesson is run, answered and moved in Chinese.
`readme` makes README.zh-CN.md.
`build [NOTEBOOK...]` makes `notebooks/zh` from `notebooks`.
"""

import ast
import contextlib
import difflib
import inspect
import io
import json
import re
import sys
import tokenize
from functools import cache
from pathlib import Path

import nbformat
import polib
import yaml
from markdown_it import MarkdownIt

from volcano_lab.course.kit.markup import NAME
from volcano_lab.trace import language
from volcano_lab.widgets.scripts import in_script

ROOT = Path(__file__).parents[1]
LANGUAGE = "zh"
TEXTS = ROOT / "volcano_lab" / "trace" / "languages" / LANGUAGE
PAGES = ROOT / "docs" / "languages" / LANGUAGE
ROOMS = {"library": ["explain", "debug", "trace", "cli/why.py", "cli/capture.py", "cli/inputs.py",
                     "manifests/files.py", "framework/points", "framework/guard.py",
                     "framework/plugin.py"],
         "widgets": ["widgets", "display"],
         "kit": ["course/kit", "course/lessons.yaml", "course/riddles"],
         "script": ["widgets/js", "course/kit/live.js"],
         "sheet": ["../tools/cheat_sheet.py", "../docs/glossary.yaml", "../docs/generate.py"]}
"""Catalogue -> where its texts are. Lessons have one each."""

WORDS = re.compile(r"[A-Za-z]{2,}\S*\s+\S*[a-z]{2,}")
NO_TEXT = re.compile("|".join((
    r"<\w+[ >]|style=|://|[{;] *\w+-\w+:|^[-.#\w]+ \{|rgba?\(|var\(--|\bpx\b",  # HTML and CSS
    r"^(vp|vs|vl)[-{]|^\(prefers|\[data-|^M[\d.]|^#",  # classes, queries, paths, colours
    r"\n  |apiVersion|^[\w.-]+/|^\w+=|^--",  # manifests, commands
    r"^def |^import |^from \w+ import|\(\?|\\[sdw]")))  # code, patterns
"""What has words, and is not for people."""

GRADES = {"check", "check_class"}
SCRIPT_WORDS = {
    "reset", "close", "remove", "find", "play", "pause", "empty", "Jobs", "Queues", "Nodes",
    "Steps", "↶ undo", "undo", "copy ▾", "copied ✓", "yes", "no", "nothing", "later →", "tasks",
    " (done)", "step by ", "show ", "job ", "queue ", "operation ", "outcome ", "scene ", "any",
    "next", "previous", "a second ",
    "bind ", "start ", "commit ", "discard ", "deserved ", "allocated ", "share ", "step ",
    "after step ",
    "the job", "the queue", "of ", "CPUs", ", in CPUs", "runs", "running ", "promised ", "evicted ",
    "Run", "placed ", "chosen ", "refused ", " is {0}",
    "forgiven", "left ≤ right", "Under way: {0}{1}", ", the last {0}",
    "left: {0}", "of {0}, {1}", "queue, name, parent", "Copied: {0}.", "record {0}",
    "{0} (gone)", "Step {0}: {1}",
    "step {0}: {1}", "play: {0}", "a pod", "{0} on {1}: {2}, {3}", "{0}, {1} pods: {2}",
    "Round {0}: ", " In {0}.", ". Axes: {0}, {1}; logarithmic.", "{0} at {1}",
    "{0}: {1} to {2}{3}", "{0}, at {1} {2}: {3}"}
"""Texts of scripts that are one word; one that is a key elsewhere has a space at its end."""

KEYS = ("tick|grip|group|node|pod|point|reason|part|key|empty|mark|token|line|lane|band|says|now|"
        "below|turn|guarantee|tier")
NO_SCRIPT_TEXT = re.compile(r"vp-|vs-|vl-|-width|url\(|translate|\dpx|\}px|</|^M\d?\{|hsl|"
                            r"^[#.]|var\(|"
                            rf"^\w+-\{{|^change:|^ ?({KEYS}) \{{\d\}}$")
CHINESE = "\u4e00-\u9fff"
NO_PROSE = re.compile(r"```.*?```|`[^`]*`|<[^>]*>|\w+\([\w{}, ]*\)|\]\([^)]*\)|https?://\S+",
                      re.DOTALL)
HALF_WIDTH = re.compile(
    rf"\S?[{CHINESE}“”）][*“”]*[,;:?!(]|[\w}}][*“”]*[),;:?!] ?[*“”]*[{CHINESE}]|"
    rf"[{CHINESE}][*”）]*\.(?:\s|$)|\S* x [\d{CHINESE}{{]\S*|\w[*]*\.[*]*$")
"""A mark of half width beside a Chinese sign, a full stop at the end, and a letter for ×."""

NOTE = "# 源码\n"
MOST = 40
"""Problems that are printed."""

SCRIPT_KEYS = {"try again", "no widget"}
"""What looks like a text in a script, and is none."""


TERMS = {term: said[0].partition(" ")[0] for term, said in yaml.safe_load(
    (ROOT / "docs" / "glossary.yaml").read_text(encoding="utf-8")).items()
    if term not in ("share", "job", "bind", "task", "tier", "deserved", "commit", "discard",
                    "statement")}
"""The glossary's terms that mean nothing else in English, in Chinese."""


def texts_of(source: str) -> list[str]:
    """The texts of Python source in their order, what is put in as names in braces.

    >>> texts_of('f"{len(jobs)} jobs wait for {job.name}"; x = "a long name"; y = "key"')
    ['{len} jobs wait for {name}', 'a long name']
    """
    tree = ast.parse(source)
    parts = {id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
             for value in node.values}
    parts |= {id(value) for node in ast.walk(tree) if is_conf(node) for value in ast.walk(node)}
    docs = {id(node.value): False for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    docs |= {id(node.body[0].value): True for node in ast.walk(tree) if graded(node)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in parts:
            found.append((node.lineno, node.col_offset, braced(node)))
        elif (isinstance(node, ast.Constant) and isinstance(node.value, str)
              and id(node) not in parts and docs.get(id(node), True)):
            clean = " ".join(inspect.cleandoc(node.value).split())
            text = clean if id(node) in docs else numbered(node.value)
            found.append((node.lineno, node.col_offset, text))
    texts = (text.strip() for _, _, text in sorted(found))
    return list(dict.fromkeys(text for text in texts if is_text(text)))


def numbered(text: str) -> str:
    """A text for `str.format` with a number in each pair of braces.

    >>> numbered("{} of {} wait")
    '{0} of {1} wait'
    """
    number = iter(range(text.count("{}")))
    return re.sub(r"\{\}", lambda _: f"{{{next(number)}}}", text)


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


def braced(node: ast.JoinedStr) -> str:
    """An f-string as an entry: {name of what is put in}, each name once."""
    text, used = "", set()
    for value in node.values:
        if isinstance(value, ast.Constant):
            text += value.value
            continue
        name = base = name_of(value.value)
        while name in used:
            name = f"{base}{len(used)}"
        used.add(name)
        text += f"{{{name}}}"
    return text


def name_of(node) -> str:
    """A name for an expression: its own, or that of its outermost part."""
    for part in ("id", "attr"):
        if hasattr(node, part):
            return getattr(node, part).strip("_") or "x"
    if isinstance(node, ast.Call):
        return name_of(node.func)
    if isinstance(node, ast.Subscript | ast.Attribute):
        return name_of(node.value)
    return "x"


def script_texts(source: str) -> list[str]:
    """The texts of JavaScript."""
    found: list[str] = []
    source = re.sub(r"^\s*//.*$", "", source, flags=re.MULTILINE)
    in_script(source, lambda text: found.append(text) or text)
    return list(dict.fromkeys(filter(is_script_text, found)))


def is_script_text(text: str) -> bool:
    """Whether a literal of a script is for people; a template may be one word with a number."""
    if text in SCRIPT_WORDS:
        return True
    if NO_SCRIPT_TEXT.search(text):
        return False
    if "{0}" in text:
        return bool(re.search(r"(?<![\w-])[a-z]{3,}(?![\w(:=-])| of ", text.replace("{", " {")))
    return is_text(text) and text not in SCRIPT_KEYS


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
    return not made and bool(re.search(r"[A-Za-z]{2}", re.sub(r"`[^`]*`|<[^>]*>", "", block)))


def notebooks() -> list[Path]:
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def pages() -> list[Path]:
    """Pages of the documentation that people wrote, and the readme."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def comments(source: str) -> list[tokenize.TokenInfo]:
    """A code cell's comments, of which a line has one at most.

    >>> [comment.string for comment in comments("a = 1  # change it\\nb = '# c'  # a name")]
    ['# change it', '# a name']
    """
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token for token in found if token.type == tokenize.COMMENT]


def page_catalogue(path: Path) -> Path:
    return PAGES / f"{path.stem}.po"


def cells(path: Path, kind: str) -> list[str]:
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found
            if cell["cell_type"] == kind and cell.get("id") not in ("thread-end", "thread-table")]


def collected() -> dict[Path, list[str]]:
    """{catalogue: its texts}; a text stands in the first catalogue that needs it."""
    wanted: dict[Path, list[str]] = {}
    for name, places in ROOMS.items():
        files = [file for place in places for file in sources(ROOT / "volcano_lab" / place)]
        wanted[TEXTS / f"{name}.po"] = [text for file in files for text in of_file(file)]
    for folder in sorted((ROOT / "volcano_lab" / "course").glob("lesson_*")):
        wanted[TEXTS / f"{folder.name}.po"] = [
            text for file in sources(folder) for text in of_file(file)]
    for path in pages():
        text = path.read_text(encoding="utf-8")
        wanted[page_catalogue(path)] = list(filter(has_words, blocks(text)))
    for path in notebooks():
        number = path.name.partition("-")[0] if "-" in path.name else path.stem
        texts = wanted.setdefault(page_catalogue(path), [])
        texts += filter(has_words, (
            block for cell in cells(path, "markdown") for block in blocks(cell)))
        texts += [comment.string for cell in cells(path, "code") for comment in comments(cell)]
        texts = wanted.setdefault(TEXTS / f"lesson_{number}.po", [])
        texts += [text for cell in cells(path, "code") for text in texts_of(cell)]
    seen: set[str] = set()
    for path, texts in wanted.items():
        if path.parent == TEXTS:
            wanted[path] = [text for text in dict.fromkeys(texts)
                            if text not in seen or path.stem == language.SCRIPT]
            seen.update([] if path.stem == language.SCRIPT else texts)
        else:
            wanted[path] = list(dict.fromkeys(texts))
    return {path: texts for path, texts in wanted.items() if texts}


def sources(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    endings = ("*.js",) if place.name == "js" else ("*.py", "*.yaml")
    return sorted(path for ending in endings for path in place.rglob(ending))


def of_file(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.name == "glossary.yaml":
        return [meaning for _, meaning in yaml.safe_load(text).values()]
    if path.name == "lessons.yaml":
        rows = [row for rows in yaml.safe_load(text).values() for row in rows]
        return [part for row in rows for part in row.values() if is_text(str(part))]
    if path.suffix == ".yaml":
        return riddle_texts(text) if path.parent.name == "riddles" else choice_texts(text)
    return script_texts(text) if path.suffix == ".js" else texts_of(text)


def riddle_texts(text: str) -> list[str]:
    """The texts of a riddle: its title and story, causes and what is said of them, hints."""
    riddle = next(iter(yaml.safe_load_all(text)))
    said = [part for cause in riddle["causes"].items() for part in cause]
    texts = [riddle["title"], riddle["story"], *said, *riddle["hints"]]
    return [" ".join(each.removeprefix("right: ").split()) for each in texts]


def choice_texts(text: str) -> list[str]:
    """The texts of questions with a table of answers: the task, answers and what is said of them.
    """
    found = []
    for entry in yaml.safe_load(text).values():
        said = [str(part) for answer in entry["answers"].items() for part in answer]
        found += [entry["asks"], *said, entry.get("otherwise", "")]
    return list(filter(is_text, (each.removeprefix("right: ") for each in found)))


def update() -> None:
    """Bring the catalogues to the texts that there are."""
    wanted = collected()
    old = {entry.msgid: entry.msgstr for path in [*TEXTS.glob("*.po"), *PAGES.glob("*.po")]
           for entry in polib.pofile(str(path)) if entry.translated()}
    for path in [*TEXTS.glob("lesson_*.po"), *PAGES.glob("*.po")]:
        if path not in wanted:
            path.unlink()
    lost = set(old) - {text for texts in wanted.values() for text in texts}
    for path, texts in wanted.items():
        made = polib.POFile(wrapwidth=100)
        made.check_for_duplicates = True
        made.metadata = {"Language": LANGUAGE, "Content-Type": "text/plain; charset=UTF-8"}
        for text in texts:
            entry = polib.POEntry(msgid=text, msgstr=old.get(text, ""))
            if not entry.msgstr:
                near = difflib.get_close_matches(text, lost, 1, 0.75)
                if near:
                    entry.msgstr, entry.flags = old[near[0]], ["fuzzy"]
                    entry.previous_msgid = near[0]
            made.append(entry)
        path.parent.mkdir(parents=True, exist_ok=True)
        made.save(str(path))


def problems() -> list[str]:
    """What is not translated, lost a name or a mark, or does not use the glossary's terms."""
    found = []
    for path, texts in collected().items():
        entries = {entry.msgid: entry for entry in polib.pofile(str(path))} if path.exists() else {}
        for text in texts:
            entry = entries.get(text)
            where = f"{path.relative_to(ROOT)}: "
            if entry is None or not entry.translated():
                found.append(f"{where}not translated: {text}")
            elif path.parent == TEXTS and put_in(text) != put_in(entry.msgstr):
                found.append(f"{where}other names in braces: {text} -> {entry.msgstr}")
            elif path.stem != language.SCRIPT and (mark := half_width(entry.msgstr)):
                found.append(f"{where}a mark of half width, {mark}: {entry.msgstr}")
            elif path.parent == PAGES and bare(text) < bare(entry.msgstr):
                found.append(f"{where}an asterisk that marks nothing: {entry.msgstr}")
            else:
                found += [f"{where}{term} is {said}: {text} -> {entry.msgstr}"
                          for term, said in TERMS.items() if wrong(term, said, text, entry.msgstr)]
    return found


def wrong(term: str, said: str, text: str, translation: str) -> bool:
    """Whether a term is in a text, and neither it nor what the glossary says in the translation.

    >>> wrong("queue", "队列", "Two queues wait.", "两个对列在等待。")
    True
    """
    return (re.search(rf"\b{term}s?\b", text, re.IGNORECASE) is not None
            and not any(part in translation for part in (said[:2], said[-2:]))
            and term.lower() not in translation.lower())


def half_width(translation: str) -> str:
    """The first mark beside a Chinese sign that should be a Chinese one, with its neighbours.

    >>> half_width("`a: b` 和 a, b: 3 x 4"), half_width("队列 a: 等待")
    ('3 x 4', 'a: 等')
    """
    prose = NO_PROSE.sub("", translation)
    found = HALF_WIDTH.search(prose) if re.search(f"[{CHINESE}]", prose) else None
    return found[0] if found else ""


def bare(text: str) -> int:
    """How many asterisks Markdown leaves as they are, such as those between a word and a quote.

    >>> bare("这是*“为什么？”*（一）"), bare("这是“*为什么？*”（一）")
    (2, 0)
    """
    html = re.sub("<code>.*?</code>", "", MarkdownIt().render(text), flags=re.DOTALL)
    return html.count("*")


def put_in(text: str) -> set[str]:
    """The names in braces."""
    return set(language.PLACE.findall(text))


def build(paths: list[Path]) -> None:
    """Make notebooks of another language: Markdown and comments from the catalogues, run anew."""
    from notebooks import run

    language.speak(LANGUAGE)
    folder = ROOT / "notebooks" / LANGUAGE
    folder.mkdir(exist_ok=True)
    for path in paths:
        notebook = nbformat.read(path, 4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = whole_names(translated(cell.source, path.stem))
            else:
                cell.source = commented(cell.source, path.stem)
        notebook.cells.insert(1, nbformat.v4.new_code_cell(
            f'from volcano_lab.trace.language import speak\n\nspeak("{LANGUAGE}")', id="language",
            metadata={"tags": ["plumbing"]}))
        nbformat.write(notebook, folder / path.name)
        run(folder / path.name)
        nbformat.write(noted(nbformat.read(folder / path.name, 4)), folder / path.name)
        print(folder / path.name)


def noted(notebook):
    """The notebook, with a note as the first line of each hidden source: that line is shown."""
    for cell in notebook.cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.source = NOTE + cell.source
    return notebook


def missing(path: Path) -> list[str]:
    """The texts of a lesson that stay English: of its outputs, questions answered, labs moved."""
    from cells import code_cells, run_cell

    language.speak(LANGUAGE)
    stayed: dict[str, None] = {}
    known = language._said

    def noted(spoken, text):
        found = known(spoken, text)
        words = re.sub("`[^`]*`", "", found)
        if re.search(r"[A-Za-z]{3,} [a-z]{2,}", words) or (re.fullmatch(r"[A-Za-z ]{3,}", words)):
            stayed[f"{text}\n    -> {found}" if found != text else text] = None
        return found

    language._said = noted
    names = {"__name__": "__main__"}
    for name, source in code_cells(path).items():
        explore(run_cell(source, f"{path.name}/{name}", names))
    return list(stayed)


def explore(value) -> None:
    """Show a cell's value in all its states."""
    if hasattr(value, "_repr_mimebundle_"):
        value._repr_mimebundle_()
    elif hasattr(value, "_repr_html_"):
        value._repr_html_()
    if hasattr(value, "say") and hasattr(value, "question"):
        for answer in [*value.options, getattr(value, "truth", None), "no answer"]:
            value.say(answer)
            value._state()
        for part in value.result if isinstance(value.result, list | tuple) else [value.result]:
            explore(part)
    if hasattr(value, "controls") and hasattr(value, "tasks"):
        language.say_all([value.fixed, value.shown])
        for number in range(len(value.tasks)):
            language.say_all(value.begin(number).shown)
        value.reset()
        for name, control in value.controls.items():
            for choice in control.choices()[:1] + control.choices()[-1:]:
                with contextlib.suppress(ValueError):
                    language.say_all(value.set(**{name: choice}).shown)
            value.reset()


def readme() -> str:
    """The readme in the other language."""
    return translated((ROOT / "README.md").read_text(encoding="utf-8"), "README") + "\n"


def translated(source: str, page: str) -> str:
    """A page's or cell's Markdown in the other language."""
    known = page_entries(page)
    return "\n\n".join(known.get(block, block) for block in blocks(source))


def commented(source: str, page: str) -> str:
    """A cell's code with its comments in the other language."""
    known, lines = page_entries(page), source.split("\n")
    for comment in comments(source):
        row, column = comment.start[0] - 1, comment.start[1]
        lines[row] = lines[row][:column] + known.get(comment.string, comment.string)
    return "\n".join(lines)


@cache
def page_entries(page: str) -> dict[str, str]:
    """English -> Chinese of a page."""
    return {entry.msgid: entry.msgstr for entry in polib.pofile(str(PAGES / f"{page}.po"))
            if entry.translated()}


def whole_names(markdown: str) -> str:
    """Markdown whose names do not break at hyphens; code and links stay as they are.

    >>> whole_names("*node-2* 和 `node-2`") == "*node\u20112* 和 `node-2`"
    True
    """
    return re.sub(rf"({NO_PROSE.pattern})|{NAME}",
                  lambda found: found[0] if found[1] else found[0].replace("-", "\u2011"),
                  markdown, flags=re.DOTALL)


def main(word: str, paths: list[Path]) -> int:
    """Do what the module's docstring says; how many problems there are."""
    if word == "update":
        update()
    elif word == "build":
        build(paths or notebooks())
    elif word == "readme":
        (ROOT / "README.zh-CN.md").write_text(readme(), encoding="utf-8")
    elif word == "missing":
        print("\n".join(text for path in paths for text in missing(path)))
    found = problems() if word == "check" else []
    print("\n".join(found[:MOST]))
    if len(found) > MOST:
        print(f"and {len(found) - MOST} more")
    return len(found)


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], [Path(each) for each in sys.argv[2:]])))
