"""The base classes of the estimators."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from ..._threshold import best_threshold, check_calibration, real_threshold
from ._util import check_input, check_size, validate_vector


class ArrayIndexer:
    """The preprocessor of an array: it returns rows."""

    def __init__(self, X: Any):
        self.X = np.asarray(X)

    def __call__(self, indices: np.ndarray) -> np.ndarray:
        return self.X[indices]


class BaseMetricLearner(BaseEstimator):
    """Base class of all estimators."""

    def __init__(self, preprocessor: Any = None):
        self.preprocessor = preprocessor

    def _check_preprocessor(self) -> None:
        """Set preprocessor_, a function or None."""
        given = self.preprocessor
        if given is None or callable(given):
            self.preprocessor_ = given
        elif hasattr(given, "__len__") or hasattr(given, "shape") or hasattr(given, "__array__"):
            self.preprocessor_ = ArrayIndexer(given)
        else:
            raise ValueError(f"Invalid type for the preprocessor: {type(given)}. You should provide either None, an array-like object, or a callable.")

    def _prepare_inputs(self, X: Any, y: Any = None, type_of_inputs: str = "classic", **options: Any) -> Any:
        """Check the input of fit and form points."""
        self._check_preprocessor()
        checked = check_input(
            X, y, type_of_inputs=type_of_inputs, preprocessor=self.preprocessor_, estimator=self, tuple_size=getattr(self, "_tuple_size", None), **options
        )
        data = checked if y is None else checked[0]
        check_size(data)
        self.n_features_in_ = data.shape[-1]
        return checked

    def _formed(self, X: Any, type_of_inputs: str, tuple_size: int | None = None) -> np.ndarray:
        """Check the input of a fitted estimator and form points."""
        check_is_fitted(self, "preprocessor_")
        data = check_input(X, type_of_inputs=type_of_inputs, preprocessor=self.preprocessor_, estimator=self, tuple_size=tuple_size)
        expected = getattr(self, "n_features_in_", data.shape[-1])
        if data.shape[-1] != expected:
            raise ValueError(f"X has {data.shape[-1]} features, but {type(self).__name__} is expecting {expected} features as input")
        return data


class MahalanobisMixin(BaseMetricLearner):
    """Estimators whose metric is the distance after the linear map ``components_``."""

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of points, in which Euclidean distance is the learned distance."""
        return self._formed(X, "classic") @ np.atleast_2d(self.components_).T

    def pair_distance(self, pairs: Any) -> np.ndarray:
        """Return the learned distances of pairs."""
        pairs = self._formed(pairs, "tuples", 2)
        moved = (pairs[:, 1] - pairs[:, 0]) @ np.atleast_2d(self.components_).T
        return np.sqrt((moved**2).sum(axis=-1))

    def pair_score(self, pairs: Any) -> np.ndarray:
        """Return the negative of the learned distances of pairs."""
        return -self.pair_distance(pairs)

    def score_pairs(self, pairs: Any) -> np.ndarray:
        """Return pair_distance, whose old name this is."""
        warnings.warn(
            "score_pairs will be deprecated in release 0.7.0. Use pair_score to compute similarity scores, or pair_distances to compute distances.",
            FutureWarning,
            stacklevel=2,
        )
        return self.pair_distance(pairs)

    def get_metric(self) -> Callable:
        """Return the learned distance as a function of two vectors, and of squared=True.

        It does not change with the estimator.
        """
        check_is_fitted(self, "components_")
        matrix = np.array(self.components_)

        def metric(u: Any, v: Any, squared: bool = False) -> float:
            """Return the distance of u and v, or its square."""
            moved = np.atleast_2d(matrix) @ (validate_vector(u) - validate_vector(v))
            return moved @ moved if squared else np.sqrt(moved @ moved)

        return metric

    def get_mahalanobis_matrix(self) -> np.ndarray:
        """Return the matrix of the metric, of shape (n_features, n_features)."""
        check_is_fitted(self, "components_")
        return self.components_.T @ self.components_


