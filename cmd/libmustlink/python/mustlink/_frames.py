"""Data frames as tables of the library: columns of numbers and of texts."""

from __future__ import annotations

import ctypes
import numbers
import sys
from typing import Any, Sequence

import numpy as np

from . import _library as lib
from ._arrays import exact


class Cells:
    """The cells of one column: numbers with NaN for missing ones, or codes of texts.

    Attributes
    ----------
    numbers : ndarray of float64 or None
        The numbers.
    codes : ndarray of int32 or None
        Positions in levels, -1 for a missing cell.
    levels : list of str
        The texts, all different.
    category : bool
        Whether the column is a category whatever its texts look like.
    """

    __slots__ = ("numbers", "codes", "levels", "category")

    def __init__(self, values: np.ndarray | None = None, codes: np.ndarray | None = None, levels: Sequence[str] = (), category: bool = False):
        self.numbers, self.codes, self.levels, self.category = values, codes, list(levels), category


def frame_of(X: Any) -> Any:
    """Return a data frame as one of pandas, and None for anything else."""
    if hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns"):
        return X
    if type(X).__module__.partition(".")[0] in ("polars", "pyarrow") and hasattr(X, "to_pandas"):
        return X.to_pandas()
    return None


def is_plain(frame: Any) -> bool:
    """Whether a frame has only numbers without gaps."""
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in frame.dtypes):
        return False
    return not any(np.isnan(frame.iloc[:, j].to_numpy()).any() for j, dtype in enumerate(frame.dtypes) if dtype.kind == "f")


def cells_of(frame: Any) -> list[Cells]:
    """Return the columns of a frame. Float64 columns are not copied.

    Raises
    ------
    TypeError
        If a column has other things than numbers, texts and dates.
    ValueError
        If a text cannot be written as UTF-8.
    """
    return [_cells(frame.iloc[:, j], name) for j, name in enumerate(frame.columns)]


def _cells(column: Any, name: Any) -> Cells:
    dtype = column.dtype
    if hasattr(column, "cat"):
        codes, levels = _levels(column.cat.codes.to_numpy(), list(column.cat.categories), name)
        return Cells(codes=codes, levels=levels, category=len(np.unique(codes[codes >= 0])) > 1)
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column {name!r} has dtype {dtype}, want real numbers")
    if dtype.kind == "b":
        return _booleans(column.to_numpy(dtype=np.float64) if isinstance(dtype, np.dtype) else column.to_numpy(dtype=np.float64, na_value=np.nan))
    if dtype.kind in "iuf":
        values = column.to_numpy() if isinstance(dtype, np.dtype) else column.to_numpy(dtype=np.float64, na_value=np.nan)
        exact_column(column, name)
        return Cells(np.ascontiguousarray(values, dtype=np.float64))
    if dtype.kind == "M":
        return _dates(column.to_numpy(dtype=f"datetime64[{_unit(dtype)}]"))
    if dtype.kind == "m":
        return Cells(column.to_numpy(dtype=f"timedelta64[{_unit(dtype)}]") / np.timedelta64(1, "D"))
    try:
        codes, found = sys.modules["pandas"].factorize(column.to_numpy(dtype=object))
    except TypeError as error:
        raise TypeError(f"column {name!r} has values that are no single cells ({error}): want numbers, texts or dates") from error
    values = list(found)
    if values and all(isinstance(v, (bool, np.bool_)) for v in values):
        return _booleans(np.append(np.array(values, dtype=np.float64), np.nan)[codes])
    if values and all(_is_number(v) for v in values):
        converted = np.append(np.array([float(v) for v in values]), np.nan)[codes]
        return Cells(exact(column.to_numpy(dtype=object), converted, f"column {name!r}"))
    codes, levels = _levels(codes, values, name)
    return Cells(codes=codes, levels=levels)


def text_cells(column: Any, name: Any) -> Cells:
    """Return a column as texts, also where it has numbers: 13601, not 13601.0."""
    cells = _cells(column, name)
    if cells.numbers is None:
        return cells
    values, codes = np.unique(cells.numbers, return_inverse=True)
    missing = np.isnan(values)  # the last ones
    texts = [np.format_float_positional(v, trim="-") for v in values[~missing]]
    return Cells(codes=np.where(missing[codes], -1, codes).astype(np.int32), levels=texts)


