"""Makes the cheat sheet: two printed pages, from the tables that the documentation has.

`python tools/cheat_sheet.py` writes build/cheat-sheet.html and, in Chinese, cheat-sheet.zh.html,
and with Chromium their PDFs. Chinese needs a Chinese font (on Debian: fonts-wqy-microhei).
"""

import re
import sys
from html import escape
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from volcano_lab.debug.presets import SYMPTOMS  # noqa: E402
from volcano_lab.framework.config.conf import ACTIONS, DEFAULT_CONF, OFF_UNLESS_SET  # noqa: E402
from volcano_lab.framework.points.table import BUILT_IN as POINTS  # noqa: E402
from volcano_lab.messages import ENGLISH, gettext, languages, speak, spoken  # noqa: E402

BUILD = ROOT / "build"
QUEUE = {"weight": "the ratio in which proportion divides scarce resources",
         "capability": "the most it can hold; cpu or memory 0 means no limit",
         "guarantee.resource": "what is reserved for it, also while it is idle",
         "deserved": "what it should hold (capacity)",
         "parent": "the queue above it (capacity, enableHierarchy)",
         "reclaimable": "false: its pods are not reclaimed",
         "priority": "the higher first, before the share"}
COMMANDS = {"volcano-lab run FILE": "one cycle: what is placed, and what waits",
            "volcano-lab why FILE JOB": "what a job waits for, and what would change it",
            "volcano-lab why FILE --all": "all jobs that wait, by cause",
            "volcano-lab what-if FILE --set queue/a.weight=5": "before and after a change",
            "volcano-lab what-if FILE --add job.yaml --expect placed": "exit code 1 where it waits",
            "volcano-lab lint FILE": "fields without effect, limits of 0, unknown queues",
            "volcano-lab diff FILE FILE": "what two exports decide otherwise",
            "volcano-lab sweep FILE --grid queue/a.weight=1..9": "a row for each value",
            "volcano-lab simulate FILE": "waiting times and utilisation over time",
            "volcano-lab capture": "the kubectl line that exports a cluster",
            "volcano-lab export FILE --anonymise": "the same cluster with other names"}
FORMULAS = {
    "share of a queue": "largest of held / deserved over all resources that it deserves; the "
                                "lowest is next",
    "real capability": "smaller of its capability and cluster − guarantees of others",
    "deserved (proportion)": "per round: + left × weight / weights; at most its request and its "
                             "real capability, at least its guarantee",
    "admission (queue)": "minimum + allocated + inqueue − elastic ≤ real capability",
    "admission (overcommit)": "reserved + minimum ≤ factor × cluster − in use; factor 1.2",
    "overused": "deserved ≤ allocated, in every resource",
    "dominant share (drf)": "largest of held / cluster over all resources; the lowest job is next",
    "ready (gang)": "ready pods ≥ minAvailable: commit; else discard"}
CYCLE = {"snapshot": "a copy of the cache", "open": "plugins register, queues' shares",
         "enqueue": "Pending → Inqueue", "allocate": "statement: nodes for a gang, or none",
         "backfill": "pods without requests", "reclaim, preempt": "evict, where they are listed",
         "close": "phases, conditions", "bind": "what was committed, after the cycle"}
"""The steps of a cycle in their order; the actions are those of the configuration."""
PHASES = {"Pending": "not admitted", "Inqueue": "admitted; fewer pods than its minimum have a node",
          "Running": "its minimum is bound, runs or has ended",
          "Unknown": "some run, and the gang is unschedulable",
          "Completed": "as Running, and all of these pods have ended"}
STATES = {"Pending": "waits for a decision", "Allocated": "has a node, in an open statement",
          "Pipelined": "waits on a node for resources that are released",
          "Binding": "the bind is sent", "Bound": "the API server has its node",
          "Running": "runs", "Releasing": "is being deleted; still holds its resources",
          "Succeeded, Failed": "has ended", "Unknown": "its node does not answer"}
FITS = """[...document.querySelectorAll(".page")].every(
    ({scrollWidth, clientWidth}) => scrollWidth <= clientWidth + 1)"""
