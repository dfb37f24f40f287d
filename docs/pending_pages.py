"""The pages "Why is it pending": each from a row of `pending/pages.yaml` and a cluster beside it,
with what the scheduler and `volcano-lab why` make of that cluster now.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from volcano_lab import Cluster
from volcano_lab.api import amount_text
from volcano_lab.course.kit.lessons import TABLE
from volcano_lab.explain import Explainer
from volcano_lab.messages import ENGLISH, gettext, spoken
from volcano_lab.trace.state import queues_of

PENDING = Path(__file__).parent / "pending"
_GIVEN = yaml.safe_load((PENDING / "pages.yaml").read_text(encoding="utf-8"))
GROUPS, TEXTS = _GIVEN["groups"], _GIVEN["texts"]
ISSUE = "https://github.com/volcano-sh/volcano/issues/"
JOB = "default/train"
COMMENT = re.compile(r"^# (.*)$", re.MULTILINE)
sys.path[:0] = [str(PENDING.parents[1] / "tools")]
from readme import printed  # noqa: E402

Row = dict[str, Any]


def write_pages(site: bool = False) -> None:
    """Write all pages, and the list of them; on the site each cluster opens in the page that asks.
    """
    for old in PENDING.glob("*.md"):
        old.unlink()
    for group in GROUPS:
        for row in group["pages"]:
            text = "\n".join(page(row, site)) + "\n"
            (PENDING / f"{row['page']}.md").write_text(text, encoding="utf-8")
    (PENDING / "index.md").write_text("\n".join(contents()) + "\n", encoding="utf-8")


def contents() -> Iterator[str]:
    """The list of the pages, each with its first sentence."""
    yield f"# {gettext(TEXTS['title'])}\n\n{gettext(TEXTS['about'])}"
    mark = "：" if spoken() != ENGLISH else ": "
    for group in GROUPS:
        yield f"\n## {gettext(group['group'])}\n"
        for row in group["pages"]:
            title, lead = gettext(row["title"]), _first(gettext(row["lead"]))
            yield f"- [{title}]({row['page']}.md){mark}{lead}"
    yield "\n```{toctree}\n:hidden:\n:maxdepth: 1\n"
    yield from (row["page"] for group in GROUPS for row in group["pages"])
    yield "```"


def page(row: Row, site: bool = False) -> Iterator[str]:
    """A page, part by part."""
    file = PENDING / f"{row['page']}.yaml"
    line = row.get("line", f"volcano-lab why docs/pending/{row['page']}.yaml train")
    file = PENDING.parents[1] / line.split()[2]
    explainer = Cluster.read(file).explainer()
    main = ", ".join(f"! {word}" for word in row["words"].split(", "))
    yield f"# {gettext(row['title'])}\n\n```{{index}} {main}\n```"  # what the search shows first
    yield f"\n{gettext(row['lead'])}"
    yield _head("symptom") + _symptom(explainer)
    yield _head("numbers")
    yield from _queues(explainer)
    yield from _nodes(explainer)
    yield _head("why")
    yield f"```console\n{printed(line + ' --lang zh' * (spoken() != ENGLISH))}```"
    yield "\n" + gettext(row["not"])
    if site and file.parent == PENDING:
        address = f"../ask.html#file=pending/{file.name}&amp;job={JOB}"
        yield f'\n<a class="try" href="{address}">{gettext(TEXTS["open"])}</a>'
    yield _head("manifest")
    manifests = COMMENT.sub(lambda found: f"# {gettext(found[1])}", file.read_text("utf-8"))
    yield f"```yaml\n{manifests}```"
    yield _head("more")
    lesson = next(each for each in TABLE if each.number == row["lesson"])
    yield f"- [{lesson.number} {gettext(lesson.title)}](../lessons/{lesson.file})"
    yield from (f"- Volcano [#{number}]({ISSUE}{number})" for number in row["issues"])
    words = "、" if spoken() != ENGLISH else ", "
    yield f"\n{gettext(TEXTS['words'])} {words.join(row['words'].split(', '))}"


def _head(anchor: str) -> str:
    """A heading with a name that stays, in whatever language and words it is."""
    return f'\n<span id="{anchor}"></span>\n\n## {gettext(TEXTS[anchor])}\n\n'


def _first(text: str) -> str:
    return re.split(r"(?<=。)|(?<=\.)\s+", text)[0]


def _symptom(explainer: Explainer) -> str:
    """What `kubectl get` shows of the job after a cycle, and the condition of its PodGroup."""
    jobs = explainer.session.jobs.values()
    running = [sum(task.status.name == "RUNNING" for task in job.tasks.values()) for job in jobs]
    lines = ["```console", "$ kubectl get podgroups", *_columns(
        ("NAME", "STATUS", "MINMEMBER", "RUNNINGS"),
        *((job.pod_group.name, job.pod_group.status.phase, job.min_available, runs or "")
          for job, runs in zip(jobs, running, strict=True)))]
    try:
        job = explainer.session.jobs[explainer.names.find(JOB, "job")[1]]
    except LookupError:
        return "\n".join([*lines, "```"])
    pods = sorted(task.name for task in job.tasks.values())
    if pods:
        lines += ["$ kubectl get pods", *_columns(
            ("NAME", "READY", "STATUS"), *((name, "0/1", "Pending") for name in pods[:4]))]
    for condition in job.pod_group.status.conditions[-1:]:
        lines += ["$ kubectl describe podgroup " + job.pod_group.name,
                  f"Type: {condition.type}   Reason: {condition.reason}",
                  f"Message: {condition.message}"]
    return "\n".join([*lines, "```"])


def _columns(*rows: tuple[Any, ...]) -> Iterator[str]:
    """Rows as lines with columns, as kubectl prints them."""
    wide = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, wide, strict=True)).rstrip()


def _queues(explainer: Explainer) -> Iterator[str]:
    """A table of the queues, resource by resource, without what no job requests."""
    names = ("deserved", "allocated", "real_capability", "request")
    rows = []
    for queue, row in queues_of(explainer.session).items():
        for resource in sorted({*row["request"], *row["allocated"]} - {"pods"}):
            if any(row[name].get(resource) for name in ("request", "allocated")):
                amounts = [_text(resource, row[name].get(resource)) for name in names]
                rows.append(f"| {queue} | {resource} | {row['weight']} | {' | '.join(amounts)} |")
    if rows:
        yield gettext(TEXTS["queues"])
        yield "|---|---|---|---|---|---|---|"
        yield from rows
        yield ""


def _nodes(explainer: Explainer) -> Iterator[str]:
    """A table of the nodes: what is idle of what they have."""
    yield gettext(TEXTS["nodes"])
    yield "|---|---|---|---|"
    for name, node in explainer.session.nodes.items():
        for resource, amount in node.allocatable:
            if resource != "pods" and amount:
                yield (f"| {name} | {resource} | {_text(resource, node.idle.get(resource))} | "
                       f"{_text(resource, amount)} |")
    yield ""


def _text(resource: str, amount: float | None) -> str:
    return "–" if amount is None or amount > 1e17 else amount_text(resource, amount)


if __name__ == "__main__":
    write_pages()
