"""What all baselines have in common: conventions, order of rows, threads, errors."""

import pickle
import re
from typing import Any

import numpy as np
import pytest
from baseline_data import halves
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import graded, value

from lambdaplus.baselines import (
    BestFeature,
    CommitteePerceptron,
    McRank,
    QueryScaler,
    RankBoost,
    RankSVM,
    StructuralSVM,
    SVMAccuracy,
    SVMCombo,
)
from lambdaplus.compute.parallel import limit_threads
from papers.threshold_features import ThresholdFeatures

VALIDATED = [
    BestFeature(),
    CommitteePerceptron(n_iter=3, random_state=0),
    McRank(n_estimators=3, n_jobs=1, random_state=0),
    RankBoost(10),
]
STRUCTURAL = [StructuralSVM(), SVMCombo(["map", "ndcg"])]
RANKERS = [*VALIDATED, *STRUCTURAL, RankSVM(), SVMAccuracy()]
SCALERS = [QueryScaler(), ThresholdFeatures()]


def name_of(estimator: Any) -> str:
    return type(estimator).__name__


def expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, CommitteePerceptron | RankBoost | RankSVM):
        return {"check_fit2d_1sample": "one document can't be ranked: the message differs"}
    if isinstance(estimator, QueryScaler):
        return {"check_methods_subset_invariance": "without qid all rows are one query"}
    if isinstance(estimator, StructuralSVM | SVMAccuracy | SVMCombo):
        one_class = "all labels of that check are relevant, which is a single class"
        return {"check_estimators_dtypes": one_class, "check_fit2d_1feature": one_class}
    return {}


@pytest.mark.parametrize("made", [*STRUCTURAL, RankSVM(), SVMAccuracy(), VALIDATED[1]], ids=name_of)
def test_features_that_would_overflow_are_an_error(made: Any) -> None:
    data = graded(12)
    huge = data.features.copy()
    huge[7, 2] = -1e150
    message = r"feature 2 has absolute values up to 1e\+150.*: scale the features"
    with pytest.raises(ValueError, match=message):
        clone(made).fit(huge, data.labels, data.qid)
    model = clone(made).fit(*data.ranking)
    with pytest.raises(ValueError, match=message):
        model.predict(huge)


@pytest.mark.filterwarnings("ignore:w = 0 is optimal")
@parametrize_with_checks([*RANKERS, *SCALERS], expected_failed_checks=expected_failures)
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=name_of)
def test_queries_in_pieces_are_the_same_queries_and_models_pickle(ranker: Any) -> None:
    data = graded(24)
    # Document by document through all queries: each query keeps the order of its own rows.
    place = np.concatenate([np.arange(size) for size in data.sizes])
    torn = np.argsort(place, kind="stable")
    whole = clone(ranker).fit(*data.ranking)
    pieces = clone(ranker).fit(data.features[torn], data.labels[torn], qid=data.qid[torn])
    copy = pickle.loads(pickle.dumps(pieces))
    scores = whole.predict(data.features)
    np.testing.assert_array_equal(pieces.predict(data.features), scores)
    np.testing.assert_array_equal(copy.predict(data.features), scores)


