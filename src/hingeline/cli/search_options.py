"""The options of ``search``: what is searched, and how. The grid and the intercept are those of ``LinearSVCCV``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hingeline.io.models.solver_types import SOLVER_TYPES
from hingeline.solvers.engines import SOLVERS

from .options import add_seed, add_threads, non_negative_float, positive_float, positive_int, real

if TYPE_CHECKING:
    import numpy as np

    from hingeline.liblinear.settings import Settings

SEARCHED = [
    known
    for known in SOLVER_TYPES.values()
    if known.task in ("one_versus_rest", "regression") and known.penalty == "l2"
]
LOSS_OF_TYPE = {known.number: known.loss for known in SEARCHED}
REGRESSIONS = {known.loss for known in SEARCHED if known.is_regression}
C_MIN, C_MAX, N_C = 1e-4, 1e4, 10  # LinearSVCCV's
LARGEST_GRID = 1000
WEIGHT = re.compile(r"-w([+-]?\d{1,10})")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what ``search`` takes besides DATA and where results go."""
    parser.add_argument("-v", dest="folds", type=positive_int, default=5, metavar="N", help="folds")
    parser.add_argument("--c-min", type=positive_float, default=C_MIN, metavar="A", help="smallest C")
    parser.add_argument("--c-max", type=positive_float, default=C_MAX, metavar="B", help="largest C")
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--n-c", type=positive_int, default=N_C, metavar="N", help="number of values of C")
    steps.add_argument("--c-step", type=positive_float, metavar="F", help="factor from one C to the next instead")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-s", dest="type", type=int, choices=sorted(LOSS_OF_TYPE), help="loss, by LIBLINEAR's number")
    what.add_argument("--loss", choices=sorted(set(LOSS_OF_TYPE.values())), default="squared_hinge", help="by name")
    parser.add_argument("-p", dest="epsilon", type=non_negative_float, default=0.1, help="epsilon of a regression")
    parser.add_argument("-B", dest="bias", type=real, default=1.0, help="constant feature; negative: none")
    parser.add_argument("-R", dest="free", action="store_true", help="do not regularise its weight; needs -B 1")
    parser.add_argument(
        "--weight",
        type=_weight,
        action="append",
        default=[],
        metavar="LABEL=W",
        help="multiply C by W for a class (--weight=-1=W if the label is negative); -wLABEL W, as train takes it, is "
        "the same",
    )
    parser.add_argument("--solver", choices=SOLVERS, default="auto", help="engine")
    stop = parser.add_mutually_exclusive_group()
    stop.add_argument("--tol", type=positive_float, default=1e-3, metavar="EPS", help="stop at this violation")
    stop.add_argument("--gap", type=positive_float, metavar="G", help="stop at this relative duality gap instead")
    parser.add_argument("--scoring", help="name of a scikit-learn scorer (default: accuracy, or r2)")
    add_threads(parser)
    add_seed(parser, "of the folds and of the engines")
    parser.add_argument("--no-early-stop", action="store_true", help="try larger C even if they can no longer win")


def with_weights(words: Sequence[str]) -> list[str]:
    """Return a command line with each ``-wLABEL W``, which argparse cannot read, as ``--weight=LABEL=W``."""
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        match = WEIGHT.fullmatch(word)
        found.append(word if match is None else f"--weight={match[1]}={next(rest, '')}")  # a label may be negative
    return found


def _weight(text: str) -> tuple[int, float]:
    label, _, factor = text.partition("=")
    if not re.fullmatch(r"[+-]?\d{1,10}", label):
        raise argparse.ArgumentTypeError(f"expected LABEL=W with a whole number as the label, got {text!r}")
    if not factor:
        raise argparse.ArgumentTypeError(f"the weight of the label {label} is missing")
    return int(label), non_negative_float(factor)


