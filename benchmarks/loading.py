"""How long manifests take to load: 10,000 simple pods from JSON (goal: 1 s as a whole process) and
YAML (goal: 5 s).
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

GOALS = {"json": 1.0, "yaml": 5.0}
LOAD = ("import sys, volcano_lab.manifests.loader as m; "
        "assert len(m.load(sys.argv[1])) == int(sys.argv[2])")


def pod(number: int) -> dict:
    """A pod like those of a batch job."""
    requests = {"cpu": "500m", "memory": f"{number % 7 + 1}Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number}",
            "namespace": "default",
            "uid": f"uid-{number}",
            "creationTimestamp": f"2026-01-01T00:00:{number % 60:02}Z",
            "annotations": {"scheduling.k8s.io/group-name": f"group-{number // 8}"},
        },
        "spec": {
            "schedulerName": "volcano",
            "priority": 10,
            "containers":
            [{"name": "main", "image": "busybox", "resources": {"requests": requests}}],
        },
        "status": {"phase": "Pending"},
    }


def seconds(path: Path, count: int) -> float:
    """A whole Python process that loads the file: the best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", LOAD, str(path), str(count)], check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main(count: int = 10_000) -> None:
    pods = [pod(number) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        files = {form: Path(folder) / f"pods.{form}" for form in GOALS}
        files["json"].write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        files["yaml"].write_text(yaml.dump_all(pods, Dumper=dumper, sort_keys=False))
        for form, goal in GOALS.items():
            print(
                f"load {count:,} pods from {form.upper()}: {seconds(files[form], count):.2f} s "
                f"(goal {goal:.1f} s)"
            )


if __name__ == "__main__":
    main()
