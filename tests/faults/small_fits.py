"""Run by test_memory.py in a separate process: small fits of every estimator. Prints resident memory, and threads."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from resident_memory import growth

if __name__ == "__main__":
    print(*growth(int(sys.argv[1]), int(sys.argv[2])))
