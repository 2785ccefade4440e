"""Pairs and log-loss together: which share of log-loss, for which metric and data.

    python benchmarks/both.py fit SET [...] --objectives map --shares .25,.5,.75,.85 --seeds 0,1,2
    python benchmarks/both.py fit SET [...] --objectives ndcg,auc,arhr,concordance --shares 0,.5,.75
    python benchmarks/both.py show

SET is named as in `list_sets`; seeds from 5 are further seeds of the same five folds.  Trees are
those of `ranking_trees`; validation chooses the round of each metric.  MRR has the pairs of `arhr`,
recall those of `map`.  A share is of the absolute gradients at equal scores; share 1 is the
framework's own log-loss, which XGBoost trains with half of the learning rate, as the Hessians of
rankings, and of the sums here, are doubled there.  Trainings of `accuracy` with the same trees and
objectives are the same ones: copy its files from build/accuracy to build/both.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import list_sets
import numpy as np
import shapes
from accuracy import FOLDS, METRICS, OURS_FOR, OWN, effect, seeds_of, shown
from kept_fits import keep_tables, read, run, study_parser
from trees import CHOSEN, FRAMEWORK_NAMES, Fits, best_of, fit

from lambdaplus.evaluation import Table
from lambdaplus.evaluation.effects import Effect

PAIRS = {**OURS_FOR, "concordance": "concordance"}
"""The objective whose pairs are those of a metric."""
OBJECTIVES = tuple(dict.fromkeys(PAIRS.values()))
SHARES = (0.0, 0.25, 0.5, 0.75, 0.85)
LOG_LOSS = "log-loss"
PATIENCE = 4.0  # rounds times rate


def contender(objective: str, share: float) -> str:
    """The objective with this share of log-loss, as an expression."""
    if share in (0.0, 1.0):
        return LOG_LOSS if share else objective
    return f"{1 - share:g}*{objective}+{share:g}*logloss(relevant=1)"


def followed_by(objective: str) -> tuple[str, ...]:
    """The metrics of one training: concordance, which grades need, or all others."""
    return ("concordance",) if objective == "concordance" else METRICS


def tasks(given: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    for seed, on, framework in product(given.seeds, given.sets, given.frameworks):
        keys = [
            (contender(objective, share), followed_by(objective))
            for objective, share in product(given.objectives, given.shares)
        ]
        keys += product((LOG_LOSS, OWN[framework]), map(followed_by, given.objectives))
        for name, metrics in dict.fromkeys(keys):
            yield on, framework, CHOSEN, name, seed, ",".join(metrics), PATIENCE


# What was measured --------------------------------------------------------------------------------


BUILT_IN = -1.0  # the framework's ranking objective, in place of a share
CHOICES = {
    "pairs or 0.75": (0.0, 0.75),
    "any share": (*SHARES, 1.0),
    "pairs or built-in": (0.0, 1.0, BUILT_IN),
    "or 0.75, too": (0.0, 0.75, 1.0, BUILT_IN),
}
LESS_PAIRS = (
    "of test queries at the best validation round less that of pairs alone; in brackets: "
    "{brackets}; ±: standard error over queries and trainings"
)


def alike(fits: Fits, on: str, framework: str, names: Sequence[str], metric: str) -> set[int]:
    """The seeds with which all of these contenders were trained."""
    return set.intersection(
        *(seeds_of(fits, on, (framework, CHOSEN, name), metric) for name in names)
    )


def less(
    fits: Fits, framework: str, one: str, other: str, metric: str, sets: Sequence[str]
) -> Effect | None:
    """A contender less another one, the mean over the sets on which both were trained."""
    known = [on for on in sets if alike(fits, on, framework, (one, other), metric)]
    pair = (CHOSEN, one), (CHOSEN, other)
    return effect(fits, framework, pair, metric, known) if known else None


def chosen(fits: Fits, on: str, framework: str, metric: str, shares: Sequence[float]) -> Any:
    """Of these contenders the one that is best on validation queries, less pairs alone.

    A choice for the test queries of a fold uses no validation values of the fold, nor of the next,
    whose validation queries these are; of another draw, all of the others.
    """
    names = [
        OWN[framework] if share == BUILT_IN else contender(PAIRS[metric], share) for share in shares
    ]
    seeds = alike(fits, on, framework, names, metric)
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
    return shown(less(picked, framework, "chosen", PAIRS[metric], metric, [on]))


def with_columns(heads: Sequence[str], rows: list[list[Any]], foot: str) -> Table:
    """The table without columns that are empty in all rows."""
    full = [k for k in range(len(heads)) if k == 0 or any(row[k] for row in rows)]
    return Table([heads[k] for k in full], [[row[k] for k in full] for row in rows], [foot])


def by_metric(
    fits: Fits, sets: list[str], shares: Sequence[float], frameworks: Sequence[str]
) -> Table:
    """Shares of log-loss, log-loss and the built-in objective, less pairs alone, over all sets."""
    rows, columns = [], list(product(shares, frameworks))
    for metric, objective in PAIRS.items():
        row: list[Any] = [metric.upper()]
        for share, framework in columns:
            one = OWN[framework] if share == BUILT_IN else contender(objective, share)
            known = [on for on in sets if alike(fits, on, framework, (one, objective), metric)]
            found = less(fits, framework, one, objective, metric, known)
            row.append(shown(found, f" ({len(known)})"))
        rows.append(row)
    words = {1.0: LOG_LOSS, BUILT_IN: "built-in"}
    heads = [
        words.get(share, f"{share:g}") + f", {FRAMEWORK_NAMES[framework]}" * (len(frameworks) > 1)
        for share, framework in columns
    ]
    foot = LESS_PAIRS.format(brackets="sets")
    return with_columns(["", *heads], rows, f"values {foot}")


def less_pairs(fits: Fits, framework: str, metric: str, sets: list[str]) -> Table:
    """Shares of log-loss, a choice among them and the built-in objective, less pairs alone."""
    objective = PAIRS[metric]
    names = [*(contender(objective, share) for share in (*SHARES[1:], 1.0)), OWN[framework]]
    rows = []
    for on in sets:
        cells: list[Any] = []
        for name in names:
            count = len(alike(fits, on, framework, (name, objective), metric))
            found = less(fits, framework, name, objective, metric, [on])
            cells.append(shown(found, f" ({count})"))
        if any(cells):
            cells += [chosen(fits, on, framework, metric, some) for some in CHOICES.values()]
            rows.append([in_words(on), *cells])
    foot = (
        f"{metric.upper()} {LESS_PAIRS.format(brackets='trainings')}; the last columns: chosen by "
        "validation queries of other folds"
    )
    heads = [*(f"{share:g}" for share in SHARES[1:]), "log-loss", OWN[framework], *CHOICES]
    return with_columns(["", *heads], rows, foot)


def less_log_loss(fits: Fits, metric: str, sets: list[str]) -> Table:
    """Pairs alone, and with three quarters of log-loss, less log-loss alone."""
    rows = []
    columns = [
        (contender(PAIRS[metric], share), framework)
        for share, framework in product((0.0, 0.75), FRAMEWORK_NAMES)
    ]
    known = [
        on for on in sets
        if all(alike(fits, on, framework, (name, LOG_LOSS), metric) for name, framework in columns)
    ]  # fmt: skip
    for title, some in {**of_kinds(known), "all": known}.items():
        cells = [
            shown(less(fits, framework, name, LOG_LOSS, metric, some))
            for name, framework in columns
        ]
        rows.append([title + f" ({len(some)})" * (len(some) > 1), *cells])
    heads = [
        f"{words}, {title}"
        for words, title in product(("pairs alone", "0.75"), FRAMEWORK_NAMES.values())
    ]
    foot = (
        f"{metric.upper()} of test queries at the best validation round less that of log-loss "
        "alone, ±: standard error over queries and trainings; in brackets: sets, of which it is "
        "the mean"
    )
    return Table(["", *heads], rows if known else [], [foot])


def of_kinds(sets: list[str]) -> dict[str, list[str]]:
    """Real sets by name, generated ones by kind."""
    titles = {"generated": "long lists", "pairs": "few features", "mixed": "mixed features"}
    found: dict[str, list[str]] = {}
    for on in sets:
        found.setdefault(titles.get(on.split(":")[0]) or in_words(on), []).append(on)
    return found


def rounds_of(fits: Fits, framework: str, metric: str, sets: list[str]) -> Table:
    """Mean rounds to the best model and to the built-in objective's value, and seconds."""
    shares = (0.0, 0.75, 1.0)
    names = [*(contender(PAIRS[metric], share) for share in shares), OWN[framework]]
    rows = []
    for on in sets:
        seeds = alike(fits, on, framework, names, metric)
        of_names = [[fits[on, framework, CHOSEN, name, seed] for seed in seeds] for name in names]
        cells = []
        for some in of_names if seeds else []:
            best = [best_of(one, metric) for one in some]
            goal = float(np.mean([best_of(one, metric).value for one in of_names[-1]]))
            rounds, seconds = np.mean([each[1:] for each in best], axis=0)
            reached = reaching([one["test"][metric] for one in some], goal)
            first = f"{reached * some[0]['every']}" if reached else "never"
            cells.append(f"{rounds:.0f}, {first} ({seconds:.1f} s)")
        if cells:
            rows.append([in_words(on), *cells])
    foot = (
        "mean rounds to the best validation value; rounds until the mean test value is that of the "
        f"best models of {OWN[framework]}; processor seconds to the best value, on one thread"
    )
    return Table(["", "pairs alone", "0.75", "log-loss", OWN[framework]], rows, [foot])