def exact_column(column: Any, name: Any) -> None:
    """Refuse a whole number of a column that float64 does not have."""
    if column.dtype.kind in "iu":
        converted = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if (np.abs(converted) >= 2.0**53).any():
            exact(column.to_numpy(dtype=object), converted, f"column {name!r}")


def _unit(dtype: Any) -> str:
    """Return the unit of times, in which they do not overflow: nanoseconds end in 1677 and 2262."""
    return np.datetime_data(dtype)[0] if isinstance(dtype, np.dtype) else getattr(getattr(dtype, "pyarrow_dtype", dtype), "unit", "ns")


def _booleans(values: np.ndarray) -> Cells:
    """Return 0, 1 and NaN as the texts that to_csv writes, so that the column is a boolean."""
    return Cells(codes=np.where(np.isnan(values), -1, values).astype(np.int32), levels=["False", "True"])


def _is_number(value: Any) -> bool:
    return isinstance(value, (numbers.Real, np.bool_)) or type(value).__name__ == "Decimal"


def _dates(values: np.ndarray) -> Cells:
    """Return times as ISO texts: without clock time if all are midnights, as to_csv writes them."""
    distinct, codes = np.unique(values, return_inverse=True)
    missing = np.isnat(distinct)
    whole = distinct[~missing]
    unit: Any = next(u for u in ("D", "s", "ms", "us", "ns") if u == "ns" or (whole.astype(f"datetime64[{u}]") == whole).all())
    texts = [text.replace("T", " ") for text in np.datetime_as_string(whole, unit=unit).tolist()]
    codes = codes.astype(np.int32)
    codes[missing[codes]] = -1  # missing ones are the last of the distinct values
    return Cells(codes=codes, levels=texts)


def _levels(codes: np.ndarray, values: list[Any], name: Any) -> tuple[np.ndarray, list[str]]:
    """Return codes and texts for values.

    Different values may have the same text. An empty text is a missing cell, as it is in a file.
    """
    texts = [_text(v, name) for v in values]
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    known = dict.fromkeys(text for text in texts if text.strip())
    if len(known) == len(texts):
        return codes, texts
    place = {text: k for k, text in enumerate(known)}
    moved = np.array([place.get(text, -1) for text in texts] + [-1], dtype=np.int32)
    return moved[codes], list(known)


def _text(value: Any, name: Any) -> str:
    """Return a value as text."""
    if isinstance(value, str):
        return str(value)
    if not _is_number(value) and type(value).__str__ is object.__str__ or isinstance(value, bytes):
        raise TypeError(f"column {name!r} has values of type {type(value).__name__}: want numbers, texts or dates")
    return str(value)


class Columns:
    """Columns of the library, with the memory that they point to."""

    def __init__(self, cells: Sequence[Cells], names: Sequence[str] | None):
        self.of = (lib.Column * len(cells))()
        self._held: list[Any] = [cells]
        for j, (column, cell) in enumerate(zip(self.of, cells)):
            label = names[j] if names is not None else j
            if names is not None:
                column.name = self._encoded(names[j], label)
            if cell.numbers is not None:
                column.numbers = cell.numbers.ctypes.data
                continue
            assert cell.codes is not None
            levels = (ctypes.c_char_p * max(1, len(cell.levels)))(*[self._encoded(text, label) for text in cell.levels])
            self._held.append(levels)
            column.codes, column.levels, column.level_count = cell.codes.ctypes.data, ctypes.addressof(levels), len(cell.levels)

    def address(self) -> int:
        """Return the address of the columns."""
        return ctypes.addressof(self.of)

    def _encoded(self, text: str, column: Any) -> bytes:
        try:
            raw = text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"column {column!r}: {error}: want texts of Unicode characters") from error
        if b"\0" in raw:
            raise ValueError(f"column {column!r}: the text {text!r} has a zero character: want texts without it")
        return raw


__all__: Sequence[str] = ["Cells", "Columns", "cells_of", "frame_of", "is_plain", "text_cells"]
