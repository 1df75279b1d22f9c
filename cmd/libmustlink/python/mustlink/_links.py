"""Constraints between points."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _library as lib
from ._arrays import floats, plain
from ._points import as_column, as_rows


class Links:
    """Must-links, cannot-links and comparisons between rows.

    Parameters
    ----------
    pairs : array-like of int, shape (n_pairs, 2), default=()
        Row numbers, from 0.
    signs : array-like of int or bool, shape (n_pairs,), default=()
        1 or True for a must-link, -1 or False for a cannot-link.
    weights : array-like of float, shape (n_pairs,), default=None
        Weights of the pairs, > 0. If None, all are 1.
    bounds : array-like of float, shape (n_pairs,), default=None
        Targets of the squared distances, nan for none. Used by ITML and GML.
    triplets : array-like of int, shape (n_triplets, 3), default=()
        Rows i, j, k such that i is nearer to j than to k. Used by ITML, GML, LSML and SCML.
    quadruplets : array-like of int, shape (n_quadruplets, 4), default=()
        Rows i, j, k, l such that i and j are nearer to each other than k and l. Used by LSML.

    Examples
    --------
    >>> from mustlink import Links
    >>> Links([(0, 1), (0, 2)], [1, -1])
    Links(1 must-link, 1 cannot-link)
    """

    def __init__(self, pairs: Any = (), signs: Any = (), *, weights: Any = None, bounds: Any = None, triplets: Any = (), quadruplets: Any = ()):
        self.pairs = as_rows(pairs, 2, "pairs")
        self.signs = _signs(signs, len(self.pairs))
        self.weights = None if weights is None else as_column(weights, len(self.pairs), np.float64, "weights")
        self.bounds = None if bounds is None else as_column(bounds, len(self.pairs), np.float64, "bounds")
        self.triplets = as_rows(triplets, 3, "triplets")
        self.quadruplets = as_rows(quadruplets, 4, "quadruplets")
        self.groups: np.ndarray | None = None
        self.labels: np.ndarray | None = None

    @classmethod
    def from_labels(cls, y: Any, must: int | None = None, cannot: int | None = None, *, seed: int = 1, unlabeled: Any = None) -> Links:
        """Make links from class labels.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class labels of any type. No value means "unlabeled" by default; -1 is a label.
        must, cannot : int, default=None
            Numbers of must-links and cannot-links to draw at random. If both are None, the links
            are all that the labels imply. The pairs are those of ``mustlink links make --must
            --cannot --seed``.
        seed : int, default=1
            Seed of the random draw.
        unlabeled : object, default=None
            The value of y for unlabeled rows.

        Returns
        -------
        links : Links

        Examples
        --------
        >>> from mustlink import Links
        >>> Links.from_labels(["a", "b", "a", "b"], must=1, cannot=2)
        Links(1 must-link, 2 cannot-links)
        >>> Links.from_labels([0, 0, 1, 1, -1], unlabeled=-1)
        Links(classes of 5 rows)
        """
        numbers = numbered(y, unlabeled)
        if must is None and cannot is None:
            links = cls()
            links.labels = numbers
            return links
        must, cannot = _count(must or 0, "must"), _count(cannot or 0, "cannot")
        pairs = np.empty((max(0, must) + max(0, cannot), 2), dtype=np.int64)
        lib.library().call("sample_links", numbers.ctypes.data, len(numbers), must, cannot, as_seed(seed), pairs.ctypes.data)
        return cls(pairs, np.repeat([1, -1], [must, cannot]))

    @classmethod
    def from_groups(cls, groups: Any) -> Links:
        """Make links from chunklets.

        Parameters
        ----------
        groups : array-like of int, shape (n_samples,)
            Rows with the same number >= 0 belong together. A negative number means no group.

        Returns
        -------
        links : Links

        Examples
        --------
        >>> from mustlink import Links
        >>> Links.from_groups([0, 0, -1, 1, 1, 1])
        Links(groups of 6 rows)
        """
        array = plain(groups, "groups")
        if array.dtype.kind not in "iu":
            raise TypeError(f"groups have dtype {array.dtype}: want integers")
        links = cls()
        links.groups = as_column(array, array.size, np.int64, "groups")
        return links

    @classmethod
    def from_points(cls, pairs: Any, y: Any) -> tuple[np.ndarray, Links]:
        """Make points and links from pairs of points, the format of metric-learn.

        Parameters
        ----------
        pairs : array-like of float, shape (n_pairs, 2, n_features)
            The points of each pair. Equal points are the same point.
        y : array-like of int, shape (n_pairs,)
            1 for a must-link, -1 for a cannot-link.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The different points, in the order of their first occurrence.
        links : Links
            The links between rows of X.

        Examples
        --------
        >>> from mustlink import Links
        >>> X, links = Links.from_points([[[0.0], [1.0]], [[0.0], [9.0]]], [1, -1])
        >>> X.ravel().tolist(), links.pairs.tolist()
        ([0.0, 1.0, 9.0], [[0, 1], [0, 2]])
        """
        array = plain(pairs, "pairs")
        if array.ndim != 3 or array.shape[1] != 2:
            raise ValueError(f"pairs have shape {array.shape}: want (n, 2, n_features)")
        X, rows = distinct(array)
        return X, cls(rows, y)

    def __len__(self) -> int:
        return len(self.pairs) + len(self.triplets) + len(self.quadruplets)

    def __repr__(self) -> str:
        parts = []
        for count, what in (
            (int((self.signs > 0).sum()), "must-link"),
            (int((self.signs < 0).sum()), "cannot-link"),
            (len(self.triplets), "triplet"),
            (len(self.quadruplets), "quadruplet"),
        ):
            if count:
                parts.append(f"{count} {what}" + ("s" if count > 1 else ""))
        if self.groups is not None:
            parts.append(f"groups of {len(self.groups)} rows")
        if self.labels is not None:
            parts.append(f"classes of {len(self.labels)} rows")
        return f"Links({', '.join(parts) or 'none'})"

    def structure(self) -> lib.LinksOf:
        """Return the structure of the library. It points into the arrays of this object."""
        whole = self.groups if self.groups is not None else self.labels
        return lib.LinksOf(
            pairs=len(self.pairs),
            pair=_address(self.pairs),
            sign=_address(self.signs),
            weight=_address(self.weights),
            bound=_address(self.bounds),
            triplets=len(self.triplets),
            triplet=_address(self.triplets),
            rows=0 if whole is None else len(whole),
            group=_address(self.groups),
            label=_address(self.labels),
        )

    def reference(self) -> Any:
        """Return the argument for a C function. It is valid as long as this object."""
        return ctypes.byref(self.structure())


def _address(array: np.ndarray | None) -> int | None:
    return None if array is None or array.size == 0 else array.ctypes.data


def distinct(tuples: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the different points of an array of shape (n, size, n_features), and their numbers in it.

    Points are in the order of their first occurrence.
    """
    array = floats(plain(tuples, "X"), "X").astype(np.float64, copy=False)
    flat = array.reshape(-1, array.shape[2]) + 0.0  # no -0
    _, first, number = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return flat[first[order]], rank[np.ravel(number)].reshape(array.shape[:2])


