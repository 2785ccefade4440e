"""What the paper prints: its tables 1 to 3, and the names under which we compare with them."""

from __future__ import annotations

from typing import NamedTuple

TREES, SVM = "LambdaMART-MAUC", "SVM by class"
BINARY_TREES, BINARY_SVM = "LambdaMART-AUC", "AUC SVM"
SHORT = {TREES: "LambdaMART", SVM: "SVM"}
RATES = (0.1, 0.25, 0.5, 0.9)
CS = (0.1, 1.0, 10.0, 100.0)
CUTOFFS = tuple(range(1, 11))


class Printed(NamedTuple):
    """MAUC (table 1) and MAP (table 2) on one set, LambdaMART-MAUC and SVM-Perf."""

    trees_mauc: float
    svm_mauc: float
    trees_map: float
    svm_map: float


TABLES_1_AND_2 = {
    "Yahoo V1": Printed(0.594, 0.576, 0.862, 0.837),
    "Yahoo V2": Printed(0.592, 0.576, 0.858, 0.837),
    "mq2007": Printed(0.662, 0.659, 0.466, 0.450),
    "mq2008": Printed(0.734, 0.737, 0.474, 0.458),
}

# Class-reference AUC of classes 1 to 4 on Yahoo V1, LambdaMART-MAUC and SVM-Perf; 48% of the
# relevant documents have label 1, 2.5% label 4.
TABLE_3 = {1: (0.503, 0.474), 2: (0.690, 0.682), 3: (0.757, 0.796), 4: (0.831, 0.920)}
HOURS_OF_FIVE_FOLDS, HOURS_OF_SVM = 5.0, 12.0
MSLR_QUERIES = 6000  # of a training part of MSLR-WEB10K
