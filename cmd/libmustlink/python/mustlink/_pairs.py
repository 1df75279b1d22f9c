"""What metric-learn's users expect of an estimator: distances of pairs, thresholds, and the matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, ClassVar

import numpy as np

from ._linear import Metric, components, is_linear
from ._links import Links, either
from ._points import Points
from ._threshold import best_threshold, check_calibration, real_threshold
from ._tuples import NAMES, Tuples, refuse_indices, tuples_of

if TYPE_CHECKING:
    from typing_extensions import Self

PRECOMPUTED = "precomputed"


class _OfTuples:
    """A method that an estimator has only when it is fitted on tuples, or has a threshold.

    So scikit-learn's tools, which look for ``predict``, take other estimators for transformers.
    """

    def __init__(self, function: Callable):
        self._function, self.__doc__ = function, function.__doc__

    def __get__(self, learner: Any, kind: Any = None) -> Any:
        if learner is None:
            return self._function
        learner._fitted()
        if not learner._tuple_size and not hasattr(learner, "threshold_"):
            raise AttributeError(
                f"{type(learner).__name__} has no {self._function.__name__}: it was not fitted on tuples; "
                "want fit(pairs, y), or set_threshold or calibrate_threshold"
            )
        return self._function.__get__(learner, kind)


class Pairs:
    """Distances of pairs and predictions for tuples. A base class of :class:`MetricLearner`.

    Tuples are arrays of points of shape (n, 2, n_features) for pairs, (n, 3, n_features) for
    triplets and (n, 4, n_features) for quadruplets. With the parameter ``preprocessor``, an array
    of points or a function, they may be arrays of indices of shape (n, 2), (n, 3) and (n, 4). A
    point is known by its index, or else by its place in the array, and never by its values: a pair
    may have two equal points. Tuples share points by indices only.
    """

    _tuple_size = 0  # of the fit, 0 if it had no tuples

    if TYPE_CHECKING:
        _fitted: Callable
        _points: Callable
        _kernel: Callable
        _uses_targets: ClassVar[bool]
        n_features_in_: int

    def pair_distance(self, pairs: Any) -> np.ndarray:
        """Compute the learned distances of pairs of points.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or of indices with a preprocessor
            Pairs.

        Returns
        -------
        distances : ndarray of shape (n_pairs,)
            Distances, as those of :meth:`distances`.
        """
        tuples = self._tuples(pairs, "pair_distance", 2)
        return self._apart(tuples, 0, 1)

    def pair_score(self, pairs: Any) -> np.ndarray:
        """Compute the similarity of pairs of points, the negative of :meth:`pair_distance`."""
        return -self.pair_distance(pairs)

    def get_metric(self) -> Metric:
        """Return the learned distance as a function of two vectors.

        It does not change with the estimator. With ``squared=True`` it returns squared distances.
        """
        model = self._fitted()
        info = model.info()
        return Metric(model, self.components_ if is_linear(info["method"], info["kernel"]) else None)

    @property
    def components_(self) -> np.ndarray:
        """The matrix L of shape (n_components, n_features), with the distance |L x - L y|.

        Only linear methods without a kernel have it. Scaling of features is in it.
        """
        names = getattr(self, "feature_names_in_", None)
        return components(self._fitted(), type(self).__name__, self.n_features_in_, None if names is None else names.tolist())

    def get_mahalanobis_matrix(self) -> np.ndarray:
        """Return the matrix L'L of a linear metric, of shape (n_features, n_features)."""
        matrix = self.components_
        return matrix.T @ matrix

    @_OfTuples
    def decision_function(self, tuples: Any) -> np.ndarray:
        """Return how clearly tuples are as they should be: the larger, the more.

        For a pair this is the negative of its distance. For a triplet and a quadruplet it is the
        distance that should be long minus the one that should be short.
        """
        return self._decided(self._tuples(tuples, "decision_function"))

    @_OfTuples
    def predict(self, tuples: Any) -> np.ndarray:
        """Return 1 for pairs that belong together and for tuples in the right order, else -1.

        Pairs belong together if their distance is at most ``threshold_``.
        """
        tuples = self._tuples(tuples, "predict")
        if tuples.size > 2:
            return np.where(self._decided(tuples) > 0, 1, -1)
        if not hasattr(self, "threshold_"):
            raise AttributeError("A threshold for this estimator has not been set, call its set_threshold or calibrate_threshold method.")
        return np.where(self._apart(tuples, 0, 1) <= self.threshold_, 1, -1)

    def set_threshold(self, threshold: float) -> Self:
        """Set ``threshold_``, the largest distance of pairs that belong together."""
        self._fitted()
        self.threshold_ = real_threshold(threshold)
        return self

    def calibrate_threshold(self, pairs_valid: Any, y_valid: Any, strategy: str = "accuracy", min_rate: Any = None, beta: float = 1.0) -> Self:
        """Set ``threshold_`` to the value that is best for these pairs.

        Parameters
        ----------
        pairs_valid : array-like of shape (n_pairs, 2, n_features), or of indices with a preprocessor
            Pairs.
        y_valid : array-like of shape (n_pairs,)
            1 for pairs that belong together, -1 for others; or booleans.
        strategy : {"accuracy", "f_beta", "max_tpr", "max_tnr"}, default="accuracy"
            What is maximized: the accuracy; the f_beta score; the true positive rate where the true
            negative rate is at least min_rate; the true negative rate where the true positive rate
            is at least min_rate.
        min_rate : float, default=None
            Minimum of the other rate, from 0 to 1. Required with "max_tpr" and "max_tnr".
        beta : float, default=1.0
            Weight of recall in the f_beta score.

        Returns
        -------
        self : object
            The estimator.
        """
        self._fitted()
        check_calibration(strategy, min_rate, beta)
        tuples = self._tuples(pairs_valid, "calibrate_threshold", 2)
        signs = tuples.links(y_valid).signs
        self.threshold_ = best_threshold(self._apart(tuples, 0, 1), signs, strategy, min_rate, beta)
        return self

    def _given(self, X: Any, y: Any, links: Links | None, chunks: Any) -> tuple[Any, Any, Links | None, Tuples | None]:
        """Return points, labels and links for the arguments of fit, and its tuples if there are some."""
        y, links = either(y, links)
        if chunks is not None:
            if y is not None or links is not None:
                raise ValueError("chunks are given with y or links: want one of the three")
            return X, None, Links.from_groups(chunks), None
        if links is not None or self._uses_targets:
            return X, y, links, None
        tuples = tuples_of(X, self._preprocessor())
        if tuples is None:
            if self._preprocessor() is None:
                refuse_indices(X, y, type(self).__name__)
            return X, y, None, None
        return tuples.points, None, tuples.learned(y), tuples

    def _learned_from(self, tuples: Tuples | None, links: Links | None, calibration: dict[str, Any]) -> None:
        """Note what a fit had, and set the threshold if it had pairs."""
        self._tuple_size = 0 if tuples is None else tuples.size
        self.__dict__.pop("threshold_", None)
        if tuples is not None and links is not None and tuples.size == 2:
            self.threshold_ = best_threshold(self._apart(tuples, 0, 1), links.signs, **calibration)

    def _preprocessor(self) -> Any:
        return getattr(self, "preprocessor", None)

    def _tuples(self, X: Any, where: str, size: int = 0) -> Tuples:
        """Return the tuples of an argument, of the given size or any."""
        self._fitted()
        if self._kernel() == PRECOMPUTED:
            raise ValueError(f'{where}: the kernel is "precomputed": want distances(K, rows), which takes the kernel matrix')
        tuples = tuples_of(X, self._preprocessor())
        if tuples is None or (size and tuples.size != size):
            what = NAMES.get(size, "tuples")
            indices = "" if self._preprocessor() is not None else "; for indices, the parameter preprocessor"
            raise ValueError(f"{where}: X has shape {np.shape(X)}: want {what} of points, an array of shape (n, {size or '2 to 4'}, n_features){indices}")
        return tuples

    def _decided(self, tuples: Tuples) -> np.ndarray:
        if tuples.size == 2:
            return -self._apart(tuples, 0, 1)
        return self._apart(tuples, 0, 2) - self._apart(tuples, 0, 1) if tuples.size == 3 else self._apart(tuples, 2, 3) - self._apart(tuples, 0, 1)

    def _apart(self, tuples: Tuples, i: int, j: int) -> np.ndarray:
        """Return the distances between places i and j of tuples."""
        points = self._points(tuples.points, fitted=True)
        points.place = tuples.place
        return self._fitted()._distances(points, tuples.rows[:, [i, j]])

    def _score_links(self, points: Points, links: Links) -> float:
        """Return the area under the ROC curve for pairs, or else the share of comparisons in order."""
        model = self._fitted()
        if len(links.pairs) or not len(links):
            distances = model._distances(points, links.pairs)
            return area(distances[links.signs > 0], distances[links.signs < 0])
        near = np.concatenate([links.triplets[:, :2], links.quadruplets[:, :2]])
        far = np.concatenate([links.triplets[:, ::2], links.quadruplets[:, 2:]])
        return float(np.mean(model._distances(points, near) < model._distances(points, far)))

    def _score_of(self, tuples: Tuples, y: Any) -> float:
        """Return the area under the ROC curve for pairs, and the share of others in the right order."""
        if tuples.size > 2:
            tuples.links(y)
            return float(np.mean(self._decided(tuples) > 0))
        signs, distances = tuples.links(y).signs, self._apart(tuples, 0, 1)
        return area(distances[signs > 0], distances[signs < 0])


def area(near: np.ndarray, far: np.ndarray) -> float:
    """Return the share of pairs (near, far) with near smaller than far. Ties count half."""
    if not len(near) or not len(far):
        raise ValueError("score has pairs of one kind only: want must-links and cannot-links, or labels of two classes")
    far = np.sort(far)
    beyond = len(far) - np.searchsorted(far, near, side="right")
    ties = np.searchsorted(far, near, side="right") - np.searchsorted(far, near, side="left")
    return float((beyond + 0.5 * ties).sum() / (len(near) * len(far)))
