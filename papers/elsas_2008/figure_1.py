"""Figure 1: learning curves on validation data, and what the alpha bound does to them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lambdaplus.baselines import CommitteePerceptron
from lambdaplus.data import Fold
from lambdaplus.evaluation import Table
from papers.elsas_2008.systems import NDCG_10, Values
from papers.paper import Claim
from papers.session import Session, points

FORMS: Mapping[str, dict[str, Any]] = {  # of figure 1
    "Com 20": {"committee_size": 20},
    "Average": {"variant": "average"},
    "Pocket": {"variant": "pocket"},
}


ORDER, READING = "list", "pairs in list order"  # of figure 1
STABLE_OVER = 50  # passes over which the alpha bound is judged
MARKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # passes
CLOSE = 0.002  # within so much of its last value a curve is called stable
Curves = Mapping[str, Mapping[str, Values]]  # by metric and form: (passes,)


def learning_curves(fold: Fold, passes: int, options: dict[str, Any]) -> dict[str, list[float]]:
    """Validation metrics after each pass."""
    model = CommitteePerceptron(
        n_iter=passes, metric=NDCG_10, curve_metrics=("map",), random_state=0, **options
    )
    train, valid = fold.train, fold.valid
    model.fit(
        train.features, train.labels, qid=train.qid,
        eval_set=(valid.features, valid.labels, valid.qid),
    )  # fmt: skip
    return {name: [float(v) for v in curve] for name, curve in model.learning_curves_.items()}


def mean_curves(session: Session, folds: Sequence[Fold], passes: int, **others: object) -> Curves:
    items = {
        f"{name} {fold.name}": (fold, passes, {**options, "order": ORDER, **others})
        for (name, options), fold in itertools.product(FORMS.items(), folds)
    }
    each = session.collect(learning_curves, items)
    return {
        metric: {
            name: np.mean([each[f"{name} {fold.name}"][metric] for fold in folds], axis=0)
            for name in FORMS
        }
        for metric in (NDCG_10, "map")
    }


def peak(curve: Values) -> int:
    """Pass with the highest value."""
    return int(curve.argmax()) + 1


def stable(curve: Values) -> int:
    """Pass after which the curve stays within `CLOSE` of its last value."""
    far = np.flatnonzero(np.abs(curve - curve[-1]) > CLOSE)
    return int(far[-1]) + 2 if far.size else 1


def table(curves: Curves) -> Table:
    rows = [
        [title, name, *(float(curve[m - 1]) for m in MARKS if m <= curve.size), peak(curve),
         stable(curve)]
        for title, of_metric in zip(("NDCG@10", "MAP"), curves.values(), strict=True)
        for name, curve in of_metric.items()
    ]  # fmt: skip
    heads = [f"pass {m}" for m in MARKS if m <= curves["map"]["Average"].size]
    foot = f"Means over the folds. Stable from: from here within {CLOSE:g} of the last value."
    columns = ("metric", "", *heads, "highest at", "stable from")
    return Table(columns, rows, (foot,), narrow=True)


def claims(curves: Curves) -> list[Claim]:
    of_metric = curves[NDCG_10]
    others = np.max([of_metric["Average"], of_metric["Pocket"]], axis=0)
    ahead = float(np.mean(of_metric["Com 20"] > others))
    long = others.size >= 500  # the passes that the paper speaks of
    settled = {name: stable(curve) for name, curve in of_metric.items()}
    peaks = {name: peak(curve) for name, curve in of_metric.items()}

    def listed(passes: Mapping[str, int]) -> str:
        return ", ".join(f"{n} ({name})" for name, n in passes.items())

    return [
        Claim(
            "Figure 1",
            "The committee approaches a stable solution in many fewer passes than the pocket and "
            "average perceptrons.",
            2 * settled["Com 20"] < min(settled["Average"], settled["Pocket"]) if long else None,
            f"from pass {listed(settled)}",
            READING,
        ),
        Claim(
            "Figure 1",
            "The committee consistently outperforms both of them on validation data.",
            ahead > 0.9 if long else None,
            f"above both after {ahead:.0%} of {others.size} passes",
            READING,
        ),
        Claim(
            "Section 6.2",
            "The committee is at its best before some 50 passes; the average perceptron still "
            "improves after 500.",
            peaks["Com 20"] <= 50 and peaks["Average"] > 450 if long else None,
            f"after pass {listed(peaks)}",
            READING,
        ),
    ]


def change(curve: Values, passes: int) -> float:
    """Mean absolute change from one pass to the next, over the first passes."""
    return float(np.abs(np.diff(curve[:passes])).mean()) if passes > 1 else 0.0


def bound_claim(curves: Curves, bounds: Mapping[str, Curves]) -> Claim:
    """Stable: a smaller change of validation NDCG@10 from pass to pass."""
    without, removed = (bounds[name][NDCG_10] for name in ("none", "remove"))
    passes = without["Com 20"].size
    told = {
        what: {name: change(of[name], passes) for name in FORMS}
        for what, of in (("bound", curves[NDCG_10]), ("none", without), ("removed", removed))
    }

    def listed(what: str) -> str:
        return ", ".join(points(value) for value in told[what].values())

    return Claim(
        "Section 6.2",
        "The alpha bound makes all variants of the perceptron more stable.",
        all(told["bound"][name] < told["none"][name] for name in FORMS) if passes > 2 else None,
        f"change from pass to pass {listed('bound')}, without {listed('none')}, with removal for "
        f"good {listed('removed')} ({', '.join(FORMS)})",
        READING,
    )
