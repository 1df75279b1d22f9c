"""The examples in docstrings, in the folder examples and in the tutorial run."""

from __future__ import annotations

import doctest
import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
TUTORIAL = pathlib.Path(__file__).parents[4] / "docs/python.md"


class Examples(unittest.TestCase):
    def test_docstrings(self):
        count = 0
        for name in ("mustlink", "mustlink._entities", "mustlink._links", "mustlink._model", "mustlink._estimators"):
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = doctest.testmod(importlib.import_module(name))
                self.assertEqual(result.failed, 0)
                count += result.attempted
        self.assertGreater(count, 100)

    def test_scripts(self):
        for script in [EXAMPLES / "pipeline.py"]:  # test_plot runs the gallery
            with self.subTest(script.name):
                done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=os.environ, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout)

    def test_tutorial(self):
        blocks = re.findall(r"^```python\n(.*?)^```", TUTORIAL.read_text(encoding="utf-8"), re.S | re.M)
        self.assertGreater(len(blocks), 5)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", "".join(blocks)], cwd=folder, capture_output=True, text=True, env=os.environ, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("right nearest record", done.stdout)


if __name__ == "__main__":
    unittest.main()
