"""The Volcano batch scheduler as a laboratory: it decides as Volcano v1.14.0 does, and shows why.

>>> import volcano_lab
>>> cluster = volcano_lab.Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1)
>>> [row["pod"] for row in cluster.run().placements()]
['default/train-0', 'default/train-1']

Everything named here is loaded when it is first used, so that importing the package costs next to
nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "Action": "framework.action",
    "Cache": "cache",
    "Cluster": "cluster",
    "ConfError": "framework.config.conf",
    "Cycle": "trace.views.cycle",
    "DEFAULT_CONF": "framework.config.conf",
    "Explainer": "explain",
    "ManifestError": "manifests.loader",
    "Plugin": "framework.plugin",
    "Scheduler": "scheduler",
    "Simulation": "simulation",
    "Stepper": "trace.stepper",
    "Trace": "trace",
    "dump": "manifests.loader",
    "load": "manifests.loader",
    "load_conf": "framework.config.conf",
    "loads": "manifests.loader",
    "register_action": "framework.action",
    "register_extension_point": "framework.points.table",
    "register_plugin": "framework.plugin",
    "registered": "framework.registry",
    "run_cycle": "scheduler",
    "run_once": "scheduler",
    "traced": "scheduler",
    "with_defaults": "manifests.defaults",
}
"""Public name -> the module that has it."""

_MODULES = {"charts": "display.charts", "log": "framework.log", "tables": "display.tables"}
"""Public name -> the module that it is."""

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value: object = import_module(f"{__name__}.{_MODULES[name]}")
    elif name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
