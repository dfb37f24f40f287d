"""The Volcano batch scheduler as a laboratory: it decides as Volcano v1.14.0 does, and shows why.

>>> import volcano_lab
>>> cluster = volcano_lab.Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1)
>>> [row["pod"] for row in cluster.run().placements()]
['default/train-0', 'default/train-1']

Everything named here is loaded when it is first used, so that importing the package costs next to nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "Action": "framework.action",
    "Cache": "cache",
    "Cluster": "cluster",
    "ConfError": "framework.conf",
    "Cycle": "cycle",
    "DEFAULT_CONF": "framework.conf",
    "Explainer": "explain",
    "ManifestError": "manifests",
    "Plugin": "framework.plugin",
    "Scheduler": "scheduler",
    "Simulation": "simulation",
    "Stepper": "stepper",
    "Trace": "trace",
    "dump": "manifests",
    "load": "manifests",
    "load_conf": "framework.conf",
    "loads": "manifests",
    "register_action": "framework.action",
    "register_extension_point": "framework.points",
    "register_plugin": "framework.plugin",
    "run_cycle": "cycle",
    "run_once": "scheduler",
    "traced": "trace",
    "with_defaults": "defaults",
}
"""Public name -> the module that has it."""

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
