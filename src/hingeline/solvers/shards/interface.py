"""The interface between rows, which live in shards, and w, which lives in the coordinator.

The coordinator (an engine of Newton's method, or the certificate) holds everything of the size of a weight vector: w, a
direction p, a Gram matrix. The shards hold the rows and everything with one entry per row: labels, C_i, alpha_i,
margins, the band. Only scalars, vectors of weights and, for few features, square matrices cross the border.

``Shards`` is the coordinator's side: each verb asks every shard and adds up the answers. There is one subclass per back
end: rows in memory on one or more threads (in_memory.py), in files (out_of_core.py), on a cluster (dask/shards.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...kernels.losses import Loss
from ...kernels.types import Indices, Matrix, Vector
from ..certificate_parts import CertificateParts
from ..newton.conjugate import conjugate_gradients
from .line import LADDER, Line, search

if TYPE_CHECKING:
    from .precise import PreciseRows

T = TypeVar("T")


class Responses(NamedTuple):
    """Summary of the responses to margins; summaries of several shards add up.

    Attributes
    ----------
    violation : largest violation that smoothing leaves
    band_size : rows in the band
    moved : rows whose band entry differs from the one in the Gram matrix
    losses, gap : sums of the losses and of the gap terms
    band : sum of C_i band_i
    """

    violation: float = 0.0
    band_size: int = 0
    moved: int = 0
    losses: float = 0.0
    gap: float = 0.0
    band: float = 0.0

    @classmethod
    def total(cls, parts: Iterable[Responses]) -> Responses:
        """Return the responses of all parts together."""
        violations, *sums = zip(*parts, strict=True)
        return cls(max(violations), *map(sum, sums))


class Comparison(NamedTuple):
    """What proposed dual variables certify: largest violation, gap terms, and Z'(what was clipped), if anything was."""

    violation: float
    gap: float
    excess: Vector | None


class Extension(NamedTuple):
    """What rows that are put back into the band change: see ``Shards.extend``.

    Attributes
    ----------
    n_rows : how many these are
    moved : by how many more rows the band now differs from the one in the Gram matrix
    v : Z'(what their variables would be beyond their bounds)
    """

    n_rows: int
    moved: int
    v: Vector


