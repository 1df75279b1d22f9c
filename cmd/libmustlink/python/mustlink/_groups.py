"""Groups of rows, under links that are kept exactly."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple

import numpy as np

from . import _library as lib
from ._links import Links, either, flat, numbered
from ._matching import _text
from ._points import Points, as_points
from ._sklearn import BaseEstimator, ClusterMixin

if TYPE_CHECKING:
    from typing_extensions import Self


class FoundGroups(NamedTuple):
    """Groups of rows, with the merges that made them.

    Attributes
    ----------
    labels : ndarray of int64, shape (n_samples,)
        Group of each row, numbered by first rows; -1 for noise of groups by density.
    children : ndarray of int64, shape (n_merges, 2)
        Nodes of each merge: row i is node i, and merge k makes node n_samples + k, as in
        scikit-learn's AgglomerativeClustering. Must-linked rows merge first.
    distances : ndarray of shape (n_merges,)
        Heights of the merges; 0 for must-linked rows.
    forbidden : ndarray of int64, shape (n_forbidden, 3)
        Merges that were not allowed: two rows, and the number of the column that says so, those of
        distinct before those of distinct_within; -1 for a cannot-link.
    """

    labels: np.ndarray
    children: np.ndarray
    distances: np.ndarray
    forbidden: np.ndarray


def find_groups(runs_on: int, model: int, points: Points, links: Links | None, distinct: Any, within: Any, asked: dict[str, Any]) -> FoundGroups:
    """Call the library; model is a handle, 0 for the points as they are."""
    from ._model import new_handle

    library = lib.library()
    columns, kept = _columns(distinct or {}, within or {}, points.rows)
    known = None if links is None else links.reference()
    with points:
        handle = new_handle("groups_find", (runs_on, model, _text(asked), points.reference(), known, columns, len(kept)), "groups_free")
    try:
        info = library.json("groups_info", handle)
        found = FoundGroups(
            np.empty(info["rows"], dtype=np.int64),
            np.empty((info["merges"], 2), dtype=np.int64),
            np.empty(info["merges"]),
            np.empty((info["forbidden"], 3), dtype=np.int64),
        )
        library.call("groups_copy", handle, *(ctypes.c_void_p(array.ctypes.data) for array in found))
    finally:
        library.code("groups_free", handle)
    return found


def _columns(distinct: Mapping[str, Any], within: Mapping[str, tuple[Any, Any]], rows: int) -> tuple[Any, list[np.ndarray]]:
    """Return the columns as a C array, and the arrays to which it points."""
    kept, columns = [], (lib.Distinct * (len(distinct) + len(within)))()
    for name, values in distinct.items():
        kept.append(numbered(values))
        columns[len(kept) - 1] = lib.Distinct(name=str(name).encode(), keys=kept[-1].ctypes.data)
    for name, (values, width) in within.items():
        array = flat(values)
        if array.dtype.kind == "M":
            array = np.where(np.isnat(array), np.nan, array.astype("datetime64[ns]").astype(np.int64) / 1e9)
            width = np.timedelta64(width) / np.timedelta64(1, "s")
        kept.append(np.ascontiguousarray(array, dtype=np.float64))
        if not width > 0:
            raise ValueError(f"the width of {name!r} is {width}: want a number > 0, or a duration for times")
        columns[len(kept) - 1] = lib.Distinct(name=str(name).encode(), width=float(width), values=kept[-1].ctypes.data)
    for name, array in zip([*distinct, *within], kept):
        if len(array) != rows:
            raise ValueError(f"{name!r} has {len(array)} values: want {rows}, one for each row")
    return columns, kept


class ConstrainedAgglomerative(ClusterMixin, BaseEstimator):
    """Agglomerative clustering that keeps must-links and cannot-links exactly.

    The nearest groups merge, in Euclidean distance, until there are ``n_clusters`` or the next ones
    are farther apart than ``distance_threshold``. For a learned metric, fit it on the coordinates of
    ``transform``, or use ``groups`` of an estimator, whose calibration gives the threshold.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, >= 1; there are more if links do not allow so few.
    linkage : {"average", "complete", "single", "ward"}, default="average"
        Which distance two groups have.
    distance_threshold : float, default=None
        The largest distance of groups that merge, > 0.
    min_cluster_size : int, default=None
        Find clusters of at least so many rows by density (HDBSCAN), >= 2; other rows have the label
        -1. linkage and n_clusters are then not used.
    n_neighbors : int, default=None
        Groups merge only along so many nearest rows of each row. None: all of up to 2000 rows, and
        20 of more.
    recall : float, default=None
        Share of the nearest rows to find, > 0 and <= 1. None: 1, an exact search.
    n_jobs : int, default=None
        Number of workers. None or -1 means all processors.
    memory_limit : int, default=None
        Maximum number of bytes of one request. None means no limit.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Cluster of each row.
    children_, distances_, forbidden_ : ndarray
        Merges, their distances, and those that were not allowed; see ``FoundGroups``.
    n_clusters_ : int
        Number of clusters.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from mustlink import ConstrainedAgglomerative, Links
    >>> X = [[0], [1], [2], [10], [11]]
    >>> ConstrainedAgglomerative(2).fit_predict(X, links=Links([(0, 3), (0, 1)], [1, -1]))
    array([0, 1, 1, 0, 0])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        linkage: str = "average",
        distance_threshold: float | None = None,
        min_cluster_size: int | None = None,
        n_neighbors: int | None = None,
        recall: float | None = None,
        n_jobs: int | None = None,
        memory_limit: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.min_cluster_size = min_cluster_size
        self.n_neighbors = n_neighbors
        self.recall = recall
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any = None, *, links: Links | None = None, distinct: Any = None, distinct_within: Any = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : Links, default=None
            The links, for a pipeline; anything else is ignored.
        links : Links, default=None
            Constraints between rows of X.
        distinct : dict of array-like, default=None
            Columns of shape (n_samples,) of which a cluster has each value at most once, such as the
            source of a record or the number of a photo. Rows without a value are in any cluster.
        distinct_within : dict of (array-like, width), default=None
            Columns of numbers or times of which two values in a cluster differ by at least a width.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If links or columns contradict each other, or a parameter is out of its range.
        """
        from ._model import engine

        links = either(y, links)[1]
        points = as_points(X)
        by_density = self.min_cluster_size is not None
        asked: dict[str, Any] = {
            "linkage": None if by_density else self.linkage, "count": None if by_density else self.n_clusters, "threshold": self.distance_threshold,
            "min_size": self.min_cluster_size, "neighbors": self.n_neighbors, "recall": self.recall,
        }
        if self.n_clusters is None and self.distance_threshold is None and not by_density:
            raise ValueError("n_clusters, distance_threshold and min_cluster_size are None: want one of them")
        for name in ("count", "threshold", "neighbors", "recall"):
            if asked[name] is not None and not asked[name] > 0:
                raise ValueError(f"{name} is {asked[name]}: want a number > 0")
        found = find_groups(engine(self.n_jobs, self.memory_limit), 0, points, links, distinct, distinct_within, asked)
        self.labels_, self.children_, self.distances_, self.forbidden_ = found
        self.n_clusters_, self.n_features_in_ = int(self.labels_.max(initial=-1)) + 1, points.columns
        return self

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Find clusters and return ``labels_``; the arguments are those of :meth:`fit`."""
        return self.fit(X, y, **fit_params).labels_
