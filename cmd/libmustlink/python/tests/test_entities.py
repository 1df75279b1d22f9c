"""Entities of generated people are mostly right, keep links and columns, and are those of the command."""

from __future__ import annotations

import csv
import unittest

import numpy as np

import mustlink
from mustlink import Links, entities, entity_questions

from . import test_command
from .test_command import COMMAND

try:
    import pandas
except ImportError:
    pandas = None  # type: ignore[assignment]

BLOCK = ["zip", "born", "soundex(last),first-letter(first)"]
COMPARE = ["first", "last", "born", "zip"]


def people(n: int = 400, seed: int = 3):
    """n persons, of whom half have a second record with a misspelled name, or a moved or missing zip."""
    random = np.random.RandomState(seed)
    syllable = ["ka", "lo", "mi", "ran", "ber", "tho", "sen", "dul", "fe", "gri"]
    rows, truth = [], []

    def word(k):
        return "".join(random.choice(syllable, k))

    for person in range(n):
        first, last = word(2), word(3)
        born, zip_code = f"{random.randint(1930, 2010)}-{random.randint(1, 13):02}-{random.randint(1, 29):02}", int(random.randint(200, 300))
        rows.append([first, last, born, zip_code, "crm"])
        truth.append(person)
        if person % 2:
            at = random.randint(len(last))
            last = last[:at] + last[at + 1 :]
            rows.append([first[:1] + "." if person % 3 == 0 else first, last, born, None if person % 5 == 0 else zip_code, "web"])
            truth.append(person)
    order = random.permutation(len(rows))
    frame = pandas.DataFrame([rows[k] for k in order], columns=["first", "last", "born", "zip", "source"])
    return frame, np.array(truth)[order]


def pairwise_f(labels, truth) -> float:
    a, b = np.triu_indices(len(truth), 1)
    found, right = labels[a] == labels[b], truth[a] == truth[b]
    return 2 * (found & right).sum() / (found.sum() + right.sum())


