"""What `compare` says of labels with which little can be chosen or tested."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lambdaplus.data import Fold, RankingData
from lambdaplus.study import Config, study_of
from lambdaplus.study.data_warnings import data_warnings, follows_rows
from lambdaplus.study.label_kind import LabelKind
from lambdaplus.study.words import Nouns


@pytest.mark.parametrize(
    ("grades", "metrics", "threshold"),
    [(2, "", 2), (2, "map", 2), (4, "auc,ndcg", 2), (2, "map(relevant=2)", 0), (4, "ndcg,map", 0)],
)
def test_a_main_metric_by_which_all_rows_are_relevant_is_refused(
    grades: int, metrics: str, threshold: int, tmp_path: Path
) -> None:
    """Labels 1 and 2 would be average precisions of 1, of any model."""
    file = tmp_path / "d.csv"
    rows = [f"{i // 10},{i % 7},{1 + i % 3 % grades}" for i in range(300)]
    file.write_text("\n".join(["qid,a,label", *rows]))
    asked: dict[str, Any] = {"metrics": tuple(metrics.split(","))} if metrics else {}
    config = Config(data=str(file), methods=("lightgbm:lambdarank",), **asked)
    if not threshold:
        assert study_of(config).tasks
        return
    with pytest.raises(ValueError, match=rf"which all are.*\(relevant={threshold}\)"):
        study_of(config)


def test_few_positives_to_choose_or_test_with_are_told() -> None:
    rng = np.random.default_rng(0)

    def part(positives: int, others: int) -> RankingData:
        labels = np.repeat([1.0, 0.0], [positives, others])
        features = rng.normal(size=(labels.size, 1))
        return RankingData(features, labels, np.arange(labels.size), grouped=False)

    folds = [
        Fold("Fold1", part(40, 60), part(9, 50), part(10, 50)),
        Fold("Fold2", part(40, 60), part(10, 10), part(50, 0)),
    ]
    found = [*data_warnings(folds, LabelKind.of(folds), Nouns.of("none"))]
    assert [line.partition(":")[0] for line in found] == [
        "There are few positives for validation (9 in Fold1)",
        "There are few others for test (0 in Fold2)",
    ]
    enough = [Fold("Fold1", *[part(20, 20)] * 3)]
    assert not [*data_warnings(enough, LabelKind.of(enough), Nouns.of("none"))]


def test_labels_that_are_all_0_in_queries_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("\n".join(["qid,a,label", *(f"{i // 5},{i % 7},0" for i in range(200))]))
    with pytest.raises(ValueError, match=r"no test query of Fold1 has a value of map, .*relevant"):
        study_of(Config(data=str(file)))


def warned(positives: list[int], rows: int = 12) -> list[str]:
    """Of queries with these numbers of positives, the last two for validation and test."""
    parts = []
    for some in (positives[:-2], positives[-2:-1], positives[-1:]):
        labels = np.concatenate([np.repeat([1.0, 0.0], [n, rows - n]) for n in some])
        qid = np.repeat(np.arange(len(some)), rows)
        parts.append(RankingData(np.zeros((labels.size, 1)), labels, qid))
    folds = [Fold("Fold1", *parts)]
    lines = [*data_warnings(folds, LabelKind.of(folds), Nouns.of("qid"))]
    return [line for line in lines if not line.startswith("There are few ")]


@pytest.mark.parametrize(
    ("positives", "said"),
    [
        ([9, *[2] * 9], "One query, 0, has 33% of the positives (9 of 27)"),
        ([8, *[2] * 9], ""),  # below a third
        ([10, *[2] * 8], ""),  # of fewer than ten queries
        ([*[0] * 6, *[2] * 5], "Most queries (6 of 11) have one label in all of their rows"),
        ([*[0] * 5, *[2] * 5], ""),  # half of them
    ],
)
def test_one_query_with_a_third_of_the_positives_and_most_of_one_label_are_told(
    positives: list[int], said: str
) -> None:
    assert [line[: len(said)] for line in warned(positives)] == ([said] if said else [])


@pytest.mark.parametrize(
    ("up", "down", "follows"), [(20, 0, True), (19, 0, False), (49, 1, True), (48, 2, False)]
)
def test_a_feature_follows_the_rows_by_twenty_steps_of_which_98_per_cent_agree(
    up: int, down: int, follows: bool
) -> None:
    values = np.cumsum([0.0, *[-1.0] * down, *[1.0] * up])
    assert follows_rows(values, np.array([0, values.size])) == follows
    assert follows_rows(-values, np.array([0, values.size])) == follows
