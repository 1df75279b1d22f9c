"""Constraints that labels imply, drawn at random."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement


class Constraints:
    """Draws constraints from labels. A negative label means that the label is unknown.

    Parameters
    ----------
    partial_labels : array-like of int, shape (n_samples,)
        Labels.
    """

    def __init__(self, partial_labels: Any):
        labels = np.asanyarray(partial_labels, dtype=int)
        self.partial_labels = labels
        known = np.flatnonzero(labels >= 0)
        self._sorted = known[np.argsort(labels[known], kind="stable")]  # rows, class by class
        self._classes, starts = np.unique(labels[self._sorted], return_index=True)
        self._members = np.split(self._sorted, starts[1:])

    def positive_negative_pairs(self, n_constraints: int, same_length: bool = False, random_state: Any = None) -> tuple[np.ndarray, ...]:
        """Draw different pairs of rows with the same label, and of rows with different labels.

        If there are fewer, a warning says so.

        Parameters
        ----------
        n_constraints : int
            Number of pairs of each kind.
        same_length : bool, default=False
            Whether to drop pairs so that there are as many of both kinds.
        random_state : int, RandomState or None, default=None
            Source of random numbers.

        Returns
        -------
        a, b, c, d : ndarray of int
            Rows a and b of positive pairs, c and d of negative ones.
        """
        random = check_random_state(random_state)
        positive, negative = self._positive(n_constraints, random), self._negative(n_constraints, random)
        if same_length:
            count = min(len(positive), len(negative))
            positive, negative = positive[:count], negative[:count]
        return positive[:, 0], positive[:, 1], negative[:, 0], negative[:, 1]

    def _positive(self, count: int, random: np.random.RandomState) -> np.ndarray:
        sizes = np.array([len(rows) for rows in self._members], dtype=np.int64)
        ends = np.cumsum(sizes * (sizes - 1) // 2)
        ranks = _ranks(count, ends[-1] if len(ends) else 0, "positive", random)
        of = np.searchsorted(ends, ranks, side="right")
        within = ranks - np.concatenate([[0], ends])[of]
        j = ((1 + np.sqrt(1 + 8.0 * within)) / 2).astype(np.int64)
        j -= j * (j - 1) // 2 > within  # the root may be rounded up
        i = within - j * (j - 1) // 2
        begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)[of]
        return self._sorted[begins[:, None] + np.column_stack([i, j])].reshape(-1, 2)

    def _negative(self, count: int, random: np.random.RandomState) -> np.ndarray:
        ends = np.cumsum([len(rows) for rows in self._members])
        later = np.repeat(ends, [len(rows) for rows in self._members])  # where the next class begins, for each row
        upto = np.cumsum(len(self._sorted) - later)
        ranks = _ranks(count, upto[-1] if len(upto) else 0, "negative", random)
        first = np.searchsorted(upto, ranks, side="right")
        second = later[first] + ranks - np.concatenate([[0], upto])[first] if len(ranks) else first
        return self._sorted[np.column_stack([first, second])].reshape(-1, 2)

    def chunks(self, n_chunks: int = 100, chunk_size: int = 2, random_state: Any = None) -> np.ndarray:
        """Draw chunks of rows with the same label. A row is in one chunk at most.

        Parameters
        ----------
        n_chunks : int, default=100
            Number of chunks. It is a ValueError if there are not as many.
        chunk_size : int, default=2
            Number of rows of each.
        random_state : int, RandomState or None, default=None
            Source of random numbers.

        Returns
        -------
        chunks : ndarray of int, shape (n_samples,)
            The number of the chunk of each row, -1 for none.
        """
        if chunk_size < 1:
            raise ValueError(f"chunk_size is {chunk_size}: want at least 1")
        random = check_random_state(random_state)
        possible: list[np.ndarray] = []
        for rows in self._members:
            whole = len(rows) // chunk_size
            possible.extend(random.permutation(rows)[: whole * chunk_size].reshape(whole, chunk_size))
        if len(possible) < n_chunks:
            raise ValueError(
                f"Not enough possible chunks of {chunk_size} elements in each class to form expected {n_chunks} chunks "
                f"- maximum number of chunks is {len(possible)}"
            )
        out = np.full(len(self.partial_labels), -1)
        for number, k in enumerate(random.permutation(len(possible))[:n_chunks]):
            out[possible[k]] = number
        return out

    def generate_knntriplets(self, X: Any, k_genuine: int, k_impostor: int) -> np.ndarray:
        """Return the triplets of each row, a near row of its class, and a near row of another class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        k_genuine, k_impostor : int
            Number of nearest rows of the class and of other classes.

        Returns
        -------
        triplets : ndarray of int, shape (n_triplets, 3)
            Row numbers.
        """
        X, out = np.asarray(X), []
        for label, rows in zip(self._classes, self._members):
            others = np.sort(self._sorted[self.partial_labels[self._sorted] != label])
            genuine = _enough(k_genuine, len(rows) - 1, label, f"{len(rows)} elements", k_genuine + 1, "genuine")
            impostor = _enough(k_impostor, len(others), label, f"{len(others)} elements of other classes", k_impostor, "impostor")
            near = _nearest(X[rows], X[rows], rows, genuine, own=True)
            far = _nearest(X[rows], X[others], others, impostor, own=False)
            a = np.repeat(rows, genuine * impostor)
            b = np.repeat(near, impostor, axis=1).ravel()
            c = np.tile(far, (1, genuine)).ravel()
            out.append(np.column_stack([a, b, c]))
        return np.concatenate(out) if out else np.empty((0, 3), dtype=int)


def wrap_pairs(X: Any, constraints: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of points and their signs for the rows (a, b, c, d) of positive and negative pairs."""
    a, b, c, d = (np.asarray(rows) for rows in constraints)
    pairs = np.concatenate([np.column_stack([a, b]), np.column_stack([c, d])])
    return np.asarray(X)[pairs], np.concatenate([np.ones(len(a), dtype=int), -np.ones(len(c), dtype=int)])


def _ranks(count: int, total: int, kind: str, random: np.random.RandomState) -> np.ndarray:
    """Return count different numbers below total, or all with a warning."""
    if total < count:
        warnings.warn(f"Only generated {total} {kind} constraints (requested {count})", UserWarning, stacklevel=4)
    drawn = sample_without_replacement(int(total), int(min(count, total)), random_state=random)
    return np.asarray(random.permutation(drawn), dtype=np.int64)


def _enough(wanted: int, possible: int, label: Any, have: str, need: int, kind: str) -> int:
    """Return the number of neighbors that a class has, and warn if it is too small."""
    if possible >= wanted:
        return wanted
    warnings.warn(
        f"The class {label} has {have}, which is not sufficient to generate {need} {kind} neighbors as specified by k_{kind}. "
        f"Will generate {possible} {kind} neighbors instead.\n",
        UserWarning,
        stacklevel=3,
    )
    return possible


def _nearest(X: np.ndarray, Y: np.ndarray, rows: np.ndarray, count: int, own: bool) -> np.ndarray:
    """Return the rows of the count nearest points of Y for each of X, which are not the point itself."""
    distances = cdist(X, Y)
    if own:
        np.fill_diagonal(distances, np.inf)
    return rows[np.argsort(distances, axis=1, kind="stable")[:, :count]]
