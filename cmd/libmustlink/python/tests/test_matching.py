"""Classes, pairs, questions, calibrations and reports are those of the command on the same files."""

from __future__ import annotations

import csv
import json
import unittest

import numpy as np

import mustlink
from mustlink import AutoMetric, Links, NotFittedError

from . import test_command
from .data import blobs
from .test_command import COMMAND


class Methods(unittest.TestCase):
    def setUp(self):
        self.X, self.y = blobs(90, 5)
        self.metric = mustlink.RCA().fit(self.X, links=Links.from_labels(self.y, 60, seed=1))

    def test_classify(self):
        """Without a vote, the label is that of the nearest row with one, of the type of y."""
        X, new = self.X, blobs(30, 5, seed=9)[0]
        names = np.array(["x", "yy", "zzz"], dtype=object)[self.y]
        names[::4] = None
        voting = np.flatnonzero([name is not None for name in names])
        Z, of = self.metric.transform(X)[voting], self.metric.transform(new)
        nearest = voting[np.argmin(((of[:, None] - Z[None]) ** 2).sum(axis=2), axis=1)]
        for learned in (self.metric, self.metric.model_):
            self.assertEqual(learned.classify(X, names, new, n_neighbors=1).tolist(), names[nearest].tolist())
        self.assertEqual(self.metric.classify(X, self.y, new).dtype, self.y.dtype)
        for y, k, words in ((self.y[1:], 1, "X has 90, y has 89"), (self.y, 0, "want"), (self.y, 91, "90"), ([None] * 90, 1, "labels for some")):
            with self.assertRaisesRegex(ValueError, words):
                self.metric.classify(X, y, new, n_neighbors=k)
        with self.assertRaises(NotFittedError):
            AutoMetric().classify(X, self.y, new)

    def test_pairs(self):
        """All pairs up to a threshold, and no others, in the order of their distances."""
        i, j = np.triu_indices(90, 1)
        apart = self.metric.distances(self.X, np.column_stack([i, j]))
        threshold = np.partition(apart, 300)[300]
        found = self.metric.pairs(self.X, threshold=threshold)
        order = np.lexsort([j, i, apart])[:301]
        np.testing.assert_array_equal(found.rows, np.column_stack([i, j])[order])
        np.testing.assert_allclose(found.distances, apart[order], rtol=1e-12)
        self.assertEqual((found.probabilities, found.calibrated, found.threshold), (None, None, threshold))
        self.assertEqual(self.metric.pairs(self.X, threshold=0).rows.shape, (0, 2))
        for options, words in (
            ({}, "want one of threshold"), ({"threshold": 1, "recall": 0.5}, "want one of"), ({"precision": 0.9}, "not calibrated"),
            ({"threshold": -1}, "threshold"), ({"threshold": 9, "max_pairs": 3}, "3"), ({"threshold": 9, "share": 0.1}, "not calibrated"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                self.metric.pairs(self.X, **options)

    def test_calibrate(self):
        """Probabilities fall with the distance, share and near change them, and an update drops them."""
        self.assertIsNone(self.metric.calibration_)
        new, y = blobs(90, 5, seed=3)[0] * 0 + self.X, self.y
        self.assertIs(self.metric.calibrate(new, y), self.metric)
        self.assertEqual(self.metric.calibration_["must_links"] + self.metric.calibration_["cannot_links"], 90 * 89 // 2)
        found = self.metric.pairs(self.X, recall=0.9)
        self.assertGreaterEqual(found.calibrated["recall"]["value"], 0.9)
        self.assertTrue((np.diff(found.probabilities) <= 0).all() and found.probabilities.min() >= 0 and found.probabilities.max() <= 1)
        links = Links.from_labels(y, 50, 50, seed=2)
        self.assertEqual(self.metric.model_.calibrated(new, links, share=0.01).calibration_["share"], 0.01)
        self.assertTrue(self.metric.calibrate(new, links=links, near=True).calibration_["near"])
        for options, words in (({"share": 2.0}, "share"), ({"share": 0.1, "near": True}, "one of near and share")):
            with self.assertRaisesRegex(ValueError, words):
                self.metric.calibrate(new, links=links, **options)
        for known in (Links.from_labels(y, 50, 0), None):
            with self.assertRaisesRegex(ValueError, "want"):
                self.metric.calibrate(new, links=known)

    def test_suggest(self):
        """Nothing that is known is asked, and near pairs are near."""
        links = Links.from_labels(self.y, 20, 20, seed=1)
        known = {tuple(sorted(pair)) for pair in links.closure().pairs.tolist()}
        asked = self.metric.suggest(self.X, links, count=5)
        self.assertEqual(len(asked), 5)
        self.assertFalse(known & {tuple(sorted(pair)) for pair in asked.tolist()})
        near = self.metric.suggest(self.X, near=0.9, count=4)
        self.assertTrue(len(near) == 4 and (self.metric.distances(self.X, near) <= 0.9).all())
        with self.assertWarnsRegex(mustlink.Notice, "there are only 0 pairs up to the distance 1e-09"):
            self.assertEqual(self.metric.suggest(self.X, near=1e-9).shape, (0, 2))
        for options, words in (({"count": 0}, "count"), ({"near": -1}, "near"), ({"near": 1, "classes": 3}, "one of near and classes")):
            with self.assertRaisesRegex(ValueError, words):
                self.metric.suggest(self.X, **options)
        with self.assertRaisesRegex(ValueError, "cannot-link 0-2 contradicts"):
            self.metric.suggest(self.X, Links([(0, 1), (1, 2), (0, 2)], [1, 1, -1]))


@unittest.skipUnless(COMMAND, "MUSTLINK_COMMAND does not name the command")
class Command(test_command.Files):
    def setUp(self):
        super().setUp()
        self.links = Links.from_labels(self.y, 60, 60, seed=8)
        with open(self.path("l.csv"), "w") as file:
            file.write("i,j,link\n" + "".join(f"{i},{j},{s}\n" for (i, j), s in zip(self.links.pairs.tolist(), self.links.signs.tolist())))
        self.metric = AutoMetric(n_links=40, hold_out=0).fit(self.X, self.y)
        self.metric.save(self.path("m.mlk"))

    def table(self, name: str) -> list[list[str]]:
        with open(self.path(name), newline="") as file:
            return list(csv.reader(file))[1:]

    def test_classify(self):
        self.run_command("classify", "m.mlk", "--train", "x.npy", "--train-labels", "y.csv", "-i", "new.npy", "-o", "p.csv")
        got = self.metric.classify(self.X, [f"class {v}" for v in self.y], self.new)
        self.assertEqual([line[0] for line in self.table("p.csv")], got.tolist())

    def test_pairs(self):
        share = ["--share", "0.3"]
        self.run_command("calibrate", "m.mlk", "-i", "x.npy", "-c", "l.csv", *share, "-o", "c.mlk")
        self.metric.calibrate(self.X, links=self.links, share=0.3)
        self.assertEqual(mustlink.load(self.path("c.mlk")).calibration_, self.metric.calibration_)
        for flags, options in ((["--recall", ".8"], {"recall": 0.8}), (["--precision", ".25"], {"precision": 0.25}), (["--threshold", "1", "--neighbors", "2"], {"threshold": 1, "n_neighbors": 2})):
            with self.subTest(flags):
                said = json.loads(self.run_command("pairs", "c.mlk", "-i", "new.npy", *flags, "-o", "p.csv", "--json"))
                with self.quiet():
                    found = self.metric.pairs(self.new, **options)
                self.assertEqual((said["pairs"], said["threshold"], said["calibrated"]), (len(found.rows), found.threshold, found.calibrated))
                self.assertGreater(len(found.rows), 0)
                want = np.array(self.table("p.csv"), dtype=float)
                np.testing.assert_array_equal(want, np.column_stack([found.rows, found.distances, found.probabilities]))

    def test_suggest(self):
        for flags, options in (([], {}), (["--classes", "3"], {"classes": 3}), (["--near", "2", "--seed", "4"], {"near": 2.0, "seed": 4})):
            self.run_command("suggest", "m.mlk", "-i", "x.npy", "-c", "l.csv", "-n", "6", *flags, "-o", "p.csv")
            with self.quiet():
                got = self.metric.suggest(self.X, self.links, count=6, **options)
            self.assertEqual([list(map(int, line)) for line in self.table("p.csv")], got.tolist())

    def test_report(self):
        self.metric.report(self.X, self.path("r.html"), self.y, links=self.links, held_out=Links.from_labels(self.y), title="two words", command=COMMAND)
        with open(self.path("r.html"), encoding="utf-8") as file:
            page = file.read()
        for text in ("<title>two words", "held-out", self.metric.method_):
            self.assertIn(text, page)
        with self.assertRaisesRegex(RuntimeError, r"html"):
            self.metric.report(self.X, self.path("r.txt"), command=COMMAND)
        with self.assertRaises(FileNotFoundError):
            self.metric.report(self.X, self.path("r.html"), command="/nowhere/mustlink")


if __name__ == "__main__":
    unittest.main()
