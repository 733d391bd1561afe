"""The verbs of every loss over arrays against those that compiled code uses, entry by entry."""

import numpy as np
import pytest
from problems import EVERY_LOSS

from hingeline.kernels import losses as scalar

M = np.array([-800.0, -40.0, -1.0, -0.3, -1e-9, 0.0, 1e-9, 0.2, 0.3, 0.7, 1.0, 5.0, 40.0, 800.0])


def cases(loss):
    """Return m, alpha, C: alpha inside the box and at its ends, rows of no weight among them."""
    C = np.array([0.7, 2.0])
    least, most = (np.array([f(loss, c) for c in C]) for f in (scalar.lower, scalar.upper))
    least, most = np.maximum(least, -3.0), np.minimum(most, 3.0)
    shares = np.array([0.0, 0.2, 0.5, 1.0])
    m, c, share = (a.ravel() for a in np.meshgrid(M, [0, 1], shares, indexing="ij"))
    alpha = least[c] + share * (most[c] - least[c])
    alpha[share == 1.0] = most[c][share == 1.0]
    weights = C[c]
    m, alpha, weights = np.append(m, [1.0, -1.0]), np.append(alpha, [0.0, 0.0]), np.append(weights, [0.0, 0.0])
    return m, alpha, weights


@pytest.mark.parametrize("name", sorted(EVERY_LOSS))
def test_verbs_are_those_of_compiled_code(library, name):
    from hingeline.arrays.losses import array_loss
    from hingeline.arrays.namespace import Place

    loss = EVERY_LOSS[name](0.7)
    m, alpha, C = cases(loss)
    there = [library.put(a) for a in (m, alpha, C)]
    verbs = array_loss(loss, Place.of(there[0]).xp)
    weighted = C > 0.0

    def check(found, verb):
        expected = np.array([verb(*case) for case in zip(m, alpha, C, strict=True) if case[2] > 0.0])
        np.testing.assert_allclose(library.back(found)[weighted], expected, rtol=1e-13, atol=1e-300)
        assert not library.back(found)[~weighted].any()

    check(verbs.primal_terms(there[0], there[2]), lambda m, a, C: scalar.primal_term(loss, m, C))
    check(verbs.gap_terms(*there), lambda m, a, C: scalar.gap_term(loss, m, a, C))
    check(verbs.gap_estimates(*there), lambda m, a, C: scalar.gap_estimate(loss, m, a, C))
    check(verbs.violations(*there), lambda m, a, C: abs(scalar.pull(loss, m, a, C)[0]))
    check(verbs.responses(there[0], there[2]), lambda m, a, C: scalar.response(loss, m, C))
    delta = 0.3
    for part in range(2):
        check(
            verbs.proximal(there[0], there[1], delta, there[2])[part],
            lambda m, a, C, part=part: scalar.proximal(loss, m, a, delta, C)[part],
        )
        check(verbs.unsettled(*there)[part], lambda m, a, C, part=part: scalar.unsettled(loss, m, a, C)[part])
    y = np.where(np.arange(m.size) % 2, 1.0, -1.0)
    found = library.back(verbs.missing(library.put(y), there[0]))
    np.testing.assert_allclose(found, [scalar.missing(loss, *case) for case in zip(y, m, strict=True)])
