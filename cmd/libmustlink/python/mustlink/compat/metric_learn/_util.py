"""Checks of input, with the messages of metric-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_X_y

from . import _matrices
from ._matrices import components_from_metric as components_from_metric
from .exceptions import PreprocessorError

# Names of metric-learn.
_check_sdp_from_eigen = _matrices.check_eigenvalues
_pseudo_inverse_from_eig = _matrices.pseudo_inverse
_check_n_components = _matrices.checked_components
_auto_select_init = _matrices.start_name


def _initialize_metric_mahalanobis(input: Any, init: Any = "identity", random_state: Any = None, return_inverse: bool = False, strict_pd: bool = False, matrix_name: str = "matrix") -> Any:
    """Return the matrix that init means, and with return_inverse its (pseudo-)inverse."""
    matrix, inverse = _matrices.start_matrix(input, init, random_state, strict_pd, matrix_name)
    return (matrix, inverse) if return_inverse else matrix


def check_input(
    input_data: Any,
    y: Any = None,
    preprocessor: Any = None,
    type_of_inputs: Any = "classic",
    tuple_size: int | None = None,
    accept_sparse: bool = False,
    dtype: Any = "numeric",
    order: str | None = None,
    copy: bool = False,
    force_all_finite: Any = True,
    multi_output: bool = False,
    ensure_min_samples: int = 1,
    ensure_min_features: int = 1,
    y_numeric: bool = False,
    estimator: Any = None,
) -> Any:
    """Check points ("classic") or tuples ("tuples"), form them by a preprocessor, and check y.

    Parameters
    ----------
    input_data : array-like
        Points of shape (n, d) or tuples of shape (n, tuple_size, d); with a preprocessor also
        indices of shape (n,) or (n, tuple_size).
    y : array-like of shape (n,), default=None
        Labels, or signs of tuples.
    preprocessor : callable, default=None
        Returns the points of indices.
    type_of_inputs : {"classic", "tuples"}
        What input_data holds.
    tuple_size : int, default=None
        Number of points of a tuple; None: any.
    accept_sparse, dtype, order, copy, force_all_finite, multi_output, ensure_min_samples, \
