"""The exceptions of metric-learn."""

from __future__ import annotations

from numpy.linalg import LinAlgError


class PreprocessorError(Exception):
    """A preprocessor failed."""

    def __init__(self, original_error: Exception):
        super().__init__(f"An error occurred when trying to use the preprocessor: {original_error!r}")


class NonPSDError(LinAlgError):
    """A matrix is not positive semidefinite."""

    def __init__(self) -> None:
        super().__init__("Matrix is not positive semidefinite (PSD).")
