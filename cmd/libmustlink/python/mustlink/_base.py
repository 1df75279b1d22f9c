"""What all estimators have in common."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, ClassVar

import numpy as np

from . import _model
from ._links import Links, as_seed, numbered, targets
from ._points import Points, as_points
from ._sklearn import BaseEstimator, ConvergenceWarning, NotFittedError, Notice, TransformerMixin

PRECOMPUTED = "precomputed"


class MetricLearner(TransformerMixin, BaseEstimator):
    """The base of all estimators; each method is a class below it."""

    _method: ClassVar[str]
    _defaults: ClassVar[dict[str, tuple[str, Any]]]  # attribute: the library's name, and its default here
    _kernels: ClassVar[bool]
    _uses_cannot_links: ClassVar[bool]
    _pairwise: ClassVar[bool]
    _needs_links: ClassVar[bool]
    _uses_targets: ClassVar[bool] = False  # learns from y as numbers, and not from links

    # Common parameters, which the constructor of every class has.
    kernel: str | None
    standardize: bool
    n_links: int | str | None
    unlabeled: Any
    random_state: Any
    n_jobs: int | None
    memory_limit: int | None

    def fit(self, X: Any, y: Any = None, *, links: Links | None = None, progress: Callable | None = None) -> Any:
        """Learns a metric.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
            The points, linked or not. With ``kernel="precomputed"`` their kernel matrix. Or, as
            metric-learn has it, pairs of points of shape (n_pairs, 2, n_features), with y of 1 and -1.
        y : array-like, shape (n_samples,), optional
            Labels, from which ``n_links`` links are drawn. For an estimator that learns from targets, numbers.
        links : Links, optional
            What is known of pairs of rows of X. Give y or links, not both.
        progress : callable, optional
            Called about every 50 ms with a :class:`mustlink.Report`; what it raises ends the fit.

        Returns
        -------
        self
        """
        if links is None and not hasattr(X, "tocsr") and np.asarray(X).ndim == 3:
            X, links = Links.from_points(X, y)
            y = None
        points = self._points(X)
        if points.rows < 2:
            raise ValueError(f"Found array with 1 sample(s) (shape=({points.rows}, {points.columns})) while a minimum of 2 is required.")
        options = self._options()
        if self._uses_targets:
            known, options["targets"] = links, self._targets(y, points.rows).tolist()
        else:
            known = self._links(y, links, points.rows)
        if points.names is not None and self._kernel() != PRECOMPUTED:
            options["features"] = points.names
        self.model_ = _model.fit(self._method, options, points, known, (self.n_jobs, self.memory_limit), progress)
        self._note(points)
        return self

    def transform(self, X: Any, diagonal: Any = None) -> np.ndarray:
        """Coordinates in which Euclidean distance is the learned one, shape (n_samples, n_components).

        With ``kernel="precomputed"`` X is the kernel between new points and the training points, and
        diagonal that of each new point with itself; without it the rows must be the training points.
        """
        model = self._fitted()
        return model._embed(self._points(X, diagonal, fitted=True))

    def score(self, X: Any, y: Any = None, *, links: Links | None = None) -> float:
        """The probability that a must-link is shorter than a cannot-link in the learned metric.

        That is the area under the curve of pairs, 0.5 for a metric that knows nothing and 1 for one
        without a mistake. Links are those given, or of y all pairs, of more than 100,000 as many at random.
        Of an estimator that learns from targets it is the share of the variance of y that kernel regression
        in the learned metric explains, each row estimated from the others: 1 for one without an error.
        """
        model = self._fitted()
        if y is None and links is None:
            raise ValueError(f"{type(self).__name__}.score requires y to be passed, but the target y is None: want y or links")
        points = self._points(X, fitted=True)
        if self._uses_targets:
            return _explained(model._embed(points), self._targets(y, points.rows))
        known = links if links is not None else _pairs_of(numbered(_column(y, points.rows), self.unlabeled))
        distances = model._distances(points, known.pairs)
        return _area(distances[known.signs > 0], distances[known.signs < 0])

    def distances(self, X: Any, pairs: Any) -> np.ndarray:
        """The squared learned distances of pairs of rows of X; pairs has shape (n_pairs, 2)."""
        return self._fitted()._distances(self._points(X, fitted=True), pairs)

    def gram(self, X: Any, Y: Any = None) -> np.ndarray:
        """The learned kernel between the rows of X and those of Y (default: X)."""
        model = self._fitted()
        return model._gram(self._points(X, fitted=True), None if Y is None else self._points(Y, fitted=True))

    def update(self, X: Any = None, y: Any = None, *, links: Links | None = None, extend: bool = False, drop_last: int = 0) -> Any:
        """Learns more without a new fit; see :meth:`mustlink.Model.updated`. Returns self."""
        model = self._fitted()
        if y is not None:
            links = self._links(y, links, len(y))
        self.model_ = model.updated(X, links, extend=extend, drop_last=drop_last)
        self._n_features_out = self.model_.dim
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Writes the model file, which :func:`mustlink.load` and the command read."""
        self._fitted().save(path)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of an embedding: "krca0", "krca1", ..."""
        self._fitted()
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{j}" for j in range(self._n_features_out)], dtype=object)

    def _kernel(self) -> str | None:
        return getattr(self, "kernel", None)

    def _points(self, X: Any, diagonal: Any = None, *, fitted: bool = False) -> Points:
        """The points of X; those for a fitted estimator must have its features."""
        gram = self._kernel() == PRECOMPUTED
        points = as_points(X, gram=gram, diagonal=diagonal)
        if not fitted:
            return points
        _same_names(type(self).__name__, getattr(self, "feature_names_in_", None), points.names)
        if points.columns != self.n_features_in_:
            raise ValueError(f"X has {points.columns} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input")
        return points

    def _links(self, y: Any, links: Links | None, rows: int) -> Links | None:
        """The links to learn from."""
        if links is not None:
            if not isinstance(links, Links):
                raise TypeError(f"links is {type(links).__name__}: want mustlink.Links")
            if y is not None:
                raise ValueError("y and links are given together: want one of the two")
            return links
        if y is None:
            if self._needs_links:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: want y, or links")
            return None
        return self._of_labels(numbered(_column(y, rows), self.unlabeled))

    def _targets(self, y: Any, rows: int) -> np.ndarray:
        """The numbers to learn from."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: want one number for each point")
        return targets(_column(y, rows))

    def _of_labels(self, labels: np.ndarray) -> Links:
        """The links of labels that the parameter n_links asks for."""
        count = self.n_links
        if count is None and self._pairwise:
            sizes = np.bincount(labels[labels >= 0]).astype(object)  # numbers without limit
            same = sum(n * (n - 1) // 2 for n in sizes)
            different = sum(sizes) * (sum(sizes) - 1) // 2 - same
            count = min(len(labels), same, different) if different else min(len(labels), same)
            return Links.from_labels(labels, count, count if different else 0, seed=as_seed(self.random_state), unlabeled=-1)
        if count is None or count == "all":
            links = Links()
            if self._uses_cannot_links:
                links.labels = labels
            else:
                links.groups = labels
            return links
        if isinstance(count, (bool, str)) or count < 1:
            raise ValueError(f"n_links is {count!r}: want a number >= 1, 'all' or None")
        return Links.from_labels(labels, count, count if self._uses_cannot_links else 0, seed=as_seed(self.random_state), unlabeled=-1)

    def _options(self) -> dict[str, Any]:
        """What the library is told: parameters that are not as its defaults are."""
        params = {}
        for attribute, (name, default) in self._defaults.items():
            value = getattr(self, attribute)
            if value is not None and not (type(value) is type(default) and value == default):
                params[name] = _text(value)
        options: dict[str, Any] = {"params": params, "seed": as_seed(self.random_state), "standardize": bool(self.standardize)}
        kernel = self._kernel()
        if kernel is not None and kernel != PRECOMPUTED:
            if not isinstance(kernel, str):
                raise TypeError(f"kernel is {kernel!r}: want a text such as 'rbf:sigma=median', or None")
            options["kernel"] = kernel
        return options

    def _note(self, points: Points) -> None:
        """Keeps what scikit-learn wants to know after a fit, and passes remarks on."""
        self.n_features_in_ = points.columns
        self.__dict__.pop("feature_names_in_", None)
        if points.names is not None:
            self.feature_names_in_ = np.asarray(points.names, dtype=object)
        self._n_features_out = self.model_.dim
        info = self.model_.info()
        self.n_iter_ = max(1, info["iterations"])
        for notice in info["notices"] or ():
            warnings.warn(notice, Notice, stacklevel=3)
        if not info["converged"]:
            warnings.warn(f"{self._method} did not converge: {info['message']}", ConvergenceWarning, stacklevel=3)

    def _fitted(self) -> _model.Model:
        model = getattr(self, "model_", None)
        if model is None:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' before using this estimator.")
        return model

    def _more_tags(self) -> dict[str, Any]:
        return {
            "requires_y": self._needs_links,
            "pairwise": self._kernel() == PRECOMPUTED,
            "preserves_dtype": [np.float64, np.float32],
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_links
        tags.input_tags.pairwise = self._kernel() == PRECOMPUTED
        tags.input_tags.sparse = self._kernels
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _text(value: Any) -> str:
    """A parameter as a person would write it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return str(value)
    raise TypeError(f"parameter is {value!r}: want a number, a text, True or False")


def _column(y: Any, rows: int) -> np.ndarray:
    """y as an array with one label for each point."""
    array = np.asarray(y)
    if array.ndim >= 1 and len(array) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {rows}, y has {len(array)}")
    return array


def _explained(Z: np.ndarray, y: np.ndarray) -> float:
    """The share of the variance of y that leave-one-out kernel regression in the coordinates Z explains."""
    error = 0.0
    for i, z in enumerate(Z):
        squared = ((Z - z) ** 2).sum(axis=1)
        squared[i] = np.inf
        weights = np.exp(squared.min() - squared)
        error += (y[i] - weights @ y / weights.sum()) ** 2
    return float(1 - error / ((y - y.mean()) ** 2).sum())


def _same_names(who: str, fitted: Any, given: list[str] | None) -> None:
    """Compares names of columns with those of the fit."""
    if fitted is None and given is None:
        return
    if fitted is None:
        warnings.warn(f"X has feature names, but {who} was fitted without feature names", stacklevel=4)
        return
    if given is None:
        warnings.warn(f"X does not have valid feature names, but {who} was fitted with feature names", stacklevel=4)
        return
    if len(fitted) == len(given) and all(fitted == given):
        return
    unseen, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + "".join(f"- {n}\n" for n in unseen[:5]) + ("- ...\n" if len(unseen) > 5 else "")
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + "".join(f"- {n}\n" for n in missing[:5]) + ("- ...\n" if len(missing) > 5 else "")
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)


def _pairs_of(labels: np.ndarray, most: int = 100_000) -> Links:
    """All pairs of labeled rows, or so many at random, always the same ones."""
    rows = np.flatnonzero(labels >= 0)
    n = len(rows)
    if n * (n - 1) // 2 <= most:
        i, j = np.triu_indices(n, 1)
    else:
        draw = np.random.RandomState(1)
        i = draw.randint(n, size=most)
        j = (i + 1 + draw.randint(n - 1, size=most)) % n
    same = labels[rows[i]] == labels[rows[j]]
    return Links(np.column_stack([rows[i], rows[j]]), np.where(same, 1, -1))


def _area(near: np.ndarray, far: np.ndarray) -> float:
    """The share of pairs (near, far) in which the first is smaller; ties count half."""
    if not len(near) or not len(far):
        raise ValueError("score needs pairs of both kinds: want must-links and cannot-links, or labels of two classes")
    far = np.sort(far)
    beyond = len(far) - np.searchsorted(far, near, side="right")
    ties = np.searchsorted(far, near, side="right") - np.searchsorted(far, near, side="left")
    return float((beyond + 0.5 * ties).sum() / (len(near) * len(far)))
