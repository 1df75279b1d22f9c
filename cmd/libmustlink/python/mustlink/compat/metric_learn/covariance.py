"""The inverse covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin

from ..._estimators import Covariance as _Covariance
from ._engine import learned
from ._matrices import components_from_metric
from .base_metric import MahalanobisMixin


class Covariance(MahalanobisMixin, TransformerMixin):
    """The (pseudo-)inverse of the covariance, a reference that learns nothing.

    Parameters
    ----------
    preprocessor : array-like or callable, default=None
        The points of indices.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The linear map.
    """

    def __init__(self, preprocessor: Any = None):
        self.preprocessor = preprocessor

    def fit(self, X: Any, y: Any = None) -> Any:
        """Compute the metric of points. y is ignored."""
        X = self._prepare_inputs(X, ensure_min_samples=2)
        found = learned(self, _Covariance(), X) * np.sqrt((len(X) - 1) / len(X))  # of a sample
        self.components_ = components_from_metric(np.atleast_2d(found.T @ found))
        return self