@unittest.skipUnless(pandas, "pandas is not installed")
class Entities(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.X, cls.truth = people()
        cls.pairs = entity_questions(cls.X, 300, block=BLOCK)
        i, j = cls.pairs.T
        cls.links = Links(cls.pairs, np.where(cls.truth[i] == cls.truth[j], 1, -1))

    def test_people(self):
        X = self.X.set_index(np.array([f"r{k}" for k in range(len(self.X))]))
        found = entities(X, self.links, block=BLOCK, compare=COMPARE, distinct=["source"], doubts=5)
        self.assertEqual(found.frame.columns.tolist(), ["record", "entity", "probability"])
        self.assertEqual(found.frame["record"].tolist(), X.index.tolist())
        labels = found.frame["entity"].to_numpy()
        self.assertGreater(pairwise_f(labels, self.truth), 0.9)
        self.assertTrue(found.frame["probability"].between(0, 1).all())
        self.assertFalse(found.frame.assign(source=X["source"].to_numpy()).duplicated(["entity", "source"]).any())
        i, j = self.links.pairs.T
        np.testing.assert_array_equal(labels[i] == labels[j], self.links.signs == 1)
        self.assertEqual((found.doubtful.shape, found.probabilities.shape), ((5, 2), (5,)))
        self.assertEqual((found.report["entities"], found.report["found"]), (len(set(labels)), int((self.links.signs == 1).sum())))
        self.assertGreater(found.report["pair_model"]["auc"], 0.9)

        a, b = found.doubtful.T
        answers = Links(found.doubtful, np.where(self.truth[a] == self.truth[b], 1, -1))
        decided = entities(X, self.links, block=BLOCK, compare=COMPARE, decided=answers).frame["entity"].to_numpy()
        np.testing.assert_array_equal(decided[a] == decided[b], self.truth[a] == self.truth[b])

    def test_previous(self):
        """Numbers last: earlier entities keep theirs, and new ones take others."""
        half = len(self.X) // 2
        before = entities(self.X, self.links, block=BLOCK, compare=COMPARE).frame.head(half)
        before = before.assign(entity=before["entity"] + 1000)
        after = entities(self.X, self.links, block=BLOCK, compare=COMPARE, previous=before).frame["entity"]
        np.testing.assert_array_equal(after[:half], before["entity"])
        new = after[half:]
        self.assertTrue((new[~new.isin(before["entity"])] > before["entity"].max()).all())

    def test_metric(self):
        """A calibrated metric needs no texts and no links."""
        X = pandas.DataFrame({"x": np.repeat(np.arange(20.0) * 100, 3) + np.arange(60) % 3, "y": np.arange(60) % 2 * 0.5})
        truth = np.arange(60) // 3
        links = Links.from_labels(truth, 50, 500)
        metric = mustlink.RCA().fit(X, links=links).calibrate(X, links=links)
        found = entities(X, metric=metric)
        self.assertGreater(pairwise_f(found.frame["entity"].to_numpy(), truth), 0.9)
        self.assertIsNone(found.report["pair_model"])
        with self.assertRaisesRegex(ValueError, "links"):
            entities(X, metric=mustlink.RCA().fit(X, links=links))

    def test_bad(self):
        for links, options, words in (
            (None, {}, "want links from which"), (self.links, {"compare": ["frst"]}, '"frst".*did you mean "first"'), (self.links, {"block": ["zipp"]}, '"zipp"'),
            (self.links, {"block": "sound(last)"}, "soundex"), (self.links, {"block": ()}, "keys that candidates share"), (self.links, {"compare": ()}, "columns to compare"),
            (self.links, {"distinct": ["sorce"]}, "'sorce'"), (self.links, {"max_pairs": 3}, "at most 3"), (self.links, {"n_neighbors": 3}, "without a model"),
            (Links(self.pairs[:5], [1] * 5), {}, "at least 10"), (Links([(0, 10**6)], [1]), {}, "1000000"), (self.links, {"previous": pandas.DataFrame({"record": [1]})}, "'entity'"),
            (self.links, {"decided": Links(self.pairs[:1], -self.links.signs[:1])}, "cannot-link"), (self.links, {"distinct": {"all": [1] * len(self.X)}}, "same key"),
        ):  # fmt: skip
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                entities(self.X, links, **{"block": BLOCK, "compare": COMPARE, **options})
        with self.assertRaisesRegex(TypeError, "data frame"):
            entities([["a"]], self.links)
        with self.assertRaisesRegex(ValueError, "count"):
            entity_questions(self.X, 0, block=BLOCK)


@unittest.skipUnless(COMMAND and pandas, "MUSTLINK_COMMAND does not name the command")
class Command(test_command.Files):
    def test_entities(self):
        X, truth = people(200)
        X = X.convert_dtypes()  # to_csv writes 213, not 213.0, where the column has gaps
        X.to_csv(self.path("people.csv"), index=False)
        pairs = entity_questions(X, 150, block=BLOCK)
        flags = [flag for key in BLOCK for flag in ("--block", key)]
        self.run_command("entities", "-i", "people.csv", *flags, "--ask", "150", "-o", "ask.csv")
        with open(self.path("ask.csv"), newline="") as file:
            self.assertEqual([[int(cell) for cell in line] for line in list(csv.reader(file))[1:]], pairs.tolist())
        signs = np.where(truth[pairs[:, 0]] == truth[pairs[:, 1]], 1, -1)
        with open(self.path("l.csv"), "w") as file:
            file.write("i,j,link\n" + "".join(f"{i},{j},{s}\n" for (i, j), s in zip(pairs.tolist(), signs.tolist())))
        self.run_command("entities", "-i", "people.csv", *flags, "-c", "l.csv", "--compare", ",".join(COMPARE), "--distinct", "source", "-o", "e.csv")
        with open(self.path("e.csv"), newline="") as file:
            want = list(csv.reader(file))[1:]
        found = entities(X, Links(pairs, signs), block=BLOCK, compare=COMPARE, distinct="source").frame
        self.assertEqual(found["entity"].tolist(), [int(line[1]) for line in want])
        np.testing.assert_allclose(found["probability"], [float(line[2]) for line in want], rtol=1e-5)
