"""Potentials of several metrics on one ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from style import new_figure

from lambdaplus.compute.array_types import Floats
from lambdaplus.engine.ranked_lists import Batch, ranked_lists
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import parse_metric
from lambdaplus.metrics.metric_arrays import metric_arrays
from lambdaplus.ranking.sort import merge_ties, rank
from lambdaplus.study.plot_style import INK, SERIES, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RANKED = np.array([0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0])  # relevance by rank
METRICS = ("auc", "ndcg", "map", "mrr", "err", "rbp", "p@5", "rprec")


def potentials_of(name: str) -> tuple[Floats, Floats]:
    """U and V at each rank, from 0 at the last one."""
    metric = parse_metric(name, **({"top": 1} if name == "err" else {}))
    queries = Queries(RANKED, group=[RANKED.size])
    arrays = metric_arrays(metric, queries)
    ranking = rank(queries, -np.arange(RANKED.size))
    entries, _ = merge_ties(queries.boundaries, *ranking, arrays.code, None)
    batch = Batch.of(metric, False, 0, 1, queries.boundaries, arrays)
    [both] = ranked_lists(metric, False, batch, entries, False)
    scale = arrays.scale[0] * abs(both.gain[both.gain_at[0] + 1] - both.gain[both.gain_at[0]])
    return scale * (both.U - both.U[-1]), scale * (both.V - both.V[-1])


@styled()
def potentials_of_metrics() -> Figure:
    figure, panels = new_figure(4.6, 4, 2)
    ranks = np.arange(1, RANKED.size + 1)
    for axes, name in zip(panels, METRICS, strict=True):
        high, low = potentials_of(name)
        axes.step(ranks, high, where="mid", color=SERIES[0], label="U")
        if not np.allclose(high, low):
            axes.step(ranks, low, "--", where="mid", color=SERIES[1], label="V")
        top = max(high.max(), low.max())
        axes.scatter(ranks, np.full(ranks.size, -0.12 * top), s=14, clip_on=False, linewidths=0.8,
                     c=[INK if label else "none" for label in RANKED], edgecolors=INK)  # fmt: skip
        axes.set_ylim(-0.2 * top, 1.08 * top)
        axes.set_title(name, loc="left")
        axes.set_xticks([1, 4, 8, 12])
    for axes in panels[-2:]:
        axes.set_xlabel("rank")
    handles, labels = panels[METRICS.index("map")].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure
