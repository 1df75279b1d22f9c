"""Information-theoretic metric learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_array

from ..._estimators import ITML as _ITML
from ..._links import Links
from ..._tuples import separate
from ._engine import learned
from ._matrices import components_from_metric, different_points, start_matrix
from .base_metric import MahalanobisMixin, _PairsClassifierMixin
from .constraints import Constraints, wrap_pairs


class _BaseITML(MahalanobisMixin):
    """The fit of both classes. The prior is the identity after a map, which changes nothing else."""

    _tuple_size = 2

    def _fit(self, pairs: Any, y: Any, bounds: Any = None) -> Any:
        pairs, y = self._prepare_inputs(pairs, y, type_of_inputs="tuples")
        pairs, y = apart(pairs, y)
        points, rows = separate(pairs)  # so pairs may contradict each other
        self.bounds_ = _bounds(bounds, different_points(pairs))
        prior, _ = start_matrix(pairs, self.prior, self.random_state, strict_pd=True, name="prior")
        root = components_from_metric(prior)
        learner = _ITML(
            gamma=self.gamma, max_iter=self.max_iter, tol=self.tol, upper=float(self.bounds_[0]), lower=float(self.bounds_[1])
        )
        self.components_ = learned(self, learner, points @ root.T, links=Links(rows, y)) @ root
        return self


class ITML(_BaseITML, _PairsClassifierMixin):
    """Information-theoretic metric learning from pairs.

    Parameters
    ----------
    gamma : float, default=1.0
        Weight of the pairs relative to the prior.
    max_iter : int, default=1000
        Maximum number of sweeps.
    tol : float, default=1e-3
        Relative duality gap at which the fit stops.
    prior : {"identity", "covariance", "random"} or ndarray of shape (n_features, n_features)
        The metric that the learned one stays close to.
    verbose : bool, default=False
        Whether to print progress.
    preprocessor : array-like or callable, default=None
        The points of indices.
    random_state : int, RandomState or None, default=None
        Source of random numbers, for a random prior.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The linear map.
    bounds_ : ndarray of shape (2,)
        Bounds of the squared distances of similar and of dissimilar pairs, by default the
        percentiles 5 and 95 of the distances of all points, as in metric-learn.
    threshold_ : float
        Largest distance of pairs that are predicted to be similar.
    """

    def __init__(
        self, gamma: float = 1.0, max_iter: int = 1000, tol: float = 1e-3, prior: Any = "identity", verbose: bool = False, preprocessor: Any = None, random_state: Any = None
    ):
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.prior = prior
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, pairs: Any, y: Any, bounds: Any = None, calibration_params: dict[str, Any] | None = None) -> Any:
        """Learn from pairs and signs, and calibrate the threshold on them."""
        return self._fit_pairs(pairs, y, calibration_params, bounds=bounds)


class ITML_Supervised(_BaseITML, TransformerMixin):
    """ITML on pairs that are drawn from labels.

    Parameters are those of ITML, and n_constraints, the number of pairs of each kind, by default 20
    times the square of the number of classes.
    """

    def __init__(
        self,
        gamma: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-3,
        n_constraints: int | None = None,
        prior: Any = "identity",
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ):
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.n_constraints = n_constraints
        self.prior = prior
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, X: Any, y: Any, bounds: Any = None) -> Any:
        """Learn from points and labels."""
        X, y = self._prepare_inputs(X, y, ensure_min_samples=2)
        pairs, signs = drawn_pairs(X, y, self.n_constraints, self.random_state)
        return _fit_formed(self, pairs, signs, bounds=bounds)


def drawn_pairs(X: np.ndarray, y: np.ndarray, n_constraints: int | None, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of points of labels, and their signs."""
    if n_constraints is None:
        n_constraints = 20 * len(np.unique(y)) ** 2
    return wrap_pairs(X, Constraints(y).positive_negative_pairs(n_constraints, random_state=random_state))


def apart(pairs: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of two different points, and their signs. Others say nothing."""
    differ = (pairs[:, 0] != pairs[:, 1]).any(axis=1)
    return pairs[differ], y[differ]


def _fit_formed(learner: Any, tuples: np.ndarray, y: Any = None, **options: Any) -> Any:
    """Fit on tuples that are formed: the preprocessor has been applied."""
    fitted = learner.preprocessor_
    learner._fit(tuples, y, **options) if y is not None else learner._fit(tuples, **options)
    learner.preprocessor_ = fitted
    return learner


def _bounds(bounds: Any, points: np.ndarray) -> np.ndarray:
    """Return the two bounds, which are > 0."""
    if bounds is None:
        bounds = np.percentile(pairwise_distances(points), (5, 95))
    else:
        bounds = check_array(bounds, ensure_2d=False, allow_nd=True, dtype=np.float64, ensure_min_features=0).ravel()
        if bounds.size != 2:
            raise ValueError("`bounds` should be an array-like of two elements.")
    return np.maximum(bounds, 1e-9)
