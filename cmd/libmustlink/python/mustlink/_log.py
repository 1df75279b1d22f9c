"""Lines about the progress of a fit."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

from ._library import Report

# Seconds between two lines of one stage.
_PAUSE = 1.0


class Log:
    """A progress function that writes to stderr: a line for each stage, and one a second.

    Parameters
    ----------
    name : str
        The method, with which lines begin.
    progress : callable, default=None
        Another progress function, which is called too.
    """

    def __init__(self, name: str, progress: Callable[[Report], Any] | None = None):
        self._name, self._progress = name, progress
        self._begin = time.monotonic()
        self._stage: str | None = None
        self._written = 0.0

    def __call__(self, news: Report) -> None:
        now = time.monotonic()
        if news.stage != self._stage or now - self._written >= _PAUSE:
            self._stage, self._written = news.stage, now
            self._write(line(news))
        if self._progress is not None:
            self._progress(news)

    def end(self, iterations: int) -> None:
        """Write the last line."""
        self._write(f"fitted in {time.monotonic() - self._begin:.2f} s, iterations {iterations}")

    def _write(self, text: str) -> None:
        print(f"[{self._name}] {text}", file=sys.stderr, flush=True)


def line(news: Report) -> str:
    """Return a report in words, without the values that the method does not have."""
    parts = [news.stage]
    if news.total:
        parts.append(f"{news.done} of {news.total}")
    elif news.done:
        parts.append(f"step {news.done}")
    if news.objective:
        parts.append(f"objective {news.objective:.6g}")
    if news.residual:
        parts.append(f"residual {news.residual:.3g}")
    return ", ".join([*parts, f"{news.seconds:.1f} s"])


__all__ = ["Log", "line"]
