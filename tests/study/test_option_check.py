"""Options are tried on rows with as many features as the data."""

from typing import Any

import pytest

from lambdaplus.metrics import parse_metric
from lambdaplus.study.config import Config
from lambdaplus.study.method_names import find_methods
from lambdaplus.study.option_check import refuse_wrong_options

NAME = "lightgbm:lambda_map"


def check(name: str, value: Any) -> None:
    config = Config(rounds=1, grid={NAME: {name: [value]}})
    refuse_wrong_options(find_methods(NAME), config, [parse_metric("map")], n_features=5)


def test_parameters_of_as_many_features_as_the_data_are_taken() -> None:
    check("monotone_constraints", [1, 0, 0, 0, 0])
    check("interaction_constraints", [[0, 1], [2, 3, 4]])
    check("categorical_feature", [4])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("monotone_constraints", [1, 0, 0], "has 3 entries, and there are 5 features"),
        ("interaction_constraints", [[0, 5]], "there is no column 5"),
        ("categorical_feature", [-1], "there is no column -1"),
    ],
)
def test_of_others_they_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"method 'lightgbm:lambda_map' with .*{message}"):
        check(name, value)
