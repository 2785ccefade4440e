"""Which held-out rows set the threshold and the probabilities of a classifier, and what they cost.

    python benchmarks/calibration.py fit TABLE[:ROWS[:SHARE]] [...] --seeds 0,1,2 --jobs 1
    python benchmarks/calibration.py show

TABLE is ``digits`` (an 8 or not) or one of `whole_tables_data`, of which half of the rows are for
testing; a generated one has so many training rows, new ones for each seed, and this share of
positives.  A model is trained on all rows by the objective map.  Further ones are trained on parts
of the rows, for as many rounds, and score others.  Times are those of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import chain, product
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
from kept_fits import keep_tables, read, run, study_parser
from sklearn.datasets import load_digits
from sklearn.metrics import brier_score_loss, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from tables import Tested
from whole_tables_data import GENERATED
from whole_tables_data import read as read_table

from lambdaplus import LightGBMClassifier
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.estimators.calibration import (
    HeldOut,
    Scale,
    Sigmoid,
    fit_calibrator,
    threshold_by_share,
)
from lambdaplus.evaluation import Table
from lambdaplus.evaluation.effects import on_queries, over_folds, over_sets

ROUNDS = 100
TREES: dict[str, Any] = {"n_estimators": ROUNDS, "n_jobs": 1, "verbose": -1}
TEST_ROWS = 50_000  # of a generated table
AT_MOST = 50_000  # rows that a part's model scores, and rows that give the scale, but for BASE
PARTS = {"a half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4, "a tenth": 1 / 10}
LARGE = 100_000  # rows, of which the two worst ways are not tried
BASE = "two halves"
LOG_LOSS, HELD_OUT = "log-loss of LightGBM", "nine tenths, as the model"
LEAST_ROWS = {"up to 10,000 rows": 0, "10,000 to 60,000 rows": 10_000, "300,000 rows": 60_001}
MEASURES = ("log-loss", "Brier score", "F1", "AUC", "share off")


class Data(NamedTuple):
    X: Any
    y: Any
    X_test: Any
    y_test: Any


def data_of(name: str, seed: int) -> Data:
    table, *given = name.split(":")
    if table in GENERATED:
        X, y = generated(table, seed, int(given[0]) + TEST_ROWS, *map(float, given[1:]))
        n_test = TEST_ROWS
    else:
        X, y = load_digits(return_X_y=True) if table == "digits" else read_table(table)
        y, n_test = (y == 8).astype(int) if table == "digits" else y, len(y) // 2
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=n_test, stratify=y, random_state=seed
    )
    return Data(X_train, y_train, X_test, y_test)


def generated(table: str, seed: int, n: int, share: float | None = None) -> tuple[Any, Any]:
    """Rows of a generated table, of which only some of one class are kept for another share."""
    rng, made = np.random.default_rng(seed), n
    if share is not None:
        _, some = GENERATED[table](rng, 20_000)
        made = int(1.2 * n * max(share / some.mean(), (1 - share) / (1 - some.mean())))
    frame, positive = GENERATED[table](rng, made)
    y = positive.to_numpy().astype(int)
    kept = np.arange(n)
    if share is not None:
        wanted = round(share * n)
        kept = np.sort(np.append(np.flatnonzero(y)[:wanted], np.flatnonzero(y == 0)[: n - wanted]))
    return frame.to_numpy(np.float32)[kept], y[kept]


def trained(X: Any, y: Any, rounds: int = ROUNDS, start: Any = None) -> Any:
    model = LightGBMClassifier(cv=None, **{**TREES, "n_estimators": rounds})
    return model.fit(X, y, init_score=start)


def raw(model: Any, X: Any, **rounds: int) -> Floats:
    return np.asarray(model.predict(X, raw_score=True, **rounds), np.float64)


class Part:
    """A model of some training rows, which scores others, on the scale of the one of all rows.

    With ``early``, it continues that one after so many rounds.
    """

    def __init__(self, model: Any, data: Data, rows: tuple[Any, Any], early: int = 0) -> None:
        self.all_rows, self.data, self.early = model, data, early
        self.train, self.rest = rows
        X, start, begin = data.X[self.train], None, time.process_time()
        if early:
            start = raw(model, X, num_iteration=early)
        self.model = trained(X, data.y[self.train], ROUNDS - early, start)
        self.seconds = time.process_time() - begin

    def scores(self, rows: Any) -> Floats:
        X = self.data.X[rows]
        begun = raw(self.all_rows, X, num_iteration=self.early) if self.early else 0.0
        return raw(self.model, X) + begun

    def held_out(self, at_most: int) -> HeldOut:
        """Scores of so many rows, and the scale by as many."""
        seen, rest = self.train[:at_most], self.rest[:at_most]
        scale = Scale.of(raw(self.all_rows, self.data.X[seen]))
        scores = Scale.of(self.scores(seen)).moved(self.scores(rest), to=scale)
        return HeldOut(scores, self.data.y[rest], None)


def ways(model: Any, data: Data) -> Iterator[tuple[str, list[Part], int]]:
    """Names, the models that score rows, and how many rows each of them scores."""
    split = {
        name: next(StratifiedShuffleSplit(1, train_size=share, random_state=0).split(*data[:2]))
        for name, share in PARTS.items()
    }
    parts = {name: Part(model, data, rows) for name, rows in split.items()}
    for name, part in parts.items():
        yield name, [part], AT_MOST
    half, rows = parts["a half"], split["a half"]
    yield "a half, which scores all others", [half], len(data.y)
    yield BASE, [half, Part(model, data, rows[::-1])], len(data.y)
    if len(data.y) > LARGE:
        return
    yield "the late rounds of a half", [Part(model, data, rows, early=ROUNDS // 2)], AT_MOST


def together(held_out: list[HeldOut]) -> HeldOut:
    scores, codes, _, _ = zip(*held_out, strict=True)
    return HeldOut(np.concatenate(scores), np.concatenate(codes), None)


def measures(y: Any, scores: Floats, p: Floats, threshold: float) -> dict[str, float]:
    """Those of test rows."""
    predicted = scores > threshold
    found = log_loss(y, p), brier_score_loss(y, p), f1_score(y, predicted), roc_auc_score(y, scores)
    return dict(zip(MEASURES, (*found, abs(predicted.mean() / y.mean() - 1)), strict=True))


def calibrated(y: Any, scores: Floats, sigmoid: Sigmoid, threshold: float) -> dict[str, float]:
    return measures(y, scores, sigmoid.predict_proba(scores[:, None])[:, 1], threshold)


def timed(act: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    return act(), time.process_time() - begin


def fit(key: tuple[str, int]) -> dict[str, Any]:
    with limit_threads(1):
        random = np.random.default_rng(0)
        trained(random.normal(size=(400, 2)), np.arange(400) % 2)  # compiles
        data, begin = data_of(*key), time.process_time()
        log_loss_model, seconds = timed(lambda: lgb.LGBMClassifier(**TREES).fit(data.X, data.y))
        p = log_loss_model.predict_proba(data.X_test)[:, 1]
        found = {LOG_LOSS: measures(data.y_test, p, p, 0.5) | {"seconds": seconds}}
        model, seconds_of_model = timed(lambda: trained(data.X, data.y))
        scores = raw(model, data.X_test)
        for name, parts, at_most in ways(model, data):
            begin_way = time.process_time()
            rows = together([part.held_out(at_most) for part in parts])
            set_by_rows = fit_calibrator(rows), threshold_by_share(rows)
            seconds = time.process_time() - begin_way + sum(part.seconds for part in parts)
            found[name] = calibrated(data.y_test, scores, *set_by_rows) | {"seconds": seconds}
        if len(data.y) <= LARGE:
            train, rest = train_test_split(
                np.arange(len(data.y)), test_size=0.1, stratify=data.y, random_state=0
            )
            smaller, seconds = timed(lambda: trained(data.X[train], data.y[train]))
            rows = HeldOut(raw(smaller, data.X[rest]), data.y[rest], None)
            scores, more = raw(smaller, data.X_test), {"seconds": seconds - seconds_of_model}
            set_by_rows = fit_calibrator(rows), threshold_by_share(rows)
            found[HELD_OUT] = calibrated(data.y_test, scores, *set_by_rows) | more
    return {
        "key": key, "rows": len(data.y), "positives": int(data.y.sum()), "ways": found,
        "seconds_of_model": seconds_of_model, "seconds": time.process_time() - begin,
    }  # fmt: skip


Fits = dict[str, list[dict[str, Any]]]


def times(fits: Fits, way: str = "") -> str:
    """The time of the model and of a way over that of LightGBM's log-loss: a geometric mean."""
    ratios = []
    for of_table in fits.values():
        plain = sum(one["ways"][LOG_LOSS]["seconds"] for one in of_table)
        model = sum(one["seconds_of_model"] for one in of_table)
        more = sum(one["ways"][way]["seconds"] for one in of_table) if way else 0.0
        ratios.append(1.0 if way == LOG_LOSS else (model + more) / plain)
    return f"{np.exp(np.mean(np.log(ratios))):.2f}"


