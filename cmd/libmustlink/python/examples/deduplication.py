"""Duplicates among names with typing errors, from a few known pairs. deduplication.py [PATH]"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from mustlink import RCA, Links, plot

random = np.random.RandomState(0)
letters = list("abcdefghijklmnopqrstuvwxyz")
syllables = "an ber car den el fra gre hol ing jor kam lin mar nor os pet quin ros sten tor ul vik wes yor zan".split()
endings = ["company", "limited", "brothers", "and sons", "trading"]


def misspelled(name: str) -> str:
    """Return a name with two letters replaced, left out or doubled, and perhaps another ending."""
    text = list(name)
    for _ in range(2):
        k = random.randint(len(text))
        text[k] = [random.choice(letters), "", 2 * text[k]][random.randint(3)]
    return "".join(text) + " " + random.choice(endings)


names = ["".join(random.choice(syllables, 3)) + " " + "".join(random.choice(syllables, 2)) for _ in range(250)]
records = [misspelled(name) for name in names for _ in range(3)]
firm = np.repeat(np.arange(250), 3)

# Letters that follow each other, in 60 directions. Endings say nothing, which the metric has to find out.
counts = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)).fit_transform(records)
X = TruncatedSVD(60, random_state=0).fit_transform(counts)

# A person has looked at the first firms. The metric learns from 80, and 40 others give the threshold.
train = Links.from_labels(np.where(firm < 80, firm, -1), must=240, seed=1, unlabeled=-1)
valid = Links.from_labels(np.where((firm >= 80) & (firm < 120), firm, -1), must=120, cannot=5000, seed=1, unlabeled=-1)
test = Links.from_labels(np.where(firm < 120, -1, firm), must=300, cannot=20000, seed=2, unlabeled=-1)
metric = RCA(eps_rel=0.1).fit(X, links=train)
metric.calibrate_threshold(X[valid.pairs], valid.signs)

plain = np.linalg.norm(X[test.pairs[:, 0]] - X[test.pairs[:, 1]], axis=1)
learned = metric.pair_distance(X[test.pairs])
for name, apart in (("plain", plain), ("learned", learned)):
    most = np.sort(apart[test.signs < 0])[20]  # one false pair in a thousand
    print(f"{name} distance: finds {np.mean(apart[test.signs > 0] < most):.2f} of the duplicates, with one false pair in a thousand")

figure = Figure(figsize=(7, 4.5), layout="constrained")
plot.distances(metric, X, test, threshold=metric.threshold_, ax=figure.subplots(), title="pairs of records of firms that nobody has looked at")
figure.savefig((sys.argv[1:] or ["deduplication.png"])[0], dpi=110)
