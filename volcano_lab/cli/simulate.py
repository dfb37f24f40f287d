"""`volcano-lab simulate`: the jobs of a cluster over time, and how long they wait."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from volcano_lab.cli import DONE, Mistake
from volcano_lab.cli.inputs import cluster_of
from volcano_lab.cli.output import show

_LENGTH = re.compile(r"(?:(uniform|exponential):)?([0-9.]+)(s|m|h|d|)(?:\.\.([0-9.]+)(s|m|h|d|))?")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_RATE = re.compile(r"([0-9.]+)/(s|m|h|d)")


def simulate(files: Sequence[str], conf: str | None, output: str, recursive: bool,
             context: str | None, **time: Any) -> int:
    """Run and print a simulation. Raises `Mistake`."""
    history = cluster_of(files, conf, recursive, context).simulate(**over_time(**time))
    data = {"cluster": history.measures("cluster")[0], "queues": history.measures("queues"),
            "jobs": history.measures("jobs")}
    if output == "name":
        print("\n".join(f"job/{row['job']}" for row in data["jobs"]
                        if row["state"] == "waiting"))
    else:
        show(output, data, history)
    return DONE


def over_time(until: str | None, arrivals: str | None, duration: str | None, failures: str | None,
              period: str | None, seed: int) -> dict[str, Any]:
    """Return the arguments of a simulation. Raises `Mistake`."""
    return {
        "until": until and seconds(until, "--until"), "arrivals": coming(arrivals),
        "durations": duration and length(duration, "--duration"),
        "failures": failures and [length(each, "--failures") for each in failures.split(",")],
        "period": period and seconds(period, "--period"), "seed": seed}


def coming(text: str | None) -> float | Path | None:
    """Return a rate in jobs per second, or the file of a trace.

    >>> coming("30/h") == 30 / 3600, coming("jobs.swf")
    (True, PosixPath('jobs.swf'))
    """
    if text is None or text == "created":
        return None
    found = _RATE.fullmatch(text)
    return float(found[1]) / _UNITS[found[2]] if found else Path(text)


def length(text: str, option: str) -> float | tuple[Any, ...]:
    """Return a duration, or its distribution.

    >>> length("90s", "--duration"), length("exponential:10m", "--duration")
    (90.0, ('exponential', 600.0))
    """
    found = _LENGTH.fullmatch(text)
    try:
        kind, *numbers = found.groups()
        first, last = (float(numbers[at]) * _UNITS[numbers[at + 1]] if numbers[at] else None
                       for at in (0, 2))
    except (AttributeError, ValueError):
        raise Mistake('{option} is "{text}"; allowed is SECONDS, 90s, 10m, 2h, exponential:10m or '
                      "uniform:1m..5m", option=option, text=text) from None
    if kind is None:
        return first
    return (kind, first) if last is None else (kind, first, last)


def seconds(text: str, option: str) -> float:
    """Return a single number of seconds."""
    found = length(text, option)
    if isinstance(found, tuple):
        raise Mistake('{option} is "{text}"; allowed is SECONDS, 90s, 10m, 2h or 1d',
                      option=option, text=text)
    return found
