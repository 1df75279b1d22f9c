"""The classes of scikit-learn that estimators stand on, or small ones of the same kind without it."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning as _ConvergenceWarning
    from sklearn.exceptions import NotFittedError

    HAVE_SKLEARN = True
except ImportError:
    import inspect

    HAVE_SKLEARN = False
    _ConvergenceWarning = UserWarning

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An estimator is used before its fit."""

    class TransformerMixin:  # type: ignore[no-redef]
        """What transformers have in common."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """Fits and returns the embedding of X."""
            return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by the names of the constructor's arguments."""

        @classmethod
        def _names(cls) -> list[str]:
            return sorted(n for n in inspect.signature(cls.__init__).parameters if n != "self")

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters by name."""
            return {name: getattr(self, name) for name in self._names()}

        def set_params(self, **params: Any) -> Any:
            """Sets parameters; one that does not exist is a ValueError."""
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
    """A fit that stopped before it converged; the model is the best so far."""


class Notice(UserWarning):
    """A remark of the library on the input of a fit that did not stop it."""


__all__ = ["BaseEstimator", "TransformerMixin", "NotFittedError", "ConvergenceWarning", "Notice", "HAVE_SKLEARN"]
