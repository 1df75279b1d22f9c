"""Conversion of arrays to the structures of the library."""

from __future__ import annotations

import ctypes
import re
from typing import Any, Callable, Sequence

import numpy as np

from . import _library as lib
from ._arrays import exact, floats, laid, plain
from ._frames import Cells, Columns, cells_of, exact_column, frame_of, is_plain


_DOUBLE = np.dtype(np.float64)

# A column of an array in messages of the library, which knows only its number.
_NUMBERED = re.compile(r'\bcolumn "(\d+)"')
_ROWS, _NUMBER = re.compile(r"\brows? (\d+(?:(?:,| and) \d+)*)"), re.compile(r"\d+")


class Points:
    """Points for a call of the library: the structure, and the arrays that it points to.

    categories are the columns of a table that are categories whatever their texts look like, by
    name, or by number if there are no names. place returns what a row is called in messages, where
    the user knows it by another name.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, names: list[str] | None):
        self.rows, self.columns = shape
        self.dtype = dtype
        self.names = names
        self.categories: list[str] = []
        self.held: list[Any] = []
        self.place: Callable[[int], str] | None = None
        self.of = lib.Points(0, type_of(dtype), self.rows, self.columns)

    def hold(self, array: np.ndarray) -> int:
        """Keep a reference to an array and return its address."""
        self.held.append(array)
        return array.ctypes.data

    def reference(self) -> Any:
        """Return the argument for a C function."""
        return ctypes.byref(self.of)

    def __enter__(self) -> Points:
        """Begin a call, in whose errors columns have their names."""
        return self

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        if kind is ValueError and self.of.kind == lib.DENSE:
            error.args = (self.said(_NUMBERED.sub(self._named, str(error))),)

    def said(self, text: str) -> str:
        """Return a message of the library in which rows have their place's name."""
        if self.place is None:
            return text
        place: Callable[[int], str] = self.place
        return _ROWS.sub(lambda rows: _NUMBER.sub(lambda row: place(int(row[0])), rows[1]), text)

    def _named(self, found: re.Match) -> str:
        column = int(found[1])
        return f"column {column}" if self.names is None or column >= self.columns else f'column "{self.names[column]}"'

    @property
    def is_table(self) -> bool:
        """Whether the points are columns of numbers and texts."""
        return self.of.kind == lib.TABLE

    has_texts = False  # a table with a column of texts


def type_of(dtype: Any) -> int:
    """Return the library's number for an element type."""
    return lib.FLOAT32 if dtype == np.float32 else lib.FLOAT64


