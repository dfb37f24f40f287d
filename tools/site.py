"""Builds the site that needs no server: the documentation and, behind *Try it*, the same lessons in
the reader's browser.

`python tools/site.py` writes `build/site`; any web server, `volcano-lab site` too, shows it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]
from lite.app import KERNEL, application, keep, megabytes  # noqa: E402
from lite.wheels import ROOT, Missing  # noqa: E402

MOST_MB = 60


def built(out: Path, release: str | None, docs: bool) -> None:
    """Build the site in the folder `out` and look whether it is as it should be."""
    out.mkdir(parents=True, exist_ok=True)
    if docs:
        for language, folder in (("both", out), ("zh", out / "zh")):
            trees = ROOT / "build" / "site-parts" / f"trees-{language}"
            subprocess.run([sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning",
                            "--tag", "site", "--tag", language, "-D", "html_copy_source=0",
                            "-d", trees, ROOT / "docs", folder], check=True)
        for unneeded in out.rglob("_static/**/*.map"):
            unneeded.unlink()
        shutil.rmtree(out / "jupyter_execute", ignore_errors=True)  # Sphinx lays it beside a build
        share_source(out)
    else:
        sys.path[:0] = [str(ROOT / "docs")]
        from front import write

        write(out, site=True)
    application(ROOT / "build" / "site-parts", out / "try", release)
    keep(out)
    faults = found(out)
    if faults:
        raise Missing("; ".join(faults))


def share_source(out: Path) -> None:
    """Let the Chinese reference lead to the one copy of the modules' text."""
    shutil.rmtree(out / "zh" / "source")
    for page in (out / "zh" / "made" / "reference").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace('href="../../source/', 'href="../../../source/'),
                        encoding="utf-8")


def found(out: Path) -> list[str]:
    """What is wrong with a site, a sentence each."""
    config = json.loads((out / "try" / "jupyter-lite.json").read_text(encoding="utf-8"))
    data = config["jupyter-config-data"]
    kernel = data.get("litePluginSettings", {}).get(KERNEL, {})
    pages = [kernel.get("pyodideUrl", ""),
             kernel.get("loadPyodideOptions", {}).get("lockFileURL", "")]
    faults = [f"the configuration names {page or 'no Python'}, which is not in the site"
              for page in pages if not page or not (out / "try" / page).is_file()]
    if not kernel.get("disablePyPIFallback"):
        faults.append("the configuration lets the kernel ask a package index")
    faults += [f"{path.relative_to(out)} is a source map" for path in out.rglob("*.map")]
    size = megabytes(out)
    return faults + [f"the site has {size:.1f} MB, {MOST_MB} are allowed"] * (size > MOST_MB)


def main() -> int:
    """Build, and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", metavar="DIR")
    parser.add_argument("--pyodide", metavar="RELEASE", help="a folder or an address that has the "
                        "files of Pyodide's release  [default: a package that carries them]")
    parser.add_argument("--no-docs", action="store_true", help="the notebooks alone")
    given = parser.parse_args()
    try:
        built(given.out, given.pyodide, not given.no_docs)
    except Missing as missing:
        print(f"The site cannot be built: {missing}.", file=sys.stderr)
        return 1
    print(f"{given.out}: {megabytes(given.out):.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