@pytest.mark.parametrize(
    "ranker",
    [RankSVM(), RankBoost(10), StructuralSVM(C=100.0), CommitteePerceptron(n_iter=2)],
    ids=name_of,
)
def test_threads_do_not_change_a_bit(ranker: Any) -> None:
    data = graded(2000)  # enough documents for several threads
    if "random_state" in ranker.get_params():
        ranker.set_params(random_state=0)
    scores = []
    for threads in (1, 2):
        with limit_threads(threads):
            model = clone(ranker).fit(*data.ranking)
        scores.append(model.predict(data.features))
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("ranker", VALIDATED, ids=name_of)
def test_validation_data_are_checked(ranker: Any) -> None:
    train, valid = halves(graded(24))
    X, y, qid = valid.features, valid.labels, valid.qid
    model = clone(ranker).set_params(metric="map")
    for eval_set, message in (
        (X, "eval_set must be"),
        ((X, np.zeros(valid.n), qid), "map has no value on any query"),
        ((X[:, 1:], y, qid), "features"),
        ((np.where(X > 2, np.nan, X), y, qid), "NaN"),
        ((X, y, qid[1:]), "one entry per row"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(train.features, train.labels, qid=train.qid, eval_set=eval_set)
    with pytest.raises(ValueError, match="did you mean 'ndcg'"):
        model.set_params(metric="ndgc").fit(train.features, train.labels, eval_set=(X, y))


@pytest.mark.parametrize("ranker", RANKERS, ids=name_of)
def test_labels_that_are_all_the_same_or_missing_teach_nothing(ranker: Any) -> None:
    data = graded(4)
    message = {
        BestFeature: "ndcg@10 has no value on any query",
        McRank: "all labels are 0, one class; at least two",
        StructuralSVM: "labels of one class only",
        SVMAccuracy: "one class only",
        SVMCombo: "labels of one class only",
    }.get(type(ranker), "no query has two documents with different labels")
    with pytest.raises(ValueError, match=message):
        clone(ranker).fit(data.features, np.zeros(data.n), qid=data.qid)
    with pytest.raises(ValueError, match="requires y to be passed"):
        clone(ranker).fit(data.features, None, qid=data.qid)


BOOSTING = {"n_estimators": 150, "patience": 6, "min_child_samples": 5, "n_jobs": 1}


@pytest.mark.parametrize(
    ("ranker", "rounds", "after"),
    [
        (RankBoost(80), "n_rounds_", None),
        (McRank("multiclass", random_state=0, **BOOSTING), "n_estimators_", 6),
        (McRank("ordinal", random_state=0, **BOOSTING), "n_estimators_", 6),
    ],
)
def test_rounds_are_chosen_on_validation_data(ranker: Any, rounds: str, after: int | None) -> None:
    train, valid = halves(graded(60))
    model = clone(ranker).set_params(metric="map").fit(*train.ranking, eval_set=valid.ranking)
    curve = model.learning_curve_
    assert getattr(model, rounds) == curve.argmax() + 1
    assert len(curve) == (80 if after is None else getattr(model, rounds) + after)
    found = value("map", valid, model.predict(valid.features))
    assert found == pytest.approx(curve.max(), abs=1e-12)


NOT_ALLOWED: dict[Any, dict[str, tuple[Any, ...]]] = {
    CommitteePerceptron: {
        "committee_size": (0,), "n_iter": (70_000,), "variant": ("best",), "combine": ("mean",),
        "weights": ("votes",), "alpha_bound": (0.0, np.nan),
    },
    McRank: {
        "variant": ("both",), "num_leaves": (1,), "patience": (0,), "n_jobs": ("", [1]),
        "n_estimators": (0,), "learning_rate": (0.0,), "min_child_samples": (-1,),
    },
    QueryScaler: {"method": ("mean",)},
    RankBoost: {"n_rounds": (0,)},
    RankSVM: {"C": (0.0, np.inf, 1e300), "max_iter": (0,), "tol": (-1.0,)},
    StructuralSVM: {
        "C": (0.0, np.nan, "a", 1e300), "tol": (0.0, "a"), "max_passes": (0,),
        "pair_scale": ("no",), "relevant": ("a",), "epsilon": (0.0,),
    },
    SVMAccuracy: {"relevant": ([1.0],), "variant": ("acc5",)},
    SVMCombo: {
        "relevant": (np.nan,), "slack": ("both",), "losses": (None, [], "map"), "tol": (0.0,),
        "max_passes": (0,), "epsilon": (0.0,),
    },
}  # fmt: skip


@pytest.mark.parametrize("estimator", NOT_ALLOWED, ids=lambda kind: kind.__name__)
def test_a_parameter_that_is_not_allowed_is_named_with_its_value(estimator: Any) -> None:
    data = graded(24)
    for name, values in NOT_ALLOWED[estimator].items():
        for wrong in values:
            message = rf"^{name}( must be .*got |=){re.escape(repr(wrong))}"
            with pytest.raises(ValueError, match=message):
                estimator(**{name: wrong}).fit(*data.ranking)
