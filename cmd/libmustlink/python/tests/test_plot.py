"""Pictures show what they are given, and the gallery runs."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

import mustlink
from mustlink import RCA, AutoMetric, Links, plot

from .data import blobs, rings

try:
    import matplotlib.figure
except ImportError:
    matplotlib = None

GALLERY = ("moons", "digits_retrieval", "deduplication", "text", "faces", "grid_search")


class Missing(unittest.TestCase):
    def test_message(self):
        """Without matplotlib the package works, and a picture says what to install."""
        with mock.patch.dict(sys.modules, {"matplotlib": None, "matplotlib.figure": None}):
            with self.assertRaises(ImportError) as caught:
                plot.embedding(np.zeros((3, 2)))
        self.assertEqual(
            str(caught.exception),
            "mustlink.plot needs matplotlib, which is not there: want pip install matplotlib, or on Debian apt-get install python3-matplotlib",
        )

    def test_not_imported(self):
        code = "import sys, mustlink; mustlink.RCA; print('matplotlib' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
        self.assertEqual(done.stdout.strip(), "False", done.stderr)


class Plane(unittest.TestCase):
    def test_principal(self):
        """The two directions have the largest variances, and keep them."""
        Z = np.random.RandomState(0).normal(size=(50, 5)) * [1, 9, 2, 5, 0.1]
        got = plot.plane(Z)
        want = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False)[:2]
        np.testing.assert_allclose(np.linalg.norm(got, axis=0), want)
        self.assertAlmostEqual(float(got[:, 0] @ got[:, 1]), 0, places=6)

    def test_few_columns(self):
        Z = np.arange(6.0).reshape(3, 2)
        np.testing.assert_array_equal(plot.plane(Z), Z)
        np.testing.assert_array_equal(plot.plane(Z[:, :1]), [[0, 0], [2, 0], [4, 0]])

    def test_bad(self):
        for Z, message in (([1.0], "Z has shape"), ([[np.nan, 1]], "not finite")):
            with self.assertRaisesRegex(ValueError, message):
                plot.plane(Z)


@unittest.skipIf(matplotlib is None, "matplotlib is not there")
class Figures(unittest.TestCase):
    def test_embedding(self):
        """Each label has its points, and each kind of link its lines."""
        X, y = blobs()
        links = Links.from_labels(y, 12, 7)
        Z = RCA(n_components=2).fit(X, y).transform(X)
        figure = plot.embedding(Z, np.array(["a", "b", "c"])[y], links, title="blobs")
        self.assertIsInstance(figure, matplotlib.figure.Figure)
        (ax,) = figure.axes
        drawn = {c.get_label(): c for c in ax.collections}
        self.assertEqual(set(drawn), {"a", "b", "c", "must-links: 12", "cannot-links: 7"})
        for k, name in enumerate("abc"):
            np.testing.assert_allclose(drawn[name].get_offsets(), Z[y == k])
        segments = drawn["cannot-links: 7"].get_segments()
        np.testing.assert_allclose(segments, Z[links.pairs[links.signs < 0]])
        self.assertEqual((ax.get_title(), len(ax.get_legend().get_texts())), ("blobs", 5))

    def test_given_axes(self):
        figure = matplotlib.figure.Figure()
        left, right = figure.subplots(1, 2)
        self.assertIs(plot.embedding(np.eye(3), ax=right), figure)
        self.assertFalse(left.collections)

    def test_many_labels(self):
        """Labels of one color have different shapes."""
        y = np.arange(30)
        (ax,) = plot.embedding(np.random.RandomState(0).normal(size=(30, 2)), y).axes
        looks = {(tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes()) for c in ax.collections}
        self.assertGreaterEqual(len(looks), 24)

    def test_distances(self):
        X, y = blobs()
        links = Links.from_labels(y, 40, 60)
        (ax,) = plot.distances(RCA().fit(X, y), X, links, threshold=1.5).axes
        heights = [sum(bar.get_height() for bar in bars) for bars in ax.containers]
        np.testing.assert_allclose(heights, [1, 1])
        self.assertEqual(ax.lines[0].get_xdata()[0], 1.5)

    def test_verdict(self):
        X, y = rings()
        learner = AutoMetric(hold_out=1).fit(X, links=Links.from_labels(y, 60, 60))
        for of in (learner, learner.verdict_):
            (ax,) = plot.verdict(of).axes
            self.assertEqual([bar.get_height() for bar in ax.patches], [learner.verdict_["raw"], learner.verdict_["auc"]])
            self.assertEqual(ax.get_title().replace("\n", " "), learner.verdict_["text"])

    def test_no_verdict(self):
        X, y = rings()
        with self.assertRaisesRegex(ValueError, "RCA has no verdict: want a fit with hold_out=1 or more"):
            plot.verdict(RCA().fit(X, y))
        few = {"missing": "too few", "text": "not judged: too few"}
        self.assertFalse(plot.verdict(few).axes[0].patches)

    def test_bad(self):
        Z = np.zeros((3, 2))
        with self.assertRaisesRegex(ValueError, "y has 2 labels: want 3"):
            plot.embedding(Z, [0, 1])
        with self.assertRaisesRegex(ValueError, "links have the row 3: want rows of Z, from 0 to 2"):
            plot.embedding(Z, links=Links([(0, 3)], [1]))
        with self.assertRaisesRegex(ValueError, "want pairs of rows"):
            plot.distances(mustlink.RCA(), Z, Links())


@unittest.skipIf(matplotlib is None, "matplotlib is not there")
class Gallery(unittest.TestCase):
    def test_scripts(self):
        """Each script of the gallery, run without arguments or with a path, ends with a picture that is not empty."""
        from matplotlib.image import imread

        examples = pathlib.Path(__file__).parent.parent / "examples"
        self.assertEqual({path.stem for path in examples.glob("*.py")} - {"pipeline"}, set(GALLERY))
        with tempfile.TemporaryDirectory() as folder:
            for name in GALLERY:
                with self.subTest(name):
                    path = [] if name != "moons" else ["other.png"]
                    picture = pathlib.Path(folder, *(path or [name + ".png"]))
                    done = subprocess.run([sys.executable, str(examples / (name + ".py")), *path], cwd=folder, capture_output=True, text=True, env=os.environ, timeout=300)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(done.stdout)
                    pixels = imread(picture)
                    self.assertGreater(len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)), 50)


if __name__ == "__main__":
    unittest.main()
