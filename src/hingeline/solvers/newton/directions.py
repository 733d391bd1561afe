"""Newton's direction: (I + Z_B' S Z_B) p = -residual, over the rows B of the band and their curvatures S.

By a Cholesky factor in the smaller of the two dimensions, or by conjugate gradients if both are large.
"""

from __future__ import annotations

from contextlib import nullcontext
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ...kernels.types import Matrix, Vector
from ...runtime.blas import blas_threads
from ..driver import Run
from ..shards.interface import Shards
from .conjugate import steps_worth
from .factor import factored
from .kept_factor import WORTH_KEEPING, KeptFactor
from .regulariser import Regulariser

LARGEST_FACTOR = 2_000  # rows of a dense Cholesky factor: about 0.1 s, during which Ctrl-C waits
LARGEST_BLOCK = 20_000_000  # entries of a dense block of rows
WORTH_BLAS_THREADS = 500  # rows of a Cholesky factor
FORCING = 0.1  # fraction of the residual that conjugate gradients may leave
MOST_PRODUCTS = 250  # of conjugate gradients per step
DAMPING = (1e-14, 1e-2)  # fraction of its diagonal added to the Hessian: least (rounding) and most
HEALTHY = 1e11  # condition number up to which a factor needs neither scaling nor refinement
SHORT_STEP, LONG_STEP = 1e-4, 0.5  # step lengths below which damping grows, and above which it falls
SPARSE_PAIR, DENSE = 15.0, 0.9  # products of BLAS per pair of a sparse row in a Gram matrix; share of stored values
TINY = 10_000  # rows times columns, up to which bookkeeping does not pay


class Curved(NamedTuple):
    """What the search for a direction needs to know about a point.

    Attributes
    ----------
    residual : w - Z' alpha
    scale : curvature of a row over C_i times its entry in the band
    delta : width of the smoothing
    band_size : rows in the band
    moved : rows whose band entry differs from the one in the Gram matrix
    is_flat : whether the objective has no curvature along a free intercept
    """

    residual: Vector
    scale: float
    delta: float
    band_size: int
    moved: int
    is_flat: bool

    def is_descent(self, p: Vector) -> bool:
        """Tell whether p is finite and leads downwards."""
        return -inf < float(self.residual @ p) < 0.0


