"""Makes slides of lessons: headings, still pictures, questions with the answer on the next slide.

`python tools/slides.py NOTEBOOK...` (all lessons without one) writes build/slides/NAME.html, which
needs nothing else, and with Chromium NAME.pdf. What becomes a slide is a rule, not a mark: a
heading with its first paragraph; tables; an output with a picture or a table; a question; what it
reveals; the recap. Reading matter, code, folds and tasks stay in the notebook.
"""

import re
import sys
from html import escape
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tools")]

from cells import processes, questions  # noqa: E402

BUILD = ROOT / "build" / "slides"
LINK, FOLD = re.compile(r"\[([^\]]*)\]\([^)]*\)"), re.compile(
    r"<details(?! class=\"vp-at-rest).*?</details>", re.DOTALL)
MOVES = re.compile(r"<small>moves in the lab[^<]*</small>")
TABLE, SENTENCES = re.compile(r"<table.*?</table>", re.DOTALL), re.compile(r"(?<=[.!?)]) ")
SENTENCE, ENDS = re.compile(r"(?:^|(?<=\s))[^.?!]*:$"), re.compile(r"[.?!]\W*$")
LIST = re.compile(r"[-*] |\d+\.")
RECAP, FINDING = (re.compile(rf"^{name}\(", re.MULTILINE) for name in ("recap", "finding"))

MOST = 900
"""Characters of text above a question."""

LINES = 27
"""Lines of what is printed on one slide."""

FEW = 480
"""Characters of text with which a heading and a question share a slide."""

SHORT = 6
"""Rows of a table that may stand below a picture."""

ROWS = 13
"""Rows of all tables on one slide."""
THREAD = re.compile(r"^.*\[[Aa]ll lessons.*$", re.MULTILINE)
"""The lines of links at a lesson's top and end."""


def asked(path):
    """{cell: (question, its options, the parts of what it reveals)} of a notebook, which is run
    for it, as HTML.
    """
    from volcano_lab.course.kit.live import views
    from volcano_lab.course.kit.markup import html
    from volcano_lab.course.kit.values import as_text

    found = {}
    for cell, question in questions(Path(path)).items():
        options = "".join(f"<li>{html(as_text(option))}</li>" for option in question.options)
        shown = [view["html"] for view in views(question.result)]
        answer = question._answer_html().removesuffix("".join(shown)) or solved(question.graded)
        found[cell] = (html(question.question), f"<ul>{options}</ul>" if options else "",
                       [answer, *shown])
    return found


def solved(graded):
    """The right answer to a check that stores none, from the answers that its tests try; to a
    riddle its causes and its smallest repair.
    """
    from course.answers import all_answers
    from volcano_lab.course.kit.markup import html
    from volcano_lab.course.kit.values import as_text

    if graded.key.startswith("17.cause "):
        return "".join(f"<p>{html(text)}</p>" for text in ended(int(graded.key.split()[1])))
    if graded.key not in all_answers():
        return ""
    right = all_answers()[graded.key].right[0]
    return f"<p>{html(f'It is **{as_text(right)}**. {graded(right).text}')}</p>"


def ended(number):
    """The causes of a riddle and its smallest repair, which is tried."""
    from course.answers.riddles import last_hint
    from volcano_lab.course.riddles import riddle

    game = riddle(number)
    game.again()
    for letter in game.right:
        game.cause(letter)
    tried = game.repair(*last_hint(game))
    if not game.repaired:
        raise SystemExit(f"riddle {number}: its last hint does not repair it: {tried.text}")
    for text, told in game.causes.items():
        if told.startswith("right: "):
            yield f"**{text}** {told.removeprefix('right: ')}"
    yield f"**The smallest repair:** {game.hints[-1]}. Then: {tried.text}"


def slides(notebook, questions):
    """The cells of the slides of a stored notebook, each with the type of its slide."""
    deck = Deck()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            deck.text(THREAD.sub("", FOLD.sub("", cell.source)))
        elif cell.id in questions:
            deck.printed("".join(output.get("text", "") for output in cell.outputs))
            deck.question(*questions[cell.id])
        for output in cell.get("outputs", ()) if cell.id not in questions else ():
            shown = MOVES.sub("", FOLD.sub("", output.get("data", {}).get("text/html", "")))
            if "<img" in shown or "<table" in shown or (RECAP.search(cell.source) and words(shown)
                    ) or (FINDING.search(cell.source) and (deck.open or deck.said)):
                deck.picture(shown)
    return deck.cells[:-1] if deck.cells[-1].source.startswith("##") else deck.cells


