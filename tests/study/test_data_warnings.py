"""What `compare` says of labels with which little can be chosen or tested."""

from pathlib import Path

import numpy as np
from commands import invoke

from lambdaplus.data import Fold, RankingData
from lambdaplus.study.data_warnings import data_warnings
from lambdaplus.study.label_kind import LabelKind
from lambdaplus.study.words import Nouns


def test_two_labels_that_are_both_relevant_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    rows = [f"{i // 10},{i % 7},{1 + (i % 3 == 0)}" for i in range(300)]
    file.write_text("\n".join(["qid,a,label", *rows]))
    said = invoke("compare", file, "--out", tmp_path / "out", ends=2).output
    assert "the labels are 1 and 2" in said
    assert "write 0 for the lower label and 1 for the higher one" in said


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
