"""Workflows run pinned actions with the least rights, and issue forms are what GitHub reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

GITHUB = Path(__file__).parents[2] / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
         if path.stem != "config"]


def names(paths):
    return [path.stem for path in paths]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=names(WORKFLOWS))
def test_each_action_is_pinned_by_a_commit_and_says_its_version(workflow):
    used = re.findall(r"uses: (.*)", workflow.read_text(encoding="utf-8"))
    assert [line for line in used if not re.fullmatch(
        r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=names(WORKFLOWS))
def test_a_workflow_says_its_rights_and_each_job_has_a_time_limit(workflow):
    read = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert read["permissions"] and "write-all" not in str(read["permissions"])
    limits = {name: job.get("timeout-minutes") for name, job in read["jobs"].items()}
    assert None not in limits.values(), limits


def test_only_publishing_has_the_right_to_publish():
    jobs = yaml.safe_load((GITHUB / "workflows" / "release.yml").read_text())["jobs"]
    assert {name: job.get("permissions") for name, job in jobs.items()} == {
        "build": None, "publish": {"id-token": "write"}}
    assert jobs["publish"]["needs"] == "build"


@pytest.mark.parametrize("form", FORMS, ids=names(FORMS))
def test_an_issue_form_has_what_github_asks_for(form):
    read = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert read["name"] and read["description"]
    fields = [part for part in read["body"] if part["type"] != "markdown"]
    identities = [part["id"] for part in fields]
    assert len(set(identities)) == len(identities) > 0
    assert all(part["attributes"]["label"] for part in fields)
