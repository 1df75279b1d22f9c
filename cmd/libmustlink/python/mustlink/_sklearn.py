"""The base classes of scikit-learn, or small replacements when it is not installed."""

from __future__ import annotations

import sys
import warnings
from typing import Any

try:
    from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning as _ConvergenceWarning
    from sklearn.exceptions import NotFittedError

    HAVE_SKLEARN = True
except ImportError:
    import inspect

    HAVE_SKLEARN = False
    _ConvergenceWarning = UserWarning

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An estimator is used before it is fitted."""

    class ClusterMixin:  # type: ignore[no-redef]
        """Mixin class of all clusterers."""

        _estimator_type = "clusterer"

    class TransformerMixin:  # type: ignore[no-redef]
        """Mixin class of all transformers."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """Fit, then return the embedding of X."""
            return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]

    class BaseEstimator:  # type: ignore[no-redef]
        """Base class of estimators, whose parameters are the arguments of the constructor."""

        @classmethod
        def _names(cls) -> list[str]:
            return sorted(n for n in inspect.signature(cls.__init__).parameters if n != "self")

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters by name."""
            return {name: getattr(self, name) for name in self._names()}

        def set_params(self, **params: Any) -> Any:
            """Set parameters by name. An unknown one raises ValueError."""
            for name, value in params.items():
                if name not in self._names():
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {self._names()!r}.")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self).__init__).parameters
            changed = [f"{n}={v!r}" for n, v in self.get_params().items() if v is not defaults[n].default and v != defaults[n].default]
            return f"{type(self).__name__}({', '.join(changed)})"


class ConvergenceWarning(_ConvergenceWarning):  # type: ignore[misc, valid-type]
    """A fit stopped before convergence. The model is the best one found."""


class Notice(UserWarning):
    """The library found something unusual in the input of a fit."""


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line that called this package, perhaps through scikit-learn."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("mustlink", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


__all__ = ["BaseEstimator", "ClusterMixin", "TransformerMixin", "NotFittedError", "ConvergenceWarning", "Notice", "HAVE_SKLEARN", "warn"]
