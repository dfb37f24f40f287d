"""The pages before the documentation, `docs/front`: the front page, whose picture moves without a
kernel, and the page that asks about a cluster of one's own.
"""

from __future__ import annotations

from pathlib import Path

from forty_nodes import forty_gpu_nodes
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from volcano_lab.manifests.live import command_line
from volcano_lab.trace.language import ENGLISH, say, spoken
from volcano_lab.widgets.scripts import bundle, questions_css, say_script

FRONT = Path(__file__).parent / "front"
POLICY = ("default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'; style-src 'self' "
          "'unsafe-inline'; img-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
          "base-uri 'none'; form-action 'none'")


def write(out: Path, site: bool) -> None:
    """Write the pages into a folder, in the language that is spoken; with `site` also what needs
    Python in the browser, which lies beside them in `try`.
    """
    chinese = spoken() != ENGLISH
    words = Environment(loader=FileSystemLoader(FRONT), undefined=StrictUndefined, autoescape=True)
    for name in ("ask",) if site else ():
        text = words.get_template(f"{name}.html").render(
            say=say, chinese=chinese, site=site, name=name, policy=POLICY,
            line=command_line(),
            other=f"../{name}.html" if chinese else f"zh/{name}.html",
            python=f"{'../' * chinese}try/static/pyodide/questions.js")
        (out / f"{name}.html").write_text(text, encoding="utf-8")
        script = say_script(bundle(FRONT / f"{name}.js"))
        (out / f"{name}.js").write_text(f"(() => {{\n{script}\n}})();\n", encoding="utf-8")
    (out / "site.css").write_bytes((FRONT / "site.css").read_bytes())
    if site:
        (out / "questions.css").write_text(questions_css(), encoding="utf-8")
        (out / "forty-gpu-nodes.yaml").write_text(forty_gpu_nodes(), encoding="utf-8")
