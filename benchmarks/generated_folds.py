"""Generated folds with many test queries, on which small differences can be told from chance.

    python benchmarks/generated_folds.py FOLDER [--label-noise 3] [--queries 300] [--test 1000]

Writes five folds in LETOR's layout, each from its own random stream, for `benchmarks/accuracy.py`.
A label noise of 0.2 gives nearly clean labels, one of 3 labels like those of real sets.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file

from lambdaplus.data import Fold, RankingData


def generated(label_noise: float, fold: int, sizes: tuple[int, int, int] = (600, 300, 2)) -> Fold:
    """Queries of 8 to 25 documents, four grades of a smooth function of twenty features.

    ``sizes`` are the numbers of queries for training, validation and testing.
    """
    rng, model = np.random.default_rng([fold, int(10 * label_noise)]), np.random.default_rng(5)
    weights = model.normal(size=(20, 6))

    def part(n_queries: int) -> RankingData:
        group = rng.integers(8, 26, n_queries)
        features = rng.normal(size=(group.sum(), 20))
        merit = np.tanh(features @ weights / 2) @ np.array([2, 1.5, -1, 1, 0.7, -0.5])
        merit += 0.8 * (features[:, 0] > 1) + np.repeat(rng.normal(size=n_queries), group) / 2
        seen = merit + label_noise * rng.normal(size=merit.size)
        grade = np.digitize(seen, np.quantile(seen, [0.6, 0.85, 0.95])).astype(float)
        return RankingData(features, grade, np.repeat(np.arange(n_queries), group))

    train, valid, test = map(part, sizes)
    return Fold(f"{fold}", train, valid, test)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--label-noise", type=float, default=3.0)
    parser.add_argument(
        "--queries", type=int, default=300, help="for training; half for validation"
    )
    parser.add_argument("--test", type=int, default=1000, help="queries")
    given = parser.parse_args()
    given.folder.mkdir(parents=True)  # an existing folder is somebody's
    for number in range(5):
        sizes = (given.queries, given.queries // 2, given.test)
        fold = generated(given.label_noise, number, sizes)
        folder = given.folder / f"Fold{number + 1}"
        folder.mkdir()
        parts = {"train": fold.train, "vali": fold.valid, "test": fold.test}
        for i, (name, part) in enumerate(parts.items()):
            dump_svmlight_file(
                part.dense_features.round(4),
                part.labels.astype(int),
                str(folder / f"{name}.txt"),
                zero_based=False,
                query_id=part.qid + 1 + 1_000_000 * (3 * number + i),  # no query is in two folds
            )


if __name__ == "__main__":
    main()
