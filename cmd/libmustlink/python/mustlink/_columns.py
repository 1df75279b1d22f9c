"""Columns of a data frame that holds links."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import plain


def cells_of(frame: Any, name: Any) -> np.ndarray:
    """Return a column of a frame."""
    names = getattr(frame, "column_names", None)  # of pyarrow, whose columns are arrays
    if names is None:
        names = frame if isinstance(frame, dict) else getattr(frame, "columns", None)
    if names is None:
        raise TypeError(f"frame is of type {type(frame).__name__}: want a data frame, or a dict of columns")
    if name not in list(names):
        raise ValueError(f"the frame lacks the column {name!r}: want one of {', '.join(map(repr, list(names)[:9]))}")
    return plain(frame[name], f"column {name!r}")


def numeric(cells: np.ndarray, name: Any, want: str = "a number, True or False") -> np.ndarray:
    """Return cells whose objects are all numbers, as in columns that may have gaps, as an array of numbers."""
    if cells.dtype.kind != "O":
        return cells
    for k, cell in enumerate(cells.tolist()):
        if not isinstance(cell, (int, float, np.number, np.bool_)):
            raise ValueError(f'column "{name}" has {cell!r} in row {k}: want {want}')
    return np.array(cells.tolist())


def numbers_of(ids: Any) -> dict[Any, int]:
    """Return the row numbers of ids."""
    at: dict[Any, int] = {}
    for k, name in enumerate(plain(ids, "ids").tolist()):
        if at.setdefault(name, k) != k:
            raise ValueError(f"ids has {name!r} in rows {at[name]} and {k}: want a different id for each row")
    return at


def rows_of(cells: np.ndarray, name: Any, at: dict[Any, int] | None) -> np.ndarray:
    """Return the row numbers in a column of links."""
    if at is not None:
        for k, cell in enumerate(cells.tolist()):
            if cell not in at:
                raise ValueError(f'column "{name}" has {cell!r} in row {k}: want one of the ids')
        return np.array([at[cell] for cell in cells.tolist()], dtype=np.int64)
    cells = numeric(cells, name, "a row number, or the parameter ids")
    if cells.dtype.kind not in "iu" and len(cells):
        raise TypeError(f'column "{name}" has dtype {cells.dtype}: want row numbers, or the parameter ids')
    return cells.astype(np.int64)
