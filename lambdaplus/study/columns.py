"""What is done with the columns of a study's data, in words, and those of folds that were read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lambdaplus.compute.arguments import hint
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.table_columns import wanted_features
from lambdaplus.data.table_files import NO_QUERIES
from lambdaplus.study.config import Config


def selected(folds: list[Fold], config: Config) -> tuple[list[Fold], list[str]]:
    """Folds of files of their own, with the weights and the features that options name."""
    if not (config.features or config.drop or config.weight):
        return folds, []
    names = folds[0].train.feature_names
    if not names:
        raise ValueError(
            "features, drop and weight are names of columns of CSV and Parquet files: this data "
            "has no names"
        )
    if config.weight and config.weight not in names:
        raise ValueError(f"there is no column {config.weight!r}{hint(config.weight, names)}")
    wanted = wanted_features(config.columns, names, {config.weight} - {""})
    if not wanted:
        raise ValueError("--drop leaves no feature")
    kept = [names.index(name) for name in wanted]

    def changed(part: RankingData) -> RankingData:
        weights = part.features[:, names.index(config.weight)] if config.weight else None
        features = part.features[:, kept]
        return replace(part, features=features, feature_names=tuple(wanted), weights=weights)

    left_out = dict.fromkeys((name for name in names if name not in (*wanted, config.weight)), "")
    folds = [Fold(fold.name, *map(changed, fold.parts)) for fold in folds]
    return folds, [*left_out_in_words(left_out), *weight_in_words(config.weight, config)]


def left_out_in_words(why: Mapping[str, str]) -> list[str]:
    """The columns that are left out, and why if that is known; nothing if none is."""
    words = [
        f"{name or 'a column without a name'}{f' ({reason})' if reason else ''}"
        for name, reason in why.items()
    ]
    return [f"Left out: {', '.join(words)}."] if words else []


def weight_in_words(name: str, config: Config) -> list[str]:
    """What is done with row weights, a column or a file; nothing without a name."""
    if not name:
        return []
    use = f"Weights: {name}, in training and in validation values"
    if config.qid == NO_QUERIES:
        return [f"{use}, and in AUC and average precision of test rows."]
    return [f"{use}. In test means and in tests, each query counts equally."]
