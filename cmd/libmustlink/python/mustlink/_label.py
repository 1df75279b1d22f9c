"""Labeling on a page in the browser, by the command ``mustlink label``."""

from __future__ import annotations

import csv
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from ._frames import frame_of
from ._links import Links

# The exit codes of a session that a person or a signal has ended.
_ENDED = (0, 130)


def label(
    X: Any,
    show: Any = None,
    *,
    images: str | os.PathLike | None = None,
    text: str | None = None,
    output: str | os.PathLike | None = None,
    browser: bool = True,
    command: str | None = None,
) -> Links:
    """Ask on a page in the browser which rows belong together.

    The page shows two rows side by side and takes answers by keys. It runs until a person clicks
    "finish", or until Ctrl-C (in a notebook, an interrupt). It prints its address, and opens a
    browser, if there is one. It needs the command ``mustlink``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or data frame
        The points: they choose the questions, and metrics are learned from them meanwhile.
    show : data frame or dict of array-like, default=None
        What people see of each row, instead of X. Nothing is learned from it.
    images : str or path-like, default=None
        A folder with a picture for each row: 0.png, 1.png (.jpg, .gif, .webp, .bmp) and so on.
    text : str, default=None
        A column of show that is a text: different words are marked.
    output : str or path-like, default=None
        The .csv file of answers. If it exists, the session resumes. If None, answers are in a
        temporary file, whose path goes to standard error, and which is removed when they are
        returned.
    browser : bool, default=True
        Whether to open a browser.
    command : str, default=None
        The path of the command. If None, ``mustlink`` on the PATH.

    Returns
    -------
    links : Links
        The answers "same" as must-links, "different" as cannot-links.

    Raises
    ------
    FileNotFoundError
        If the command is missing.
    RuntimeError
        If the command fails. The message is its own, and names the file of answers, which stays.
    """
    runs = program(command)
    points = _columns(X, "X")
    shown = {} if show is None else _columns(show, "show")
    rows = {len(column) for column in (*points.values(), *shown.values())}
    if len(rows) != 1:
        raise ValueError(f"the columns of X and show have {sorted(rows)} rows: want the same number, and a column")
    if text is not None and text not in shown:
        raise ValueError(f"text is {text!r}: want a column of show")
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "rows.csv")
        names = _write(data, points, shown)
        kept = tempfile.mkdtemp(prefix="mustlink-label-") if output is None else None
        answers = os.path.join(kept or "", "links.csv") if output is None else os.fspath(output)
        line = [runs, "label", "-i", data, "-o", answers]
        for name in names.values():
            line += ["--show", _quoted(name), "--type", name + "=drop"]
        if text is not None:
            line += ["--text", names[text]]
        if images is not None:
            line += ["--images", os.path.abspath(images)]
        if not browser:
            line.append("--no-browser")
        try:
            _run(line, None if kept is None else f"mustlink: the answers are in {answers}")
            links = _read(answers, rows.pop())
        except RuntimeError as error:
            if not os.path.exists(answers):
                if kept is not None:
                    shutil.rmtree(kept)
                raise
            raise RuntimeError(f"{error}; the answers are in {answers}") from None
        if kept is not None:
            shutil.rmtree(kept)
        return links


def program(command: str | None) -> str:
    """Return the path of the command, which is on the PATH if none is given."""
    found = command or shutil.which("mustlink")
    if found is None:
        raise FileNotFoundError("the command mustlink is not on the PATH: want it there, or command=PATH")
    return found


def _columns(table: Any, what: str) -> dict[str, list]:
    """Return the columns of a table by their names."""
    frame = frame_of(table)
    if frame is not None:
        return {str(name): frame.iloc[:, j].tolist() for j, name in enumerate(frame.columns)}
    if isinstance(table, dict):
        return {str(name): list(column) for name, column in table.items()}
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(f"{what} has shape {array.shape}: want two dimensions, or a data frame")
    return {f"x{j}": array[:, j].tolist() for j in range(array.shape[1])}


def _write(path: str, points: dict[str, list], shown: dict[str, list]) -> dict[str, str]:
    """Write a table, and return the names of the shown columns in it."""
    header: list[str] = []
    names = {}
    for name in points:
        header.append(_free(name, header))
    for name in shown:
        names[name] = _free(name, header)
        header.append(names[name])
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(zip(*points.values(), *shown.values()))
    return names


def _free(name: str, taken: list[str]) -> str:
    """Return a name that is no other column's, and has no meaning for the command."""
    name = name.replace("=", " ").replace("*", " ").replace("?", " ").replace("[", " ").strip() or "column"
    while name in taken or name in ("label", "id"):
        name += "_"
    return name


def _quoted(name: str) -> str:
    """Return a name for a flag that takes a line of CSV."""
    return '"' + name.replace('"', '""') + '"'


def _run(line: list[str], note: str | None) -> None:
    """Run the command until the session ends, and print a note below the address of the page."""
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            for printed in process.stdout:
                print(printed, end="", flush=True)
                if note is not None:
                    print(note, file=sys.stderr, flush=True)
                    note = None
            process.wait()
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            return
        message = process.stderr.read().strip()
    if process.returncode not in _ENDED:
        raise RuntimeError(message.rpartition("\n")[2] or f"mustlink label ended with the code {process.returncode}")


def _read(path: str, n: int) -> Links:
    """Return the links of a file of answers."""
    if not os.path.exists(path):
        return Links(n_samples=n)
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(itertools.dropwhile(lambda line: line.startswith("#"), file)))
    pairs = np.array([(int(line["i"]), int(line["j"])) for line in lines], dtype=np.int64).reshape(-1, 2)
    signs = np.array([1 if line["link"] in ("must", "1", "+1") else -1 for line in lines], dtype=np.int64)
    return Links(pairs, signs, n_samples=n)
