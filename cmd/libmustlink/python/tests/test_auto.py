"""The method that links choose, and verdicts on held-out links."""

from __future__ import annotations

import unittest
import warnings

import numpy as np

import mustlink
from mustlink import KRCA, AutoMetric, Links

from .data import rings


class Auto(unittest.TestCase):
    def test_method(self):
        """Both kinds of links give blend, must-links alone krca, cannot-links alone itml."""
        X, y = rings()
        for must, cannot, method in [(60, 60, "blend"), (60, 0, "krca"), (0, 60, "itml")]:
            links = Links.from_labels(y, must, cannot, seed=1)
            self.assertEqual(AutoMetric().fit(X, links=links).method_, method)

    def test_same_as_named(self):
        X, y = rings()
        links = Links.from_labels(y, 60, seed=1)
        self.assertTrue((AutoMetric().fit(X, links=links).transform(X) == KRCA().fit(X, links=links).transform(X)).all())

    def test_verdict(self):
        X, y = rings()
        links = Links.from_labels(y, 100, 100, seed=1)
        self.assertIsNone(KRCA().fit(X, links=links).verdict_)
        verdict = AutoMetric(hold_out=2).fit(X, links=links).verdict_
        self.assertEqual(verdict["finding"], "better")
        self.assertEqual(verdict["fits"], 2)
        self.assertGreater(verdict["auc"], verdict["raw"])
        self.assertIn("the learned metric is better", verdict["text"])
        few = AutoMetric(hold_out=1).fit(X, links=Links.from_labels(y, 2, 2, seed=1)).verdict_
        self.assertEqual(few["finding"], "unknown")
        self.assertIn("too few", few["missing"])

    def test_by_default(self):
        """AutoMetric has the verdict of the command, a Notice in its words, and a text of its state."""
        X, y = rings()
        links = Links.from_labels(y, 100, 100, seed=1)
        learner = AutoMetric()
        self.assertEqual(repr(learner), "AutoMetric()")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            verdict = learner.fit(X, links=links).verdict_
            self.assertEqual(verdict["parts"], 5)
            if verdict["fits"] == 5:  # ten seconds are enough for all
                self.assertEqual(verdict, AutoMetric(hold_out=5).fit(X, links=links).verdict_)
            else:
                self.assertGreater(verdict["auc"], verdict["raw"])
        self.assertEqual(repr(learner), f"<AutoMetric(), fitted by blend, {learner.model_.dim} directions, better than raw>")
        self.assertIn(f"2 features, fitted by blend, {learner.model_.dim} directions, better", repr(learner.model_))
        noise = np.random.RandomState(0).normal(size=(200, 20))
        with self.assertWarnsRegex(mustlink.Notice, r"^held-out links: AUC .* (no clear difference|worse than raw[^;]*); .*mislabeled"):
            learner.fit(noise, links=links)
        self.assertRegex(repr(learner), r"directions?, (not clearly better than raw|as blend is worse)>$")
        self.assertEqual(repr(AutoMetric(hold_out=0).fit(X, links=links)).count("raw"), 0)

    def test_stored(self):
        """The file of a model keeps its verdict."""
        import tempfile

        X, y = rings()
        learned = KRCA(hold_out=1).fit(X, links=Links.from_labels(y, 100, 100, seed=1))
        with tempfile.TemporaryDirectory() as folder:
            learned.save(folder + "/m.mlk")
            self.assertEqual(mustlink.load(folder + "/m.mlk").info()["verdict"], learned.verdict_)

    def test_bad(self):
        X, y = rings()
        for value in (-1, 1.5, True, "1", "Auto"):
            with self.assertRaisesRegex(ValueError, "hold_out"):
                KRCA(hold_out=value).fit(X, y)


if __name__ == "__main__":
    unittest.main()
