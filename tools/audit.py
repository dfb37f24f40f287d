"""What the locks bring with them: bill of materials, licences, vulnerabilities (`make audit`).

Writes `build/sbom.json` (CycloneDX 1.5, from the locks alone) and `build/licences.txt` (from what
is installed), and asks `pip-audit` for advisories. Ends with 1 where a package has a known
vulnerability.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from importlib import metadata
from pathlib import Path

from attrs import define

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "all.txt"
PIP_AUDIT = "pip-audit@2.9.0"


@define(frozen=True)
class Package:
    """A package of a lock: on which platforms and Pythons (`marker`), and the files' SHA-256."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def locked(text: str) -> list[Package]:
    """Return the packages of a lock, in its order.

    >>> locked("a==1.0 ; sys_platform == 'darwin' \\\\\\n    --hash=sha256:0f\\n")
    [Package(name='a', version='1.0', marker="sys_platform == 'darwin'", hashes=('0f',))]
    """
    found = []
    for entry in re.split(r"\n(?=\w)", text.replace("\\\n", " ").strip()):
        head = re.match(r"([\w.-]+)==([^\s;]+)\s*(?:;\s*(.*?))?\s*(?=--hash|$)", entry)
        if head is None:
            raise SystemExit(f"{entry[:60]!r} in a lock is no name==version; allowed is what "
                             "`make lock` writes")
        hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]+)", entry))
        found.append(Package(head[1], head[2], head[3] or "", hashes))
    return found


def licence(name: str) -> str:
    """Return the licence that an installed package names, "not installed here" or "not named"."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return "not installed here"
    classifiers = [text.rpartition(" :: ")[2] for text in about.get_all("Classifier") or ()
                   if text.startswith("License :: ")]
    written = (about.get("License") or "").strip().splitlines()
    short = written[0] if len(written) == 1 and len(written[0]) < 60 else ""
    short = "" if short == "UNKNOWN" else short
    return about.get("License-Expression") or short or " or ".join(classifiers) or "not named"


def bill(packages: list[Package]) -> dict:
    """Return the bill of materials as CycloneDX has it; the same lock gives the same bill."""
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "volcano_lab"}},
        "components": [{
            "type": "library", "bom-ref": purl, "name": package.name, "version": package.version,
            "purl": purl,
            "hashes": [{"alg": "SHA-256", "content": text} for text in package.hashes],
            "properties": [{"name": "marker", "value": package.marker}] if package.marker else [],
        } for package in packages if (purl := f"pkg:pypi/{package.name}@{package.version}")],
    }


def advisories(lock: Path) -> tuple[list[str], str]:
    """Return a sentence for each known vulnerability, and one about what could not be looked up."""
    command = [Path(sys.executable).with_name("uvx"), PIP_AUDIT, "--requirement", lock, "--format",
               "json", "--require-hashes", "--disable-pip", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        rows = json.loads(done.stdout)["dependencies"]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return [], (f"advisories could not be had ({type(error).__name__}): "
                    "none of them was looked up")
    found = [f"{row['name']} {row['version']}: {entry['id']}, mended in "
             f"{', '.join(entry['fix_versions']) or 'no version yet'}"
             for row in rows for entry in row.get("vulns", ())]
    skipped = sum("skip_reason" in row for row in rows)
    return found, f"advisories: {len(rows) - skipped} packages looked up, {skipped} could not be"


def main() -> int:
    packages = locked(LOCK.read_text(encoding="utf-8"))
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    (build / "sbom.json").write_text(json.dumps(bill(packages), indent=1) + "\n", encoding="utf-8")
    by_licence = defaultdict(list)
    for package in packages:
        by_licence[licence(package.name)].append(f"{package.name} {package.version}")
    lines = [f"{name}: {', '.join(members)}" for name, members in sorted(by_licence.items())]
    (build / "licences.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(*(f"{len(members):4} {name}" for name, members in
            sorted(by_licence.items(), key=lambda row: -len(row[1]))), sep="\n")
    found, told = advisories(LOCK)
    print(f"{len(packages)} packages: build/sbom.json, build/licences.txt", told, *found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
