"""Data frames with columns of all kinds: they are prepared as scikit-learn prepares them."""

from __future__ import annotations

import copy
import datetime
import decimal
import pickle
import unittest
import warnings

import numpy as np

import mustlink
from mustlink import GML, KPCA, KRCA, RCA, AutoMetric, Notice

from .data import blobs

try:
    import pandas
except ImportError:
    pandas = None
try:
    import sklearn
except ImportError:
    sklearn = None


def customers(n: int = 300, seed: int = 0):
    """A table of three classes with columns of all kinds, and gaps in most of them."""
    random, y = np.random.RandomState(seed), np.arange(n) % 3
    gap = lambda share: random.rand(n) < share  # noqa: E731
    plan = np.array(["basic", "plus", "größer"], dtype=object)[(y + gap(0.2)) % 3]
    plan[gap(0.05)] = None
    since = pandas.Timestamp("2020-01-01") + pandas.to_timedelta(random.randint(0, 900, n), unit="D")
    frame = pandas.DataFrame(
        {
            "income": np.where(gap(0.1), np.nan, 1000 * random.normal(size=n) + 3000 * y),
            "plan": plan,
            "city": [f"c{int(v)}" for v in np.minimum(90, random.exponential(25, size=n))],
            "age": pandas.array(np.where(gap(0.1), None, random.randint(18, 80, n)), dtype="Int64"),
            "active": gap(0.4),
            "grade": pandas.Categorical(random.choice([3, 1, 2], n), categories=[3, 1, 2, 7]),
            "since": np.where(gap(0.1), np.datetime64("NaT"), since.to_numpy()),
            "children": random.randint(0, 5, n).astype(object),
            "member": pandas.array(np.where(gap(0.1), None, gap(0.5)), dtype="boolean"),
            "size": pandas.array(random.choice(["S", "M", "L"], n), dtype="string"),
        }
    )
    return frame, y


def prepared(fitted, frame) -> np.ndarray:
    """The features that scikit-learn makes of customers, in the order of the columns."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    def usual(frame):
        day = frame["since"].to_numpy().astype("datetime64[D]")
        since = np.where(np.isnat(day), np.nan, day.astype(np.int64).astype(np.float64))
        plan, grade = frame["plan"].fillna("~"), frame["grade"].astype(str)
        numbers = {name: frame[name].astype("Float64").to_numpy(dtype=float, na_value=np.nan) for name in ("income", "age", "children", "active", "member")}
        return frame.assign(since=since, plan=plan, grade=grade, size=frame["size"].astype(object), **numbers)

    number = lambda: make_pipeline(SimpleImputer(strategy="median"), StandardScaler())  # noqa: E731
    text = lambda: OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=50)  # noqa: E731
    special = {name: text() for name in ("plan", "city", "grade", "size")}
    special.update({name: SimpleImputer(strategy="median") for name in ("active", "member")})
    parts = [(name, special[name] if name in special else number(), [name]) for name in frame.columns]
    return ColumnTransformer(parts, sparse_threshold=0).fit(usual(fitted)).transform(usual(frame))


@unittest.skipIf(pandas is None or sklearn is None, "pandas or scikit-learn is not there")
class Prepared(unittest.TestCase):
    def setUp(self):
        self.frame, self.y = customers()
        self.new = customers(50, seed=5)[0]
        self.new.loc[3, "city"] = "elsewhere"  # texts of the pool

    def test_features_are_those_of_scikit_learn(self):
        """The linear kernel of KPCA is that of the features: distances show them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Notice)
            learner = KPCA(kernel="linear", dims=0).fit(self.frame)
            both = pandas.concat([self.frame, self.new], ignore_index=True)
            both["grade"] = pandas.Categorical(both["grade"].tolist())
            K = learner.gram(both)
        X = prepared(self.frame, both)
        want = KPCA(kernel="linear", dims=0, prepare="none").fit(X[: len(self.frame)]).gram(X)
        self.assertEqual(sum(c["outputs"] for c in learner.preparation_), X.shape[1])
        np.testing.assert_allclose(K, want, rtol=0, atol=1e-12 * np.abs(want).max())

    def test_embeddings_are_those_of_prepared_arrays(self):
        for make in (RCA, KRCA, GML):
            with self.subTest(make.__name__), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = make().fit(self.frame, self.y)
                X, new = prepared(self.frame, self.frame), prepared(self.frame, self.new)
                want = make(prepare="none").fit(X, self.y)
                for mine, theirs in ((got.transform(self.frame), want.transform(X)), (got.transform(self.new), want.transform(new))):
                    np.testing.assert_allclose(np.abs(mine), np.abs(theirs), rtol=0, atol=1e-9 * np.abs(theirs).max())

    def test_wine_unscaled(self):
        from sklearn.datasets import load_wine

        X, y = load_wine(return_X_y=True)
        want = RCA(standardize=True, prepare="none").fit(X, y).transform(X)
        np.testing.assert_array_equal(RCA().fit(X, y).transform(X), want)
        np.testing.assert_array_equal(RCA(standardize=True).fit(X, y).transform(X), want)
        self.assertFalse(np.array_equal(RCA(prepare="none", n_links=50).fit(X, y).transform(X), want))


