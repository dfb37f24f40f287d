"""The command as a process of its own."""

import os
import subprocess
import sys


def volcano_lab_command(*arguments, input=None):
    environment = os.environ | {"COLUMNS": "", "PYTHONWARNINGS": "error"}
    return subprocess.run([sys.executable, "-m", "volcano_lab.cli", *map(str, arguments)],
                          capture_output=True, text=True, input=input, env=environment, check=False)
