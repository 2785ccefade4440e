"""`RankingMetric`: a declaration with a cutoff and parameters, such as ``ndcg(gain=linear)@10``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.lists.queries import Kind
from lambdaplus.metrics.label_counts import as_declared, read_only, refuse_wrong_order
from lambdaplus.metrics.parameters import OVER, Share, Value, as_text

if TYPE_CHECKING:
    from lambdaplus.metrics.declaration import Declaration


@dataclass(frozen=True)
class RankingMetric:
    """A declaration with a cutoff and parameters; its ``str`` is a name such as ``ndcg@10``.

    ``metric[parameter]`` is the value of a parameter; ``changed`` has those that are not defaults.

    Examples
    --------
    >>> from lambdaplus import parse_metric
    >>> metric = parse_metric("ndcg@10", gain="linear")
    >>> str(metric), metric.cutoff, metric["gain"], metric["discount"]
    ('ndcg(gain=linear)@10', 10, 'linear', 'log2')
    """

    declaration: Declaration
    cutoff: int | Share | None = None
    changed: tuple[tuple[str, Value], ...] = field(default=())

    def __str__(self) -> str:
        options = ",".join(f"{name}={as_text(value)}" for name, value in self.changed)
        name = self.declaration.name + (f"({options})" if options else "")
        return name if self.cutoff is None else f"{name}@{self.cutoff}"

    def of_size(self, n: float) -> RankingMetric:
        """The metric on a list of n documents, where a share is a number of ranks."""
        if not isinstance(self.cutoff, Share):
            return self
        return replace(self, cutoff=int(self.cutoff.ranks(np.array([n]))[0]))

    def __getitem__(self, parameter: str) -> Any:
        defaults = {declared.name: declared.default for declared in self.declaration.parameters}
        return {**defaults, **dict(self.changed)}[parameter]

    @property
    def relevant(self) -> float | None:
        """Label from which a document is relevant; None for a graded metric."""
        return float(self["relevant"]) if self.declaration.binary else None

    @property  # not cached: a metric has the same pickle and digest after it was used
    def kind_of_rows(self) -> Kind | None:
        """What data without queries is to the metric; None if only ``one_group`` makes it one list.

        The metric ignores queries if it is over the data set.
        """
        if self.weighs_rows:
            return Kind.WEIGHTED_ROWS
        some = OVER in self.declaration.parameters or self.compares_some
        return Kind.ONE_LIST if some or isinstance(self.cutoff, Share) else None

    @property
    def weighs_rows(self) -> bool:
        """Whether data without queries, whose rows have weights, has a value."""
        return self.declaration.pooled is not None

    @property
    def compares_some(self) -> bool:
        """Whether only some pairs of different labels are comparable, those that ``form`` says."""
        return self.declaration.form.labels is not None

    @property
    def low_labels_first(self) -> bool:
        """Whether the best ranking has low labels first, as of times if a high score is a risk."""
        labels = self.declaration.form.labels
        if labels is None:
            return False
        low, high = labels(self, np.array([1.0, 2.0]))
        return bool(low > high)

    def discounts(self, ranks: Floats) -> Floats:
        """The discount at these ranks, counted from 1, and 0 beyond the cutoff: (r,) -> (r,).

        A ValueError is raised for an invalid result of the declaration.
        """
        if isinstance(self.cutoff, Share):
            raise ValueError(
                f"{self}: queries of different sizes have different cutoffs, which pairs and "
                "rankers do not support: name a number of ranks"
            )
        declared = self.declaration.discount(self, read_only(ranks))
        discount = as_declared(self, "discount", declared, ranks)
        apart = np.diff(ranks) <= 0  # the same rank, or one of another query
        refuse_wrong_order(self, "discount", discount, "at rank", ranks, apart)
        return discount if self.cutoff is None else np.where(ranks <= self.cutoff, discount, 0.0)
