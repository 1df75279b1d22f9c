"""Grid search over held-out pairs: which kernel and weight of the links. grid_search.py [PATH]"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mustlink import ITML, Links, plot

X, y = load_wine(return_X_y=True)
links = Links.from_labels(y, must=150, cannot=150, seed=1)

# With a preprocessor, samples are pairs of row numbers: folds hold out pairs, and the score is theirs.
grid = {"gamma": [0.01, 0.1, 1.0, 10.0, 100.0], "kernel": [None, "rbf:sigma=2msq", "rbf:sigma=msq", "rbf:sigma=0.5msq"]}
folds = StratifiedKFold(4, shuffle=True, random_state=0)
search = GridSearchCV(ITML(preprocessor=X), grid, cv=folds).fit(links.pairs, links.signs)
print("best:", search.best_params_, f"with AUC {search.best_score_:.3f} on held-out pairs")

best = ITML(**search.best_params_, hold_out=4).fit(X, links=links)
print(best.verdict_["text"])

figure = Figure(figsize=(11, 4), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[3, 2])
scores = search.cv_results_["mean_test_score"].reshape(5, 4)
image = left.imshow(scores, cmap="viridis", aspect="auto")
left.set(xticks=range(4), xticklabels=[k or "none" for k in grid["kernel"]], yticks=range(5), yticklabels=grid["gamma"], xlabel="kernel", ylabel="gamma")
for (i, j), score in np.ndenumerate(scores):
    left.annotate(f"{score:.3f}", (j, i), ha="center", va="center", color="white" if score < scores.mean() else "black")
left.set_title("AUC on held-out pairs")
plot.verdict(best, ax=right)
figure.savefig((sys.argv[1:] or ["grid_search.png"])[0], dpi=110)