def check(args: argparse.Namespace) -> None:
    """Fill in the loss; end with a usage error if options do not fit together."""
    args.loss = args.loss if args.type is None else LOSS_OF_TYPE[args.type]
    if args.weight and args.loss in REGRESSIONS:
        args.parser.error("--weight: a regression has no classes to weight")
    if args.free and args.bias != 1.0:
        args.parser.error("-R: there is no bias to leave unregularised; add -B 1")
    if args.free and not any(known.loss == args.loss and known.can_free_bias for known in SEARCHED):
        args.parser.error(f"-R: not available for the loss {args.loss}")


def grid_of(args: argparse.Namespace) -> np.ndarray:
    """Return the values of C; the last one is at most C_max."""
    import numpy as np

    if args.c_max < args.c_min:
        args.parser.error(f"--c-max {args.c_max:g} is below --c-min {args.c_min:g}")
    if args.c_step is None:
        exponents = np.log10(args.c_min), np.log10(args.c_max)
        return np.unique(np.logspace(*exponents, args.n_c)) if args.c_min < args.c_max else np.array([args.c_min])
    if args.c_step <= 1.0:
        args.parser.error(f"--c-step {args.c_step:g}: expected a factor above one")
    steps = np.log(args.c_max / args.c_min) / np.log(args.c_step)
    if steps >= LARGEST_GRID:
        args.parser.error(f"--c-step {args.c_step:g} makes more than {LARGEST_GRID} values of C: choose a larger step")
    return args.c_min * args.c_step ** np.arange(int(steps + 1e-9) + 1.0)


def estimator_of(args: argparse.Namespace, grid: np.ndarray, y: np.ndarray) -> Any:
    """Return the estimator whose study the search fills in."""
    from sklearn.model_selection import KFold, StratifiedKFold

    from hingeline import LinearSVCCV, LinearSVRCV, LogisticRegressionCV

    if not 2 <= args.folds <= y.size:
        raise ValueError(f"-v {args.folds}: {y.size} rows can be cut into 2 to {y.size} folds.")
    kind: Any = LinearSVCCV
    splitter: Any = StratifiedKFold
    own: dict[str, Any] = {"loss": args.loss, "class_weight": dict(class_weights(args)) or None}
    intercept: bool | str = "free" if args.free else args.bias > 0.0
    if args.loss == "logistic":  # as LIBLINEAR trains it
        kind = LogisticRegressionCV
        own["multi_class"] = "ovr"
        intercept = "regularised" if intercept is True else intercept
        del own["loss"]
    elif args.loss in REGRESSIONS:
        kind, splitter, own = LinearSVRCV, KFold, {"loss": args.loss, "epsilon": args.epsilon}
    return kind(
        Cs=grid,
        cv=splitter(args.folds, shuffle=True, random_state=args.seed),
        scoring=args.scoring,
        solver=args.solver,
        tol=args.tol,
        gap_tol=args.gap,
        fit_intercept=intercept,
        intercept_scaling=max(args.bias, 0.0) or 1.0,
        random_state=args.seed,
        **own,
    )


def class_weights(args: argparse.Namespace) -> list[tuple[int, float]]:
    """Return each label's weight; those of a label that is named twice are multiplied, as in LIBLINEAR."""
    found: dict[int, float] = {}
    for label, factor in args.weight:
        found[label] = found.get(label, 1.0) * factor
    return list(found.items())


def settings_of(args: argparse.Namespace, C: float) -> Settings:
    """Return what ``train`` is to do with the C that was chosen."""
    from hingeline.liblinear.settings import Settings

    fitting = [known for known in SEARCHED if known.loss == args.loss and (known.can_free_bias or not args.free)]
    number = args.type
    if number is None or not any(known.number == number for known in fitting):
        number = min(fitting, key=lambda known: (not known.dual, known.number)).number
    return Settings(
        type=number,
        C=C,
        p=args.epsilon,
        tolerance=args.tol,
        bias=args.bias if args.bias > 0.0 else -1.0,
        free_bias=args.free,
        weights=tuple(class_weights(args)),
        solver=args.solver,
        gap=args.gap,
        threads=args.threads,
        seed=args.seed,
    )
