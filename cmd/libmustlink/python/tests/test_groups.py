"""Groups keep links and columns, are those of scikit-learn without them, and those of the command."""

from __future__ import annotations

import csv
import unittest

import numpy as np

import mustlink
from mustlink import ConstrainedAgglomerative, Links

from . import test_command
from .data import blobs
from .test_command import COMMAND


def same(a, b) -> bool:
    """Whether two labelings have the same groups."""
    return np.array_equal(a[:, None] == a[None], b[:, None] == b[None])


class Groups(unittest.TestCase):
    def setUp(self):
        self.X, self.y = blobs(90, 5)
        self.metric = mustlink.RCA().fit(self.X, links=Links.from_labels(self.y, 60, seed=1))

    def test_is_scikit_learn(self):
        """Without links, merges are those of scikit-learn."""
        try:
            from sklearn.base import clone
            from sklearn.cluster import AgglomerativeClustering
        except ImportError:
            self.skipTest("scikit-learn is not installed")
        for linkage in ("average", "complete", "single", "ward"):
            of = AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(self.X)
            got = clone(ConstrainedAgglomerative(4, linkage=linkage)).fit(self.X)
            self.assertTrue(same(got.labels_, of.labels_), linkage)
            np.testing.assert_allclose(got.distances_, of.distances_[: len(got.distances_)], rtol=1e-9)
            self.assertEqual((got.n_clusters_, got.n_features_in_, got.children_.shape), (4, 5, (86, 2)))
            np.testing.assert_array_equal(np.sort(of.children_[:86], axis=1), got.children_)

    def test_constraints(self):
        cannot = Links.from_labels(self.y, 0, 40, seed=3).pairs
        links = Links([(0, 30), (30, 60), (5, 80), *cannot.tolist()], [1] * 3 + [-1] * len(cannot))
        source, time = np.arange(90) // 2, np.datetime64("2024-05-01") + 60 * np.arange(90).astype("timedelta64[s]")
        for options in ({"n_clusters": 5}, {"distance_threshold": 3.0}, {"min_cluster_size": 4}, {"n_clusters": 3, "linkage": "ward", "n_neighbors": 9, "recall": 0.9}):
            found = ConstrainedAgglomerative(**options).fit(self.X, links, distinct={"source": source}, distinct_within={"time": (time[::-1], np.timedelta64(400, "s"))})
            labels = found.labels_
            i, j = links.pairs.T
            must = links.signs == 1
            self.assertTrue((labels[i[must]] == labels[j[must]]).all())
            grouped = labels >= 0
            self.assertFalse((grouped[i] & (labels[i] == labels[j]))[~must].any())
            a, b = np.triu_indices(90, 1)
            near = (b - a < 7) & grouped[a]
            self.assertFalse((labels[a] == labels[b])[near].any())
            self.assertTrue(len(found.forbidden_) and set(found.forbidden_[:, 2]) <= {-1, 0, 1})

    def test_bad(self):
        for options, words in (({}, "want one of them"), ({"n_clusters": 0}, "count is 0"), ({"n_clusters": 91}, "at most 90"), ({"min_cluster_size": 1}, "smallest size"),
                               ({"n_clusters": 2, "linkage": "mean"}, "want one of average"), ({"distance_threshold": 1, "recall": 2}, "recall")):
            with self.assertRaisesRegex(ValueError, words):
                ConstrainedAgglomerative(**options).fit(self.X)

    def test_calibrated(self):
        links = Links.from_labels(self.y, 200, 200, seed=4)
        with self.assertRaisesRegex(ValueError, "calibrated"):
            self.metric.groups(self.X)
        self.metric.calibrate(self.X, links=links)
        found = self.metric.groups(self.X, links.closure())
        self.assertGreater(len(set(found.labels)), 1)
        i, j = links.pairs.T
        np.testing.assert_array_equal(found.labels[i] == found.labels[j], links.signs == 1)
        self.assertTrue((np.diff(found.distances[found.distances > 0]) >= 0).all())
        for options, words in (({"threshold": -1}, "threshold"), ({"threshold": 1, "precision": 0.5}, "precision"), ({"threshold": 1, "linkage": "mean"}, "linkage"),
                               ({"threshold": 1, "recall": 2}, "recall"), ({"threshold": 1, "distinct": {"a": [1]}}, "'a' has 1 values: want 90"),
                               ({"threshold": 1, "distinct_within": {"a": (np.arange(90), 0)}}, "width")):
            with self.assertRaisesRegex(ValueError, words):
                self.metric.groups(self.X, **options)
        with self.assertRaisesRegex(ValueError, "same key"):
            self.metric.groups(self.X, Links([(0, 1)], [1]), threshold=1, distinct={"a": np.zeros(90)})


@unittest.skipUnless(COMMAND, "MUSTLINK_COMMAND does not name the command")
class Command(test_command.Files):
    def test_groups(self):
        metric = mustlink.AutoMetric(n_links=40, hold_out=0).fit(self.X, self.y)
        metric.save(self.path("m.mlk"))
        links = Links.from_labels(self.y, 60, 60, seed=8)
        with open(self.path("l.csv"), "w") as file:
            file.write("i,j,link\n" + "".join(f"{i},{j},{s}\n" for (i, j), s in zip(links.pairs.tolist(), links.signs.tolist())))
        self.run_command("calibrate", "m.mlk", "-i", "x.npy", "-c", "l.csv", "-o", "c.mlk")
        metric.calibrate(self.X, links=links)
        for flags, options in (([], {}), (["--linkage", "complete", "--distance", "0.5"], {"linkage": "complete", "threshold": 0.5}), (["--min-size", "3"], {"min_cluster_size": 3}),
                               (["-n", "7", "--linkage", "ward"], {"n_clusters": 7, "linkage": "ward"})):
            self.run_command("cluster", "c.mlk", "-i", "x.npy", "-c", "l.csv", *flags, "-o", "g.csv")
            with open(self.path("g.csv"), newline="") as file:
                want = [int(line[-1]) for line in list(csv.reader(file))[1:]]
            self.assertEqual(metric.groups(self.X, links, **options).labels.tolist(), want)
