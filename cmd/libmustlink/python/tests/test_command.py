"""The results of the command and of this package, built from one source, are bit-identical."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

import mustlink
from mustlink import Links, _estimators

from .data import blobs
from .test_frames import customers, pandas

COMMAND = os.environ.get("MUSTLINK_COMMAND")


class Files(unittest.TestCase):
    """A folder with points and labels, in which the command runs."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.X, self.y = blobs(90, 5)
        self.new = blobs(40, 5, seed=9)[0]
        for name, rows in (("x", self.X), ("new", self.new)):
            np.save(self.path(name + ".npy"), rows)
        with open(self.path("y.csv"), "w") as file:
            file.write("label\n" + "".join(f"class {v}\n" for v in self.y))
        with open(self.path("t.csv"), "w") as file:
            file.write("target\n" + "".join(f"{v}\n" for v in self.y))

    def path(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def run_command(self, *arguments: str) -> str:
        done = subprocess.run([COMMAND, *arguments, "-q"], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @contextlib.contextmanager
    def quiet(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield


@unittest.skipUnless(COMMAND, "MUSTLINK_COMMAND does not name the command")
class Bits(Files):
    def test_every_method(self):
        for name in _estimators.__all__:
            learner, taught = getattr(mustlink, name)(random_state=3), ["--targets", "t.csv"]
            if learner._method == "auto":
                learner.set_params(hold_out=0)
            if not learner._uses_targets:
                learner.set_params(n_links=40)
                taught = ["--labels", "y.csv", "--links-from-labels", "40"]
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                method = [] if learner._method == "auto" else ["-m", learner._method]
                self.run_command("fit", *method, "--no-verdict", "-i", "x.npy", *taught, "--seed", "3", "-o", "m.mlk")
                self.run_command("embed", "m.mlk", "-i", "new.npy", "-o", "z.npy")
                self.run_command("gram", "m.mlk", "-i", "new.npy", "-o", "k.npy")
                learner.fit(self.X, self.y)
                np.testing.assert_array_equal(learner.transform(self.new), np.load(self.path("z.npy")))
                np.testing.assert_array_equal(learner.gram(self.new), np.load(self.path("k.npy")))
                read = mustlink.load(self.path("m.mlk"))
                np.testing.assert_array_equal(read.embed(self.new), np.load(self.path("z.npy")))
                learner.save(self.path("ours.mlk"))
                self.run_command("embed", "ours.mlk", "-i", "new.npy", "-o", "again.npy")
                np.testing.assert_array_equal(np.load(self.path("again.npy")), np.load(self.path("z.npy")))

    def test_links_and_scaling(self):
        links = Links.from_labels(self.y, 30, 20, seed=8)
        self.run_command("links", "make", "-i", "x.npy", "--labels", "y.csv", "--must", "30", "--cannot", "20", "--seed", "8", "-o", "l.csv")
        lines = [line.split(",")[:3] for line in open(self.path("l.csv")).read().splitlines()[1:]]
        self.assertEqual([[int(i), int(j), 1 if s == "must" else -1] for i, j, s in lines], np.column_stack([links.pairs, links.signs]).tolist())
        self.run_command("fit", "-m", "itml", "-i", "x.npy", "-c", "l.csv", "--standardize", "-k", "rbf:sigma=median", "-p", "gamma=2", "-o", "m.mlk")
        self.run_command("embed", "m.mlk", "-i", "new.npy", "-o", "z.npy")
        with open(self.path("p.csv"), "w") as file:
            file.write("i,j\n0,1\n5,9\n")
        self.run_command("distance", "m.mlk", "-i", "new.npy", "--pairs", "p.csv", "-o", "d.npy")
        learner = mustlink.ITML(kernel="rbf:sigma=median", gamma=2, standardize=True).fit(self.X, links=links)
        np.testing.assert_array_equal(learner.transform(self.new), np.load(self.path("z.npy")))
        np.testing.assert_array_equal(learner.distances(self.new, [(0, 1), (5, 9)]), np.load(self.path("d.npy")).ravel())

    @unittest.skipIf(pandas is None, "pandas is not there")
    def test_tables(self):
        """A frame is its file, in a fit and for a model of either."""
        frame, y = customers()
        new = customers(50, seed=5)[0]
        for table, name in ((frame, "t.csv"), (new, "u.csv")):
            table.to_csv(self.path(name), index=False)
        with open(self.path("y.csv"), "w") as file:
            file.write("label\n" + "".join(f"class {v}\n" for v in y))
        self.run_command("fit", "-m", "rca", "-i", "t.csv", "--labels", "y.csv", "--links-from-labels", "40", "--type", "grade=category", "-o", "m.mlk")
        learner = mustlink.RCA(n_links=40).fit(frame, y)
        learner.save(self.path("ours.mlk"))
        want = learner.transform(new)
        for model in ("m.mlk", "ours.mlk"):
            self.run_command("embed", model, "-i", "u.csv", "-o", "z.npy")
            np.testing.assert_array_equal(np.load(self.path("z.npy")), want)
            np.testing.assert_array_equal(mustlink.load(self.path(model)).embed(new), want)
        self.assertEqual(mustlink.load(self.path("m.mlk")).features, list(frame.columns))

    def test_blocks(self):
        """More rows than the command embeds at a time."""
        many = np.random.RandomState(1).normal(size=(40_000, 5))
        np.save(self.path("many.npy"), many)
        learner = mustlink.KRCA(n_links=40).fit(self.X, self.y)
        learner.save(self.path("m.mlk"))
        self.run_command("embed", "m.mlk", "-i", "many.npy", "-o", "z.npy")
        np.testing.assert_array_equal(learner.transform(many), np.load(self.path("z.npy")))


if __name__ == "__main__":
    unittest.main()