class _PairsClassifierMixin(BaseMetricLearner, ClassifierMixin):
    """Estimators that are fitted on pairs, and say which pairs are similar."""

    _tuple_size = 2

    def predict(self, pairs: Any) -> np.ndarray:
        """Return 1 for pairs whose distance is at most threshold_, else -1."""
        check_is_fitted(self, "preprocessor_")
        if not hasattr(self, "threshold_"):
            raise AttributeError("A threshold for this estimator has not been set, call its set_threshold or calibrate_threshold method.")
        return np.where(-self.decision_function(pairs) <= self.threshold_, 1, -1)

    def decision_function(self, pairs: Any) -> np.ndarray:
        """Return the negative of the learned distances of pairs."""
        return self.pair_score(pairs)

    def score(self, pairs: Any, y: Any) -> float:
        """Return the area under the ROC curve."""
        return roc_auc_score(y, self.decision_function(pairs))

    def set_threshold(self, threshold: float) -> Any:
        """Set threshold_, the largest distance of similar pairs."""
        check_is_fitted(self, "preprocessor_")
        self.threshold_ = real_threshold(threshold)
        return self

    def calibrate_threshold(self, pairs_valid: Any, y_valid: Any, strategy: str = "accuracy", min_rate: Any = None, beta: Any = 1.0) -> Any:
        """Set threshold_ to the best value for pairs, as mustlink.MetricLearner.calibrate_threshold does."""
        check_is_fitted(self, "preprocessor_")
        self._validate_calibration_params(strategy, min_rate, beta)
        pairs_valid, y_valid = self._prepare_inputs(pairs_valid, y_valid, type_of_inputs="tuples")
        self.threshold_ = best_threshold(-self.decision_function(pairs_valid), y_valid, strategy, min_rate, beta)
        return self

    @staticmethod
    def _validate_calibration_params(strategy: str = "accuracy", min_rate: Any = None, beta: Any = 1.0) -> None:
        check_calibration(strategy, min_rate, beta)

    def _fit_pairs(self, pairs: Any, y: Any, calibration_params: dict[str, Any] | None, **options: Any) -> Any:
        """Fit and calibrate."""
        calibration = calibration_params or {}
        self._validate_calibration_params(**calibration)
        self._fit(pairs, y, **options)
        self.calibrate_threshold(pairs, y, **calibration)
        return self


class _OrderMixin(BaseMetricLearner, ClassifierMixin):
    """Estimators that are fitted on tuples, of which a first pair is nearer than a second one."""

    _near: slice | list
    _far: slice | list

    def predict(self, tuples: Any) -> np.ndarray:
        """Return 1 for tuples whose first pair is nearer than the second, else -1."""
        return np.where(self.decision_function(tuples) > 0, 1, -1)

    def decision_function(self, tuples: Any) -> np.ndarray:
        """Return the learned distance of the second pair minus that of the first."""
        tuples = self._formed(tuples, "tuples", self._tuple_size)
        return _distance(self, tuples[:, self._far]) - _distance(self, tuples[:, self._near])

    def score(self, tuples: Any, y: Any = None) -> float:
        """Return the share of tuples whose first pair is nearer."""
        return float(np.mean(self.predict(tuples) == 1))


class _TripletsClassifierMixin(_OrderMixin):
    """Estimators that are fitted on triplets."""

    _tuple_size, _near, _far = 3, [0, 1], [0, 2]


class _QuadrupletsClassifierMixin(_OrderMixin):
    """Estimators that are fitted on quadruplets."""

    _tuple_size, _near, _far = 4, [0, 1], [2, 3]


def _distance(learner: Any, pairs: np.ndarray) -> np.ndarray:
    moved = (pairs[:, 1] - pairs[:, 0]) @ np.atleast_2d(learner.components_).T
    return np.sqrt((moved**2).sum(axis=-1))
