"""Names and habits of scikit-learn: parameters, progress, columns in errors, links through its tools."""

from __future__ import annotations

import contextlib
import io
import unittest
import warnings

import numpy as np

import mustlink
from mustlink import ITML, KRCA, NCA, RCA, Links, _estimators
from mustlink._library import Report, ReportOf
from mustlink._log import line

from .data import blobs

try:
    import sklearn
except ImportError:
    sklearn = None

try:
    import pandas
except ImportError:
    pandas = None


class Components(unittest.TestCase):
    def test_both_names(self):
        X, y = blobs()
        want = RCA(n_components=2).fit(X, y).transform(X)
        self.assertEqual(want.shape, (60, 2))
        for same in (RCA(dims=2), RCA(dims=2, n_components=2), RCA(dims=np.int64(2))):
            np.testing.assert_array_equal(same.fit(X, y).transform(X), want)
        self.assertEqual(RCA(n_components=0).fit(X, y).transform(X).shape, (60, 4))

    def test_different(self):
        X, y = blobs()
        learner = RCA(dims=2).set_params(n_components=3)
        with self.assertRaises(ValueError) as caught:
            learner.fit(X, y)
        self.assertEqual(str(caught.exception), "n_components is 3 and dims, its old name, is 2: want one of the two")
        self.assertEqual(learner.set_params(dims=None).fit(X, y).transform(X).shape, (60, 3))

    def test_bad(self):
        X, y = blobs()
        for value in (-1, 1.5, "many", True):
            with self.assertRaises(ValueError) as raised:
                RCA(n_components=value).fit(X, y)
            self.assertEqual(str(raised.exception), f"n_components is {value!r}: want an integer >= 0 (0: all)")

    def test_all_have_both(self):
        """Each method with a number of dimensions has both names, and None is the library's default."""
        with_dims = {m["name"]: p["default"] for m in mustlink.methods() for p in m["parameters"] if p["name"] == "dims"}
        for name in _estimators.__all__:
            kind = getattr(mustlink, name)
            params = kind().get_params()
            self.assertEqual("n_components" in params, kind._method in with_dims)
            self.assertEqual("dims" in params, kind._method in with_dims)
            if "dims" in params:
                self.assertEqual(str(kind._defaults["n_components"][1]), with_dims[kind._method])
                self.assertIn(f"None: {with_dims[kind._method]}.", " ".join(kind.__doc__.split()))

    @unittest.skipIf(sklearn is None, "scikit-learn is not there")
    def test_clone(self):
        from sklearn.base import clone

        for learner in (RCA(dims=2), RCA(n_components=3), KRCA(verbose=True, random_state=5, n_jobs=1)):
            self.assertEqual(clone(learner).get_params(), learner.get_params())
        self.assertEqual(repr(RCA(n_components=3)), "RCA(n_components=3)")

    def test_common_parameters(self):
        for name in _estimators.__all__:
            self.assertLessEqual({"random_state", "n_jobs", "verbose"}, set(getattr(mustlink, name)().get_params()))


class Verbose(unittest.TestCase):
    def test_lines(self):
        X, y = blobs(600, 20)
        got, seen = io.StringIO(), []
        with contextlib.redirect_stderr(got), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loud = NCA(verbose=True, tol=1e-9).fit(X, y, progress=seen.append)
        lines = got.getvalue().splitlines()
        self.assertTrue(all(text.startswith("[nca] ") for text in lines))
        self.assertRegex(lines[-1], rf"^\[nca\] fitted in \d+\.\d\d s, iterations {loud.n_iter_}$")
        self.assertLessEqual({report.stage for report in seen}, {text.split("] ")[1].split(",")[0] for text in lines})
        quiet = io.StringIO()
        with contextlib.redirect_stderr(quiet), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            silent = NCA(tol=1e-9).fit(X, y)
        self.assertEqual(quiet.getvalue(), "")
        np.testing.assert_array_equal(silent.transform(X), loud.transform(X))

    def test_words(self):
        for of, text in (
            (ReportOf(stage=b"kernel matrix", done=3, total=9, seconds=1.25), "kernel matrix, 3 of 9, 1.2 s"),
            (ReportOf(stage=b"ascent", done=7, objective=0.5, residual=1e-3, seconds=2), "ascent, step 7, objective 0.5, residual 0.001, 2.0 s"),
        ):
            self.assertEqual(line(Report(of)), text)


