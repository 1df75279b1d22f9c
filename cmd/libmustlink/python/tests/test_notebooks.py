"""The notebooks, scripts with percent cells, run: by nbclient where it is installed, else as scripts."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import nbclient
    import nbformat
except ImportError:
    nbclient = None

NOTEBOOKS = sorted((pathlib.Path(__file__).parent.parent / "notebooks").glob("*.py"))


def cells(text: str) -> list[tuple[bool, str]]:
    """Return whether each cell is prose, and its text."""
    parts = re.split(r"^# %%(.*)\n", text, flags=re.M)[1:]
    prose = [kind.strip() == "[markdown]" for kind in parts[::2]]
    return [(is_prose, re.sub(r"^# ?", "", part, flags=re.M) if is_prose else part) for is_prose, part in zip(prose, parts[1::2])]


class Notebooks(unittest.TestCase):
    def test_run(self):
        self.assertEqual(len(NOTEBOOKS), 2)
        for path in NOTEBOOKS:
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                text = path.read_text(encoding="utf-8")
                self.assertEqual(text.partition("\n")[0], "# %% [markdown]")
                if nbclient is None:
                    done = subprocess.run([sys.executable, str(path)], cwd=folder, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "agg"}, timeout=300)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    continue
                new = {True: nbformat.v4.new_markdown_cell, False: nbformat.v4.new_code_cell}
                book = nbformat.v4.new_notebook(cells=[new[prose](part.strip()) for prose, part in cells(text)])
                nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": folder}}).execute()
                self.assertTrue(all(cell.outputs for cell in book.cells[-2:] if cell.cell_type == "code"))


if __name__ == "__main__":
    unittest.main()
