"""The command in this process, as if it was called in a shell of 80 columns."""

import io
import os
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from subprocess import CompletedProcess
from unittest import mock

from volcano_lab.cli import main


def volcano_lab_command(*arguments, input=""):
    words, out, err = [*map(str, arguments)], io.StringIO(), io.StringIO()
    with (mock.patch.dict(os.environ, {"COLUMNS": ""}), warnings.catch_warnings(action="error"),
          mock.patch.object(sys, "stdin", io.StringIO(input)), redirect_stdout(out),
          redirect_stderr(err)):
        code = main(words)
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())
