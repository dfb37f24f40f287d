# Made by tools/stubs.py from the table in __init__.py.
# ruff: noqa: I001
from volcano_lab.cache import Cache as Cache
from volcano_lab.cluster import Cluster as Cluster
from volcano_lab.debug.breakpoints import Breakpoint as Breakpoint
from volcano_lab.explain import Explainer as Explainer
from volcano_lab.explain import Timeline as Timeline
from volcano_lab.framework.action import Action as Action
from volcano_lab.framework.action import register_action as register_action
from volcano_lab.framework.config.conf import DEFAULT_CONF as DEFAULT_CONF
from volcano_lab.framework.config.conf import load_conf as load_conf
from volcano_lab.framework.config.yaml import ConfError as ConfError
from volcano_lab.framework.plugin import Plugin as Plugin
from volcano_lab.framework.plugin import register_plugin as register_plugin
from volcano_lab.framework.points.table import register_extension_point as register_extension_point
from volcano_lab.framework.registry import registered as registered
from volcano_lab.manifests.defaults import with_defaults as with_defaults
from volcano_lab.manifests.loader import ManifestError as ManifestError
from volcano_lab.manifests.loader import load as load
from volcano_lab.manifests.loader import loads as loads
from volcano_lab.manifests.writer import dump as dump
from volcano_lab.scheduler import Scheduler as Scheduler
from volcano_lab.scheduler import run_cycle as run_cycle
from volcano_lab.scheduler import traced as traced
from volcano_lab.simulation import Life as Life
from volcano_lab.simulation import Simulation as Simulation
from volcano_lab.simulation.sweep import sweep as sweep
from volcano_lab.trace import Trace as Trace
from volcano_lab.trace.stepper import Stepper as Stepper
from volcano_lab.trace.views.cycle import Cycle as Cycle
from volcano_lab.widgets.ask import open as open
from volcano_lab.widgets.cluster_lab import lab as lab
from volcano_lab.widgets.steps import stepper as stepper
from volcano_lab.widgets.table import Table as Table
from volcano_lab.debug import breakpoints as breakpoints
from volcano_lab.widgets import charts as charts
from volcano_lab.messages import log as log
from volcano_lab.debug import presets as _presets
from volcano_lab.widgets import tables as tables

symptoms = _presets
__version__: str