@unittest.skipIf(pandas is None, "pandas is not there")
class Columns(unittest.TestCase):
    def setUp(self):
        X, self.y = blobs(60, 3)
        self.frame = pandas.DataFrame(X, columns=["age", "income", "debt"])

    def broken(self, value):
        frame = self.frame.copy()
        frame.loc[17, "income"] = value
        return frame

    def refused(self, call, message):
        with self.assertRaises(ValueError) as caught:
            call()
        self.assertEqual(str(caught.exception), message)

    def test_fit(self):
        self.refused(lambda: RCA(prepare="none").fit(self.broken(np.nan), self.y), 'column "income" has a NaN in row 17: want a number')
        self.refused(
            lambda: RCA(prepare="none").fit(self.broken(np.inf), self.y),
            'Input contains NaN or infinity: column "income" has inf in row 17: want a finite number',
        )
        self.refused(
            lambda: RCA(prepare={"impute": "error"}).fit(self.broken(np.nan), self.y),
            'column "income" has a NaN in row 17: want a value, or another way to impute than error',
        )

    def test_use(self):
        """Numbers without gaps were fitted, so that a gap is an error."""
        learner = RCA().fit(self.frame, self.y)
        nan, endless = self.broken(np.nan), self.broken(-np.inf)
        for call in (learner.transform, learner.gram, lambda X: learner.distances(X, [(17, 1)]), lambda X: learner.score(X, self.y), learner.model_.embed):
            self.refused(lambda: call(nan), 'column "income" has a NaN in row 17: want a number')
            self.refused(lambda: call(endless), 'Input contains NaN or infinity: column "income" has -inf in row 17: want a finite number')

    def test_arrays(self):
        """The columns of an array have numbers."""
        self.refused(
            lambda: RCA(prepare="none").fit(self.broken(np.nan).to_numpy(), self.y),
            "Input contains NaN or infinity: column 1 has a NaN in row 17: want a finite number",
        )


class Precision(unittest.TestCase):
    def test_float32(self):
        """Single precision stays, in all results that have points' precision, and is near double."""
        X, y = blobs()
        single = X.astype(np.float32)
        learner = RCA().fit(single, y)
        for result, want in ((learner.transform(single), RCA().fit(X, y).transform(X)), (learner.fit_transform(single, y), RCA().fit_transform(X, y))):
            self.assertEqual((result.dtype, want.dtype), (np.float32, np.float64))
            np.testing.assert_allclose(result, want, rtol=1e-4, atol=1e-4)
        self.assertEqual(learner.gram(single).dtype, np.float32)
        if pandas is not None and sklearn is not None:
            frame = learner.set_output(transform="pandas").transform(single)
            self.assertEqual(set(frame.dtypes), {np.dtype(np.float32)})