@unittest.skipIf(pandas is None, "pandas is not there")
class Frames(unittest.TestCase):
    def setUp(self):
        self.frame, self.y = customers()
        self.learner = RCA().fit(self.frame, self.y)
        self.want = self.learner.transform(self.frame)

    def test_columns_by_name(self):
        backwards = self.frame[self.frame.columns[::-1]]
        pairs = [(0, 5), (7, 1)]
        for model in (self.learner, self.learner.model_):
            embed = model.transform if model is self.learner else model.embed
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                np.testing.assert_array_equal(embed(backwards), self.want)
                np.testing.assert_array_equal(model.distances(backwards, pairs), model.distances(self.frame, pairs))
                np.testing.assert_array_equal(model.gram(backwards), model.gram(self.frame))
                np.testing.assert_array_equal(model.gram(backwards, self.frame[:9]), model.gram(self.frame, self.frame[:9]))
            with self.assertWarnsRegex(Notice, "'more'") as caught:
                np.testing.assert_array_equal(embed(backwards.assign(more=[{}] * len(self.y))), self.want)
            self.assertEqual(caught.filename, __file__)
            with self.assertRaisesRegex(ValueError, "lacks column 'age'"):
                embed(self.frame.drop(columns="age"))
            with self.assertRaisesRegex(ValueError, "two columns"):
                embed(pandas.concat([self.frame, self.frame[["age"]]], axis=1))
        self.assertEqual(self.learner.score(backwards, self.y), self.learner.score(self.frame, self.y))
        with self.assertRaisesRegex(TypeError, "some are not"):
            self.learner.transform(self.frame.rename(columns={"age": 1}))

    def test_unseen_texts(self):
        new = self.frame.copy()
        new.loc[[2, 4], "plan"] = "platinum"
        with self.assertWarnsRegex(Notice, '"plan": the fit did not see the texts of 2 rows'):
            got = self.learner.transform(new)
        same = np.setdiff1d(np.arange(len(new)), [2, 4])
        np.testing.assert_array_equal(got[same], self.want[same])

    def test_without_some_columns(self):
        """Columns that the fit left out need not be there, and give no notice."""
        frame = self.frame.assign(row=np.arange(len(self.y)), same="x")
        with self.assertWarnsRegex(Notice, 'column "same": constant'):
            RCA().fit(frame, self.y)
        with self.assertWarnsRegex(Notice, 'columns "same", "again": constant'):
            learner = RCA().fit(frame.assign(again="x"), self.y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for model in (learner.model_, pickle.loads(pickle.dumps(learner.model_))):
                np.testing.assert_array_equal(model.embed(frame), self.want)
                self.assertEqual(len(model.info()["prepared"]), len(self.frame.columns))
            np.testing.assert_array_equal(learner.transform(frame), self.want)
            np.testing.assert_array_equal(learner.transform(self.frame), self.want)
        self.assertEqual(learner.n_features_in_, self.frame.shape[1] + 3)
        kinds = {c["name"]: c["kind"] for c in learner.preparation_}
        self.assertEqual((kinds["row"], kinds["same"], kinds["since"], kinds["grade"]), ("identifier", "constant", "date", "category"))

    def test_numbers_that_lose_a_column(self):
        """Arrays are taken by position, also where the fit left out a column of the frame."""
        X, y = blobs()
        frame = pandas.DataFrame(X, columns=list("abcd")).assign(id=np.arange(60.0))
        learner = RCA().fit(frame, y)
        self.assertEqual(learner.model_.features, list("abcd"))
        want = learner.transform(frame)
        with self.assertWarnsRegex(UserWarning, "feature names"):
            np.testing.assert_array_equal(learner.transform(frame.to_numpy()), want)
        np.testing.assert_array_equal(learner.model_.embed(frame[list("dcba")]), want)
        with self.assertRaisesRegex(ValueError, "order"):  # only numbers: scikit-learn's rule
            learner.transform(frame[["id", *"abcd"]])

    def test_without_names(self):
        frame = self.frame.set_axis(range(self.frame.shape[1]), axis=1)
        learner = RCA().fit(frame, self.y)
        np.testing.assert_array_equal(learner.transform(frame), self.want)
        self.assertFalse(hasattr(learner, "feature_names_in_"))
        self.assertIsNone(learner.model_.features)
        with self.assertRaisesRegex(ValueError, "expecting 10 features"):
            learner.transform(frame.iloc[:, :9])

    def test_pickle_and_update(self):
        again = pickle.loads(pickle.dumps(self.learner))
        np.testing.assert_array_equal(again.transform(self.frame), self.want)
        self.assertEqual(again.preparation_, self.learner.preparation_)
        np.testing.assert_array_equal(copy.deepcopy(self.learner).transform(self.frame), self.want)
        learner = KRCA().fit(self.frame, self.y)
        before = learner.gram(self.frame)
        new, labels = customers(30, seed=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Notice)
            learner.update(new[new.columns[::-1]], labels)
        self.assertFalse(np.allclose(learner.gram(self.frame), before))
        learner.update(drop_last=1)
        np.testing.assert_allclose(learner.gram(self.frame), before, atol=1e-9 * np.abs(before).max())

    def test_pipeline(self):
        if sklearn is None:
            self.skipTest("scikit-learn is not there")
        from sklearn.model_selection import cross_val_score
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.pipeline import make_pipeline

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Notice)
            scores = cross_val_score(make_pipeline(RCA(eps_rel=1e-2), KNeighborsClassifier(5)), self.frame.drop(columns="city"), self.y, cv=3, error_score="raise")
        self.assertGreater(scores.mean(), 0.8)


