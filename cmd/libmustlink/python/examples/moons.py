"""Two moons: twenty links of each kind, and what they change. Writes a picture: moons.py [PATH]"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from mustlink import AutoMetric, Links, plot

X, y = make_moons(300, noise=0.06, random_state=0)
X = StandardScaler().fit_transform(X)
links = Links.from_labels(y, must=20, cannot=20, seed=1)

metric = AutoMetric().fit(X, links=links)  # also learns from the points without links
Z = metric.transform(X)

everything = Links.from_labels(y, must=2000, cannot=2000, seed=2)
apart = np.linalg.norm(X[everything.pairs[:, 0]] - X[everything.pairs[:, 1]], axis=1)
before = (apart[:2000, None] < apart[None, 2000:]).mean()
print(f"chance that a must-link is shorter than a cannot-link: {before:.3f} before, {metric.score(X, y):.3f} after")

figure = Figure(figsize=(10, 4.5), layout="constrained")
left, right = figure.subplots(1, 2)
plot.embedding(X, y, links, ax=left, title="the points, and the links that are known")
plot.embedding(Z, y, ax=right, title="in the learned metric")
figure.savefig((sys.argv[1:] or ["moons.png"])[0], dpi=110)
