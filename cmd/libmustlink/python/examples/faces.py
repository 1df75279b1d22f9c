"""Drawn faces under changing light: chunklets teach a metric to ignore the light. faces.py [PATH]"""

import sys

import numpy as np
from matplotlib.figure import Figure

from mustlink import RCA, Links

SIZE, PEOPLE, VIEWS = 20, 40, 8
random = np.random.RandomState(0)
down, across = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]


def blot(x: float, y: float, width: float, height: float) -> np.ndarray:
    """Return a dark spot."""
    return np.exp(-(((across - x) / width) ** 2) - ((down - y) / height) ** 2)


def face(eyes: float, brow: float, nose: float, mouth: float, smile: float) -> np.ndarray:
    """Return the picture of a person."""
    curve = np.exp(-((((down - 0.5 + smile * (across**2 - 0.1)) / 0.1) ** 2))) * (np.abs(across) < mouth)
    dark = sum(blot(side * eyes, -0.25, 0.14, 0.1) + 0.7 * blot(side * eyes, brow, 0.2, 0.06) for side in (-1, 1))
    return (across**2 / 0.75 + down**2 < 1) * (1 - 0.8 * np.clip(dark + 0.6 * blot(0, 0.1, 0.07, nose) + curve, 0, 1))


def lit(picture: np.ndarray) -> np.ndarray:
    """Return a picture under light from a random side, with a little noise."""
    angle, strength = random.uniform(0, 2 * np.pi), random.uniform(0.2, 0.9)
    light = 1 + strength * (np.cos(angle) * across + np.sin(angle) * down)
    return picture * light + 0.03 * random.normal(size=picture.shape)


person = np.repeat(np.arange(PEOPLE), VIEWS)
features = np.column_stack([random.uniform(low, high, PEOPLE) for low, high in ((0.28, 0.5), (-0.6, -0.42), (0.1, 0.3), (0.25, 0.55), (-0.6, 0.6))])
X = np.array([lit(face(*features[k])).ravel() for k in person])

seen = person < 20  # the metric learns from these people, and is used on the others
metric = RCA(n_components=15).fit(X[seen], links=Links.from_groups(person[seen]))
new, who = X[~seen], person[~seen]


def nearest(points: np.ndarray) -> np.ndarray:
    """Return the seven other pictures that are nearest to each."""
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    return np.argsort(apart, axis=1)[:, 1:VIEWS]


found = {"pixels": nearest(new), "learned": nearest(metric.transform(new))}
for name, rows in found.items():
    print(f"{name}: {np.mean(who[rows] == who[:, None]):.3f} of the seven nearest pictures of new people show the same person")

figure = Figure(figsize=(8, 6.5))
axes = figure.subplots(6, VIEWS)
for k, query in enumerate([3, 60, 121]):
    for j, (name, rows) in enumerate(found.items()):
        line = axes[2 * k + j]
        for cell, image in zip(line, [query, *rows[query]]):
            cell.imshow(new[image].reshape(SIZE, SIZE), cmap="gray", vmin=0, vmax=1.6)
            cell.set(xticks=[], yticks=[])
            color = "black" if image == query else "#009e73" if who[image] == who[query] else "#d55e00"
            for side in cell.spines.values():
                side.set(color=color, linewidth=2.5)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
figure.subplots_adjust(0.13, 0.02, 0.98, 0.88)
figure.suptitle("Pictures of new people (left) and the seven nearest ones.\nGreen frames: the same person; orange ones: another")
figure.savefig((sys.argv[1:] or ["faces.png"])[0], dpi=100)
