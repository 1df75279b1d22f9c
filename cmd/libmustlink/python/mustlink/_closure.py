"""The links that others imply: must-links join, and what is joined shares its cannot-links."""

from __future__ import annotations

from collections import deque
from itertools import combinations
from typing import TYPE_CHECKING, Iterator

import numpy as np

if TYPE_CHECKING:
    from ._links import Links


def closure(links: Links, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs, in order, and the signs of all links that follow from some.

    Raises
    ------
    ValueError
        If a cannot-link is between two rows that must-links join.
    MemoryError
        If there are more than limit links.
    """
    together, apart = edges(links)
    near = neighbors(together)
    block = blocks(near)
    for i, j in apart:
        if i == j or (i in block and block[i] is block.get(j)):
            raise ValueError(f"rows {i} and {j} have a cannot-link, but must-links join them: {' - '.join(map(str, path(near, i, j)))}: want links without contradictions")
    separate = {}
    for i, j in apart:
        first, second = block.get(i, [i]), block.get(j, [j])
        separate[min(first[0], second[0]), max(first[0], second[0])] = first, second
    whole = {id(rows): rows for rows in block.values()}.values()
    count = sum(len(rows) * (len(rows) - 1) // 2 for rows in whole) + sum(len(a) * len(b) for a, b in separate.values())
    if count > limit:
        raise MemoryError(f"the closure has {count} links: want at most {limit}, as limit says")
    must = [np.column_stack([np.array(rows)[k] for k in np.triu_indices(len(rows), 1)]) for rows in whole]
    cannot = [np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1).reshape(-1, 2) for a, b in separate.values()]
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *must, *cannot])
    signs = np.repeat(np.array([1, -1], dtype=np.int8), [sum(map(len, must)), sum(map(len, cannot))])
    pairs.sort(axis=1)
    order = np.lexsort(pairs.T[::-1])
    return pairs[order], signs[order]


def edges(links: Links) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return must-links and cannot-links from which all others follow."""
    together = [(i, j) for i, j in links.pairs[links.signs > 0].tolist()]
    apart = [(i, j) for i, j in links.pairs[links.signs < 0].tolist()]
    for numbers in (links.groups, links.labels):
        if numbers is None:
            continue
        classes = [np.flatnonzero(numbers == k).tolist() for k in np.unique(numbers[numbers >= 0])]
        for rows in classes:
            together += zip(rows, rows[1:])
        if numbers is links.labels:
            apart += combinations([rows[0] for rows in classes], 2)
    return together, apart


def neighbors(pairs: list[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the rows that have a must-link with a row."""
    near: dict[int, list[int]] = {}
    for i, j in pairs:
        near.setdefault(i, []).append(j)
        near.setdefault(j, []).append(i)
    return near


def blocks(near: dict[int, list[int]]) -> dict[int, list[int]]:
    """Return the rows that must-links join to a row, in order; the same list for all of them."""
    block: dict[int, list[int]] = {}
    for row in near:
        if row not in block:
            joined = sorted(before for before in _walk(near, row))
            block.update(dict.fromkeys(joined, joined))
    return block


def path(near: dict[int, list[int]], i: int, j: int) -> list[int]:
    """Return a shortest path of must-links from row i to row j."""
    before = _walk(near, i)
    rows = [j]
    while rows[-1] != i:
        rows.append(before[rows[-1]])
    return rows[::-1]


def _walk(near: dict[int, list[int]], start: int) -> dict[int, int]:
    """Return the rows that must-links join to one, each with the row before it on a shortest path."""
    before, waiting = {start: start}, deque([start])
    while waiting:
        row = waiting.popleft()
        for other in near.get(row, ()):
            if other not in before:
                before[other] = row
                waiting.append(other)
    return before


def places(of: np.ndarray, among: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the numbers of given pairs, the last first, and their places among ordered pairs."""
    at = {pair: k for k, pair in enumerate(map(tuple, among.tolist()))}
    for k in reversed(range(len(of))):
        yield k, at[tuple(sorted(of[k].tolist()))]
