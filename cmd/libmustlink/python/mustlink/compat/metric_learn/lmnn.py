"""Large margin nearest neighbor."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin

from ..._estimators import LMNN as _LMNN
from ._engine import directions, learned
from ._matrices import checked_components, start_map
from .base_metric import MahalanobisMixin
from .nca import note_unused_init


class LMNN(MahalanobisMixin, TransformerMixin):
    """Large margin nearest neighbor.

    Parameters
    ----------
    init : {"auto", "pca", "lda", "identity", "random"} or ndarray of shape (n_components, n_features)
        Checked, but not used: the fit starts from principal directions.
    n_neighbors : int, default=3
        Number of target neighbors.
    min_iter : int, default=50
        Not used.
    max_iter : int, default=1000
        Maximum number of iterations.
    learn_rate : float, default=1e-7
        Not used: steps are searched.
    regularization : float, default=0.5
        Weight of the impostors, between 0 and 1; that of the targets is 1 minus it.
    convergence_tol : float, default=1e-3
        The fit stops when the relative decrease over five iterations is below this.
    verbose : bool, default=False
        Whether to print progress.
    preprocessor : array-like or callable, default=None
        The points of indices.
    n_components : int, default=None
        Number of components, the number of features by default.
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
        n_neighbors: int = 3,
        min_iter: int = 50,
        max_iter: int = 1000,
        learn_rate: float = 1e-7,
        regularization: float = 0.5,
        convergence_tol: float = 1e-3,
        verbose: bool = False,
        preprocessor: Any = None,
        n_components: int | None = None,
        random_state: Any = None,
    ):
        self.init = init
        self.n_neighbors = n_neighbors
        self.min_iter = min_iter
        self.max_iter = max_iter
        self.learn_rate = learn_rate
        self.regularization = regularization
        self.convergence_tol = convergence_tol
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from points and labels."""
        X, y = self._prepare_inputs(X, y, dtype=float, ensure_min_samples=2)
        size = checked_components(X.shape[1], self.n_components)
        start_map(size, X, y, self.init, self.random_state)
        note_unused_init(self)
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest < self.n_neighbors:
            raise ValueError(f"not enough class labels for specified k (smallest class has {smallest})")
        learner = _LMNN(neighbors=self.n_neighbors, mu=self.regularization, dims=directions(X, size), rank=0, tol=self.convergence_tol, max_iter=self.max_iter)
        self.components_ = learned(self, learner, X, y, rows=size)
        return self
