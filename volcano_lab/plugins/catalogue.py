"""The extension points as one table: what is asked, how answers combine, who answers, who asks."""

from attrs import define

from volcano_lab.framework.plugin import plugin_class
from volcano_lab.framework.points.table import extension_points
from volcano_lab.plugins import BUILT_IN


@define(slots=True, frozen=True)
class Row:
    """One extension point. `switches` are the configuration's keys, of which any one lets a plugin
    take part; `default` is the result without any answer; `plugins` are those of Volcano that have
    it, `asked_by` the actions that call it.
    """

    point: str
    question: str
    rule: str
    default: str
    switches: tuple[str, ...]
    plugins: tuple[str, ...]
    asked_by: tuple[str, ...]


def table() -> list[Row]:
    """Return every extension point, in the order in which the session holds them.

    >>> row = next(row for row in table() if row.point == "overused")
    >>> row.question, row.rule, row.default, row.switches, row.plugins
    ('Has a queue all that it deserves?', 'any one suffices', 'no', ('enabledOverused',),
     ('proportion',))
    """
    classes = {name: plugin_class(name) for name in BUILT_IN}
    return [Row(name, point.sentence, point.rule, point.default, point.switches,
                tuple(plugin for plugin, cls in classes.items() if hasattr(cls, name)),
                point.asked_by) for name, point in extension_points(None).items()]
