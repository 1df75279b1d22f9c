"""Links of all kinds, and the estimators that learn from them."""

from __future__ import annotations

import importlib
import pickle
import unittest
import warnings

import numpy as np

import mustlink
from mustlink import GML, ITML, KRCA, LMNN, LSML, NPKL, RCA, Links, Notice
from mustlink._links import numbered

from .data import blobs, rings


def import_or_skip(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not there") from None


class Making(unittest.TestCase):
    def test_labels(self):
        y = np.array(["b", "a", "b", "a", "b"])
        links = Links.from_labels(y, 3, 2, seed=5)
        self.assertEqual(links.signs.tolist(), [1, 1, 1, -1, -1])
        for (i, j), sign in zip(links.pairs, links.signs):
            self.assertEqual(y[i] == y[j], sign > 0)
        self.assertEqual(len(np.unique(links.pairs, axis=0)), 5)
        again = Links.from_labels(np.array([7, 3, 7, 3, 7]), 3, 2, seed=5)
        self.assertTrue((links.pairs == again.pairs).all())

    def test_repr(self):
        for links, text in (
            (Links(), "Links()"),
            (Links([(0, 1), (0, 2)], [True, False]), "Links(must=1, cannot=1)"),
            (Links([(0, 1)], [False], triplets=[(0, 1, 2)]), "Links(must=0, cannot=1, triplets=1)"),
            (Links.from_groups([0, 0, -1, 3]), "Links(groups=2, rows=4)"),
            (Links.from_labels([5, 7, 5]), "Links(classes=2, rows=3)"),
        ):
            self.assertEqual(repr(links), text)

    def test_unlabeled(self):
        """-1 is a label unless unlabeled says otherwise."""
        y = np.array([-1, -1, 0, 0, 1, 1])
        self.assertEqual(len(Links.from_labels(y, 3)), 3)
        with self.assertRaisesRegex(ValueError, "at most 2"):
            Links.from_labels(y, 3, unlabeled=-1)
        self.assertEqual(Links.from_labels([0.0, np.nan, 0.0], 1, unlabeled=np.nan).pairs.tolist(), [[0, 2]])

    def test_values_for_none(self):
        """None, NaN, NA and NaT of every type are no labels, and unlabeled is one more."""
        named = ["b", "a", "b", "a", "c", "c"]
        gaps = [1, 4]
        spellings = {
            "list of None": [None if i in gaps else v for i, v in enumerate(named)],
            "list of NaN": [np.nan if i in gaps else v for i, v in enumerate(named)],
            "tuple": tuple(float("nan") if i in gaps else v for i, v in enumerate(named)),
            "objects": np.array([np.nan if i in gaps else v for i, v in enumerate(named)], dtype=object),
            "floats": np.array([np.nan if i in gaps else ord(v) for i, v in enumerate(named)]),
            "single": np.array([np.nan if i in gaps else ord(v) for i, v in enumerate(named)], dtype=np.float32),
            "numbers": [None if i in gaps else ord(v) for i, v in enumerate(named)],
            "dates": np.array(["NaT" if i in gaps else f"2020-01-0{ord(v) - 96}" for i, v in enumerate(named)], dtype="datetime64[D]"),
            "column": np.array([None if i in gaps else v for i, v in enumerate(named)], dtype=object)[:, None],
        }
        try:
            import pandas

            cells = [pandas.NA if i in gaps else v for i, v in enumerate(named)]
            spellings.update({name: pandas.Series(cells, dtype=name) for name in ("object", "string", "category")})
            spellings["Int64"] = pandas.Series([pandas.NA if i in gaps else ord(v) for i, v in enumerate(named)], dtype="Int64")
            spellings["Float64"] = spellings["Int64"].astype("Float64")
            spellings["Int8"] = spellings["Int64"].astype("Int8")
            spellings["category of numbers"] = spellings["Int64"].astype("category")
            spellings["mixed gaps"] = pandas.Series([[None, np.nan][i % 2] if i in gaps else v for i, v in enumerate(named)])
            spellings["timestamps"] = pandas.Series(spellings["dates"])
            spellings["periods"] = spellings["timestamps"].dt.to_period("D")
        except ImportError:
            pass
        for name, y in spellings.items():
            with self.subTest(name):
                self.assertEqual(numbered(y).tolist(), [1, -1, 1, 0, -1, 2])
                drawn = Links.from_labels(y, 1, 3)
                self.assertFalse(np.isin(drawn.pairs, gaps).any())
        booleans = np.array([True, None, False, np.nan], dtype=object)
        self.assertEqual(numbered(booleans).tolist(), [1, -1, 0, -1])
        if "string" in spellings:
            self.assertEqual(numbered(pandas.Series(booleans, dtype="boolean")).tolist(), [1, -1, 0, -1])
            frame = pandas.DataFrame({"kind": spellings["string"]})
            self.assertEqual(numbered(frame["kind"]).tolist(), [1, -1, 1, 0, -1, 2])
        self.assertEqual(numbered([1.0, np.nan, -1.0, 1.0], -1).tolist(), [0, -1, -1, 0])
        self.assertEqual(numbered(spellings["objects"], "c").tolist(), [1, -1, 1, 0, -1, -1])

    def test_texts_of_gaps(self):
        """A text nan, which NumPy makes of a missing value, is a label, and a warning says so."""
        y = np.array(["a", "nan", "b", "a"])
        with self.assertWarnsRegex(Notice, "y has the text 'nan', which is a class like others: want unlabeled='nan' if it means no label"):
            self.assertEqual(numbered(y).tolist(), [0, 2, 1, 0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(numbered(y, "nan").tolist(), [0, -1, 1, 0])

    def test_fit_without_some_labels(self):
        """A fit with gaps in y is that with unlabeled, and no link has an unlabeled row."""
        X, y = blobs()
        some = np.where(np.arange(60) % 4 == 0, -1, y)
        gaps = np.where(some < 0, np.nan, some)
        for kind in (ITML, KRCA, LMNN):
            got, want = kind().fit(X, gaps), kind(unlabeled=-1).fit(X, some)
            np.testing.assert_array_equal(got.transform(X), want.transform(X))
            self.assertEqual(got.score(X, gaps), want.score(X, some))
        try:
            import pandas

            for dtype in ("Int64", "Float64", "category", "string", "object"):
                column = pandas.Series(gaps).astype("Int64").astype(dtype)
                np.testing.assert_array_equal(ITML().fit(X, column).transform(X), ITML(unlabeled=-1).fit(X, some).transform(X))
        except ImportError:
            pass
        for empty in ([None] * 60, np.full(60, np.nan)):
            with self.assertRaisesRegex(ValueError, "^y has no label in any of its 60 rows: want labels for some"):
                ITML().fit(X, empty)

    def test_points(self):
        random = np.random.RandomState(0)
        pool = random.normal(size=(9, 3))
        rows = random.randint(9, size=(20, 2))
        rows = rows[rows[:, 0] != rows[:, 1]]
        X, links = Links.from_points(pool[rows], np.where(np.arange(len(rows)) % 2, 1, -1))
        self.assertTrue((X[links.pairs] == pool[rows]).all())
        self.assertEqual(len(X), rows.size)

    def test_bad(self):
        with self.assertRaises(TypeError):
            Links([(0.5, 1)], [1])
        with self.assertRaises(ValueError):
            Links([(0, 1, 2)], [1])
        with self.assertRaisesRegex(ValueError, "sign 1 is 0"):
            Links([(0, 1), (1, 2)], [1, 0])
        with self.assertRaisesRegex(ValueError, "signs"):
            Links([(0, 1)], [1, 1])
        with self.assertRaises(ValueError):
            Links([(0, 1)], [1], weights=[1, 2])
        with self.assertRaises(TypeError):
            Links.from_groups([0.5])
        with self.assertRaises(ValueError):
            Links.from_labels([[1, 2], [3, 4]], 1)
        with self.assertRaisesRegex(ValueError, "y contains infinity"):
            Links.from_labels([1.0, np.inf], 1)
        with self.assertRaises(ValueError):
            Links.from_labels([0, 0], -1)
        with self.assertRaises(TypeError):
            Links.from_labels([0, 0], 0.5)


class Frames(unittest.TestCase):
    def test_row_numbers(self):
        frame = {"a": np.array([0, 3]), "b": np.array([1, 2]), "same": np.array([True, False]), "w": np.array([1.5, 2.0])}
        links = Links.from_frame(frame, "a", "b", "same", weight="w")
        self.assertEqual((links.pairs.tolist(), links.signs.tolist(), links.weights.tolist()), ([[0, 1], [3, 2]], [1, -1], [1.5, 2.0]))
        self.assertEqual(repr(Links.from_frame(frame, "a", "b")), "Links(must=2, cannot=0)")

    def test_ids(self):
        pandas = import_or_skip("pandas")
        points = pandas.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["u", "v", "w"])
        frame = pandas.DataFrame({"left": ["w", "u"], "right": ["u", "v"], "sign": [1, -1]}, index=[7, 9])
        links = Links.from_frame(frame, "left", "right", "sign", ids=points.index)
        self.assertEqual((links.pairs.tolist(), links.signs.tolist(), links.n_samples), ([[2, 0], [0, 1]], [1, -1], 3))

    def test_columns_with_gaps(self):
        """Columns of pandas that may have gaps are taken where they have none."""
        pandas = import_or_skip("pandas")
        frame = pandas.DataFrame({"a": [0, 1], "b": [2, 2], "same": [True, False]}).astype({"a": "Int64", "same": "boolean"})
        links = Links.from_frame(frame, "a", "b", "same")
        self.assertEqual((links.pairs.tolist(), links.signs.tolist()), ([[0, 2], [1, 2]], [1, -1]))
        frame.loc[1, "same"] = pandas.NA
        with self.assertRaisesRegex(ValueError, "the frame lacks the column 'c': want one of 'a', 'b', 'same'"):
            Links.from_frame(frame, "a", "c")
        with self.assertRaisesRegex(TypeError, "frame is of type list: want a data frame, or a dict of columns"):
            Links.from_frame([(0, 1)], "a", "b")
        with self.assertRaisesRegex(ValueError, """column "a" has 'u' in row 0: want a row number, or the parameter ids"""):
            Links.from_frame(pandas.DataFrame({"a": ["u"]}), "a", "a")
        with self.assertRaises(ValueError) as caught:
            Links.from_frame(frame, "a", "b", "same")
        self.assertEqual(str(caught.exception), 'column "same" has <NA> in row 1: want a number, True or False')

    def test_bad(self):
        frame = {"a": ["u", "x"], "b": ["v", "u"], "n": [0, 1], "sign": [1, 2]}
        for arguments, ids, kind, message in (
            (("a", "b"), ["u", "v"], ValueError, """column "a" has 'x' in row 1: want one of the ids"""),
            (("a", "b"), None, TypeError, """column "a" has dtype <U1: want row numbers, or the parameter ids"""),
            (("a", "c"), ["u", "x"], ValueError, "the frame lacks the column 'c': want one of 'a', 'b', 'n', 'sign'"),
            (("a", "b"), ["u", "u"], ValueError, "ids has 'u' in rows 0 and 1: want a different id for each row"),
            (("n", "n", "sign"), None, ValueError, "sign 1 is 2: want 1 for a must-link or -1 for a cannot-link"),
        ):
            with self.assertRaises(kind) as caught:
                Links.from_frame(frame, *arguments, ids=ids)
            self.assertEqual(str(caught.exception), message)


class Closure(unittest.TestCase):
    def test_brute_force(self):
        """The closure has exactly the pairs whose sign follows from the classes of a random partition."""
        random = np.random.RandomState(4)
        for _ in range(30):
            label = random.randint(4, size=9)
            pairs = random.randint(9, size=(7, 2))
            pairs = pairs[pairs[:, 0] != pairs[:, 1]]
            signs = np.where(label[pairs[:, 0]] == label[pairs[:, 1]], 1, -1)
            together = np.eye(9, dtype=bool)
            for (i, j), sign in zip(pairs, signs):
                together[i, j] |= sign > 0
                together[j, i] |= sign > 0
            together = np.linalg.matrix_power(together.astype(int), 9) > 0
            apart = np.zeros((9, 9), dtype=bool)
            for i, j in pairs[signs < 0]:
                apart |= np.outer(together[i], together[j]) | np.outer(together[j], together[i])
            want = {(i, j): 1 if together[i, j] else -1 for i in range(9) for j in range(i + 1, 9) if together[i, j] or apart[i, j]}
            found = Links(pairs, signs).closure()
            self.assertEqual({tuple(p): s for p, s in zip(found.pairs.tolist(), found.signs.tolist())}, want)
            self.assertEqual(len(found), len(want))
            again = found.closure()
            self.assertTrue((again.pairs == found.pairs).all() and (again.signs == found.signs).all())

    def test_groups_and_labels(self):
        self.assertEqual(repr(Links.from_groups([0, 0, 0, -1, 1]).closure()), "Links(must=3, cannot=0)")
        self.assertEqual(repr(Links.from_labels([0, 0, 1, 2, 2]).closure()), "Links(must=2, cannot=8)")

    def test_weights(self):
        links = Links([(1, 0), (1, 2), (2, 3)], [1, 1, -1], weights=[2, 3, 4], bounds=[0.5, np.nan, 9], triplets=[(0, 1, 3)]).closure()
        self.assertEqual(links.weights.tolist(), [2, 1, 1, 3, 1, 4])
        np.testing.assert_array_equal(links.bounds, [0.5, np.nan, np.nan, np.nan, np.nan, 9])
        self.assertEqual(links.triplets.tolist(), [[0, 1, 3]])

    def test_contradiction(self):
        links = Links([(0, 5), (5, 2), (2, 7), (8, 9), (7, 0)], [1, 1, 1, 1, -1])
        with self.assertRaises(ValueError) as caught:
            links.closure()
        self.assertEqual(str(caught.exception), "rows 7 and 0 have a cannot-link, but must-links join them: 7 - 2 - 5 - 0: want links without contradictions")
        with self.assertRaisesRegex(MemoryError, "the closure has 45 links: want at most 44, as limit says"):
            Links.from_groups(np.zeros(10, dtype=int)).closure(limit=44)


class Rows(unittest.TestCase):
    def test_restriction(self):
        """Links between some rows are those whose rows are all among them, under their new numbers."""
        links = Links([(0, 1), (1, 4), (2, 4)], [1, -1, 1], weights=[1, 2, 3], triplets=[(4, 1, 2), (0, 1, 2)], n_samples=5)
        some = links[np.array([4, 2, 1])]
        self.assertEqual((some.pairs.tolist(), some.signs.tolist(), some.weights.tolist()), ([[2, 0], [1, 0]], [-1, 1], [2, 3]))
        self.assertEqual((some.triplets.tolist(), some.n_samples), ([[0, 2, 1]], 3))
        mask = np.array([False, True, True, False, True])
        self.assertEqual(links[mask].pairs.tolist(), links[[1, 2, 4]].pairs.tolist())
        self.assertEqual(Links.from_labels([5, 5, 6, 6])[[1, 2]].labels.tolist(), [0, 1])

    def test_bad(self):
        links = Links([(0, 1)], [1])
        self.assertIsNone(links.shape)
        with self.assertRaisesRegex(IndexError, "want row numbers below 2, or a mask"):
            links[[0, 5]]
        with self.assertRaisesRegex(ValueError, "twice"):
            links[[0, 0]]
        with self.assertRaisesRegex(ValueError, "n_samples is 1: want a number above 1, the last row of the links"):
            Links([(0, 1)], [1], n_samples=1)
        for wrong in (True, 2.5):
            with self.assertRaisesRegex(TypeError, "n_samples is .*: want an integer"):
                Links([(0, 1)], [1], n_samples=wrong)
        with self.assertRaises(TypeError):
            iter(links)


class Learning(unittest.TestCase):
    def test_rings(self):
        X, y = rings()
        links = Links.from_labels(y, 100, 100)
        learner = KRCA(kernel="rbf:sigma=0.5msq").fit(X, links=Links(links.pairs[:100], links.signs[:100]))
        self.assertGreater(learner.score(X, y), 0.95)
        self.assertLess(KRCA(kernel="linear").fit(X, links=Links(links.pairs[:100], links.signs[:100])).score(X, y), 0.7)

    def test_as_y(self):
        """Links may take the place of y in fit and score."""
        X, y = blobs()
        links = Links.from_labels(y, 20, 20)
        want = KRCA().fit(X, links=links)
        got = KRCA().fit(X, links)
        np.testing.assert_array_equal(got.transform(X), want.transform(X))
        self.assertEqual(got.score(X, links), want.score(X, links=links))
        with self.assertRaisesRegex(ValueError, "y is Links, and links are given, too: want one of them"):
            KRCA().fit(X, links, links=links)

    def test_shapes_of_pairs_agree(self):
        """The same links as labels, groups, rows or points give the same metric."""
        X, y = blobs()
        want = RCA().fit(X, y).transform(X)
        groups = RCA().fit(X, links=Links.from_groups(y)).transform(X)
        chain = [(i, i + 3) for i in range(57)]
        rows = RCA().fit(X, links=Links(chain, np.ones(57))).transform(X)
        np.testing.assert_array_equal(groups, want)
        np.testing.assert_array_equal(rows, want)
        formed, signs = X[np.array(chain + [(0, 1)])], np.r_[np.ones(57), -1]
        points, links = Links.from_points(formed, signs)
        np.testing.assert_array_equal(ITML().fit(formed, signs).transform(X), ITML().fit(points, links=links).transform(X))
        indexed = RCA(preprocessor=X).fit(np.array(chain), np.ones(57))
        np.testing.assert_allclose(indexed.get_mahalanobis_matrix(), RCA().fit(X, y).get_mahalanobis_matrix(), rtol=1e-9)

    def test_score_is_the_area(self):
        X, y = blobs(30)
        learner = RCA().fit(X, y)
        i, j = np.triu_indices(30, 1)
        d, same = learner.distances(X, np.column_stack([i, j])), y[i] == y[j]
        area = np.mean([np.mean(d[~same] > a) + 0.5 * np.mean(d[~same] == a) for a in d[same]])
        self.assertAlmostEqual(learner.score(X, y), area, places=12)

    def test_weights_bounds_triplets(self):
        X, y = blobs()
        links = Links.from_labels(y, 30, 30)
        plain = ITML().fit(X, links=links).transform(X)
        heavy = ITML().fit(X, links=Links(links.pairs, links.signs, weights=np.linspace(1, 9, 60))).transform(X)
        self.assertFalse(np.allclose(plain, heavy))
        bounds = ITML().fit(X, links=Links(links.pairs, links.signs, bounds=np.where(links.signs > 0, 0.5, 30.0)))
        d = bounds.distances(X, links.pairs)
        self.assertLess(d[links.signs > 0].mean(), d[links.signs < 0].mean())
        triplets = [(i, (i + 3) % 60, (i + 1) % 60) for i in range(60)]
        for learner in (ITML(), GML()):
            learner.fit(X, links=Links(triplets=triplets))
            t = np.array(triplets)
            self.assertGreater((learner.distances(X, t[:, :2]) < learner.distances(X, t[:, [0, 2]])).mean(), 0.9)
        with self.assertRaisesRegex(ValueError, "does not learn"):
            LMNN().fit(X, links=Links(triplets=triplets))

    def test_quadruplets(self):
        X, y = blobs()
        triplets = np.array([(i, (i + 3) % 60, (i + 1) % 60) for i in range(60)])
        quadruplets = triplets[:, [0, 1, 0, 2]]
        known = Links(quadruplets=quadruplets)
        self.assertEqual((len(known), repr(known)), (60, "Links(quadruplets=60)"))
        learner = LSML().fit(X, links=known)
        np.testing.assert_allclose(learner.transform(X), LSML().fit(X, links=Links(triplets=triplets)).transform(X))
        near, far = learner.distances(X, quadruplets[:, :2]), learner.distances(X, quadruplets[:, 2:])
        self.assertGreater((near < far).mean(), 0.9)
        for wrong, message in ((quadruplets + 1, "row 60"), ([(0, 1, 1, 0)], "two different pairs")):
            with self.assertRaisesRegex(ValueError, message):
                LSML().fit(X, links=Links(quadruplets=wrong))
        with self.assertRaisesRegex(ValueError, "shape"):
            Links(quadruplets=triplets)
        with self.assertRaisesRegex(ValueError, "does not learn"):
            ITML().fit(X, links=known)

    def test_update(self):
        X, y = blobs()
        links = Links.from_labels(y, 40, 40)
        some = Links(links.pairs[::2], links.signs[::2])
        rest = Links(links.pairs[1::2], links.signs[1::2])
        learner = NPKL(tol=1e-10).fit(X, links=some)
        before = learner.model_
        learner.update(X, links=rest)
        whole = NPKL(tol=1e-10).fit(X, links=links)
        np.testing.assert_allclose(learner.gram(X), whole.gram(X), atol=1e-4 * np.abs(whole.gram(X)).max())
        self.assertIsNot(learner.model_, before)
        krca = KRCA(fixed_s=1.0).fit(X, links=Links.from_groups(np.where(np.arange(60) < 20, y, -1)))
        old = krca.transform(X)
        new, group = blobs(9, seed=3)
        krca.update(new, links=Links.from_groups(group))
        self.assertFalse(np.allclose(np.abs(krca.transform(X)[:, :1]), np.abs(old[:, :1])))
        krca.update(drop_last=1)
        np.testing.assert_allclose(np.abs(krca.transform(X)), np.abs(old), atol=1e-7)
        with self.assertRaisesRegex(ValueError, "cannot be updated"):
            RCA().fit(X, y).update(X, links=rest)

    def test_warnings(self):
        X, y = blobs()
        with self.assertWarnsRegex(mustlink.Notice, "cannot-link"):
            KRCA().fit(X, links=Links.from_labels(y, 20, 20))
        with self.assertWarns(mustlink.ConvergenceWarning):
            mustlink.NCA(max_iter=1, contractions=0).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            KRCA().fit(X, y)  # cannot-links of labels are not drawn, so that there is no warning

    def test_bad(self):
        X, y = blobs()
        links = Links.from_labels(y, 20, 20)
        with self.assertRaisesRegex(ValueError, r"links are between 60 rows, and X has 50: want links\[rows\] for some of the rows"):
            ITML().fit(X[:50], links=links)
        ITML().fit(X[:50], links=links[:50])
        with self.assertRaises(TypeError):
            ITML().fit(X, links=[(0, 1)])
        with self.assertRaisesRegex(ValueError, "requires y"):
            ITML().fit(X)
        with self.assertRaisesRegex(ValueError, "row 60"):
            ITML().fit(X, links=Links([(0, 60)], [1]))
        with self.assertRaisesRegex(ValueError, "itself"):
            ITML().fit(X, links=Links([(2, 2)], [1]))
        with self.assertRaisesRegex(ValueError, "groups or labels"):
            RCA().fit(X, links=Links.from_groups(y[:-1]))
        with self.assertRaisesRegex(ValueError, "inconsistent"):
            RCA().fit(X, y[:-1])
        with self.assertRaises(ValueError):
            RCA().fit(X, y).score(X)

    def test_pickle(self):
        links = Links.from_labels([0, 0, 1], 1, 1)
        again = pickle.loads(pickle.dumps(links))
        self.assertTrue((again.pairs == links.pairs).all())


if __name__ == "__main__":
    unittest.main()
