"""What is done with a learned distance: classes of new rows, pairs that belong together, questions, a report."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from . import _library as lib
from ._frames import frame_of
from ._label import program
from ._links import Links, as_seed, flat, numbered
from ._points import Points
from ._sklearn import Notice, warn

if TYPE_CHECKING:
    from ._groups import FoundGroups
    from ._model import Model


class FoundPairs(NamedTuple):
    """Pairs of rows that belong together, the nearest first.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_pairs, 2)
        Row numbers, the smaller one first.
    distances : ndarray of shape (n_pairs,)
        Learned distances.
    probabilities : ndarray of shape (n_pairs,) or None
        Probability that the rows belong together, from 0 to 1. None without a calibration.
    threshold : float
        The largest distance of a pair.
    calibrated : dict or None
        What the links of the calibration show up to the threshold: distance, must, cannot, and
        precision and recall, each with value, low and high. None without a calibration.
    """

    rows: np.ndarray
    distances: np.ndarray
    probabilities: np.ndarray | None
    threshold: float
    calibrated: dict[str, Any] | None


class Matching:
    """Methods on a learned distance. A base class of :class:`MetricLearner` and :class:`Model`."""

    if TYPE_CHECKING:
        _given_points: Callable[[Any], Points]
        _learned: Callable[[], Model]

    def classify(self, X: Any, y: Any, X_new: Any, *, n_neighbors: int = 4, unlabeled: Any = None) -> np.ndarray:
        """Give new rows the most frequent label among their nearest labeled rows.

        Of equally frequent labels it is that of the nearest row. The result is that of ``mustlink
        classify``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points with labels.
        y : array-like of shape (n_samples,)
            Their labels. Rows with None, NaN, NA or NaT do not vote.
        X_new : array-like, data frame or sparse matrix of shape (n_new, n_features)
            Points to classify.
        n_neighbors : int, default=4
            Number of nearest rows that vote, from 1 to the number of rows with a label.
        unlabeled : object, default=None
            One more value of y for rows that do not vote.

        Returns
        -------
        labels : ndarray of shape (n_new,)
            Labels, of the type of y.

        Raises
        ------
        ValueError
            If y has another length than X or no label, or n_neighbors is out of its range.
        """
        model, known, fresh = self._learned(), self._given_points(X), self._given_points(X_new)
        codes, texts = numbered(y, unlabeled), flat(y)
        if len(codes) != known.rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {known.rows}, y has {len(codes)}")
        out = np.empty(fresh.rows, dtype=np.int64)
        voting = np.flatnonzero(codes >= 0)
        _, first = np.unique(codes[voting], return_index=True)

        def arguments(control: Any) -> tuple:
            return model._engine, model._handle, known.reference(), codes.ctypes.data, fresh.reference(), n_neighbors, control, out.ctypes.data

        with fresh:
            model._run("classify", known.rows, arguments)
        return texts[voting[first]][out]

    def pairs(
        self,
        X: Any,
        *,
        threshold: float | None = None,
        precision: float | None = None,
        recall: float | None = None,
        share: float | None = None,
        n_neighbors: int | None = None,
        max_pairs: int | None = None,
    ) -> FoundPairs:
        """Find all pairs of rows whose learned distance is at most a threshold, such as duplicates.

        The result is that of ``mustlink pairs``. The search is exact, and fast if few rows are near
        each other. One of threshold, precision and recall is needed.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points.
        threshold : float, default=None
            The largest distance of a pair, >= 0, not squared.
        precision : float, default=None
            The threshold is the largest at which the lower bound of the precision is this, above 0
            to 1, by the calibration.
        recall : float, default=None
            The threshold is the smallest with this recall, above 0 to 1, by the calibration.
        share : float, default=None
            The share of matching pairs among those to judge, above 0 and below 1. None: that of the
            calibration.
        n_neighbors : int, default=None
            Only pairs with a row among so many nearest ones of the other. None: all pairs.
        max_pairs : int, default=None
            More pairs are an error. None: 20 million.

        Returns
        -------
        found : FoundPairs
            A tuple with names: rows, distances, probabilities, threshold, calibrated.

        Raises
        ------
        ValueError
            If a precision is not supported by the links of the calibration or contradicts the number
            of pairs, if the model is not calibrated but has to be, or if there are too many pairs.
        """
        asked = {"threshold": threshold, "precision": precision, "recall": recall, "share": share, "neighbors": n_neighbors, "max_pairs": max_pairs}
        info, rows, distances, probabilities = self._found("pairs_find", asked, X)
        calibrated = info["calibrated"]
        return FoundPairs(rows, distances, None if calibrated is None else probabilities, info["threshold"], calibrated)

    def suggest(self, X: Any, links: Links | None = None, *, count: int = 10, classes: int | None = None, near: float | None = None, seed: int = 1) -> np.ndarray:
        """Choose the most informative pairs of rows for a person to label next.

        The result is that of ``mustlink suggest``. Pairs that follow from links are never chosen. Few
        may be asked at once: then there are less than count, with a :class:`mustlink.Notice`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points.
        links : Links, default=None
            What is known. They must not contradict each other.
        count : int, default=10
            Number of pairs, >= 1.
        classes : int, default=None
            Number of classes, >= 2, if it is known.
        near : float, default=None
            Draw the pairs at random from those up to this distance, > 0: answers to them are links
            for :meth:`calibrate` with ``near=True``.
        seed : int, default=1
            Seed of the random choices.

        Returns
        -------
        pairs : ndarray of int64, shape (n_pairs, 2)
            Row numbers.

        Raises
        ------
        ValueError
            If links contradict each other, or a parameter is out of its range.
        """
        asked = {"count": count, "classes": classes, "near": near, "seed": as_seed(seed)}
        return self._found("pairs_suggest", asked, X, links)[1]

    def groups(
        self,
        X: Any,
        links: Links | None = None,
        *,
        threshold: float | None = None,
        precision: float | None = None,
        n_clusters: int | None = None,
        linkage: str | None = None,
        min_cluster_size: int | None = None,
        n_neighbors: int | None = None,
        recall: float | None = None,
        distinct: Any = None,
        distinct_within: Any = None,
    ) -> FoundGroups:
        """Merge the nearest rows into groups, such as the records of one customer.

        The result is that of ``mustlink cluster`` without -n. Without threshold, precision and
        n_clusters, groups merge up to the distance at which, by the calibration, two rows belong
        together with a probability of 1/2. Links and columns are kept exactly.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Points.
        links : Links, default=None
            Constraints between rows of X.
        threshold : float, default=None
            The largest learned distance of groups that merge, > 0.
        precision : float, default=None
            The threshold is the largest with this precision, above 0 to 1, by the calibration.
        n_clusters, linkage, min_cluster_size, n_neighbors, recall, distinct, distinct_within
            As for :class:`mustlink.ConstrainedAgglomerative`.

        Returns
        -------
        found : FoundGroups
            A tuple with names: labels, children, distances, forbidden.

        Raises
        ------
        ValueError
            If links or columns contradict each other, if a parameter is out of its range, or if there
            is no threshold and no calibration.
        """
        from ._groups import find_groups

        model = self._learned()
        asked = {
            "linkage": linkage, "threshold": threshold, "precision": precision, "count": n_clusters, "min_size": min_cluster_size,
            "neighbors": n_neighbors, "recall": recall,
        }
        return find_groups(model._engine, model._handle, self._given_points(X), links, distinct, distinct_within, asked)

    def report(
        self,
        X: Any,
        path: str | os.PathLike,
        y: Any = None,
        *,
        links: Links | None = None,
        held_out: Links | None = None,
        title: str | None = None,
        command: str | None = None,
    ) -> None:
        """Write one HTML page about data, links and the metric, as ``mustlink report`` does.

        It needs the command ``mustlink``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Points.
        path : str or path-like
            The file to write, .html.
        y : array-like of shape (n_samples,), default=None
            Labels, by which points are colored and clusters are judged.
        links : Links, default=None
            Pairs that are drawn, and listed where the metric violates them.
        held_out : Links, default=None
            Pairs that no fit used, for scores.
        title : str, default=None
            Title of the page. None: the name of the data.
        command : str, default=None
            The path of the command. If None, ``mustlink`` on the PATH.

        Raises
        ------
        FileNotFoundError
            If the command is missing.
        RuntimeError
            If the command fails. The message is its own.
        """
        line, model, frame = [program(command), "report"], self._learned(), frame_of(X)
        with tempfile.TemporaryDirectory() as folder:

            def file(name: str, flag: str = "") -> str:
                at = os.path.join(folder, name)
                line.extend([flag, at] if flag else [at])
                return at

            model.save(file("model.mlk"))
            if frame is None:
                np.save(file("data.npy", "-i"), np.asarray(X, dtype=np.float64))
            else:
                frame.to_csv(file("data.csv", "-i"), index=False)
            if y is not None:
                np.savetxt(file("labels.csv", "--labels"), flat(y), "%s", header="label", comments="", encoding="utf-8")
            for of, flag in ((links, "-c"), (held_out, "--held-out")):
                if of is not None:
                    known = of if len(of.pairs) else of.closure()
                    rows = np.column_stack([known.pairs, known.signs])
                    np.savetxt(file(flag.strip("-") + ".csv", flag), rows, "%d", ",", header="i,j,link", comments="")
            if title is not None:
                line += ["--title", title]
            done = subprocess.run([*line, "-q", "-o", os.path.abspath(path)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().rpartition("\n")[2])

    @property
    def calibration_(self) -> dict[str, Any] | None:
        """The calibration: must_links, cannot_links, share, near and thresholds; None without one."""
        return self._learned().info()["calibration"]

    def _calibrated(self, points: Points, links: Links | None, share: float | None, near: bool) -> Model:
        model = self._learned()
        known = None if links is None else links.reference()
        with points:
            return model._new("calibrate", _text({"share": share, "near": bool(near)}), points.reference(), known)

    def _found(self, name: str, asked: dict[str, Any], X: Any, links: Any = ()) -> tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray]:
        """Call a function that finds pairs; links are an argument unless they are an empty tuple."""
        from ._model import new_handle

        model, points, library = self._learned(), self._given_points(X), lib.library()
        known = () if links == () else (None if links is None else links.reference(),)
        with points:
            handle = new_handle(name, (model._engine, model._handle, _text(asked), points.reference(), *known), "pairs_free")
        try:
            info = library.json("pairs_info", handle)
            rows, distances, probabilities = np.empty((info["pairs"], 2), dtype=np.int64), np.empty(info["pairs"]), np.empty(info["pairs"])
            library.call("pairs_copy", handle, *(ctypes.c_void_p(array.ctypes.data) for array in (rows, distances, probabilities)))
        finally:
            library.code("pairs_free", handle)
        for notice in info["notices"]:
            warn(points.said(notice), Notice)
        return info, rows, distances, probabilities


def _text(options: dict[str, Any]) -> bytes:
    """Return options for the library, without those that are None."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
    return json.dumps({name: value for name, value in plain.items() if value is not None}).encode()
