"""The estimators follow the scikit-learn interface."""

from __future__ import annotations

import unittest
import warnings

import numpy as np

import mustlink
from mustlink import _estimators

from .data import blobs

try:
    import sklearn
except ImportError:
    sklearn = None

# Parameters for scikit-learn's checks, which its own estimators also set: the checks use
# ten points, many of them equal or in separate groups.
SETTINGS = {
    "LLERatio": {"neighbors": 3},  # ten points do not have ten neighbors each
    "LLMA": {"neighbors": 3},
    "Spectral": {"neighbors": 3},
    "CMVU": {"neighbors": 3, "n_links": 2},  # all links of three separate groups determine the solution
    "Klein": {"neighbors": 3, "n_links": 2},  # all links of few classes give one position for each class
    "GML": {"neighbors": 3},
}

# Checks that fail with any parameters, by name, with the reason.
EXCEPTIONS: dict[str, str] = {}


def estimators() -> list:
    """Return an estimator of each class, with the parameters for the checks."""
    return [getattr(mustlink, name)(**SETTINGS.get(name, {})) for name in _estimators.__all__]


@unittest.skipIf(sklearn is None, "scikit-learn is not there")
class Checks(unittest.TestCase):
    def test_check_estimator(self):
        from sklearn.utils.estimator_checks import check_estimator

        ran = 0
        for estimator in estimators():
            for one, check in check_estimator(estimator, generate_only=True):
                name = check.func.__name__
                with self.subTest(estimator=type(one).__name__, check=name), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if name in EXCEPTIONS:
                        continue
                    check(one)
                    ran += 1
        self.assertGreater(ran, 30 * len(_estimators.__all__))

    def test_grid_search(self):
        from sklearn.model_selection import GridSearchCV
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        X, y = blobs(90)
        pipeline = make_pipeline(StandardScaler(), mustlink.KRCA(n_links=40), KNeighborsClassifier(3))
        search = GridSearchCV(pipeline, {"krca__eps_rel": [1e-3, 1e-1], "krca__kernel": ["rbf:sigma=median", "linear"]}, cv=3)
        search.fit(X, y)
        self.assertGreater(search.best_score_, 0.9)
        alone = GridSearchCV(mustlink.ITML(), {"gamma": [0.1, 1.0]}, cv=3).fit(X, y)  # by its own score
        self.assertGreater(alone.best_score_, 0.9)

    def test_grid_search_in_processes(self):
        from sklearn.model_selection import GridSearchCV

        X, y = blobs(60)
        mustlink.RCA().fit(X, y)  # the library is loaded here: workers of joblib must start new processes
        search = GridSearchCV(mustlink.RCA(), {"eps_rel": [1e-6, 1e-2]}, cv=2, n_jobs=2, error_score="raise").fit(X, y)
        self.assertGreater(search.best_score_, 0.8)

    def test_set_output(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not there")
        X, y = blobs()
        frame = pandas.DataFrame(X, columns=list("abcd"))
        learner = mustlink.RCA().fit(frame, y).set_output(transform="pandas")
        self.assertEqual(list(learner.transform(frame).columns), ["rca0", "rca1", "rca2", "rca3"])
        with self.assertRaisesRegex(ValueError, "order"):
            learner.transform(frame[list("bacd")])
        self.assertEqual(learner.model_.info()["features"], list("abcd"))


class Parameters(unittest.TestCase):
    def test_table_is_the_library(self):
        """The classes have every method and parameter of the library, with its default."""
        by_method = {getattr(mustlink, name)._method: getattr(mustlink, name) for name in _estimators.__all__}
        for method in mustlink.methods():
            learner = by_method.pop(method["name"])
            names = {name: default for name, default in learner._defaults.values()}
            self.assertEqual(set(names), {p["name"] for p in method["parameters"]})
            for p in method["parameters"]:
                value = names[p["name"]]
                same = float(p["default"]) if isinstance(value, float) else p["default"].lower()
                self.assertEqual("" if value is None else value if isinstance(value, float) else str(value).lower(), same)
        self.assertEqual(set(by_method), {"auto"})

    def test_every_parameter_arrives(self):
        """The library refuses a bad parameter under its own name."""
        X, y = blobs()
        for name in _estimators.__all__:
            learner = getattr(mustlink, name)
            for attribute, (parameter, _) in learner._defaults.items():
                with self.subTest(estimator=name, parameter=parameter):
                    with self.assertRaises(ValueError) as caught:
                        learner(**{attribute: "no such value"}).fit(X, y)
                    self.assertIn("no such value", str(caught.exception))

    def test_bad_numbers_name_their_parameter(self):
        """The message begins with the parameter and says what it may be; NaN is spoken of in data only."""
        X, y = blobs()
        for name in _estimators.__all__:
            learner = getattr(mustlink, name)
            numeric = {attribute: parameter for attribute, (parameter, default) in learner._defaults.items() if isinstance(default, (int, float)) and not isinstance(default, bool)}
            for attribute, parameter in numeric.items():
                for value in (-1e308, float("nan"), float("inf")):
                    with self.subTest(estimator=name, parameter=parameter, value=value):
                        with self.assertRaisesRegex(ValueError, f"^(n_components|{parameter}) is .*: want "):
                            learner(**{attribute: value}).fit(X, y)
            with self.assertRaisesRegex(TypeError, r"^kernel|is \[1\]: want "):
                learner(**{attribute: [1] for attribute in list(learner._defaults)[:1]} or {"kernel": 1}).fit(X, y)

    def test_defaults_are_not_sent(self):
        X, y = blobs()
        mustlink.KRCA(eps=0.1).fit(X, y)  # eps replaces eps_rel, which has a default
        mustlink.KRCA(eps=0.1, eps_rel=np.float64(0.001)).fit(X, y)
        with self.assertRaisesRegex(ValueError, "eps"):
            mustlink.KRCA(eps=0.1, eps_rel=0.01).fit(X, y)
        with self.assertRaisesRegex(ValueError, "landmarks"):
            mustlink.KRCA(landmarks=False).fit(X, y)  # False is not 0

    def test_params(self):
        learner = mustlink.KRCA(dims=5)
        self.assertEqual(learner.get_params()["dims"], 5)
        self.assertEqual(learner.set_params(dims=np.int64(2)).fit(*blobs()).transform(blobs()[0]).shape, (60, 2))
        with self.assertRaises(ValueError):
            learner.set_params(nothing=1)
        for bad in ({"kernel": 3}, {"dims": [1]}, {"random_state": "x"}, {"n_links": 1.5, "dims": object()}):
            with self.assertRaises(TypeError):
                mustlink.KRCA(**bad).fit(*blobs())
        for bad in ({"kernel": "rbg"}, {"random_state": -1}, {"n_links": 0}, {"n_links": "some"}):
            with self.assertRaises(ValueError):
                mustlink.KRCA(**bad).fit(*blobs())


if __name__ == "__main__":
    unittest.main()
