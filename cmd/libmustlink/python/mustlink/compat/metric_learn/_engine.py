"""Fits by mustlink's own estimators."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._links import Links
from ..._sklearn import Notice, warn


def learned(owner: Any, learner: Any, X: np.ndarray, y: Any = None, links: Links | None = None, rows: int | None = None) -> np.ndarray:
    """Fit an estimator of mustlink and return its matrix, of shape (rows, d).

    The matrix has rows of zeros where the estimator finds fewer directions, in which points do not
    differ.

    Parameters
    ----------
    owner : object
        The estimator of this package, whose n_iter_ is set. If it is verbose, news are printed.
    learner : MetricLearner
        The estimator to fit. Its features are taken as they are.
    X, y, links
        As in its fit.
    rows : int, default=None
        Number of rows, as many as there are features by default.
    """
    learner.set_params(prepare="none")
    news = _Table(owner) if getattr(owner, "verbose", False) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(np.asarray(X, dtype=np.float64), y, links=links, progress=None if news is None else news.note)
    info = learner.model_.info()
    owner.n_iter_ = learner.n_iter_
    if news is not None:
        news.end(learner.n_iter_, info)
    if not info["converged"]:
        name = type(owner).__name__
        warn(f"[{name}] {name} did not converge: {info['message']}", ConvergenceWarning)
    return padded(learner.components_, rows or X.shape[1])


def directions(X: np.ndarray, most: int) -> int:
    """Return the number of directions in which points differ, at most the given number."""
    sizes = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    return max(1, min(most, int((sizes**2 > 1e-10 * sizes[0] ** 2).sum())))


def padded(matrix: np.ndarray, rows: int) -> np.ndarray:
    """Return a matrix with this number of rows: the first ones, or with rows of zeros after them."""
    out = np.zeros((rows, matrix.shape[1]))
    out[: len(matrix)] = matrix[:rows]
    return out


class _Table:
    """A table of the progress of a fit on standard output."""

    def __init__(self, owner: Any):
        self._name, self._began, self._last = type(owner).__name__, time.perf_counter(), -1
        header = "{:>10} {:>20} {:>10}".format("Iteration", "Objective Value", "Time(s)")
        print(f"[{self._name}]\n[{self._name}] {header}\n[{self._name}] {'-' * len(header)}")

    def note(self, report: Any) -> None:
        """Print a line for a report with an objective."""
        if report.objective and report.done > self._last:
            self._line(report.done, report.objective)

    def _line(self, iteration: int, objective: float) -> None:
        self._last = iteration
        print(f"[{self._name}] {iteration:>10} {objective:>20.6e} {time.perf_counter() - self._began:>10.2f}")

    def end(self, iterations: int, info: dict[str, Any]) -> None:
        """Print the last lines."""
        objective = info["objective"][-1] if isinstance(info["objective"], list) and info["objective"] else info["objective"]
        if isinstance(objective, (int, float)):
            if iterations > self._last:
                self._line(iterations, objective)
            if info["converged"] and self._name == "LMNN":
                print(f"[{self._name}] {self._name} converged with objective {objective:.6e}")
        print(f"[{self._name}] Training took {time.perf_counter() - self._began:8.2f}s.")
