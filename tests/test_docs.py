"""The documentation builds without a warning, its links lead somewhere, and no page asks for
anything from outside.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from volcano_lab.course.kit.live import VIEW

ROOT = Path(__file__).parents[1]
LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """What a page links to and loads, and the anchors it has."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        for name in ("href", "src"):
            if (tag, name) in LOADED and given.get(name) and given.get("rel") != "canonical":
                self.loads.append(given[name])


def test_a_notebook_that_was_played_keeps_its_questions_and_pictures(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from folds import strip

    shown = {VIEW: {"model_id": "1", "version_major": 2}, "text/html": "<b>Why?</b>"}
    output = {"output_type": "display_data", "data": shown, "metadata": {}}
    cell = {"cell_type": "code", "id": "a", "execution_count": 3, "metadata": {}, "source": "",
            "outputs": [output]}
    played = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"widgets": {}}, "cells": [cell]}
    path = tmp_path / "played.ipynb"
    path.write_text(json.dumps(played))
    strip([path])
    (kept,) = json.loads(path.read_text())["cells"][0]["outputs"]
    assert [*kept["data"]] == ["text/html"], "a page shows the first of those that it knows"


def test_a_page_shows_the_pictures_of_labs(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from folds import open_labs

    copy = tmp_path / "start.ipynb"
    copy.write_text((ROOT / "notebooks" / "start.ipynb").read_text())

    def labs():
        return [text for cell in json.loads(copy.read_text())["cells"]
                for output in cell.get("outputs", [])
                for text in output["data"].get("text/html", []) if "at-rest" in text]

    closed = labs()
    open_labs([copy])
    assert closed and labs() == [text.replace('at-rest"', 'at-rest" open') for text in closed]


@pytest.mark.parametrize("folder", ["", "zh"])
def test_a_page_links_to_no_notebook_of_the_other_language(folder, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from folds import link_pages

    copy = tmp_path / "start.ipynb"
    copy.write_text((ROOT / "notebooks" / folder / "start.ipynb").read_text())
    other = "../start.ipynb" if folder else "zh/start.ipynb"
    assert f"]({other})" in copy.read_text()
    link_pages([copy])
    assert f"]({other})" not in copy.read_text() and "](00-fair-share.ipynb)" in copy.read_text()


@pytest.mark.long
def test_a_page_has_the_places_that_a_lesson_links_to(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from folds import link_parts

    copy = tmp_path / "18.ipynb"
    copy.write_text((ROOT / "notebooks" / "18-in-volcanos-source.ipynb").read_text())
    link_parts([copy])
    texts = ["".join(cell["source"]) for cell in json.loads(copy.read_text())["cells"]]
    linked = set(re.findall(r"\(#([^)]*)\)", "\n".join(texts)))
    places = {text.partition(")=\n")[0].removeprefix("(") for text in texts if ")=\n" in text}
    assert len(linked) == 19 and linked == places


@pytest.mark.long
def test_the_folds_of_a_page_hold_the_answers(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from folds import fill

    copy = tmp_path / "00-fair-share.ipynb"
    copy.write_text((ROOT / "notebooks" / copy.name).read_text())

    def folds():
        return [("".join(output["data"]["text/html"])).partition("<summary>")[2]
                for cell in json.loads(copy.read_text())["cells"]
                if "".join(cell["source"]).startswith("ask(") for output in cell["outputs"]]

    assert all(fold.startswith("Answer<") for fold in folds())
    fill([copy])
    assert len(folds()) > 5 and all("Show the answer</summary><p>It is <b>" in fold
                                     for fold in folds())


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs")
    sphinx = [
        sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "-t",
        "closed", "-d", out / "trees"
    ]
    built = subprocess.run([*sphinx, ROOT / "docs", out / "html"], capture_output=True, text=True,
                           check=False)
    assert built.returncode == 0, built.stderr
    return {path.resolve(): Page(path) for path in (out / "html").rglob("*.html")}


@pytest.mark.slow
def test_every_local_link_leads_somewhere(pages):
    broken = []
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("data:"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else {unquote(parts.fragment)}
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in anchors):
                broken.append(f"{path.name}: {link}")
    assert not broken


@pytest.mark.slow
def test_no_page_asks_for_anything_from_outside(pages):
    loads = [(path.name, url) for path, page in pages.items() for url in page.loads]
    assert not [(name, url) for name, url in loads if urlsplit(url).scheme in ("http", "https")]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "page"), [
    ("NotEnoughResources", "gang-one-too-many"), ("Undetermined", "gang-one-too-many"),
    ("queue resource quota insufficient", "minimum-above-limit")])
def test_the_search_finds_what_kubectl_shows(pages, words, page):
    index = next(path for path in pages if path.name == "search.html").parent
    text = (index / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(text[text.index("(") + 1:text.rindex(")")])
    first = [found["docnames"][at] for at, _, main in found["indexentries"][words.lower()] if main]
    assert f"pending/{page}" in first


@pytest.mark.long
def test_chinese_words_are_searched_in_pairs_of_characters(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from chinese_search import ChineseSearch

    words = ChineseSearch({}).split("队列已满: overused, v1")
    assert words == ["overused", "v1", "队列", "列已", "已满"]


@pytest.mark.slow
def test_the_map_names_where_the_main_files_went(pages):
    text = next(path for path in pages if path.name == "map.html").read_text()
    for source in ("proportion.go", "capacity.go", "statement.go", "allocate", "session.go"):
        assert source in text


@pytest.mark.long
def test_the_face_has_each_class_with_its_methods(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import generate

    text = generate.face()
    assert all(f"## `{name}`" in text for name in generate.FACE)
    assert "### `what_if`" in text and text.count(">>>") > 20
