"""A plugin of pytest by which metric-learn's own tests test mustlink.compat.metric_learn.

It makes the modules of that package those of ``metric_learn``, adds the module ``sklearn_shims`` of
names of scikit-learn, which only tests use, and names of private functions that test modules import
at their top; these raise NotImplementedError.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types

from sklearn.metrics import get_scorer
from sklearn.utils import _testing
from sklearn.utils.estimator_checks import _is_public_parameter

MODULES = "_util base_metric constraints covariance exceptions itml lfda lmnn lsml mlkr mmc nca rca scml sdml".split()
PRIVATE = {"lmnn": ["_sum_outer_products"]}


def _private(name: str):
    def missing(*_: object, **__: object) -> None:
        raise NotImplementedError(f"{name} is private to metric-learn")

    return missing


def _shims() -> types.ModuleType:
    module = types.ModuleType("metric_learn.sklearn_shims")
    for name in ("set_random_state", "ignore_warnings", "assert_allclose_dense_sparse", "_get_args"):
        setattr(module, name, getattr(_testing, name))
    module.is_public_parameter, module.get_scorer, module.SKLEARN_AT_LEAST_0_22 = _is_public_parameter, get_scorer, True
    return module


def _install() -> None:
    package = importlib.import_module("mustlink.compat.metric_learn")
    sys.modules["metric_learn"] = package
    for name in MODULES:
        module = importlib.import_module(f"mustlink.compat.metric_learn.{name}")
        for function in PRIVATE.get(name, ()):
            setattr(module, function, _private(function))
        sys.modules[f"metric_learn.{name}"] = module
    sys.modules["metric_learn.sklearn_shims"] = _shims()


_install()


class _Outcomes:
    """Writes what became of each test to the file that METRIC_LEARN_OUTCOMES names."""

    def __init__(self, path: str):
        self._path, self._of = path, {}

    def pytest_runtest_logreport(self, report) -> None:
        """Note a report: the outcome of the call, or that of the setup if there was no call."""
        if report.when == "call" or report.outcome != "passed":
            self._of[report.nodeid] = report.outcome

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        with open(self._path, "w") as file:
            json.dump(self._of, file)


def pytest_configure(config) -> None:
    """Add the recorder if a file is named."""
    path = os.environ.get("METRIC_LEARN_OUTCOMES")
    if path:
        config.pluginmanager.register(_Outcomes(path))
