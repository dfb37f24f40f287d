"""The catalogues of other languages, and the notebooks translated by them.

`python tools/translate.py update` puts all texts that a reader sees (`texts.collected`) into the
catalogues, and the messages (`volcano_lab.messages.texts`) into theirs, by their codes. What was
translated stays; a text that changed gets the translation of the nearest old one, marked fuzzy,
until somebody has read it; texts to translate are printed.
`check` counts texts without a translation, which fails no check, and names
translations that lost a name or a mark, or have other terms than the glossary's.
`missing NOTEBOOK...` shows what stays English when a lesson is run, answered and moved in Chinese.
`readme` writes README.zh-CN.md.
`build [NOTEBOOK...]` writes `notebooks/zh` from `notebooks`; `renew` writes those whose English
notebook or own catalogue changed since (`make zh` is update, readme, renew, check).
"""

import contextlib
import difflib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from unittest import mock

import nbformat
import polib
import yaml
from markdown_it import MarkdownIt

from readme import written
from texts import (
    LANGUAGE,
    PAGES,
    ROOT,
    TEXTS,
    blocks,
    collected,
    comments,
    notebooks,
    page_catalogue,
)
from volcano_lab.course.kit.markup import NAME
from volcano_lab.messages import catalogue, localized, speak, speaking
from volcano_lab.messages.catalogue import SCRIPT
from volcano_lab.messages.language import FOLDER as MESSAGES
from volcano_lab.messages.texts import SUBJECTS

CHINESE = "\u4e00-\u9fff"
NO_PROSE = re.compile(r"```.*?```|`[^`]*`|<[^>]*>|\w+\([\w{}, ]*\)|\]\([^)]*\)|https?://\S+",
                      re.DOTALL)
HALF_WIDTH = re.compile(
    rf"\S?[{CHINESE}“”）][*“”]*[,;:?!(]|[{CHINESE}] \([\w+-]+\)|"
    rf"[\w}}][*“”]*[),;:?!] ?[*“”]*[{CHINESE}]|"
    rf"[{CHINESE}][*”）]*\.(?:\s|$)|\S* x [\d{CHINESE}{{]\S*|\w[*]*\.[*]*$")
"""A mark of half width beside a Chinese sign, a full stop at the end, and a letter for ×."""

ENGLISH_WORDS = re.compile(rf"^[^{CHINESE}]*[A-Za-z]{{3,}} [a-z]{{2,}}[^{CHINESE}]*$", re.DOTALL)
CODE = re.compile(r"```.*?```|`([^`\n]+)`", re.DOTALL)
"""Code within a text, which stays as it is."""

PLACE = re.compile(r"\{(\w+)(?::[^{}]*)?\}")
"""What is put in, with how it is shown."""

MOST = 40
"""Problems that are printed."""

TERMS = {term: re.findall(r"[^ ()、]+", said) for term, (said, _) in yaml.safe_load(
    (ROOT / "docs" / "glossary.yaml").read_text(encoding="utf-8")).items()
    if term not in ("share", "job", "bind", "task", "tier", "deserved", "commit", "discard",
                    "statement", "idle")}
"""The glossary's terms that mean nothing else in English, in Chinese."""

REPLACED = {"语句": "Statement", "撤回": "回滚", "队列树": "层级队列",
            "没有子队列的队列": "叶子队列",
            "(?<!命名)空间": "资源, 余量", "正在离开": "释放中", "in queue": "inqueue",
            "有人|没有人|任何人|别人(?!的)|谁(?!等过)": "the part that acts",
            "找到了?位置|有位置": "节点", "主导份额": "主导资源份额", "演练": "试运行",
            "上层队列": "上级队列", "下层队列": "子队列",
            "(?<!公平)(?<!资源)(?<!主导)(?<!层级)(?<!加权)(?<!分配)(?<!各自的)份额": "share 值",
            "哪怕": "即使", "病人": "病例", "人们|谎": "the part that acts",
            "成员数": "最小数量", "被(?:读取|放置)": "读取, 放置", "走在前面": "领先",
            "没有效果": "不起作用", "什么随什么": "the quantity that grows",
            "整 CPU": "个 CPU, 整数", "最老|更老": "最早, 更早", "哪方|哪边": "哪一方",
            "超过应得(?!资源|的)": "超过应得资源",
            "指定受害者": "选出受害者", "空位": "余量", r"Gang(?! 调度)": "成组作业",
            rf"(?<![*A-Za-z0-9])\*[^*\s][^*\n]*[{CHINESE}][^*\n]*(?<!\s)\*(?!\*)":
                "bold, not slanted"}
"""Words that no translation has -> what it has instead."""