def _signs(values: Any, length: int) -> np.ndarray:
    if plain(values, "signs").dtype.kind == "b":
        values = np.where(values, 1, -1)
    array = as_column(values, length, np.float64, "signs") if length or np.size(values) else np.empty(0)
    wrong = ~np.isin(array, (1, -1))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ValueError(f"sign {k} is {array[k]:g}: want 1 for a must-link or -1 for a cannot-link")
    return array.astype(np.int8)


def _count(value: Any, what: str) -> int:
    if isinstance(value, bool) or int(value) != value:
        raise TypeError(f"{what} is {value!r}: want an integer")
    return int(value)


def as_seed(value: Any) -> int:
    """Convert random_state to a seed: None is 1, a RandomState gives its next number."""
    if value is None:
        return 1
    if hasattr(value, "randint"):
        return int(value.randint(2**31 - 1))
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"random_state is {value!r}: want an integer, None or a RandomState")
    if not 0 <= value < 2**64:
        raise ValueError(f"random_state is {value}: want a number from 0 to 2**64 - 1")
    return int(value)


def flat(y: Any, want: str = "label") -> np.ndarray:
    """Convert y to a 1-dimensional array."""
    array = plain(y, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead: want one {want} for each point")
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: y is complex")
    return array


def targets(y: Any) -> np.ndarray:
    """Convert y to an array of finite numbers."""
    array = flat(y, "number")
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y is not numeric ({error}): want one number for each point") from None
    if not np.isfinite(array).all():
        raise ValueError("Input y contains NaN or infinity: want a finite number for each point")
    return array


def numbered(y: Any, unlabeled: Any = None) -> np.ndarray:
    """Convert labels to class numbers from 0, with -1 for unlabeled rows."""
    array = flat(y)
    none = np.zeros(len(array), dtype=bool)
    if unlabeled is not None:
        none = np.array([v is unlabeled or v == unlabeled or (v != v and unlabeled != unlabeled) for v in array], dtype=bool)
    if array.dtype.kind == "f" and not np.isfinite(array[~none]).all():
        raise ValueError("Input y contains NaN or infinity: want a label for each point, or the value of unlabeled")
    out = np.full(len(array), -1, dtype=np.int64)
    if not none.all():
        _, out[~none] = np.unique(array[~none].astype(str) if array.dtype.kind == "O" else array[~none], return_inverse=True)
    return out
