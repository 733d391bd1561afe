"""What workers load first: they share the compile cache of the tests, and compile each kernel once."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import compile_once

compile_once.install()
