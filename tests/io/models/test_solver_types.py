"""The table of LIBLINEAR's types agrees with LIBLINEAR, and with itself."""

import pytest
from svmlight_files import CLASSIFIERS, REGRESSIONS, liblinear

from hingeline.io.models.solver_types import SOLVER_TYPES, find_by_name, numbers_with
from hingeline.kernels.losses import EVERY_LOSS


@pytest.mark.parametrize("solver_type", SOLVER_TYPES.values(), ids=lambda known: known.name)
def test_numbers_and_tolerances_are_liblinears(solver_type):
    liblinear()
    from liblinear import liblinear as library

    parameter = library.parameter(f"-s {solver_type.number} -q")
    assert library.solver_names[solver_type.name] == solver_type.number
    # LIBLINEAR's parser sets the tolerance from the type if -e is not given.
    assert parameter.eps == pytest.approx(solver_type.eps)


def test_every_type_has_its_own_name_and_title():
    known = SOLVER_TYPES.values()
    assert [solver_type.number for solver_type in known] == list(SOLVER_TYPES)
    assert len({solver_type.name for solver_type in known}) == len({solver_type.title for solver_type in known}) == 12
    assert all(find_by_name(solver_type.name) is solver_type for solver_type in known)
    assert find_by_name("L2R_XX") is None


def test_losses_are_known_to_the_engines():
    names = {loss.name: loss.is_regression for loss in EVERY_LOSS}
    for solver_type in SOLVER_TYPES.values():
        assert names[solver_type.loss] == solver_type.is_regression


def test_what_types_can_do():
    assert numbers_with() == "0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 21"
    assert numbers_with(is_classifier=True) == ", ".join(map(str, CLASSIFIERS))
    assert numbers_with(is_regression=True) == ", ".join(map(str, REGRESSIONS))
    assert numbers_with(has_probabilities=True) == "0, 6, 7"
    assert numbers_with(can_free_bias=True) == "0, 2, 5, 6, 11"  # what LIBLINEAR's -R takes
    assert numbers_with(penalty="l1") == "5, 6"
    assert numbers_with(is_regression=True, can_search=True) == "11"


@pytest.mark.parametrize(
    ("solver_type", "n_classes", "n_outputs"), [(1, 2, 1), (1, 3, 3), (4, 2, 2), (1, 1, 1), (13, 2, 1)]
)
def test_outputs(solver_type, n_classes, n_outputs):
    assert SOLVER_TYPES[solver_type].n_outputs(n_classes) == n_outputs
