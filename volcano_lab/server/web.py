"""The pages that `volcano-lab serve` offers to a browser and to Prometheus, on loopback only.

`/` is a page with the jobs that wait and why, the tree of queues, and the other jobs; it refreshes
itself and needs nothing from elsewhere. `/metrics` has the series, `/state` the page's numbers as
JSON.
"""

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from attrs import Factory, asdict, define

from volcano_lab.api import in_units, objects as api, quantity_text
from volcano_lab.explain import Explainer
from volcano_lab.messages import gettext, mark, spoken
from volcano_lab.trace import COLORS, camel, quantities
from volcano_lab.trace.shown import html
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queues import tree

LOOPBACK = "127.0.0.1"
AMOUNTS = {"allocated": COLORS[0], "deserved": "currentColor", "real_capability": COLORS[5],
           "request": ""}
"""The amounts of a queue, with their colours in its bar."""
LINES = {"deserved": "1v14", "real_capability": "0v16"}
HELD = ("allocated", "deserved", "request")
WIDE = 240
"""The width in pixels of all nodes' resources together."""
HOSTS = frozenset({LOOPBACK, "localhost"})
"""The allowed Host names of a request: a foreign name that resolves to this machine (DNS
rebinding) would let another site's page read it.
"""
IDLE = 10.0
"""Seconds after which an idle connection is closed."""
PAGE = Template(Path(__file__).with_name("page.html").read_text("utf-8"))
NONE = "none"
COLUMNS = ("job", "queue", "phase", "pods", "missing", "placed", "pipelined", "pending")


@define(frozen=True)
class State:
    """The content of the page: the number of the last cycle, its time in seconds since 1970, the
    waiting jobs by cause, rows of all jobs and of queues (each below its parent), the nodes' total,
    and the current problems and warnings.
    """

    cycle: int = 0
    time: float = 0.0
    waiting: list[dict[str, Any]] = Factory(list)
    jobs: list[dict[str, Any]] = Factory(list)
    queues: list[dict[str, Any]] = Factory(list)
    total: dict[str, float] = Factory(dict)
    problems: list[str] = Factory(list)
    warnings: list[str] = Factory(list)


def state_of(cycle: Cycle, number: int, problems: list[str], warnings: list[str],
             objects: Sequence[api.KubernetesObject]) -> State:
    """Return the page's state after a cycle over these objects, with jobs named as in `why`."""
    ssn = cycle.session
    explainer = Explainer(objects, ssn.conf, ssn.now, (cycle.trace, ssn))
    waiting = [{"code": group.code, "text": group.text, "jobs": group.jobs}
               for group in explainer.waiting()]
    sums = {row["queue"]: row for row in cycle.queues()}
    queues = [sums[row["queue"]] | {"parent": row["parent"], "depth": row["depth"]}
              for row in tree(cycle.trace) if row["queue"] in sums]
    total = {name: in_units(name, amount) or 0.0 for name, amount in ssn.total_resource}
    return State(number, ssn.now, waiting, cycle.jobs(), queues, total, problems, warnings)


class Quiet(BaseHTTPRequestHandler):
    """A handler that keeps connections alive and logs no requests."""

    protocol_version = "HTTP/1.1"
    server_version = "volcano-lab"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class Handler(Quiet):
    """Answer GET and HEAD from `served`, which has a `state` and `series`; the base class refuses
    anything else.
    """

    timeout = IDLE

    def __init__(self, served: Any, *given: Any) -> None:
        self.served = served
        super().__init__(*given)

    def do_GET(self) -> None:
        """Answer with the page, the series or the state."""
        if self.headers.get("Host", LOOPBACK).lower().partition(":")[0] not in HOSTS:
            self.send_error(421, f"this server answers as {' and '.join(sorted(HOSTS))} only")
            return
        path = urlsplit(self.path).path
        if path == "/metrics":
            text, kind = self.served.series, "text/plain; version=0.0.4"
        elif path == "/state":
            state = quantities(asdict(self.served.state))
            text, kind = json.dumps(camel(state)), "application/json"
        elif path == "/":
            text, kind = page(self.served.state, self.served.command), "text/html"
        else:
            self.send_error(404, "there are /, /metrics and /state")
            return
        body = text.encode("utf-8", "replace")
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET


