"""Chooses the kernel and regularization of KRCA for k-NN classification of handwritten digits."""

from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from mustlink import KRCA

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)

pipeline = Pipeline([("metric", KRCA(n_links=300)), ("neighbors", KNeighborsClassifier(4))])
grid = {"metric__kernel": ["linear", "rbf:sigma=msq"], "metric__eps_rel": [1e-3, 1e-2, 1e-1]}
search = GridSearchCV(pipeline, grid, cv=3).fit(X_train, y_train)

plain = KNeighborsClassifier(4).fit(X_train, y_train).score(X_test, y_test)
print("best:", {name.split("__")[1]: value for name, value in search.best_params_.items()})
print(f"accuracy on held-out digits: {search.score(X_test, y_test):.4f}, with Euclidean distance {plain:.4f}")