def words(html):
    """The text of HTML."""
    return re.sub(r"<[^>]*>|\s+", " ", html).strip()


class Deck:
    """Slides that grow: `open` while the slide of a heading has room for a picture, `wanted` while
    it has none of its text, or announces some; `said` is what no slide has of the last text, of
    which a question may speak; `rows` are those of the tables with which the last slide ends.
    """

    def __init__(self):
        self.cells, self.where, self.open, self.wanted, self.said = [], "", False, False, []
        self.rows, self.untold = 0, False

    def text(self, source):
        """A heading begins a slide, with its first paragraph, the list behind it, and the example
        that it announces; of the rest the tables are kept.
        """
        self.said = []
        if self._announces():
            self._settle()
            self.open = self.wanted = self._bare()
        for block in filter(str.strip, re.split(r"\n\s*\n", LINK.sub(r"\1", source).strip())):
            if heading := re.match(r"(#+) (.*)", block):
                self._settle()
                self.where, self.open, self.wanted, self.said = heading[2], True, True, []
                self._add(new_markdown_cell(block), "slide")
            elif block.startswith("|"):
                self._show(new_markdown_cell(block), block.count("\n") - 1)
            elif self.untold and not block.startswith(("```", ">")):
                self._add(new_markdown_cell(block), "-")
            elif self.wanted and (not block.startswith("```")
                                  or (self._unfinished() and block.endswith("```"))):
                self._add(new_markdown_cell(block), "-")
                self.wanted = not (block.startswith("```") or LIST.match(block)
                                   or ENDS.search(block))
            elif self.open and LIST.match(block) and not self.said:
                self._add(new_markdown_cell(block), "-")
            elif not block.startswith(("```", ">")) or (
                    "".join(self.said).endswith(":") and (block[0] == ">" or block[-3:] == "```")):
                self.said.append(block)
            self.untold = self.untold and block.startswith("|")

    def picture(self, html):
        """What an output shows: beside the heading above it, or on a slide of its own below what
        was said of it; of several pictures each, and the tables of a lab on the next slide.
        """
        bare = self._bare(FEW // 3)
        if "<img" not in html and "<table" not in html and (self._announces() or not bare):
            self._settle(keep=bare)
        pictures, tables = re.findall("<img[^>]*>", html), TABLE.findall(html)
        if len(pictures) > 1:
            parts = pictures
        elif pictures and tables and self.open:
            parts = [TABLE.sub("", html), "".join(tables)]
        else:
            parts = [html]
        for part in parts:
            self._show(_html(part), 0 if "<img" in part else part.count("<tr"))

    def printed(self, text):
        """What a cell prints before it asks, in pages of whole parts."""
        page = []
        for part in [*filter(str.strip, text.split("\n\n")), ""]:
            if page and (not part or "\n\n".join([*page, part]).count("\n") > LINES):
                lines = "\n\n".join(page).strip()
                many = ' class="long"' if lines.count("\n") > LINES else ""
                self._show(_html(f"<pre{many}>{escape(lines)}</pre>"))
                page = []
            page.append(part)

    def question(self, text, options, answer):
        """A question, below a heading that has little else, and on the next slides what it reveals.
        """
        said = "\n\n".join(self.said)
        said = re.sub(r":$", ".", said if len(said) < MOST else self.said[-1])
        short = self.open and self._bare(FEW - len(said))
        self._settle()
        if not short:
            self._where("slide")
        if said:
            self._add(new_markdown_cell(said), "-")
        self._add(_html(f'<p class="question">{text}</p>{options}'), "-")
        for slide in apart(answer):
            self._where("slide")
            self._add(_html(f'<p class="asked">{text}</p>{slide}'), "-")
        self.said = []

    def _bare(self, most=0):
        """Whether a heading's slide has no more text than that."""
        texts = [cell.source for cell in self.cells[-2:]]
        below = next((at for at, text in enumerate(texts) if text.startswith("##")), None)
        return below is not None and sum(map(len, texts[below + 1:])) <= most

    def _settle(self, keep=False):
        """The slide of a heading is full, unless it is kept; a sentence that announces what stays
        away goes.
        """
        if self._announces():
            kept = SENTENCE.sub("", self.cells.pop().source).strip()
            if kept:
                self._add(new_markdown_cell(kept), "-")
        self.open, self.wanted = keep, False

    def _announces(self):
        """Whether the last text of a slide ends with a colon."""
        return self.wanted and self.cells[-1].source.endswith(":")

    def _unfinished(self):
        """Whether a slide's last text is a sentence that goes on."""
        return not re.search(r"^#|[.?!]\W*$", self.cells[-1].source)

    def _show(self, cell, rows=0):
        """Show a picture or a table, of so many rows, with what was said of it. A table of which
        nothing was said stands below the table before it, where both have room.
        """
        said, below = self.said[-1] if self.said else "", self.rows
        if len(said) >= FEW and not self.open:
            said = SENTENCES.split(said)[-1]
        if not self.open and not said and rows and below and below + rows <= ROWS:
            self._add(cell, "-")
            self.rows = below + rows
            return
        if not self.open:
            self._where("slide")
            self.untold = bool(rows) and not said
        if len(said) < FEW and (said if not self.open else said.endswith(":")):
            self._add(new_markdown_cell(said), "-")
            self.said = []
        self.open = self.wanted = False
        self._add(cell, "-")
        self.rows = rows

    def _where(self, kind):
        from volcano_lab.course.kit.markup import html

        self._add(new_markdown_cell(f'<p class="where">{html(self.where)}</p>'), kind)

    def _add(self, cell, kind):
        self.rows = 0
        cell.metadata["slideshow"] = {"slide_type": kind}
        self.cells.append(cell)


def _html(html):
    return new_code_cell(outputs=[new_output("display_data", {"text/html": html})])


def apart(parts):
    """What a question reveals, slide by slide: a picture does not stand below another or a table,
    bars and a long table not below a picture, nor many rows on one slide.

    >>> apart(["It is b.", "<table>", "<img>", "So it goes."])
    ['It is b.<table>', '<img>So it goes.']
    """
    found = [""]
    for part in parts:
        picture, rows = "<img" in found[-1], part.count("<tr")
        if ("<img" in part and (picture or "<table" in found[-1])) or (
                picture and ("<svg" in part or rows > SHORT)) or (
                rows and "<table" in found[-1] and found[-1].count("<tr") + rows > ROWS):
            found.append("")
        found[-1] += part
    return list(filter(None, found))


def page(path, questions):
    """The slides of a notebook as one page of HTML that needs nothing else."""
    notebook = nbformat.read(path, 4)
    title = notebook.cells[0].source.partition("\n")[0].lstrip("# ")
    return exported(slides(notebook, questions), title)


def exported(cells, title):
    """Cells with their types of slide as one page of HTML."""
    exporter = SlidesExporter(template_name="slides", extra_template_basedirs=[str(ROOT / "tools")],
                              exclude_input=True, exclude_output_prompt=True)
    made = new_notebook(cells=cells, metadata={"title": title})
    return exporter.from_notebook_node(made)[0]


def main(paths):
    paths = [Path(path) for path in paths] or sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    BUILD.mkdir(parents=True, exist_ok=True)
    with processes(asked, map(str, paths), at_once=2) as found:
        for path in paths:
            text = page(path, found[str(path)].get())
            (BUILD / f"{path.stem}.html").write_text(text, encoding="utf-8")
    printed([BUILD / f"{path.stem}.html" for path in paths])


def printed(pages, ready="html[data-ready]"):
    """Print pages as PDF once they have what `ready` names; ends with a sentence where one asks for
    anything from elsewhere.
    """
    from browser.page import find_chromium, open_browser

    with open_browser(find_chromium()) as browser:
        tab, outside = browser.new_page(), []
        tab.on("request", lambda request: outside.append(request.url) if not request.url.startswith(
            ("file:", "data:")) else None)
        for path in pages:
            tab.goto(f"{path.as_uri()}?print-pdf")
            tab.wait_for_selector(ready)
            tab.pdf(path=path.with_suffix(".pdf"), prefer_css_page_size=True, print_background=True)
            if outside:
                raise SystemExit(f"{path.name} asks for {outside[0]}; allowed is what is in it")
            print(path.with_suffix(".pdf").relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
