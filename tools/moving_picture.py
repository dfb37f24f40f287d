"""Draws the moving picture of the readme from the real lab of lesson 00.

`python tools/moving_picture.py` writes lab-light.svg and lab-dark.svg into docs/pictures, and in
Chinese into docs/pictures/zh: the lab as it is after each move of its first slider, one picture
after the other. Where a reader's system asks
for less motion, the last one stands still.
"""

import sys
from itertools import product
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "support")]

from widget_page import WidgetPage  # noqa: E402

from browser.page import find_chromium  # noqa: E402
from volcano_lab.course.lesson_00.lab import fair_share_lab  # noqa: E402
from volcano_lab.messages import speak  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
KEYS = [*["ArrowRight"] * 3, *["ArrowLeft"] * 2]
SECONDS, WIDTH, MOST_BYTES = 1.1, 848, 400_000  # how long a picture stands; pixels; of a file


def frames(chromium, theme):
    """The lab before and after each move, as WebP pictures, with their height in pixels."""
    context = chromium.new_context(viewport={"width": WIDTH + 24, "height": 1000},
                                   color_scheme=theme)
    page = WidgetPage(context.new_page(), theme).open()
    box = page.show(fair_share_lab(), WIDTH).bounding_box()
    session = context.new_cdp_session(page.page)
    clip = {name: box[name] for name in ("x", "y", "width", "height")} | {"scale": 1.1}
    page.page.locator(".noUi-handle").first.focus()
    shots = []
    for key in [None, *KEYS]:
        if key:
            page.page.keyboard.press(key)
        page.page.wait_for_timeout(600)
        shot = {"format": "webp", "quality": 45, "clip": clip, "captureBeyondViewport": True}
        shots.append(session.send("Page.captureScreenshot", shot)["data"])
    context.close()
    return shots, box["height"]


def moving(shots, height):
    """An SVG that shows pictures one after the other."""
    whole, share = SECONDS * len(shots), 100 / len(shots)
    images = "".join(
        f'<image class="f" style="animation-delay:{at * SECONDS:.1f}s" width="{WIDTH}" '
        f'height="{height:.0f}" href="data:image/webp;base64,{shot}"/>'
        for at, shot in enumerate(shots))
    style = (f".f{{opacity:0;animation:show {whole:.1f}s infinite step-end}}"
             f"@keyframes show{{0%{{opacity:1}}{share:.2f}%{{opacity:0}}}}"
             "@media(prefers-reduced-motion:reduce){.f{animation:none}.f:last-of-type{opacity:1}}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}">'
            f"<style>{style}</style>{images}</svg>\n")


def main():
    """Write the files, and say how large they are."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(),
                                              args=["--no-sandbox"])
        for folder, theme in product((PICTURES, PICTURES / "zh"), ("light", "dark")):
            speak("zh" if folder.name == "zh" else "en")
            file = folder / f"lab-{theme}.svg"
            file.write_text(moving(*frames(chromium, theme)), encoding="utf-8")
            size = file.stat().st_size
            print(f"{file.relative_to(ROOT)}: {size / 1000:.0f} kB")
            assert size <= MOST_BYTES, f"{file.name} is larger than {MOST_BYTES} bytes"
        chromium.close()


if __name__ == "__main__":
    main()
