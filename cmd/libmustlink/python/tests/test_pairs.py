"""The idioms of metric-learn on the estimators: tuples, indices, distances, thresholds, matrices."""

from __future__ import annotations

import pickle
import unittest
import warnings

import numpy as np

from mustlink import DCA, GML, ITML, KRCA, LFDA, LMNN, LSML, MLKR, MMC, NCA, RCA, SCML, SDML, XRCA, Covariance, Links, NotFittedError, Notice, Raw, Xiang
from mustlink._linear import METHODS
from mustlink._sklearn import HAVE_SKLEARN
from mustlink._threshold import best_threshold
from mustlink._tuples import _first_seen, separate

from .data import blobs

try:
    import pandas
except ImportError:
    pandas = None


def pairs_of(y: np.ndarray, count: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return different pairs of rows, and their signs."""
    random = np.random.RandomState(seed)
    pairs = random.randint(len(y), size=(3 * count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:count]
    return pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)


class Messages(unittest.TestCase):
    """A test case that compares whole messages."""

    def says(self, kind: type[Exception], message: str, call) -> None:
        """Check the exception of a call."""
        with self.assertRaises(kind) as caught:
            call()
        self.assertEqual(str(caught.exception), message)


class Idioms(unittest.TestCase):
    def setUp(self):
        self.X, self.y = blobs()
        self.pairs, self.signs = pairs_of(self.y)

    def test_points_and_indices_agree(self):
        """Pairs of row numbers, of names, and links are the same input, and so are pairs of points and links between these."""
        X, pairs, signs = self.X, self.pairs, self.signs
        formed = ITML().fit(X[pairs], signs)
        points, links = Links.from_points(X[pairs], signs)
        np.testing.assert_array_equal(ITML().fit(points, links=links).transform(X), formed.transform(X))
        booleans = ITML().fit(X[pairs], signs > 0)
        np.testing.assert_array_equal(booleans.transform(X), formed.transform(X))
        self.assertEqual(booleans.threshold_, formed.threshold_)
        names = np.array([f"p{i}" for i in range(len(X))])
        used, rows = _first_seen(pairs)
        indexed = ITML(preprocessor=X).fit(pairs, signs)
        others = {
            "list": ITML(preprocessor=X.tolist()).fit(pairs.tolist(), signs.tolist()),
            "function": ITML(preprocessor=lambda rows: X[rows]).fit(pairs, signs),
            "names": ITML(preprocessor=lambda texts: np.array([X[int(t[1:])] for t in texts])).fit(names[pairs], signs),
            "objects": ITML(preprocessor=lambda texts: np.array([X[int(t[1:])] for t in texts])).fit(names[pairs].astype(object), signs),
            "links": ITML().fit(X[used], links=Links(rows, signs)),
        }
        for name, learner in others.items():
            with self.subTest(name):
                np.testing.assert_array_equal(learner.transform(X), indexed.transform(X))
                if name != "links":
                    self.assertEqual(learner.threshold_, indexed.threshold_)
        np.testing.assert_array_equal(indexed.pair_distance(pairs), indexed.pair_distance(X[pairs]))
        np.testing.assert_array_equal(indexed.predict(pairs), indexed.predict(X[pairs]))
        np.testing.assert_array_equal(indexed.transform(np.arange(9)), indexed.transform(X[:9]))
        self.assertEqual(indexed.score(pairs, signs), indexed.score(X[pairs], signs))
        labeled = LFDA(preprocessor=X).fit(np.arange(60), self.y)
        np.testing.assert_array_equal(labeled.transform(X), LFDA().fit(X, self.y).transform(X))

    def test_distances(self):
        learner = ITML().fit(self.X[self.pairs], self.signs)
        d = learner.pair_distance(self.X[self.pairs])
        Z = learner.transform(self.X)
        np.testing.assert_allclose(d, np.linalg.norm(Z[self.pairs[:, 0]] - Z[self.pairs[:, 1]], axis=1), rtol=1e-9)
        np.testing.assert_array_equal(d, learner.distances(self.X, self.pairs))
        np.testing.assert_array_equal(learner.pair_score(self.X[self.pairs]), -d)
        np.testing.assert_array_equal(learner.pair_distance(self.X[np.array([[3, 3]])]), [0])

    def test_kernel(self):
        """All but the matrix is there for a metric that is not linear."""
        learner = GML(kernel="rbf:sigma=median").fit(self.X[self.pairs], self.signs)
        metric = learner.get_metric()
        d = learner.pair_distance(self.X[self.pairs])
        self.assertAlmostEqual(metric(*self.X[self.pairs[0]]), d[0], places=12)
        self.assertAlmostEqual(metric(*self.X[self.pairs[0]], squared=True), d[0] ** 2, places=12)
        self.assertEqual(set(learner.predict(self.X[self.pairs])), {-1, 1})
        self.assertGreater(learner.score(self.X[self.pairs], self.signs), 0.9)
        self.assertFalse(hasattr(learner, "components_"))
        self.assertFalse(hasattr(KRCA().fit(self.X, self.y), "components_"))

    def test_order(self):
        """Triplets and quadruplets, of points and of indices."""
        triplets = np.array([(i, (i + 3) % 60, (i + 1) % 60) for i in range(60)])
        quadruplets = triplets[:, [0, 1, 0, 2]]
        for kind, tuples in ((SCML, triplets), (LSML, triplets), (LSML, quadruplets)):
            with self.subTest(kind=kind, size=tuples.shape[1]):
                points, rows = separate(self.X[tuples])
                comparisons = Links(**{"triplets" if tuples.shape[1] == 3 else "quadruplets": rows})
                formed = kind().fit(self.X[tuples])
                np.testing.assert_array_equal(formed.transform(self.X), kind().fit(points, links=comparisons).transform(self.X))
                self.assertEqual(formed.score(self.X[tuples]), formed.score(points, links=comparisons))
                learner = indexed = kind(preprocessor=self.X).fit(tuples, np.ones(60))
                decided = learner.decision_function(self.X[tuples])
                far = learner.pair_distance(self.X[tuples[:, [0, 2] if tuples.shape[1] == 3 else [2, 3]]])
                np.testing.assert_allclose(decided, far - learner.pair_distance(self.X[tuples[:, :2]]), atol=1e-12)
                np.testing.assert_array_equal(indexed.predict(tuples) == 1, decided > 0)
                self.assertEqual(learner.score(self.X[tuples]), np.mean(decided > 0))

    def test_equal_points(self):
        """Different rows of equal values are different points, in pairs with both signs and within a pair."""
        X = np.round(self.X / 4)  # 60 rows, many of them equal
        pairs = np.array([(i, j) for i in range(60) for j in range(i) if (i * j) % 7 == 1])
        signs = np.where(self.y[pairs[:, 0]] == self.y[pairs[:, 1]], 1, -1)
        equal = (X[pairs[:, 0]] == X[pairs[:, 1]]).all(axis=1)
        self.assertEqual(set(signs[equal]), {1, -1})
        triplets = np.column_stack([pairs[signs > 0][:60], pairs[signs < 0][:60, 1]])
        triplets = triplets[(triplets[:, 0] != triplets[:, 2]) & (triplets[:, 1] != triplets[:, 2])]
        for kind, tuples, y in [(kind, pairs, signs) for kind in (ITML, MMC, SDML, GML, RCA, XRCA, DCA, KRCA)] + [(kind, triplets, None) for kind in (LSML, SCML)]:
            with self.subTest(kind.__name__), warnings.catch_warnings():
                warnings.simplefilter("ignore", Notice)
                given = {} if kind not in (ITML, GML) else {"upper": 0.5, "lower": 8}
                used, rows = _first_seen(tuples)
                links = Links(rows, y) if y is not None else Links(triplets=rows)
                want = kind(**given).fit(X[used], links=links).transform(X)
                np.testing.assert_array_equal(kind(preprocessor=X, **given).fit(tuples, y).transform(X), want)
                points, rows = separate(X[tuples])
                links = Links(rows, y) if y is not None else Links(triplets=rows)
                np.testing.assert_array_equal(kind(**given).fit(X[tuples], y).transform(X), kind(**given).fit(points, links=links).transform(X))
        same = ITML(upper=1, lower=4).fit([[[0, 0], [1, 1]], [[0, 0], [9, 9]], [[5, 5], [5, 5.0]]], [1, -1, 1])
        self.assertEqual(same.pair_distance([[[5, 5], [5, 5.0]]]).tolist(), [0])

    def test_compat_agrees(self):
        """Both packages take the same places as the same points: with the same bounds the metrics are equal."""
        X = np.round(self.X)
        pairs, signs = pairs_of(self.y, 200)
        pairs[:3, 1], signs[:3] = pairs[:3, 0], -1  # within a pair twice the same values, as an array of points
        from mustlink.compat import metric_learn

        theirs = metric_learn.ITML(tol=1e-9).fit(X[pairs], signs, bounds=(1.0, 20.0)).get_mahalanobis_matrix()
        with self.assertWarnsRegex(Notice, "distance 0: point 0 of pair [0-2] and point 1 of pair [0-2]"):
            ours = ITML(prepare="none", gamma=1, tol=1e-9, upper=1, lower=20).fit(X[pairs], signs).get_mahalanobis_matrix()
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8 * np.abs(theirs).max())

    def test_chunks(self):
        chunks = np.where(np.arange(60) < 40, self.y, -1)
        np.testing.assert_array_equal(
            RCA().fit(self.X, chunks=chunks).transform(self.X), RCA().fit(self.X, links=Links.from_groups(chunks)).transform(self.X)
        )

    def test_chunks_as_labels(self):
        """metric-learn's RCA takes chunks in the place of y: there -1 would be a class."""
        chunks = np.where(np.arange(60) < 40, self.y, -1)
        message = "RCA: y has -1, which is a class like others: want chunks=y if it means no chunk, or unlabeled=-1 if it means no label"
        with self.assertWarns(Notice) as caught:
            RCA().fit(self.X, chunks)
        self.assertEqual(str(caught.warning), message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            RCA(unlabeled=-1).fit(self.X, chunks)
            RCA().fit(self.X, chunks=chunks)
            RCA().fit(self.X, np.where(self.y == 0, -1, 1))
            RCA().fit(self.X, self.y.astype(str))

    def test_score_takes_what_fit_takes(self):
        """Labels and links of all kinds: the score is that of their pairs, or the share of comparisons in order."""
        learner = ITML().fit(self.X, self.y)
        self.assertEqual(learner.score(self.X, links=Links.from_labels(self.y)), learner.score(self.X, self.y))
        triplets = np.array([(i, (i + 3) % 60, (i + 1) % 60) for i in range(60)] + [(0, 1, 3)])
        self.assertEqual(learner.score(self.X, links=Links(triplets=triplets)), learner.score(self.X[triplets]))
        quadruplets = triplets[:, [0, 2, 0, 1]]
        self.assertEqual(learner.score(self.X, links=Links(quadruplets=quadruplets)), learner.score(self.X[quadruplets]))
        self.assertLess(learner.score(self.X[quadruplets]), 0.5)

    def test_metric_is_independent(self):
        learner = ITML().fit(self.X[self.pairs], self.signs)
        metric = pickle.loads(pickle.dumps(learner.get_metric()))
        before = metric(self.X[0], self.X[1])
        self.assertEqual(metric(self.X[1], self.X[0]), before)
        learner.fit(100 * self.X[self.pairs], self.signs)
        self.assertEqual(metric(self.X[0].tolist(), self.X[1][None]), before)

    def test_score_is_the_area(self):
        learner = ITML().fit(self.X[self.pairs], self.signs)
        d = learner.pair_distance(self.X[self.pairs])
        area = np.mean([np.mean(d[self.signs < 0] > v) for v in d[self.signs > 0]])
        self.assertAlmostEqual(learner.score(self.X[self.pairs], self.signs), area, places=12)


class Thresholds(unittest.TestCase):
    def test_best_of_all(self):
        """No threshold is better, for every strategy, with ties and with pairs of one kind."""
        random = np.random.RandomState(0)
        for trial in range(30):
            d = random.randint(8, size=12) / 4.0
            signs = np.ones(12, dtype=int) if trial == 0 else -np.ones(12, dtype=int) if trial == 1 else random.choice([-1, 1], size=12)
            every = np.r_[-1, np.unique(d), np.unique(d) + 0.1, 9]
            for strategy, options in (
                ("accuracy", {}),
                *(("f_beta", {"beta": b}) for b in (0, 0.5, 1, 3.0)),
                *((s, {"min_rate": r}) for s in ("max_tpr", "max_tnr") for r in (0, 0.3, 0.8, 1)),
            ):
                with self.subTest(trial=trial, strategy=strategy, **options):
                    found = best_threshold(d, signs, strategy, **options)
                    values = [_value(d <= t, signs > 0, strategy, **options) for t in every]
                    self.assertAlmostEqual(_value(d <= found, signs > 0, strategy, **options), max(values), places=12)

    def test_between(self):
        """The threshold is in the middle of a gap, so that rounding does not matter."""
        self.assertEqual(best_threshold(np.array([1.0, 2.0, 4.0]), np.array([1, 1, -1])), 3.0)
        self.assertLess(best_threshold(np.array([1.0, 2.0]), np.array([-1, -1])), 1.0)
        a = np.nextafter(1.0, 2.0)
        self.assertEqual(best_threshold(np.array([1.0, a]), np.array([1, -1])), 1.0)

    def test_estimator(self):
        X, y = blobs()
        pairs, signs = pairs_of(y)
        learner = ITML().fit(X[pairs], signs)
        d = learner.pair_distance(X[pairs])
        self.assertEqual(learner.threshold_, best_threshold(d, signs))
        np.testing.assert_array_equal(learner.predict(X[pairs]), np.where(d <= learner.threshold_, 1, -1))
        self.assertIs(learner.calibrate_threshold(X[pairs], signs > 0, strategy="max_tnr", min_rate=1.0), learner)
        self.assertTrue((learner.predict(X[pairs])[signs > 0] == 1).all())
        again = ITML().fit(X[pairs], signs, calibration_params={"strategy": "max_tnr", "min_rate": 1.0})
        self.assertEqual(again.threshold_, learner.threshold_)
        self.assertEqual(learner.set_threshold(2).threshold_, 2.0)
        self.assertFalse(hasattr(learner.fit(X, y), "threshold_"))

    def test_only_after_tuples(self):
        """Fitted on labels, an estimator is a transformer only, until it has a threshold."""
        X, y = blobs()
        pairs, signs = pairs_of(y)
        learner = ITML()
        self.assertFalse(hasattr(learner, "predict"))
        learner.fit(X, y)
        self.assertFalse(hasattr(learner, "predict") or hasattr(learner, "decision_function"))
        learner.calibrate_threshold(X[pairs], signs)
        self.assertEqual(len(learner.predict(X[pairs])), len(pairs))


class Matrices(unittest.TestCase):
    CLASSES = (RCA, XRCA, DCA, ITML, MMC, LMNN, NCA, LSML, SCML, LFDA, SDML, MLKR, Covariance, Raw, Xiang)

    def test_all_linear_methods(self):
        X, y = blobs()
        self.assertEqual({kind._method for kind in self.CLASSES}, METHODS)
        for kind in self.CLASSES:
            for standardize in (False, True):
                with self.subTest(kind.__name__, standardize=standardize):
                    learner = kind(standardize=standardize).fit(X * [1, 1e3, 1e-3, 7] + 1e4, y)
                    new = np.random.RandomState(5).normal(size=(9, 4)) * [1, 1e3, 1e-3, 7] + 1e4
                    Z, L = learner.transform(new), learner.components_
                    self.assertEqual(L.shape, (Z.shape[1], 4))
                    moved = (new - new[0]) @ L.T
                    np.testing.assert_allclose(Z - Z[0], moved, atol=1e-7 * np.abs(moved).max())
                    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), L.T @ L)
                    self.assertAlmostEqual(learner.get_metric()(new[0], new[1]) / np.linalg.norm(moved[1]), 1, places=12)

    def test_far_from_zero(self):
        """Points far from the origin lose no digits of the matrix."""
        X, y = blobs()
        near, far = RCA(prepare="none").fit(X, y), RCA(prepare="none").fit(X + 2.0**20, y)
        np.testing.assert_allclose(far.get_mahalanobis_matrix(), near.get_mahalanobis_matrix(), rtol=1e-6)
        Z = far.transform(X + 2.0**20)
        np.testing.assert_allclose((X - X[0]) @ far.components_.T, Z - Z[0], atol=1e-8 * np.abs(Z).max())

    @unittest.skipIf(pandas is None, "no pandas")
    def test_frames(self):
        """A constant column does no harm."""
        X, y = blobs()
        frame = pandas.DataFrame(X, columns=list("abcd"))
        frame.insert(1, "constant", 3.0)
        learner = ITML().fit(frame, y)
        L = learner.components_
        self.assertEqual(L.shape[1], 5)
        Z = learner.transform(frame)
        np.testing.assert_allclose((frame.to_numpy() - frame.to_numpy()[0]) @ L.T, Z - Z[0], atol=1e-9)


