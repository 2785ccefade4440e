"""Rare positives, no queries: lambda_auc and lambda_map against what is used for them otherwise.

    python benchmarks/imbalanced.py [--folds DIR ...] [--trials 10] [--rounds 150] [--json FILE]

Log-loss, log-loss with scale_pos_weight, focal loss (Lin et al. 2017), lambda_auc and lambda_map
grow the same LightGBM trees.  Each has the same random search: the same draws of the trees'
parameters, and of its own ones where it has some; trial and round are chosen on validation rows,
for AUC and for average precision apart; shown is that metric on the test rows.  Three sets need no
download: pairs of digit images (2 % show the same digit), one digit against the others (3 %), and
generated rows with label noise (2 %).  A folder of LETOR folds adds its documents as rows: is the
grade among the highest, which at most 10 % have?  Five folds or seeds of each; no
query or image of the test rows is trained on.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import lightgbm
import numba
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import train_test_split

from lambdaplus import eval_metric, lambda_auc, lambda_map
from lambdaplus.datasets import Fold, digits_queries, read_folds
from lambdaplus.evaluation.significance import holm, p_value
from lambdaplus.evaluation.tables import Cell, Table

METRICS = {"auc": "AUC", "map": "AP"}
RARE = 0.1  # of a LETOR set, the lowest grade from which at most so many documents count
Array = NDArray[Any]


class Rows(NamedTuple):
    X: Array
    y: Array


Split = tuple[Rows, Rows, Rows]


# Sets -------------------------------------------------------------------------------------------


def thinned(X: Array, y: Array, share: float, seed: int) -> Rows:
    """Leave out positives at random until they are this share."""
    positive = np.flatnonzero(y > 0)
    kept = round(share / (1 - share) * np.sum(y == 0))
    left_out = np.random.default_rng(seed).permutation(positive)[kept:]
    return Rows(np.delete(X, left_out, axis=0), np.delete(y, left_out))


def split(rows: Rows, seed: int) -> Split:
    """60 % to train, 20 % to validate, 20 % to test."""
    rest, test, y_rest, y_test = train_test_split(
        *rows, test_size=0.2, stratify=rows.y, random_state=seed
    )
    train, valid, y_train, y_valid = train_test_split(
        rest, y_rest, test_size=0.25, stratify=y_rest, random_state=seed
    )
    return Rows(train, y_train), Rows(valid, y_valid), Rows(test, y_test)


def digit_pairs() -> Iterator[Split]:
    for fold in digits_queries():
        parts = (fold.train, fold.valid, fold.test)
        train, valid, test = (thinned(p.features, p.labels, 0.02, seed=0) for p in parts)
        yield train, valid, test


def one_digit() -> Iterator[Split]:
    X, digit = load_digits(return_X_y=True)
    for seed, chosen in enumerate((8, 3, 9, 5, 1)):
        yield split(thinned(X, (digit == chosen).astype(float), 0.03, seed), seed)


def generated() -> Iterator[Split]:
    for seed in range(5):
        X, y = make_classification(
            10_000, 20, n_informative=8, n_redundant=4, n_clusters_per_class=3, weights=[0.985],
            flip_y=0.01, class_sep=0.8, random_state=seed,
        )  # fmt: skip
        yield split(Rows(X, y.astype(float)), seed)


def documents(folds: list[Fold]) -> Iterator[Split]:
    labels = folds[0].train.labels
    rare = [grade for grade in np.unique(labels) if np.mean(labels >= grade) <= RARE]
    if not rare:
        raise SystemExit(
            f"{folds[0].name}: more than {RARE:.0%} of the documents have the top grade"
        )
    grade = rare[0]
    for fold in folds:
        parts = (fold.train, fold.valid, fold.test)
        train, valid, test = (Rows(p.features, (p.labels >= grade) + 0.0) for p in parts)
        yield train, valid, test


# Losses -----------------------------------------------------------------------------------------


class FocalLoss:
    """-a (1 - p)^gamma log p, p the probability of the true class, a its weight.

    Not convex at scores that are far off: training must start at the best constant.
    """

    def __init__(self, gamma: float, weight: float) -> None:
        self.gamma, self.weight = gamma, weight

    def start(self, odds: float) -> float:
        """The score that is best for all rows, with so many negatives for each positive."""

        def loss(score: float) -> float:
            hit, miss = expit(score), expit(-score)
            positive = self.weight * miss**self.gamma * log_expit(score)
            return float(-positive - odds * hit**self.gamma * log_expit(-score))

        return float(minimize_scalar(loss, bounds=(-10.0, 10.0), method="bounded").x)

    def __call__(self, scores: Array, data: Any) -> tuple[Array, Array]:
        label = data.get_label()
        sign = np.where(label > 0, 1.0, -1.0)
        p, log_p, miss = (f(sign * scores) for f in (expit, log_expit, lambda x: expit(-x)))
        gamma, weight = self.gamma, np.where(label > 0, self.weight, 1.0)
        inner = gamma * p * log_p - miss
        gradient = sign * miss**gamma * inner
        hessian = p * miss**gamma * (miss * (gamma * log_p + gamma + 1) - gamma * inner)
        return weight * gradient, weight * np.maximum(hessian, 1e-6)


Draw = Callable[[np.random.Generator, float], dict[str, Any]]
LOSSES: dict[str, Draw] = {
    "log-loss": lambda rng, odds: {"objective": "binary"},
    "scale_pos_weight": lambda rng, odds: {
        "objective": "binary",
        "scale_pos_weight": odds ** rng.uniform(),
    },
    "focal loss": lambda rng, odds: {
        "objective": FocalLoss(rng.uniform(0.5, 3.0), odds ** rng.uniform(0.0, 0.5))
    },
    "lambda_auc": lambda rng, odds: {"objective": lambda_auc},
    "lambda_map": lambda rng, odds: {"objective": lambda_map},
}


def tree_parameters(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "num_leaves": int(rng.choice([7, 15, 31])),
        "learning_rate": 10 ** rng.uniform(-1.7, -0.7),
        "min_data_in_leaf": int(rng.choice([5, 10, 20, 50])),
        "lambda_l2": 10 ** rng.uniform(-2.0, 1.0),
        "feature_fraction": rng.uniform(0.4, 1.0),
    }


def tuned(parts: Split, draw: Draw, trials: int, rounds: int) -> dict[str, float]:
    """Test value of each metric, at the trial and the round that validation rows like best."""
    train, valid, test = parts
    odds = np.sum(train.y == 0) / np.sum(train.y > 0)
    best = dict.fromkeys(METRICS, (-np.inf, np.nan))
    for trial in range(trials):
        params = {
            **tree_parameters(np.random.default_rng(trial)),
            **draw(np.random.default_rng([trial, 1]), odds),
            "verbose": -1, "num_threads": 1, "seed": trial, "metric": "None",
        }  # fmt: skip
        loss = params["objective"]
        start = np.full(train.y.size, loss.start(odds)) if isinstance(loss, FocalLoss) else None
        rows = lightgbm.Dataset(*train, init_score=start)
        curve: dict[str, Any] = {}
        booster = lightgbm.train(
            params, rows, rounds,
            valid_sets=[rows.create_valid(part.X, part.y) for part in (valid, test)],
            valid_names=["valid", "test"], feval=eval_metric(*METRICS),
            callbacks=[lightgbm.record_evaluation(curve)],
        )  # fmt: skip
        del booster
        for metric in METRICS:
            at = int(np.argmax(curve["valid"][metric]))
            best[metric] = max(
                best[metric],
                (curve["valid"][metric][at], curve["test"][metric][at]),
                key=lambda pair: pair[0],
            )
    return {metric: float(value) for metric, (_, value) in best.items()}


# Tables -----------------------------------------------------------------------------------------


def table(found: dict[str, dict[str, list[dict[str, float]]]], metric: str) -> Table:
    """Means over the folds of each set, and over sets; marks of a difference to log-loss."""

    def test_values(name: str, loss: str) -> Array:
        return np.array([fold[metric] for fold in found[name][loss]])

    others = [loss for loss in LOSSES if loss != "log-loss"]
    differences = {
        loss: np.concatenate([test_values(n, loss) - test_values(n, "log-loss") for n in found])
        for loss in others
    }
    p_values = [p_value(differences[loss], "wilcoxon", "two-sided") for loss in others]
    corrected = dict(zip(others, holm(np.array(p_values)), strict=True))
    rows = []
    for loss in LOSSES:
        means = []
        for name in found:
            gain = test_values(name, loss) - test_values(name, "log-loss")
            spread = gain.std(ddof=1) / np.sqrt(gain.size)
            mark = "" if loss == "log-loss" or abs(gain.mean()) < 2 * spread else "*"
            means.append(Cell(float(test_values(name, loss).mean()), mark))
        row = [loss, *means, float(np.mean([mean.value for mean in means]))]
        if loss == "log-loss":
            rows.append([*row, "", ""])
        else:
            gain = differences[loss]
            spread = gain.std(ddof=1) / np.sqrt(gain.size)
            rows.append([*row, f"{gain.mean():+.4f} ± {spread:.4f}", float(corrected[loss])])
    foot = (
        f"test {METRICS[metric]}; *: at least two standard errors from log-loss on that set; "
        "p: Wilcoxon over all folds of all sets, Holm-corrected",
    )
    return Table(["loss", *found, "mean", "to log-loss", "p"], rows, foot)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    numba.set_num_threads(1)
    sets: dict[str, Callable[[], Iterator[Split]]] = {
        "digit pairs": digit_pairs,
        "one digit": one_digit,
        "generated": generated,
    }
    for folder in arguments.folds:
        sets[folder.name] = lambda folder=folder: documents(read_folds(folder))
    found: dict[str, Any] = {}
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("tuning", total=len(sets) * 5 * len(LOSSES))
        for name, splits in sets.items():
            found[name] = defaultdict(list)
            for parts in splits():
                for loss, draw in LOSSES.items():
                    found[name][loss].append(tuned(parts, draw, arguments.trials, arguments.rounds))
                    progress.advance(bar)
            if arguments.json:
                arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    for metric in METRICS:
        print(table(found, metric).to_markdown(), end="\n\n")


if __name__ == "__main__":
    main()
