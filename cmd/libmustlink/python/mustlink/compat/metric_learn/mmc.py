"""Mahalanobis metric for clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin

from ..._estimators import MMC as _MMC
from ..._links import Links
from ..._tuples import separate
from ._engine import learned
from ._matrices import start_matrix
from .base_metric import MahalanobisMixin, _PairsClassifierMixin
from .itml import _fit_formed, apart, drawn_pairs


class _BaseMMC(MahalanobisMixin):
    """The fit of both classes. The problem is convex, and init only sets the scale of the result."""

    _tuple_size = 2

    def _fit(self, pairs: Any, y: Any) -> Any:
        pairs, y = self._prepare_inputs(pairs, y, type_of_inputs="tuples")
        pairs, y = apart(pairs, y)
        start, _ = start_matrix(pairs, self.init, self.random_state, name="init")
        points, rows = separate(pairs)
        learner = _MMC(diagonal=bool(self.diagonal), eps_rel=1e-9, max_iter=self.max_iter, tol=self.tol)
        found = learned(self, learner, points, links=Links(rows, y))
        near = pairs[y > 0, 1] - pairs[y > 0, 0]
        goal = self.diagonal_c / 2 if self.diagonal else np.einsum("ni,ij,nj->", near, start, near) / 100
        self.components_ = found * np.sqrt(goal / ((near @ found.T) ** 2).sum())
        return self


class MMC(_BaseMMC, _PairsClassifierMixin):
    """Mahalanobis metric for clustering, from pairs.

    The sum of the distances of dissimilar pairs is the largest, where the sum of the squared
    distances of similar ones is a hundredth of that with init, as in metric-learn. A diagonal
    metric minimizes the second sum minus diagonal_c times the logarithm of the first.

    Parameters
    ----------
    max_iter : int, default=100
        Maximum number of iterations.
    max_proj : int, default=10000
        Not used: there are no projections.
    tol : float, default=1e-3
        Relative distance to the optimum at which the fit stops.
    init : {"identity", "covariance", "random"} or ndarray of shape (n_features, n_features)
        Sets the scale of the metric. The optimum does not depend on it otherwise.
    diagonal : bool, default=False
        Whether to learn one weight for each feature.
    diagonal_c : float, default=1.0
        Weight of the dissimilar pairs for a diagonal metric, which is its scale.
    verbose : bool, default=False
        Whether to print progress.
    preprocessor : array-like or callable, default=None
        The points of indices.
    random_state : int, RandomState or None, default=None
        Source of random numbers, for a random init.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The linear map.
    threshold_ : float
        Largest distance of pairs that are predicted to be similar.
    """

    def __init__(
        self,
        max_iter: int = 100,
        max_proj: int = 10000,
        tol: float = 1e-3,
        init: Any = "identity",
        diagonal: bool = False,
        diagonal_c: float = 1.0,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ):
        self.max_iter = max_iter
        self.max_proj = max_proj
        self.tol = tol
        self.init = init
        self.diagonal = diagonal
        self.diagonal_c = diagonal_c
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, pairs: Any, y: Any, calibration_params: dict[str, Any] | None = None) -> Any:
        """Learn from pairs and signs, and calibrate the threshold on them."""
        return self._fit_pairs(pairs, y, calibration_params)


class MMC_Supervised(_BaseMMC, TransformerMixin):
    """MMC on pairs that are drawn from labels.

    Parameters are those of MMC, and n_constraints, the number of pairs of each kind, by default 20
    times the square of the number of classes.
    """

    def __init__(
        self,
        max_iter: int = 100,
        max_proj: int = 10000,
        tol: float = 1e-6,
        n_constraints: int | None = None,
        init: Any = "identity",
        diagonal: bool = False,
        diagonal_c: float = 1.0,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ):
        self.max_iter = max_iter
        self.max_proj = max_proj
        self.tol = tol
        self.n_constraints = n_constraints
        self.init = init
        self.diagonal = diagonal
        self.diagonal_c = diagonal_c
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from points and labels."""
        X, y = self._prepare_inputs(X, y, ensure_min_samples=2)
        return _fit_formed(self, *drawn_pairs(X, y, self.n_constraints, self.random_state))
