"""Neighborhood components analysis."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin

from ..._estimators import NCA as _NCA
from ..._sklearn import Notice
from ._engine import directions, learned
from ._matrices import checked_components, start_map
from .base_metric import MahalanobisMixin


class NCA(MahalanobisMixin, TransformerMixin):
    """Neighborhood components analysis.

    Parameters
    ----------
    init : {"auto", "pca", "lda", "identity", "random"} or ndarray of shape (n_components, n_features)
        The result if there is nothing to learn, which is so if all or no classes are single points.
        Else it is checked, but not used: the fit starts from principal directions.
    n_components : int, default=None
        Number of components, the number of features by default.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=None
        The fit stops when five iterations gain less than this, relatively; None: 1e-6.
    verbose : bool, default=False
        Whether to print progress.
    preprocessor : array-like or callable, default=None
        The points of indices.
    random_state : int, RandomState or None, default=None
        Source of random numbers, for a random init.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The linear map.
    n_iter_ : int
        Number of iterations.
    """

    def __init__(
        self,
        init: Any = "auto",
        n_components: int | None = None,
        max_iter: int = 100,
        tol: float | None = None,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ):
        self.init = init
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from points and labels."""
        X, y = self._prepare_inputs(X, y, ensure_min_samples=2)
        size = checked_components(X.shape[1], self.n_components)
        start = start_map(size, X, y, self.init, self.random_state)
        _, counts = np.unique(y, return_counts=True)
        if len(counts) == 1 or counts.max() == 1:
            self.components_, self.n_iter_ = start, 0
            return self
        note_unused_init(self)
        learner = _NCA(dims=directions(X, size), rank=0, max_iter=self.max_iter, tol=1e-6 if self.tol is None else self.tol)
        self.components_ = learned(self, learner, X, y, rows=size)
        return self


def note_unused_init(learner: Any) -> None:
    """Say that an init is not used, if it is not the default."""
    if not isinstance(learner.init, str) or learner.init != "auto":
        warnings.warn(f"{type(learner).__name__}: init is not used: the fit starts from principal directions", Notice, stacklevel=3)
