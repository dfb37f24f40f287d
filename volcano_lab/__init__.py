"""The Volcano batch scheduler as a laboratory: it decides as Volcano v1.14.0 does, and shows why.

>>> import volcano_lab
>>> cluster = volcano_lab.Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1)
>>> [row["pod"] for row in cluster.run().placements()]
['default/train-0', 'default/train-1']

Everything named here is loaded when it is first used, so that importing the package costs next to
nothing.
"""

__version__ = "1.0.0"

_HOMES = {"Action": "framework.action", "Breakpoint": "debug.breakpoints", "Cache": "cache",
          "Cluster": "cluster", "ConfError": "framework.config.yaml", "Cycle": "trace.views.cycle",
          "DEFAULT_CONF": "framework.config.conf",
          "Explainer": "explain", "Life": "simulation", "ManifestError": "manifests.loader",
          "Plugin": "framework.plugin", "Scheduler": "scheduler", "Simulation": "simulation",
          "Stepper": "trace.stepper", "Timeline": "explain", "Trace": "trace",
          "dump": "manifests.writer", "load": "manifests.loader",
          "load_conf": "framework.config.conf", "loads": "manifests.loader",
          "register_action": "framework.action",
          "register_extension_point": "framework.points.table",
          "register_plugin": "framework.plugin", "registered": "framework.registry",
          "run_cycle": "scheduler", "sweep": "simulation.sweep",
          "traced": "scheduler", "with_defaults": "manifests.defaults"}
"""Public name -> the module that has it."""

_LAB = {"Table": "widgets.table", "lab": "widgets.cluster_lab", "open": "widgets.ask",
        "stepper": "widgets.steps"}
"""Public name -> its module, for what needs the packages of `volcano-lab[lab]`."""

_MODULES = {"breakpoints": "debug.breakpoints", "charts": "widgets.charts",
            "log": "messages.log", "symptoms": "debug.presets", "tables": "widgets.tables"}
"""Public name -> the module that it is."""

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    from difflib import get_close_matches
    from importlib import import_module

    if name in _HOMES:
        value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name in _MODULES or name in _LAB:
        module = f"{__name__}.{(_MODULES | _LAB)[name]}"
        try:
            value = import_module(module)
        except ModuleNotFoundError as error:
            if not error.name or error.name.startswith(__name__):
                raise
            from volcano_lab.messages.install import install_line

            text = (f"{module} needs {error.name}, which is not installed here: "
                    f"{install_line('lab')}")
            raise ModuleNotFoundError(text, name=error.name) from None
        value = getattr(value, name) if name in _LAB else value
    else:
        near = get_close_matches(name, __dir__(), 1)
        raise AttributeError(f"module {__name__} has no attribute {name}"
                             f"{f'; did you mean {near[0]}?' if near else ''}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return what there is to use; nothing of it is loaded before."""
    return sorted({*__all__, *_LAB, *_MODULES})
