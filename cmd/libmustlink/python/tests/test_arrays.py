"""Unusual arrays: read-only, unaligned, big-endian, masked and object arrays are copied, or refused by name."""

from __future__ import annotations

import numpy as np

from mustlink import ITML, MLKR, RCA, Links

from .data import blobs
from .test_pairs import Messages, pairs_of


def unaligned(array: np.ndarray) -> np.ndarray:
    """Return the array at an odd address."""
    memory = np.empty(array.nbytes + 1, dtype=np.uint8)
    out = memory[1:].view(array.dtype).reshape(array.shape)
    out[...] = array
    assert not out.flags.aligned
    return out


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a copy that cannot be written."""
    out = array.copy()
    out.flags.writeable = False
    return out


def swapped(array: np.ndarray) -> np.ndarray:
    """Return the array in the other order of bytes."""
    return array.astype(array.dtype.newbyteorder())


# What changes nothing.
SAME = {
    "read-only": read_only,
    "unaligned": unaligned,
    "big-endian": swapped,
    "object": lambda array: array.astype(object),
    "mask of nothing": np.ma.masked_array,
    "steps back": lambda array: array[::-1].copy()[::-1],
}


class Copied(Messages):
    def setUp(self):
        self.X, self.y = blobs()
        self.pairs, self.signs = pairs_of(self.y)

    def test_points(self):
        learner = RCA().fit(self.X, self.y)
        want = learner.transform(self.X)
        for name, change in SAME.items():
            with self.subTest(name):
                np.testing.assert_array_equal(RCA().fit(change(self.X), self.y).transform(self.X), want)
                np.testing.assert_array_equal(learner.transform(change(self.X)), want)
                np.testing.assert_array_equal(learner.distances(change(self.X), self.pairs), learner.distances(self.X, self.pairs))

    def test_single_precision(self):
        """Floats stay floats, also in the other order of bytes."""
        single = self.X.astype(np.float32)
        learner = RCA().fit(single, self.y)
        for name, change in SAME.items():
            if name != "object":
                with self.subTest(name):
                    self.assertEqual(learner.transform(change(single)).dtype, np.float32)
                    self.assertTrue(learner.transform(change(single)).dtype.isnative)

    def test_links(self):
        want = ITML().fit(self.X, links=Links(self.pairs, self.signs, weights=np.arange(80) + 1.0)).transform(self.X)
        for name, change in SAME.items():
            if name != "object":
                with self.subTest(name):
                    links = Links(change(self.pairs), change(self.signs), weights=change(np.arange(80) + 1.0))
                    np.testing.assert_array_equal(ITML().fit(self.X, links=links).transform(self.X), want)

    def test_pairs(self):
        want = ITML().fit(self.X[self.pairs], self.signs)
        by_index = ITML(preprocessor=self.X).fit(self.pairs, self.signs)
        for name, change in SAME.items():
            with self.subTest(name):
                points, signs = change(self.X[self.pairs]), self.signs if name == "object" else change(self.signs)
                learner = ITML().fit(points, signs)
                np.testing.assert_array_equal(learner.transform(self.X), want.transform(self.X))
                np.testing.assert_array_equal(want.pair_distance(points), want.pair_distance(self.X[self.pairs]))
                indexed = ITML(preprocessor=change(self.X)).fit(self.pairs if name == "object" else change(self.pairs), signs)
                np.testing.assert_array_equal(indexed.transform(self.X), by_index.transform(self.X))

    def test_input_does_not_change(self):
        X, pairs = self.X.copy(), self.X[self.pairs]
        copy = pairs.copy()
        ITML().fit(pairs, self.signs).predict(pairs)
        RCA().fit(X, self.y).transform(X)
        np.testing.assert_array_equal(X, self.X)
        np.testing.assert_array_equal(pairs, copy)


class Refused(Messages):
    def setUp(self):
        self.X, self.y = blobs()
        self.pairs, self.signs = pairs_of(self.y)

    def test_masked(self):
        X, pairs, signs = self.X, self.pairs, self.signs
        want = "want an array without a mask; numpy.nan can stand for a missing number"
        masked = np.ma.masked_greater(X, np.sort(X.ravel())[-3])
        formed = np.ma.masked_equal(X[pairs], X[pairs].max())
        count = int(np.ma.count_masked(formed))
        learner = ITML().fit(X[pairs], signs)
        for call, message in (
            (lambda: RCA().fit(masked, self.y), "X is a masked array with 2 masked values: "),
            (lambda: learner.transform(masked), "X is a masked array with 2 masked values: "),
            (lambda: RCA().fit(X, np.ma.masked_array(self.y, np.arange(60) == 3)), "y is a masked array with 1 masked value: "),
            (lambda: ITML().fit(formed, signs), f"X is a masked array with {count} masked value{'s' * (count > 1)}: "),
            (lambda: learner.pair_distance(formed), f"X is a masked array with {count} masked value{'s' * (count > 1)}: "),
            (lambda: Links(np.ma.masked_array(pairs, np.arange(160).reshape(80, 2) < 3), signs), "pairs is a masked array with 3 masked values: "),
            (lambda: Links(pairs, np.ma.masked_array(signs, np.arange(80) < 2)), "signs is a masked array with 2 masked values: "),
            (lambda: Links.from_groups(np.ma.masked_equal(self.y, 0)), "groups is a masked array with 20 masked values: "),
            (lambda: learner.distances(X, np.ma.masked_array(pairs, pairs < 0)[:0].reshape(0, 2)), None),
        ):
            if message is None:
                self.assertEqual(len(call()), 0)
            else:
                self.says(ValueError, message + want, call)

    def test_whole_numbers(self):
        import pandas
        from scipy import sparse

        first = 2**53 + 1  # float64 has only the even neighbors
        for many, kind in ((first, np.int64), (-first, np.int64), (2**64 - 1, np.uint64), (10**25, object)):
            X = np.arange(120).reshape(60, 2).astype(kind)
            X[7, 1] = many
            want = f"has {many} in row 7, column 1: the whole number has no exact float64: want at most 2^53 in size, or a text if it is an identifier"
            self.says(ValueError, "X " + want, lambda: RCA().fit(X, self.y))
            X[7, 1] = many - many % 2**40  # which float64 has
            RCA().fit(X, self.y)
        X = np.arange(120).reshape(60, 2)
        X[7, 1] = first
        self.says(ValueError, want.replace("has 1" + "0" * 25, f"the sparse matrix has {first}"), lambda: RCA().fit(sparse.csr_matrix(X), self.y))
        rows = want.replace("has 1" + "0" * 25, f"column 'b' has {first}").replace(", column 1", "")
        for column in (X[:, 1], pandas.array(X[:, 1], dtype="Int64"), X[:, 1].astype(object)):
            for other in (X[:, 0], self.X[:, 0], ["u", "v", None] * 20):
                self.says(ValueError, rows, lambda: RCA().fit(pandas.DataFrame({"a": other, "b": column}), self.y))
        RCA().fit(pandas.DataFrame({"a": self.X[:, 0], "b": [str(v) for v in X[:, 1] % 4 + first]}), self.y)

    def test_objects(self):
        X, pairs, signs = self.X.astype(object), self.pairs, self.signs
        X[4, 2] = "many"
        self.says(ValueError, "X has 'many' in row 4, column 2: want numbers (could not convert string to float: 'many')", lambda: RCA().fit(X, self.y))
        formed = self.X[pairs].astype(object)
        formed[3, 1, 0] = "few"
        self.says(ValueError, "X has 'few' in tuple 3, point 1, column 0: want numbers (could not convert string to float: 'few')", lambda: ITML().fit(formed, signs))
        self.says(TypeError, "pairs have dtype object: want integers, the row numbers of points", lambda: Links(pairs.astype(object), signs))
        self.says(TypeError, "signs have dtype object: want numbers", lambda: Links(pairs, signs.astype(object)))
        with self.assertRaisesRegex(TypeError, r"X has \{'a': 1\} in row 0, column 0: want numbers \(float\(\) argument must be"):
            X[4, 2], X[0, 0] = 1.0, {"a": 1}
            RCA().fit(X, self.y)
        with self.assertRaisesRegex(ValueError, "y is not numeric"):
            MLKR().fit(self.X, np.array(["a"] * 60))
