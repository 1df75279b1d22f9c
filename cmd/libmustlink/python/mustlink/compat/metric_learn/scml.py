"""Sparse compositional metric learning."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_array

from ..._estimators import SCML as _SCML
from ..._links import Links, as_seed, numbered
from ..._tuples import separate
from ._engine import learned
from .base_metric import MahalanobisMixin, _TripletsClassifierMixin
from .constraints import Constraints


class _BaseSCML(MahalanobisMixin):
    """The fit of both classes: a linear program instead of stochastic steps."""

    _tuple_size = 3
    _integers: tuple[str, ...] = ("max_iter", "output_iter", "batch_size", "n_basis")

    def _check(self, size: int) -> None:
        """Check the parameters for points of this many features."""
        for name in self._integers:
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) and not (name == "n_basis" and value is None):
                raise ValueError(f"{name} should be an integer, instead it is of type {type(value)}")
        if self.output_iter > self.max_iter:
            raise ValueError("The value of output_iter must be equal or smaller than max_iter.")
        if isinstance(self.basis, str):
            if self.basis in self._authorized_basis:
                return
        elif isinstance(self.basis, (np.ndarray, list, tuple)):
            width = check_array(self.basis).shape[1]
            if width != size:
                raise ValueError(f"The dimensionality ({width}) of the provided bases must match the dimensionality of the data ({size}).")
            raise NotImplementedError("basis is an array: mustlink's SCML chooses its bases itself, want 'lda' or 'triplet_diffs'")
        names = "', '".join(self._authorized_basis)
        raise ValueError(f"`basis` must be one of the options '{names}' or an array of shape (n_basis, n_features).")

    def _bases(self, default: int) -> int:
        """Return the number of bases."""
        if self.n_basis is not None:
            return int(self.n_basis)
        warnings.warn(f"As no value for `n_basis` was selected, the number of basis will be set to n_basis= {default}", UserWarning, stacklevel=4)
        return default

    def _learn(self, X: np.ndarray, triplets: np.ndarray, bases: int, y: Any = None) -> Any:
        """Learn from rows of points. Labels y are for bases that are discriminants."""
        links = Links(triplets=triplets)
        if self.basis == "lda":
            links.labels = numbered(y)
        learner = _SCML(beta=self.beta, basis=self.basis, bases=bases, triplets=1, random_state=as_seed(self.random_state))
        found = learned(self, learner, X, links=links)
        rank = int(np.linalg.matrix_rank(found))
        if rank < X.shape[1]:
            warnings.warn(
                "The number of bases with nonzero weight is less than the number of features of the input, in consequence the "
                f"learned transformation reduces the dimension to {rank}.",
                UserWarning,
                stacklevel=4,
            )
        self.components_ = found
        return self


class SCML(_BaseSCML, _TripletsClassifierMixin):
    """Sparse compositional metric learning from triplets, whose first two points are nearer.

    Parameters
    ----------
    beta : float, default=1e-5
        Penalty of the weights.
    basis : {"triplet_diffs", "lda"}, default="triplet_diffs"
        The bases to choose from. An array is not implemented.
    n_basis : int, default=None
        Number of bases, 80 for each feature by default.
    gamma, max_iter, output_iter, batch_size
        Checked, but not used: there are no stochastic steps.
    verbose : bool, default=False
        Whether to print progress.
    preprocessor : array-like or callable, default=None
        The points of indices.
    random_state : int, RandomState or None, default=None
        Source of random numbers.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The linear map.
    """

    _authorized_basis = ["triplet_diffs"]

    def __init__(
        self,
        beta: float = 1e-5,
        basis: Any = "triplet_diffs",
        n_basis: int | None = None,
        gamma: float = 5e-3,
        max_iter: int = 10000,
        output_iter: int = 500,
        batch_size: int = 10,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ):
        self.beta = beta
        self.basis = basis
        self.n_basis = n_basis
        self.gamma = gamma
        self.max_iter = max_iter
        self.output_iter = output_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, triplets: Any) -> Any:
        """Learn from triplets."""
        triplets = self._prepare_inputs(triplets, type_of_inputs="tuples")
        count, size = len(triplets), triplets.shape[2]
        self._check(size)
        if count < size:
            raise ValueError(
                f"Number of features ({size}) is greater than the number of triplets({count}).\n"
                "Consider using dimensionality reduction or using another basis generation scheme."
            )
        return self._learn(*separate(triplets), self._bases(80 * size))


class SCML_Supervised(_BaseSCML, TransformerMixin):
    """SCML on triplets of near points, which labels imply.

    Parameters are those of SCML, and k_genuine and k_impostor, the number of near points of the
    same class and of other classes.
    """

    _authorized_basis = ["lda", "triplet_diffs"]
    _integers = (*_BaseSCML._integers, "k_genuine", "k_impostor")

    def __init__(
        self,
        k_genuine: int = 3,
        k_impostor: int = 10,
        beta: float = 1e-5,
        basis: Any = "lda",
        n_basis: int | None = None,
        gamma: float = 5e-3,
        max_iter: int = 10000,
        output_iter: int = 500,
        batch_size: int = 10,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ):
        self.k_genuine = k_genuine
        self.k_impostor = k_impostor
        self.beta = beta
        self.basis = basis
        self.n_basis = n_basis
        self.gamma = gamma
        self.max_iter = max_iter
        self.output_iter = output_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.preprocessor = preprocessor
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from points and labels."""
        X, y = self._prepare_inputs(X, y, ensure_min_samples=2)
        self._check(X.shape[1])
        classes = len(np.unique(y))
        directions = min(classes - 1, X.shape[1])
        if isinstance(self.basis, str) and self.basis == "lda" and self.n_basis is not None:
            if self.n_basis < classes:
                warnings.warn("The number of basis is less than the number of classes, which may lead to poor discriminative performance.", UserWarning, stacklevel=2)
            if self.n_basis >= len(X) * 2 * directions:
                raise ValueError(f"Not enough samples to generate {self.n_basis} LDA bases, n_basisshould be smaller than {len(X) * 2 * directions}")
        triplets = Constraints(y).generate_knntriplets(X, self.k_genuine, self.k_impostor)
        default = min(20 * X.shape[1], len(X) * 2 * directions - 1) if self.basis == "lda" else 80 * X.shape[1]
        return self._learn(X, triplets, self._bases(default), y)
