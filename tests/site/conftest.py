"""The site, built without the documentation, and a Chromium; skipped, with the reason, where its
packages cannot be fetched.
"""

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from browser.conftest import browser  # noqa: F401 a fixture

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of a site that was built just now, once for all processes of a run."""
    base = tmp_path_factory.getbasetemp()
    out = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built-site"
    words = [sys.executable, ROOT / "tools" / "site.py", "--no-docs", "--out", out]
    with open(Path(tempfile.gettempdir()) / "volcano-lab-site.lock", "w") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)  # packages are fetched into one folder
        if (out / "files.json").exists():  # written last
            return out
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode and ": pip " in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return out
