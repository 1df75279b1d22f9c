"""Constraints between points."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _closure
from . import _library as lib
from ._arrays import absent, column, floats, plain
from ._columns import cells_of, numbers_of, numeric, rows_of
from ._points import as_column, as_rows
from ._sklearn import Notice, warn


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
    n_samples : int, default=None
        Number of rows of the points. With it, cross-validation of scikit-learn gives each fold the
        links between its rows.

    Examples
    --------
    >>> from mustlink import Links
    >>> Links([(0, 1), (0, 2)], [1, -1])
    Links(must=1, cannot=1)
    """

    def __init__(
        self, pairs: Any = (), signs: Any = (), *, weights: Any = None, bounds: Any = None,
        triplets: Any = (), quadruplets: Any = (), n_samples: int | None = None,
    ):  # fmt: skip
        self.pairs = as_rows(pairs, 2, "pairs")
        self.signs = _signs(signs, len(self.pairs))
        self.weights = None if weights is None else as_column(weights, len(self.pairs), np.float64, "weights")
        self.bounds = None if bounds is None else as_column(bounds, len(self.pairs), np.float64, "bounds")
        self.triplets = as_rows(triplets, 3, "triplets")
        self.quadruplets = as_rows(quadruplets, 4, "quadruplets")
        self.groups: np.ndarray | None = None
        self.labels: np.ndarray | None = None
        self.n_samples = None if n_samples is None else _count(n_samples, "n_samples")
        if self.n_samples is not None and self.n_samples <= self._last():
            raise ValueError(f"n_samples is {n_samples}: want a number above {self._last()}, the last row of the links")

    @classmethod
    def from_labels(cls, y: Any, must: int | None = None, cannot: int | None = None, *, seed: int = 1, unlabeled: Any = None) -> Links:
        """Make links from class labels.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class labels of any type. None, NaN, NA and NaT mean no label; -1 is a label.
        must, cannot : int, default=None
            Numbers of must-links and cannot-links to draw at random. If both are None, the links
            are all that the labels imply. The pairs are those of ``mustlink links make --must
            --cannot --seed``.
        seed : int, default=1
            Seed of the random draw.
        unlabeled : object, default=None
            One more value of y for unlabeled rows.

        Returns
        -------
        links : Links

        Examples
        --------
        >>> from mustlink import Links
        >>> Links.from_labels(["a", "b", "a", "b"], must=1, cannot=2)
        Links(must=1, cannot=2)
        >>> Links.from_labels([0, 0, 1, 1, -1], unlabeled=-1)
        Links(classes=2, rows=5)
        """
        numbers = numbered(y, unlabeled)
        if must is None and cannot is None:
            links = cls()
            links.labels, links.n_samples = numbers, len(numbers)
            return links
        must, cannot = _count(must or 0, "must"), _count(cannot or 0, "cannot")
        pairs = np.empty((max(0, must) + max(0, cannot), 2), dtype=np.int64)
        lib.library().call("sample_links", numbers.ctypes.data, len(numbers), must, cannot, as_seed(seed), pairs.ctypes.data)
        return cls(pairs, np.repeat([1, -1], [must, cannot]), n_samples=len(numbers))

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
        Links(groups=2, rows=6)
        """
        array = plain(groups, "groups")
        if array.dtype.kind not in "iu":
            raise TypeError(f"groups have dtype {array.dtype}: want integers")
        links = cls()
        links.groups, links.n_samples = as_column(array, array.size, np.int64, "groups"), array.size
        return links

    @classmethod
    def from_points(cls, pairs: Any, y: Any) -> tuple[np.ndarray, Links]:
        """Make points and links from pairs of points, the format of metric-learn.

        Parameters
        ----------
        pairs : array-like of float, shape (n_pairs, 2, n_features)
            The points of each pair. Each place is a point of its own: two points may be equal.
        y : array-like of int, shape (n_pairs,)
            1 for a must-link, -1 for a cannot-link.

        Returns
        -------
        X : ndarray of shape (2 * n_pairs, n_features)
            The points of the first pair, of the second one and so on.
        links : Links
            The links between rows of X.

        Examples
        --------
        >>> from mustlink import Links
        >>> X, links = Links.from_points([[[0.0], [1.0]], [[0.0], [9.0]]], [1, -1])
        >>> X.ravel().tolist(), links.pairs.tolist()
        ([0.0, 1.0, 0.0, 9.0], [[0, 1], [2, 3]])
        """
        array = plain(pairs, "pairs")
        if array.ndim != 3 or array.shape[1] != 2:
            raise ValueError(f"pairs have shape {array.shape}: want (n, 2, n_features)")
        X, rows = separate(array)
        return X, cls(rows, y, n_samples=len(X))

    @classmethod
    def from_frame(cls, frame: Any, a: Any, b: Any, sign: Any = None, *, weight: Any = None, ids: Any = None) -> Links:
        """Make links from columns of a data frame.

        Parameters
        ----------
        frame : data frame or dict of array-like
            A frame of pandas, polars or pyarrow, one row for each link.
        a, b : str
            The columns with the two rows of a link: row numbers, or values of ids.
        sign : str, default=None
            The column with 1 or True for a must-link and -1 or False for a cannot-link. If None,
            all are must-links.
        weight : str, default=None
            The column with weights. If None, all are 1.
        ids : array-like of shape (n_samples,), default=None
            The name of each row of the points, such as the index of their frame. If None, a and b
            are row numbers.

        Returns
        -------
        links : Links

        Examples
        --------
        >>> from mustlink import Links
        >>> pairs = {"left": ["anna", "bert"], "right": ["carl", "anna"], "same": [True, False]}
        >>> links = Links.from_frame(pairs, "left", "right", "same", ids=["anna", "bert", "carl"])
        >>> links, links.pairs.tolist()
        (Links(must=1, cannot=1), [[0, 2], [1, 0]])
        """
        at = None if ids is None else numbers_of(ids)
        rows = [rows_of(cells_of(frame, name), name, at) for name in (a, b)]
        signs = np.ones(len(rows[0])) if sign is None else numeric(cells_of(frame, sign), sign)
        weights = None if weight is None else numeric(cells_of(frame, weight), weight)
        return cls(np.column_stack(rows), signs, weights=weights, n_samples=None if at is None else len(at))

    def closure(self, limit: int = 10_000_000) -> Links:
        """Return all links that follow from these.

        Rows that a chain of must-links joins have must-links, and they share their cannot-links.
        Weights and bounds of given pairs are kept; those of others are 1 and none. Triplets and
        quadruplets are kept.

        Parameters
        ----------
        limit : int, default=10_000_000
            Maximum number of links. More are a MemoryError.

        Returns
        -------
        links : Links
            The links as pairs i < j, in order.

        Raises
        ------
        ValueError
            If a cannot-link contradicts must-links. The message has their path.

        Examples
        --------
        >>> from mustlink import Links
        >>> links = Links([(0, 1), (1, 2), (2, 3)], [1, 1, -1]).closure()
        >>> links, links.pairs.tolist()
        (Links(must=3, cannot=3), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
        """
        pairs, signs = _closure.closure(self, limit)
        given = {name: None if values is None else np.full(len(pairs), other) for name, values, other in (("weights", self.weights, 1.0), ("bounds", self.bounds, np.nan))}
        if self.weights is not None or self.bounds is not None:
            for k, place in _closure.places(self.pairs, pairs):
                for name, values in given.items():
                    if values is not None:
                        values[place] = getattr(self, name)[k]
        return Links(pairs, signs, **given, triplets=self.triplets, quadruplets=self.quadruplets, n_samples=self.n_samples)

    @property
    def shape(self) -> tuple[int] | None:
        """The number of rows of the points, by which scikit-learn knows that it can index links."""
        return None if self.n_samples is None else (self.n_samples,)

    def __getitem__(self, rows: Any) -> Links:
        """Return the links between some rows of the points, which are numbered in their order.

        Parameters
        ----------
        rows : array-like of int or bool, or slice
            Row numbers, all different, or a mask.

        Returns
        -------
        links : Links
        """
        size = max(self._last() + 1, self.n_samples or 0)
        try:
            chosen = np.arange(size)[rows if isinstance(rows, slice) else np.atleast_1d(rows)]
        except IndexError as error:
            raise IndexError(f"rows of links: {error}: want row numbers below {size}, or a mask") from None
        if len(np.unique(chosen)) < len(chosen):
            raise ValueError("rows of links have a number twice: want different rows")
        place = np.full(size, -1)
        place[chosen] = np.arange(len(chosen))
        pairs, kept = _kept(self.pairs, place)
        weights, bounds = (None if values is None else values[kept] for values in (self.weights, self.bounds))
        triplets, quadruplets = _kept(self.triplets, place)[0], _kept(self.quadruplets, place)[0]
        links = Links(pairs, self.signs[kept], weights=weights, bounds=bounds, triplets=triplets, quadruplets=quadruplets, n_samples=len(chosen))
        links.groups, links.labels = (None if numbers is None else numbers[chosen] for numbers in (self.groups, self.labels))
        return links

    __iter__ = None  # type: ignore[assignment]  # rows are no items

    def _last(self) -> int:
        """Return the largest row number, -1 if there are none."""
        rows = [int(rows.max()) for rows in (self.pairs, self.triplets, self.quadruplets) if rows.size]
        whole = [len(numbers) - 1 for numbers in (self.groups, self.labels) if numbers is not None]
        return max([-1, *rows, *whole])

    def __len__(self) -> int:
        return len(self.pairs) + len(self.triplets) + len(self.quadruplets)

    def __repr__(self) -> str:
        counts = {"triplets": len(self.triplets), "quadruplets": len(self.quadruplets)}
        if len(self.pairs):
            counts = {"must": int((self.signs > 0).sum()), "cannot": int((self.signs < 0).sum()), **counts}
        parts = [f"{what}={count}" for what, count in counts.items() if count or what in ("must", "cannot")]
        for what, numbers in (("groups", self.groups), ("classes", self.labels)):
            if numbers is not None:
                parts.append(f"{what}={len(np.unique(numbers[numbers >= 0]))}, rows={len(numbers)}")
        return f"Links({', '.join(parts)})"

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


def _kept(tuples: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tuples all of whose rows have a place, by these, and which they are."""
    moved = place[tuples]
    kept = (moved >= 0).all(axis=1)
    return moved[kept], kept


def separate(tuples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of an array of shape (n, size, n_features), all of them, and their numbers in it."""
    if tuples.dtype.kind in "OSU":
        tuples = floats(tuples, "X")
    count, size, features = tuples.shape
    return tuples.reshape(-1, features), np.arange(count * size).reshape(count, size)


def _signs(values: Any, length: int) -> np.ndarray:
    if plain(values, "signs").dtype.kind == "b":
        values = np.where(values, 1, -1)
    array = as_column(values, length, np.float64, "signs") if length or np.size(values) else np.empty(0)
    wrong = ~np.isin(array, (1, -1))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ValueError(f"sign {k} is {array[k]:g}: want 1 for a must-link or -1 for a cannot-link")
    return array.astype(np.int8)


def either(y: Any, links: Links | None) -> tuple[Any, Links | None]:
    """Return y and links; Links in place of y become the latter."""
    if not isinstance(y, Links):
        return y, links
    if links is not None:
        raise ValueError("y is Links, and links are given, too: want one of them")
    return None, y


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
    array = column(y)
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


# What NumPy writes for a missing value in an array of texts.
_MADE_OF_GAPS = {"nan", "None", "<NA>", "NaT"}


def numbered(y: Any, unlabeled: Any = None) -> np.ndarray:
    """Convert labels to class numbers from 0, with -1 for unlabeled rows: those without a value, or with that of unlabeled."""
    array = flat(y)
    none = absent(array)
    if unlabeled is not None and not (unlabeled != unlabeled):
        none[~none] = [bool(v == unlabeled) for v in array[~none]]
    if array.dtype.kind == "f" and np.isinf(array[~none]).any():
        raise ValueError("Input y contains infinity: want a label for each point, or NaN for none")
    texts = _MADE_OF_GAPS.intersection(array[~none].tolist()) if array.dtype.kind == "U" else ()
    for text in sorted(texts):
        warn(f"y has the text {text!r}, which is a class like others: want unlabeled={text!r} if it means no label", Notice)
    out = np.full(len(array), -1, dtype=np.int64)
    if not none.all():
        out[~none] = np.searchsorted(classes(array[~none]), _comparable(array[~none]))
    return out


def classes(y: Any) -> np.ndarray:
    """Return the different labels of y in their order, objects as texts."""
    array = flat(y)
    return np.unique(_comparable(array[~absent(array)]))


def _comparable(labels: np.ndarray) -> np.ndarray:
    return labels.astype(str) if labels.dtype.kind == "O" else labels
