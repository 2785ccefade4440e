"""Labels and weights that an objective or a metric carries for the rows of one data set."""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import sha256
from typing import Any
from weakref import WeakSet

from lambdaplus.compute.array_types import Floats
from lambdaplus.lists.queries import Queries


class OwnRows:
    """Labels or weights of each row of one data set, which are used in place of its own.

    The data set is the first one that they are used for.  Those of another one of the same size,
    such as a fold, would get labels of other rows, so a ValueError is raised for them.
    """

    def __init__(self, labels: Floats | None = None, weights: Floats | None = None) -> None:
        self.labels, self.weights = labels, weights
        self._rows = b""  # a digest of the labels and queries of the data set
        self._trainings: WeakSet[Any] = WeakSet()  # in which they were used

    def of(self, queries: Queries, what: str, training: Hashable = None) -> Queries:
        """The rows with these labels and weights, which ``what`` carries.

        In a training, if it is given, data sets with equal labels are different ones.
        """
        return queries.once(self, lambda: self._checked(queries, what, training))

    def _checked(self, queries: Queries, what: str, training: Hashable) -> Queries:
        own = queries
        for name, values in (("labels", self.labels), ("weights", self.weights)):
            own = own if values is None else own.with_own(name, values, what)
        rows = sha256(queries.labels.tobytes() + queries.boundaries.tobytes()).digest()
        if self._rows not in (b"", rows) or (training is not None and training in self._trainings):
            raise ValueError(
                f"{what} is for the rows of another data set, for which it was used before: make "
                "one for each data set. A metric is called for every evaluation set of a training, "
                "and tells them apart by their numbers of rows: evaluate it on one set of each size"
            )
        self._rows = rows
        if training is not None:
            self._trainings.add(training)
        return own

    def __deepcopy__(self, memo: Any) -> OwnRows:
        return self  # LightGBM and scikit-learn copy parameters, but the data set is the same one

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_trainings"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _trainings=WeakSet())
