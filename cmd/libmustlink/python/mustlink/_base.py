"""The base class of all estimators."""

from __future__ import annotations

import fnmatch
import os
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Literal

import numpy as np

from . import _model
from ._arrays import column
from ._frames import frame_of
from ._links import Links, as_seed, either, numbered, targets
from ._log import Log
from ._matching import Matching
from ._pairs import Pairs
from ._points import Points, as_matrix, as_points, chosen, names_of
from ._sklearn import BaseEstimator, ConvergenceWarning, NotFittedError, Notice, TransformerMixin, warn
from ._threshold import checked_calibration
from ._tuples import note_chunks, points_of, refuse_indices, tuples_of

if TYPE_CHECKING:
    from typing_extensions import Self

PRECOMPUTED = "precomputed"

# What a dictionary for the parameter prepare may hold.
PREPARING = ("kinds", "impute", "indicators", "scale", "levels", "cyclic", "text", "gram")


class MetricLearner(Pairs, Matching, TransformerMixin, BaseEstimator):
    """Base class of all estimators. Each method of the catalog is a subclass."""

    _method: ClassVar[str]
    _defaults: ClassVar[dict[str, tuple[str, Any]]]  # attribute: name in the library, default here
    _uses_cannot_links: ClassVar[bool]
    _learns_pairs: ClassVar[bool]
    _needs_links: ClassVar[bool]
    _uses_targets: ClassVar[bool] = False  # learns from numeric targets y instead of links

    # What a fit sets.
    model_: _model.Model
    method_: str
    verdict_: dict[str, Any] | None
    preparation_: list[dict[str, Any]]
    n_iter_: int

    # The constructor parameters of every class.
    kernel: str | None
    prepare: Literal["auto", "none", "embeddings"] | dict[str, Any]
    standardize: bool
    n_links: int | str | None
    unlabeled: Any
    hold_out: int | Literal["auto"]
    random_state: Any
    n_jobs: int | None
    preprocessor: Any
    memory_limit: int | None
    verbose: bool | int

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        links: Links | None = None,
        chunks: Any = None,
        calibration_params: dict[str, Any] | None = None,
        progress: Callable | None = None,
    ) -> Self:
        """Learn a metric.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training points, linked or not. The columns of a pandas, polars or pyarrow frame may
            be numbers, texts, categories, booleans and dates, with missing cells. With
            ``kernel="precomputed"``, their kernel matrix. Or tuples as in metric-learn: an array of
            shape (n, 2, n_features) holds pairs, and y is 1 or -1 (True or False) for each; 3 are
            triplets and 4 quadruplets, without y. With ``preprocessor``, tuples may be indices, of
            shape (n, 2), (n, 3) or (n, 4), and points a 1-dimensional array of indices.
        y : array-like of shape (n_samples,), default=None
            Class labels, from which ``n_links`` links of each kind are drawn. Rows with None, NaN,
            NA or NaT, and those with the value ``unlabeled``, have no label. For an estimator that
            learns from targets, the target values.
        links : Links, default=None
            Constraints between rows of X, instead of y; they can be passed as y, too. A pipeline
            gives y to all steps: with links, an estimator that learns from them does not use it.
        chunks : array-like of int, shape (n_samples,), default=None
            Numbers of chunklets, instead of y. A negative number means no chunklet.
        calibration_params : dict, default=None
            Arguments of :meth:`calibrate_threshold`, by which a fit on pairs sets ``threshold_``.
        progress : callable, default=None
            Called about every 50 ms with a :class:`mustlink.Report`. An exception that it raises
            ends the fit.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        calibration = checked_calibration(calibration_params)
        X, y, links, tuples = self._given(X, y, links, chunks)
        points = self._points(X)
        points.place = None if tuples is None else tuples.place
        if points.rows < 2:
            raise ValueError(f"Found array with 1 sample(s) (shape=({points.rows}, {points.columns})) while a minimum of 2 is required.")
        options = self._options()
        if self._uses_targets:
            known, options["targets"] = links, self._targets(y, points.rows).tolist()
        else:
            known = self._links(y, links, points.rows)
        if points.is_table:
            options.update(self._categories(points, options))
        elif points.names is not None and self._kernel() != PRECOMPUTED:
            options["features"] = points.names
        news = Log(self._method, progress) if self.verbose else progress
        self.model_ = _model.fit(self._method, options, points, known, (self.n_jobs, self.memory_limit), news)
        self._note(points)
        if isinstance(news, Log):
            news.end(self.n_iter_)
        self._learned_from(tuples, links, calibration)
        return self

    def transform(self, X: Any, diagonal: Any = None) -> np.ndarray:
        """Map points to the embedding.

        Euclidean distance in the embedding is the learned distance. For KRCA, and for GML and ITML
        with a kernel, it approximates it: ``embedded_share_`` says how far. :meth:`distances` and
        :meth:`gram` are those of the learned metric itself.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points. With ``kernel="precomputed"``, the kernel matrix between these points and the
            training points.
        diagonal : array-like of shape (n_samples,), default=None
            With ``kernel="precomputed"``, the kernel of each point with itself. If None, the rows
            of X must be the training points.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Coordinates of the points.
        """
        model = self._fitted()
        return model._embed(self._points(X, diagonal, fitted=True))

    def score(self, X: Any, y: Any = None, *, links: Links | None = None) -> float:
        """Return the quality of the learned metric on labels or links.

        For an estimator that learns from links: the probability that a must-link is shorter than a
        cannot-link in the learned metric. This is the area under the ROC curve, 0.5 for a metric
        without information and 1 for a perfect one.

        For an estimator that learns from targets: the share of the variance of y that leave-one-out
        kernel regression in the learned metric explains, at best 1.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points, or tuples as in fit. The score of triplets and quadruplets is the share of them
            that is in the right order.
        y : array-like of shape (n_samples,), default=None
            Signs of pairs, or labels, which imply all pairs (a random sample if there are more than 100,000), or
            target values.
        links : Links, default=None
            Constraints between rows of X, instead of y.

        Returns
        -------
        score : float
            The score; larger is better.
        """
        model = self._fitted()
        y, links = either(y, links)
        tuples = tuples_of(X, self._preprocessor()) if links is None else None
        if tuples is not None:
            return self._score_of(tuples, y)
        if y is None and links is None:
            raise ValueError(f"{type(self).__name__}.score requires y to be passed, but the target y is None: want y or links")
        if links is None and self._preprocessor() is None:
            refuse_indices(X, y, f"{type(self).__name__}.score")
        points = self._points(X, fitted=True)
        if self._uses_targets:
            return _explained(model._embed(points), self._targets(y, points.rows))
        if links is None:
            links = _pairs_of(numbered(_column(y, points.rows), self.unlabeled))
        elif links.labels is not None and not len(links):
            links = _pairs_of(links.labels)
        return self._score_links(points, links)

    @property
    def embedded_share_(self) -> float:
        """The share of the learned squared distance that the coordinates of :meth:`transform` hold.

        It is 1 for an estimator whose coordinates are exact, as most are. KRCA, and GML and ITML with
        a kernel, approximate the metric in their directions: for these it is the sum of squared
        distances of coordinates divided by that of :meth:`distances`, over pairs of training points,
        and nan if it is unknown. New points can have less of it.
        """
        share = self._fitted().info()["embedded_share"]
        return float("nan") if share is None else float(share)

    def distances(self, X: Any, pairs: Any) -> np.ndarray:
        """Compute the learned distances of pairs of rows.

        They are Euclidean, not squared, and those of the learned metric itself, like :meth:`gram`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points.
        pairs : array-like of int, shape (n_pairs, 2)
            Row numbers.

        Returns
        -------
        distances : ndarray of shape (n_pairs,)
            Distances.
        """
        return self._fitted()._distances(self._points(X, fitted=True), pairs)

    def gram(self, X: Any, Y: Any = None) -> np.ndarray:
        """Compute the learned kernel between points.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples_X, n_features)
            Points.
        Y : array-like, data frame or sparse matrix of shape (n_samples_Y, n_features), default=None
            Other points. If None, X.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y)
            Kernel matrix.
        """
        model = self._fitted()
        return model._gram(self._points(X, fitted=True), None if Y is None else self._points(Y, fitted=True))

    def update(self, X: Any = None, y: Any = None, *, links: Links | None = None, extend: bool = False, drop_last: int = 0) -> Self:
        """Update the metric with more links, without a new fit.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), default=None
            Points of the links; see :meth:`mustlink.Model.updated`.
        y : array-like of shape (n_samples,), default=None
            Class labels, from which links are drawn as in ``fit``.
        links : Links, default=None
            Constraints between rows of X, instead of y.
        extend : bool, default=False
            Whether the group numbers of links are those of the model's groups.
        drop_last : int, default=0
            Number of earlier updates to undo.

        Returns
        -------
        self : object
            The updated estimator.
        """
        model = self._fitted()
        y, links = either(y, links)
        if y is not None:
            links = self._links(y, links, len(y))
        points = None if X is None else self._points(X, fitted=True)
        self.model_ = model._updated(points, links, extend, drop_last)
        self._n_features_out = self.model_.dim
        return self

    def calibrate(self, X: Any, y: Any = None, *, links: Links | None = None, share: float | None = None, near: bool = False) -> Self:
        """Learn from links which distances mean that two rows belong together.

        Afterwards :meth:`pairs` gives probabilities, and takes a precision or recall. The result is
        that of ``mustlink calibrate``. Links should be others than those of the fit, of both kinds,
        and a random sample: of all pairs of rows; or of must-links and of cannot-links apart, with
        share; or of the pairs that ``suggest(near=)`` drew, with near. :meth:`update` drops the
        calibration.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points, others than those of the fit if possible.
        y : array-like of shape (n_samples,), default=None
            Class labels, which imply all pairs (a random sample if there are more than 100,000).
        links : Links, default=None
            Constraints between rows of X, instead of y.
        share : float, default=None
            The share of matching pairs among those to judge, above 0 and below 1. None: that of the
            links.
        near : bool, default=False
            Whether links are answers about pairs of ``suggest(near=)``: precision and recall are those
            of pairs up to the farthest of them.

        Returns
        -------
        self : object
            The estimator. ``calibration_`` has the thresholds for usual precisions and recalls.

        Raises
        ------
        ValueError
            If links are of one kind only, or share is out of its range or given with near.
        """
        points = self._points(X, fitted=True)
        y, links = either(y, links)
        if y is not None:
            links = _pairs_of(numbered(_column(y, points.rows), getattr(self, "unlabeled", None)))
        self.model_ = self._calibrated(points, links, share, near)
        return self

    def _given_points(self, X: Any) -> Points:
        return self._points(X, fitted=True)

    def _learned(self) -> _model.Model:
        return self._fitted()

    def save(self, path: str | os.PathLike) -> None:
        """Write the model file, which :func:`mustlink.load` and the command ``mustlink`` read.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        """
        self._fitted().save(path)

    def to_onnx(self, path: str | os.PathLike, *, precision: str = "double") -> None:
        """Write an ONNX graph from rows to coordinates; see :meth:`mustlink.Model.to_onnx`.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        precision : {"double", "single"}, default="double"
            The precision of the graph's input and output.
        """
        self._fitted().to_onnx(path, precision=precision)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of an embedding: "krca0", "krca1", ...

        Parameters
        ----------
        input_features : array-like of str, default=None
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        feature_names_out : ndarray of str
            The names.
        """
        self._fitted()
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{j}" for j in range(self._n_features_out)], dtype=object)

    def __repr__(self, *limit: int) -> str:
        text, model = super().__repr__(*limit), getattr(self, "model_", None)
        return text if model is None else f"<{text}, {model.state()}>"

    def _kernel(self) -> str | None:
        return getattr(self, "kernel", None)

    def _points(self, X: Any, diagonal: Any = None, *, fitted: bool = False) -> Points:
        """Convert X to points. If fitted, take the columns of the fit that the model takes."""
        X = points_of(X, self._preprocessor())
        gram = self._kernel() == PRECOMPUTED
        if not fitted:
            return as_points(X, gram=gram, diagonal=diagonal)
        model = self._fitted()
        known = getattr(self, "feature_names_in_", None)
        if gram or known is None or model.features is None or hasattr(X, "tocsr"):
            points = as_points(X, gram=gram, diagonal=diagonal)
            self._check_names(points.names, points.columns)
            return model._noted(points)
        return model._noted(as_points(self._own(X, known.tolist(), model.features)))

    def _own(self, X: Any, known: list[str], wanted: list[str]) -> Any:
        """Return the columns of X that the model takes, where the fit had columns of known names."""
        frame = frame_of(X)
        names = None if frame is None else names_of(frame)
        if names is None:  # columns by position
            X = as_matrix(X) if frame is None else frame
            self._check_names(None, X.shape[1])
            at = [known.index(name) for name in wanted]
            return X if wanted == known else X[:, at] if frame is None else X.iloc[:, at]
        if not self._by_name:
            self._check_names(names, len(names))
        own, others = chosen(frame, wanted, type(self).__name__)
        _model.warn_of_others([name for name in others if name not in known])
        return own

    def _check_names(self, names: list[str] | None, columns: int) -> None:
        """Compare the names and the number of columns with those of the fit."""
        _same_names(type(self).__name__, getattr(self, "feature_names_in_", None), names)
        if columns != self.n_features_in_:
            raise ValueError(f"X has {columns} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input")

    def _links(self, y: Any, links: Links | None, rows: int) -> Links | None:
        """Return the links of fit's arguments."""
        if links is not None:
            if not isinstance(links, Links):
                raise TypeError(f"links is of type {type(links).__name__}: want mustlink.Links")
            if links.n_samples is not None and links.n_samples > rows and not (links.groups is not None or links.labels is not None):
                raise ValueError(f"links are between {links.n_samples} rows, and X has {rows}: want links[rows] for some of the rows")
            return links
        if y is None:
            if self._needs_links:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: want y, or links")
            return None
        if self.unlabeled is None:
            note_chunks(y, type(self).__name__)
        labels = numbered(_column(y, rows), self.unlabeled)
        if self._needs_links and (labels < 0).all():
            raise ValueError(f"y has no label in any of its {rows} rows: want labels for some")
        return self._of_labels(labels)

    def _targets(self, y: Any, rows: int) -> np.ndarray:
        """Return the target values of y."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: want one number for each point")
        return targets(_column(y, rows))

    def _of_labels(self, labels: np.ndarray) -> Links:
        """Return the links of labels, as many as n_links says."""
        count: Any = self.n_links
        if count is None and self._learns_pairs:
            sizes = np.bincount(labels[labels >= 0]).astype(object)  # Python integers do not overflow
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
        """Return the options of a fit, with the parameters that differ from their defaults."""
        params = {}
        for attribute, (name, default) in self._defaults.items():
            value = self._components() if attribute == "n_components" else getattr(self, attribute)
            if value is not None and not _same(value, default):
                params[name] = _text(attribute, value)
        options: dict[str, Any] = {"params": params, "seed": as_seed(self.random_state), "standardize": bool(self.standardize)}
        if not self._uses_targets:
            options["hold_out"] = self._held_out()
        if getattr(self, "keep_worse", False):
            options["keep_worse"] = True
        options.update(self._preparing())
        kernel = self._kernel()
        if kernel is not None and kernel != PRECOMPUTED:
            if not isinstance(kernel, str):
                raise TypeError(f"kernel is {kernel!r}: want a string such as 'rbf:sigma=median', or None")
            options["kernel"] = kernel
        return options

    def _components(self) -> Any:
        """Return n_components, which may be given under its old name dims."""
        value, old = getattr(self, "n_components", None), getattr(self, "dims", None)
        if value is not None and old is not None and value != old:
            raise ValueError(f"n_components is {value!r} and dims, its old name, is {old!r}: want one of the two")
        name, value = ("n_components", value) if old is None else ("dims", old)
        if value is None or isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
            return value
        error = ValueError if isinstance(value, (bool, int, float, str, np.number)) else TypeError
        raise error(f"{name} is {value!r}: want an integer >= 0 (0: all)")

    def _held_out(self) -> int:
        """Return how many fits hold links out, -1 for as many as take ten seconds."""
        count = self.hold_out
        if isinstance(count, str) and count == "auto":
            return -1
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 0 <= count <= 1000:
            raise ValueError(f"hold_out is {count!r}: want a number >= 0 and <= 1000, or 'auto'")
        return int(count)

    def _preparing(self) -> dict[str, Any]:
        """Return the options of a fit about columns."""
        prepare = self.prepare
        if isinstance(prepare, dict):
            for name in prepare:
                if name not in PREPARING:
                    raise ValueError(f"prepare has the member {name!r}: want some of {', '.join(PREPARING)}")
            plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in prepare.items()}
            return {name: value for name, value in plain.items() if value is not None}
        if not isinstance(prepare, str):
            raise TypeError(f"prepare is {prepare!r}: want 'auto', 'none', 'embeddings' or a dictionary")
        if prepare not in ("auto", "none", "embeddings"):
            raise ValueError(f"prepare is {prepare!r}: want 'auto', 'none', 'embeddings' or a dictionary")
        return {"prepare": prepare}

    def _fills(self) -> bool:
        """Whether a fit fills missing values."""
        if isinstance(self.prepare, dict):
            return self.prepare.get("impute") != "error"
        return self.prepare == "auto" and self._kernel() != PRECOMPUTED

    @staticmethod
    def _categories(points: Points, options: dict[str, Any]) -> dict[str, Any]:
        """Return the option kinds, to which the categories of a frame are added."""
        kinds = options.get("kinds") or {}
        if options.get("prepare") in ("none", "embeddings") or not isinstance(kinds, dict):
            return {}
        more = {name: "category" for name in points.categories if not any(name == k or fnmatch.fnmatchcase(name, str(k)) for k in kinds)}
        return {"kinds": {**more, **kinds}} if more else {}

    def _note(self, points: Points) -> None:
        """Set the fitted attributes of scikit-learn's interface, and issue the warnings of a fit."""
        self.n_features_in_ = points.columns
        self.__dict__.pop("feature_names_in_", None)
        if points.names is not None:
            self.feature_names_in_ = np.asarray(points.names, dtype=object)
        self._n_features_out = self.model_.dim
        self._by_name = points.is_table
        info = self.model_.info()
        self.preparation_ = info["columns"] or []
        self.n_iter_ = max(1, info["iterations"])
        self.method_, self.verdict_ = info["method"], info["verdict"]
        for notice in [*(info["notices"] or ()), *_odd(self.preparation_), *_doubts(self.verdict_)]:
            warn(points.said(notice), Notice)
        if not info["converged"]:
            warn(f"{self._method} did not converge: {info['message']}", ConvergenceWarning)

    def _fitted(self) -> _model.Model:
        model = getattr(self, "model_", None)
        if model is None:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' before using this estimator.")
        return model

    def _more_tags(self) -> dict[str, Any]:
        return {
            "requires_y": self._needs_links,
            "pairwise": self._kernel() == PRECOMPUTED,
            "allow_nan": self._fills(),
            "preserves_dtype": [np.float64, np.float32],
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_links
        tags.input_tags.pairwise = self._kernel() == PRECOMPUTED
        tags.input_tags.allow_nan = self._fills()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _odd(columns: list[dict[str, Any]]) -> list[str]:
    """Return the warnings about columns, one for all columns that have the same."""
    names: dict[str, list[str]] = {}
    for column in columns:
        if column["warning"]:
            names.setdefault(column["warning"], []).append(f'"{column["name"]}"')
    return [f"column{'s' * (len(of) > 1)} {', '.join(of[:5])}{', ...' * (len(of) > 5)}: {what}" for what, of in names.items()]


def _doubts(verdict: dict[str, Any] | None) -> list[str]:
    """Return the words of the command about a metric that held-out links do not find better."""
    if verdict is None or verdict["finding"] not in ("similar", "worse"):
        return []
    return ["; ".join([f"held-out links: {verdict['text']}", *verdict.get("reasons", ())])]


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter has its default, which is not sent. False is not 0."""
    return isinstance(value, type(default)) and isinstance(value, bool) == isinstance(default, bool) and value == default


def _text(name: str, value: Any) -> str:
    """Return a parameter as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return str(value)
    raise TypeError(f"{name} is {value!r}: want a number, a string, True or False")


def _column(y: Any, rows: int) -> np.ndarray:
    """Return y as an array, and check that it has one value for each point."""
    array = column(y)
    if array.ndim >= 1 and len(array) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {rows}, y has {len(array)}")
    return array


def _explained(Z: np.ndarray, y: np.ndarray) -> float:
    """Return the share of the variance of y that leave-one-out kernel regression on Z explains."""
    error = 0.0
    for i, z in enumerate(Z):
        squared = ((Z - z) ** 2).sum(axis=1)
        squared[i] = np.inf
        weights = np.exp(squared.min() - squared)
        error += (y[i] - weights @ y / weights.sum()) ** 2
    return float(1 - error / ((y - y.mean()) ** 2).sum())


def _same_names(who: str, fitted: Any, given: list[str] | None) -> None:
    """Compare the names of columns with those of the fit."""
    if fitted is None and given is None:
        return
    if fitted is None:
        warn(f"X has feature names, but {who} was fitted without feature names", UserWarning)
        return
    if given is None:
        warn(f"X does not have valid feature names, but {who} was fitted with feature names", UserWarning)
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


def _pairs_of(labels: np.ndarray, limit: int = 100_000) -> Links:
    """Return all pairs of labeled rows, or limit of them at random, always the same ones."""
    rows = np.flatnonzero(labels >= 0)
    n = len(rows)
    if n * (n - 1) // 2 <= limit:
        i, j = np.triu_indices(n, 1)
    else:
        draw = np.random.RandomState(1)
        i = draw.randint(n, size=limit)
        j = (i + 1 + draw.randint(n - 1, size=limit)) % n
    same = labels[rows[i]] == labels[rows[j]]
    return Links(np.column_stack([rows[i], rows[j]]), np.where(same, 1, -1))
