"""The operators: `operators.toml` as classes of objects, with what their operator does with them.

The file defines each key; the functions that it names find the pods of an object.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from volcano_lab.manifests.operators import flows, gangs, spark
from volcano_lab.manifests.operators.model import KINDS, Operator, OperatorObject
from volcano_lab.trace.plain import grouped

READERS = {reader.__name__: reader for reader in (
    gangs.ray, gangs.replica_specs, gangs.kubedl, gangs.mpi, gangs.leader_worker_set,
    gangs.model_serving, spark.spark, spark.flink, flows.train_job, flows.job_set,
    flows.job_flow, flows.cron_job, flows.scheduled, flows.workflow)}
"""Name in the file -> the function that finds the pods, or the created objects."""

OPERATORS: dict[type[OperatorObject], Operator] = {}


def _add(kind: str, where: str, row: dict) -> None:
    """Add a kind: a class of objects defined by this table, not by that of the API."""
    group = row["versions"][0].rpartition("/")[0]
    name = f"{group.split('.')[-2].title()}{kind}" if kind in globals() else kind
    part_type: Any = type(OperatorObject)
    cls = part_type(name, (OperatorObject,), {
        "__doc__": f"A {kind} ({row['versions'][0]}).", "__module__": __name__,
        "__annotations__": {}}, kind=kind, namespaced=row.get("namespaced", True))
    cls.api_versions = tuple(row["versions"])
    globals()[name] = KINDS[group, kind] = cls
    OPERATORS[cls] = Operator(where=where, **row)


_FILE = tomllib.loads(Path(__file__).with_name("operators.toml").read_text("utf-8"))
for _row in _FILE["operator"]:
    _row["reader"] = READERS.get(_row.pop("reader", ""))
    for _kind, _where in _row.pop("kinds").items():
        _add(_kind, _where, _row)

NAMED_BY = grouped((row.label, cls.kind) for cls, row in OPERATORS.items() if row.label)
"""Label of a pod with the name of the object that it was created for -> the kinds of such objects.
"""
REFUSING = {code: re.compile(pattern) for code, pattern in _FILE["refusing"].items()}
"""Why the API server refuses what a controller creates: a code -> its answer."""
