"""`python -m volcano_lab.cli`, for systems where scripts are not on the path."""

import sys

from volcano_lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
