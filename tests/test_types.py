"""What a type checker sees of the package, as a plugin's author would see it."""

import pytest
from mypy import api

BEGIN = """
from volcano_lab.api.objects import Node, NodeStatus, ObjectMeta
from volcano_lab.framework import Plugin
"""


def found(line: str) -> str:
    """Return what mypy says of a line; "" where it has nothing to say."""
    said, problems, _ = api.run(["--config-file=", "--follow-imports=silent",
                                 "--no-error-summary", "-c", BEGIN + line])
    assert not problems
    return said


@pytest.mark.slow
@pytest.mark.parametrize("line", [
    'Node(ObjectMeta("a", labels={"zone": "a"}), status=NodeStatus({}, {"cpu": "4"}))',
    'ObjectMeta(name="a", generation=2).evolve(namespace="team").key.upper()',
    'Plugin().ssn.jobs["default/a"].pod_group.spec.queue.upper()'])
def test_what_is_right_has_no_error(line):
    assert found(line) == ""


@pytest.mark.slow
@pytest.mark.parametrize(("line", "name"), [
    ('ObjectMeta(nmae="a")', "nmae"), ('NodeStatus(allocatable={"cpu": 4})', "int"),
    ('Plugin().ssn.jobs["default/a"].nmae', "nmae")])
def test_a_mistake_is_an_error(line, name):
    assert name in found(line)
