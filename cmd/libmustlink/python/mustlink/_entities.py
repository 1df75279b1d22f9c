"""Records of a data frame that are one entity."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from . import _library as lib
from ._columns import cells_of
from ._frames import frame_of, text_cells
from ._groups import _columns
from ._links import Links, as_seed
from ._matching import Matching, _text
from ._points import names_of, table_of
from ._sklearn import Notice, warn

if TYPE_CHECKING:
    import pandas


class FoundEntities(NamedTuple):
    """Entities of records, and what is doubtful about them.

    Attributes
    ----------
    frame : pandas.DataFrame of shape (n_records, 3)
        The columns record (the index of the record, or its row number), entity (a number), and
        probability: the mean of those of its pairs with the rest of its entity, from 0 to 1; for a
        record alone, 1 less the largest one of a pair that may join it.
    doubtful : ndarray of int64, shape (n_pairs, 2)
        Row numbers of the candidates about which the entities are wrong most likely, these first.
    probabilities : ndarray of shape (n_pairs,)
        Probabilities that the two records of these are one entity.
    report : dict
        entities, candidates, found (must-links that are candidates), pair_model (auc,
        auc_of_distance, must_links, cannot_links and share; None for the probabilities of a
        calibration), components, exact and barred.
    """

    frame: pandas.DataFrame
    doubtful: np.ndarray
    probabilities: np.ndarray
    report: dict[str, Any]


def entities(
    X: Any,
    links: Links | None = None,
    *,
    metric: Matching | None = None,
    block: Sequence[str] = (),
    compare: Sequence[str] = (),
    distinct: Any = (),
    n_neighbors: int | None = None,
    max_pairs: int | None = None,
    decided: Links | None = None,
    previous: Any = None,
    doubts: int = 100,
    seed: int = 1,
    n_jobs: int | None = None,
    memory_limit: int | None = None,
) -> FoundEntities:
    """Join the records of a data frame that are one person, or one entity of any kind.

    The result is that of ``mustlink entities``: candidates are pairs with equal keys or near each
    other, and a logistic regression on the similarities of texts, or a calibration, says how
    probable they are. Entities have the largest likelihood, and keep links and columns exactly.

    Parameters
    ----------
    X : data frame of shape (n_records, n_columns)
        Records.
    links : Links, default=None
        Pairs of rows from which probabilities are learned: random samples of the candidates that
        match and that do not, at least 10 of each; see :func:`entity_questions`. None only with the
        probabilities of a calibration: a calibrated metric without compare.
    metric : estimator or Model, default=None
        A fitted metric, in which records are compared too.
    block : sequence of str, default=()
        Keys that candidates share, each such as "zip,first-letter(name)", where both are equal: columns,
        or first-letter, first-three, digits, year or soundex of one. Needed without a metric.
    compare : sequence of str, default=()
        Columns whose similarity as texts the probability depends on. Needed without a metric.
    distinct : sequence of str, or dict of array-like, default=()
        Columns of which an entity has each value at most once, such as the source of a record.
    n_neighbors : int, default=None
        Candidates are also so many nearest records of each record, >= 1, in the metric.
    max_pairs : int, default=None
        More candidates are an error. None: 20 million.
    decided : Links, default=None
        More links to keep, from which no probability is learned, such as answers about doubtful
        pairs.
    previous : data frame, default=None
        The frame of an earlier result: records that were one entity stay one, with its number.
    doubts : int, default=100
        The largest number of doubtful pairs, >= 0.
    seed : int, default=1
        Seed of the parts of the links that are held out.
    n_jobs : int, default=None
        Number of workers without a metric. None or -1 means all processors.
    memory_limit : int, default=None
        Maximum number of bytes of one request without a metric. None means no limit.

    Returns
    -------
    found : FoundEntities
        A tuple with names: frame, doubtful, probabilities, report.

    Raises
    ------
    TypeError
        If X is no data frame.
    ValueError
        If a column is unknown, if links are missing, too few or contradict each other or columns, or
        if a parameter is out of its range.

    Examples
    --------
    >>> import pandas
    >>> from mustlink import Links, entities
    >>> X = pandas.DataFrame({"name": [f"{a}{b}{c}{d}" for a in "abcde" for b in "klm" for c in "opq" for d in ("", "x")]})
    >>> truth = [i // 2 for i in range(90)]
    >>> links = Links.from_labels(truth, must=30, cannot=900)
    >>> found = entities(X, links, block=["first-letter(name)"], compare=["name"])
    >>> list(found.frame.columns), len(set(found.frame["entity"]))
    (['record', 'entity', 'probability'], 45)
    """
    frame = _frame(X)
    label, probability = np.empty(len(frame), dtype=np.int64), np.empty(len(frame))
    asked: dict[str, Any] = {"blocks": _list(block), "compare": _list(compare), "neighbors": n_neighbors, "max_pairs": max_pairs, "doubts": doubts, "seed": as_seed(seed)}
    if decided is not None:
        asked["decided"] = np.column_stack([decided.pairs, decided.signs]).tolist()
    if previous is not None:
        earlier = dict(zip(cells_of(previous, "record").tolist(), cells_of(previous, "entity").tolist()))
        asked["previous"] = [int(earlier.get(record, -1)) for record in frame.index.tolist()]
        asked["next"] = int(max(earlier.values(), default=-1)) + 1
    info, rows, doubt = _found(frame, links, metric, distinct, asked, (n_jobs, memory_limit), label, probability)
    out = sys.modules["pandas"].DataFrame({"record": frame.index, "entity": label, "probability": probability})
    return FoundEntities(out, rows, doubt, info["entities"])


def entity_questions(
    X: Any,
    count: int,
    links: Links | None = None,
    *,
    metric: Matching | None = None,
    block: Sequence[str] = (),
    n_neighbors: int | None = None,
    max_pairs: int | None = None,
    seed: int = 1,
) -> np.ndarray:
    """Draw candidates of :func:`entities` at random, to ask people about.

    The result is that of ``mustlink entities --ask``. Their answers are links to learn from.

    Parameters
    ----------
    X : data frame of shape (n_records, n_columns)
        Records.
    count : int
        Number of pairs, >= 1; there are fewer if there are fewer candidates.
    links : Links, default=None
        What is known: pairs that follow from it are not drawn.
    metric, block, n_neighbors, max_pairs
        As for :func:`entities`.
    seed : int, default=1
        Seed of the random draw.

    Returns
    -------
    pairs : ndarray of int64, shape (n_pairs, 2)
        Row numbers.

    Raises
    ------
    TypeError
        If X is no data frame.
    ValueError
        If a column is unknown, or a parameter is out of its range.
    """
    if not count >= 1:
        raise ValueError(f"count is {count}: want a number >= 1")
    asked = {"blocks": _list(block), "neighbors": n_neighbors, "max_pairs": max_pairs, "ask": int(count), "seed": as_seed(seed)}
    return _found(_frame(X), links, metric, (), asked, (None, None), None, None)[1]


def _frame(X: Any) -> Any:
    frame = frame_of(X)
    if frame is None:
        raise TypeError(f"X is of type {type(X).__name__}: want a data frame")
    return frame


def _list(names: Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _found(frame: Any, links: Links | None, metric: Matching | None, distinct: Any, asked: dict[str, Any], limits: tuple, *out: Any) -> tuple:
    """Call the library, and return the information, the pairs and their probabilities."""
    from ._model import engine, new_handle

    library, names = lib.library(), names_of(frame) or []
    known = " ".join([*asked["blocks"], *asked.get("compare", ())])
    texts = [j for j, name in enumerate(names) if frame.dtypes.iloc[j].kind != "f" or name in known]
    table = table_of([text_cells(frame.iloc[:, j], names[j]) for j in texts], len(frame), [names[j] for j in texts]) if texts else None
    if not isinstance(distinct, dict):
        distinct = {name: cells_of(frame, name) for name in _list(distinct)}
    columns, kept = _columns(distinct, {}, len(frame))
    points, model = None, None
    if metric is not None:
        points, model = metric._given_points(frame), metric._learned()
    first = (
        engine(*limits) if model is None else model._engine, 0 if model is None else model._handle, _text(asked), None if points is None else points.reference(),
        None if table is None else table.reference(), None if links is None else links.reference(), columns, len(kept),
    )  # fmt: skip
    handle = new_handle("entities_find", first, "pairs_free", last=tuple(None if array is None else array.ctypes.data for array in out))
    try:
        info = library.json("pairs_info", handle)
        rows, probabilities = np.empty((info["pairs"], 2), dtype=np.int64), np.empty(info["pairs"])
        library.call("pairs_copy", handle, rows.ctypes.data, None, probabilities.ctypes.data)
    finally:
        library.code("pairs_free", handle)
    for notice in info["notices"]:
        warn(notice, Notice)
    return info, rows, probabilities
