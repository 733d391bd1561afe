"""What LIBLINEAR's options say: its defaults, and what it refuses."""

import pytest

from hingeline.liblinear.settings import Settings

TOLERANCES = {0: 0.01, 1: 0.1, 2: 0.01, 3: 0.1, 4: 0.1, 5: 0.01, 6: 0.01, 7: 0.1, 11: 1e-4, 12: 0.1, 13: 0.1, 21: 0.01}


@pytest.mark.parametrize(("solver_type", "eps"), TOLERANCES.items())
def test_default_tolerances_are_liblinears(solver_type, eps):
    assert Settings(type=solver_type).eps == eps
    assert Settings(type=solver_type, tolerance=0.5).eps == 0.5
    Settings(type=solver_type).check()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"type": 8}, "-s 8"),
        ({"C": 0.0}, "-c 0"),
        ({"C": float("inf")}, "-c inf"),
        ({"tolerance": -1.0}, "-e -1"),
        ({"p": -0.1}, r"-p -0\.1"),
        ({"bias": float("nan")}, "-B nan"),
        ({"type": 21, "nu": 0.0}, "-n 0"),
        ({"type": 21, "bias": 1.0}, "-B 1"),
        ({"type": 2, "free_bias": True}, "-R.*-B 1"),
        ({"type": 3, "free_bias": True, "bias": 1.0}, "-R.*-s 3"),
        ({"weights": ((5, -1.0),)}, "-w5 -1"),
    ],
)
def test_refusals_name_the_option(wrong, message):
    with pytest.raises(ValueError, match=message):
        Settings(**wrong).check()
