"""The threshold below which a distance means that two points belong together.

Names, arguments and messages are those of metric-learn, whose users know them.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

STRATEGIES = ("accuracy", "f_beta", "max_tpr", "max_tnr")


def check_calibration(strategy: str = "accuracy", min_rate: Any = None, beta: Any = 1.0) -> None:
    """Check the arguments of a calibration.

    Raises
    ------
    ValueError
        If one is wrong.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f'Strategy can either be "accuracy", "f_beta" or "max_tpr" or "max_tnr". Got "{strategy}" instead.')
    if strategy in ("max_tpr", "max_tnr") and not (isinstance(min_rate, numbers.Real) and 0 <= float(min_rate) <= 1):
        raise ValueError(f"Parameter min_rate must be a number in[0, 1]. Got {min_rate} instead.")
    if strategy == "f_beta" and not isinstance(beta, numbers.Real):
        raise ValueError(f"Parameter beta must be a real number. Got {type(beta)} instead.")


def checked_calibration(params: dict[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a calibration that a fit is given, after a check."""
    params = dict(params or {})
    for name in params:
        if name not in ("strategy", "min_rate", "beta"):
            raise ValueError(f"calibration_params has the member {name!r}: want some of strategy, min_rate, beta")
    check_calibration(**params)
    return params


def real_threshold(threshold: Any) -> float:
    """Return a threshold that a user sets as a float."""
    if not isinstance(threshold, (numbers.Real, np.bool_)):
        raise ValueError(f"Parameter threshold must be a real number. Got {type(threshold)} instead.")
    return float(threshold)


def best_threshold(distances: np.ndarray, signs: np.ndarray, strategy: str = "accuracy", min_rate: Any = None, beta: Any = 1.0) -> float:
    """Return the threshold that is best for the strategy; of several, the smallest.

    A pair is accepted if its distance is at most the threshold. The threshold is in the middle
    between an accepted and the next rejected distance.

    Parameters
    ----------
    distances : ndarray of shape (n_pairs,)
        Distances of the pairs.
    signs : ndarray of shape (n_pairs,)
        1 for pairs that belong together, -1 for others.
    strategy, min_rate, beta
        As in :meth:`mustlink.MetricLearner.calibrate_threshold`.
    """
    check_calibration(strategy, min_rate, beta)
    order = np.argsort(distances, kind="stable")
    sorted_distances, similar = distances[order], signs[order] > 0
    ends = np.flatnonzero(np.append(np.diff(sorted_distances) > 0, True))  # equal distances are accepted together
    accepted = np.concatenate([[0], ends + 1])
    found = np.concatenate([[0], np.cumsum(similar)[ends]])  # true positives of each candidate
    wrong = accepted - found
    k = _best(found, wrong, strategy, min_rate, beta)
    if k == 0:
        return float(np.nextafter(sorted_distances[0], -np.inf))  # accepts none
    last = sorted_distances[accepted[k] - 1]
    if accepted[k] == len(distances):
        return float(last)
    middle = (last + sorted_distances[accepted[k]]) / 2
    return float(middle if middle < sorted_distances[accepted[k]] else last)


def _best(found: np.ndarray, wrong: np.ndarray, strategy: str, min_rate: Any, beta: Any) -> int:
    """Return the best candidate, given the true and false positives of each."""
    positives, negatives = found[-1], wrong[-1]
    if strategy == "accuracy":
        return int(np.argmax(found + negatives - wrong))
    if strategy == "f_beta":
        precision = _rates(found, found + wrong)
        recall = _rates(found, positives)
        weight = beta**2
        return int(np.argmax(_rates((1 + weight) * precision * recall, weight * precision + recall)))
    tpr, tnr = _rates(found, positives), _rates(negatives - wrong, negatives)
    if strategy == "max_tpr":
        return int(np.argmax(np.where(tnr >= min_rate, tpr, -1)))
    usable = np.where(tpr >= min_rate, tnr, -1)
    return int(len(usable) - 1 - np.argmax(usable[::-1]))  # of equals, the one that finds more


def _rates(part: Any, whole: Any) -> np.ndarray:
    """Return part / whole, and 0 where whole is 0."""
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=np.float64), whole)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
