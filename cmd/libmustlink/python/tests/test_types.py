"""mypy finds no error in the package, and knows the types of what users call."""

from __future__ import annotations

import pathlib
import re
import tempfile
import unittest

try:
    from mypy import api
except ImportError:
    api = None

HERE = pathlib.Path(__file__).parent.parent

# A program, and what mypy reveals of its last expressions.
PROGRAM = """
from mustlink import AutoMetric, Links, load
metric = AutoMetric(hold_out="auto").fit([[0.0]], links=Links([(0, 1)], [1])).calibrate([[0.0]], [1])
reveal_type(metric)
reveal_type(metric.verdict_)
reveal_type(metric.transform([[1.0]]))
reveal_type(metric.pairs([[1.0]], precision=0.9).probabilities)
reveal_type(load("model.mlk").classify([[1.0]], [1], [[2.0]]))
reveal_type(metric.suggest([[1.0]]))
AutoMetric(hold_out="sometimes")
metric.pairs([[1.0]], precission=0.9)
"""
REVEALED = ["mustlink._estimators.AutoMetric", "ict[builtins.str, Any]", "ndarray[", "ndarray[", "ndarray[", "ndarray["]


@unittest.skipIf(api is None, "mypy is not there")
class Types(unittest.TestCase):
    def test(self):
        with tempfile.TemporaryDirectory() as cache:
            common = ["--config-file", str(HERE / "pyproject.toml"), "--cache-dir", cache]
            said = api.run([*common, str(HERE / "mustlink")])[0]
            self.assertIn("Success: no issues", said)
            said = api.run([*common, "-c", PROGRAM])[0]
        revealed = re.findall(r'note: Revealed type is "(.*)"', said)
        self.assertEqual(len(revealed), len(REVEALED), said)
        for got, want in zip(revealed, REVEALED):
            self.assertIn(want, got)
        errors = re.findall(r"error: (.*)", said)
        self.assertEqual(len(errors), 2, said)
        self.assertIn("hold_out", errors[0])
        self.assertIn("precission", errors[1])


if __name__ == "__main__":
    unittest.main()
