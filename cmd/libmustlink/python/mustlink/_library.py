"""Loading of the C library, its structures, and the exceptions of its codes."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import re
import sys
import threading
from ctypes import POINTER, c_char_p, c_double, c_int, c_int8, c_int32, c_int64, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable

ABI = 1
"""The version of mustlink.h that this package requires."""

VARIABLE = "MUSTLINK_LIBRARY"
"""The environment variable with the path of another library."""

FLOAT64, FLOAT32 = 1, 2
DENSE, SPARSE, GRAM, TABLE = 1, 2, 3, 4

OK, BAD_INPUT, BAD_ARGUMENT, BAD_HANDLE, NO_MEMORY, CANCELED, BAD_FILE, TOO_SMALL, BAD_VERSION, FORKED, FAILED = range(11)


class Canceled(RuntimeError):
    """A call was canceled, by a progress function or by a flag."""


_EXCEPTIONS: dict[int, type[Exception]] = {
    BAD_INPUT: ValueError,
    BAD_ARGUMENT: ValueError,
    NO_MEMORY: MemoryError,
    CANCELED: Canceled,
    BAD_FILE: OSError,
}


class Points(ctypes.Structure):
    """mustlink_points"""

    _fields_ = [
        ("kind", c_int32),
        ("type", c_int32),
        ("rows", c_int64),
        ("columns", c_int64),
        ("data", c_void_p),
        ("row_stride", c_int64),
        ("column_stride", c_int64),
        ("row_start", c_void_p),
        ("column", c_void_p),
        ("diagonal", c_void_p),
    ]


class Column(ctypes.Structure):
    """mustlink_column"""

    _fields_ = [
        ("name", c_char_p),
        ("numbers", c_void_p),
        ("codes", c_void_p),
        ("levels", c_void_p),
        ("level_count", c_int64),
    ]


class Matrix(ctypes.Structure):
    """mustlink_matrix"""

    _fields_ = [
        ("type", c_int32),
        ("rows", c_int64),
        ("columns", c_int64),
        ("data", c_void_p),
        ("row_stride", c_int64),
        ("column_stride", c_int64),
    ]


class LinksOf(ctypes.Structure):
    """mustlink_links"""

    _fields_ = [
        ("pairs", c_int64),
        ("pair", c_void_p),
        ("sign", c_void_p),
        ("weight", c_void_p),
        ("bound", c_void_p),
        ("triplets", c_int64),
        ("triplet", c_void_p),
        ("rows", c_int64),
        ("group", c_void_p),
        ("label", c_void_p),
    ]


class Distinct(ctypes.Structure):
    """mustlink_distinct"""

    _fields_ = [("name", c_char_p), ("keys", c_void_p), ("width", c_double), ("values", c_void_p)]


class ReportOf(ctypes.Structure):
    """mustlink_report"""

    _fields_ = [
        ("stage", c_char_p),
        ("done", c_int64),
        ("total", c_int64),
        ("objective", c_double),
        ("residual", c_double),
        ("seconds", c_double),
    ]


ProgressFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(ReportOf))


class Control(ctypes.Structure):
    """mustlink_control"""

    _fields_ = [
        ("cancel", c_void_p),
        ("progress", ProgressFunction),
        ("user", c_void_p),
        ("interval", c_double),
    ]


_HANDLE = ctypes.c_size_t
_POINTS, _MATRIX, _LINKS, _CONTROL = POINTER(Points), POINTER(Matrix), POINTER(LinksOf), POINTER(Control)

_FUNCTIONS: dict[str, list[Any]] = {
    "engine_new": [c_int32, c_char_p, POINTER(_HANDLE)],
    "engine_info": [_HANDLE, c_void_p, c_int64, POINTER(c_int64)],
    "engine_free": [_HANDLE],
    "methods": [c_void_p, c_int64, POINTER(c_int64)],
    "sample_links": [c_void_p, c_int64, c_int64, c_int64, c_uint64, c_void_p],
    "fit": [_HANDLE, c_char_p, c_char_p, _POINTS, _LINKS, _CONTROL, POINTER(_HANDLE)],
    "update": [_HANDLE, _HANDLE, c_char_p, _POINTS, _LINKS, _CONTROL, POINTER(_HANDLE)],
    "model_size": [_HANDLE, POINTER(c_int64), POINTER(c_int64)],
    "embed": [_HANDLE, _HANDLE, _POINTS, _CONTROL, _MATRIX],
    "gram": [_HANDLE, _HANDLE, _POINTS, _POINTS, _CONTROL, _MATRIX],
    "euclidean_distances": [_HANDLE, _HANDLE, _POINTS, c_void_p, c_int64, _CONTROL, c_void_p],
    "calibrate": [_HANDLE, _HANDLE, c_char_p, _POINTS, _LINKS, _CONTROL, POINTER(_HANDLE)],
    "pairs_find": [_HANDLE, _HANDLE, c_char_p, _POINTS, _CONTROL, POINTER(_HANDLE)],
    "pairs_suggest": [_HANDLE, _HANDLE, c_char_p, _POINTS, _LINKS, _CONTROL, POINTER(_HANDLE)],
    "pairs_info": [_HANDLE, c_void_p, c_int64, POINTER(c_int64)],
    "pairs_copy": [_HANDLE, c_void_p, c_void_p, c_void_p],
    "pairs_free": [_HANDLE],
    "groups_find": [_HANDLE, _HANDLE, c_char_p, _POINTS, _LINKS, POINTER(Distinct), c_int64, _CONTROL, POINTER(_HANDLE)],
    "groups_info": [_HANDLE, c_void_p, c_int64, POINTER(c_int64)],
    "groups_copy": [_HANDLE, c_void_p, c_void_p, c_void_p, c_void_p],
    "groups_free": [_HANDLE],
    "entities_find": [_HANDLE, _HANDLE, c_char_p, _POINTS, _POINTS, _LINKS, POINTER(Distinct), c_int64, _CONTROL, POINTER(_HANDLE), c_void_p, c_void_p],
    "classify": [_HANDLE, _HANDLE, _POINTS, c_void_p, _POINTS, c_int64, _CONTROL, c_void_p],
    "model_info": [_HANDLE, c_void_p, c_int64, POINTER(c_int64)],
    "remarks": [_HANDLE, _POINTS, c_void_p, c_int64, POINTER(c_int64)],
    "save": [_HANDLE, c_char_p],
    "export": [_HANDLE, _HANDLE, c_char_p, c_char_p],
    "load": [_HANDLE, c_char_p, POINTER(_HANDLE)],
    "save_bytes": [_HANDLE, c_void_p, c_int64, POINTER(c_int64)],
    "load_bytes": [_HANDLE, c_char_p, c_int64, POINTER(_HANDLE)],
    "model_free": [_HANDLE],
    "index_new": [_HANDLE, _POINTS, c_int64, c_uint64, _CONTROL, POINTER(_HANDLE)],
    "index_search": [_HANDLE, _POINTS, c_int64, c_double, _CONTROL, c_void_p, c_void_p, POINTER(c_double)],
    "index_save": [_HANDLE, c_char_p],
    "index_load": [_HANDLE, c_char_p, _HANDLE, _POINTS, _CONTROL, POINTER(_HANDLE), POINTER(c_int64)],
    "index_free": [_HANDLE],
}


# A bad number of a column, in the library's words and in those of Python.
_CELL = re.compile(r'row (\d+), column "((?:[^"\\\\]|\\\\.)*)": (?:value is (NaN|[+-]Inf)|the cell is empty)(?=: want)')
_NOT_FINITE = re.compile(r"has (a NaN|-?inf) in row \d+: want a finite number")
_NUMBERS = {"NaN": "a NaN", "+Inf": "inf", "-Inf": "-inf", None: "a NaN"}


def _of_cell(found: re.Match) -> str:
    return f'column "{found[2]}" has {_NUMBERS[found[3]]} in row {found[1]}'


class Library:
    """A loaded library. Only the process that has loaded it can use it."""

    def __init__(self, path: str):
        self.path = path
        self.pid = os.getpid()
        try:
            self._c = ctypes.CDLL(path)
            self._c.mustlink_abi_version.restype = c_int32
            version = self._c.mustlink_abi_version()
        except (OSError, AttributeError) as error:
            raise RuntimeError(f"the library {path} cannot be loaded: {error}") from error
        if version != ABI:
            raise RuntimeError(
                f"the library {path} has version {version} of the interface: want version {ABI}, as this package requires; "
                "install the matching library"
            )
        self._c.mustlink_message.restype = c_char_p
        self._c.mustlink_version.restype = c_char_p
        self._functions = {}
        for name, arguments in _FUNCTIONS.items():
            function = getattr(self._c, "mustlink_" + name, None)
            if function is None:
                raise RuntimeError(f"the library {path} is older than this package: it lacks mustlink_{name}; install the matching library")
            function.argtypes, function.restype = arguments, c_int
            self._functions[name] = function

    def version(self) -> str:
        """Return the version of the library."""
        return self._c.mustlink_version().decode()

    def code(self, name: str, *arguments: Any) -> int:
        """Call a function and return its code. The call releases the global interpreter lock."""
        return self._functions[name](*arguments)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function and raise the exception of its code."""
        code = self._functions[name](*arguments)
        if code != OK:
            raise self.error(code)

    def error(self, code: int) -> Exception:
        """Return the exception of a code, with the library's message."""
        text = _CELL.sub(_of_cell, self._c.mustlink_message().decode(errors="replace"))
        if code == BAD_INPUT and _NOT_FINITE.search(text):
            text = "Input contains NaN or infinity: " + text  # scikit-learn's wording
        return _EXCEPTIONS.get(code, RuntimeError)(text)

    def buffer(self, name: str, *arguments: Any) -> bytes:
        """Call a function that fills a buffer of unknown size."""
        size, room = c_int64(), 4096
        while True:
            memory = ctypes.create_string_buffer(room)
            code = self.code(name, *arguments, memory, room, ctypes.byref(size))
            if code == TOO_SMALL:
                room = size.value
                continue
            if code != OK:
                raise self.error(code)
            return memory.raw[: size.value]

    def json(self, name: str, *arguments: Any) -> Any:
        """Call a function that writes JSON."""
        return json.loads(self.buffer(name, *arguments)[:-1])


