"""Threads, signals, forks, and wrong libraries."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import mustlink
from mustlink import KRCA, NCA, RCA

from bench.figures import openblas_threads

from .data import blobs


def python(code: str, **environment: str) -> subprocess.CompletedProcess:
    """Run code in another interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


def long_problem() -> tuple[np.ndarray, np.ndarray]:
    """Start a fit of NCA that takes seconds."""
    random = np.random.RandomState(0)
    return random.normal(size=(3000, 20)), random.randint(5, size=3000)


class Endings(unittest.TestCase):
    def test_progress(self):
        X, y = long_problem()
        reports = []
        main = threading.get_ident()

        class Enough(Exception):
            pass

        def listen(report):
            reports.append((report, threading.get_ident()))
            if len(reports) == 3:
                raise Enough

        begin = time.monotonic()
        with self.assertRaises(Enough):
            NCA(tol=1e-12).fit(X, y, progress=listen)
        self.assertEqual(len(reports), 3)
        self.assertTrue(all(thread == main and report.stage and report.done >= 0 for report, thread in reports))
        self.assertLess(time.monotonic() - begin, 10)

    def test_interrupt(self):
        """Ctrl-C ends a fit with KeyboardInterrupt, and the library works afterwards."""
        X, y = long_problem()
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            NCA(tol=1e-12, max_iter=100000).fit(X, y)
        self.assertLess(time.monotonic() - begin, 10)
        X, y = blobs()
        RCA().fit(X, y).transform(X)

    def test_handlers_stay(self):
        """Loading the library does not change Python's signal handlers."""
        done = python(
            "import signal, os, mustlink; mustlink.info()\n"
            "got = []\n"
            "for s in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n"
            "    signal.signal(s, lambda n, f: got.append(n)); os.kill(os.getpid(), s)\n"
            "print(len(got))"
        )
        self.assertEqual(done.stdout.strip(), "4", done.stderr)

    def test_faulthandler(self):
        """A crash outside the library still ends the process with faulthandler's report."""
        done = python("import faulthandler, mustlink; mustlink.info(); faulthandler.enable(); import ctypes; ctypes.string_at(0)")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Segmentation fault", done.stderr)


class Threads(unittest.TestCase):
    def test_many(self):
        X, y = blobs(120)
        want = KRCA().fit(X, y).transform(X)

        def work(_):
            learner = KRCA().fit(X, y)
            try:
                learner.transform(X[:, :2])
            except ValueError as error:
                assert "2 features" in str(error)
            return np.array_equal(learner.transform(X), want)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(work, range(64))))

    def test_shared_model(self):
        X, y = blobs(120)
        learner = KRCA().fit(X, y)
        want = learner.transform(X)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(np.array_equal(got, want) for got in pool.map(lambda _: learner.transform(X), range(64))))


@unittest.skipUnless(hasattr(os, "fork"), "there is no fork here")
class Forks(unittest.TestCase):
    def test_child_is_refused(self):
        X, y = blobs()
        learner = RCA().fit(X, y)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                for call in (lambda: learner.transform(X), lambda: RCA().fit(X, y), mustlink.info):
                    try:
                        call()
                        os.write(writing, b"no error;")
                    except RuntimeError as error:
                        os.write(writing, b"fork;" if "fork" in str(error) else b"other;")
                del learner
            finally:
                os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        self.assertEqual(os.read(reading, 1000), b"fork;fork;fork;")
        os.close(reading)
        learner.transform(X)  # the parent still works

    def test_child_alone(self):
        """When a process forks before it uses the library, every child can use it."""
        done = python(
            "import os, numpy as np, mustlink\n"
            "X = np.random.RandomState(0).normal(size=(30, 3)); y = np.arange(30) % 2\n"
            "for _ in range(2):\n"
            "    pid = os.fork()\n"
            "    if not pid:\n"
            "        os._exit(mustlink.RCA().fit(X, y).transform(X).shape[0])\n"
            "    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
        )
        self.assertEqual(done.stdout.split(), ["30", "30"], done.stderr)

    def test_spawn(self):
        X, y = blobs()
        learner = RCA().fit(X, y)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            np.testing.assert_array_equal(pool.apply(learner.transform, (X,)), learner.transform(X))


class Libraries(unittest.TestCase):
    def test_missing(self):
        done = python("import mustlink; mustlink.info()", MUSTLINK_LIBRARY="/nowhere/libmustlink.so")
        self.assertIn("RuntimeError: the library /nowhere/libmustlink.so cannot be loaded", done.stderr)

    def test_other_library(self):
        done = python("import mustlink; mustlink.info()", MUSTLINK_LIBRARY="libc.so.6")
        self.assertIn("RuntimeError", done.stderr)

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_other_version(self):
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "a.c"), os.path.join(folder, "liba.so")
            with open(source, "w") as file:
                file.write("int mustlink_abi_version(void) { return 7; }\n")
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
            done = python("import mustlink; mustlink.info()", MUSTLINK_LIBRARY=library)
        self.assertRegex(done.stderr, "RuntimeError: .* has version 7 of the interface: want version 1")

    def test_without_sklearn(self):
        done = python(
            "import sys; sys.modules['sklearn'] = sys.modules['sklearn.base'] = None\n"
            "import numpy as np, pickle, mustlink\n"
            "X = np.random.RandomState(0).normal(size=(40, 3)); y = np.arange(40) % 2; X[:, 0] += 5 * y\n"
            "learner = mustlink.KRCA(dims=2); print(learner)\n"
            "Z = learner.fit_transform(X, y)\n"
            "assert (pickle.loads(pickle.dumps(learner)).transform(X) == Z).all()\n"
            "assert learner.get_params()['dims'] == 2 and learner.set_params(dims=1).fit(X, y).transform(X).shape == (40, 1)\n"
            "try: mustlink.RCA().transform(X)\n"
            "except mustlink.NotFittedError as error: print(type(error).__module__)\n"
        )
        self.assertEqual(done.stdout.splitlines(), ["KRCA(dims=2)", "mustlink._sklearn"], done.stderr)


class BLAS(unittest.TestCase):
    def test_with_numpy(self):
        """Products of NumPy in one thread do not change the results of fits in another, and fits do
        not change the number of OpenBLAS threads: on Debian, the netlib build of the library and
        NumPy share one OpenBLAS.
        """
        random = np.random.RandomState(0)
        A = random.normal(size=(400, 400))
        X, y = blobs(400, 20)
        want, product = KRCA().fit(X, y).transform(X), A @ A

        def numpy_work(_):
            return np.allclose(A @ A, product, atol=1e-9) and np.isfinite(np.linalg.eigvalsh(A + A.T)).all()

        def fit_work(_):
            return np.array_equal(KRCA().fit(X, y).transform(X), want)

        threads = openblas_threads()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            first, second = pool.map(numpy_work, range(10)), pool.map(fit_work, range(10))
            self.assertTrue(all(first) and all(second))
        self.assertEqual(openblas_threads(), threads)


if __name__ == "__main__":
    unittest.main()
