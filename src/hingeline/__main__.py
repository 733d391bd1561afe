"""Run the command line: ``python -m hingeline``."""

import sys

from hingeline.cli import main

if __name__ == "__main__":
    sys.exit(main())