STYLE = """
@page { size: A4 landscape; margin: 9mm } * { box-sizing: border-box }
body { font: 7.6pt/1.32 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; margin: 0 }
h1 { font-size: 12pt; margin: 0 0 2mm } h2 { font-size: 8.6pt; margin: 0 0 .6mm; color: #0072b2 }
.page { columns: 3; column-gap: 6mm; break-after: page; height: 184mm }
.cycle { display: flex; gap: 1.2mm; align-items: center; margin-bottom: 2.4mm; font-size: 7.6pt }
.cycle div { flex: 1; border: .3mm solid #0072b2; border-radius: 1.5mm; padding: 1mm 1.6mm }
.cycle b { display: block } .cycle + .page { height: 168mm }
pre { margin: 0; font-size: 6.8pt; line-height: 1.2 }
.page:last-child { break-after: auto; font-size: 7.2pt } section { margin-bottom: 2.4mm }
table { border-collapse: collapse; width: 100% } tr { break-inside: avoid }
td { border-bottom: .2mm solid #ddd; padding: .25mm 2mm .25mm 0; vertical-align: top }
.cycle + .page { font-size: 7.8pt } .cycle + .page section { break-inside: avoid }
td:first-child { font-weight: 600; width: 34% }
.page:last-child td:first-child { word-break: keep-all }
"""


def section(title, rows, head=str, text=gettext):
    """A heading and a table of pairs; one row for each pair."""
    cells = "".join(f"<tr><td>{escape(head(first))}</td><td>{escape(text(second))}</td></tr>"
                    for first, second in rows)
    return f"<section><h2>{escape(gettext(title))}</h2><table>{cells}</table></section>"


def cycle():
    """The steps of a cycle as a row of boxes."""
    boxes = "<i>→</i>".join(f"<div><b>{escape(step)}</b>{escape(gettext(what))}</div>"
                            for step, what in CYCLE.items())
    return f'<div class="cycle">{boxes}</div>'


def configuration():
    """The configuration of Volcano without a file."""
    return (f"<section><h2>{escape(gettext('The default configuration'))}</h2>"
            f"<pre>{escape(DEFAULT_CONF)}</pre></section>")


def asked():
    """Action -> the extension points that it calls, in the order of the table."""
    return [(action, ", ".join(name for name, point in POINTS.items() if action in point.asked_by))
            for action in ACTIONS]


def switches():
    """Switch -> the extension points that it disables for a plugin."""
    found = {}
    for name, point in POINTS.items():
        for switch in point.switches:
            found.setdefault(switch, []).append(name)
    found.setdefault("enableHierarchy", []).append(gettext("the tree of queues (drf, capacity)"))
    return [(switch, ", ".join(points) + (
        " " + gettext("(off unless set)") if switch in OFF_UNLESS_SET else ""))
        for switch, points in found.items()]


def pages():
    """The sections of the two pages."""
    words = yaml.safe_load((ROOT / "docs" / "glossary.yaml").read_text(encoding="utf-8"))
    first = [section("Commands of volcano-lab", COMMANDS.items()),
             section("Fields of a queue", QUEUE.items()),
             section("How it is computed", FORMULAS.items(), gettext),
             section("Phases of a PodGroup", PHASES.items()),
             section("States of a pod", STATES.items()),
             section("What you see, and why", [(each.seen, each.likely) for each in SYMPTOMS],
                     gettext), configuration()]
    second = [section("Actions, and what they ask", asked(), text=str),
              section("Switches of a plugin (on unless set), and what they take away", switches(),
                      text=str),
              section("Words of Volcano", [(f"{word} {chinese}", text)
                                for word, (chinese, text) in words.items()])]
    return [first, second]


def html():
    """The sheet as one page of HTML that needs nothing else."""
    titles = ("Volcano v1.14.0: queues, gangs, waiting",
              "Volcano v1.14.0: actions, switches, words")
    first, second = (f'<div class="page">{"".join(part)}</div>' for part in pages())
    body = f"<h1>{gettext(titles[0])}</h1>{cycle()}{first}<h1>{gettext(titles[1])}</h1>{second}"
    return (f'<!doctype html><html lang="{spoken()}"><meta charset="utf-8">'
            f"<title>volcano_lab</title><style>{re.sub(chr(10), ' ', STYLE)}</style>{body}</html>")


def main():
    BUILD.mkdir(exist_ok=True)
    from browser.page import find_chromium, open_browser

    with open_browser(find_chromium()) as browser:
        page = browser.new_page(viewport={"width": 1055, "height": 760})
        for language in languages():
            speak(language)
            path = BUILD / ("cheat-sheet" + f".{language}" * (language != ENGLISH) + ".html")
            path.write_text(html(), encoding="utf-8")
            page.goto(path.as_uri())
            if not page.evaluate(FITS):
                raise SystemExit(f"{path.name}: a page has more than its columns hold")
            page.pdf(path=path.with_suffix(".pdf"), prefer_css_page_size=True)
            print(path.with_suffix(".pdf").relative_to(ROOT))


if __name__ == "__main__":
    main()
