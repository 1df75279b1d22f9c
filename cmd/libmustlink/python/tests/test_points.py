"""Arrays of all types and layouts, and values that are not arrays."""

from __future__ import annotations

import copy
import json
import os
import pickle
import tempfile
import unittest
import warnings

import numpy as np

import mustlink
from mustlink import Forest, ITML, KPCA, KRCA, RCA

from .data import blobs

try:
    import pandas
except ImportError:
    pandas = None
try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None


class Layouts(unittest.TestCase):
    def setUp(self):
        self.X, self.y = blobs()
        self.learner = KRCA().fit(self.X, self.y)
        self.want = self.learner.transform(self.X)

    def test_dense(self):
        X = self.X
        wide = np.zeros((60, 9))
        wide[:, 2:6] = X
        steps = np.zeros((60, 8))
        steps[:, ::2] = X
        shifted = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.uint8)
        unaligned = np.ndarray(X.shape, dtype=np.float64, buffer=shifted.tobytes())
        for name, same in {
            "columns": np.asfortranarray(X),
            "turned": np.ascontiguousarray(X.T).T,
            "part": wide[:, 2:6],
            "every other column": steps[:, ::2],
            "backwards": X[::-1].copy()[::-1],
            "list": X.tolist(),
            "other bytes": X.astype(">f8"),
            "objects": X.astype(object),
            "unaligned": unaligned,
            "read-only": np.frombuffer(X.tobytes()).reshape(X.shape),
        }.items():
            with self.subTest(name):
                np.testing.assert_array_equal(self.learner.transform(same), self.want)
                np.testing.assert_array_equal(KRCA().fit(same, self.y).transform(X), self.want)

    def test_no_copy_where_the_layout_allows(self):
        from mustlink._points import as_points

        for X in (self.X, np.asfortranarray(self.X), self.X.astype(np.float32), np.zeros((60, 9))[:, 2:6]):
            points = as_points(X)
            self.assertEqual(points.of.data, X.ctypes.data)
        self.assertNotEqual(as_points(self.X[:, ::2]).of.data, self.X.ctypes.data)

    def test_singles(self):
        single = self.X.astype(np.float32)
        got = self.learner.transform(single)
        self.assertEqual(got.dtype, np.float32)
        np.testing.assert_array_equal(got, self.want.astype(np.float32))

    def test_whole_numbers(self):
        X = np.round(self.X).astype(int)
        np.testing.assert_array_equal(RCA().fit(X, self.y).transform(X), RCA().fit(X.astype(float), self.y).transform(X.astype(float)))

    @unittest.skipIf(sparse is None, "scipy is not there")
    def test_sparse(self):
        X = np.where(np.abs(self.X) > 1, self.X, 0)
        want = KRCA(kernel="linear").fit(X, self.y)
        for make in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
            got = KRCA(kernel="linear").fit(make(X), self.y)
            np.testing.assert_allclose(got.gram(make(X)), want.gram(X), atol=1e-9 * np.abs(want.gram(X)).max())
        unsorted = sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 4))
        np.testing.assert_allclose(
            got.transform(sparse.vstack([unsorted, unsorted])), got.transform(sparse.csr_matrix([[2.0, 0, 5, 0]] * 2)), rtol=0, atol=0
        )
        self.assertEqual(unsorted.nnz, 3)  # the caller's matrix is not changed

    @unittest.skipIf(pandas is None, "pandas is not there")
    def test_frames(self):
        frame = pandas.DataFrame(self.X, columns=list("abcd"))
        learner = KRCA().fit(frame, pandas.Series(self.y))
        np.testing.assert_array_equal(learner.transform(frame), self.want)
        self.assertEqual(learner.feature_names_in_.tolist(), list("abcd"))
        with self.assertWarnsRegex(UserWarning, "feature names"):
            learner.transform(self.X)
        with self.assertRaises(TypeError):
            learner.fit(frame.rename(columns={"a": 1}), self.y)
        with self.assertRaises(ValueError):  # a column of texts: an error only where nothing is prepared
            KRCA(prepare="none").fit(frame.assign(a="text"), self.y)

    def test_precomputed(self):
        K = self.X @ self.X.T
        new = blobs(7, seed=5)[0]
        want = KRCA(kernel="linear", dims=3).fit(self.X, self.y)
        got = KRCA(kernel="precomputed", dims=3).fit(K, self.y)
        scale = np.abs(want.transform(self.X)).max()
        np.testing.assert_allclose(np.abs(got.transform(K)), np.abs(want.transform(self.X)), atol=1e-8 * scale)
        np.testing.assert_allclose(
            np.abs(got.transform(new @ self.X.T, diagonal=(new * new).sum(axis=1))), np.abs(want.transform(new)), atol=1e-8 * scale
        )
        with self.assertRaisesRegex(ValueError, "diagonal"):
            got.transform(new @ self.X.T)
        with self.assertRaisesRegex(ValueError, "diagonal"):
            got.transform(new @ self.X.T, diagonal=[1.0])

    def test_linear_methods(self):
        """A Gram matrix, a kernel and sparse rows give a linear method the distances of the features."""
        pairs = np.array([(i, (7 * i + 3) % len(self.X)) for i in range(len(self.X))])
        want = RCA().fit(self.X, self.y).distances(self.X, pairs)
        K = self.X @ self.X.T
        np.testing.assert_allclose(RCA(kernel="precomputed").fit(K, self.y).distances(K, pairs), want, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(RCA(kernel="linear").fit(self.X, self.y).distances(self.X, pairs), want, rtol=1e-6, atol=1e-9)
        if sparse is not None:
            rows = sparse.csr_matrix(self.X)
            np.testing.assert_allclose(RCA().fit(rows, self.y).distances(rows, pairs), want, rtol=1e-6, atol=1e-9)

    def test_standardize(self):
        scaled = (self.X - self.X.mean(axis=0)) / self.X.std(axis=0)
        np.testing.assert_allclose(
            RCA(standardize=True).fit(self.X, self.y).transform(self.X), RCA().fit(scaled, self.y).transform(scaled), atol=1e-9
        )


class Mistakes(unittest.TestCase):
    def setUp(self):
        self.X, self.y = blobs()
        self.learner = RCA().fit(self.X, self.y)

    def test_shapes(self):
        for bad, word in (
            (self.X[:, 0], "1D array"),
            (3.0, "0D array"),
            (self.X[None, None], "4D array"),
            (self.X[:0], "0 sample"),
            (self.X[:, :0], "0 feature"),
            (self.X[:, :2], "expecting 4 features"),
        ):
            with self.assertRaisesRegex(ValueError, word):
                self.learner.transform(bad)
        with self.assertRaisesRegex(ValueError, "1 sample"):
            RCA().fit(self.X[:1], self.y[:1])

    def test_types(self):
        for bad in (self.X.astype("datetime64[s]"), np.zeros((3, 4), dtype="V8"), np.array([[{}] * 4], dtype=object)):
            with self.assertRaises(TypeError):
                self.learner.transform(bad)
        for bad in (self.X + 1j, np.array([["a"] * 4])):
            with self.assertRaises(ValueError):
                self.learner.transform(bad)
        with self.assertRaises((TypeError, ValueError)):
            self.learner.transform(None)

    def test_values(self):
        for value in (np.nan, np.inf, -np.inf):
            X = self.X.copy()
            X[3, 2] = value
            with self.assertRaisesRegex(ValueError, 'column 2 has (a NaN|inf|-inf) in row 3: want'):
                self.learner.transform(X)
            with self.assertRaisesRegex(ValueError, "NaN or infinity"):
                RCA(prepare="none").fit(X, self.y)
            if np.isinf(value):
                with self.assertRaisesRegex(ValueError, "NaN or infinity"):
                    RCA().fit(X, self.y)
        many = np.zeros((40_000, 4))
        many[30_000, 1] = np.nan  # beyond the first block
        with self.assertRaisesRegex(ValueError, "row 30000"):
            self.learner.transform(many)

    def test_pairs(self):
        for bad in ([(0, 60)], [(-1, 0)]):
            with self.assertRaises(ValueError):
                self.learner.distances(self.X, bad)
        with self.assertRaises(TypeError):
            self.learner.distances(self.X, [(0.0, 1.0)])
        self.assertEqual(self.learner.distances(self.X, []).shape, (0,))

    def test_not_fitted(self):
        for call in (lambda e: e.transform(self.X), lambda e: e.score(self.X, self.y), lambda e: e.save("nowhere")):
            with self.assertRaises(mustlink.NotFittedError):
                call(RCA())

    def test_failed_fit_leaves_no_model(self):
        learner = RCA()
        with self.assertRaises(ValueError):
            learner.fit(self.X)
        with self.assertRaises(mustlink.NotFittedError):
            learner.transform(self.X)

    def test_memory_limit(self):
        with self.assertRaisesRegex(MemoryError, "limit"):
            KRCA(memory_limit=1000).fit(self.X, self.y)

    def test_freed(self):
        model = self.learner.model_
        model.free()
        model.free()
        for call in (lambda: model.embed(self.X), model.info, model.to_bytes, lambda: self.learner.transform(self.X)):
            with self.assertRaisesRegex(RuntimeError, "freed"):
                call()


class Files(unittest.TestCase):
    def setUp(self):
        self.X, self.y = blobs()

    def test_pickle_and_copy(self):
        for learner in (ITML().fit(self.X, self.y), KRCA(standardize=True).fit(self.X, self.y)):
            want = learner.transform(self.X)
            for again in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner), copy.copy(learner)):
                np.testing.assert_array_equal(again.transform(self.X), want)
                self.assertEqual(again.get_params(), learner.get_params())
        pickle.loads(pickle.dumps(RCA()))

    def test_files(self):
        learner = RCA().fit(self.X, self.y)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.mlk")
            learner.save(path)
            model = mustlink.load(path)
            np.testing.assert_array_equal(model.embed(self.X), learner.transform(self.X))
            self.assertEqual(model.info()["method"], "rca")
            with self.assertRaises(OSError):
                mustlink.load(path + "x")
            with self.assertRaises((OSError, ValueError)):
                learner.save(os.path.join(folder, "none", "model.mlk"))
            data = open(path, "rb").read()
            for k, bad in enumerate((b"", b"nothing", data[:-1], data[:20] + b"\xff" + data[21:])):
                with open(path, "wb") as file:
                    file.write(bad)
                with self.subTest(k), self.assertRaises(ValueError):
                    mustlink.load(path)

    def test_export(self):
        learner = RCA(standardize=True).fit(self.X, self.y)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            sizes = []
            for precision in ("double", "single"):
                learner.to_onnx(path, precision=precision)
                sizes.append(os.path.getsize(path))
                with self.subTest(precision), open(path, "rb") as file:
                    self.assertIn(b"coordinates", file.read())
            self.assertLess(abs(sizes[1] - sizes[0]), 100)  # a linear map computes in double inside
            learner.to_onnx(os.path.join(folder, "model.json"))
            with open(os.path.join(folder, "model.json")) as file:
                linear = json.load(file)
            y = (self.X - linear["center"]) @ np.transpose(linear["transform"]) - linear["offset"]
            np.testing.assert_allclose(y, learner.transform(self.X), rtol=0, atol=1e-10)
            for bad in (lambda: learner.to_onnx(path, precision="half"), lambda: learner.to_onnx(path + "x"),
                        lambda: Forest().fit(self.X, self.y).to_onnx(path)):
                with self.assertRaises(ValueError):
                    bad()

    def test_gram_and_distances_agree(self):
        learner = KRCA().fit(self.X, self.y)
        K = learner.gram(self.X)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_allclose(learner.gram(self.X[:9], self.X), K[:9], atol=1e-9 * np.abs(K).max())
        pairs = np.array([(0, 5), (3, 3), (59, 2)])
        i, j = pairs.T
        np.testing.assert_allclose(learner.distances(self.X, pairs) ** 2, K[i, i] + K[j, j] - 2 * K[i, j], atol=1e-9 * np.abs(K).max())

    def test_embedded_share(self):
        """The coordinates of KRCA hold a share of the learned distance, those of linear methods all of it."""
        learner = KRCA(n_components=2).fit(self.X, self.y)
        i, j = np.triu_indices(len(self.X), 1)
        Z = learner.transform(self.X)
        held = ((Z[i] - Z[j]) ** 2).sum() / (learner.distances(self.X, np.column_stack([i, j])) ** 2).sum()
        self.assertLess(abs(learner.embedded_share_ - held), 0.05)
        self.assertLess(held, 0.95)
        self.assertEqual(RCA().fit(self.X, self.y).embedded_share_, 1)
        self.assertTrue(np.isnan(KRCA(kernel="precomputed").fit(self.X @ self.X.T, self.y).embedded_share_))

    def test_without_links(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(KPCA(dims=2).fit(self.X).transform(self.X).shape, (60, 2))


if __name__ == "__main__":
    unittest.main()