def as_points(X: Any, *, gram: bool = False, diagonal: Any = None) -> Points:
    """Convert X to points, without a copy when its type and layout allow.

    Float64 and float32 arrays keep their type; other numbers become float64. A data frame becomes a
    table, unless it has only numbers without gaps.

    Parameters
    ----------
    X : array-like, pandas DataFrame or scipy sparse matrix
        Points.
    gram : bool, default=False
        Whether X holds inner products with the training points.
    diagonal : array-like, default=None
        With gram, the inner product of each row with itself.

    Raises
    ------
    TypeError
        If X is not numeric.
    ValueError
        If the shape or the values are wrong.
    """
    if type(X) is np.ndarray and X.dtype is _DOUBLE and X.ndim == 2 and X.size and X.flags.carray and not gram and diagonal is None:
        return _plain(X)  # the same as below, in a few microseconds
    if hasattr(X, "tocsr"):
        if gram:
            raise TypeError("the kernel matrix is sparse: want a dense one")
        return _sparse(X.tocsr())
    frame = frame_of(X)
    if frame is not None:
        X = frame
        if not gram and min(X.shape) > 0 and not is_plain(X):
            return table_of(cells_of(X), len(X), names_of(X))
        for j, name in enumerate(X.columns):
            exact_column(X.iloc[:, j], name)
    names = names_of(X)
    array = _laid_out(as_matrix(X))
    points = Points(array.shape, array.dtype, names)
    points.of.kind = lib.GRAM if gram else lib.DENSE
    points.of.data = points.hold(array)
    points.of.row_stride, points.of.column_stride = (s // array.itemsize for s in array.strides)
    if diagonal is not None:
        values = laid(diagonal, dtype=np.float64)
        if values.shape != (points.rows,):
            raise ValueError(f"diagonal has shape {values.shape}: want ({points.rows},), one number for each row")
        points.of.diagonal = points.hold(values)
    return points


def _plain(X: np.ndarray) -> Points:
    """Return an array of doubles by rows as points."""
    points = Points(X.shape, _DOUBLE, None)
    points.of.kind, points.of.data = lib.DENSE, points.hold(X)
    points.of.row_stride, points.of.column_stride = points.columns, 1
    return points


def table_of(cells: list[Cells], rows: int, names: list[str] | None) -> Points:
    """Return columns as points."""
    points = Points((rows, len(cells)), np.float64, names)
    columns = Columns(cells, names)
    points.held.append(columns)
    points.of.kind, points.of.data = lib.TABLE, columns.address()
    points.has_texts = any(cell.codes is not None for cell in cells)
    points.categories = [str(j) if names is None else names[j] for j, cell in enumerate(cells) if cell.category]
    return points


def chosen(X: Any, wanted: Sequence[str], who: str) -> tuple[Any, list[str]]:
    """Return the wanted columns of a data frame with names, in their order, and the names of the others."""
    names = names_of(X) or []
    at = {name: j for j, name in enumerate(names)}
    if len(at) < len(names):
        twice = next(name for j, name in enumerate(names) if at[name] != j)
        raise ValueError(f"two columns of X have the name {twice!r}: want different names")
    missing = [name for name in wanted if name not in at]
    if missing:
        raise ValueError(f"X lacks {_listed(missing)}: want the columns that {who} was fitted on")
    if names == list(wanted):
        return X, []
    known = set(wanted)
    return X.iloc[:, [at[name] for name in wanted]], [name for name in names if name not in known]


def _listed(names: Sequence[str]) -> str:
    """Return up to five names for a message."""
    texts = [repr(name) for name in names[:5]]
    return ("column " if len(names) == 1 else "columns ") + ", ".join(texts) + (", ..." if len(names) > 5 else "")


def names_of(X: Any) -> list[str] | None:
    """Return the column names of a data frame, or None."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    texts = sum(isinstance(name, str) for name in names)
    if 0 < texts < len(names):
        raise TypeError("some column names are strings and some are not: want one type; convert them by X.columns = X.columns.astype(str)")
    return names if texts else None


def as_matrix(X: Any, what: str = "X") -> np.ndarray:
    """Convert X to a 2-dimensional array of float64 or float32 with at least one row and column."""
    array = plain(X, what)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what} has dtype {array.dtype}, want real numbers")
    if array.dtype.kind in "mMV":
        raise TypeError(f"{what} has dtype {array.dtype}: want numbers")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead: {what} has shape {array.shape}. Reshape your data with "
            "X.reshape(-1, 1) if it has a single feature or X.reshape(1, -1) if it is a single sample."
        )
    if array.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.dtype not in (np.float64, np.float32) or not array.dtype.isnative:
        array = floats(array, what)
    return array


def _laid_out(array: np.ndarray) -> np.ndarray:
    """Return the array, or a copy if neither its rows nor its columns are contiguous."""
    rows, columns = array.shape
    down, right = array.strides
    size = array.itemsize
    by_rows = right == size and down >= columns * size
    by_columns = down == size and right >= rows * size
    if (by_rows or by_columns) and down % size == 0 and right % size == 0 and array.flags.aligned:
        return array
    return laid(array)


def _sparse(X: Any) -> Points:
    """Convert a scipy CSR matrix to points."""
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: the sparse matrix has dtype {X.dtype}, want real numbers")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"the sparse matrix has dtype {X.dtype}: want numbers")
    for count, what in zip(X.shape, ("sample", "feature")):
        if count == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
    if max(X.shape[1], X.nnz) > np.iinfo(np.int64).max or X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"the sparse matrix has {X.shape[1]} columns: want at most {np.iinfo(np.int32).max}")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.dtype.kind in "iu":
        exact(X.data, X.data.astype(np.float64), "the sparse matrix", lambda k: (np.searchsorted(X.indptr, k, "right") - 1, X.indices[k]))
    values = laid(X.data, dtype=X.dtype if X.dtype in (np.float64, np.float32) else np.float64)
    points = Points(X.shape, values.dtype, None)
    points.of.kind = lib.SPARSE
    points.of.data = points.hold(values)
    points.of.row_start = points.hold(laid(X.indptr, dtype=np.int64))
    points.of.column = points.hold(laid(X.indices, dtype=np.int32))
    return points


def as_rows(values: Any, width: int, what: str) -> np.ndarray:
    """Convert tuples of row numbers to an array of width columns."""
    array = plain(values, what)
    if array.size == 0:
        return np.empty((0, width), dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} have dtype {array.dtype}: want integers, the row numbers of points")
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{what} have shape {array.shape}: want (n, {width})")
    return laid(array, dtype=np.int64)


def as_column(values: Any, length: int, dtype: Any, what: str) -> np.ndarray:
    """Convert values to an array of the given length."""
    array = plain(values, what)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} have dtype {array.dtype}: want numbers")
    if array.shape != (length,):
        raise ValueError(f"{what} have shape {array.shape}: want ({length},)")
    return laid(array, dtype=dtype)


def output(rows: int, columns: int, dtype: Any) -> tuple[np.ndarray, lib.Matrix]:
    """Return an array for a result, and the structure that describes it."""
    array = np.empty((rows, columns), dtype=dtype)
    of = lib.Matrix(type_of(dtype), rows, columns, array.ctypes.data, columns, 1)
    return array, of


__all__: Sequence[str] = ["Points", "as_points", "chosen", "table_of", "as_matrix", "as_rows", "as_column", "names_of", "output", "type_of"]