class Server(ThreadingHTTPServer):
    """A server with a thread per connection; none keeps the process alive."""

    daemon_threads, block_on_close, request_queue_size = True, False, 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that disconnects."""


def serve_web(served: Any, port: int) -> Server | None:
    """Serve in a thread of its own; return None where the port is not available."""
    try:
        server = Server((LOOPBACK, port), partial(Handler, served))
    except (OSError, OverflowError):
        return None
    Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    return server


def page(state: State, command: str = "volcano-lab why") -> str:
    """Return the page of a state as HTML; `command` and the name of a job explain that.

    >>> "<b>x</b>" in page(State(problems=["<b>x</b>"]))
    False
    """
    at = time.strftime("%H:%M:%S", time.localtime(state.time)) if state.cycle else "—"
    problems = "".join(f'<p class="problem">{escape(problem)}</p>' for problem in state.problems)
    warnings = "".join(f"<p>{gettext('warning')}{mark(': ')}{escape(each)}</p>"
                       for each in state.warnings)
    rows = {row["job"]: row for row in state.jobs}
    waiting = [_job(rows.get(job, {"job": job})) | {"why": group["text"],
                                                   "command": f"{command} {job}"}
               for group in state.waiting for job in group["jobs"]]
    waits = {row["job"] for row in waiting}
    others = [_job(row) | {"why": row["why"]} for job, row in rows.items() if job not in waits]
    links = {path: f'<a href="/{path}">/{path}</a>' for path in ("metrics", "state")}
    return PAGE.substitute(
        language=spoken(), cycle=gettext("Cycle {number}", number=state.cycle),
        at=gettext("{at}; series at {metrics}, these numbers at {state}", at=at, **links),
        problems=problems, warnings=warnings, waits=gettext("Jobs that wait"),
        waiting=html(waiting or NONE),
        queue_word=gettext("Queues"), queues=_queues(state),
        other_word=gettext("Other jobs"), others=html(others or NONE))


def _job(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a job; those of one that the cycle leaves out are empty."""
    return {"not_created" if name == "missing" else name: row.get(name) for name in COLUMNS}


def _queues(state: State) -> str:
    """Return the tree of queues, a bar for each resource: allocated (filled), deserved (a tick) and
    the real capability (a wall), on the scale of all nodes together.
    """
    lines = []
    for row in state.queues:
        name = f'<td style="padding-left:{1.5 * row["depth"]:g}em">{escape(row["queue"])}</td>'
        for resource in row["request"] | row["allocated"] | row["deserved"]:
            amounts = {field: row[field].get(resource, 0) for field in AMOUNTS}
            if resource != "pods" and any(row[field].get(resource) for field in HELD):
                cells = (f'<td class="n">{escape(gettext(quantity_text(resource, amount)))}</td>'
                         for amount in amounts.values())
                lines.append(f"<tr>{name}<td>{escape(resource)}</td>"
                             f"<td>{_bar(amounts, state.total.get(resource, 0))}</td>"
                             f"{''.join(cells)}</tr>")
                name = "<td></td>"
    colors = {"queue": "", "resource": "", "all_nodes": ""} | AMOUNTS
    heads = "".join(f'<th style="border-bottom-color: {color or "#8884"}">{_word(field)}</th>'
                    for field, color in colors.items())
    return f"<table><tr>{heads}</tr>{''.join(lines)}</table>" if lines else html(NONE)


def _word(field: str) -> str:
    return gettext(field.replace("_", " "))


def _bar(amounts: Mapping[str, float | None], total: float) -> str:
    """Return the amounts of one queue and resource as a picture."""
    most = max(total, amounts["allocated"] or 0, 1e-9)

    def at(word: str) -> float:
        amount = amounts[word]
        return WIDE * min(1.0, (most if amount is None else amount) / most)

    words = escape(", ".join(
        f"{_word(word)} {gettext('no limit') if amount is None else f'{amount:g}'}"
        for word, amount in amounts.items()))
    return (f'<svg width="{WIDE + 2}" height="16" role="img" aria-label="{words}">'
            f'<rect x="0" y="4" width="{WIDE}" height="8" fill="#8883"/><rect x="0" y="4" '
            f'width="{at("allocated"):g}" height="8" fill="{AMOUNTS["allocated"]}"/>'
            + "".join(f'<path d="M{at(field):g} {line}" stroke="{AMOUNTS[field]}" '
                      f'stroke-width="2"/>' for field, line in LINES.items()) + "</svg>")
