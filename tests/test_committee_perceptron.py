"""The committee perceptron against the paper's tables, written out with explicit pairs."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from baseline_data import NOT_FOR_PAIRS, halves
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import Small, graded

from lambdaplus.baselines import CommitteePerceptron
from lambdaplus.baselines.preference_pairs import documents, nth, preference_pairs, shuffle
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data.queries import Queries
from lambdaplus.evaluation import evaluate

Array = NDArray[Any]
METRIC = "ndcg@5"


@cache
def small() -> tuple[Small, Small]:
    return halves(graded(24))


def fit(data: Small, held_out: Small | None = None, **options: Any) -> CommitteePerceptron:
    eval_set = None if held_out is None else (held_out.features, held_out.labels, held_out.qid)
    model = CommitteePerceptron(**{"metric": METRIC, "random_state": 3, "n_iter": 6, **options})
    return model.fit(data.features, data.labels, qid=data.qid, eval_set=eval_set)


def value(data: Small, scores: Array, metric: str = METRIC) -> float:
    return evaluate(data.labels, scores, qid=data.qid, metrics=metric)[metric]


@cache
def hypotheses(
    data: Small, passes: int, n_iter: int, alpha_bound: float | None = None, seed: int = 3
) -> list[tuple[Array, int]]:
    """Table 1: every hypothesis with the number of pairs it survived, after several passes."""
    queries = Queries(data.labels, group=data.sizes)
    pairs = preference_pairs(queries)
    X = data.features[queries.row_order]
    random = np.random.RandomState(seed)
    w, c = np.zeros(X.shape[1]), 0
    found: list[tuple[Array, int]] = []
    misses = [0] * pairs.n_pairs
    every = [documents(pairs, pair) for pair in range(pairs.n_pairs)]
    scores = [0.0] * len(X)
    for _ in range(passes):
        order = shuffle(pairs.n_pairs, random)
        for place in range(pairs.n_pairs):
            pair = nth(order, place)
            if alpha_bound is not None and misses[pair] > alpha_bound * n_iter:
                continue
            i, j = every[pair]
            if scores[j] >= scores[i]:
                found.append((w, c))
                w = w + pairs.rate[i] * (X[i] - X[j])
                scores = (X @ w).tolist()
                c = 0
                misses[pair] += 1
            else:
                c += 1
    return [*found, (w, c)]  # the last one is a candidate, too


def committee(every: list[tuple[Array, int]], size: int) -> list[tuple[Array, int]]:
    """Table 2, with N_sub read as N_com."""
    members: list[tuple[Array, int]] = []
    for w, c in every:
        if len(members) < size:
            members.append((w, c))
            continue
        shortest = min(range(size), key=lambda k: members[k][1])
        if c > members[shortest][1]:
            members[shortest] = (w, c)
    return members


def same_members(model: CommitteePerceptron, expected: list[tuple[Array, int]]) -> bool:
    mine = sorted(zip(model.survival_.tolist(), model.hypotheses_.tolist(), strict=True))
    theirs = sorted((c, w.tolist()) for w, c in expected)
    return np.allclose([w for _, w in mine], [w for _, w in theirs], rtol=1e-9, atol=1e-12) and (
        [c for c, _ in mine] == [c for c, _ in theirs]
    )


@pytest.mark.parametrize("alpha_bound", [None, 0.4])
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_committee_is_that_of_the_paper(size: int, alpha_bound: float | None) -> None:
    train, valid = small()
    model = fit(train, valid, committee_size=size, alpha_bound=alpha_bound)
    every = hypotheses(train, model.n_iter_, 6, alpha_bound)
    expected = committee(every, size)
    if size == 7:  # members that survived equally long may differ by who was replaced
        assert sorted(c for _, c in expected) == sorted(model.survival_.tolist())
    else:
        assert same_members(model, expected)
    some = slice(None, None, max(1, len(model.votes_) // 50))
    votes = [value(valid, valid.features @ w) for w in model.hypotheses_[some]]
    np.testing.assert_allclose(model.votes_[some], votes, rtol=1e-12)
    np.testing.assert_allclose(model.coef_, model.votes_ @ model.hypotheses_, rtol=1e-12)
    np.testing.assert_allclose(model.predict(valid.features), valid.features @ model.coef_)


def test_alpha_bound_leaves_out_pairs() -> None:
    """Otherwise the test above could pass with a bound that does nothing."""
    train, _ = small()
    assert len(hypotheses(train, 6, 6, 0.4)) < len(hypotheses(train, 6, 6))


def test_classic_forms() -> None:
    train, valid = small()
    for variant in ("last", "pocket", "average", "voted"):
        model = fit(train, valid, variant=variant, alpha_bound=None)
        every = hypotheses(train, model.n_iter_, 6)
        if variant == "last":
            expected = every[-1][0]
        elif variant == "pocket":
            longest = max(range(len(every)), key=lambda k: every[k][1])
            expected = every[longest][0] * model.votes_[0]
        elif variant == "average":
            expected = sum(c * w for w, c in every) / sum(c for _, c in every)
        else:
            assert same_members(model, every)
            continue
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-9, atol=1e-12)


def test_one_member_is_the_pocket_and_all_members_are_the_average() -> None:
    train, valid = small()
    one = fit(train, valid, committee_size=1, weights="survival")
    pocket = fit(train, valid, variant="pocket")
    np.testing.assert_array_equal(one.hypotheses_, pocket.hypotheses_)
    assert one.n_iter_ == pocket.n_iter_
    everyone = fit(train, valid, committee_size=10**6, weights="survival")
    average = fit(train, valid, variant="average")
    assert everyone.n_iter_ == average.n_iter_
    scale = everyone.survival_.sum()
    np.testing.assert_allclose(everyone.coef_ / scale, average.coef_, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"combine": "borda"},
        {"variant": "voted"},
        {"variant": "average"},
        {"normalize": True},
        {"kernel": "rbf", "combine": "borda"},
    ],
)
def test_curve_is_what_the_model_scores_and_its_best_pass_is_kept(options: Any) -> None:
    train, valid = small()
    model = fit(train, valid, curve_metrics=("map", "auc"), **options)
    scores = model.predict(valid.features, qid=valid.qid)
    for metric in (METRIC, "map", "auc"):
        assert len(model.learning_curves_[metric]) == 6
        at_best = model.learning_curves_[metric][model.n_iter_ - 1]
        assert at_best == pytest.approx(value(valid, scores, metric), abs=1e-12)
    assert model.learning_curves_[METRIC].argmax() == model.n_iter_ - 1


def test_borda_count_is_the_weighted_number_of_documents_beaten() -> None:
    train, valid = small()
    model = fit(train, valid, combine="borda", committee_size=5)
    shuffled = np.random.default_rng(0).permutation(valid.n)  # rows of a query may be anywhere
    scores = model.predict(valid.features[shuffled], qid=valid.qid[shuffled])
    expected = np.zeros(valid.n)
    for vote, w in zip(model.votes_, model.hypotheses_, strict=True):
        for q in np.unique(valid.qid):
            rows = valid.qid == q
            expected[rows] += vote * (rankdata(valid.features[rows] @ w) - 1)
    np.testing.assert_allclose(scores, expected[shuffled], rtol=1e-12)
    with pytest.raises(ValueError, match="pass the query of each row"):
        model.predict(valid.features)
    assert not hasattr(model, "coef_")


def test_subcommittee_is_the_best_by_the_metric() -> None:
    train, valid = small()
    whole = fit(train, valid, committee_size=12, n_iter=1)
    some = fit(train, valid, committee_size=12, n_iter=1, subcommittee_size=4)
    np.testing.assert_array_equal(np.sort(some.votes_), np.sort(whole.votes_)[-4:])
    by_survival = fit(
        train, valid, committee_size=12, n_iter=1, subcommittee_size=4, weights="survival"
    )
    np.testing.assert_array_equal(by_survival.hypotheses_, some.hypotheses_)
    np.testing.assert_array_equal(by_survival.votes_, by_survival.survival_)


def test_burn_in_takes_the_vote_from_the_first() -> None:
    train, valid = small()
    options = {"committee_size": 10**6, "weights": "survival", "n_iter": 1, "alpha_bound": None}
    every = hypotheses(train, 1, 1)
    assert same_members(fit(train, valid, burn_in=30, **options), every[30:])
    average = fit(train, valid, burn_in=30, variant="average", n_iter=1, alpha_bound=None)
    expected = sum(c * w for w, c in every[30:]) / sum(c for _, c in every[30:])
    np.testing.assert_allclose(average.coef_, expected, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="burn_in=1000000 leaves no hypothesis to vote"):
        fit(train, valid, burn_in=10**6)


def test_members_of_unit_length() -> None:
    train, valid = small()
    linear = fit(train, valid, normalize=True)
    lengths = np.linalg.norm(linear.hypotheses_, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1.0)
    dual = fit(train, valid, normalize=True, kernel="poly")
    gram = (dual.X_fit_ @ dual.X_fit_.T / train.features.shape[1] + 1.0) ** 3
    squares = np.einsum("ki,ij,kj->k", dual.hypotheses_, gram, dual.hypotheses_)
    np.testing.assert_allclose(squares[squares > 0], 1.0)


def exact() -> tuple[Small, Small]:
    """Data on which every step of training is free of rounding: |S_q| is a power of 2."""
    random = np.random.default_rng(5)
    labels = np.tile([1.0, 1.0, 0.0, 0.0, 0.0, 0.0], 16)  # 8 pairs a query
    features = random.integers(-4, 5, (96, 3)) + labels[:, None]
    return halves(Small(features, labels, np.full(16, 6)))


def test_dual_form_is_the_linear_one_under_the_linear_kernel() -> None:
    train, valid = exact()
    options = {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 0.0}
    for variant in ("committee", "last", "average", "voted"):
        linear = fit(train, valid, variant=variant)
        dual = fit(train, valid, variant=variant, **options)
        assert linear.n_iter_ == dual.n_iter_
        np.testing.assert_allclose(dual.hypotheses_ @ dual.X_fit_, linear.hypotheses_, rtol=1e-12)
        np.testing.assert_array_equal(dual.survival_, linear.survival_)


def test_a_kernel_learns_what_no_linear_ranker_can() -> None:
    random = np.random.default_rng(0)
    features = random.normal(size=(400, 2))
    labels = (features[:, 0] * features[:, 1] > 0).astype(float)
    data = Small(features, labels, np.full(20, 20))
    train, valid = halves(data)
    linear, rbf = (fit(train, kernel=kernel, n_iter=20) for kernel in ("linear", "rbf"))
    assert value(valid, linear.predict(valid.features), "auc") < 0.7
    assert value(valid, rbf.predict(valid.features), "auc") > 0.95


def test_same_state_same_model_on_any_number_of_threads() -> None:
    train, valid = halves(graded(2000))  # enough documents for several threads
    models = []
    for count in (1, 2):
        with limit_threads(count):
            models.append(fit(train, valid, n_iter=2))
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    other = fit(train, valid, n_iter=2, random_state=4)
    assert not np.allclose(other.coef_, models[0].coef_)


def test_queries_in_pieces_are_the_same_queries() -> None:
    train, valid = small()
    # Document by document through all queries: each query keeps the order of its own rows.
    place = np.concatenate([np.arange(size) for size in train.sizes])
    torn = np.argsort(place, kind="stable")
    model = CommitteePerceptron(metric=METRIC, random_state=3, n_iter=6)
    pieces = clone(model).fit(train.features[torn], train.labels[torn], qid=train.qid[torn])
    whole = model.fit(train.features, train.labels, qid=train.qid)
    np.testing.assert_array_equal(pieces.coef_, whole.coef_)
    del valid


def test_pickle_and_clone() -> None:
    train, valid = small()
    model = fit(train, valid, combine="borda", kernel="rbf")
    copy = pickle.loads(pickle.dumps(model))
    scores = model.predict(valid.features, qid=valid.qid)
    np.testing.assert_array_equal(copy.predict(valid.features, qid=valid.qid), scores)
    again = clone(model).fit(
        train.features, train.labels, qid=train.qid,
        eval_set=(valid.features, valid.labels, valid.qid),
    )  # fmt: skip
    np.testing.assert_array_equal(again.predict(valid.features, qid=valid.qid), scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"committee_size": 0}, "committee_size"),
        ({"n_iter": 0}, "n_iter"),
        ({"n_iter": 70_000}, "n_iter"),
        ({"variant": "best"}, "variant"),
        ({"combine": "mean"}, "combine"),
        ({"alpha_bound": 0.0}, "alpha_bound"),
        ({"alpha_bound": float("nan")}, "alpha_bound"),
        ({"gamma": -1.0}, "gamma"),
        ({"metric": "ndgc"}, "did you mean 'ndcg'"),
    ],
)
def test_wrong_parameters_are_named(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(graded(4), **options)


def test_unusable_validation_data() -> None:
    train, valid = small()
    X, y, qid = train.features, train.labels, train.qid
    model = CommitteePerceptron()
    with pytest.raises(ValueError, match="eval_set must be"):
        model.fit(X, y, qid=qid, eval_set=X)
    with pytest.raises(ValueError, match=r"ndcg@10 has no value on any query"):
        model.fit(X, y, qid=qid, eval_set=(valid.features, np.zeros(valid.n), valid.qid))
    with pytest.raises(ValueError, match="features"):
        model.fit(X, y, qid=qid, eval_set=(valid.features[:, 1:], valid.labels, valid.qid))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2, np.nan, X), y, qid=qid)
    with pytest.raises(ValueError, match="no query has two documents with different labels"):
        model.fit(X, np.ones(len(y)), qid=qid)


@parametrize_with_checks(
    [CommitteePerceptron(n_iter=3, random_state=0)],
    expected_failed_checks=lambda estimator: NOT_FOR_PAIRS,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