@unittest.skipIf(pandas is None, "pandas is not there")
class Cells(unittest.TestCase):
    """Columns of one meaning and several types give one model."""

    def fitted(self, **columns) -> np.ndarray:
        X, y = blobs()
        frame = pandas.DataFrame(X, columns=list("abcd")).assign(**columns)
        return RCA().fit(frame, y).transform(frame)

    def test_numbers(self):
        values = [None if k % 9 == 0 else k % 7 for k in range(60)]
        want = self.fitted(e=np.array(values, dtype=float))
        for same in (
            np.array(values, dtype=object),
            pandas.array(values, dtype="Int32"),
            pandas.array(values, dtype="Float64"),
            [None if v is None else decimal.Decimal(v) for v in values],
            [pandas.NA if v is None else v for v in values],
            pandas.to_timedelta(values, unit="D"),
        ):
            np.testing.assert_array_equal(self.fitted(e=same), want)

    def test_booleans(self):
        values = np.arange(60) % 4 == 1
        want = self.fitted(e=values.astype(str))
        for same in (values, values.astype(object), pandas.array(values, dtype="boolean"), np.where(values, "yes", "no")):
            np.testing.assert_array_equal(self.fitted(e=same), want)

    def test_texts(self):
        values = [None if k % 9 == 0 else "xyz"[k % 3] for k in range(60)]
        want = self.fitted(e=values)
        for same in (
            pandas.array(values, dtype="string"),
            pandas.Categorical(values),
            pandas.Categorical(values, categories=list("zyxw"), ordered=True),
            [np.nan if v is None else v for v in values],
            ["" if v is None else v for v in values],
        ):
            np.testing.assert_array_equal(self.fitted(e=same), want)

    def test_dates(self):
        days = [None if k % 9 == 0 else datetime.date(2020, 1 + k % 12, 1 + k % 28) for k in range(60)]
        want = self.fitted(e=days)
        for same in (
            pandas.to_datetime(days),
            pandas.to_datetime(days).tz_localize("UTC"),
            [None if day is None else str(day) for day in days],
        ):
            np.testing.assert_array_equal(self.fitted(e=same), want)
        clock = pandas.DataFrame({"e": pandas.to_datetime(days) + pandas.Timedelta("6h")})
        dates = pandas.DataFrame({"e": pandas.to_datetime(days)})
        for fitted, other in ((dates, clock), (clock, dates)):  # the one as texts without time of day, the other with it
            both = KPCA(kernel="linear", prepare={"scale": "none"}).fit(fitted).gram(pandas.concat([fitted, other]))
            squared = np.diag(both)[:60] + np.diag(both)[60:] - 2 * np.diag(both, 60)
            np.testing.assert_allclose(squared[np.array(dates["e"].notna())], 1 / 16, rtol=1e-6)
        times = pandas.to_datetime(days) + pandas.to_timedelta(np.arange(60) * 1.5, unit="s")
        np.testing.assert_array_equal(self.fitted(e=times), self.fitted(e=times.astype(str).where(times.notna(), None)))

    def test_times_beyond_nanoseconds(self):
        from mustlink._frames import _cells

        class Column:
            """A column of pandas 2, which keeps the unit of times."""

            def __init__(self, values: np.ndarray) -> None:
                self.values, self.dtype = values, values.dtype

            def to_numpy(self, dtype: str) -> np.ndarray:
                return self.values.astype(dtype)

        texts = ["0001-01-01", "1500-02-28", "1677-09-20", "2262-04-12", "9999-12-31"]
        days = [None] + [datetime.date(1500 + k, 1, 1 + k % 28) for k in range(59)]
        np.testing.assert_array_equal(self.fitted(e=days), self.fitted(e=[day and str(day) for day in days]))
        for unit in ("s", "ms", "us"):
            self.assertEqual(_cells(Column(np.array(texts, dtype=f"datetime64[{unit}]")), "e").levels, texts)
            spans = np.array([0, -(10**6), 10**6], dtype="timedelta64[D]").astype(f"timedelta64[{unit}]")
            np.testing.assert_array_equal(_cells(Column(spans), "e").numbers, [0, -1e6, 1e6])

    def test_no_copies(self):
        from mustlink._points import as_points

        values = np.where(np.arange(60) % 5 == 0, np.nan, 1.5)
        frame = pandas.DataFrame({"a": values, "b": "text"}, copy=False)
        points = as_points(frame)
        self.assertTrue(np.shares_memory(points.held[0]._held[0][0].numbers, frame["a"].to_numpy()))

    def test_mistakes(self):
        X, y = blobs()
        frame = pandas.DataFrame(X, columns=list("abcd"))
        for bad, error, word in (
            ([{}] * 60, TypeError, "'e'"),
            ([()] * 60, TypeError, "'e' has values of type tuple"),
            ([b"x"] * 60, TypeError, "'e' has values of type bytes"),
            (["\ud800"] * 60, ValueError, "'e'"),
            (["a\0b", "c"] * 30, ValueError, "'e'.*zero character"),
            ([np.inf, np.nan] * 30, ValueError, '"e".*finite'),
            (np.ones(60) * 1j, ValueError, "'e'.*real"),
        ):
            with self.subTest(word), self.assertRaisesRegex(error, word):
                RCA().fit(frame.assign(e=bad), y)
        with self.assertRaisesRegex(ValueError, '"e"'):
            RCA(prepare="none").fit(frame.assign(e="text"), y)


