"""`volcano-lab simulate`: the jobs of a cluster over time, and how long they wait."""

from collections.abc import Sequence
from typing import Any

from volcano_lab.cli import DONE
from volcano_lab.cli.inputs import cluster_of
from volcano_lab.cli.output import show


def simulate(files: Sequence[str], conf: str | None, output: str, recursive: bool,
             context: str | None, **time: Any) -> int:
    """Run and print a simulation. Raises `WorkloadError`."""
    history = cluster_of(files, conf, recursive, context).simulate(**time)
    jobs = history.measures("jobs")
    data = {"cluster": history.measures("cluster")[0], "queues": history.measures("queues"),
            "jobs": jobs}
    show(output, data, history, [f"job/{row['job']}" for row in jobs if row["state"] == "waiting"])
    return DONE
