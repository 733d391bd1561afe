"""``OnDask``: what makes an estimator of one machine one that trains and predicts on a Dask cluster."""

from __future__ import annotations

from copy import copy
from inspect import Parameter, signature
from typing import Any, ClassVar

import dask.array as da
import numpy as np
from distributed import Client
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ..estimators.callbacks import EachSweep
from ..estimators.certified import from_zero
from ..estimators.checkpoint import Start
from ..estimators.watch import Watch
from ..runtime.training_clock import now
from ..solution import Solution
from . import lazy
from .clients import some_client, submit
from .inputs import is_collection, partitions_of
from .partitions import Block, Partitions
from .target import Target
from .train import SOLVERS, train
from .training_set import ClusterSet, classified

ON_THE_CLUSTER = ("dual_coef_", "support_")  # attributes that have one entry per row
UNCHANGED = {
    "penalty": "l2",
    "l1_ratio": 0.0,
    "multi_class": "ovr",
    "n_jobs": None,
    "device": None,
}  # parameters whose other values are for one machine


class OnDask:
    """Trains on partitions, and predicts lazily. Comes before the single-machine class among the bases."""

    _local: ClassVar[Any]  # the class of one machine
    _defaults: ClassVar[dict[str, Any]] = {}  # of parameters, that differ from those of one machine
    _depth_of_fit = 7
    _limits: ClassVar[dict[str, list[Any]]] = {}  # constraints on parameters, likewise

    def __init__(self, *args: Any, client: Client | None = None, **parameters: Any) -> None:
        super().__init__(*args, **{**self._defaults, **parameters})
        self.client = client

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        if not hasattr(cls, "_local"):  # for others to build on
            return
        local = signature(cls._local)
        known = [p.replace(default=cls._defaults.get(p.name, p.default)) for p in local.parameters.values()]
        client = Parameter("client", Parameter.KEYWORD_ONLY, default=None, annotation="Client | None")
        cls.__signature__ = local.replace(parameters=[*known, client])  # type: ignore[attr-defined]
        cls._parameter_constraints = {  # type: ignore[attr-defined]
            **cls._local._parameter_constraints,
            "solver": [StrOptions(set(SOLVERS))],
            "client": [Client, None],
            **cls._limits,
        }

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*cls._local._get_param_names(), "client"])

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : Dask array or dataframe, list of delayed or futures, path of a dataset folder, or array
            Dask arrays may have dense blocks or SciPy CSR blocks. The rows are checked on the workers and stay there.
        y : the same kinds of collections, with the partitions of X
            Not needed for a dataset folder or delayed tuples (X, y), which hold it already.
        sample_weight : the same kinds of collections, optional
            Multiplies C row by row; a row with weight zero is ignored.

        Returns
        -------
        self
        """
        self._validate_params()  # type: ignore[attr-defined]
        self._refuse_what_is_for_one_machine()
        with some_client(self.client) as (client, own):
            partitions = partitions_of(client, X, y, sample_weight, targets=not is_classifier(self))
            self._fit_partitions(partitions)
            if own and hasattr(self, "dual_coef_"):  # the cluster ends here
                self._set_dual_coef(da.from_array(self.dual_coef_.compute(scheduler=client)))
        return self

    def _fit_partitions(self, partitions: Partitions) -> None:
        super().fit(partitions, None)  # type: ignore[misc]

    def _refuse_what_is_for_one_machine(self) -> None:
        for name, value in UNCHANGED.items():
            if getattr(self, name, value) != value:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not available on Dask, where it must be {value!r}. Use "
                    f"hingeline.{type(self).__name__}."
                )
        if any(not isinstance(callback, EachSweep) for callback in getattr(self, "_skl_callbacks", ())):
            raise ValueError(
                "scikit-learn's callbacks and Checkpoint are not available on Dask: pass plain callables, which get "
                "the progress of each round."
            )

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Any:
        return ClusterSet(X)

    def _previous(self, rows: Any) -> Start:
        """Return where problems start from: the weights of the last model if ``warm_start`` is on."""
        if not (self.warm_start and self._has_model_of(rows)):  # type: ignore[attr-defined]
            return from_zero
        weights = self._weights(self._bias())  # type: ignore[attr-defined]
        return lambda problem, k: {"w0": weights[k]}

    def _how(self) -> dict[str, Any]:
        """Return the arguments for ``train``."""
        me: Any = self
        how = {name: getattr(me, name) for name in ("solver", "tol", "gap_tol", "max_iter", "max_time")}
        return {**how, "bias": me._bias(), "free": me._intercept_is_free()}

    def _train(self, rows: Any, start: Start, watch: Watch) -> list[Solution]:
        """Train the problems one after the other: each of them has the whole cluster."""
        me: Any = self
        loss, stop, begun, how = me._loss(), me._stop(), now(), self._how()
        seeds = check_random_state(me.random_state).randint(2**31 - 1, size=rows.n_problems)
        watch.begin(rows.n_problems, rows.names)
        solutions = []
        for k in range(rows.n_problems):
            with watch.problem(k) as callback:
                how["max_time"] = stop.after(now() - begun).max_time  # it is for the whole fit
                found = train(
                    rows.data,
                    rows.target(k),
                    loss,
                    class_weight=rows.class_weight(k),
                    callback=callback,
                    seed=int(seeds[k]),
                    **how,
                    **start(None, k),
                )
                signed = [
                    submit(rows.data.client, "dual-coef", signed_alpha, alpha, part, rows.target(k))
                    for alpha, part in zip(found.alpha, rows.data.parts, strict=True)
                ]
                solutions.append(Solution(**{**vars(found), "alpha": signed}))
        return solutions

    def _keep(self, rows: Any, solutions: list[Solution]) -> None:
        me: Any = self
        me._keep_runs(rows.known, solutions)
        me.history_ = joined([s.history for s in solutions])
        weights = np.array([s.w for s in solutions])
        me.coef_ = weights if hasattr(me, "classes_") else weights[0]
        me.intercept_ = np.array([s.intercept for s in solutions])
        problems = [
            da.concatenate(
                [da.from_delayed(a, (n,), np.float64) for a, n in zip(s.alpha, rows.data.n_rows, strict=True)]
            )
            for s in solutions
        ]
        self._set_dual_coef(problems[0] if len(problems) == 1 else da.stack(problems))

    def _set_dual_coef(self, dual_coef: da.Array) -> None:
        self.dual_coef_: Any = dual_coef
        some = dual_coef != 0.0
        self.support_ = da.flatnonzero(some if some.ndim == 1 else some.any(axis=0))

    def _advice(self, rows: Any) -> str:
        return ""

    def to_local(self, *, dual: bool = False) -> Any:
        """Return the model as a single-machine estimator: for saving, reports, and ``to_sklearn()``.

        Parameters
        ----------
        dual : bool
            Whether to bring ``dual_coef_`` and ``support_``, which have one entry per row, to this process.
        """
        check_is_fitted(self)
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        del params["client"]
        model = self._local(**params)
        if model.solver not in self._local._parameter_constraints["solver"][0].options:
            model.solver = "auto"
        learned = {name: value for name, value in vars(self).items() if name.endswith("_") and not name.startswith("_")}
        arrays = {name: learned.pop(name) for name in ON_THE_CLUSTER if name in learned}
        vars(model).update(learned)
        if dual:
            vars(model).update(zip(arrays, da.compute(*arrays.values()), strict=True))
        return model

    def _apply(self, method: str, X: Any) -> Any:
        model = self.to_local()
        if not is_collection(X):
            return getattr(model, method)(X)
        nameless = copy(model)
        vars(nameless).pop("feature_names_in_", None)
        example = getattr(nameless, method)(np.zeros((1, model.n_features_in_)))
        return lazy.apply(model, method, X, example)

    def predict(self, X: Any) -> Any:
        """Return the prediction for each row: lazily for collections, at once for arrays."""
        return self._apply("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Return the accuracy or, for a regression, R^2: a delayed float for collections, a float for arrays."""
        model = self.to_local()
        return (lazy.score if is_collection(X) else type(model).score)(model, X, y, sample_weight)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the model, without its dual variables and its client, which are on the cluster."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        for name in ON_THE_CLUSTER:
            state.pop(name, None)
        return {**state, "client": None}

    def __sklearn_clone__(self) -> Any:
        twin = super(OnDask, copy(self)).__sklearn_clone__()  # type: ignore[misc]
        return twin.set_params(client=self.client)


class ClassifierOnDask(OnDask):
    """A classifier on Dask: two classes, or several, each against the rest."""

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Any:
        return classified(X, self.class_weight)  # type: ignore[attr-defined]

    def decision_function(self, X: Any) -> Any:
        """Return the signed scores: lazily for collections, at once for arrays."""
        return self._apply("decision_function", X)


def signed_alpha(alpha: np.ndarray, block: Block, target: Target) -> np.ndarray:
    """Return alpha_i s_i, one per row."""
    return alpha * target.signs(block.y) + 0.0  # -0.0 is shown with its sign


def joined(histories: list[np.ndarray]) -> np.ndarray:
    """Return the histories of all problems as one, each record with the number of its problem."""
    kind = histories[0].dtype
    whole = np.empty(sum(map(len, histories)), dtype=[("problem", "i8"), *kind.descr])
    whole["problem"] = np.repeat(np.arange(len(histories)), [len(history) for history in histories])
    for name in kind.names or ():
        whole[name] = np.concatenate([history[name] for history in histories])
    return whole
