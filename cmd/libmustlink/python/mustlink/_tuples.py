"""Tuples of points, the input of metric-learn: pairs, triplets and quadruplets.

Tuples are an array of points of shape (n, size, n_features), or an array of indices of shape
(n, size) and a preprocessor, which gives the points of indices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import plain
from ._links import Links, separate
from ._points import names_of
from ._sklearn import Notice, warn

NAMES = {2: "pairs", 3: "triplets", 4: "quadruplets"}


class Tuples:
    """Tuples of rows of points.

    A point is what its index or its place says, whatever its values: two points may be equal.

    Attributes
    ----------
    points : ndarray of shape (n_points, n_features)
        The points: those of the indices, in the order of their first occurrence, or of all places.
    rows : ndarray of int, shape (n_tuples, size)
        Their numbers in each tuple.
    size : int
        Number of points of a tuple.
    indices : list or None
        The index of each point, if tuples are of indices.
    """

    def __init__(self, points: np.ndarray, rows: np.ndarray, indices: list | None = None):
        self.points, self.rows, self.size, self.indices = points, rows, rows.shape[1], indices

    def place(self, row: int) -> str:
        """Return what a point is called in messages."""
        if self.indices is not None:
            return f"index {self.indices[row]!r}"
        return f"point {row % self.size} of {NAMES[self.size][:-1]} {row // self.size}"

    def links(self, y: Any) -> Links:
        """Return the links that the tuples are. Pairs need y, others have their order."""
        if self.size == 2:
            if y is None:
                raise ValueError("X has pairs and y is None: want 1 or -1 for each pair")
            return Links(self.rows, y)
        if y is not None and not (np.asarray(y) == 1).all():
            raise ValueError(f"X has {NAMES[self.size]}, whose order says which points are near: want no y, or 1 for each")
        return Links(triplets=self.rows) if self.size == 3 else Links(quadruplets=self.rows)

    def learned(self, y: Any) -> Links:
        """Return the links for a fit, which needs different indices, and no pair with both signs.

        Raises
        ------
        ValueError
            If a tuple is not so. The message has its number and its indices.
        """
        links = self.links(y)
        if self.indices is None:  # all places are different points
            return links
        for a, b in _DIFFERENT[self.size]:
            same = self.rows[:, a] == self.rows[:, b]
            if same.any():
                k = int(np.argmax(same))
                raise ValueError(f"{self._named(k)}: want different indices in places {a} and {b}")
        if self.size == 2:
            self._refuse_both_signs(links.signs)
        return links

    def _refuse_both_signs(self, signs: np.ndarray) -> None:
        _, first, number = np.unique(np.sort(self.rows, axis=1), axis=0, return_index=True, return_inverse=True)
        before = first[np.ravel(number)]
        wrong = signs != signs[before]
        if wrong.any():
            k = int(np.argmax(wrong))
            here, there = ("a must-link", "a cannot-link")[:: int(signs[k])]
            raise ValueError(f"{self._named(k)} and is {here}, and pair {before[k]} of the same indices is {there}: want one of the two")

    def _named(self, k: int) -> str:
        assert self.indices is not None
        return f"{NAMES[self.size][:-1]} {k} has the indices {', '.join(repr(self.indices[row]) for row in self.rows[k])}"


# The places of a tuple whose points a fit needs to be different.
_DIFFERENT = {2: [(0, 1)], 3: [(0, 1), (0, 2), (1, 2)], 4: [(0, 1), (2, 3)]}


def tuples_of(X: Any, preprocessor: Any = None) -> Tuples | None:
    """Return the tuples that X holds, and None if it holds points.

    With a preprocessor, a 2-dimensional array of integers or texts with 2, 3 or 4 columns is an
    array of indices, and each index is a point. Without, each place of a tuple is a point.
    """
    if hasattr(X, "tocsr") or (preprocessor is None and hasattr(X, "columns")):
        return None
    array = plain(X, "X")
    if array.ndim == 3:
        if array.shape[1] not in NAMES:
            raise ValueError(f"X has shape {array.shape}: want (n, 2, n_features) for pairs, 3 for triplets or 4 for quadruplets")
        return Tuples(*separate(array))
    if preprocessor is None or array.ndim != 2 or array.shape[1] not in NAMES or not _are_indices(array):
        return None
    indices, numbers = _first_seen(array)
    return Tuples(formed(indices, preprocessor), numbers, indices.tolist())


def formed(indices: Any, preprocessor: Any) -> np.ndarray:
    """Return the points of a 1-dimensional array of indices, as an array of shape (n, n_features)."""
    indices = np.asarray(indices)
    if callable(preprocessor):
        points = plain(preprocessor(indices), "the result of preprocessor")
        if points.ndim != 2 or len(points) != len(indices):
            raise ValueError(f"preprocessor returns an array of shape {points.shape} for {len(indices)} indices: want ({len(indices)}, n_features)")
        return points
    if isinstance(preprocessor, str) or np.ndim(preprocessor) != 2:
        raise TypeError(f"preprocessor is of type {type(preprocessor).__name__}: want an array of points, or a function that returns the points of indices")
    points = plain(preprocessor, "preprocessor")
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices have dtype {indices.dtype}: want integers, the row numbers of preprocessor")
    wrong = (indices < 0) | (indices >= len(points))
    if wrong.any():
        raise ValueError(f"index {indices[wrong][0]} is no row of preprocessor: want a number from 0 to {len(points) - 1}")
    return points[indices]


def points_of(X: Any, preprocessor: Any) -> Any:
    """Return the points of X, which may be a 1-dimensional array of indices if there is a preprocessor."""
    if preprocessor is None or hasattr(X, "tocsr") or hasattr(X, "columns") or np.ndim(X) != 1:
        return X
    return formed(X, preprocessor)


def refuse_indices(X: Any, y: Any, who: str) -> None:
    """Raise ValueError if X and y look like pairs of row numbers and their signs.

    That is so if X has two columns of integers >= 0, two different ones in each row, and y has no
    other values than 1 and -1, or True and False. Negative numbers, a row with twice the same
    number, columns with names, floats and other labels can only be points.
    """
    if y is None or hasattr(X, "tocsr") or _has_names(X):
        return
    array, signs = np.asarray(X), np.asarray(y)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu" or signs.dtype.kind not in "biuf":
        return
    if (array < 0).any() or (array[:, 0] == array[:, 1]).any() or not (signs.dtype.kind == "b" or np.isin(signs, (1, -1)).all()):
        return
    raise ValueError(
        f"{who}: X looks like pairs of row numbers (two different integers >= 0 in each of {len(array)} rows), and y like their signs: "
        f"want preprocessor=POINTS for these pairs, an array of shape (n, 2, n_features) with their points, or POINTS and links=Links(X, y); "
        f"if the rows of X are points, want X.astype(float)"
    )


def note_chunks(y: Any, who: str) -> None:
    """Warn of class labels that look like numbers of chunks: integers from 0, two at least, and -1."""
    values = np.asarray(y)
    if values.dtype.kind != "i" or values.ndim != 1 or not values.size or values.min() != -1:
        return
    if len(np.unique(values)) > 2:
        warn(f"{who}: y has -1, which is a class like others: want chunks=y if it means no chunk, or unlabeled=-1 if it means no label", Notice)


def _has_names(X: Any) -> bool:
    """Whether X is a frame, but not one of pandas whose columns are numbered."""
    return hasattr(X, "columns") and not (hasattr(X, "iloc") and names_of(X) is None)


def _are_indices(array: np.ndarray) -> bool:
    return array.dtype.kind in "iuUS" or (array.dtype.kind == "O" and all(isinstance(v, (str, int, np.integer)) for v in array.flat))


def _first_seen(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different values of an array in the order of their first occurrence, and their numbers in it."""
    values, first, numbers = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return values[order], rank[numbers.ravel()].reshape(array.shape)
