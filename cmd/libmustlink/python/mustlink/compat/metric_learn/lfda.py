"""Local Fisher discriminant analysis."""

from __future__ import annotations

import warnings
from typing import Any, Literal

from sklearn.base import TransformerMixin

from ..._estimators import LFDA as _LFDA
from ._engine import directions, learned
from ._matrices import checked_components
from .base_metric import MahalanobisMixin


class LFDA(MahalanobisMixin, TransformerMixin):
    """Local Fisher discriminant analysis.

    Parameters
    ----------
    n_components : int, default=None
        Number of components, the number of features by default.
    k : int, default=None
        The distance to this neighbor in the class is the local scale; by default the smaller of 7
        and the number of features minus 1.
    embedding_type : {"weighted", "orthonormalized", "plain"}, default="weighted"
        Scaling of the directions.
    preprocessor : array-like or callable, default=None
        The points of indices.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The linear map.
    """

    def __init__(self, n_components: int | None = None, k: int | None = None, embedding_type: Literal["weighted", "orthonormalized", "plain"] = "weighted", preprocessor: Any = None):
        self.n_components = n_components
        self.k = k
        self.embedding_type = embedding_type
        self.preprocessor = preprocessor

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from points and labels."""
        if self.embedding_type not in ("weighted", "orthonormalized", "plain"):
            raise ValueError(f"Invalid embedding_type: {self.embedding_type!r}")
        X, y = self._prepare_inputs(X, y, ensure_min_samples=2)
        features = X.shape[1]
        size = checked_components(features, self.n_components)
        k: Any = self.k
        if k is None:
            k = min(7, features - 1)
        elif k >= features:
            warnings.warn(f"Chosen k ({k}) too large, using {features - 1} instead.", UserWarning, stacklevel=2)
            k = features - 1
        elif k <= 0:
            raise ValueError("Invalid k: want a number > 0")
        learner = _LFDA(dims=directions(X, size), neighbors=max(1, int(k)), metric=self.embedding_type, eps_rel=1e-9)
        self.components_ = learned(self, learner, X, y, rows=size)
        return self
