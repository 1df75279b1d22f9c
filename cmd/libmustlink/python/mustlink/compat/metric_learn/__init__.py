"""The estimators of metric-learn 0.7 by name and arguments, computed by mustlink.

``import mustlink.compat.metric_learn as metric_learn`` is the only change of a program. Problems
are the same; the solvers are mustlink's. docs/metric-learn.md lists what differs. It needs
scikit-learn.
"""

from .constraints import Constraints
from .covariance import Covariance
from .itml import ITML, ITML_Supervised
from .lfda import LFDA
from .lmnn import LMNN
from .lsml import LSML, LSML_Supervised
from .mlkr import MLKR
from .mmc import MMC, MMC_Supervised
from .nca import NCA
from .rca import RCA, RCA_Supervised
from .scml import SCML, SCML_Supervised
from .sdml import SDML, SDML_Supervised

__version__ = "0.7.0"  # of metric-learn, whose interface this is

__all__ = [
    "Constraints",
    "Covariance",
    "ITML",
    "ITML_Supervised",
    "LFDA",
    "LMNN",
    "LSML",
    "LSML_Supervised",
    "MLKR",
    "MMC",
    "MMC_Supervised",
    "NCA",
    "RCA",
    "RCA_Supervised",
    "SCML",
    "SCML_Supervised",
    "SDML",
    "SDML_Supervised",
    "__version__",
]
