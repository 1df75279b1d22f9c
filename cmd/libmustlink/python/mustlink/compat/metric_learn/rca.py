"""Relevant component analysis."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin

from ..._estimators import RCA as _RCA
from ..._links import Links
from ._engine import directions, learned
from ._matrices import checked_components
from .base_metric import MahalanobisMixin
from .constraints import Constraints


class RCA(MahalanobisMixin, TransformerMixin):
    """Relevant component analysis: whitens the covariance within chunks.

    Parameters
    ----------
    n_components : int, default=None
        Number of components, the number of features by default.
    preprocessor : array-like or callable, default=None
        The points of indices.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The linear map.
    """

    _singular = (
        "The inner covariance matrix is not invertible, so the transformation matrix may contain Nan values. "
        "You should remove any linearly dependent features and/or reduce the dimensionality of your input, "
        "for instance using `sklearn.decomposition.PCA` as a preprocessing step."
    )

    def __init__(self, n_components: int | None = None, preprocessor: Any = None):
        self.n_components = n_components
        self.preprocessor = preprocessor

    def fit(self, X: Any, chunks: Any) -> Any:
        """Learn from points and the number of the chunk of each, negative for none."""
        X, chunks = self._prepare_inputs(X, chunks, ensure_min_samples=2)
        return self._fit(X, chunks)

    def _fit(self, X: np.ndarray, chunks: np.ndarray) -> Any:
        size = checked_components(X.shape[1], self.n_components)
        chunks = np.asanyarray(chunks, dtype=int)
        X, chunks = X[chunks >= 0], chunks[chunks >= 0]
        _, numbers = np.unique(chunks, return_inverse=True)
        within = X - np.stack([np.bincount(numbers, column) / np.bincount(numbers) for column in X.T], axis=1)[numbers]
        if np.linalg.matrix_rank(within) < X.shape[1]:
            warnings.warn(self._singular, UserWarning, stacklevel=3)
        learner = _RCA(eps_rel=1e-14, robust=False, dims=0 if size == X.shape[1] else directions(X, size))
        self.components_ = learned(self, learner, X, links=Links.from_groups(numbers), rows=size)
        return self


class RCA_Supervised(RCA):
    """RCA on chunks that are drawn from labels.

    Parameters
    ----------
    n_components : int, default=None
        Number of components, the number of features by default.
    n_chunks : int, default=100
        Number of chunks.
    chunk_size : int, default=2
        Number of points of each.
    preprocessor : array-like or callable, default=None
        The points of indices.
    random_state : int, RandomState or None, default=None
        Source of random numbers.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The linear map.
    """

    _singular = (
        "Due to the parameters of RCA_Supervised, the inner covariance matrix is not invertible, so the transformation "
        "matrix will contain Nan values. Increase the number or size of the chunks to correct this problem."
    )

    def __init__(self, n_components: int | None = None, n_chunks: int = 100, chunk_size: int = 2, preprocessor: Any = None, random_state: Any = None):
        self.n_components = n_components
        self.n_chunks = n_chunks
        self.chunk_size = chunk_size
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from points and labels, where a negative label means that it is unknown."""
        X, y = self._prepare_inputs(X, y, ensure_min_samples=2)
        chunks = Constraints(y).chunks(self.n_chunks, self.chunk_size, self.random_state)
        return self._fit(X, chunks)
