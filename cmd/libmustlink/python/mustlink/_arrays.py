"""Arrays of unusual kinds: copied where that changes nothing, refused by name where it would."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def plain(values: Any, what: str) -> np.ndarray:
    """Return values as an array, and refuse masked values, whose numbers mean nothing.

    Parameters
    ----------
    values : array-like
        The values.
    what : str
        Their name, for messages.
    """
    if isinstance(values, np.ma.MaskedArray):
        count = int(np.ma.count_masked(values))
        if count:
            raise ValueError(f"{what} is a masked array with {count} masked value{'s' * (count > 1)}: want an array without a mask; numpy.nan can stand for a missing number")
    return np.asarray(values)


def column(y: Any) -> np.ndarray:
    """Return y as an array. A list of texts keeps its gaps, which NumPy would make texts."""
    array = plain(y, "y")
    return np.array(y, dtype=object) if array.dtype.kind in "SU" and isinstance(y, (list, tuple)) else array


def absent(array: np.ndarray) -> np.ndarray:
    """Return which values of a 1-dimensional array are none: NaN, NaT, None or NA."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind != "O":
        return np.zeros(len(array), dtype=bool)
    return np.array([_is_absent(value) for value in array.tolist()], dtype=bool)


def _is_absent(value: Any) -> bool:
    """Whether a value is None, NA of pandas, or differs from itself, as NaN and NaT do."""
    return value is None or type(value).__name__ == "NAType" or value != value


def laid(values: Any, dtype: Any = None) -> np.ndarray:
    """Return values as an array by rows at an aligned address, which C can read. It may be a copy."""
    return np.require(values, dtype, ["C", "A"])


def floats(array: np.ndarray, what: str) -> np.ndarray:
    """Return an array as one of float64 or, if it has them, native float32, and name what is no number."""
    single = array.dtype.kind == "f" and array.dtype.itemsize == 4
    try:
        converted = array.astype(np.float32 if single else np.float64)
    except (TypeError, ValueError) as error:
        at = next((index for index, value in np.ndenumerate(array) if not _is_number(value)), None)
        if at is None:
            raise
        raise type(error)(f"{what} has {array[at]!r} in {_place(at)}: want numbers ({error})") from None
    return exact(array, converted, what)


def exact(values: Any, converted: np.ndarray, what: str, place: Any = None) -> np.ndarray:
    """Return converted, the floats of values, and refuse a whole number that float64 does not have.

    The row and column of a value are its index, or what place returns for this.
    """
    if values.dtype.kind in "iuO":
        for at in zip(*np.nonzero(np.abs(converted) >= 2.0**53)):
            if isinstance(values[at], numbers.Integral) and int(values[at]) != float(converted[at]):
                raise ValueError(
                    f"{what} has {values[at]} in {_place(place(*at) if place else at)}: the whole number has no exact float64: "
                    "want at most 2^53 in size, or a text if it is an identifier"
                )
    return converted


def _place(at: tuple[int, ...]) -> str:
    return ", ".join(f"{word} {k}" for word, k in zip(_WORDS.get(len(at), ()), at)) or f"place {at}"


_WORDS = {1: ("row",), 2: ("row", "column"), 3: ("tuple", "point", "column")}


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
