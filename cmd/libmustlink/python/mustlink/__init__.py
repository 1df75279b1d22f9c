"""Metrics learned from pairwise constraints.

An estimator learns a kernel, and with it a distance, from a few must-links and cannot-links and
from many points without labels. ``distances`` and ``gram`` compute it for any points. ``transform`` maps
points to coordinates in which Euclidean distance is the learned distance, exactly or, for KRCA and for
GML and ITML with a kernel, the share ``embedded_share_`` of its square. The estimators follow the
scikit-learn interface, but scikit-learn is not required.

Examples
--------
>>> import numpy as np
>>> from mustlink import KRCA, Links
>>> angle = np.linspace(0, 40, 200)
>>> ring = np.arange(200) % 2
>>> X = (1 + ring)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
>>> links = Links.from_labels(ring, must=100, seed=1)
>>> KRCA(kernel="rbf:sigma=0.5msq").fit(X, links=links).score(X, ring) > 0.95
True
"""

from . import _estimators, plot  # noqa: F401
from ._base import MetricLearner
from ._entities import FoundEntities, entities, entity_questions
from ._estimators import *  # noqa: F403
from ._groups import ConstrainedAgglomerative, FoundGroups
from ._label import label
from ._library import Canceled, Report
from ._links import Links
from ._matching import FoundPairs
from ._model import Model, info, load, methods
from ._neighbors import NeighborIndex
from ._sklearn import ConvergenceWarning, Notice, NotFittedError
from ._version import __version__

__all__ = [
    *_estimators.__all__,
    "Canceled",
    "ConstrainedAgglomerative",
    "ConvergenceWarning",
    "FoundEntities",
    "FoundGroups",
    "FoundPairs",
    "Links",
    "MetricLearner",
    "Model",
    "NeighborIndex",
    "NotFittedError",
    "Notice",
    "Report",
    "__version__",
    "entities",
    "entity_questions",
    "info",
    "label",
    "load",
    "methods",
]
