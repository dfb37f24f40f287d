"""The bill of materials has what the locks have, and vulnerabilities are reported."""

import json
import re
import subprocess

import pytest

from tools import audit


def test_the_bill_has_each_package_of_the_lock_with_its_hashes():
    text = audit.LOCK.read_text(encoding="utf-8")
    packages = audit.locked(text)
    assert len(packages) == len(re.findall(r"(?m)^\w\S*==", text)) > 100
    assert sum(len(package.hashes) for package in packages) == text.count("--hash=sha256:")
    bill = audit.bill(packages)
    assert [part["purl"] for part in bill["components"]] == [
        f"pkg:pypi/{package.name}@{package.version}" for package in packages]
    assert bill == audit.bill(audit.locked(text))


def test_a_line_that_pins_nothing_is_refused():
    with pytest.raises(SystemExit, match="allowed is what `make lock` writes"):
        audit.locked("numpy>=2\n")


def test_what_the_core_needs_names_a_licence():
    wanted = [re.match(r"[\w-]+", text)[0] for text in audit.metadata.requires("volcano_lab")
              if "extra ==" not in text]
    found = {name: audit.licence(name) for name in wanted}
    assert found["attrs"] == "MIT" and "BSD" in found["numpy"]
    assert not [name for name, text in found.items() if text in ("not named", "not installed here")]
    assert audit.licence("no-such-package") == "not installed here"


def test_what_has_a_known_vulnerability_is_reported(monkeypatch):
    answer = {"dependencies": [
        {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]},
        {"name": "b", "version": "1", "vulns": []}, {"name": "c", "skip_reason": "not found"}]}

    def run(*given, **more):
        return subprocess.CompletedProcess(given, 1, json.dumps(answer), "")

    monkeypatch.setattr(subprocess, "run", run)
    assert audit.advisories(audit.LOCK) == (
        ["a 1: PYSEC-1, mended in 2"], "advisories: 2 packages looked up, 1 could not be")
    answer.clear()
    assert audit.advisories(audit.LOCK)[1].startswith("advisories could not be had")
