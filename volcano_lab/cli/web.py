"""What `volcano-lab serve` shows to a browser and to Prometheus, on the loopback address only.

`/` is a page with queues, jobs and why they wait; it refreshes itself and needs nothing from
elsewhere. `/metrics` has the series, `/state` the page's numbers as JSON.
"""

import json
import time
from collections.abc import Iterable, Mapping
from functools import partial
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Protocol
from urllib.parse import urlsplit

from attrs import Factory, asdict, define

from volcano_lab.api import quantity_text
from volcano_lab.cli.output import camel

LOOPBACK = "127.0.0.1"
HOSTS = frozenset({LOOPBACK, "localhost"})
"""The names under which the page may be asked for: a foreign name that leads here (DNS rebinding)
would let another site's page read it.
"""
IDLE = 10.0
"""Seconds after which a connection that says nothing is closed."""
STYLE = """body{font:15px/1.4 system-ui,sans-serif;margin:2em;color-scheme:light dark}
table{border-collapse:collapse;margin:.5em 0 2em}td,th{padding:.2em 1.2em .2em 0;text-align:left;
vertical-align:top;border-bottom:1px solid #8884}.n{text-align:right}
.Running,.Completed{color:#0a7d43}
.Inqueue{color:#b07400}.Pending,.problem{color:#c4372b}"""


@define(frozen=True)
class State:
    """What the page shows: the number of the last cycle, its time in seconds since 1970, rows of
    its jobs and queues, and sentences about what is wrong.
    """

    cycle: int = 0
    time: float = 0.0
    jobs: list[dict[str, Any]] = Factory(list)
    queues: list[dict[str, Any]] = Factory(list)
    problems: list[str] = Factory(list)


class Served(Protocol):
    """What is shown."""

    state: State
    series: str


class Quiet(BaseHTTPRequestHandler):
    """Keeps connections, and says nothing of requests."""

    protocol_version = "HTTP/1.1"
    server_version = "volcano-lab"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Handler(Quiet):
    """Answers GET and HEAD; anything else is refused by the base class."""

    timeout = IDLE

    def __init__(self, served: Served, *given: Any) -> None:
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
            text, kind = json.dumps(camel(asdict(self.served.state))), "application/json"
        elif path == "/":
            text, kind = page(self.served.state), "text/html"
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
    """A thread per connection; none keeps the process."""

    daemon_threads, block_on_close, request_queue_size = True, False, 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error."""


def serve_web(served: Served, port: int) -> Server | None:
    """Serve in a thread of its own; None where the port cannot be had."""
    try:
        server = Server((LOOPBACK, port), partial(Handler, served))
    except (OSError, OverflowError):
        return None
    Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    return server


def page(state: State) -> str:
    """Return the page of a state as HTML.

    >>> "<b>x</b>" in page(State(problems=["<b>x</b>"]))
    False
    """
    at = time.strftime("%H:%M:%S", time.localtime(state.time)) if state.cycle else "not yet"
    problems = "".join(f'<p class="problem">{escape(problem)}</p>' for problem in state.problems)
    jobs = _table(("job", "queue", "phase", "pods", "minimum", "placed", "pending", "why"),
                  ([row["job"], row["queue"], row["phase"], row["pods"], row["min_member"],
                    row["placed"], row["pending"], "\n".join(row["why"])] for row in state.jobs))
    queues = _table(("queue", "resource", "share", "deserved", "allocated", "request"),
                    _queues(state))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" '
        f'content="2"><title>volcano-lab serve</title><style>{STYLE}</style><h1>Cycle '
        f"{state.cycle}</h1><p>{at}; series at <a href=\"/metrics\">/metrics</a>, these numbers "
        f'at <a href="/state">/state</a></p>{problems}<h2>Jobs</h2>{jobs}<h2>Queues</h2>{queues}')


def _queues(state: State) -> Iterable[list[Any]]:
    for row in state.queues:
        for name in row["request"] | row["allocated"]:
            amounts: list[Mapping[str, Any]] = [row["deserved"], row["allocated"], row["request"]]
            if name != "pods" and any(amount.get(name) for amount in amounts):
                yield [row["queue"], name, f"{row['share']:.3g}",
                       *(quantity_text(name, amount.get(name, 0)) for amount in amounts)]


def _table(headers: Iterable[str], rows: Iterable[list[Any]]) -> str:
    head = "".join(f"<th>{header}</th>" for header in headers)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>" if body else "<p>none</p>"


def _cell(value: Any) -> str:
    text = escape(str(value)).replace("\n", "<br>")
    kind = "n" if isinstance(value, int) else text if text.isalpha() else ""
    return f'<td class="{kind}">{text}</td>'