def difference(fits: Fits, way: str, measure: str) -> Tested | str:
    """From two halves: the mean over tables, with the error over trainings."""
    effects = [
        over_folds([
            on_queries([one["ways"][way][measure] - one["ways"][BASE][measure] for one in of_table])
        ])
        for of_table in fits.values()
    ]  # fmt: skip
    mean = over_sets(effects)
    return Tested(f"{mean.mean:+.4f} ± {mean.error:.4f}", mean.p_value)


def table_of(fits: Fits) -> Table:
    names = next(iter(fits.values()))[0]["ways"]
    rows: list[list[Any]] = []
    for way in (BASE, *(name for name in names if name not in (BASE, LOG_LOSS))):
        means = [
            np.mean([np.mean([one["ways"][way][m] for one in t]) for t in fits.values()])
            for m in MEASURES
        ]
        cells = (
            [f"{mean:.4f}" for mean in means]
            if way == BASE
            else [difference(fits, way, measure) for measure in MEASURES]
        )
        rows.append([way, *cells, times(fits, way)])
    foot = (
        f"{len(fits)} tables; the first row has means, the others differences from it, ± standard "
        "errors over trainings; share off: how far the rows predicted to be positive, by those "
        "that are, differ from 1; time: over that of LightGBM's log-loss; without calibration "
        f"{times(fits)}"
    )
    return Table(["rows of the further model", *MEASURES, "time"], rows, [foot])