_loaded: Library | None = None
_lock = threading.Lock()


def library() -> Library:
    """Return the library. The first call loads it.

    A process that was forked after that cannot use it: it raises RuntimeError, where a call would
    wait forever. A process that was forked before loads its own.
    """
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = Library(_find())
    if _loaded.pid != os.getpid():
        raise RuntimeError(
            f"process {os.getpid()} was forked from {_loaded.pid} after mustlink was first used there, and threads do not exist in a "
            "fork: want processes started with spawn or forkserver (as joblib's loky does), or mustlink used only in the children"
        )
    return _loaded


def _find() -> str:
    """Return the path of the library: from the environment, in this package, or of the system."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    ending = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
    here = Path(__file__).with_name("libmustlink." + ending)
    if here.exists():
        return str(here)
    found = ctypes.util.find_library("mustlink")
    if found:
        return found
    raise RuntimeError(f"there is no {here}, and the system has no libmustlink: want the library; build it with make build-lib and put its path into {VARIABLE}")


class Report:
    """Progress of a fit.

    A progress function is called with a report.

    Attributes
    ----------
    stage : str
        The current stage, such as "kernel matrix".
    done, total : int
        Steps of the whole fit. total is 0 when it is unknown.
    objective, residual : float
        Values of methods that have them, else 0.
    seconds : float
        Time since the fit began.
    """

    __slots__ = ("stage", "done", "total", "objective", "residual", "seconds")

    def __init__(self, of: ReportOf):
        self.stage = of.stage.decode(errors="replace")
        self.done, self.total = of.done, of.total
        self.objective, self.residual, self.seconds = of.objective, of.residual, of.seconds

    def __repr__(self) -> str:
        return f"Report({self.stage!r}, {self.done}/{self.total})"


def watched(name: str, arguments: Callable[[Any], tuple], progress: Callable[[Report], Any] | None = None) -> None:
    """Call a function that may take long.

    On the main thread Python handles signals during the call, so that Ctrl-C ends it with
    KeyboardInterrupt. An exception of a signal handler or of progress ends the call and is raised
    here.

    Parameters
    ----------
    name : str
        The function.
    arguments : callable
        Returns the function's arguments, given the argument for the control.
    progress : callable, default=None
        Called with a :class:`Report`.
    """
    lib = library()
    on_main = threading.current_thread() is threading.main_thread()
    if progress is None and not on_main:
        lib.call(name, *arguments(None))
        return
    raised: list[BaseException] = []

    def report(_: Any, news: Any) -> int:
        if raised:
            return 1
        try:
            if progress is not None and news.contents.stage is not None:
                progress(Report(news.contents))
        except BaseException as error:  # C cannot pass it on
            raised.append(error)
            return 1
        return 0

    control = Control(progress=ProgressFunction(report))
    if not on_main:
        code = lib.code(name, *arguments(ctypes.byref(control)))
    else:
        hook = sys.unraisablehook

        def caught(lost: Any) -> None:
            """Python runs signal handlers when it enters report, before its try: their exceptions
            arrive here.
            """
            if lost.object is report:
                raised.append(lost.exc_value or lost.exc_type())
            else:
                hook(lost)

        sys.unraisablehook = caught
        try:
            code = lib.code(name, *arguments(ctypes.byref(control)))
        finally:
            sys.unraisablehook = hook
    if raised:
        raise raised[0]
    if code != OK:
        raise lib.error(code)
