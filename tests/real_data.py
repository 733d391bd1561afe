"""Real data sets, if they lie beside the checkout."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


def real_data(name):
    """Return the path of a real data set, or skip the test if it is not there."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path
