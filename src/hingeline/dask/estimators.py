"""``LinearSVC``, ``LogisticRegression`` and ``LinearSVR`` on a Dask cluster."""

from __future__ import annotations

from typing import Any, ClassVar

import hingeline.estimators as local

from .on_dask import ClassifierOnDask, OnDask


class LinearSVC(ClassifierOnDask, local.LinearSVC):
    """Linear support vector classifier, trained on a Dask cluster.

    The model and its certificate are the same as on one machine. ``fit`` takes Dask arrays (dense or SciPy CSR blocks),
    Dask dataframes, lists of delayed objects or futures, dataset folders, and what ``hingeline.dask.read_svmlight``
    returns. Rows stay on their workers.

    Parameters
    ----------
    solver : {"auto", "newton", "newton_cg", "cocoa", "one_worker"}
        The method. "auto" chooses by the cost of steps, rounds and bytes; small problems are trained on one worker.
    client : dask.distributed.Client, optional
        None: the current client. If there is none, a cluster is started in this process and closed at the end.
    penalty, loss, dual, tol, gap_tol, C, multi_class, fit_intercept, intercept_scaling, class_weight, max_iter,
    max_time, warm_start, keep_dual, n_jobs, random_state, verbose
        As in ``hingeline.LinearSVC``. The penalty is "l2", several classes are trained one against the rest, and
        ``n_jobs`` is None: other values raise an error. ``max_iter`` counts iterations of the method; each takes
        several rounds. ``warm_start`` starts from the weights of the last model.

    Attributes
    ----------
    dual_coef_, support_ : Dask arrays
        As in ``hingeline.LinearSVC``, but lazy: computed on request.
    history_ : structured ndarray
        As in ``hingeline.LinearSVC``, with three more fields: seconds ``computing`` and ``communicating``, and
        ``bytes`` sent.
    coef_, intercept_, classes_, ...
        All others are as in ``hingeline.LinearSVC``.
    """

    _local = local.LinearSVC


class LogisticRegression(ClassifierOnDask, local.LogisticRegression):
    """Logistic regression, trained on a Dask cluster; several classes are trained one against the rest.

    Parameters
    ----------
    solver, client
        As in ``hingeline.dask.LinearSVC``.
    penalty, dual, tol, gap_tol, C, fit_intercept, intercept_scaling, class_weight, random_state, max_iter, max_time,
    verbose, warm_start, keep_dual, n_jobs, l1_ratio, multi_class
        As in ``hingeline.LogisticRegression``, with the restrictions of ``hingeline.dask.LinearSVC``: the multinomial
        problem is not available on Dask.

    Attributes
    ----------
    coef_, intercept_, dual_coef_, ...
        As in ``hingeline.dask.LinearSVC``.
    """

    _local = local.LogisticRegression
    _defaults: ClassVar[dict[str, Any]] = {"penalty": "l2", "multi_class": "ovr"}

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes: lazily for collections, at once for arrays."""
        return self._apply("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities: lazily for collections, at once for arrays."""
        return self._apply("predict_log_proba", X)


class LinearSVR(OnDask, local.LinearSVR):
    """Linear support vector and quantile regression, trained on a Dask cluster.

    Parameters
    ----------
    solver, client
        As in ``hingeline.dask.LinearSVC``.
    epsilon, tol, C, loss, quantile, fit_intercept, intercept_scaling, dual, verbose, random_state, max_iter, max_time,
    gap_tol, warm_start, keep_dual, n_jobs
        As in ``hingeline.LinearSVR``, with the restrictions of ``hingeline.dask.LinearSVC``.

    Attributes
    ----------
    coef_, intercept_, dual_coef_, ...
        As in ``hingeline.LinearSVR``; ``dual_coef_`` and ``support_`` are Dask arrays.
    """

    _local = local.LinearSVR
