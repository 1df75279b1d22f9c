"""Pictures of metrics. They need matplotlib; the rest of the package does not.

The functions return a figure of matplotlib, which notebooks show and ``figure.savefig`` writes. With
``ax`` they draw into given axes. None of them uses pyplot, so that nothing else is drawn on or kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._links import Links, classes, numbered

# Twelve colors for any color vision, those of the command's pictures.
COLORS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
    "#8c564b", "#8a2be2", "#c71585", "#008df9", "#ffaabb", "#88ccee",
)  # fmt: skip

_SHAPES = "osD^vP*X"
_MUST, _CANNOT = "#0072b2", "#d55e00"


def embedding(Z: Any, y: Any = None, links: Links | None = None, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw points of an embedding, with links between them.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        Coordinates, such as the result of ``transform``. Of more than two columns the two principal
        directions are drawn.
    y : array-like of shape (n_samples,), default=None
        Labels, one color each. Shapes differ too from eight labels on.
    links : Links, default=None
        Pairs of rows: must-links are solid lines, cannot-links dashed ones.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into. If None, those of a new figure.
    title : str, default=None
        A title.

    Returns
    -------
    figure : matplotlib.figure.Figure
        The figure of the axes.
    """
    points = plane(Z)
    labels = np.zeros(len(points), dtype=np.int64) if y is None else numbered(y)
    if len(labels) != len(points):
        raise ValueError(f"y has {len(labels)} labels: want {len(points)}, one for each row of Z")
    if links is not None and links._last() >= len(points):
        raise ValueError(f"links have the row {links._last()}: want rows of Z, from 0 to {len(points) - 1}")
    ax = _axes(ax)
    if links is not None:
        _draw_links(ax, points, links)
    if (labels < 0).any():
        ax.scatter(*points[labels < 0].T, s=16, c="0.7", marker=".", label="no label", zorder=1)
    names: Any = [None] if y is None else classes(y)
    for k, name in enumerate(names):
        shape = _SHAPES[k // 12 % 8 if len(names) < 8 else k % 8]
        some = points[labels == k]
        ax.scatter(some[:, 0], some[:, 1], s=16, c=COLORS[k % 12], marker=shape, linewidths=0.3, edgecolors="white", label=None if name is None else str(name), zorder=2)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    if title is not None:
        ax.set_title(title)
    if (y is not None and len(names) <= 12) or (links is not None and len(links.pairs)):
        ax.legend(loc="best", fontsize="small", framealpha=0.8)
    return ax.figure


def distances(learner: Any, X: Any, links: Links, *, threshold: float | None = None, ax: Any = None, title: str | None = None) -> Any:
    """Draw how the distances of must-links and of cannot-links are distributed.

    Parameters
    ----------
    learner : MetricLearner or Model
        A learned metric.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Points.
    links : Links
        Pairs of rows of X.
    threshold : float, default=None
        A distance to mark, such as ``threshold_``.
    ax, title
        As in :func:`embedding`.

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    if not len(links.pairs):
        raise ValueError(f"links are {links!r}: want pairs of rows")
    apart = learner.distances(X, links.pairs)
    ax = _axes(ax)
    edges = np.linspace(0, apart.max() or 1, 41)
    for sign, name, color in ((1, "must-links", _MUST), (-1, "cannot-links", _CANNOT)):
        some = apart[links.signs == sign]
        if len(some):
            ax.hist(some, edges, weights=np.full(len(some), 1 / len(some)), color=color, alpha=0.6, label=f"{len(some)} {name}")
    if threshold is not None:
        ax.axvline(threshold, color="black", linestyle=":", label=f"threshold {threshold:.3g}")
    ax.set_xlabel("learned distance")
    ax.set_ylabel("share")
    if title is not None:
        ax.set_title(title)
    ax.legend(fontsize="small")
    return ax.figure


def verdict(of: Any, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw what held-out links say of a metric: its AUC beside that of the points without learning.

    Parameters
    ----------
    of : MetricLearner or dict
        A fitted estimator with ``hold_out``, or its ``verdict_``.
    ax, title
        As in :func:`embedding`. Without a title, the verdict in words.

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    judged = of if isinstance(of, dict) else getattr(of, "verdict_", None)
    if judged is None:
        raise ValueError(f"{type(of).__name__} has no verdict: want a fit with hold_out=1 or more")
    ax = _axes(ax)
    ax.set_title(judged["text"].replace(": ", ":\n", 1) if title is None else title, fontsize="medium", wrap=bool(judged.get("missing")))
    if judged.get("missing"):
        ax.set_axis_off()
        return ax.figure
    heights = [min(1.0, max(0.0, judged[k])) for k in ("raw", "auc")]
    ax.bar(["without learning", "learned"], heights, 0.55, color=["#999999", _MUST], yerr=[0, judged["error"]], capsize=5)
    for k, height in enumerate(heights):
        ax.annotate(f"{height:.3f}", (k, height), (18, 3), textcoords="offset points", ha="left")
    ax.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
    ax.set_ylim(0, 1.1)
    ax.set_ylabel("AUC on held-out links")
    ax.set_xlabel(f"{judged['must']} must-links and {judged['cannot']} cannot-links,\nfits: {judged['fits']}; 0.5 is chance")
    return ax.figure


def plane(Z: Any) -> np.ndarray:
    """Return two columns for coordinates: themselves, with zeros, or the two principal directions.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        Coordinates.
    """
    points = np.asarray(Z, dtype=np.float64)
    if points.ndim != 2 or not points.size:
        raise ValueError(f"Z has shape {points.shape}: want (n_samples, n_components)")
    if not np.isfinite(points).all():
        raise ValueError("Z has values that are not finite: want coordinates")
    if points.shape[1] == 1:
        return np.column_stack([points[:, 0], np.zeros(len(points))])
    if points.shape[1] == 2:
        return points
    centered = points - points.mean(axis=0)
    _, directions = np.linalg.eigh(centered.T @ centered)
    chosen = directions[:, [-1, -2]]
    chosen = chosen * np.sign(chosen[np.abs(chosen).argmax(axis=0), [0, 1]])  # one sign of the two
    return centered @ chosen


def _draw_links(ax: Any, points: np.ndarray, links: Links) -> None:
    from matplotlib.collections import LineCollection

    for sign, name, style, color in ((1, "must-link", "solid", _MUST), (-1, "cannot-link", "dashed", _CANNOT)):
        pairs = links.pairs[links.signs == sign]
        if len(pairs):
            ax.add_collection(LineCollection(list(points[pairs]), colors=color, linestyles=style, linewidths=0.7, alpha=0.6, label=f"{name}s: {len(pairs)}", zorder=1))


def _axes(ax: Any) -> Any:
    """Return the given axes, or those of a new figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("mustlink.plot needs matplotlib, which is not there: want pip install matplotlib, or on Debian apt-get install python3-matplotlib") from error
    return Figure(figsize=(5.5, 4.5), layout="constrained").subplots() if ax is None else ax


__all__ = ["COLORS", "distances", "embedding", "plane", "verdict"]
