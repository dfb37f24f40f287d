"""Plugins as learners write them, in a cluster where they are asked."""

from volcano_lab import Cluster, Plugin
from volcano_lab.framework.registry import registered

CONF = """\
actions: "{actions}"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: predicates
  - name: mine
"""


def cluster():
    return (Cluster().node("n1", cpu=4, labels={"rack": "a"}).node("n2", cpu=8).queue("q")
            .job("old", pods=1, cpu=1).job("new", queue="q", pods=1, cpu=1))


def run(plugin, actions="enqueue, allocate", **more):
    with registered(plugin={"mine": plugin}, **more):
        return cluster().run(CONF.format(actions=actions))


class Answers:
    """A class of plugins with one method, which gives the same answer however it is asked."""

    def __class_getitem__(cls, item):
        point, answer = item
        return type("Mine", (Plugin, ),
                    {point: lambda self, *args: answer(*args) if callable(answer) else answer})


def method(name, *parameters):
    body = {}
    exec(f"def {name}({', '.join(['self', *parameters])}): return 0", body)
    return type("Mine", (Plugin,), {name: body[name]})