def show(given: argparse.Namespace) -> None:
    fits: Fits = {}
    for one in sorted(read(given.kept), key=lambda one: one["key"]):
        fits.setdefault(one["key"][0], []).append(one)
    ends = [*list(LEAST_ROWS.values())[1:], 10**9]
    tables = {}
    for (title, least), end in zip(LEAST_ROWS.items(), ends, strict=True):
        of_size = {name: t for name, t in fits.items() if least <= t[0]["rows"] < end}
        if of_size:
            tables[f"Classifiers, {title}"] = table_of(of_size)
    tables |= {"By table": by_table(fits)} if fits else {}
    keep_tables("calibration", dict(enumerate(chain.from_iterable(fits.values()))), tables)


def by_table(fits: Fits) -> Table:
    """What could hide in means: log-loss and time of all ways on each table."""
    ways = [*dict.fromkeys(chain.from_iterable(t[0]["ways"] for t in fits.values()))]
    rows = []
    for name, of_table in fits.items():
        first, cells = of_table[0], []
        for way in ways:
            losses = [one["ways"][way]["log-loss"] for one in of_table if way in one["ways"]]
            shown = f"{np.mean(losses):.4f} ({times({name: of_table}, way)})" if losses else ""
            cells.append(shown)
        rows.append([name, first["rows"], first["positives"], len(of_table), *cells])
    foot = "log-loss of test rows, and time over that of LightGBM's log-loss"
    return Table(["table", "rows", "positives", "seeds", *ways], rows, [foot])


def main() -> None:
    given = study_parser(__doc__, "calibration").parse_args()
    run(given, fit, lambda given: product(given.sets, given.seeds), show)


if __name__ == "__main__":
    main()
