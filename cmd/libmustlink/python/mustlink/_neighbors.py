"""Searches for nearest neighbors."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any, NoReturn

import numpy as np

from . import _library as lib
from ._links import as_seed
from ._model import _encoded, engine, freed, new_handle
from ._points import as_points


class NeighborIndex:
    """Rows in which nearest neighbors are searched, exactly or approximately.

    The index divides the rows into cells. A search compares a row with the rows of the nearest
    cells, of as many as the wanted recall takes. It is immutable, keeps a copy of the rows, and
    gives the same numbers for any number of workers. Several threads may search at once.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows to search in, such as the coordinates of ``transform``.
    n_neighbors : int, default=10
        Number of neighbors for which the recall is measured. A search may be for fewer.
    seed : int, default=1
        Seed of the cells and of the samples.
    n_jobs : int, default=None
        Number of workers. None or -1 means all processors.
    memory_limit : int, default=None
        Maximum number of bytes of one request. None means no limit.

    Raises
    ------
    ValueError
        If X has a value that is not finite, or not more than ``n_neighbors`` rows.
    MemoryError
        If the index needs more than ``memory_limit``.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import NeighborIndex
    >>> index = NeighborIndex(np.arange(100.0).reshape(-1, 1), n_neighbors=2)
    >>> distances, rows = index.kneighbors([[7.25]])
    >>> distances, rows
    (array([[0.25, 0.75]]), array([[7, 8]]))
    """

    def __init__(self, X: Any, n_neighbors: int = 10, *, seed: int = 1, n_jobs: int | None = None, memory_limit: int | None = None):
        points = as_points(X)
        with points:
            first = (engine(n_jobs, memory_limit), points.reference(), n_neighbors, as_seed(seed))
            handle = new_handle("index_new", first, "index_free")
        self._keep(handle, n_neighbors, points)

    def _keep(self, handle: int, n_neighbors: int, points: Any) -> None:
        self._handle = handle
        self._finalizer = weakref.finalize(self, freed, lib.library(), "index_free", handle)
        self._finalizer.atexit = False
        self.n_neighbors = n_neighbors
        self.n_samples, self.n_features = points.rows, points.columns

    def save(self, path: str | os.PathLike) -> None:
        """Write the index to a file, completely or not at all.

        The file has the cells and not the rows, 8 bytes for each row.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        """
        lib.library().call("index_save", self._handle, _encoded(path))

    @classmethod
    def load(
        cls, path: str | os.PathLike, X: Any, model: Any = None, *, n_jobs: int | None = None, memory_limit: int | None = None
    ) -> NeighborIndex:
        """Load an index that :meth:`save` or the command ``mustlink neighbors`` has written.

        Parameters
        ----------
        path : str or path-like
            The index file.
        X : array-like of shape (n_samples, n_features)
            The rows of the index, as it was made from; for a file of the command, the coordinates
            of its ``--train``.
        model : Model or estimator, default=None
            The model that gave the coordinates. A file of the command is refused for another one.
        n_jobs : int, default=None
            Number of workers. None or -1 means all processors.
        memory_limit : int, default=None
            Maximum number of bytes of one request. None means no limit.

        Returns
        -------
        index : NeighborIndex

        Raises
        ------
        OSError
            If the file cannot be opened.
        ValueError
            If it is not an index or was changed, or is that of other rows or of another model.
        """
        points, neighbors = as_points(X), ctypes.c_int64()
        known = 0 if model is None else getattr(model, "model_", model)._handle
        with points:
            first = (engine(n_jobs, memory_limit), _encoded(path), known, points.reference())
            handle = new_handle("index_load", first, "index_free", last=(ctypes.byref(neighbors),))
        index = cls.__new__(cls)
        index._keep(handle, neighbors.value, points)
        return index

    def kneighbors(self, X: Any, n_neighbors: int | None = None, *, recall: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Find the nearest rows of the index for each row of X.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Rows.
        n_neighbors : int, default=None
            Number of neighbors of each row. None means that of the index.
        recall : float, default=1.0
            Share of the exact neighbors to find on average, above 0. 1 is exact.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Euclidean distances, the smallest first.
        rows : ndarray of shape (n_queries, n_neighbors)
            Row numbers in the index. Equal distances are in their order.
        """
        return self._search(X, n_neighbors, recall)[:2]

    def measured_recall(self, recall: float) -> float:
        """Return the share of neighbors that searches find, measured on rows of the index.

        Parameters
        ----------
        recall : float
            The recall of a search.

        Returns
        -------
        measured : float
            The share of the exact neighbors of a sample of rows that such a search finds. The
            sample had no part in the choice of the number of cells.
        """
        return self._search(np.zeros((1, self.n_features)), 1, recall)[2]

    def _search(self, X: Any, n_neighbors: int | None, recall: float) -> tuple[np.ndarray, np.ndarray, float]:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        points = as_points(X)
        shape = (points.rows, max(0, k))
        distances, rows, measured = np.empty(shape), np.empty(shape, dtype=np.int64), ctypes.c_double()

        def arguments(control: Any) -> tuple:
            return self._handle, points.reference(), k, recall, control, rows.ctypes.data, distances.ctypes.data, ctypes.byref(measured)

        with points:
            lib.watched("index_search", arguments)
        return distances, rows, measured.value

    def free(self) -> None:
        """Free the memory of the index now, not when it is garbage-collected."""
        self._finalizer()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an index cannot be pickled: save it, or make it again from its rows")

    def __repr__(self) -> str:
        return f"<mustlink.NeighborIndex: {self.n_samples} rows of {self.n_features} columns>"
