"""`volcano-lab site`: the built folder, with the types and headers that browsers insist on."""

import threading
import urllib.error
import urllib.request

import pytest

from volcano_lab.cli import Mistake, main
from volcano_lab.cli.site import server

FILES = {"index.html": "text/html", "try/jupyter-lite.json": "application/json",
         "try/python.wasm": "application/wasm", "try/python.mjs": "text/javascript",
         "try/service-worker.js": "text/javascript", "try/numpy.whl": "application/zip"}


@pytest.fixture
def address(tmp_path):
    (tmp_path / "try").mkdir()
    for name in FILES:
        (tmp_path / name).write_text(name)
    with server(str(tmp_path), "127.0.0.1", 0) as running:
        threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()


@pytest.mark.long
def test_each_file_comes_with_its_type(address):
    for name, kind in FILES.items():
        with urllib.request.urlopen(address + name, timeout=5) as answer:
            assert (answer.read().decode(), answer.headers["Content-Type"]) == (name, kind)
            assert answer.headers["Cache-Control"] == "no-cache"


@pytest.mark.long
def test_nothing_outside_of_the_folder_is_served(address):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(address + "../../etc/passwd", timeout=5)


@pytest.mark.long
def test_a_folder_without_a_site_and_a_port_that_is_taken_are_one_sentence(
        address, tmp_path, capsys):
    assert main(["site", str(tmp_path / "none")]) == 2
    assert "`make site`" in capsys.readouterr().err
    with pytest.raises(Mistake, match="cannot be served on"):
        server(str(tmp_path), "127.0.0.1", int(address.rstrip("/").rpartition(":")[2]))
