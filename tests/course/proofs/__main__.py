"""Run lessons' cells and their proofs by hand: `PYTHONPATH=tests:tools python -m course.proofs 03`.
"""

import sys

from cells import processes
from course.proofs.running import failures

if __name__ == "__main__":
    with processes(failures, sys.argv[1:]) as found:
        sys.exit("\n".join(text for lesson in found.values() for text in lesson.get()) or 0)
