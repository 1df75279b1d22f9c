"""Least squared-residual metric learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin

from ..._estimators import LSML as _LSML
from ..._links import Links
from ..._tuples import separate
from ._engine import learned
from ._matrices import components_from_metric, start_matrix
from .base_metric import MahalanobisMixin, _QuadrupletsClassifierMixin
from .constraints import Constraints
from .itml import _fit_formed


class _BaseLSML(MahalanobisMixin):
    """The fit of both classes.

    mustlink's prior is the identity divided by the mean variance v of a direction in which points
    differ. With gamma = v its metric times v is that with the identity itself. The identity after a
    map is any prior, and directions in which points do not differ keep it.
    """

    _tuple_size = 4

    def _fit(self, quadruplets: Any, y: Any = None, weights: Any = None) -> Any:
        quadruplets = self._prepare_inputs(quadruplets, type_of_inputs="tuples")
        _equal_weights(weights, len(quadruplets))
        prior, _ = start_matrix(quadruplets, self.prior, self.random_state, strict_pd=True, name="prior")
        root = components_from_metric(prior)
        points, rows = separate(quadruplets)
        points, rows = points @ root.T, rows[_compared(quadruplets)]
        variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(points, rowvar=False, bias=True)))
        differ = variances > 1e-10 * max(variances[-1], np.finfo(float).tiny)
        constant = axes[:, ~differ].T
        metric = np.eye(len(root))
        if len(rows) and differ.any():
            unit = float(variances[differ].mean())
            learner = _LSML(gamma=unit * len(rows) / len(quadruplets), max_iter=self.max_iter, tol=self.tol)
            found = learned(self, learner, points, links=Links(quadruplets=rows))
            metric = unit * found.T @ found + constant.T @ constant
        self.components_ = components_from_metric(metric) @ root
        return self


class LSML(_BaseLSML, _QuadrupletsClassifierMixin):
    """Least squared-residual metric learning from quadruplets, whose first two points are nearer.

    Parameters
    ----------
    tol : float, default=1e-3
        Distance of the objective to its minimum at which the fit stops.
    max_iter : int, default=1000
        Maximum number of iterations.
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
    """

    def __init__(self, tol: float = 1e-3, max_iter: int = 1000, prior: Any = "identity", verbose: bool = False, preprocessor: Any = None, random_state: Any = None):
        self.tol = tol
        self.max_iter = max_iter
        self.prior = prior
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, quadruplets: Any, weights: Any = None) -> Any:
        """Learn from quadruplets. Different weights are not implemented."""
        return self._fit(quadruplets, weights=weights)


class LSML_Supervised(_BaseLSML, TransformerMixin):
    """LSML on quadruplets that are drawn from labels.

    Parameters are those of LSML, n_constraints, the number of quadruplets, by default 20 times the
    square of the number of classes, and weights.
    """

    def __init__(
        self,
        tol: float = 1e-3,
        max_iter: int = 1000,
        prior: Any = "identity",
        n_constraints: int | None = None,
        weights: Any = None,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ):
        self.tol = tol
        self.max_iter = max_iter
        self.prior = prior
        self.n_constraints = n_constraints
        self.weights = weights
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from points and labels."""
        X, y = self._prepare_inputs(X, y, ensure_min_samples=2)
        count = 20 * len(np.unique(y)) ** 2 if self.n_constraints is None else self.n_constraints
        rows = Constraints(y).positive_negative_pairs(count, same_length=True, random_state=self.random_state)
        return _fit_formed(self, X[np.column_stack(rows)], weights=self.weights)


def _compared(quadruplets: np.ndarray) -> np.ndarray:
    """Return which quadruplets compare two different pairs, of which the first has two different points.

    Others are in order in every metric.
    """

    def equal(*places: tuple[int, int]) -> np.ndarray:
        return np.logical_and.reduce([(quadruplets[:, i] == quadruplets[:, j]).all(axis=1) for i, j in places])

    return ~(equal((0, 1)) | equal((0, 2), (1, 3)) | equal((0, 3), (1, 2)))


def _equal_weights(weights: Any, count: int) -> None:
    if weights is None:
        return
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (count,) or not (weights > 0).all():
        raise ValueError(f"weights have shape {weights.shape}: want {count} numbers > 0")
    if not (weights == weights[0]).all():
        raise NotImplementedError("weights differ: mustlink's LSML takes quadruplets of one weight only")