@unittest.skipIf(sklearn is None or pandas is None, "scikit-learn or pandas is not there")
class Output(unittest.TestCase):
    def test_pandas(self):
        """Frames have names of the class and the row labels of their input, for all estimators."""
        X, y = blobs(60, 4)
        frame = pandas.DataFrame(X, columns=list("abcd"), index=[f"r{i}" for i in range(60)])
        for learner in (RCA(n_components=2), KRCA(n_components=2), ITML(n_components=2), mustlink.KPCA(n_components=2)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                out = learner.set_output(transform="pandas").fit_transform(frame, y)
            name = type(learner).__name__.lower()
            self.assertEqual(list(out.columns), [f"{name}{j}" for j in range(out.shape[1])])
            self.assertEqual(list(out.columns), learner.get_feature_names_out().tolist())
            self.assertEqual(list(out.index), list(frame.index))
            np.testing.assert_array_equal(out.to_numpy(), learner.set_output(transform="default").transform(frame))


@unittest.skipIf(sklearn is None, "scikit-learn is not there")
class Through(unittest.TestCase):
    """Links through scikit-learn's tools."""

    def setUp(self):
        self.X, self.y = blobs(90)
        drawn = Links.from_labels(self.y, 60, 60, seed=3)
        self.links = Links(drawn.pairs, drawn.signs, n_samples=90)

    def test_pipeline(self):
        """A pipeline gives y to all steps. The metric learns from links alone."""
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        pipeline = make_pipeline(StandardScaler(), ITML(), KNeighborsClassifier(3)).fit(self.X, self.y, itml__links=self.links)
        alone = ITML().fit(StandardScaler().fit_transform(self.X), links=self.links)
        np.testing.assert_array_equal(pipeline[:2].transform(self.X), alone.transform(pipeline[0].transform(self.X)))
        self.assertGreater(pipeline.score(self.X, self.y), 0.9)

    def test_grid_search(self):
        """A fold learns from the links between its rows, under their numbers in the fold."""
        from sklearn.model_selection import GridSearchCV, KFold

        seen = []

        class Spy(ITML):
            def fit(self, X, y=None, *, links=None):
                seen.append((X, links))
                return super().fit(X, y, links=links)

        folds = KFold(3, shuffle=True, random_state=0)
        search = GridSearchCV(Spy(), {"gamma": [0.5, 2.0]}, cv=folds, error_score="raise").fit(self.X, self.y, links=self.links)
        self.assertGreater(search.best_score_, 0.9)
        wanted = [self.links[train] for train, _ in folds.split(self.X)]
        for k, (X, links) in enumerate(seen[:-1]):
            train = [train for train, _ in folds.split(self.X)][k % 3]
            np.testing.assert_array_equal(X[links.pairs], self.X[train][wanted[k % 3].pairs])
            self.assertLess(len(links), len(self.links))
        self.assertEqual(len(seen[-1][1]), len(self.links))  # the last fit has all rows

    def test_grid_search_of_pairs(self):
        """With a preprocessor, folds are of pairs, and the score is that of held-out pairs."""
        from sklearn.model_selection import GridSearchCV, StratifiedKFold

        search = GridSearchCV(ITML(preprocessor=self.X), {"gamma": [0.5, 2.0]}, cv=StratifiedKFold(3), error_score="raise").fit(self.links.pairs, self.links.signs)
        self.assertGreater(search.best_score_, 0.9)

    def test_routing(self):
        """From scikit-learn 1.3 on, links can be requested."""
        if not hasattr(ITML, "set_fit_request"):
            self.skipTest("this scikit-learn has no metadata routing")
        import sklearn as package
        from sklearn.model_selection import cross_validate

        with package.config_context(enable_metadata_routing=True):
            learner = ITML().set_fit_request(links=True).set_score_request(links=False)
            results = cross_validate(learner, self.X, self.y, params={"links": self.links}, error_score="raise")
        self.assertGreater(results["test_score"].min(), 0.9)

    def test_keywords(self):
        """What routing needs: links is a named argument of fit and score, and links are indexed by rows."""
        import inspect

        from sklearn.utils import _safe_indexing
        from sklearn.utils.validation import _num_samples

        for method in (ITML.fit, ITML.score):
            self.assertIn("links", inspect.signature(method).parameters)
        self.assertEqual(_num_samples(self.links), 90)
        some = _safe_indexing(self.links, np.arange(30))
        self.assertEqual(some.pairs.tolist(), self.links[np.arange(30)].pairs.tolist())


if __name__ == "__main__":
    unittest.main()