class Misuse(Messages):
    def setUp(self):
        self.X, self.y = blobs()
        self.pairs, self.signs = pairs_of(self.y)

    def test_indices_are_no_points(self):
        """Row numbers with signs are refused, as arrays, lists and frames without names."""
        message = (
            "ITML: X looks like pairs of row numbers (two different integers >= 0 in each of 80 rows), and y like their signs: want preprocessor=POINTS "
            "for these pairs, an array of shape (n, 2, n_features) with their points, or POINTS and links=Links(X, y); if the rows of X are points, want X.astype(float)"
        )
        for pairs in (self.pairs, self.pairs.astype(np.uint8), self.pairs.tolist(), tuple(map(tuple, self.pairs))):
            for signs in (self.signs, self.signs > 0, self.signs.astype(float), self.signs.tolist()):
                self.says(ValueError, message, lambda p=pairs, s=signs: ITML().fit(p, s))
        if pandas is not None:
            self.says(ValueError, message, lambda: ITML().fit(pandas.DataFrame(self.pairs), self.signs))
        plane = ITML().fit(self.X[:, :2], self.y)
        self.says(ValueError, message.replace("ITML", "ITML.score"), lambda: plane.score(self.pairs, self.signs))

    def test_points_are_no_indices(self):
        """What cannot be pairs of row numbers goes through: each rule alone."""
        points = self.pairs.copy()
        twice, negative = points.copy(), points.copy()
        twice[7], negative[7, 1] = 5, -1
        for name, X, y in (
            ("floats", points.astype(float), self.signs),
            ("a row with twice the same number", twice, self.signs),
            ("a negative number", negative, self.signs),
            ("other labels", points, self.signs + 1),
            ("texts", points, np.where(self.signs > 0, "a", "b")),
            ("three columns", np.column_stack([points, points[:, 0]]), self.signs),
        ):
            with self.subTest(name):
                self.assertEqual(RCA().fit(X, y).n_features_in_, X.shape[1])
        if pandas is not None:
            self.assertEqual(RCA().fit(pandas.DataFrame(points, columns=["age", "income"]), self.signs).n_features_in_, 2)

    def test_tuples(self):
        X, pairs, signs = self.X, self.pairs, self.signs
        for call, message in (
            (lambda: ITML().fit(np.zeros((4, 5, 3)), [1] * 4), "X has shape (4, 5, 3): want (n, 2, n_features) for pairs, 3 for triplets or 4 for quadruplets"),
            (lambda: ITML().fit(X[pairs]), "X has pairs and y is None: want 1 or -1 for each pair"),
            (lambda: ITML().fit(X[pairs], (signs + 1) // 2), f"sign {np.argmax(signs < 0)} is 0: want 1 for a must-link or -1 for a cannot-link"),
            (lambda: ITML().fit(X[pairs], signs[1:]), "signs have shape (79,): want (80,)"),
            (lambda: LSML().fit(X[pairs.reshape(-1, 4)], signs[:40]), "X has quadruplets, whose order says which points are near: want no y, or 1 for each"),
            (
                lambda: MLKR().fit(X[pairs], signs),
                "Expected 2D array, got 3D array instead: X has shape (80, 2, 4). Reshape your data with X.reshape(-1, 1) if it has a single feature or "
                "X.reshape(1, -1) if it is a single sample.",
            ),
            (lambda: RCA().fit(X, self.y, chunks=self.y), "chunks are given with y or links: want one of the three"),
            (lambda: ITML(preprocessor=X).fit(pairs, self.y[:80]), "signs have shape (60,): want (80,)"),
            (lambda: ITML(preprocessor=X[:9]).fit([(0, 1), (2, 9)], [1, -1]), "index 9 is no row of preprocessor: want a number from 0 to 8"),
            (lambda: ITML(preprocessor=X).fit([(0, 1), (2, -3)], [1, -1]), "index -3 is no row of preprocessor: want a number from 0 to 59"),
            (lambda: ITML(preprocessor=X).fit([(0, 1), (7, 7)], [1, -1]), "pair 1 has the indices 7, 7: want different indices in places 0 and 1"),
            (
                lambda: ITML(preprocessor=X).fit([(0, 1), (8, 9), (9, 8)], [1, -1, 1]),
                "pair 2 has the indices 9, 8 and is a must-link, and pair 1 of the same indices is a cannot-link: want one of the two",
            ),
            (lambda: LSML(preprocessor=X).fit([(0, 1, 2), (5, 6, 5)]), "triplet 1 has the indices 5, 6, 5: want different indices in places 0 and 2"),
            (lambda: LSML(preprocessor=X).fit([(0, 1, 2, 3), (5, 6, 7, 7)]), "quadruplet 1 has the indices 5, 6, 7, 7: want different indices in places 2 and 3"),
            (
                lambda: ITML(preprocessor=np.where(np.arange(60) == 30, np.inf, 1)[:, None] * X).fit([(4, 5), (40, 30)], [1, -1]),
                "Input contains NaN or infinity: column 0 has {}inf in index 30: want a finite number, or NaN for a missing one".format("-" * int(X[30, 0] < 0)),
            ),
            (
                lambda: ITML().fit([[[0.0], [1.0]], [[np.inf], [5.0]]], [1, -1]),
                "Input contains NaN or infinity: column 0 has inf in point 0 of pair 1: want a finite number, or NaN for a missing one",
            ),
            (
                lambda: ITML(preprocessor=lambda rows: X[rows][:, None]).fit([(0, 1), (2, 3)], [1, -1]),
                "preprocessor returns an array of shape (4, 1, 4) for 4 indices: want (4, n_features)",
            ),
        ):
            self.says(ValueError, message, call)
        wrong = "preprocessor is of type {}: want an array of points, or a function that returns the points of indices"
        self.says(TypeError, wrong.format("int"), lambda: ITML(preprocessor=4).fit(pairs, signs))
        self.says(TypeError, wrong.format("str"), lambda: ITML(preprocessor="file").fit(pairs, signs))
        self.says(
            TypeError, "indices have dtype <U1: want integers, the row numbers of preprocessor", lambda: ITML(preprocessor=X).fit([("a", "b"), ("c", "d")], [1, -1])
        )

    def test_fitted(self):
        X, pairs, signs = self.X, self.pairs, self.signs
        learner = ITML().fit(X[pairs], signs)
        want = "want pairs of points, an array of shape (n, 2, n_features)"
        for call, message in (
            (lambda: learner.pair_distance(pairs), f"pair_distance: X has shape (80, 2): {want}; for indices, the parameter preprocessor"),
            (lambda: learner.pair_score(X[:12].reshape(4, 3, 4)), f"pair_distance: X has shape (4, 3, 4): {want}; for indices, the parameter preprocessor"),
            (lambda: ITML(preprocessor=X).fit(pairs, signs).pair_distance(X), f"pair_distance: X has shape (60, 4): {want}"),
            (
                lambda: learner.predict(X),
                "predict: X has shape (60, 4): want tuples of points, an array of shape (n, 2 to 4, n_features); for indices, the parameter preprocessor",
            ),
            (
                lambda: KRCA(kernel="precomputed").fit(X @ X.T, self.y).pair_distance(X[pairs]),
                'pair_distance: the kernel is "precomputed": want distances(K, rows), which takes the kernel matrix',
            ),
            (lambda: learner.get_metric()(X[0], X[1, :3]), "u has 4 features and v has 3: want the same number"),
            (lambda: learner.get_metric()(X[0, :3], X[1, :3]), "u has 3 features: want 4, as in fit"),
            (lambda: learner.get_metric()(X[:2], X[:2]), "u has shape (2, 4): want a vector"),
            (lambda: learner.set_threshold("high"), "Parameter threshold must be a real number. Got <class 'str'> instead."),
            (
                lambda: learner.calibrate_threshold(X[pairs], signs, strategy="best"),
                'Strategy can either be "accuracy", "f_beta" or "max_tpr" or "max_tnr". Got "best" instead.',
            ),
            (lambda: learner.calibrate_threshold(X[pairs], signs, strategy="max_tpr"), "Parameter min_rate must be a number in[0, 1]. Got None instead."),
            (lambda: learner.fit(X[pairs], signs, calibration_params={"strategy": "max_tnr", "min_rate": 2}), "Parameter min_rate must be a number in[0, 1]. Got 2 instead."),
            (lambda: learner.fit(X[pairs], signs, calibration_params={"rate": 1}), "calibration_params has the member 'rate': want some of strategy, min_rate, beta"),
            (lambda: learner.calibrate_threshold(X[pairs], signs, strategy="f_beta", beta="1"), "Parameter beta must be a real number. Got <class 'str'> instead."),
        ):
            self.says(ValueError, message, call)

    def test_attributes(self):
        X, pairs, signs = self.X, self.pairs, self.signs
        self.says(
            AttributeError,
            "KRCA has no components_: method 'krca' (kernel 'rbf:sigma=2') has no matrix for the features; use transform or get_metric",
            lambda: KRCA(kernel="rbf:sigma=2").fit(X, self.y).components_,
        )
        self.says(
            AttributeError,
            "ITML has no components_: method 'itml' (kernel 'rbf:sigma=2') has no matrix for the features; use transform or get_metric",
            lambda: ITML(kernel="rbf:sigma=2").fit(X, self.y).get_mahalanobis_matrix(),
        )
        self.says(
            AttributeError,
            "ITML has no predict: it was not fitted on tuples; want fit(pairs, y), or set_threshold or calibrate_threshold",
            lambda: ITML().fit(X, self.y).predict,
        )
        triplets = np.array([(i, (i + 3) % 60, (i + 1) % 60) for i in range(60)])
        self.says(
            AttributeError,
            "A threshold for this estimator has not been set, call its set_threshold or calibrate_threshold method.",
            lambda: LSML().fit(X[triplets]).predict(X[pairs]),
        )
        for name in ("predict", "decision_function", "components_"):
            with self.assertRaises(NotFittedError):
                getattr(ITML(), name)
        for call in (lambda: ITML().pair_distance(X[pairs]), ITML().get_metric, lambda: ITML().set_threshold(1), lambda: ITML().calibrate_threshold(X[pairs], signs)):
            with self.assertRaises(NotFittedError):
                call()

    @unittest.skipIf(pandas is None, "no pandas")
    def test_texts(self):
        frame = pandas.DataFrame({"a": self.X[:, 0], "b": self.X[:, 1], "town": np.array(["x", "y", "z"])[np.arange(60) // 5 % 3]})
        self.says(AttributeError, "ITML has no components_: column 'town' is no number; use transform or get_metric", lambda: ITML().fit(frame, self.y).components_)


@unittest.skipUnless(HAVE_SKLEARN, "no scikit-learn")
class Sklearn(unittest.TestCase):
    def test_search(self):
        """Index pairs go through clone, cross-validation, a grid search and scorers."""
        from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

        X, y = blobs()
        pairs, signs = pairs_of(y)
        learner = ITML(preprocessor=X)
        for scoring in (None, "accuracy", "roc_auc"):
            self.assertGreater(cross_val_score(learner, pairs, signs, scoring=scoring, cv=3).mean(), 0.8)
        self.assertEqual(set(cross_val_predict(learner, pairs, signs, cv=3)), {-1, 1})
        for points in (X, np.round(X)):  # the latter has equal rows
            learner = ITML(preprocessor=points, upper=2, lower=30)
            search = GridSearchCV(learner, {"gamma": [0.1, 1.0]}, cv=3, error_score="raise").fit(pairs, signs)
            self.assertGreater(search.score(pairs, signs), 0.8)

    def test_metric(self):
        from sklearn.cluster import DBSCAN

        X, y = blobs()
        metric = RCA().fit(X, y).get_metric()
        self.assertEqual(len(DBSCAN(metric=metric, eps=2.0).fit(X).labels_), 60)


def _value(accepted: np.ndarray, similar: np.ndarray, strategy: str, min_rate: float = 0, beta: float = 1) -> float:
    """Return what a strategy maximizes, by its definition."""
    tp, fp = (accepted & similar).sum(), (accepted & ~similar).sum()
    tpr = tp / similar.sum() if similar.any() else 0.0
    tnr = (~accepted & ~similar).sum() / (~similar).sum() if (~similar).any() else 0.0
    if strategy == "accuracy":
        return (accepted == similar).mean()
    if strategy == "f_beta":
        precision = tp / (tp + fp) if tp + fp else 0.0
        below = beta**2 * precision + tpr
        return (1 + beta**2) * precision * tpr / below if below else 0.0
    goal, other = (tpr, tnr) if strategy == "max_tpr" else (tnr, tpr)
    return goal if other >= min_rate else -1.0


if __name__ == "__main__":
    unittest.main()
