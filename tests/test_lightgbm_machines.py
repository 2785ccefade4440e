"""LightGBM on several machines: exact with queries, refused where rows of the other are needed."""

from typing import Any

import numpy as np
import pytest

from lambdaplus.compute.collective import ONE_MACHINE
from lambdaplus.frameworks.workers import LightGBMWorkers, lightgbm_workers
from lambdaplus.ranking.queries import Queries


def test_what_needs_the_rows_of_other_machines_is_refused() -> None:
    """The tests on Dask's workers are the same in a training."""
    workers, labels = LightGBMWorkers(2), np.arange(4.0)
    of_queries = Queries(labels, group=[2, 2], workers=workers)
    assert of_queries.list_workers is ONE_MACHINE
    with pytest.raises(ValueError, match=r"LightGBM trains on 2 machines.*another value and stop"):
        of_queries.workers.sum(labels)
    with pytest.raises(ValueError, match="Objectives of data without queries need all rows: train"):
        Queries(labels, workers=workers)


@pytest.mark.parametrize(
    ("params", "size"),
    [
        ({"num_machines": 3, "tree_learner": "data"}, 3),
        ({"num_machine": "2", "tree": "voting_parallel"}, 2),
        ({"machines": "10.0.0.1:1,10.0.0.2:1", "tree_learner": "data_parallel"}, 2),
        ({"nodes": ["10.0.0.1:1", "10.0.0.2:1"], "tree_type": "voting"}, 2),
        ({"num_machines": 2}, 1),  # each trains a model of its own
        ({"num_machines": 2, "tree_learner": "feature"}, 1),  # each has all rows
        ({"num_machines": 1, "tree_learner": "data"}, 1),
        ({"tree_learner": "data"}, 1),
        ({}, 1),
    ],
)
def test_machines_are_known_from_the_parameters(params: dict[str, Any], size: int) -> None:
    found = lightgbm_workers(params)
    assert found.size == size
    assert (found is ONE_MACHINE) == (size == 1)
