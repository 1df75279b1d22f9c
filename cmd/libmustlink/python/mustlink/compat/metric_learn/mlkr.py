"""Metric learning for kernel regression."""

from __future__ import annotations

from typing import Any

from sklearn.base import TransformerMixin

from ..._estimators import MLKR as _MLKR
from ._engine import directions, learned
from ._matrices import checked_components, start_map
from .base_metric import MahalanobisMixin
from .nca import note_unused_init


class MLKR(MahalanobisMixin, TransformerMixin):
    """Metric learning for kernel regression.

    Parameters
    ----------
    n_components : int, default=None
        Number of components, the number of features by default.
    init : {"auto", "pca", "identity", "random"} or ndarray of shape (n_components, n_features)
        Checked, but not used: the fit starts from principal directions, and from whitened ones.
    tol : float, default=None
        The fit stops when five iterations gain less than this, relatively; None: 1e-7.
    max_iter : int, default=1000
        Maximum number of iterations.
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
        n_components: int | None = None,
        init: Any = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from points and numbers."""
        X, y = self._prepare_inputs(X, y, y_numeric=True, ensure_min_samples=2)
        size = checked_components(X.shape[1], self.n_components)
        start_map(size, X, None, self.init, self.random_state, has_classes=False)
        note_unused_init(self)
        learner = _MLKR(dims=directions(X, size), max_iter=self.max_iter, tol=1e-7 if self.tol is None else self.tol)
        self.components_ = learned(self, learner, X, y, rows=size)
        return self
