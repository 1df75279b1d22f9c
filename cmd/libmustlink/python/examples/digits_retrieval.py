"""Retrieval of handwritten digits: the nearest images by pixels and by a learned metric. digits_retrieval.py [PATH]"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors

from mustlink import Links, LLERatio

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0, stratify=y)
links = Links.from_labels(y_train, must=400, cannot=400, seed=1)
metric = LLERatio(prepare="none").fit(X_train, links=links)


def nearest(points: np.ndarray) -> np.ndarray:
    """Return the ten other images that are nearest to each."""
    return NearestNeighbors(n_neighbors=11).fit(points).kneighbors(points, return_distance=False)[:, 1:]


found = {"pixels": nearest(X_test), "learned": nearest(metric.transform(X_test))}
right = {name: y_test[rows] == y_test[:, None] for name, rows in found.items()}
for name, hits in right.items():
    print(f"{name}: {hits.mean():.3f} of the ten nearest images show the same digit")

gain = right["learned"].sum(axis=1) - right["pixels"].sum(axis=1)
queries = np.argsort(-gain, kind="stable")[:4]
figure = Figure(figsize=(9, 7))
axes = figure.subplots(8, 11)
for k, query in enumerate(queries):
    for j, (name, rows) in enumerate(found.items()):
        line = axes[2 * k + j]
        for cell, image in zip(line, [query, *rows[query]]):
            cell.imshow(-X_test[image].reshape(8, 8), cmap="gray")
            color = "black" if image == query else "#009e73" if y_test[image] == y_test[query] else "#d55e00"
            cell.set(xticks=[], yticks=[])
            for side in cell.spines.values():
                side.set(color=color, linewidth=2)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
figure.subplots_adjust(0.1, 0.02, 0.98, 0.88)
figure.suptitle("Queries (left) for which the learned metric gains most, and their ten nearest images.\nGreen frames: the same digit; orange ones: another")
figure.savefig((sys.argv[1:] or ["digits_retrieval.png"])[0], dpi=100)
