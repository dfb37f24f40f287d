"""The lab of lesson 05, edited by name instead of with its form."""

from attrs import asdict

from volcano_lab.course.lesson_05.lab import QueueRow


def edit(lab, name, **words):
    """Change what is named of a queue, or add the queue."""
    known = {row["name"]: row for row in lab.values["tree"]}
    row = asdict(QueueRow(**{**known.get(name, {"name": name}), **words}))
    return lab.set(tree=list((known | {name: row}).values()))


def remove(lab, name):
    """Take a queue away; those below it stay, and name a parent that is gone."""
    return lab.set(tree=[row for row in lab.values["tree"] if row["name"] != name])
