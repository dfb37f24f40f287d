"""The pages before the documentation, `docs/front`: the front page, whose picture moves without a
kernel, and the page that asks about a cluster of one's own.
"""

from __future__ import annotations

import json
import shutil
import sys
from itertools import product
from pathlib import Path
from typing import Any

from forty_nodes import forty_gpu_nodes
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from volcano_lab import Cluster
from volcano_lab.course.kit.lessons import TABLE, WAYS
from volcano_lab.manifests.live import command_line
from volcano_lab.messages import ENGLISH, gettext, spoken
from volcano_lab.widgets.scripts import bundle, live_css, worded

FRONT = Path(__file__).parent / "front"
PICTURES, PENDING = FRONT.with_name("pictures"), FRONT.with_name("pending")
sys.path[:0] = [str(FRONT.parents[1] / "tools")]
from readme import printed  # noqa: E402

POLICY = ("default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'; style-src 'self' "
          "'unsafe-inline'; img-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
          "base-uri 'none'; form-action 'none'")
QUEUES = [dict(zip(("name", "job", "request", "pods", "pod", "least", "on"), row, strict=True))
          for row in (("a", "web", 80, 20, 4, 1, "#fff"), ("b", "train", 60, 6, 10, 4, "#1d1400"),
                      ("c", "tests", 30, 6, 5, 1, "#00150e"))]
"""`pods` of `pod` CPUs, at least `least` at once; `on` is the colour of letters on the queue's."""
WEIGHTS = range(1, 7)
WAY_PICTURES = "votes", "tree", "timeline", "states"
GALLERY = {"03": "channels", "04": "sums", "05": "tree", "06": "statement",
           "09": "votes", "10": "cluster"}
"""Lesson -> the picture of its lab."""


def write(out: Path, site: bool, both: bool = True) -> None:
    """Write the pages into a folder, in the language that is spoken; with `site` also what needs
    Python in the browser, which lies beside them in `try`; with `both` a link to the page in the
    other language.
    """
    chinese = spoken() != ENGLISH
    words = Environment(loader=FileSystemLoader(FRONT), undefined=StrictUndefined, autoescape=True)
    shared = {"say": gettext, "chinese": chinese, "site": site, "policy": POLICY,
              "line": command_line(), "python": f"{'../' * chinese}try/static/pyodide/questions.js"}
    for name, file in {"front": "index", **({"ask": "ask"} if site else {})}.items():
        other = f"{'..' if chinese else 'zh'}/{file}.html" if both else ""
        given = shared | {"name": name, "other": other}
        if name == "front":
            given |= front(site)
        text = words.get_template(f"{name}.html").render(given)
        (out / f"{file}.html").write_text(text, encoding="utf-8")
        script = worded(bundle(FRONT / f"{name}.js"))
        if name == "front":
            script = script.replace("FRAMES = {}", f"FRAMES = {json.dumps(frames())}").replace(
                "QUEUES = []", f"QUEUES = {json.dumps(QUEUES)}")
        (out / f"{name}.js").write_text(f"(() => {{\n{script}\n}})();\n", encoding="utf-8")
    (out / "site.css").write_bytes((FRONT / "site.css").read_bytes())
    if site:
        (out / "questions.css").write_text(live_css(), encoding="utf-8")
        (out / "forty-gpu-nodes.yaml").write_text(forty_gpu_nodes(), encoding="utf-8")
        (out / "pending").mkdir(exist_ok=True)
        for file in {*PENDING.glob("*.yaml")} - {PENDING / "pages.yaml"}:
            shutil.copyfile(file, out / "pending" / file.name)
    (out / "pictures").mkdir(exist_ok=True)
    for kind in {*WAY_PICTURES, *GALLERY.values()}:
        drawn = PICTURES / "zh" / f"{kind}.svg" if chinese else PICTURES / f"{kind}.svg"
        (out / "pictures" / f"{kind}.svg").write_bytes(drawn.read_bytes())


def front(site: bool) -> dict[str, Any]:
    """What the front page shows besides its texts."""
    chinese, first = spoken() != ENGLISH, frames()["111"]
    titles = {each.number: gettext(each.title) for each in TABLE}

    def lesson(number: str) -> str:
        file = next(each.file for each in TABLE if each.number == number)
        return (f"{'../' * chinese}try/notebooks/index.html?path={'zh/' * chinese}{file}" if site
                else f"lessons/{file.removesuffix('.ipynb')}.html")

    ways = [{"href": lesson(way.numbers[0]), "title": gettext(way.title), "text": gettext(way.whom),
             "time": f"{len(way.numbers)} {'课，' if chinese else 'lessons, '}{gettext(way.time)}",
             "picture": picture} for way, picture in zip(WAYS, WAY_PICTURES, strict=True)]
    gallery = [{"number": number, "title": titles[number], "picture": picture}
               for number, picture in GALLERY.items()]
    line = "volcano-lab why docs/pending/queue-full.yaml train" + " --lang zh" * chinese
    queues = [queue | {"deserved": f"{deserved:g}"}
              for queue, deserved in zip(QUEUES, first["deserved"], strict=True)]
    return {"queues": queues, "ways": ways, "gallery": gallery, "lesson": lesson,
            "console": printed(line), "picture": lambda kind: f"pictures/{kind}.svg"}


def frames() -> dict[str, dict[str, Any]]:
    """What the scheduler decides at each setting of the three weights: the name is the weights."""
    if not _FRAMES:
        cluster = Cluster().node("n1", cpu=100)
        for queue in QUEUES:
            cluster.queue(queue["name"]).job(
                queue["job"], queue=queue["name"], pods=queue["pods"], cpu=queue["pod"],
                min_member=queue["least"])
        for weights in product(WEIGHTS, repeat=len(QUEUES)):
            for queue, weight in zip(QUEUES, weights, strict=True):
                cluster.queue(queue["name"], weight=weight)
            _FRAMES["".join(map(str, weights))] = _frame(cluster)
    return _FRAMES


_FRAMES: dict[str, dict[str, Any]] = {}


def _frame(cluster: Cluster) -> dict[str, Any]:
    cycle = cluster.run()
    placed = {row["queue"]: row["placed"] for row in cycle.jobs()}
    rounds = [{"deserved": [_cpus(each.deserved[queue["name"]]) for queue in QUEUES],
               "left": _cpus(each.remaining)} for each in cycle.rounds]
    return {"deserved": rounds[-1]["deserved"], "rounds": rounds,
            "placed": [placed[queue["name"]] for queue in QUEUES]}


def _cpus(amount: Any) -> float:
    return round(amount.get("cpu") / 1000, 2)
