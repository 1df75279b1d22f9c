"""Learned metrics."""

from __future__ import annotations

import ctypes
import json
import os
import threading
import weakref
from typing import Any, Callable

import numpy as np

from . import _library as lib
from ._links import Links
from ._points import Points, as_points, as_rows, output

_engines: dict[tuple, int] = {}
_lock = threading.Lock()

# From so many rows on a call looks at signals meanwhile, which takes it some microseconds.
_MANY = 2000


def engine(workers: int | None, memory_limit: int | None) -> int:
    """The handle of an engine with these limits; there is one of each kind in a process.

    workers may be None or negative for all processors, memory_limit None for none. MUSTLINK_BACKEND
    and MUSTLINK_SIMD choose the linear algebra, as they do for the command.
    """
    options = {
        "workers": 0 if workers is None or workers < 0 else int(workers),
        "memory_limit": int(memory_limit or 0),
        "backend": os.environ.get("MUSTLINK_BACKEND", ""),
        "simd": os.environ.get("MUSTLINK_SIMD", ""),
    }
    library = lib.library()
    key = (library.pid, *options.values())
    with _lock:
        if key not in _engines:
            handle = ctypes.c_size_t()
            library.call("engine_new", lib.ABI, json.dumps(options).encode(), ctypes.byref(handle))
            _engines[key] = handle.value
    return _engines[key]


def info() -> dict[str, Any]:
    """What the library is made of and runs on: version, backend, SIMD levels, workers.

    Examples
    --------
    >>> import mustlink
    >>> mustlink.info()["abi"]
    1
    """
    return lib.library().json("engine_info", engine(None, None))


def methods() -> list[dict[str, Any]]:
    """The library's methods, with their parameters, defaults and papers.

    Examples
    --------
    >>> import mustlink
    >>> [m["name"] for m in mustlink.methods()][:3]
    ['krca', 'kbeta', 'npkl']
    """
    return lib.library().json("methods")


def load(path: str | os.PathLike, *, n_jobs: int | None = None, memory_limit: int | None = None) -> Model:
    """Reads a model file, of this package or of the command.

    A file that cannot be opened is an OSError, one that is no sound model a ValueError.
    """
    return _made(n_jobs, memory_limit, "load", os.fsencode(path))


def from_bytes(data: bytes, n_jobs: int | None = None, memory_limit: int | None = None) -> Model:
    """Makes a model of the bytes of its file."""
    return _made(n_jobs, memory_limit, "load_bytes", data, len(data))


def _made(n_jobs: int | None, memory_limit: int | None, name: str, *arguments: Any) -> Model:
    limits = (n_jobs, memory_limit)
    handle = ctypes.c_size_t()
    lib.library().call(name, engine(*limits), *arguments, ctypes.byref(handle))
    return Model(handle.value, limits)


def fit(method: str, options: dict[str, Any], points: Points, links: Links | None, limits: tuple, progress: Callable | None) -> Model:
    """Learns a metric."""
    if links is not None and len(links.quadruplets):
        options = {**options, "quadruplets": links.quadruplets.tolist()}
    runs_on, text = engine(*limits), json.dumps(options).encode()
    known = None if links is None else links.reference()
    first = (runs_on, method.encode(), text, points.reference(), known)
    return _learned("fit", first, limits, progress)


def _learned(name: str, first: tuple, limits: tuple, progress: Callable | None = None) -> Model:
    """Calls a function that makes a model; its last arguments are the control and the place for the handle."""
    handle = ctypes.c_size_t()
    try:
        lib.watched(name, lambda control: (*first, control, ctypes.byref(handle)), progress)
    except BaseException:
        if handle.value:  # a signal came when the work was done
            lib.library().code("model_free", handle.value)
        raise
    return Model(handle.value, limits)


