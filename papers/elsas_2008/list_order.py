"""The committee perceptron that takes the paper's tables literally."""

import numpy as np
from numpy.typing import NDArray

from lambdaplus.baselines import CommitteePerceptron


class ListOrder(CommitteePerceptron):
    """Pairs query by query: each higher document, by ascending label, with the lower ones."""

    def _order(self, n_pairs: int, random: np.random.RandomState) -> NDArray[np.int64]:
        return np.arange(n_pairs)
