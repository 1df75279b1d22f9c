"""Measures the costs of the interface: calls, embeddings compared with Go's, memory over many fits,
threads.

`make lib-figures` runs it. The model and the points of the embeddings are written to a folder, from
which the Go benchmark of internal/abi reads them; the two run in turn.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import os
import re
import statistics
import subprocess
import tempfile
import time
import warnings

import numpy as np

import mustlink
from mustlink import KRCA, RCA, _library, _model
from mustlink._points import as_points

TURNS = 5


def timed(call, count: int = 1) -> float:
    """Return the mean seconds of count calls."""
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


def best(call, count: int, turns: int = 9) -> float:
    """Return the median over turns."""
    return statistics.median(timed(call, count) for _ in range(turns))


def calls() -> None:
    """Measure the overhead of a call."""
    X = np.random.RandomState(0).normal(size=(60, 4))
    learner = RCA().fit(X, np.arange(60) % 3)
    model, lib = learner.model_, _library.library()
    one, dim = np.ascontiguousarray(X[:1]), ctypes.c_int64()
    handle, runs_on, points = model._handle, _model.engine(None, None), as_points(one)
    out = np.empty((1, model.dim))
    of = _library.Matrix(type=1, rows=1, columns=model.dim, data=out.ctypes.data, row_stride=model.dim, column_stride=1)
    print(f"model_size through ctypes             {1e6 * best(lambda: lib.call('model_size', handle, ctypes.byref(dim), None), 20000):8.2f} us")
    raw = best(lambda: lib.call("embed", runs_on, handle, points.reference(), None, ctypes.byref(of)), 5000)
    print(f"embed of one row through ctypes       {1e6 * raw:8.2f} us")
    print(f"transform of one row, whole           {1e6 * best(lambda: learner.transform(one), 5000):8.2f} us")
    watched = best(lambda: _library.watched("embed", lambda control: (runs_on, handle, points.reference(), control, ctypes.byref(of))), 2000)
    print(f"embed of one row, watching signals    {1e6 * watched:8.2f} us")


def embeddings() -> None:
    """Compare embedding 100,000 x 64 points with Go."""
    random = np.random.RandomState(0)
    X, y = random.normal(size=(1000, 64)), np.arange(1000) % 10
    X += 2 * random.normal(size=(10, 64))[y]
    many = random.normal(size=(100_000, 64))
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "points.npy"), many)
        for learner in (KRCA().fit(X, y), RCA().fit(X, y)):
            learner.save(os.path.join(folder, "model.mlk"))
            learner.transform(many)
            ours, theirs = [], []
            for _ in range(TURNS):
                ours.append(min(timed(lambda: learner.transform(many)) for _ in range(3)))
                theirs.append(go_embeds(folder))
            a, b = statistics.median(ours), statistics.median(theirs)
            print(f"embed 100,000 x 64 with {learner._method:4}          Python {1e3 * a:7.1f} ms, Go {1e3 * b:7.1f} ms, ratio {a / b:.3f}")


def go_embeds(folder: str) -> float:
    """Return the minimum seconds of three for the same work in Go."""
    done = subprocess.run(
        [os.environ.get("GO", "go"), "test", "-run", "^$", "-bench", "^BenchmarkEmbed$", "-benchtime", "1x", "-count", "4", "../internal/abi"],
        capture_output=True, text=True, env={**os.environ, "MUSTLINK_FIGURES": folder}, check=True,
    )
    times = [float(ns) * 1e-9 for ns in re.findall(r"([\d.]+) ns/op", done.stdout)]
    return min(times[1:])


def resident() -> float:
    """Return the resident memory in MiB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(cycles: int = 10_000) -> None:
    """Create an engine, fit, and free both, many times."""
    X = np.random.RandomState(0).normal(size=(100, 8))
    points, lib = as_points(X), _library.library()
    links = mustlink.Links.from_groups(np.arange(100) % 4)
    known = links.reference()
    seen = []
    for k in range(cycles):
        engine, model = ctypes.c_size_t(), ctypes.c_size_t()
        lib.call("engine_new", _library.ABI, None, ctypes.byref(engine))
        lib.call("fit", engine, b"krca", None, points.reference(), known, None, ctypes.byref(model))
        lib.call("model_free", model)
        lib.call("engine_free", engine)
        if (k + 1) % (cycles // 10) == 0:
            seen.append(resident())
    print(f"resident after {cycles // 10}, {cycles // 2}, {cycles} cycles  {seen[0]:.1f}, {seen[4]:.1f}, {seen[-1]:.1f} MiB (all: {', '.join(f'{v:.1f}' for v in seen)})")


def threads() -> None:
    """Compare eight fits in sequence with eight fits in threads. Each has one worker."""
    X = np.random.RandomState(0).normal(size=(1500, 30))
    y = np.arange(1500) % 5

    def fit(_=None):
        KRCA(n_jobs=1).fit(X, y)

    fit()
    ratios = []
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(TURNS):
            one = timed(lambda: [fit() for _ in range(8)])
            ratios.append(one / timed(lambda: list(pool.map(fit, range(8)))))
    print(f"8 fits in 8 threads                   {statistics.median(ratios):.2f} times as fast as in one, {os.cpu_count()} processors (all: {', '.join(f'{r:.2f}' for r in ratios)})")


def blas() -> None:
    """Measure OpenBLAS's threads and a product of NumPy before and after fits."""
    counts = openblas_threads()
    A = np.random.RandomState(0).normal(size=(1000, 1000))
    alone = best(lambda: A @ A, 3)
    X, y = np.random.RandomState(0).normal(size=(800, 30)), np.arange(800) % 5
    for _ in range(3):
        KRCA().fit(X, y)
    print(f"threads of NumPy's BLAS               {counts} before, {openblas_threads()} after fits; a product {1e3 * alone:.1f} ms before, {1e3 * best(lambda: A @ A, 3):.1f} ms after")


def openblas_threads() -> dict[str, int]:
    """Return the number of threads of every OpenBLAS in the process."""
    out = {}
    with open("/proc/self/maps") as file:
        paths = {line.split()[-1] for line in file if "libopenblas" in line}
    for path in sorted(paths):
        try:
            out[os.path.basename(path)] = int(ctypes.CDLL(path).openblas_get_num_threads())
        except (OSError, AttributeError):
            pass
    return out


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"load before: {', '.join(f'{v:.2f}' for v in os.getloadavg())}; {mustlink.info()['backend_detail']}; NumPy {np.__version__}")
    for figure in (calls, embeddings, memory, threads, blas):
        figure()
    print(f"load after: {', '.join(f'{v:.2f}' for v in os.getloadavg())}")