class Parameter(unittest.TestCase):
    def setUp(self):
        self.X, self.y = blobs()

    def test_gaps_in_arrays(self):
        X = self.X.copy()
        X[[3, 8, 20], [1, 2, 1]] = np.nan
        filled = X.copy()
        for j in range(4):
            filled[np.isnan(X[:, j]), j] = np.nanmedian(X[:, j])
        learner = RCA(standardize=True).fit(X, self.y)
        want = RCA(standardize=True, prepare="none").fit(filled, self.y).transform(filled)
        np.testing.assert_allclose(learner.transform(X), want, rtol=0, atol=1e-12 * np.abs(want).max())
        np.testing.assert_array_equal(learner.transform(np.asfortranarray(X)), learner.transform(X))
        np.testing.assert_array_equal(learner.model_.embed(X), learner.transform(X))
        mean = RCA(prepare={"impute": "constant=2", "scale": "standardize"}).fit(X, self.y)
        filled[np.isnan(X)] = 2
        np.testing.assert_allclose(mean.transform(X), RCA(standardize=True).fit(filled, self.y).transform(filled), rtol=0, atol=1e-12 * np.abs(want).max())
        self.assertEqual([c["missing"] for c in learner.preparation_], [0, 2, 1, 0])

    def test_choices(self):
        self.assertEqual(RCA().fit(self.X, self.y).preparation_[0]["name"], "0")
        robust = RCA(prepare={"scale": "robust", "kinds": {"3": "drop"}}).fit(self.X, self.y)
        self.assertEqual(robust.transform(self.X).shape, (60, 3))
        self.assertEqual(robust.n_features_in_, 4)
        for bad, error in (("all", ValueError), (None, TypeError), ({"fill": 1}, ValueError), ({"scale": "tall"}, ValueError), ({"kinds": {"9": "drop"}}, ValueError), ({"levels": "x"}, ValueError)):
            with self.subTest(bad), self.assertRaises(error):
                RCA(prepare=bad).fit(self.X, self.y)
        with self.assertRaises(ValueError):
            RCA(prepare={"scale": "robust"}, standardize=True).fit(self.X, self.y)

    def test_embeddings_of_any_length(self):
        """AutoMetric takes rows for embeddings if it is asked to, and finds the groups better than without learning."""
        rng = np.random.RandomState(3)
        y = np.arange(300) % 30
        X = rng.normal(size=(30, 64))[y] + 1.5 * rng.normal(size=(300, 64))
        said = AutoMetric(prepare="embeddings", hold_out=0).fit(X[:150], y[:150])
        self.assertEqual(said.method_, "adapt")
        self.assertNotEqual(AutoMetric(hold_out=0, keep_worse=True).fit(X[:150], y[:150]).method_, "adapt")

        def hits(Z):
            distance = np.square(Z[150:, None] - Z[None, 150:]).sum(axis=2) + np.diag(np.full(150, np.inf))
            return (y[150:][distance.argmin(axis=1)] == y[150:]).mean()

        self.assertGreater(hits(said.transform(X)), hits(X))
        for wrong in ({"standardize": True}, {"kernel": "linear"}):
            with self.assertRaisesRegex(ValueError, "want no standardize, tfidf and kernel"):
                AutoMetric(prepare="embeddings", **wrong).fit(X, y)
        with self.assertRaisesRegex(ValueError, "NaN in row 2"):
            AutoMetric(prepare="embeddings").fit(np.where(np.arange(300)[:, None] == 2, np.nan, X), y)

    def test_precomputed(self):
        K = self.X @ self.X.T
        learner = KRCA(kernel="precomputed").fit(K, self.y)
        self.assertEqual(learner.preparation_, [])
        K[0, 0] = np.nan
        with self.assertRaises(ValueError):
            learner.fit(K, self.y)


if __name__ == "__main__":
    unittest.main()
