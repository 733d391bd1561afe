"""What losses say of themselves, against what their verbs do."""

import copy
import pickle

import numpy as np
import pytest

from hingeline import EpsilonInsensitive, Hinge, SquaredEpsilonInsensitive, SquaredHinge, solve
from hingeline.kernels import losses
from hingeline.kernels.losses import EVERY_LOSS

DEFAULTS = [kind() for kind in EVERY_LOSS]


def test_losses_of_different_classes_differ():
    assert Hinge(1.0) == Hinge(1.0)
    assert Hinge(1.0) != Hinge(2.0)
    assert Hinge(1.0) != SquaredHinge(1.0)
    assert Hinge(1.0) not in [SquaredHinge(1.0)]  # which asks ==
    assert EpsilonInsensitive(1.0, 0.1) != SquaredEpsilonInsensitive(1.0, 0.1)
    assert Hinge(1.0) != (1.0,)
    assert len({*DEFAULTS, *DEFAULTS}) == len(EVERY_LOSS)
    assert hash(Hinge(1.0)) == hash(Hinge(1.0))


@pytest.mark.parametrize("loss", DEFAULTS, ids=lambda loss: loss.name)
def test_losses_are_plain_tuples_otherwise(loss):
    assert pickle.loads(pickle.dumps(loss)) == copy.deepcopy(loss) == loss
    assert type(loss._replace(C=2.0)) is type(loss)
    assert repr(loss).startswith(f"{type(loss).__name__}(C=1.0")
    with pytest.raises(AttributeError):
        loss.C = 2.0
    with pytest.raises(AttributeError):
        loss.other = 2.0


@pytest.mark.parametrize("loss", DEFAULTS, ids=lambda loss: loss.name)
def test_traits_are_true(loss):
    if loss.has_epsilon:
        loss = loss._replace(epsilon=0.5)
    assert loss.has_epsilon == ("epsilon" in loss._fields)
    assert loss.is_bounded == np.isfinite([losses.lower(loss, 1.0), losses.upper(loss, 1.0)]).all()
    assert loss.reaches_bounds == (losses.response(loss, 3.0, 1.0) == losses.upper(loss, 1.0))
    assert loss.is_regression == (losses.sign(loss, -1.0) == 1.0)
    m = np.linspace(-1.5, 1.5, 3001)
    slopes = np.array([losses.response(loss, x, 1.0) for x in m])
    assert loss.is_smooth == (np.abs(np.diff(slopes)).max() < 0.1)
    curvatures = np.diff(slopes) / np.diff(m)
    assert loss.slope_has_kinks == (np.abs(np.diff(curvatures)).max() > 0.1)
    if loss.is_smooth:
        far = losses.response(loss, 30.0, 1.0)
        assert loss.newton_overshoots == (losses.curvature(loss, 30.0, 1.0, 0.0) < 1e-6 * far)


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, np.inf, 1e-310])
@pytest.mark.parametrize("kind", EVERY_LOSS, ids=lambda kind: kind.name)
def test_C_is_checked(kind, C):
    with pytest.raises(ValueError, match="C must be a positive finite number"):
        kind(C).check()
    kind(1.0).check()


@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf])
@pytest.mark.parametrize("kind", [kind for kind in EVERY_LOSS if kind.has_epsilon], ids=lambda kind: kind.name)
def test_epsilon_is_checked(kind, epsilon):
    with pytest.raises(ValueError, match="epsilon must be finite and not negative"):
        kind(1.0, epsilon).check()
    with pytest.raises(ValueError, match="epsilon must be finite and not negative"):
        solve([[1.0], [2.0]], [1.0, 2.0], kind(1.0, epsilon))
    kind(1.0, 0.0).check()
