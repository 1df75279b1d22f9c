"""Sparse distance metric learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from ..._estimators import SDML as _SDML
from ..._links import Links
from ..._sklearn import warn
from ._engine import learned
from ._matrices import start_matrix
from .base_metric import MahalanobisMixin, _PairsClassifierMixin
from .itml import _fit_formed, drawn_pairs


class _BaseSDML(MahalanobisMixin):
    """The fit of both classes: the graphical lasso of a matrix P.

    P is the inverse of the prior plus balance_param times the signed scatter of the pairs. mustlink
    takes links, not matrices, and its prior is the identity. So P / u - I, where u is the mean of
    the diagonal of the inverse prior, is written as a sum of signed squares, and each square is a
    link. mustlink's balance is relative to the largest eigenvalue of that sum.
    """

    _tuple_size = 2

    def _fit(self, pairs: Any, y: Any) -> Any:
        pairs, y = self._prepare_inputs(pairs, y, type_of_inputs="tuples")
        if pairs.shape[2] < 2:
            raise ValueError(f"Cannot fit SDML with 1 feature(s). There should be at least 2 features, while the data has {pairs.shape[2]}.")
        if not np.isfinite(self.balance_param):
            raise ValueError(f"balance_param is {self.balance_param}: want a finite number")
        _, inverse = start_matrix(pairs, self.prior, self.random_state, strict_pd=True, name="prior")
        apart = pairs[:, 0] - pairs[:, 1]
        P = inverse + self.balance_param * (apart.T * y) @ apart
        if np.linalg.eigvalsh(P)[0] < 0:
            warn(
                "Warning, the input matrix of graphical lasso is not positive semi-definite (PSD). The algorithm may diverge, "
                "and lead to degenerate solutions. To prevent that, try to decrease the balance parameter `balance_param` "
                "and/or to set prior='identity'.",
                ConvergenceWarning,
            )
        unit = float(np.mean(np.diag(inverse)))
        self.components_ = self._lasso(P / unit, self.sparsity_param / unit) / np.sqrt(unit)
        return self

    def _lasso(self, P: np.ndarray, sparsity: float) -> np.ndarray:
        """Return L, where L'L is the graphical lasso of P."""
        w, V = np.linalg.eigh(P - np.eye(len(P)))
        used = np.abs(w) > 1e-15 * max(1.0, np.abs(w).max())
        if not used.any():
            return np.eye(len(P))
        ends = np.sqrt(np.abs(w[used]))[:, None] * V[:, used].T
        points = np.concatenate([np.zeros((1, len(P))), ends])
        links = Links([(0, k + 1) for k in range(len(ends))], np.where(w[used] > 0, 1, -1))
        try:
            return learned(self, _SDML(balance=float(np.abs(w).max()), sparsity=float(sparsity), tol=1e-9), points, links=links)
        except ValueError as error:
            raise RuntimeError(f"SDML has no solution: the matrix of the graphical lasso is not positive definite ({error})") from error


class SDML(_BaseSDML, _PairsClassifierMixin):
    """Sparse distance metric learning from pairs.

    Parameters
    ----------
    balance_param : float, default=0.5
        Weight of the pairs.
    sparsity_param : float, default=0.01
        Penalty of the elements off the diagonal.
    prior : {"identity", "covariance", "random"} or ndarray of shape (n_features, n_features)
        The metric that the learned one stays close to.
    verbose : bool, default=False
        Whether to print progress.
    preprocessor : array-like or callable, default=None
        The points of indices.
    random_state : int, RandomState or None, default=None
        Source of random numbers, for a random prior.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The linear map.
    threshold_ : float
        Largest distance of pairs that are predicted to be similar.
    """

    def __init__(
        self, balance_param: float = 0.5, sparsity_param: float = 0.01, prior: Any = "identity", verbose: bool = False, preprocessor: Any = None, random_state: Any = None
    ):
        self.balance_param = balance_param
        self.sparsity_param = sparsity_param
        self.prior = prior
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, pairs: Any, y: Any, calibration_params: dict[str, Any] | None = None) -> Any:
        """Learn from pairs and signs, and calibrate the threshold on them."""
        return self._fit_pairs(pairs, y, calibration_params)


class SDML_Supervised(_BaseSDML, TransformerMixin):
    """SDML on pairs that are drawn from labels.

    Parameters are those of SDML, and n_constraints, the number of pairs of each kind, by default 20
    times the square of the number of classes.
    """

    def __init__(
        self,
        balance_param: float = 0.5,
        sparsity_param: float = 0.01,
        prior: Any = "identity",
        n_constraints: int | None = None,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ):
        self.balance_param = balance_param
        self.sparsity_param = sparsity_param
        self.prior = prior
        self.n_constraints = n_constraints
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from points and labels."""
        X, y = self._prepare_inputs(X, y, ensure_min_samples=2)
        return _fit_formed(self, *drawn_pairs(X, y, self.n_constraints, self.random_state))
