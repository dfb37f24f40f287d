"""What Binder does, in an empty environment here: install, start, open the first notebook; then run
each: time and memory.

Reads this folder as Binder does: `requirements.txt`, then `postBuild`. The memory is the largest
sum over the server's process and all its children, seen ten times a second. Linux only (it reads
/proc); ends with 1 above 2 GB.
"""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
LIMIT_MB = 2048
RUN = """
import sys, nbformat, nbclient
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
"""


def clone(target):
    """The files that git knows, as they stand here."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True,
                           text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def binders_python():
    """The interpreter that `runtime.txt` names or, where there is none here, this one."""
    version = (ROOT / "binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    finder = [sys.executable, ROOT / "tools" / "pythons.py", version]
    found = subprocess.run(finder, capture_output=True, check=True, text=True).stdout.strip()
    instead = f"was not found here; this rehearsal runs {sys.version.split()[0]}"
    print(f"Python        {version}, {found}" if found else f"Python        {version} {instead}")
    return found or sys.executable


def install(repository, prefix):
    """An environment made as repo2docker makes it; its environment variables."""
    subprocess.run([binders_python(), "-m", "venv", prefix], check=True)
    home = prefix.parent / "home"
    home.mkdir()
    env = os.environ | {
        "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "VIRTUAL_ENV": str(prefix), "HOME":
        str(home)
    }
    env.pop("PYTHONPATH", None)
    pip = [prefix / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-cache-dir", "-r"]
    subprocess.run([*pip, "binder/requirements.txt"], cwd=repository, env=env, check=True)
    subprocess.run(["binder/postBuild"], cwd=repository, env=env, check=True)
    return env


def memory_mb(root):
    """Resident memory of a process and its descendants, in MB; 0 once it has ended."""
    parents, pages = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1])
                pages[int(entry.name)] = int((entry / "statm").read_text().split()[1])
            except OSError:
                continue  # it ended while we looked
    family = {root} & pages.keys()
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(pages[pid] for pid in family) * os.sysconf("SC_PAGE_SIZE") / 2**20


def first_page(port, token):
    """The path of the page that opens, once the server answers."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/?token={token}",
                                        timeout=10) as answer:
                return urlsplit(answer.geturl()).path
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not answer after a minute")


def main():
    """Rehearse and print the figures."""
    with tempfile.TemporaryDirectory(prefix="volcano-lab-binder-") as folder:
        repository, prefix = Path(folder, "repository"), Path(folder, "prefix")
        clone(repository)
        started = time.monotonic()
        env = install(repository, prefix)
        print(f"installation  {time.monotonic() - started:6.1f} s")

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        token, started = secrets.token_hex(8), time.monotonic()
        server = subprocess.Popen(
            ["jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
             f"--IdentityProvider.token={token}"],
            cwd=repository, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            page = first_page(port, token)
            print(f"start         {time.monotonic() - started:6.1f} s, opens {page}")
            first = repository / page.removeprefix("/lab/tree/")
            print(f"server        {memory_mb(server.pid):6.0f} MB")
            lessons = [
                first, *(path for path in sorted(first.parent.glob("*.ipynb")) if path != first)
            ]
            return max(rehearse_notebook(lesson, env, server.pid) for lesson in lessons)
        finally:
            server.terminate()
            server.wait()


def rehearse_notebook(notebook, env, server):
    """Run a notebook beside the server, watching the memory of both; 1 where it fails or takes too
    much.
    """
    peak, done = [memory_mb(server)], threading.Event()
    started = time.monotonic()
    run = subprocess.Popen(["python", "-c", RUN, notebook], cwd=notebook.parent, env=env,
                           stderr=subprocess.PIPE, text=True)

    def watch():
        while not done.wait(0.1):
            peak.append(memory_mb(server) + memory_mb(run.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    said = run.communicate()[1]
    done.set()
    watcher.join()
    took = time.monotonic() - started
    print(f"{notebook.stem:32} {took:5.1f} s, {max(peak):5.0f} MB of {LIMIT_MB}", flush=True)
    if run.returncode:
        print(said)
    return int(bool(run.returncode) or max(peak) > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
