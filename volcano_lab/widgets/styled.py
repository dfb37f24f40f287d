"""The style of every chart: font, colours, text description, and storage in notebooks."""


import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from volcano_lab.messages import gettext, mark, paragraph
from volcano_lab.trace.shown import image

if TYPE_CHECKING:
    import altair as alt

AnyChart = TypeVar("AnyChart", bound="alt.TopLevelMixin")

FONT = "system-ui, sans-serif"
GROUND, INK, GRID = "#fff", "#000", "#ddd"
"""Colours that differ on a dark page. "white" and "black" are drawn on a colour, and stay."""
DARK = {GROUND: "#181b1e", INK: "#e9ebee", "#888": "#5b636b", GRID: "#3b4248"}
PADDING = {"left": 20, "top": 8, "right": 36, "bottom": 8}
"""Pixels around a chart: a reader's fonts may be wider than those of its layout."""


def still() -> None:
    """Show charts as pictures on every page, with and without a kernel or a network.

    A picture is an SVG in an `img` of HTML, with the chart's description as its alternative text: a
    plain SVG is not shown in a notebook that was downloaded and has not run yet, and JupyterLab
    drops its text. It is dark on a dark page.
    """
    import altair as alt

    with alt.renderers.enable("svg"):
        draw: Any = alt.renderers.get()

    def described(spec: dict[str, Any], **options: Any) -> dict[str, Any]:
        spec = _localized(spec)
        words, config = spec.get("description", ""), dict(spec.get("config", {}))
        if find_spec("vl_convert") is None:  # Python in a browser: its page draws charts itself
            return {"application/vnd.vegalite.v5+json": spec, "text/plain": words}
        if not isinstance(config.get("padding"), dict):
            config["padding"] = PADDING
        svg = _page(draw(spec | {"config": config}, **options)["image/svg+xml"])
        return {"text/html": image(svg, words), "text/plain": words}

    alt.renderers.register("still", described)
    alt.renderers.enable("still")


def _localized(spec: Any) -> Any:
    """Return the same chart with its titles and texts in the reader's language."""
    if isinstance(spec, dict):
        return {key: gettext(part) if key in ("title", "description") and isinstance(part, str) else
                _localized(part) for key, part in spec.items()}
    return [_localized(part) for part in spec] if isinstance(spec, list) else spec


def _page(svg: str) -> str:
    """Return the picture in the page's light or dark, without attributes for scripts and screen
    readers, which can't read an image.
    """
    svg = re.sub(r' (?:aria-[a-z]+|role|class|pointer-events)="[^"]*"', "", svg)
    head, body = svg.split(">", 1)
    dark = "".join(f'[{what}="{light}"]{{{what}:{ink}}}' for light, ink in DARK.items()
                   for what in ("fill", "stroke"))
    return f"{head}><style>@media (prefers-color-scheme: dark){{{dark}}}</style>{body}"


def styled(chart: AnyChart, title: str, description: str) -> AnyChart:
    """Return the chart with common fonts and a background, so that any page can show it."""
    title = gettext(title)
    chart = chart.properties(description=paragraph(
        [f"{title}{mark('.')}", description]) if title else description)
    if title:
        chart = chart.properties(title=title)
    sizes = {"labelFontSize": 14, "titleFontSize": 14}
    return (chart.configure(background=GROUND, font=FONT, padding=8)
            .configure_axis(gridColor=GRID, **sizes).configure_legend(**sizes)
            .configure_header(labelFontSize=14, labelFontWeight="bold")
            .configure_text(color=INK, fontSize=14)
            .configure_title(fontSize=15, anchor="start").configure_view(stroke=None))
