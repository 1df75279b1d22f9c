"""The numbers that a preparation makes of messy tables are those of scikit-learn's transformers.

The program tools/tables of this repository writes the tables and our numbers into the
folder that the environment variable MUSTLINK_TABLES names; `make test-python` does both.
"""

import csv
import datetime
import os
import pathlib
import unittest

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

FOLDER = os.environ.get("MUSTLINK_TABLES")
LABEL = "segment"
MISSING = {"", "NA", "N/A", "NaN", "null", "?"}
SEPARATORS = {"kunden.csv": ";", "assay.tsv": "\t", "bars.csv": "|"}
DATES = {"joined": "%Y-%m-%d", "seit": "%d.%m.%Y", "seen": "%Y-%m-%dT%H:%M:%SZ", "due": "%m/%d/%Y"}
CATEGORIES = {"country", "plan", "lab", "city", "code"}
BOOLEANS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0, "Y": 1.0, "N": 0.0}


def read(path: pathlib.Path) -> dict:
    """Return the columns of a table by name."""
    encoding = "utf-16" if path.name == "codes.csv" else "utf-8"
    with open(path, encoding=encoding, newline="") as file:
        rows = list(csv.reader(file, delimiter=SEPARATORS.get(path.name, ",")))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}


def numbers(name: str, cells: list, decimal: str) -> list:
    """Return the numbers that cells stand for, NaN for a missing one."""
    if name in DATES:
        days = datetime.timedelta(days=1)
        begin = datetime.datetime(1970, 1, 1)
        return [(datetime.datetime.strptime(cell, DATES[name]) - begin) / days for cell in cells]
    return [np.nan if cell in MISSING else float(cell.replace(decimal, ".")) for cell in cells]


@unittest.skipUnless(FOLDER, "MUSTLINK_TABLES names no folder")
class TestTables(unittest.TestCase):
    def test_like_scikit_learn(self):
        paths = [p for p in sorted(pathlib.Path(FOLDER).iterdir()) if not p.name.endswith(".features.csv")]
        self.assertEqual(len(paths), 12)
        for path in paths:
            with self.subTest(path.name):
                self.compare(path)

    def compare(self, path: pathlib.Path) -> None:
        table = read(path)
        with open(f"{path}.features.csv", newline="") as file:
            rows = list(csv.reader(file))
        ours = np.asarray(rows[1:], dtype=float)
        used = list(dict.fromkeys(name.partition("=")[0] for name in rows[0]))
        columns, steps = [], []
        for j, name in enumerate(used):
            cells = table[name]
            if name in CATEGORIES:
                columns.append([np.nan if cell in MISSING else cell for cell in cells])
                steps.append((name, OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=50, sparse_output=False), [j]))
            elif set(cells) <= set(BOOLEANS):
                columns.append([BOOLEANS[cell] for cell in cells])
                steps.append((name, "passthrough", [j]))
            else:
                columns.append(numbers(name, cells, "," if path.name == "kunden.csv" else "."))
                steps.append((name, make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), [j]))
        frame = np.empty((len(ours), len(used)), dtype=object)
        for j, column in enumerate(columns):
            frame[:, j] = column
        theirs = ColumnTransformer(steps).fit_transform(frame).astype(float)
        self.assertEqual(ours.shape, theirs.shape)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


if __name__ == "__main__":
    unittest.main()
