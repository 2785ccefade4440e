"""Yue et al. 2007, algorithm 1, to the letter: the quadratic program is solved after each query.

`StructuralSVM` with ``epsilon=`` adds the constraints of all queries first, in batches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaplus.baselines import StructuralSVM
from lambdaplus.baselines.cutting_planes import Hinges, Planes
from lambdaplus.baselines.interior_point import minimise
from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from lambdaplus.lists.queries import Queries

PRECISION = 1e-6  # absolute gap of a quadratic program, relative to the objective at w = 0


class Trained(NamedTuple):
    """A w, (d,), and the number of constraints added for it."""

    w: Floats
    n_constraints: int


def algorithm_1(data: RankingData, C: float, epsilon: float, **options: Any) -> Trained:
    """Train with the losses and maps of a `StructuralSVM` with these options."""
    model = StructuralSVM(**options)
    hinges = []
    for rows in np.split(np.arange(data.labels.size), np.cumsum(data.group)[:-1]):
        if np.unique(data.labels[rows]).size > 1:
            of_query = Queries(data.labels[rows], group=[rows.size])
            X = np.ascontiguousarray(data.features[rows])
            hinges.append(Hinges(X, model._losses(of_query), separate=False))
    w, planes = np.zeros(data.features.shape[1]), Planes(len(hinges), data.features.shape[1])
    weight = np.full(len(hinges), C / data.n_queries)
    n_constraints, unchanged = 0, False
    while not unchanged:
        unchanged = True
        for q, hinge in enumerate(hinges):
            cut = hinge.at(w)
            if cut.hinge[0] <= planes.at(w)[q] + epsilon:
                continue
            n_constraints, unchanged = n_constraints + 1, False
            planes.add(np.array([q]), cut.slope, cut.offset)
            gap = PRECISION * weight.sum()
            alpha = minimise(planes.edges, planes.slope, planes.offset, weight, gap)
            w = -((weight[planes.block] * alpha) @ planes.slope)
    return Trained(w, n_constraints)