class Model:
    """A learned metric, made by an estimator's fit or by :func:`mustlink.load`. It never changes.

    Points may be arrays of doubles or floats, by rows or by columns, lists, pandas frames or scipy
    sparse matrices. All calls release the interpreter's lock, and may come from several threads.
    """

    def __init__(self, handle: int, limits: tuple):
        self._handle, self._limits = handle, limits
        self._finalizer = weakref.finalize(self, _free, lib.library(), handle)
        self._finalizer.atexit = False
        dimensions, features = ctypes.c_int64(), ctypes.c_int64()
        lib.library().call("model_size", handle, ctypes.byref(dimensions), ctypes.byref(features))
        self.dim: int = dimensions.value
        """Number of columns of an embedding."""
        self.n_features: int | None = features.value if features.value >= 0 else None
        """Number of features that points must have, None when any will do."""

    def embed(self, X: Any, *, gram: bool = False, diagonal: Any = None) -> np.ndarray:
        """Coordinates in which Euclidean distance is the learned one.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
        gram : bool
            X holds inner products with the training points.
        diagonal : array-like, shape (n_samples,), optional
            With gram: the inner product of each row with itself. Without it the rows are the training points.

        Returns
        -------
        array, shape (n_samples, dim), of floats where X has floats, else of doubles
        """
        return self._embed(as_points(X, gram=gram, diagonal=diagonal))

    def _embed(self, points: Points) -> np.ndarray:
        out, of = output(points.rows, self.dim, points.dtype)
        runs_on = engine(*self._limits)
        self._run("embed", points.rows, lambda control: (runs_on, self._handle, points.reference(), control, ctypes.byref(of)))
        return out

    def gram(self, X: Any, Y: Any = None) -> np.ndarray:
        """The learned kernel between the rows of X and those of Y (default: X), shape (n_samples_X, n_samples_Y)."""
        return self._gram(as_points(X), None if Y is None else as_points(Y))

    def _gram(self, x: Points, y: Points | None) -> np.ndarray:
        out, of = output(x.rows, x.rows if y is None else y.rows, x.dtype)
        runs_on = engine(*self._limits)
        other = None if y is None else y.reference()
        self._run("gram", x.rows, lambda control: (runs_on, self._handle, x.reference(), other, control, ctypes.byref(of)))
        return out

    def distances(self, X: Any, pairs: Any) -> np.ndarray:
        """The squared learned distances of pairs of rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features)
        pairs : array-like of int, shape (n_pairs, 2)

        Returns
        -------
        array of float64, shape (n_pairs,)
        """
        return self._distances(as_points(X), pairs)

    def _distances(self, x: Points, pairs: Any) -> np.ndarray:
        rows = as_rows(pairs, 2, "pairs")
        out = np.empty(len(rows))
        runs_on = engine(*self._limits)

        def arguments(control: Any) -> tuple:
            return runs_on, self._handle, x.reference(), rows.ctypes.data, len(rows), control, out.ctypes.data

        self._run("distances", len(rows), arguments)
        return out

    def updated(self, X: Any = None, links: Links | None = None, *, extend: bool = False, drop_last: int = 0) -> Model:
        """The model that has learned more; this one stays as it is.

        Models of NPKL, KBeta, GML and ITML learn more links between the points of their fit, which X
        must be. A model of KRCA learns new points X that links join; with extend the numbers of
        :meth:`Links.from_groups` are those of its own groups, and drop_last takes so many updates back.
        """
        options = json.dumps({"extend": extend, "drop_last": drop_last}).encode()
        points = None if X is None else as_points(X)
        x = None if points is None else points.reference()
        known = None if links is None else links.reference()
        return _learned("update", (engine(*self._limits), self._handle, options, x, known), self._limits)

    def info(self) -> dict[str, Any]:
        """Method, kernel, dimensions, convergence, notices and figures of the method."""
        return lib.library().json("model_info", self._handle)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the model file, as a whole or not at all; the command reads it too."""
        lib.library().call("save", self._handle, os.fsencode(path))

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return lib.library().buffer("save_bytes", self._handle)

    def free(self) -> None:
        """Frees the memory now; without it the garbage collector does. Later calls are a RuntimeError."""
        self._finalizer()

    def _run(self, name: str, rows: int, arguments: Callable[[Any], tuple]) -> None:
        if rows < _MANY:
            lib.library().call(name, *arguments(None))
        else:
            lib.watched(name, arguments)

    def __reduce__(self) -> tuple:
        return from_bytes, (self.to_bytes(), *self._limits)

    def __repr__(self) -> str:
        return f"<mustlink.Model: {self.n_features} features to {self.dim} dimensions>"


def _free(library: lib.Library, handle: int) -> None:
    if library.pid == os.getpid():
        library.code("model_free", handle)