class Directions:
    """Finds directions of descent for the rows of ``shards``.

    Attributes
    ----------
    damping : fraction of its diagonal that is added to the next Hessian
    condition : largest ratio of a diagonal entry to its pivot in the last Hessian, scaled
    """

    def __init__(self, shards: Shards, run: Run, regulariser: Regulariser) -> None:
        self._shards, self._run, self._regulariser = shards, run, regulariser
        self._is_tiny = is_tiny(shards)
        self.damping, self.condition = DAMPING[0], 1.0
        self._is_healthy = False  # whether the last factor is that of the Hessian as it is
        self.forget()

    def forget(self) -> None:
        """Forget the Gram matrix: the band has changed unseen."""
        self._G: Matrix = np.zeros((0, 0))
        self._H: Matrix = np.empty((0, 0))  # room for the Hessian and its factor
        self._kept: KeptFactor | None = None

    @np.errstate(over="ignore", invalid="ignore")  # very narrow smoothing may overflow: such directions are not taken
    def find(self, at: Curved) -> tuple[Vector, Vector | None]:
        """Solve (I + Z_B' S Z_B) p = -residual; returns p, and the equation's residual if p is not exact.

        Uses a Cholesky factor in the smaller of the two dimensions, or conjugate gradients. If rounding leaves no
        descent direction, p is the negative gradient with each entry divided by its curvature.
        """
        if at.is_flat:
            return self._if_flat(at), np.full_like(at.residual, inf)
        p, left = self._by_factor(at)
        if p is None or not at.is_descent(p):
            p, left = self._by_products(at)
        if not at.is_descent(p):
            p = -at.residual / self._diagonal(at)
            left = np.full_like(p, inf)  # the equation is not solved at all
        return p, left

    def _if_flat(self, at: Curved) -> Vector:
        """Return the direction of the intercept alone or of all other weights, whichever promises more."""
        p, lacking = -at.residual, float(at.residual[-1])
        p[-1] = 0.0
        alone = np.zeros_like(p)
        alone[-1] = -np.sign(lacking) * (at.delta or 1.0) / self._shards.bias
        return alone if lacking * alone[-1] < float(at.residual @ p) else p

    def _by_factor(self, at: Curved) -> tuple[Vector | None, Vector | None]:
        """Return the direction by a Cholesky factor, None if it is too large or there is none, and what is left."""
        n_weights, scale = self._shards.n_weights, at.scale
        smaller = n_weights if self._shards.is_remote else min(n_weights, at.band_size)
        if smaller > LARGEST_FACTOR or (smaller < n_weights and smaller * n_weights > LARGEST_BLOCK):
            return None, None
        if smaller == n_weights or n_weights <= 64 or self._by_weights_is_cheaper(at):
            G = self._gram(at)
            known = None if self._kept is None else self._kept.solve(G, scale, -at.residual)
            if known is not None:
                return known
            self._kept = None
            if self._H.shape != G.shape:
                self._H = np.empty_like(G)
            H = np.multiply(scale, G, out=self._H)
            self._regulariser.add_curvature(H.reshape(-1)[:: n_weights + 1])
            return self._from_hessian(H, at), None
        if at.band_size == 0:
            return -at.residual, None
        block = self._shards.band_block()
        return None if block is None else self._from_block(*block, at), None

    def _by_weights_is_cheaper(self, at: Curved) -> bool:
        """Tell whether a factor over the weights costs less than one over the rows of the band, which are fewer.

        Between two directions few rows enter or leave the band, and only these change the Gram matrix over the weights.
        That of the rows is made anew each time.
        """
        shards, n, size = self._shards, self._shards.n_weights, at.band_size
        per_row = shards.n_stored / shards.n_rows
        pairs = 0.5 * n * n if per_row > DENSE * n else SPARSE_PAIR * 0.5 * per_row * per_row
        counted = size if len(self._G) != n else min(at.moved, size)
        return n**3 / 6.0 + counted * pairs < 0.5 * size * size * n + size**3 / 6.0

    def _from_hessian(self, H: Matrix, at: Curved) -> Vector | None:
        """Return the direction from the upper triangle of H.

        A free intercept is eliminated last: without it, no eigenvalue is below 1.
        """
        if not self._regulariser.is_free:
            p = self._solved(H.T, -at.residual[:, None], least=1.0)
            self._keep(at)
            return None if p is None else p[:, 0]
        h, curvature = H[:-1, -1], float(H[-1, -1])
        solved = self._solved(H.T[:-1, :-1], np.column_stack([-at.residual[:-1], h]), least=1.0)
        if solved is None:
            return None
        p, per_unit = solved.T
        left = max(0.0, curvature - float(h @ per_unit)) + self.damping * curvature
        self.condition = max(self.condition, curvature / left)
        intercept = (-float(at.residual[-1]) - float(h @ p)) / left
        return np.append(p - intercept * per_unit, intercept)

    def _from_block(self, Z: Matrix, band: Vector, at: Curved) -> Vector | None:
        """Return the direction by the rows of the band, Z, and their C_i times their entries in it."""
        curvatures = at.scale * band
        least = 1.0 / float(curvatures.max())
        if not self._regulariser.is_free:
            K = Z @ Z.T
            K.flat[:: len(K) + 1] += 1.0 / curvatures
            q = self._solved(K, (Z @ at.residual)[:, None], least)
            return None if q is None else np.asarray(Z.T @ q[:, 0] - at.residual)
        X, constant, residual = Z[:, :-1], Z[:, -1], at.residual[:-1]
        K = X @ X.T
        K.flat[:: len(K) + 1] += 1.0 / curvatures
        solved = self._solved(K, np.column_stack([X @ residual, constant]), least)
        if solved is None:
            return None
        q, per_unit = solved.T  # alpha changes by -q + (the intercept's weight) per_unit
        intercept = (float(constant @ q) - float(at.residual[-1])) / float(constant @ per_unit)
        return np.append(X.T @ (q - intercept * per_unit) - residual, intercept)

    def _solved(self, H: Matrix, B: Matrix, least: float) -> Matrix | None:
        """Return H^-1 B by a Cholesky factor of the lower triangle of H; None if there is none.

        The eigenvalues of H lie between ``least`` and its trace: usually that is enough to trust the factor.
        """
        n_threads = self._run.team.n_threads if len(H) >= WORTH_BLAS_THREADS else 1
        with blas_threads(n_threads) if n_threads > 1 else nullcontext():
            diagonal, self._is_healthy = H.diagonal().copy(), False
            if self.damping == DAMPING[0] and float(diagonal.sum()) <= HEALTHY * least:
                factor, x, info = lapack.dposv(H, B, lower=True, overwrite_a=True)
                self._is_healthy = info == 0
                self.condition = float((diagonal / factor.diagonal() ** 2).max()) if info == 0 else inf
                return np.asarray(x) if info == 0 else None
            factor = factored(H, self.damping)
            if factor is None:
                return None
            self.condition = factor.condition
            solve = factor.solve_refined if self.damping == DAMPING[0] else factor.solve
            return np.column_stack([solve(b) for b in B.T])

    def _keep(self, at: Curved) -> None:
        """Keep the factor that ``_solved`` has left in the room for the Hessian, if it may serve again."""
        entries = self._shards.band_entries() if self._is_healthy and len(self._H) >= WORTH_KEEPING else None
        self._kept = None if entries is None else KeptFactor(self._shards, self._H.T, at.scale, entries)

    def _by_products(self, at: Curved) -> tuple[Vector, Vector]:
        """Solve approximately by conjugate gradients, preconditioned by the diagonal."""
        scale, diagonal = at.scale, self._diagonal(at)
        enough = FORCING * sqrt(float(at.residual @ at.residual))
        how = (diagonal, scale, self._regulariser.is_free, enough, MOST_PRODUCTS)
        p, left, n_products = self._shards.solve_by_products(at.residual, *how)
        self._run.effort += n_products * steps_worth(at.band_size, self._shards.n_rows)
        return p, left

    def _diagonal(self, at: Curved) -> Vector:
        """Return the Hessian's diagonal."""
        diagonal = at.scale * self._shards.curvature_diagonal()
        self._regulariser.add_curvature(diagonal)
        return diagonal

    def _gram(self, at: Curved) -> Matrix:
        """Return sum over the band of C_i z_i z_i': updated by the rows that entered or left, or anew if cheaper."""
        n = self._shards.n_weights
        afresh = self._is_tiny or len(self._G) != n or at.moved >= at.band_size
        if afresh:
            self._G = np.zeros((n, n))
        self._shards.add_gram(self._G, afresh)
        return self._G

    def damp(self, tau: float) -> None:
        """Choose the damping of the next direction: more after a short step that rounding may have caused."""
        if tau < SHORT_STEP and self.condition > HEALTHY:
            self.damping = min(DAMPING[1], 100.0 * self.damping)
        elif tau > LONG_STEP:
            self.damping = max(DAMPING[0], 0.1 * self.damping)


def is_tiny(shards: Shards) -> bool:
    """Tell whether a problem is so small that bookkeeping costs more than it saves."""
    return shards.n_rows * (shards.n_weights - 1) < TINY
