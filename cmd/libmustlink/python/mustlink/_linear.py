"""The matrix of a linear metric."""

from __future__ import annotations

from typing import Any

import numpy as np

# The methods whose embedding is an affine map of the prepared features, unless they have a kernel.
METHODS = frozenset({"rca", "xrca", "dca", "itml", "mmc", "lmnn", "nca", "lsml", "scml", "lfda", "sdml", "mlkr", "covariance", "raw", "xiang"})


class Metric:
    """A distance between two points, which is not changed when its estimator is.

    It can be the argument ``metric`` of scikit-learn's estimators, and it can be pickled.
    """

    def __init__(self, model: Any, components: np.ndarray | None):
        self._model, self._components = model, components

    def __call__(self, u: Any, v: Any, squared: bool = False) -> float:
        """Return the distance of two vectors, or its square."""
        u, v = _vector(u, "u"), _vector(v, "v")
        if u.shape != v.shape:
            raise ValueError(f"u has {len(u)} features and v has {len(v)}: want the same number")
        if self._components is None:
            value = float(self._model.distances(np.stack([u, v]), [(0, 1)])[0])
            return value**2 if squared else value
        if len(u) != self._components.shape[1]:
            raise ValueError(f"u has {len(u)} features: want {self._components.shape[1]}, as in fit")
        moved = self._components @ (u - v)
        value = float(moved @ moved)
        return value if squared else value**0.5


def _vector(values: Any, name: str) -> np.ndarray:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64).squeeze())
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {np.shape(values)}: want a vector")
    return array


def is_linear(method: str, kernel: str) -> bool:
    """Whether a model of this method with this kernel is an affine map."""
    return method in METHODS and kernel in ("", "linear")


def components(model: Any, who: str, columns: int, names: list[str] | None) -> np.ndarray:
    """Return the matrix L of a model with the embedding L x + c, of shape (n_components, n_features).

    It is the difference of embeddings: of the unit vectors, in units in which they are as large as
    the shift, and of their negatives. So scaling of the features is in it.

    Parameters
    ----------
    model : Model
        The model.
    who : str
        Name of the estimator, for messages.
    columns : int
        Number of features of the fit, of which the model may have left out some.
    names : list of str or None
        Names of the features, None if they have none.

    Raises
    ------
    AttributeError
        If the model is no affine map of the features.
    """
    info = model.info()
    if not is_linear(info["method"], info["kernel"]):
        kernel = f" (kernel {info['kernel']!r})" if info["kernel"] else ""
        raise AttributeError(f"{who} has no components_: method {info['method']!r}{kernel} has no matrix for the features; use transform or get_metric")
    texts = [c["name"] for c in info["columns"] or () if c["kind"] not in ("number", "boolean", "constant") and c["outputs"]]
    if texts:
        raise AttributeError(f"{who} has no components_: column {texts[0]!r} is no number; use transform or get_metric")
    known = list(range(columns)) if names is None or model.features is None else [names.index(name) for name in model.features]
    size = len(known)
    shift = model.embed(np.zeros((1, size)))
    first = np.abs(model.embed(np.eye(size)) - shift).max(axis=1)
    unit = np.ones(size)
    np.divide(np.abs(shift).max(), first, out=unit, where=first > 0)
    unit = 2.0 ** np.clip(np.ceil(np.log2(np.maximum(unit, 1))), 0, 500)
    probes = np.diag(unit)
    out = np.zeros((model.dim, columns))
    out[:, known] = ((model.embed(probes) - model.embed(-probes)) / (2 * unit[:, None])).T
    return out