def update() -> None:
    """Bring the catalogues to the texts that there are."""
    update_messages()
    wanted = collected()
    old = {entry.msgid: entry.msgstr for path in [*TEXTS.glob("*.po"), *PAGES.glob("*.po")]
           for entry in polib.pofile(str(path)) if entry.translated()}
    for path in [*TEXTS.glob("lesson_*.po"), *PAGES.glob("*.po")]:
        if path not in wanted:
            path.unlink()
    lost = set(old) - {text for texts in wanted.values() for text in texts}
    for path, texts in wanted.items():
        filled = empty_catalogue()
        filled.check_for_duplicates = True
        for text, file in texts.items():
            entry = polib.POEntry(msgid=text, msgstr=old.get(text, ""),
                                  occurrences=[(file, "")])
            if not entry.msgstr:
                near = difflib.get_close_matches(text, lost, 1, 0.75)
                if near:
                    entry.msgstr, entry.flags = old[near[0]], ["fuzzy"]
                    entry.previous_msgid = near[0]
            filled.append(entry)
        path.parent.mkdir(parents=True, exist_ok=True)
        filled.save(str(path))


def update_messages() -> None:
    """Bring the catalogue of messages to their codes; one whose English changed is fuzzy."""
    path = MESSAGES / f"{LANGUAGE}.po"
    old = {entry.msgctxt: entry for entry in polib.pofile(str(path))} if path.exists() else {}
    filled = empty_catalogue()
    for subject, texts in SUBJECTS.items():
        file = f"volcano_lab/messages/texts/{subject}.toml"
        filled.extend(message_entry(code, text, old.get(code), file)
                    for code, text in texts.items())
    filled.save(str(path))


def empty_catalogue() -> polib.POFile:
    """A catalogue with its head."""
    empty = polib.POFile(wrapwidth=100)
    empty.metadata = {"Language": LANGUAGE, "Content-Type": "text/plain; charset=UTF-8",
                     "Plural-Forms": "nplurals=1; plural=0;"}
    return empty


def message_entry(code: str, text, before, file: str) -> polib.POEntry:
    """A message's entry, with the translation that its code had before."""
    english, *plural = [text] if isinstance(text, str) else text
    entry = polib.POEntry(msgctxt=code, msgid=english, occurrences=[(file, "")])
    said = "" if before is None else before.msgstr or before.msgstr_plural.get(0, "")
    if plural:
        entry.msgid_plural, entry.msgstr_plural = plural[0], {0: said}
    else:
        entry.msgstr = said
    if before is not None and (before.msgid, before.msgid_plural) != (english, "".join(plural)):
        entry.flags, entry.previous_msgid = ["fuzzy"], before.msgid
    elif before is not None:
        entry.flags = before.flags
    return entry


def untranslated() -> list[str]:
    """The texts without a translation of their present wording: shown in English, they block
    nothing.
    """
    found = [f"{entry.msgctxt}: {entry.msgid}"
             for entry in polib.pofile(str(MESSAGES / f"{LANGUAGE}.po")) if not entry.translated()]
    for path, texts in collected().items():
        known = {entry.msgid for entry in translations(path) if entry.translated()}
        found += [f"{path.relative_to(ROOT)}: {text}" for text in texts if text not in known]
    return found


def translations(path: Path) -> list[polib.POEntry]:
    """The entries of a catalogue that may not be there yet."""
    return list(polib.pofile(str(path))) if path.exists() else []


def problems() -> list[str]:
    """What lost a name or a mark in its translation, or does not use the glossary's terms."""
    found = []
    for path, texts in collected().items():
        entries = {entry.msgid: entry for entry in translations(path) if entry.translated()}
        for text in filter(entries.get, texts):
            entry, where = entries[text], f"{path.relative_to(ROOT)}: "
            if path.parent == TEXTS and put_in(text) != put_in(entry.msgstr):
                found.append(f"{where}other names in braces: {text} -> {entry.msgstr}")
            elif path.stem != SCRIPT and (mark := half_width(entry.msgstr)):
                found.append(f"{where}a mark of half width, {mark}: {entry.msgstr}")
            elif old := replaced(entry.msgstr):
                found.append(f"{where}{old}: {entry.msgstr}")
            elif path.parent == PAGES and bare(text) < bare(entry.msgstr):
                found.append(f"{where}an asterisk that marks nothing: {entry.msgstr}")
            elif spoilt := re.findall("\\S*[、，；（）]\\S*", " ".join(CODE.findall(entry.msgstr))):
                found.append(f"{where}a Chinese mark in code: {spoilt[0]}")
            else:
                found += [f"{where}{term} is {said[0]}: {text} -> {entry.msgstr}"
                          for term, said in TERMS.items() if wrong(term, said, text, entry.msgstr)]
    for path in (MESSAGES / f"{LANGUAGE}.po", TEXTS / "labels.po"):  # found by codes, and by hand
        found += [f"{entry.msgctxt or entry.msgid}: {what}: {said}"
                  for entry in translations(path)
                  for said in (entry.msgstr, *entry.msgstr_plural.values())
                  for what in filter(None, (replaced(said), half_width(said)))]
    return found