class Shards(ABC):
    """The rows of one problem. Verbs of Newton's method may be called after ``begin``.

    Attributes
    ----------
    loss : Loss
    n_rows, n_weights : int
        Weights include the intercept's, which comes last.
    n_stored : int
        Stored values of X.
    longest : float
        Length of the longest row.
    bias : float
        Value of the constant feature whose weight is the intercept's.
    """

    loss: Loss
    n_rows: int
    n_weights: int
    n_stored: int
    longest: float
    bias: float
    is_remote: bool = False  # asking costs a round of messages, whatever is asked for

    # The certificate.

    @abstractmethod
    def is_any_alpha(self) -> bool:
        """Tell whether any dual variable is not zero."""

    @abstractmethod
    def alpha_lengths(self) -> float:
        """Return the sum of |alpha_i| |x_i|."""

    @abstractmethod
    def weights(self, out: Vector | None = None) -> Vector:
        """Return Z' alpha, in ``out`` if given."""

    @abstractmethod
    def certify(self, w: Vector) -> CertificateParts:
        """Return the largest violation, the losses and the gap terms at fixed weights w."""

    def certify_with_weights(self, w: Vector) -> tuple[CertificateParts, Vector]:
        """Return the certificate's parts at w, and Z' alpha: one pass over the rows, if passes are expensive."""
        return self.certify(w), self.weights()

    # The dual variables as a whole.

    @abstractmethod
    def copy_alpha(self) -> Any:
        """Return a copy of the dual variables for ``set_alpha``; it may be stored where the rows are."""

    @abstractmethod
    def set_alpha(self, copy: Any) -> None:
        """Set the dual variables to what ``copy_alpha`` has returned."""

    @abstractmethod
    def reset_alpha(self) -> None:
        """Reset the dual variables to where training begins: zero, except for rows of zeros."""

    @abstractmethod
    def balance(self) -> None:
        """Make the dual variables satisfy the constraint of a free intercept (balance.py)."""

    # Dual ascent on several machines. Other back ends use engines that see the rows.

    def begin_ascent(self, seed: int) -> tuple[int, int]:
        """Begin rounds of dual ascent at the current alpha.

        Returns how many groups of rows ascend at the same time, and how many pieces a sweep has.
        """
        raise NotImplementedError

    def ascend(self, w: Vector, sigma: float, n_pieces: int, complete: bool) -> tuple[Any, Vector]:
        """Let each group ascend from w = Z' alpha against its local problem, as if others did the same.

        They do some pieces of sweeps. If ``complete``, the next sweep that begins visits every variable.
        Returns what they have seen (``dask.ascent.Ascended``), and Z'(change of alpha). The change is a proposal.
        """
        raise NotImplementedError

    def take(self, share: float) -> None:
        """Add this fraction of the proposed change to alpha."""
        raise NotImplementedError

    def last_round(self) -> tuple[float, float]:
        """Return the seconds that the last verb took: computing, and all the rest."""
        raise NotImplementedError

    # Newton's method.

    @abstractmethod
    def begin(self, w: Vector, delta: float) -> tuple[Responses, Vector]:
        """Place the margins at w, smooth at width ``delta``; returns the responses and Z' alpha.

        The smoothing is centred at alpha, or in the middle of the box if alpha is zero.
        """

    @abstractmethod
    def project(self, p: Vector, taus: Vector) -> Matrix:
        """Keep t = Zp; returns first and second derivative of the losses along m - tau t, for each of ``taus``."""

    @abstractmethod
    def derivatives(self, taus: Vector) -> Matrix:
        """Return first and second derivative of the losses along m - tau t, one row for each of ``taus``."""

    @abstractmethod
    def respond(self, tau: float, afresh: bool = False) -> tuple[Responses, Vector]:
        """Move the margins by tau t; returns the responses there and Z'(change of alpha), or Z' alpha if ``afresh``."""

    def move(self, p: Vector, line: Line, afresh: bool) -> tuple[float, Responses, Vector]:
        """Go along p to the minimum: ``project``, ``step_to_minimum`` and ``respond`` in one; returns the step too."""
        taus = self.first_taus
        values = self.project(p, taus)
        tau = self.step_to_minimum(line, taus, values)
        return tau, *self.respond(tau, afresh)

    @abstractmethod
    def place(self, w: Vector) -> None:
        """Recompute the margins at w: long steps have left rounding errors in them. Call ``respond`` afresh next."""

    @abstractmethod
    def recentre(self, delta: float) -> tuple[Responses, Vector]:
        """Centre the smoothing at the current alpha, with width ``delta``; returns the responses and Z' alpha."""

    def extend(self) -> Extension | None:
        """Put the rows that a new stage has taken out of the band back into it, as if their variables had no bounds.

        The next direction is then the one to the stage's minimum, if the same variables are free there. Call it after
        ``recentre``, and ``respond`` afresh if the direction is not taken. None: the rows stay as they are.
        """
        return None

    @abstractmethod
    def add_gram(self, G: Matrix, afresh: bool) -> None:
        """Bring G = sum_i C_i band_i z_i z_i' (upper triangle) up to date, or sum it up ``afresh`` into zeros.

        Call it before ``project``: it overwrites what ``project`` keeps.
        """

    @abstractmethod
    def sampled_gram(self, G: Matrix, size: int, seed: int) -> None:
        """Add the Gram matrix of a random sample of about ``size`` rows of the band, scaled up to all of it, to G.

        Call it before ``project``: it overwrites what ``project`` keeps.
        """

    @abstractmethod
    def curvature_times(self, v: Vector) -> Vector:
        """Return sum_i C_i band_i z_i <z_i, v>."""

    @abstractmethod
    def curvature_diagonal(self) -> Vector:
        """Return the diagonal of sum_i C_i band_i z_i z_i'."""

    def solve_by_products(
        self, r: Vector, diagonal: Vector, scale: float, free: bool, enough: float, most: int
    ) -> tuple[Vector, Vector, int]:
        """Solve (I + scale sum_i C_i band_i z_i z_i') p = -r by conjugate gradients.

        They are preconditioned by the ``diagonal``. I has no 1 for the last weight if that is ``free``. ``enough``,
        ``most`` and what is returned are those of ``conjugate_gradients``.
        """

        def product(d: Vector) -> Vector:
            out = scale * self.curvature_times(d)
            out[: d.size - free] += d[: d.size - free]
            return out

        return conjugate_gradients(product, lambda r: r / diagonal, r, enough, most)

    @abstractmethod
    def band_block(self) -> tuple[Matrix, Vector] | None:
        """Return the rows of the band as a dense matrix, and their C_i band_i; None if rows must stay in shards."""

    def band_entries(self) -> Vector | None:
        """Return C_i band_i of every row, in a new array; None if rows must stay in shards, or if all of them move."""
        return None

    def dense_rows(self, which: Indices) -> Matrix:
        """Return the rows ``which``, in ascending order, of Z as a dense matrix, if there are ``band_entries``."""
        raise NotImplementedError

    def precise(self) -> PreciseRows | None:
        """Return the rows for products in twice the precision; None if rows must stay in shards."""
        return None

    @abstractmethod
    def keep(self, proposed: bool = False) -> None:
        """Set alpha, which the run would return, to the responses (or to the ``proposed`` dual variables)."""

    @abstractmethod
    def propose(self, tau: float) -> None:
        """Move the proposed dual variables by the fraction tau towards what Newton's equation proposes at t = Zp.

        They begin at alpha. Call it after ``project`` and before ``respond``.
        """

    @abstractmethod
    def compare(self) -> Comparison:
        """Move the proposed dual variables into the box, and return what they certify at the current margins."""

    @abstractmethod
    def adopt(self) -> None:
        """Replace the proposed dual variables by the responses."""

    @abstractmethod
    def sample(self, step: int) -> Shards | None:
        """Return one row in ``step`` as a smaller problem with C scaled up; None if its rows have no weight."""

    def solve_sample(self, step: int, solve: Callable[[Shards], T]) -> T | None:
        """Return ``solve`` of one row in ``step``, computed where these rows are; None if they have no weight.

        ``solve`` may run in another process, so it must be a module's function, or a ``partial`` of one.
        """
        part = self.sample(step)
        return None if part is None else solve(part)

    @abstractmethod
    def losses_at_zero(self) -> float:
        """Return the sum of the losses at w = 0."""

    @abstractmethod
    def mean_margin_at_zero(self) -> float:
        """Return the mean of |m_i| at w = 0: the unit in which widths of the smoothing are measured."""

    @property
    def first_taus(self) -> Vector:
        """The steps to pass to ``project``: one, or a ladder if a call costs more than its evaluations."""
        return LADDER[:1]

    def step_to_minimum(self, line: Line, taus: Vector, values: Matrix) -> float:
        """Return the step along the line to the minimum; ``values`` are what ``project`` returned for ``taus``."""
        return search(self.derivatives, line, taus, values)

    def whole_step(
        self, w: Vector, v: Vector, accuracy: float, damping: float, free: bool
    ) -> tuple[float, float, float, Responses] | None:
        """Do a whole Newton step in one call, if the problem is small enough; updates w and v = Z' alpha.

        ``free`` leaves the intercept out of the regulariser; some row must be in the band then. Returns the decrease
        that the direction promised (times two), the step along it, the Hessian's condition, and the responses.
        """
        return None