def reaching(curves: list[list[float]], goal: float) -> int:
    """After how many steps the mean curve has reached a value, or 0; the ends of curves last."""
    longest = max(map(len, curves))
    mean = np.mean([np.pad(one, (0, longest - len(one)), mode="edge") for one in curves], axis=0)
    reached = np.flatnonzero(mean >= goal)
    return int(reached[0]) + 1 if reached.size else 0


def merged(kept: list[dict[str, Any]]) -> Fits:
    """Trainings by what was trained: one may follow other metrics than another."""
    fits: Fits = {}
    for one in kept:
        found = fits.setdefault(tuple(one["key"][:5]), one)
        for what in ("valid", "test", "queries"):
            found[what].update(one[what])
        found["times"] = max(found["times"], one["times"], key=len)
    return fits


def in_words(on: str) -> str:
    """A set in words; the study has several noises of the same kind."""
    kind, *numbers = on.split(":")
    if kind in shapes.KINDS:
        names = {"pairs": f"{numbers[0]} features in pairs", "mixed": "mixed features"}
        return f"{names.get(kind, kind)}, noise {numbers[-1]}"
    return list_sets.in_words(on)


def show(given: argparse.Namespace) -> None:
    kept = read(given.kept)
    fits = merged(kept)
    sets = sorted(dict.fromkeys(key[0] for key in fits))
    found = {"By metric": by_metric(fits, sets, (0.5, 0.75), [*FRAMEWORK_NAMES])}
    for framework, title in FRAMEWORK_NAMES.items():
        shares = (*SHARES[1:], 1.0, BUILT_IN)
        found[f"By metric, {title}"] = by_metric(fits, sets, shares, [framework])
    for metric in PAIRS:
        found[f"{metric.upper()}, less log-loss"] = less_log_loss(fits, metric, sets)
    for metric, (framework, title) in product(PAIRS, FRAMEWORK_NAMES.items()):
        found[f"{metric.upper()}, {title}"] = less_pairs(fits, framework, metric, sets)
    for framework, title in FRAMEWORK_NAMES.items():
        found[f"Rounds, MAP, {title}"] = rounds_of(fits, framework, "map", sets)
    tables = {title: table for title, table in found.items() if table.rows}
    keep_tables("both", dict(enumerate(kept)), tables)


def main() -> None:
    parser = study_parser(__doc__, "both")
    parser.add_argument("--objectives", type=lambda text: text.split(","), default=[*OBJECTIVES])
    parser.add_argument(
        "--shares", type=lambda text: list(map(float, text.split(","))), default=[*SHARES]
    )
    parser.add_argument(
        "--frameworks", type=lambda text: text.split(","), default=[*FRAMEWORK_NAMES]
    )
    run(parser.parse_args(), fit, tasks, show)


if __name__ == "__main__":
    main()
