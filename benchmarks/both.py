"""Pairs and log-loss together: which share of log-loss, for which metric and data.

    python benchmarks/both.py fit SET [...] --objectives map,ndcg,auc --seeds 0,1,2,3,4,5,6,7,8,9
    python benchmarks/both.py show

SET is named as in `list_sets`; seeds from 5 are further seeds of the same five folds.  Trees are
those of `ranking_trees`; validation chooses the round.  A share is of the absolute gradients at
equal scores; share 1 is the framework's own log-loss, which XGBoost trains with half of the
learning rate, as the Hessians of rankings, and of the sums here, are doubled there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import list_sets
import numpy as np
from accuracy import FOLDS, OWN, effect, of_folds, seeds_of, shown
from kept_fits import keep_tables, read, run, study_parser
from trees import CHOSEN, FRAMEWORK_NAMES, Fits, best_of, fit

from lambdaplus.evaluation import Table

METRIC = {"map": "map", "ndcg": "ndcg@10", "auc": "auc"}
"""By which metric an objective is stopped and tested."""
SHARES = (0.0, 0.5, 0.75, 1.0)
PATIENCE = 4.0  # rounds times rate


def contender(objective: str, share: float) -> str:
    """The objective with this share of log-loss, as an expression."""
    if share in (0.0, 1.0):
        return "log-loss" if share else objective
    return f"{1 - share:g}*{objective}+{share:g}*logloss(relevant=1)"


def tasks(given: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    for seed, on, framework in product(given.seeds, given.sets, given.frameworks):
        of_metric = {
            contender(objective, share): METRIC[objective]
            for objective in given.objectives
            for share in given.shares
        }
        for name in ("log-loss", OWN[framework]):  # one training for all metrics
            of_metric[name] = ",".join(METRIC.values())
        for name, metrics in of_metric.items():
            yield on, framework, CHOSEN, name, seed, metrics, PATIENCE


# What was measured --------------------------------------------------------------------------------


BUILT_IN = -1.0  # the framework's ranking objective, in place of a share
CHOICES = {
    "pairs or 0.75": (0.0, 0.75),
    "pairs or built-in": (0.0, 1.0, BUILT_IN),
    "or 0.75, too": (0.0, 0.75, 1.0, BUILT_IN),
}


def chosen(fits: Fits, on: str, framework: str, objective: str, shares: Sequence[float]) -> Any:
    """Of these contenders the one that is best on validation queries, less pairs alone.

    A choice for the test queries of a fold uses no validation values of the fold, nor of the next,
    whose validation queries these are; of another draw, all of the others.
    """
    metric = METRIC[objective]
    names = [
        OWN[framework] if share == BUILT_IN else contender(objective, share) for share in shares
    ]
    seeds = set.intersection(
        *(seeds_of(fits, on, (framework, CHOSEN, name), metric) for name in names)
    )
    in_folds = on.startswith("build/")
    fold = {seed: seed % FOLDS if in_folds else seed for seed in seeds}

    def on_validation(name: str, seed: int) -> float:
        left_out = {fold[seed], (fold[seed] + 1) % FOLDS} if in_folds else {seed}
        return float(np.mean([
            max(fits[on, framework, CHOSEN, name, other]["valid"][metric])
            for other in seeds if fold[other] not in left_out
        ]))  # fmt: skip

    if len({*fold.values()}) < 3:
        return ""
    picked = dict(fits)
    for seed in seeds:
        best = max(names, key=lambda name, seed=seed: on_validation(name, seed))  # type: ignore[misc]
        picked[on, framework, CHOSEN, "chosen", seed] = fits[on, framework, CHOSEN, best, seed]
    pair = (CHOSEN, "chosen"), (CHOSEN, objective)
    return shown(effect(picked, framework, pair, metric, [on]))


def less_pairs(fits: Fits, framework: str, objective: str, sets: list[str]) -> Table:
    """Shares of log-loss, a choice among them and the built-in objective, less pairs alone."""
    metric = METRIC[objective]
    names = [*(contender(objective, share) for share in SHARES[1:]), OWN[framework]]
    rows = []
    for on in sets:
        pairs = [((CHOSEN, name), (CHOSEN, objective)) for name in names]
        cells = [shown(effect(fits, framework, pair, metric, [on])) for pair in pairs]
        folds = of_folds(fits, on, [(framework, *one) for one in pairs[0]], metric)
        count = f"{len(folds)} x {max((max(each.counts) for each in folds), default=0)}"
        if any(cells):
            cells += [chosen(fits, on, framework, objective, some) for some in CHOICES.values()]
            rows.append([in_words(on), count, *cells])
    foot = (
        f"{metric.upper()} of test queries at the best validation round less that of pairs alone, "
        "±: standard error over queries and trainings; the last columns: chosen by validation "
        "queries of other folds"
    )
    heads = [*(f"{share:g}" for share in SHARES[1:-1]), "log-loss", OWN[framework], *CHOICES]
    return Table(["", "folds x seeds", *heads], rows, [foot])


def less_log_loss(fits: Fits, objective: str, sets: list[str]) -> Table:
    """Pairs alone, and with three quarters of log-loss, less log-loss alone."""
    metric, rows = METRIC[objective], []
    columns = list(product((0.0, 0.75), FRAMEWORK_NAMES))
    known = [
        on for on in sets
        if all(
            seeds_of(fits, on, (framework, CHOSEN, contender(objective, share)), metric)
            & seeds_of(fits, on, (framework, CHOSEN, "log-loss"), metric)
            for share, framework in columns
        )
    ]  # fmt: skip
    for title, some in [*((in_words(on), [on]) for on in known), ("all", known)]:
        cells = [
            shown(effect(
                fits, framework, ((CHOSEN, contender(objective, share)), (CHOSEN, "log-loss")),
                metric, some,
            ))
            for share, framework in columns
        ]  # fmt: skip
        rows.append([title, *cells])
    heads = [
        f"{'0.75' if share else 'pairs alone'}, {FRAMEWORK_NAMES[framework]}"
        for share, framework in columns
    ]
    foot = (
        f"{metric.upper()} of test queries at the best validation round less that of log-loss "
        "alone, ±: standard error over queries and trainings; all: the mean over sets"
    )
    return Table(["", *heads], rows if known else [], [foot])


def rounds_of(fits: Fits, framework: str, objective: str, sets: list[str]) -> Table:
    """Mean rounds to the best model, and the processor seconds of all of them."""
    metric = METRIC[objective]
    names = [*(contender(objective, share) for share in SHARES), OWN[framework]]
    rows = []
    for on in sets:
        found = [
            [best_of(fits[on, framework, CHOSEN, name, seed], metric)
             for seed in seeds_of(fits, on, (framework, CHOSEN, name), metric)]
            for name in names
        ]  # fmt: skip
        if all(found):
            rows.append([in_words(on), *(
                f"{np.mean([one.round for one in each]):.0f} "
                f"({np.mean([one.seconds for one in each]):.1f} s)"
                for each in found
            )])  # fmt: skip
    foot = "mean rounds to the best validation value, and processor seconds on one thread"
    heads = ["pairs alone", *(f"{share:g}" for share in SHARES[1:-1])]
    return Table(["", *heads, "log-loss", OWN[framework]], rows, [foot])


def in_words(on: str) -> str:
    name = list_sets.in_words(on)
    return {"pairs": "12 features in pairs", "mixed": "mixed features"}.get(on.split(":")[0], name)


def show(given: argparse.Namespace) -> None:
    fits: Fits = {tuple(one["key"][:5]): one for one in read(given.kept)}
    sets = sorted(dict.fromkeys(key[0] for key in fits))
    found = {
        f"{metric.upper()}, less log-loss": less_log_loss(fits, objective, sets)
        for objective, metric in METRIC.items()
    }
    for objective, (framework, title) in product(METRIC, FRAMEWORK_NAMES.items()):
        words = f"{METRIC[objective].upper()}, {title}"
        found[words] = less_pairs(fits, framework, objective, sets)
        found[f"Rounds, {words}"] = rounds_of(fits, framework, objective, sets)
    keep_tables("both", fits, {title: table for title, table in found.items() if table.rows})


def main() -> None:
    parser = study_parser(__doc__, "both")
    parser.add_argument("--objectives", type=lambda text: text.split(","), default=[*METRIC])
    parser.add_argument(
        "--shares", type=lambda text: list(map(float, text.split(","))), default=[*SHARES]
    )
    parser.add_argument(
        "--frameworks", type=lambda text: text.split(","), default=[*FRAMEWORK_NAMES]
    )
    run(parser.parse_args(), fit, tasks, show)


if __name__ == "__main__":
    main()
