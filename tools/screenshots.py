"""Draws every lab of the frame and every picture of the guide, to be looked at.

`python tools/screenshots.py [LESSON...]` writes build/labs/*.png, each lab in light and dark at
several widths, before and after a move, and build/labs/index.html, the contact sheet: a row for
each lab with what it says of the move. It also renews the stills of docs/labs-and-pictures.md in
docs/pictures.
"""

import re
import sys
from html import escape
from importlib import import_module
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "support")]

from widget_page import WidgetPage  # noqa: E402

from browser.page import find_chromium  # noqa: E402
from volcano_lab.messages import speak  # noqa: E402
from volcano_lab.widgets import Lab, pictures  # noqa: E402

OUTPUT = ROOT / "build" / "labs"
PICTURES = ROOT / "docs" / "pictures"
SIZES = {"900": (900, 1000), "1366x768": (1040, 768), "1920": (1500, 1080), "480": (480, 1000)}
"""A width of the page -> the width of a notebook's output on it, and the window's height."""


def labs(lessons):
    """Yield ("00-fair_share", the function that makes it) of every lab that is in the frame."""
    for path in sorted((ROOT / "volcano_lab" / "course").glob("lesson_*/lab.py")):
        lesson = path.parent.name.removeprefix("lesson_")
        if lessons and lesson not in lessons:
            continue
        module = import_module(f"volcano_lab.course.{path.parent.name}.lab")
        for name in [name for name in vars(module) if name.endswith("_lab")]:
            if isinstance(getattr(module, name)(), Lab):
                yield f"{lesson}-{name.removesuffix('_lab')}", getattr(module, name)


def guide():
    """Return the pictures of the guide by kind, as its examples make them."""
    text = (ROOT / "docs" / "labs-and-pictures.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(pictures\.\w+\(.*?)```", text, re.DOTALL)
    found = [eval(block, {"pictures": pictures}) for block in blocks]
    return {picture.kind: picture for picture in found}


def write_stills():
    """Renew docs/pictures, in both languages."""
    for language, folder in (("zh", PICTURES / "zh"), ("en", PICTURES)):
        speak(language)
        folder.mkdir(exist_ok=True)
        for kind, picture in guide().items():
            if picture.svg:
                (folder / f"{kind}.svg").write_text(picture.svg + "\n", encoding="utf-8")


def moved(page):
    """Move the first slider of a lab, or else its first menu; the sentence that follows."""
    handle, menu = page.page.locator(".noUi-handle"), page.page.locator(".vp-controls select")
    if handle.count():
        handle.first.focus()
        for _ in range(3):
            page.page.keyboard.press("ArrowRight")
    else:
        menu.first.select_option(index=1)
    page.page.wait_for_timeout(500)
    return page.page.locator(".vp-said").inner_text()


def main():
    """Draw all, and list it in the contact sheet."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    write_stills()
    sheet = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(),
                                              args=["--no-sandbox"])

        def shoot(name, widget, width, height, theme, then=lambda page: ""):
            context = chromium.new_context(viewport={"width": width + 30, "height": height},
                                           color_scheme=theme)
            page = WidgetPage(context.new_page(), theme).open()
            place = page.show(widget, width)
            page.page.wait_for_timeout(300)
            high, said = place.bounding_box()["height"], then(page)
            page.page.screenshot(path=str(OUTPUT / f"{name}.png"), full_page=True)
            context.close()
            sheet.append(f'<figure><a href="{name}.png"><img src="{name}.png"></a><figcaption>'
                         f"{name}, {high:.0f} px high. {escape(said)}</figcaption></figure>")
            print(f"{name}: {high:.0f} px high. {said}")

        for lab, make in labs(sys.argv[1:]):
            sheet.append(f"<h2>{lab}</h2>")
            shoot(f"{lab}-900-before", make(), *SIZES["900"], "light")
            for size, (width, height) in SIZES.items():
                for theme in ("light", "dark"):
                    shoot(f"{lab}-{size}-{theme}", make(), width, height, theme, moved)
        sheet.append("<h2>Pictures</h2>")
        for kind, picture in guide().items() if not sys.argv[1:] else ():
            for theme in ("light", "dark"):
                live = picture.live()
                shoot(f"picture-{kind}-{theme}", live, 660, 400, theme)
        chromium.close()
    style = ("<style>body{font-family:system-ui;background:#888;display:grid;gap:8px;"
             "grid-template-columns:repeat(auto-fill,minmax(440px,1fr))}h2{grid-column:1/-1}"
             "figure,h2{margin:0}img{max-width:100%}</style>")
    (OUTPUT / "index.html").write_text(f"<!doctype html>{style}" + "\n".join(sheet))
    print(OUTPUT / "index.html")


if __name__ == "__main__":
    main()
