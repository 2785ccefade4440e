"""A metric on a data set, as plain arrays: what the kernels read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.metrics.declaration import Facts, RankingMetric
from lambdaplus.queries import Floats, Ints, Queries

NO_RELATION, ANY, LOWER = 0, 1, 2
_RELATIONS = {"any": ANY, "lower": LOWER}


class Terms(NamedTuple):
    """The data of `lambdaplus.metrics.declaration`, laid out per stratum, query and rank.

    Attributes
    ----------
    first : (n_queries + 1,) int64
        Where each query's strata begin.
    code : (n,) int32
        Class of each document within its query, in the order of `Queries.base`.
    discount : (longest query,) float64
        d by rank, from 0.
    gain, row, column, stop : (s,) float64
        g, the factors of A, and stop, per stratum.  All 0 where the metric has none.
    relation : int
        Which classes A couples: NO_RELATION, ANY or LOWER.
    stops : bool
        Whether stop is used.
    patience : (n_queries,) float64
        Sure stops after which nobody reads on.
    windowed : bool
        Whether a class has its gain within a window of ranks alone.
    opens, closes : (s,) int64
        That window: ranks from 0, the last one excluded.
    scale : (n_queries,) float64
        1/Z; 0 where the metric has no value.
    offset : (n_queries,) float64
    """

    first: Ints
    code: NDArray[np.int32]
    discount: Floats
    gain: Floats
    row: Floats
    column: Floats
    stop: Floats
    relation: int
    stops: bool
    patience: Floats
    windowed: bool
    opens: Ints
    closes: Ints
    scale: Floats
    offset: Floats

    @property
    def gains_only(self) -> bool:
        """Whether the metric is a discounted sum of gains: one sweep then serves all classes."""
        return self.relation == NO_RELATION and not self.stops and not self.windowed


def scope(metric: RankingMetric, queries: Queries, one_group: bool = False) -> Queries:
    """What the metric ranks: the queries, or all rows at once if it has or was given that meaning.

    Raises
    ------
    ValueError
        If there are no queries and the metric needs them: a forgotten ``group=`` must not pass
        for one huge query unless ``one_group`` says so.
    """
    if metric.over_data_set:
        return queries.ungrouped() if metric.declaration.pooled else queries.as_one_query()
    if queries.grouped or metric.declaration.pooled is not None:
        return queries
    if one_group:
        return queries.as_one_query()
    raise ValueError(
        f"{metric} ranks the documents of each query, but the data has no queries: set group= (or "
        "qid=), or pass one_group=True if all rows are one ranking"
    )


def terms(metric: RankingMetric, queries: Queries) -> Terms:
    """Lay a metric out on a data set; computed once and kept with the data.

    Raises
    ------
    ValueError
        If the metric can't take the labels, such as negative ones in NDCG.
    """
    key = ("terms", metric)
    if key not in queries.facts:
        queries.facts[key] = _terms(metric, queries)
    found: Terms = queries.facts[key]
    return found


def _terms(metric: RankingMetric, queries: Queries) -> Terms:
    declaration, facts = metric.declaration, Facts(metric, queries)
    normalizer = declaration.normalizer(facts)
    zeros = np.zeros_like(facts.label)

    def per_stratum(rule: Any) -> Floats:
        return zeros if rule is None else np.ascontiguousarray(rule(facts), dtype=np.float64)

    above, window, patience = declaration.above, declaration.window, declaration.patience
    offset = declaration.offset
    opens, closes = (zeros, zeros) if window is None else window(facts)
    return Terms(
        first=facts.strata.first,
        code=facts.strata.code,
        discount=metric.discounts(np.arange(1.0, facts.longest + 1)),
        gain=per_stratum(declaration.gain),
        row=per_stratum(above and above.row),
        column=per_stratum(above and above.column),
        stop=per_stratum(declaration.stop),
        relation=NO_RELATION if above is None else _RELATIONS[above.relation],
        stops=declaration.stop is not None,
        patience=np.ones(queries.n_queries) if patience is None else patience(facts),
        windowed=window is not None,
        opens=np.maximum(opens - 1, 0).astype(np.int64),
        closes=closes.astype(np.int64),
        scale=np.divide(1.0, normalizer, out=np.zeros_like(normalizer), where=normalizer > 0),
        offset=np.zeros(queries.n_queries) if offset is None else offset(facts),
    )