def replaced(translation: str) -> str:
    """The first word of a translation that the glossary's replaced, and what replaced it.

    >>> replaced("撤回驱逐"), replaced("命名空间中的公平份额")
    ('撤回 is 回滚', '')
    """
    prose = re.sub("`[^`]*`", "", translation)
    return next((f"{found[0]} is {new}" for old, new in REPLACED.items()
                 if (found := re.search(old, prose))), "")


def wrong(term: str, said: list[str], text: str, translation: str) -> bool:
    """Whether a term is in a text, and neither it nor what the glossary says in the translation.

    >>> wrong("queue", ["队列"], "Two queues wait.", "两个对列在等待。")
    True
    """
    return (re.search(rf"\b{term}s?\b", text, re.IGNORECASE) is not None
            and not any(end in translation for part in said for end in (part[:2], part[-2:]))
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
    return set(PLACE.findall(text))


def build(paths: list[Path]) -> None:
    """Make notebooks of another language: Markdown and comments from the catalogues, run anew."""
    from notebooks import run

    speak(LANGUAGE)
    folder = ROOT / "notebooks" / LANGUAGE
    folder.mkdir(exist_ok=True)
    for path in paths:
        notebook = nbformat.read(path, 4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = parted(whole_names(translated(cell.source, path.stem)))
            else:
                cell.source = commented(cell.source, path.stem)
        notebook.cells.insert(1, nbformat.v4.new_code_cell(
            f'from volcano_lab.messages import speak\n\nspeak("{LANGUAGE}")', id="language"))
        nbformat.write(notebook, folder / path.name)
        run(folder / path.name)
        print(folder / path.name)


def stale() -> list[Path]:
    """The notebooks whose English edition or own catalogue is newer than the Chinese one."""
    changed = subprocess.run(["git", "status", "--porcelain", "-z"], cwd=ROOT, text=True,
                             capture_output=True, check=True).stdout
    dirty = {ROOT / line[3:] for line in changed.split("\0")}

    def when(path: Path) -> float:
        if path in dirty or not path.exists():
            return path.stat().st_mtime if path.exists() else 0
        return float(subprocess.run(["git", "log", "-1", "--format=%ct", "--", str(path)], cwd=ROOT,
                                    text=True, capture_output=True, check=True).stdout or 0)

    own = {path: [path, page_catalogue(path),
                  TEXTS / f"lesson_{path.stem.partition('-')[0]}.po"] for path in notebooks()}
    return [path for path, sources in own.items()
            if max(map(when, sources)) > when(path.parent / LANGUAGE / path.name)]


def missing(path: Path) -> list[str]:
    """The texts of a lesson that stay English: of its outputs, questions answered, labs moved."""
    from cells import code_cells, run_cell

    stayed: dict[str, None] = {}

    class Noted(dict):
        def get(self, text, default=None):
            if text not in self and ENGLISH_WORDS.search(re.sub("`[^`]*`", "", text)):
                stayed[text] = None
            return super().get(text, default)

    found, names = catalogue.catalogue, {"__name__": "__main__"}
    known = Noted(found(LANGUAGE))
    noted = mock.patch.object(catalogue, "catalogue", lambda language, *name: (
        found(language, *name) if name else known))
    with speaking(LANGUAGE), noted:
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
        localized([value.fixed, value.shown])
        for number in range(len(value.tasks)):
            localized(value.begin(number).shown)
        value.reset()
        for name, control in value.controls.items():
            for choice in control.choices()[:1] + control.choices()[-1:]:
                with contextlib.suppress(ValueError):
                    localized(value.set(**{name: choice}).shown)
            value.reset()


def readme() -> str:
    """The readme in the other language, with its pictures and what commands print."""
    text = translated((ROOT / "README.md").read_text(encoding="utf-8"), "README") + "\n"
    text = text.replace("docs/pictures/", f"docs/pictures/{LANGUAGE}/")
    return written(text, f"--lang {LANGUAGE}")


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


def parted(markdown: str) -> str:
    """Markdown in which a line may end between two pieces of code; `、` alone joins them.

    >>> parted("`a`、`b` 和 `c`") == "`a`、\u200b`b` 和 `c`"
    True
    """
    return markdown.replace("`、`", "`、\u200b`")


def main(word: str, paths: list[Path]) -> int:
    """Do what the module's docstring says; how many problems there are."""
    if word == "update":
        update()
        for text in untranslated()[:MOST]:
            print(f"to translate: {text.splitlines()[0]}")
    elif word == "build":
        build(paths or notebooks())
    elif word == "renew":
        build(stale())
    elif word == "readme":
        (ROOT / "README.zh-CN.md").write_text(readme(), encoding="utf-8")
    elif word == "missing":
        print("\n".join(text for path in paths for text in missing(path)))
    elif word == "check" and (left := untranslated()):
        print(f"{len(left)} texts are not translated, such as {left[0]}")
    found = problems() if word == "check" else []
    print("\n".join(found[:MOST]))
    if len(found) > MOST:
        print(f"and {len(found) - MOST} more")
    return len(found)


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], [Path(each) for each in sys.argv[2:]])))
