"""Every argument of every plugin and action, found by asking the code: what it reads, is noted."""

from collections.abc import Callable
from typing import Any

from volcano_lab.actions import BUILT_IN as ACTIONS
from volcano_lab.cluster import Cluster
from volcano_lab.framework import Arguments, load_conf
from volcano_lab.messages.log import quiet
from volcano_lab.plugins import BUILT_IN as PLUGINS


class Noted(Arguments):
    """Arguments that note what is read of them: name -> (type, default)."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, tuple[str, Any]] = {}

    def _read(self, key: str, default: Any, fits: Callable[[Any], bool], allowed: str) -> Any:
        self.seen[key] = (type(default).__name__.replace("str", "string"), default)
        return super()._read(key, default, fits, allowed)

    def rows(self, whose: str) -> list[dict[str, Any]]:
        """What was read, a row for each argument."""
        plain = dict.fromkeys(self.asked - self.seen.keys(), ("YAML", "–")) | self.seen
        return [{"of": f"`{whose}`", "argument": f"`{key}`", "type": f"`{kind}`",
                 "default value": f"`{default}`".lower() if default != "" else "–"}
                for key, (kind, default) in sorted(plain.items()) if not key.startswith("lab.")]


def arguments() -> list[dict[str, Any]]:
    """The arguments of each plugin of Volcano's, then of each action, with type and default.

    >>> [row["default value"] for row in arguments() if row["argument"] == "`binpack.weight`"]
    ['`1`']
    """
    cluster = Cluster().node("n1", cpu=4, gpu=1).job("train", cpu=1, gpu=1)
    actions, rows = {action: Noted() for action in ACTIONS}, []
    for plugin in PLUGINS:
        conf = load_conf(f'actions: "{", ".join(ACTIONS)}"\ntiers:\n- plugins:\n'
                         f"  - name: {plugin}\n")
        conf.configurations = dict(actions)
        conf.tiers[0].plugins[0].arguments = noted = Noted()
        with quiet():
            cluster.run(conf)
        rows += noted.rows(plugin)
    return rows + [row for action, noted in actions.items() for row in noted.rows(action)]
