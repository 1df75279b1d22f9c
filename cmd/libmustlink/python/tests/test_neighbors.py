"""Searches for nearest neighbors."""

from __future__ import annotations

import os
import pickle
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

from mustlink import KRCA, NeighborIndex

from .data import blobs


def brute_force(X, queries, k):
    """Return the distances and rows of the k nearest rows of X."""
    distances = np.sqrt(((queries[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    rows = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, rows, axis=1), rows


class Neighbors(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(4)
        centers = 6 * rng.standard_normal((25, 5))
        self.X = centers[rng.integers(0, 25, 2000)] + rng.standard_normal((2000, 5))
        self.queries = self.X[:300] + 0.3 * rng.standard_normal((300, 5))
        self.index = NeighborIndex(self.X, n_neighbors=6)

    def test_exact(self):
        for k in (1, 6):
            want, rows = brute_force(self.X, self.queries, k)
            distances, found = self.index.kneighbors(self.queries, k)
            np.testing.assert_array_equal(found, rows)
            np.testing.assert_allclose(distances, want, rtol=1e-10)
        turned = np.asfortranarray(self.queries)
        np.testing.assert_array_equal(self.index.kneighbors(turned)[1], self.index.kneighbors(self.queries)[1])
        self.assertEqual(self.index.measured_recall(1), 1)

    def test_recall(self):
        rows = brute_force(self.X, self.queries, 6)[1]
        shares = []
        for recall in (0.5, 0.9, 0.99):
            found = self.index.kneighbors(self.queries, recall=recall)[1]
            shares.append(np.mean([len(set(a) & set(b)) / 6 for a, b in zip(found, rows)]))
            self.assertAlmostEqual(shares[-1], self.index.measured_recall(recall), delta=0.1)
            self.assertGreater(shares[-1], recall - 0.05)
        self.assertEqual(shares, sorted(shares))

    def test_workers_and_copies(self):
        X = self.X.copy()
        one = NeighborIndex(X, n_neighbors=6, n_jobs=1)
        X[:] = 0  # the index has a copy
        for a, b in zip(one.kneighbors(self.queries, recall=0.8), self.index.kneighbors(self.queries, recall=0.8)):
            np.testing.assert_array_equal(a, b)

    def test_coordinates(self):
        X, y = blobs()
        learner = KRCA().fit(X, y)
        rows = NeighborIndex(learner.transform(X), n_neighbors=3).kneighbors(learner.transform(X))[1]
        np.testing.assert_array_equal(rows[:, 0], np.arange(len(X)))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.index"
            self.index.save(path)
            loaded = NeighborIndex.load(path, self.X)
            self.assertEqual((loaded.n_neighbors, loaded.n_samples, loaded.n_features), (6, 2000, 5))
            for recall in (0.8, 1):
                for a, b in zip(loaded.kneighbors(self.queries, recall=recall), self.index.kneighbors(self.queries, recall=recall)):
                    np.testing.assert_array_equal(a, b)
                self.assertEqual(loaded.measured_recall(recall), self.index.measured_recall(recall))
            again = Path(folder) / "again.index"
            loaded.save(again)
            content = path.read_bytes()
            self.assertEqual(again.read_bytes(), content)
            other = self.X.copy()
            other[7, 2] += 1e-9
            for rows in (other, self.X[:-1], self.X[::-1]):
                with self.assertRaisesRegex(ValueError, "rows.index: it is the index of other rows"):
                    NeighborIndex.load(path, rows)
            path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
            with self.assertRaisesRegex(ValueError, "not a usable index"):
                NeighborIndex.load(path, self.X)
            with self.assertRaises(MemoryError):
                NeighborIndex.load(again, self.X, memory_limit=1000)
            with self.assertRaises(OSError):
                NeighborIndex.load(Path(folder) / "none", self.X)
            with self.assertRaises(OSError):
                self.index.save(Path(folder) / "none" / "rows.index")

    def test_files_of_the_command(self):
        command = os.environ.get("MUSTLINK_COMMAND")
        if not command:
            self.skipTest("MUSTLINK_COMMAND is not set")
        X, y = blobs()
        first, second = KRCA().fit(X, y), KRCA(n_components=1).fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            model, table, path = (str(Path(folder) / name) for name in ("model.mlk", "rows.csv", "rows.index"))
            first.model_.save(model)
            np.savetxt(table, X, delimiter=",", fmt="%.17g", header=",".join(f"x{j}" for j in range(X.shape[1])), comments="")
            arguments = ["neighbors", model, "--train", table, "-i", table, "-k", "3", "--approximate", "recall=.9", "--index", path]
            subprocess.run([command, *arguments, "-q", "-o", str(Path(folder) / "near.csv")], check=True)
            rows = first.transform(X)
            index = NeighborIndex.load(path, rows, first)
            np.testing.assert_array_equal(index.kneighbors(rows)[1], NeighborIndex(rows, n_neighbors=3).kneighbors(rows)[1])
            with self.assertRaisesRegex(ValueError, "index of another model"):
                NeighborIndex.load(path, rows, second)
            with self.assertRaisesRegex(ValueError, "in the index it is in cell"):
                NeighborIndex.load(path, rows[::-1])

    def test_mistakes(self):
        bad = self.X.copy()
        bad[3, 1] = np.nan
        for call, words in {
            lambda: NeighborIndex(self.X, n_neighbors=2000): "neighbors is 2000: want",
            lambda: NeighborIndex(self.X, n_neighbors=0): "neighbors is 0: want",
            lambda: NeighborIndex(bad): "NaN",
            lambda: self.index.kneighbors(self.X[:, :4]): "number of columns",
            lambda: self.index.kneighbors(self.X, 2001): "neighbors is 2001: want",
            lambda: self.index.kneighbors(self.X, -1): "neighbors is -1: want",
            lambda: self.index.kneighbors(self.X, recall=0): "recall is 0: want",
            lambda: self.index.kneighbors(self.X, recall=float("nan")): "recall is NaN: want",
        }.items():
            with self.assertRaisesRegex(ValueError, words):
                call()
        with self.assertRaises(MemoryError):
            NeighborIndex(self.X, memory_limit=1000)
        with self.assertRaisesRegex(TypeError, "save it, or make it again"):
            pickle.dumps(self.index)
        self.assertEqual(repr(self.index), "<mustlink.NeighborIndex: 2000 rows of 5 columns>")
        self.index.free()
        with self.assertRaisesRegex(RuntimeError, "handle"):
            self.index.kneighbors(self.queries)


if __name__ == "__main__":
    unittest.main()
