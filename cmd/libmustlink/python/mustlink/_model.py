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
from ._frames import frame_of
from ._links import Links
from ._matching import Matching
from ._points import Points, as_points, as_rows, chosen, names_of, output
from ._sklearn import Notice, warn

_engines: dict[tuple, int] = {}
_lock = threading.Lock()

# Calls with at least this many rows watch for signals, which costs some microseconds.
_MANY = 2000


def engine(workers: int | None, memory_limit: int | None) -> int:
    """Return the handle of an engine with these limits. The process has one for each combination.

    Parameters
    ----------
    workers : int or None
        Number of workers; None or a negative number for all processors.
    memory_limit : int or None
        Bytes; None for no limit.

    Notes
    -----
    The environment variables MUSTLINK_BACKEND and MUSTLINK_SIMD choose the linear algebra, as for
    the command.
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
    """Return the version, build, backend, SIMD levels and workers of the library.

    Returns
    -------
    info : dict

    Examples
    --------
    >>> import mustlink
    >>> mustlink.info()["abi"]
    1
    """
    return lib.library().json("engine_info", engine(None, None))


def methods() -> list[dict[str, Any]]:
    """Return the methods of the library, with their parameters, defaults and papers.

    Returns
    -------
    methods : list of dict

    Examples
    --------
    >>> import mustlink
    >>> [m["name"] for m in mustlink.methods()][:3]
    ['krca', 'kbeta', 'npkl']
    """
    return lib.library().json("methods")


def load(path: str | os.PathLike, *, n_jobs: int | None = None, memory_limit: int | None = None) -> Model:
    """Load a model file that this package or the command ``mustlink`` has written.

    Parameters
    ----------
    path : str or path-like
        The model file.
    n_jobs : int, default=None
        Number of workers. None or -1 means all processors.
    memory_limit : int, default=None
        Maximum number of bytes of one request. None means no limit.

    Returns
    -------
    model : Model

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is not a valid model file.
    """
    return _made(n_jobs, memory_limit, "load", _encoded(path))


def _encoded(path: str | os.PathLike[str]) -> bytes:
    """Return a path as the library takes it: its text ends at the first zero byte."""
    raw = os.fsencode(path)
    if b"\0" in raw:
        raise ValueError(f"path {raw!r}: it has a zero byte: want a path without it")
    return raw


def from_bytes(data: bytes, n_jobs: int | None = None, memory_limit: int | None = None) -> Model:
    """Load a model from the bytes of its file."""
    return _made(n_jobs, memory_limit, "load_bytes", data, len(data))


def _made(n_jobs: int | None, memory_limit: int | None, name: str, *arguments: Any) -> Model:
    limits = (n_jobs, memory_limit)
    handle = ctypes.c_size_t()
    lib.library().call(name, engine(*limits), *arguments, ctypes.byref(handle))
    return Model(handle.value, limits)


def fit(method: str, options: dict[str, Any], points: Points, links: Links | None, limits: tuple, progress: Callable | None) -> Model:
    """Learn a metric."""
    if links is not None and len(links.quadruplets):
        options = {**options, "quadruplets": links.quadruplets.tolist()}
    runs_on, text = engine(*limits), json.dumps(options).encode()
    known = None if links is None else links.reference()
    first = (runs_on, method.encode(), text, points.reference(), known)
    with points:
        return _learned("fit", first, limits, progress)


def _learned(name: str, first: tuple, limits: tuple, progress: Callable | None = None) -> Model:
    """Call a function that makes a model, given its first arguments."""
    return Model(new_handle(name, first, "model_free", progress), limits)


def new_handle(name: str, first: tuple, free: str, progress: Callable | None = None, last: tuple = ()) -> int:
    """Return the handle of what a long call makes. After the first arguments come the control and the handle."""
    handle = ctypes.c_size_t()
    try:
        lib.watched(name, lambda control: (*first, control, ctypes.byref(handle), *last), progress)
    except BaseException:
        if handle.value:  # it was finished when a signal came
            lib.library().code(free, handle.value)
        raise
    return handle.value


class Model(Matching):
    """A learned metric. It is immutable.

    The ``fit`` of an estimator and :func:`mustlink.load` return models. Points may be float64 or
    float32 arrays of any layout, lists, data frames or scipy sparse matrices. From a data frame the
    model takes its columns by their names, in any order; a :class:`mustlink.Notice` lists others.
    All methods release the global interpreter lock, and several threads may call them at once.

    Attributes
    ----------
    dim : int
        Number of columns of an embedding.
    n_features : int or None
        Number of features that points must have, None for any number.
    features : list of str or None
        Names of the columns that the model takes, None if they have none. Columns that the fit left
        out are not among them.
    """

    def __init__(self, handle: int, limits: tuple):
        self._handle, self._limits = handle, limits
        self._engine = engine(*limits)
        self._finalizer = weakref.finalize(self, freed, lib.library(), "model_free", handle)
        self._finalizer.atexit = False
        dimensions, features = ctypes.c_int64(), ctypes.c_int64()
        lib.library().call("model_size", handle, ctypes.byref(dimensions), ctypes.byref(features))
        self.dim: int = dimensions.value
        self.n_features: int | None = features.value if features.value >= 0 else None
        info = self.info()
        self.features: list[str] | None = info["features"]
        self._left_out: list[str] = info["left_out"] or []

    def _points(self, X: Any, *, gram: bool = False, diagonal: Any = None) -> Points:
        """Convert X to points. The columns of a data frame are found by their names."""
        frame = frame_of(X)
        if frame is None or gram or self.features is None or names_of(frame) is None:
            return as_points(X, gram=gram, diagonal=diagonal)
        own, others = chosen(frame, self.features, "the model")
        warn_of_others([name for name in others if name not in self._left_out])
        return self._noted(as_points(own))

    def _noted(self, points: Points) -> Points:
        """Warn of texts in a table that the fit did not see."""
        if points.has_texts:
            for remark in lib.library().json("remarks", self._handle, points.reference()):
                warn(remark, Notice)
        return points

    def embed(self, X: Any, *, gram: bool = False, diagonal: Any = None) -> np.ndarray:
        """Map points to the embedding.

        Euclidean distance in the embedding is the learned distance. For KRCA, and for GML and ITML
        with a kernel, it approximates it: "embedded_share" of :meth:`info` says how far.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points.
        gram : bool, default=False
            Whether X holds inner products with the training points.
        diagonal : array-like of shape (n_samples,), default=None
            With gram, the inner product of each row with itself. If None, the rows of X must be the
            training points.

        Returns
        -------
        X_new : ndarray of shape (n_samples, dim)
            Coordinates, of type float32 if X is, else float64.
        """
        return self._embed(self._points(X, gram=gram, diagonal=diagonal))

    def _embed(self, points: Points) -> np.ndarray:
        out, of = output(points.rows, self.dim, points.dtype)
        runs_on = self._engine
        with points:
            self._run("embed", points.rows, lambda control: (runs_on, self._handle, points.reference(), control, ctypes.byref(of)))
        return out

    def gram(self, X: Any, Y: Any = None) -> np.ndarray:
        """Compute the learned kernel between points.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples_X, n_features)
            Points.
        Y : array-like, data frame or sparse matrix of shape (n_samples_Y, n_features), default=None
            Other points. If None, X.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y)
            Kernel matrix.
        """
        return self._gram(self._points(X), None if Y is None else self._points(Y))

    def _gram(self, x: Points, y: Points | None) -> np.ndarray:
        out, of = output(x.rows, x.rows if y is None else y.rows, x.dtype)
        runs_on = self._engine
        other = None if y is None else y.reference()
        with x:
            self._run("gram", x.rows, lambda control: (runs_on, self._handle, x.reference(), other, control, ctypes.byref(of)))
        return out

    def distances(self, X: Any, pairs: Any) -> np.ndarray:
        """Compute the learned distances of pairs of rows.

        They are Euclidean, not squared, and those of the learned metric itself, like :meth:`gram`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points.
        pairs : array-like of int, shape (n_pairs, 2)
            Row numbers.

        Returns
        -------
        distances : ndarray of shape (n_pairs,)
            Distances.
        """
        return self._distances(self._points(X), pairs)

    def _distances(self, x: Points, pairs: Any) -> np.ndarray:
        rows = as_rows(pairs, 2, "pairs")
        out = np.empty(len(rows))
        runs_on = self._engine

        def arguments(control: Any) -> tuple:
            return runs_on, self._handle, x.reference(), rows.ctypes.data, len(rows), control, out.ctypes.data

        with x:
            self._run("euclidean_distances", len(rows), arguments)
        return out

    def updated(self, X: Any = None, links: Links | None = None, *, extend: bool = False, drop_last: int = 0) -> Model:
        """Return a model that is updated with more links. This model does not change.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), default=None
            For Blend, NPKL, KBeta, GML and ITML, the points of the fit, or None if the model stores
            them, as ``info()["updating"]`` says. For KRCA, new points.
        links : Links, default=None
            Constraints between rows of X.
        extend : bool, default=False
            For KRCA: whether the numbers of :meth:`Links.from_groups` are those of the model's
            groups.
        drop_last : int, default=0
            For KRCA: number of earlier updates to undo.

        Returns
        -------
        model : Model
        """
        return self._updated(None if X is None else self._points(X), links, extend, drop_last)

    def calibrated(self, X: Any, links: Links, *, share: float | None = None, near: bool = False) -> Model:
        """Return the model with a calibration; see :meth:`mustlink.MetricLearner.calibrate`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points.
        links : Links
            Constraints between rows of X.
        share : float, default=None
            The share of matching pairs among those to judge, above 0 and below 1.
        near : bool, default=False
            Whether links are answers about pairs of ``suggest(near=)``.

        Returns
        -------
        model : Model
        """
        return self._calibrated(self._points(X), links, share, near)

    def _given_points(self, X: Any) -> Points:
        return self._points(X)

    def _learned(self) -> Model:
        return self

    def _new(self, name: str, *arguments: Any) -> Model:
        return _learned(name, (self._engine, self._handle, *arguments), self._limits)

    def _updated(self, points: Points | None, links: Links | None, extend: bool, drop_last: int) -> Model:
        options = json.dumps({"extend": extend, "drop_last": drop_last}).encode()
        x = None if points is None else points.reference()
        known = None if links is None else links.reference()
        return self._new("update", options, x, known)

    def info(self) -> dict[str, Any]:
        """Return method, kernel, dimensions, convergence, notices and statistics of the model.

        "prepared" has a line for each column of a table that the model takes. After a fit,
        "columns" says what was found in all columns of the training points; it is None for a model
        that was loaded.

        Returns
        -------
        info : dict
        """
        return lib.library().json("model_info", self._handle)

    def save(self, path: str | os.PathLike) -> None:
        """Write the model file, which the command ``mustlink`` also reads.

        The file is written completely or not at all.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        """
        lib.library().call("save", self._handle, _encoded(path))

    def to_onnx(self, path: str | os.PathLike, *, precision: str = "double") -> None:
        """Write an ONNX graph from rows to coordinates, for programs without mustlink.

        The graph contains the preparation of the rows. Its input ``x`` has the columns of numbers,
        ``texts`` those of texts, and its output is ``coordinates``; the metadata list the names of
        the columns.

        Parameters
        ----------
        path : str or path-like
            The file to write. It ends in .onnx; with .json or .sql, a linear map is written in that
            format instead.
        precision : {"double", "single"}, default="double"
            The precision of the graph's input and output.

        Raises
        ------
        ValueError
            If the model has no formula for new rows (it searches for their neighbors or sends them
            through trees), if it takes sequences, Gram matrices, dates or texts, and for single
            precision of blend and npkl.
        """
        lib.library().call("export", self._engine, self._handle, _encoded(path), precision.encode())

    def to_bytes(self) -> bytes:
        """Return the bytes of the model file."""
        return lib.library().buffer("save_bytes", self._handle)

    def free(self) -> None:
        """Free the memory of the model now, not when it is garbage-collected.

        Later calls raise RuntimeError.
        """
        self._finalizer()

    def _run(self, name: str, rows: int, arguments: Callable[[Any], tuple]) -> None:
        if rows < _MANY:
            lib.library().call(name, *arguments(None))
        else:
            lib.watched(name, arguments)

    def __reduce__(self) -> tuple:
        return from_bytes, (self.to_bytes(), *self._limits)

    def __repr__(self) -> str:
        return f"<mustlink.Model: {self.n_features} features, {self.state()}>"

    def state(self) -> str:
        """Return the method, the number of directions and the finding of a verdict in words.

        Returns
        -------
        state : str
            Such as "fitted by blend, 12 directions, better than raw".
        """
        info = self.info()
        found = {"better": ", better than raw", "similar": ", not clearly better than raw", "worse": ", worse than raw", "unknown": ", not judged"}
        judged = "" if info["verdict"] is None else found[info["verdict"]["finding"]]
        if judged and info["verdict"].get("rejected"):
            judged = f", as {info['verdict']['rejected']} is worse"
        return f"fitted by {info['method']}, {self.dim} direction{'s' * (self.dim != 1)}{judged}"


def warn_of_others(names: list[str]) -> None:
    """Warn of columns that a model does not take, if there are any."""
    if not names:
        return
    texts = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    warn(f"the model does not take the columns {texts}", Notice)


def freed(library: lib.Library, name: str, handle: int) -> None:
    """Free what a handle stands for, unless this process is a fork."""
    if library.pid == os.getpid():
        library.code(name, handle)
