"""Figure 1: learning curves on validation data, and what the alpha bound does to them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lambdaplus.baselines import CommitteePerceptron
from lambdaplus.data import Fold
from lambdaplus.evaluation import Table
from papers.drawing import Panel
from papers.elsas_2008.list_order import ListOrder
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
TITLES = ("NDCG@10", "MAP")  # the halves of the figure
CLOSE = 0.002  # within so much of its last value a curve is called stable
Curves = Mapping[str, Mapping[str, Values]]  # by metric and form: (passes,)


def learning_curves(fold: Fold, passes: int, given: dict[str, Any]) -> dict[str, list[float]]:
    """Validation metrics after each pass."""
    options = dict(given)
    kind = ListOrder if options.pop("order") == ORDER else CommitteePerceptron
    model = kind(n_iter=passes, metric=NDCG_10, curve_metrics=("map",), random_state=0, **options)
    train, valid = fold.train, fold.valid
    model.fit(
        train.features, train.labels, qid=train.qid,
        eval_set=(valid.features, valid.labels, valid.qid),
    )  # fmt: skip
    return {name: [float(v) for v in curve] for name, curve in model.learning_curves_.items()}


def mean_curves(session: Session, folds: Sequence[Fold], passes: int, **others: object) -> Curves:
    items = {
        f"{name} {fold.name}": (fold, passes, {"order": ORDER, **options, **others})
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
        for title, of_metric in zip(TITLES, curves.values(), strict=True)
        for name, curve in of_metric.items()
    ]  # fmt: skip
    heads = [f"pass {m}" for m in MARKS if m <= curves["map"]["Average"].size]
    foot = f"Means over the folds. Stable from: from here within {CLOSE:g} of the last value."
    columns = ("metric", "", *heads, "highest at", "stable from")
    return Table(columns, rows, (foot,), narrow=True)


def panels(curves: Curves) -> list[Panel]:
    return [
        Panel(
            f"Validation {title}",
            "pass over the pairs",
            {name: (np.arange(1, curve.size + 1), curve) for name, curve in of_metric.items()},
        )
        for title, of_metric in zip(TITLES, curves.values(), strict=True)
    ]


def claims(curves: Curves) -> list[Claim]:
    """By both halves of the figure, NDCG@10 and MAP."""
    halves = dict(zip(TITLES, curves.values(), strict=True))
    settled = {title: {n: stable(curve) for n, curve in of.items()} for title, of in halves.items()}
    peaks = {title: {n: peak(curve) for n, curve in of.items()} for title, of in halves.items()}
    ahead = {
        title: float(np.mean(of["Com 20"] > np.maximum(of["Average"], of["Pocket"])))
        for title, of in halves.items()
    }

    passes = halves["MAP"]["Average"].size
    long = passes >= 500  # of which the paper speaks
    shares = [f"{share:.0%} ({title})" for title, share in ahead.items()]

    def listed(found: Mapping[str, Mapping[str, int]]) -> str:
        each = (f"{', '.join(map(str, of.values()))} by {title}" for title, of in found.items())
        return f"{'; '.join(each)} ({', '.join(FORMS)})"

    return [
        Claim(
            "Figure 1",
            "The committee approaches a stable solution in many fewer passes than the pocket and "
            "average perceptrons.",
            all(2 * of["Com 20"] < min(of["Average"], of["Pocket"]) for of in settled.values())
            if long
            else None,
            f"from pass {listed(settled)}",
            READING,
        ),
        Claim(
            "Figure 1",
            "The committee consistently outperforms both of them on validation data.",
            min(ahead.values()) > 0.9 if long else None,
            f"above both after {' and '.join(shares)} of {passes} passes",
            READING,
        ),
        Claim(
            "Section 6.2",
            "The committee is at its best before some 50 passes; the average perceptron still "
            "improves after 500.",
            all(of["Com 20"] <= 50 and of["Average"] > 450 for of in peaks.values())
            if long
            else None,
            f"after pass {listed(peaks)}",
            READING,
        ),
    ]


def change(curve: Values, passes: int) -> float:
    """Mean absolute change from one pass to the next, over the first passes."""
    return float(np.abs(np.diff(curve[:passes])).mean()) if passes > 1 else 0.0


def bound_claim(bounds: Mapping[str, Curves], reading: str) -> Claim:
    """Stable: a smaller change of validation NDCG@10 from pass to pass."""
    bound, without = (bounds[name][NDCG_10] for name in ("bound", "none"))
    passes = without["Com 20"].size
    told = {name: (change(bound[name], passes), change(without[name], passes)) for name in FORMS}
    each = ", ".join(f"{points(a)} and {points(b)} ({name})" for name, (a, b) in told.items())
    return Claim(
        "Section 6.2",
        "The alpha bound makes all variants of the perceptron more stable.",
        all(a < b for a, b in told.values()) if passes > 2 else None,
        f"change from pass to pass with it and without: {each}",
        reading,
    )
