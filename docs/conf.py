"""The documentation: the notebooks with their stored outputs, the answers to their questions in
folds, and the readme, as pages that need no server.
"""

import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent

# Sphinx reads below its own folder only. The copies are written at each build and are not
# kept in git.
CHINESE = tags.has("zh")  # noqa: F821 Sphinx gives the name
shutil.rmtree(DOCS / "lessons", ignore_errors=True)
shutil.copytree(ROOT / "notebooks" / ("zh" if CHINESE else ""), DOCS / "lessons",
                ignore=shutil.ignore_patterns(".*", "zh"))

sys.path[:0] = [str(DOCS), str(ROOT / "tools")]
from chinese_search import ChineseSearch  # noqa: E402
from folds import fill, link_pages, link_parts, link_to_try, open_labs, strip  # noqa: E402
from front import write  # noqa: E402
from generate import MADE, generate  # noqa: E402
from pending_pages import write_pages  # noqa: E402

from texts import plans  # noqa: E402
from translate import translated  # noqa: E402
from volcano_lab.messages import gettext, speak  # noqa: E402

for plan in plans() if CHINESE else ():
    place = DOCS / "lessons" / "instructor" / plan.name
    place.parent.mkdir(exist_ok=True)
    text = plan.read_text(encoding="utf-8")
    place.write_text(translated(text, f"instructor-{plan.stem}"), encoding="utf-8")
speak("zh" if CHINESE else "en")
generate()
write_pages(tags.has("site"))  # noqa: F821 Sphinx's
write(MADE / "static", tags.has("site"), CHINESE or tags.has("both"))  # noqa: F821 Sphinx's
LESSONS = sorted((DOCS / "lessons").glob("*.ipynb"))
strip(LESSONS)
open_labs(LESSONS)
if not tags.has("closed"):  # noqa: F821 Sphinx's; a test of all pages needs no answers in them
    fill(LESSONS)
link_pages(LESSONS)
link_parts(LESSONS)
if tags.has("site"):  # noqa: F821 Sphinx gives the name
    link_to_try(LESSONS, CHINESE)

project = "volcano_lab"
author = "The volcano_lab authors"
copyright = author
extensions = ["myst_nb"]
exclude_patterns = ["_build", "made/course-table.md", "made/ways.md",
                    "made/touch.md", "made/static"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the stored outputs are tested (make test), so they are shown
nb_ipywidgets_js = {
}  # no scripts from elsewhere: a page has the figures, the notebook has the sliders
html_theme = "furo"
html_title = "volcano_lab"
html_show_sphinx = html_show_copyright = False
html_static_path = ["look"]
html_css_files = ["pages.css"]
html_search_scorer = str(DOCS / "look" / "lessons-first.js")
html_extra_path = ["made/static"]  # the modules' text, where the reference's links lead
templates_path = ["templates"]
html_context = {"switch": CHINESE or tags.has("both"),  # noqa: F821 `make docs` builds both languages
                "site": tags.has("site"), "ask": gettext("Ask about your cluster")}  # noqa: F821
html_sidebars = {"**": ["sidebar/brand.html", "language.html", "sidebar/search.html",
                        "sidebar/scroll-start.html", "sidebar/navigation.html",
                        "sidebar/scroll-end.html"]}
language = "zh_CN" if CHINESE else "en"
locale_dirs = ["languages"]


# What stands in folds and in links, which have no entry in a catalogue.
IN_CHINESE = (("../README.md", "../README.zh-CN.md"),
              ('href="try/notebooks/index.html?path=',
               'href="../try/notebooks/index.html?path=zh/'),
              *((f":caption: {ours}", f":caption: {theirs}") for ours, theirs in (
                  ("You submit jobs", "提交作业"), ("You learn and teach", "学习与教学"),
                  ("You run the scheduler", "运维调度器"), ("You change it", "修改调度器"),
                  ("About", "关于"))))


def in_chinese(_app, page, source):
    """Give Sphinx a page that people wrote in Chinese."""
    if CHINESE and "/" not in page:
        source[0] = translated(source[0], page)
        for ours, theirs in IN_CHINESE:
            source[0] = source[0].replace(ours, theirs)
        for drawn in (DOCS / "pictures" / "zh").glob("*.svg"):
            source[0] = source[0].replace(f"](pictures/{drawn.name})",
                                          f"](pictures/zh/{drawn.name})")


def in_front(app, failed):
    """Put the front page before the documentation's list of pages."""
    if failed is None and app.builder.name == "html":
        shutil.copyfile(MADE / "static" / "index.html", Path(app.outdir) / "index.html")


def setup(app):
    """Called by Sphinx."""
    app.connect("build-finished", in_front)
    app.connect("source-read", in_chinese)
    app.add_search_language(ChineseSearch)
