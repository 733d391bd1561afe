"""Which fits and predictions run on a device: those with dispatched arrays of other libraries, or with ``device`` set.

None of these libraries is imported here.
"""

from __future__ import annotations

from typing import Any

from sklearn import get_config

OWN = ("numpy", "scipy", "pandas", "polars", "pyarrow", "dask", "builtins")  # what every estimator reads by itself
WITHOUT_NAMESPACE = ("torch", "cupyx")  # libraries whose arrays do not declare that they follow the array API


def is_array_elsewhere(X: Any) -> bool:
    """Tell whether X is an array of a library other than NumPy that follows the array API."""
    library = type(X).__module__.split(".")[0]
    return library not in OWN and (library in WITHOUT_NAMESPACE or hasattr(X, "__array_namespace__"))


def is_dispatched(X: Any) -> bool:
    """Tell whether X is such an array, and scikit-learn's ``array_api_dispatch`` is set: results live where X does."""
    return is_array_elsewhere(X) and bool(get_config()["array_api_dispatch"])


def is_for_device(X: Any, device: str | None) -> bool:
    """Tell whether a fit to X is for a device."""
    return device is not None or is_dispatched(X)


def refuse_other_place(estimator: Any, X: Any, method: str) -> None:
    """Raise if a model lives in another library than X, which is given to its ``method`` and not dispatched."""
    coef = getattr(estimator, "coef_", None)
    if is_array_elsewhere(coef) and type(coef) is not type(X):
        library = type(coef).__module__.split(".")[0]
        raise ValueError(
            f"{other_place(estimator, method)}: the model was trained on {library} arrays and lives there, but X is "
            f"from {type(X).__module__.split('.')[0]}. Pass a {library} array, with "
            "sklearn.set_config(array_api_dispatch=True)."
        )


def other_place(estimator: Any, method: str) -> str:
    """Return what is wrong with rows that are not where a model is, in scikit-learn's words."""
    return (
        f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace and the same device as "
        "those passed to fit()"
    )
