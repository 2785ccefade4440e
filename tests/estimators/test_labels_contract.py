"""Labels of classifiers: of two classes, of any type, the same in all sets."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from contracts import Raises, Rows, contract, hold
from sklearn.exceptions import NotFittedError
from small_classifiers import NATIVE, X, Y, alone, held_out, made

import lambdaplus as lp


def best(labels: Any, **options: Any) -> Any:
    """The watched value of the second half."""
    model = made(lp.LightGBMClassifier, **{"objective": "binary", "eval_metric": "map", **options})
    model.fit(X[:150], labels[:150], **held_out(X[150:], labels[150:]))
    return next(iter(model.best_score_["valid_0"].values()))


LABELS: Rows = {
    "labels 1 and 2 of eval_y, our metric": (lambda: best(Y + 1), lambda: best(Y)),
    "names in eval_y, our metric": (lambda: best(np.where(Y, "y", "n")), lambda: best(Y)),
    "labels 5 to 7 of eval_y, LightGBM's metric":
        (lambda: best(np.arange(300) % 3 + 5, objective="multiclass", eval_metric=None),
         lambda: best(np.arange(300) % 3, objective="multiclass", eval_metric=None)),
    "a label that y lacks in eval_y":
        (lambda: best(np.append(Y[:150], Y[150:] + 1)), Raises("0: .2. are none of|unseen labels")),
    "a class that y lacks":
        (lambda: alone(Y, pos_label=2), Raises(r"pos_label=2 is none of \[0, 1\]")),
    "weights of other classes":
        (lambda: alone(Y, class_weight={"0": 1, 1: 5}), Raises("are none of the classes .0, 1.")),
    "weights of classes of an evaluation set": (
        lambda: made(lp.LightGBMClassifier).fit(
            X, Y, eval_set=[(X, Y)], eval_class_weight=[{1: 5.0}]
        ),
        Raises("pass eval_sample_weight"),
    ),
    "XGBoost's objective, labels 1 and 2, our metric": (
        lambda: made(lp.XGBoostClassifier, objective="binary:logistic", eval_metric="map").fit(
            X, Y + 1
        ),
        Raises(r"y has the labels \[1, 2\]: XGBoost's own .* need 0 and 1"),
    ),
    "a label that y lacks in eval_set": (
        lambda: made(lp.XGBoostClassifier, objective="binary:logistic", eval_metric="map").fit(
            X, Y, eval_set=[(X, Y), (X, Y + 1)]
        ),
        Raises(r"evaluation set 1 has the labels \[1, 2\]: XGBoost's own"),
    ),
}  # fmt: skip


@contract(LABELS)
def test_labels_are_those_of_one_problem(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
@pytest.mark.parametrize(
    ("weights", "trained"),
    [(None, 1), (np.where(Y, 9.0, 1.0), 0), (np.where(Y, np.sum(Y == 0), np.sum(Y)), 1)],
    ids=["counts", "weights", "as many"],
)
def test_the_class_whose_rows_weigh_less_is_trained(kind: Any, weights: Any, trained: int) -> None:
    model = made(kind).fit(X, Y, sample_weight=weights)
    assert model.pos_label_ == trained
    assert model.decision_function(X)[Y == 1].mean() > model.decision_function(X).mean()


UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "three classes":
        ({"y": np.arange(300) % 3}, "Only binary classification is supported.*multiclass"),
    "one class": ({"y": np.zeros(300)}, "y holds one class"),
    "labels of mixed types":
        ({"y": np.array(["no", 1], object)[Y]}, "y holds objects of type int and str: .* all text"),
    "NaN": ({"y": np.where(np.arange(300) == 5, np.nan, Y)}, "NaN"),
    "a label of an evaluation set": ({"eval_set": [(X, Y * 2)]}, "set 0: .2. are none of"),
    "a negative weight": ({"sample_weight": np.full(300, -1.0)}, "weights must not be negative"),
}  # fmt: skip


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
@pytest.mark.parametrize(("given", "message"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_fit_that_fails_leaves_no_model(given: dict[str, Any], message: str, kind: Any) -> None:
    model = made(kind).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.fit(**{"X": X, "y": Y, **given})
    assert not hasattr(model, "offset_")
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
def test_pos_label_of_another_objective_is_warned_of(kind: Any) -> None:
    with pytest.warns(UserWarning, match="pos_label has no effect with the framework's") as told:
        made(kind, objective=NATIVE[kind], pos_label=0).fit(X, Y)
    assert told[0].filename == __file__
