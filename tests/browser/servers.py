"""A JupyterLab, a Notebook 7 or a Voila on 127.0.0.1, serving a copy of a folder of notebooks, with
settings of its own.

The copy has no stored outputs, unless they are asked for: old ones would make a notebook that does
not run look as if it had.
"""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import nbformat

SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode":
                                               "none"},  # cells out of sight stay in the page
}


def copy_without_outputs(source, target):
    """Copy a folder of notebooks, each with its code cells without outputs."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))
    for path in Path(target).rglob("*.ipynb"):
        notebook = nbformat.read(path, 4)
        notebook.metadata.pop("widgets", None)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        nbformat.write(notebook, path)


@dataclass
class Server:
    """A running JupyterLab (`kind` "lab"), Notebook 7 ("notebook") or Voila ("voila") on a copy of
    a folder of notebooks.
    """

    kind: str
    port: int
    token: str
    root: Path
    process: subprocess.Popen
    log: Path

    def url(self, notebook):
        """Where the notebook, a path relative to the folder, is shown."""
        where = {
            "lab": f"lab/tree/{notebook}?reset&", "notebook": f"notebooks/{notebook}?", "voila":
            f"voila/render/{notebook}?"
        }
        return f"http://127.0.0.1:{self.port}/{where[self.kind]}token={self.token}"

    def api(self, path, method="GET"):
        """What the server's REST interface answers."""
        url = f"http://127.0.0.1:{self.port}/api/{path}?token={self.token}"
        with urllib.request.urlopen(urllib.request.Request(url, method=method),
                                    timeout=10) as answer:
            return json.loads(answer.read() or "null")

    def sessions(self, notebook):
        """The notebook's sessions, each with its kernel, in JupyterLab."""
        return [session for session in self.api("sessions") if session["path"] == notebook]

    def answers(self):
        """Whether the server listens; raises where its process has ended."""
        if self.process.poll() is not None:
            raise RuntimeError(
                f"{self.kind} ended with {self.process.returncode}:\n{self.log.read_text()[-3000:]}"
            )
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True


@contextlib.contextmanager
def serve(kind, notebooks, theme="JupyterLab Light", outputs=False):
    """Serve a copy of the folder `notebooks` with "lab", "notebook" or "voila" until the block
    ends; with the stored outputs if they are asked for.
    """
    with tempfile.TemporaryDirectory(prefix="volcano-lab-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        if outputs:
            shutil.copytree(notebooks, home / "work", ignore=shutil.ignore_patterns(".*"))
        else:
            copy_without_outputs(notebooks, home / "work")
        themed = {"@jupyterlab/apputils-extension/themes": {"theme": theme}}
        for plugin, values in (SETTINGS | themed).items():
            file = home / "settings" / f"{plugin}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        folders = {
            "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR":
            "runtime", "IPYTHONDIR": "ipython", "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces"
        }
        env = os.environ | {"JUPYTER_PREFER_ENV_PATH": "1"
                            } | {name: str(home / sub) for name, sub in folders.items()}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        token, log = secrets.token_hex(8), home / "server.log"
        with log.open("w") as sink:
            process = subprocess.Popen(_command(kind, port, token, home / "work"), env=env,
                                       cwd=home / "work", stdout=sink, stderr=subprocess.STDOUT)
        server = Server(kind, port, token, home / "work", process, log)
        try:
            deadline = time.monotonic() + 90
            while not server.answers():
                if time.monotonic() > deadline:
                    raise TimeoutError(
                        f"{kind} does not listen after 90 s:\n{log.read_text()[-3000:]}")
                time.sleep(0.1)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _command(kind, port, token, root):
    bin_folder = Path(sys.executable).parent
    common = ["--no-browser", f"--port={port}"]
    if kind == "voila":
        return [
            bin_folder / "voila", root, *common, "--Voila.ip=127.0.0.1", f"--Voila.token={token}",
            "--show_tracebacks=True", "--VoilaConfiguration.strip_sources=False"
        ]
    return [
        bin_folder / "jupyter", kind, *common, "--ip=127.0.0.1", "--allow-root",
        "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={root}", "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True"
    ]
