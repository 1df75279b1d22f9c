"""Matrices that metrics start from or stay close to, and square roots of metrics."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from sklearn.datasets import make_spd_matrix
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from .exceptions import NonPSDError


def zero_up_to(w: np.ndarray) -> float:
    """Return the size below which an eigenvalue is rounding."""
    return float(np.abs(w).max() * len(w) * np.finfo(w.dtype).eps)


def check_eigenvalues(w: Any, tol: float | None = None) -> bool:
    """Return whether eigenvalues are those of a positive definite matrix.

    Raises
    ------
    NonPSDError
        If one is below -tol. If tol is None, it is a few units of rounding.
    """
    if tol is not None and tol < 0:
        raise ValueError("tol should be positive.")
    w = np.asarray(w, dtype=np.float64)
    tol = zero_up_to(w) if tol is None else tol
    if (w < -tol).any():
        raise NonPSDError()
    return bool((w > tol).all())


def pseudo_inverse(w: np.ndarray, V: np.ndarray, tol: float | None = None) -> np.ndarray:
    """Return the pseudo-inverse of V diag(w) V'."""
    tol = zero_up_to(w) if tol is None else tol
    large = np.abs(w) > tol
    return (V[:, large] / w[large]) @ V[:, large].T


def components_from_metric(metric: np.ndarray, tol: float | None = None) -> np.ndarray:
    """Return a matrix L with L'L = metric, both of shape (d, d)."""
    metric = np.atleast_2d(metric)
    if not np.allclose(metric, metric.T):
        raise ValueError("The input metric should be symmetric.")
    diagonal = np.diag(metric)
    if np.array_equal(metric, np.diag(diagonal)):
        check_eigenvalues(diagonal, tol)
        return np.diag(np.sqrt(np.maximum(diagonal, 0)))
    w, V = np.linalg.eigh(metric)
    check_eigenvalues(w, tol)
    return np.sqrt(np.maximum(w, 0))[:, None] * V.T


def different_points(data: np.ndarray) -> np.ndarray:
    """Return the different points of points or tuples."""
    return np.unique(data.reshape(-1, data.shape[-1]), axis=0) if data.ndim == 3 else data


def start_matrix(
    data: np.ndarray, init: Any = "identity", random_state: Any = None, strict_pd: bool = False, name: str = "matrix"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrix that init means, and its inverse or pseudo-inverse.

    Parameters
    ----------
    data : ndarray
        Points or tuples.
    init : {"identity", "covariance", "random"} or ndarray of shape (d, d)
        The matrix.
    random_state : int, RandomState or None
        Source of random numbers.
    strict_pd : bool
        Whether a singular matrix is an error. Else it is a warning.
    name : str
        Name of the parameter, for messages.
    """
    size = data.shape[-1]
    if isinstance(init, np.ndarray):
        return _given_matrix(init, size, strict_pd, name)
    if not isinstance(init, str) or init not in ("identity", "covariance", "random"):
        raise ValueError(f"`{name}` must be 'identity', 'covariance', 'random' or a numpy array of shape (n_features, n_features).")
    if init == "identity":
        return np.eye(size), np.eye(size)
    if init == "random":
        matrix = make_spd_matrix(n_dim=size, random_state=check_random_state(random_state))
        return matrix, np.linalg.inv(matrix)
    covariance = np.atleast_2d(np.cov(different_points(data), rowvar=False))
    w, V = np.linalg.eigh(covariance)
    if not check_eigenvalues(w):
        if strict_pd:
            raise LinAlgError(
                f"Unable to get a true inverse of the covariance matrix since it is not definite. Try another `{name}`, "
                f"or an algorithm that does not require the `{name}` to be strictly positive definite."
            )
        warnings.warn(
            "The covariance matrix is not invertible: using the pseudo-inverse instead."
            "To make the covariance matrix invertible you can remove any linearly dependent features and/or reduce the "
            "dimensionality of your input, for instance using `sklearn.decomposition.PCA` as a preprocessing step.",
            UserWarning,
            stacklevel=3,
        )
    return pseudo_inverse(w, V), covariance


def _given_matrix(matrix: np.ndarray, size: int, strict_pd: bool, name: str) -> tuple[np.ndarray, np.ndarray]:
    matrix = check_array(matrix, copy=True)
    if matrix.shape != (size, size):
        raise ValueError(
            f"The input dimensionality {matrix.shape} of the given mahalanobis matrix `{name}` must match "
            f"the dimensionality of the given inputs ({size})."
        )
    if not np.allclose(matrix, matrix.T):
        raise ValueError(f"`{name}` is not symmetric.")
    w, V = np.linalg.eigh(matrix)
    if not check_eigenvalues(w):
        if strict_pd:
            raise LinAlgError(
                f"You should provide a strictly positive definite matrix as `{name}`. This one is not definite. Try another {name}, "
                f"or an algorithm that does not require the {name} to be strictly positive definite."
            )
        warnings.warn("The initialization matrix is not invertible: using the pseudo-inverse instead.", UserWarning, stacklevel=4)
    return matrix, pseudo_inverse(w, V)


def start_name(has_classes: bool, n_features: int, n_samples: int, n_components: int, n_classes: int) -> str:
    """Return what init="auto" means."""
    if has_classes and n_components <= min(n_features, n_classes - 1):
        return "lda"
    return "pca" if n_components < min(n_features, n_samples) else "identity"


def start_map(n_components: int, data: np.ndarray, y: Any = None, init: Any = "auto", random_state: Any = None, has_classes: bool = True) -> np.ndarray:
    """Return the linear map that init means, of shape (n_components, d)."""
    size = data.shape[-1]
    if isinstance(init, np.ndarray):
        return _given_map(init, n_components, size)
    names = ["auto", "pca", "identity", "random"] + ["lda"] * has_classes
    if not isinstance(init, str) or init not in names:
        texts = "', '".join(names)
        raise ValueError(f"`init` must be '{texts}' or a numpy array of shape (n_components, n_features).")
    points = different_points(data)
    if init == "auto":
        init = start_name(has_classes, size, len(points), n_components, len(np.unique(y)) if has_classes else -1)
    if init == "identity":
        return np.eye(n_components, size)
    if init == "random":
        return check_random_state(random_state).standard_normal((n_components, size))
    if init == "pca":
        return PCA(n_components, random_state=random_state).fit(points).components_
    found = LinearDiscriminantAnalysis(n_components=None).fit(data, y).scalings_.T[:n_components]
    return np.concatenate([found, np.zeros((n_components - len(found), size))])


def _given_map(matrix: np.ndarray, n_components: int, size: int) -> np.ndarray:
    matrix = check_array(matrix, copy=True)
    rows, columns = matrix.shape
    if columns != size:
        raise ValueError(
            f"The input dimensionality ({columns}) of the given linear transformation `init` must match the dimensionality "
            f"of the given inputs `X` ({size})."
        )
    if rows > columns:
        raise ValueError(
            f"The output dimensionality ({rows}) of the given linear transformation `init` cannot be greater than its "
            f"input dimensionality ({columns})."
        )
    if rows != n_components:
        raise ValueError(
            f"The preferred dimensionality of the projected space `n_components` ({n_components}) does not match the output "
            f"dimensionality of the given linear transformation `init` ({rows})!"
        )
    return matrix


def checked_components(n_features: int, n_components: Any) -> int:
    """Return the number of components, that of the features for None."""
    if n_components is None:
        return n_features
    if not isinstance(n_components, numbers.Integral) or not 1 <= int(n_components) <= n_features:
        raise ValueError(f"Invalid n_components, must be in [1, {n_features}]")
    return int(n_components)
