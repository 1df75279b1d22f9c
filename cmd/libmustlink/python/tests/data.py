"""Points and links for tests."""

from __future__ import annotations

import numpy as np


def blobs(n: int = 60, d: int = 4, classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n points around one center for each class. The values are exact in single precision."""
    random = np.random.RandomState(seed)
    y = np.arange(n) % classes
    X = random.normal(size=(n, d)) + 4 * random.normal(size=(classes, d))[y]
    return X.astype(np.float32).astype(np.float64), y


def rings(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Two rings, one around the other."""
    angle, y = np.linspace(0, 40, n), np.arange(n) % 2
    return (1 + y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y
