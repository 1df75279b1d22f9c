"""Labeling: the page of the command, answered by requests."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import tempfile
import threading
import time
import unittest
import urllib.request

import mustlink
from mustlink._label import _free

from .data import blobs

COMMAND = os.environ.get("MUSTLINK_COMMAND")


class Page:
    """A call of label in a thread, and its page."""

    @classmethod
    def of(cls, run):
        page = cls.__new__(cls)
        page._start(run)
        return page

    def __init__(self, *args, **options):
        self._start(lambda: self._run(args, options))

    def _start(self, run):
        self.printed, self.links = io.StringIO(), None
        self.thread = threading.Thread(target=run, daemon=True)
        self.redirected = contextlib.redirect_stdout(self.printed)
        self.redirected.__enter__()
        self.thread.start()
        for _ in range(3000):
            self.address = self.printed.getvalue().strip()
            if self.address:
                return
            time.sleep(0.01)
        raise RuntimeError("no address")

    def _run(self, args, options):
        self.links = mustlink.label(*args, browser=False, command=COMMAND, **options)

    def send(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"})) as reply:
            return json.load(reply)

    def end(self):
        self.send("finish", {})
        self.thread.join(60)
        self.redirected.__exit__(None, None, None)
        return self.links


@unittest.skipUnless(COMMAND, "MUSTLINK_COMMAND does not name the command")
class Label(unittest.TestCase):
    def test_answers(self):
        X, y = blobs()
        for show in (None, {"label": [f"name {i}" for i in range(len(X))], "a,b=c": y, "x0": y}):
            page = Page(X, show)
            state, want = page.send("state"), []
            for _ in range(10):
                i, j = (state["question"][side]["row"] for side in "ab")
                same = bool(y[i] == y[j])
                want.append((i, j, 1 if same else -1))
                state = page.send("answer", {"i": i, "j": j, "answer": "must" if same else "cannot"})
            cells = [c["name"] for c in state["question"]["columns"]]
            self.assertEqual(cells, ["x0", "x1", "x2", "x3"] if show is None else ["label_", "a,b c", "x0_"])
            links = page.end()
            self.assertEqual([(*sorted(p), s) for p, s in zip(links.pairs.tolist(), links.signs)], [(min(i, j), max(i, j), s) for i, j, s in want])
            self.assertEqual(links.n_samples, len(X))

    def test_killed(self):
        X, _ = blobs()
        with tempfile.TemporaryDirectory() as folder:
            command, number = os.path.join(folder, "mustlink"), os.path.join(folder, "number")
            with open(command, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\necho $$ > '{number}'\nexec '{COMMAND}' \"$@\"\n")
            os.chmod(command, 0o755)
            noted, failed = io.StringIO(), []

            def run():
                try:
                    mustlink.label(X, browser=False, command=command)
                except RuntimeError as error:
                    failed.append(str(error))

            with contextlib.redirect_stderr(noted):
                page = Page.of(run)
                page.send("answer", {"i": 0, "j": 1, "answer": "cannot"})
                with open(number, encoding="utf-8") as file:
                    os.kill(int(file.read()), signal.SIGKILL)
                page.thread.join(60)
                page.redirected.__exit__(None, None, None)
            path = noted.getvalue().strip().rpartition(" ")[2]
            with open(path, encoding="utf-8") as file:
                self.assertIn("\n0,1,cannot,", file.read())
            self.assertIn(path, failed[0])
            shutil.rmtree(os.path.dirname(path))

    def test_resumes(self):
        X, _ = blobs()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "links.csv")
            for k in range(2):
                page = Page(X, output=path)
                page.send("answer", {"i": 0, "j": k + 1, "answer": "cannot"})
                self.assertEqual(len(page.end().pairs), k + 1)

    def test_mistakes(self):
        X, _ = blobs()
        for call, kind, words in (
            (lambda: mustlink.label(X, {"a": [1]}, command=COMMAND), ValueError, "same number"),
            (lambda: mustlink.label(X[0], command=COMMAND), ValueError, "two dimensions"),
            (lambda: mustlink.label(X, {"a": X[:, 0]}, text="b", command=COMMAND), ValueError, "column of show"),
            (lambda: mustlink.label(X, output="links.txt", command=COMMAND), RuntimeError, "want a .csv file"),
            (lambda: mustlink.label(X, command="/nowhere/mustlink"), FileNotFoundError, "nowhere"),
        ):
            with self.assertRaises(kind) as raised:
                call()
            self.assertIn(words, str(raised.exception))


class Names(unittest.TestCase):
    def test_free(self):
        self.assertEqual([_free(name, ["a", "a_"]) for name in ("b", "a", "id", "x=y", "")], ["b", "a__", "id_", "x y", "column"])