ensure_min_features, y_numeric, estimator
        As in ``sklearn.utils.check_X_y``.

    Returns
    -------
    X or (X, y)
        What was checked, with formed points.
    """
    if not isinstance(type_of_inputs, str) or type_of_inputs not in ("classic", "tuples"):
        raise ValueError(f"Unknown value {type_of_inputs} for type_of_inputs. Valid values are 'classic' or 'tuples'.")
    options = dict(accept_sparse=accept_sparse, order=order, copy=copy, ensure_min_samples=ensure_min_samples, estimator=estimator)
    formed = dict(options, dtype=dtype, force_all_finite=force_all_finite, ensure_min_features=ensure_min_features)
    raw = formed if preprocessor is None else dict(options, dtype=None, force_all_finite=False, ensure_min_samples=0, ensure_min_features=0)
    kind, context = _KINDS[type_of_inputs], make_context(estimator)
    if y is None:
        data = check_array(input_data, allow_nd=True, ensure_2d=False, **raw)
    else:
        data, y = check_X_y(input_data, y, allow_nd=True, ensure_2d=False, multi_output=multi_output, y_numeric=y_numeric, **raw)
        if type_of_inputs == "tuples":
            check_y_valid_values_for_pairs(y)
    if preprocessor is not None and data.ndim == kind.dimensions - 1:
        context += " after the preprocessor has been applied"
        data = kind.form(data, preprocessor)
        kind.check(data, context, False, True)
        data = check_array(data, allow_nd=True, ensure_2d=False, **formed)
    else:
        kind.check(data, context, preprocessor is not None, preprocessor is None and data.ndim == kind.dimensions - 1)
        if preprocessor is not None:
            data = check_array(data, allow_nd=True, ensure_2d=False, **formed)
    if type_of_inputs == "tuples":
        check_tuple_size(data, tuple_size, make_context(estimator))
        if preprocessor is None and data.shape[2] < ensure_min_features:
            raise ValueError(
                f"Found array with {data.shape[2]} feature(s) (shape={data.shape}) while a minimum of {ensure_min_features} is required{make_context(estimator)}."
            )
    return data if y is None else (data, y)


_LARGEST = 1e75
"""The largest absolute value of a point: the fourth power of a larger one overflows."""


def check_size(data: np.ndarray) -> None:
    """Raise ValueError for a value that is too large, with its place: a row and column, or a tuple, point and column."""
    if data.dtype.kind != "f" or not (np.abs(data) > _LARGEST).any():
        return
    place = np.argwhere(np.abs(data) > _LARGEST)[0]
    names = ("row", "column") if data.ndim == 2 else ("tuple", "point", "column")
    where = ", ".join(f"{name} {k}" for name, k in zip(names, place))
    raise ValueError(f"{where}: value is {data[tuple(place)]}: want at most {_LARGEST:g} in absolute value, since fourth powers overflow")


class _Kind:
    """What an input holds: the dimensions of its array, and its words in messages."""

    def __init__(self, what: str, dimensions: int, form: Any):
        self.what, self.dimensions, self.form = what, dimensions, form

    def check(self, data: np.ndarray, context: str, or_indices: bool, advise: bool) -> None:
        """Raise ValueError if the array has another number of dimensions."""
        if data.ndim == self.dimensions:
            return
        words = f"{self.dimensions}D array of formed {self.what}"
        if or_indices:
            words = f"{self.dimensions - 1}D array of indicators or {words}"
        raise ValueError(
            f"{words} expected{context}{' when using a preprocessor' * or_indices}. Found {data.ndim}D array instead:\n"
            f"input={data}. Reshape your data{' and/or use a preprocessor' * advise}.\n"
        )


def preprocess_tuples(tuples: np.ndarray, preprocessor: Any) -> np.ndarray:
    """Return the points of tuples of indices."""
    try:
        return np.stack([np.asarray(preprocessor(tuples[:, i])) for i in range(tuples.shape[1])], axis=1)
    except Exception as error:
        raise PreprocessorError(error) from error


def preprocess_points(points: np.ndarray, preprocessor: Any) -> np.ndarray:
    """Return the points of indices."""
    try:
        return np.asarray(preprocessor(points))
    except Exception as error:
        raise PreprocessorError(error) from error


_KINDS = {"classic": _Kind("points", 2, preprocess_points), "tuples": _Kind("tuples", 3, preprocess_tuples)}


def check_tuple_size(tuples: np.ndarray, tuple_size: int | None, context: str) -> None:
    """Raise ValueError if tuples have another number of points."""
    if tuple_size is not None and tuples.shape[1] != tuple_size:
        raise ValueError(
            f"Tuples of {tuple_size} element(s) expected{context}. Got tuples of {tuples.shape[1]} element(s) instead "
            f"(shape={tuples.shape}):\ninput={tuples}.\n"
        )


def check_y_valid_values_for_pairs(y: Any) -> None:
    """Raise ValueError if y has other values than 1 and -1."""
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("When training on pairs, the labels (y) should contain only values in [-1, 1]. Found an incorrect value.")


def check_collapsed_pairs(pairs: np.ndarray) -> None:
    """Raise ValueError if a pair has twice the same point."""
    collapsed = int((pairs[:, 0] == pairs[:, 1]).all(axis=1).sum())
    if collapsed:
        raise ValueError(f"{collapsed} collapsed pairs found (where the left element is the same as the right element), out of {len(pairs)} pairs in total.")


def make_name(estimator: Any) -> str | None:
    """Return the name of an estimator, which may be a name already."""
    return estimator if estimator is None or isinstance(estimator, str) else type(estimator).__name__


def make_context(estimator: Any) -> str:
    """Return " by NAME" for messages, or nothing for None."""
    name = make_name(estimator)
    return "" if name is None else f" by {name}"


def validate_vector(u: Any, dtype: Any = None) -> np.ndarray:
    """Return u as a vector."""
    vector = np.atleast_1d(np.asarray(u, dtype=dtype).squeeze())
    if vector.ndim > 1:
        raise ValueError("Input vector should be 1-D.")
    return vector
