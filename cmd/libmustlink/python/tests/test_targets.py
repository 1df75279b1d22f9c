"""Estimators that learn from y as numbers."""

from __future__ import annotations

import unittest
import warnings

import numpy as np

import mustlink
from mustlink import Links


def waves(n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Points whose target is a sine of the first column. The second one is noise of larger scale."""
    random = np.random.RandomState(3)
    X = random.normal(size=(n, 2)) * [1, 5]
    return X, np.sin(2 * X[:, 0])


def error_left(Z: np.ndarray, y: np.ndarray) -> float:
    """The leave-one-out squared error of kernel regression."""
    weights = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    np.fill_diagonal(weights, 0)
    return float(((y - weights @ y / weights.sum(axis=1)) ** 2).sum())


class Targets(unittest.TestCase):
    def test_learns(self):
        X, y = waves()
        learner = mustlink.MLKR().fit(X, y)
        explained = 1 - error_left(learner.transform(X), y) / ((y - y.mean()) ** 2).sum()
        self.assertAlmostEqual(learner.model_.info()["objective"], explained, places=9)
        self.assertAlmostEqual(learner.score(X, y), explained, places=9)
        self.assertGreater(explained, 0.9)
        self.assertLess(error_left(learner.transform(X), y), error_left(X, y))

    def test_kinds_of_y(self):
        X, y = waves()
        Z = mustlink.MLKR().fit(X, y).transform(X)
        for other in (list(y), y[:, None], y.astype(object)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                np.testing.assert_array_equal(mustlink.MLKR().fit(X, other).transform(X), Z)

    def test_links_are_ignored(self):
        X, y = waves()
        with self.assertWarnsRegex(mustlink.Notice, "1 link ignored"):
            learner = mustlink.MLKR().fit(X, y, links=Links([(0, 1)], [1]))
        np.testing.assert_array_equal(learner.transform(X), mustlink.MLKR().fit(X, y).transform(X))

    def test_bad_targets(self):
        X, y = waves()
        for bad, words in (
            (None, "want one number for each point"),
            (y[:-1], "inconsistent numbers of samples"),
            (np.where(np.arange(len(y)) == 3, np.nan, y), "NaN or infinity"),
            (["high"] * len(y), "not numeric"),
            (np.ones(len(y)), "all targets are equal"),
            (np.ones((len(y), 2)), "1d array"),
        ):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                mustlink.MLKR().fit(X, bad)
        with self.assertRaisesRegex(ValueError, "krca does not learn from them"):
            from mustlink import _model
            from mustlink._points import as_points

            _model.fit("krca", {"targets": y.tolist()}, as_points(X), Links([(0, 1)], [1]), (None, None), None)


if __name__ == "__main__":
    unittest.main()
