"""Values against the definitions, every order of ties, and other implementations; invariances."""

import itertools
import math
from typing import Any

import brute_force
import numpy as np
import pytest
import textbook_metrics
from drawn_queries import TIED_SCORES, by_default, kinds, label_lists, metrics, queries
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score
from small_data import graded
from textbook_metrics import CASCADE, DECLARED, value

import lambdaplus as lp
from lambdaplus import evaluate
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.metrics import CATALOGUE, parse_metric

Floats = NDArray[np.float64]

# Values are at most 1, and sums of at most some hundred terms of that size.
ROUNDING = 1e-12

each_declared = pytest.mark.parametrize("declaration", DECLARED, ids=lambda d: d.name)
each_kind = pytest.mark.parametrize("declaration", kinds(DECLARED), ids=lambda d: d.name)
PLAIN = [str(by_default(d)) for d in CATALOGUE]
each_metric = pytest.mark.parametrize("name", PLAIN)
each_of_sklearn = pytest.mark.parametrize(
    ("name", "theirs"), [("auc", roc_auc_score), ("map", average_precision_score)]
)


def one_value(metric: Any, labels: Any, scores: Any, **given_: Any) -> float:
    """Value of the one query."""
    found = evaluate(labels, scores, metrics=[metric], **({"group": [len(labels)]} | given_))
    [values] = found.per_query.values()
    return float(values[0])


def close(expected: float) -> Any:
    return pytest.approx(expected, abs=ROUNDING, nan_ok=True)


# The definitions ---------------------------------------------------------------------------------


@each_declared
@given(data=st.data())
@examples(50)
def test_a_list_without_ties_has_its_textbook_value(declaration, data) -> None:
    metric = data.draw(metrics(declaration))
    labels, scores = data.draw(queries(14, ties=False))
    ranked = [labels[i] for i in textbook_metrics.order_of(labels, scores)]
    assert one_value(metric, labels, scores) == close(value(metric, ranked))


@each_declared
def test_all_short_lists_have_their_textbook_values(declaration) -> None:
    """At every cutoff that may matter, so that no draw has to find the one list that tells."""
    lists = [list(y) for n in range(1, 5) for y in itertools.product([0.0, 1.0, 2.0], repeat=n)]
    labels, sizes = list(itertools.chain(*lists)), [*map(len, lists)]
    cutoffs = {"no": [None], "optional": [None, 1, 2, 3], "required": [1, 2, 3]}
    for metric in map(declaration, cutoffs[declaration.cutoff]):
        found = evaluate(labels, -np.arange(len(labels)), group=sizes, metrics=metric)
        expected = [value(metric, ranked) for ranked in lists]
        np.testing.assert_allclose(found.per_query[str(metric)], expected, rtol=0, atol=ROUNDING)


@each_declared
@given(data=st.data(), percent=st.sampled_from([1, 7, 12.5, 25, 40, 99]))
@examples(30)
def test_a_share_as_cutoff_is_the_number_of_ranks_of_each_query(declaration, data, percent) -> None:
    """Rounded up; in queries of several sizes, and in a table, whose rows are one list."""
    if declaration.cutoff == "no":
        with pytest.raises(ValueError, match="takes no cutoff, got @1%"):
            declaration("1%")
        return
    lists = [data.draw(queries(12, ties=False)) for _ in range(3)]
    share = declaration(f"{percent}%")
    if declaration in CATALOGUE:
        assert parse_metric(str(share)) == share

    def expected(labels, scores) -> float:
        k = max(1, -(-percent * 1000 * len(labels) // 100000))
        return value(
            declaration(int(k)), [labels[i] for i in textbook_metrics.order_of(labels, scores)]
        )

    labels, scores = (np.concatenate([one[i] for one in lists]) for i in (0, 1))
    sizes = [len(one[0]) for one in lists]
    of_queries = [expected(*one) for one in lists]
    found = evaluate(labels, scores, group=sizes, metrics=share)
    np.testing.assert_allclose(found.per_query[str(share)], of_queries, rtol=0, atol=ROUNDING)
    watched = lp.eval_metric(share)
    if not np.isnan(of_queries).all():
        [(name, mean, higher)] = [watched(labels, scores, None, sizes)]
        assert (name, higher) == (str(share), True)
        assert mean == close(float(np.nanmean(of_queries)))
    one, other = lists[0]
    assert evaluate(one, other, metrics=share)[str(share)] == close(expected(one, other))


@each_declared
@given(data=st.data())
@examples(50)
def test_tied_documents_count_at_the_mean_over_their_orders(declaration, data) -> None:
    """Or in the worst of them, if a reader may stop at a document or not; or as is asked for."""
    metric = data.draw(metrics(declaration))
    labels = data.draw(label_lists(6))
    scores = [data.draw(st.sampled_from(TIED_SCORES[:4])) for _ in labels]
    rows = sorted(range(len(labels)), key=lambda i: (-scores[i], i))
    every = textbook_metrics.tied_values(metric, labels, scores)
    expected = {"stable": value(metric, [labels[i] for i in rows])}
    expected |= {"worst": min(every), "best": max(every)}
    if declaration.closed_ties:
        expected |= {"expected": sum(every) / len(every)}
    else:
        with pytest.raises(ValueError, match="no closed form: use ties='worst'"):
            one_value(metric, labels, scores, ties="expected")
    for ties, wanted in expected.items():
        assert one_value(metric, labels, scores, ties=ties) == close(wanted)
    default = expected["expected" if declaration.closed_ties else "worst"]
    if declaration.correlation and len({*scores}) > 1:  # equal ones have the mean, 0
        default = textbook_metrics.rank_correlation(labels, scores)
    if declaration.closed_ties or max(labels) < 4:  # no certain stops
        assert one_value(metric, labels, scores) == close(default)


@each_of_sklearn
def test_ties_may_count_as_one_step_of_a_threshold_in_each_query(name: str, theirs: Any) -> None:
    parts = [sample(seed, n, ties) for seed, (n, ties) in enumerate([(9, 3), (2, 1), (40, 6)])]
    labels, scores = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    found = evaluate(labels, scores, group=[9, 2, 40], metrics=name, ties="together")
    expected = [theirs(part[0], part[1]) for part in parts]
    assert found.per_query[name].tolist() == [close(number) for number in expected]
    with pytest.raises(ValueError, match="does not support ties='together'"):
        evaluate(labels, scores, group=[9, 2, 40], metrics="ndcg", ties="together")


@pytest.mark.parametrize("doubtful", [[], [2.0]], ids=["all sure", "one doubtful"])
@given(data=st.data())
@examples(50)
def test_sure_stops_count_at_the_mean_over_their_orders_unless_one_is_doubtful(
    doubtful, data
) -> None:
    labels = doubtful + data.draw(st.lists(st.sampled_from([0.0, 4.0]), min_size=1, max_size=6))
    scores = [data.draw(st.sampled_from(TIED_SCORES[: 1 if doubtful else 4])) for _ in labels]
    every = textbook_metrics.tied_values(CASCADE(), labels, scores)
    expected = min(every) if doubtful else sum(every) / len(every)
    assert one_value(CASCADE, labels, scores) == close(expected)


@given(data=st.data())
@examples(50)
def test_class_shares_of_the_data_set_come_from_all_queries(data) -> None:
    classes = data.draw(st.sampled_from(["all", "relevant"]))
    metric = parse_metric("mauc", share="dataset", classes=classes)
    labels = data.draw(label_lists(6))
    scores = [data.draw(st.sampled_from(TIED_SCORES)) for _ in labels]
    others = data.draw(label_lists(6))
    group, others_last = [len(labels), len(others)], scores + [0.0] * len(others)
    found = evaluate(labels + others, others_last, group=group, metrics=[metric])
    for query, value_ in zip([(labels, scores), (others, [0.0] * len(others))],
                             found.per_query[str(metric)], strict=True):  # fmt: skip
        assert value_ == close(textbook_metrics.expected_value(metric, *query, labels + others))


# Other people's metrics --------------------------------------------------------------------------


def sample(seed: int, n: int, ties: int | None) -> tuple[Floats, Floats, Floats]:
    """Binary labels, scores (with this number of levels) and weights."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=n) if ties is None else random.integers(0, ties, n).astype(float)
    labels = (scores + (ties or 2) * random.normal(size=n) > 0.5).astype(float)
    labels[:2] = 0, 1
    return labels, scores, random.choice([0.0, 0.25, 1.0, 3.0], n)


@pytest.mark.parametrize("ties", [None, 1, 4, 30])
@each_of_sklearn
def test_one_data_set_is_valued_as_by_sklearn_at_any_scale_of_weights(name, theirs, ties) -> None:
    for seed, n in enumerate((5, 20, 300)):
        labels, scores, weight = sample(seed, n, ties)
        assert one_value(name, labels, scores, group=None) == close(theirs(labels, scores))
        weight[np.argmax(scores)] = 0.0  # ranks begin with a row that is not there
        weight[:2] = np.maximum(weight[:2], 0.25)  # both classes
        expected = theirs(labels, scores, sample_weight=weight)
        for scale in (1.0, 1e-3, 1e-9, 1e-18, 1e-26, 1e29):
            found = one_value(name, labels, scores, group=None, weight=scale * weight)
            assert found == close(expected)


@pytest.mark.parametrize("name", ["cindex", "top_precision", "ndcg", "spearman"])
def test_weights_that_would_be_ignored_are_refused(name: str) -> None:
    labels, scores = [2, 1, 2, 1, 1], [1, 2, 3, 4, 5]
    given_ = {"metrics": name, "one_group": True}
    with pytest.raises(ValueError, match="does not weight the rows of one ranking"):
        evaluate(labels, scores, weight=[1, 2, 1, 1, 1], **given_)
    equal = evaluate(labels, scores, weight=[2] * 5, **given_)
    assert equal.mean == evaluate(labels, scores, **given_).mean


@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_the_rank_correlation_is_scipys() -> None:
    """Ties in labels, scores and both; constant scores have 0, and constant labels no value."""
    random = np.random.default_rng(0)
    for n in (2, 7, 300):
        for of_labels, of_scores in itertools.product((1, 2, 5, n), (1, 3, n)):
            labels = random.permutation(n) % of_labels / 2 - 0.75
            scores = random.permutation(n) % of_scores
            expected = stats.spearmanr(labels, scores).statistic
            if len({*scores}) == 1 < len({*labels}):
                assert math.isnan(expected)
                expected = 0.0
            assert one_value("spearman", labels, scores) == close(expected)
            assert math.isnan(expected) == (len({*labels}) == 1)


@pytest.mark.parametrize("name", PLAIN)
def test_only_labels_leave_a_query_out(name: str) -> None:
    """Equal scores have the mean over all orders of the rows, or the value of the worst one."""
    labels = [2.0, 1.0, 0.0, 0.0]
    orders = [one_value(name, labels, order) for order in itertools.permutations(range(4))]
    constant = one_value(name, labels, np.ones(4))
    assert min(abs(constant - np.mean(orders)), abs(constant - min(orders))) <= ROUNDING


def weighted_gini(loss: Floats, weight: Floats, scores: Floats) -> float:
    """That of the Fire Peril competition of Kaggle (2014): loss by exposure, and exposures."""
    order = np.argsort(-scores, kind="stable")
    random = np.cumsum(weight[order]) / weight.sum()
    lorentz = np.cumsum((loss * weight)[order]) / (loss * weight).sum()
    return float((lorentz[1:] * random[:-1]).sum() - (lorentz[:-1] * random[1:]).sum())


@pytest.mark.parametrize("ties", [None, 4, 30])
def test_gini_of_exposures_is_that_of_kaggle(ties: int | None) -> None:
    """Rows of one score, which count as one step, are one row there: of all their loss."""
    for seed, n in enumerate((5, 40, 3000)):
        random = np.random.default_rng(seed)
        scores, weight = random.normal(size=n), random.uniform(0.1, 2, n)
        if ties:
            scores = random.integers(0, ties, n).astype(float)
        loss = np.where(random.random(n) < 0.5, random.gamma(2, 3, n), 0.0)
        loss[0] = 1.0
        best = weighted_gini(loss, weight, loss)
        different, row = np.unique(scores, return_inverse=True)
        exposure = np.bincount(row, weight)
        expected = weighted_gini(np.bincount(row, loss * weight) / exposure, exposure, different)
        found = one_value("gini", loss, scores, group=None, weight=weight)
        assert found == close(expected / best)


def test_a_share_of_a_list_is_whole_documents_whatever_rounding_says() -> None:
    """Seven of 100, not eight, although .07 * 100 is above 7."""
    labels = np.arange(100) == 6
    share = "top_precision(over=dataset,fraction=0.07)"
    assert one_value(share, labels, -np.arange(100), group=None) == close(1 / 7)


@pytest.mark.parametrize("name", ["ndcg", "ndcg@3", "ndcg(discount=letor)@3", "dcg@5"])
@given(data=st.data())
@examples(30)
def test_gains_may_be_listed_by_label(name: str, data) -> None:
    metric = parse_metric(name, gain=[0, 0.5, 0.5, 100])
    labels = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=12))
    scores = data.draw(st.permutations(range(len(labels))))
    ranked = [labels[i] for i in np.argsort(scores)[::-1]]
    assert one_value(metric, labels, scores) == pytest.approx(
        value(metric, ranked), rel=ROUNDING, nan_ok=True
    )


LISTED = "gain lists a number for each of the labels 0 to 2, but there is a label"


@pytest.mark.parametrize(
    ("metric", "labels", "message"),
    [
        ("ndcg", [-1, 1], "ndcg needs labels >= 0.*-1"),
        ("ndcg", [1000, 1], r"2\^1000 - 1 does not fit"),
        ("ndcg(gain=0/1/5)", [0, 3, 1], f"{LISTED} 3"),
        ("dcg(gain=0/1/5)@3", [0, 0.5, 1], f"{LISTED} 0.5"),
        ("err", [5, 0], r"the label 5 is above top=4; pass the highest grade"),
        ("err", [-1, 0], "err needs labels >= 0"),
    ],
)
def test_labels_that_a_metric_cannot_value(metric: str, labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        one_value(metric, labels, range(len(labels)))


# Laws --------------------------------------------------------------------------------------------


@each_kind
@given(data=st.data())
@examples(50)
def test_values_are_from_0_to_that_of_the_best_order(declaration, data) -> None:
    metric = data.draw(metrics(declaration))
    labels, scores = data.draw(queries(16))
    found = one_value(metric, labels, scores)
    ideal = brute_force.ideal_scores(metric, labels)
    if math.isnan(found):
        tied = declaration.correlation and len(set(scores)) == 1
        assert tied or math.isnan(one_value(metric, labels, ideal))
        return
    assert found >= -ROUNDING - (declaration.name in ("spearman", "gini"))
    assert found <= 1 + ROUNDING or declaration.name == "dcg"
    if declaration.follows_label_order:
        best = one_value(metric, labels, ideal)
        # Tied scores may be closer to tied labels than any order.
        assert found <= (1 if declaration.correlation else best) + ROUNDING
        order = sorted(range(len(labels)), key=lambda i: -ideal[i])
        if not declaration.correlation:
            assert best == close(value(metric, [labels[i] for i in order]))


@pytest.mark.parametrize("declaration", CATALOGUE, ids=lambda d: d.name)
@given(data=st.data())
@examples(50)
def test_values_are_within_the_bounds_of_their_metric(declaration, data) -> None:
    found = one_value(data.draw(metrics(declaration)), *data.draw(queries(16)))
    low, high = declaration.bounds or (0.0, math.inf)
    assert math.isnan(found) or low - ROUNDING <= found <= high + ROUNDING


@pytest.mark.parametrize("declaration", CATALOGUE, ids=lambda d: d.name)
def test_bounds_are_reached_by_the_best_and_the_worst_order(declaration) -> None:
    """Or nearly: MAP of the last of 100 ranks, ERR of the highest grade, which stops in 15/16."""
    if declaration.bounds is None:
        assert declaration.name in ("dcg", "lift")
        return
    cutoffs = {"no": [None], "optional": [None, 5], "required": [5]}[declaration.cutoff]
    found = [
        one_value(declaration(cutoff), labels, sign * np.array(labels))
        for labels in ([1.0] + 99 * [0.0], 5 * [1.0] + 30 * [0.0], [4.0] * 200 + [0.0])
        for cutoff in cutoffs
        for sign in (1.0, -1.0)
    ]
    assert (min(found), max(found)) == pytest.approx(declaration.bounds, abs=0.04)


@each_metric
def test_the_best_order_is_the_best_of_all_exactly_if_declared(name: str) -> None:
    metric = parse_metric(name)
    agrees = []
    for labels in itertools.combinations_with_replacement([0.0, 1.0, 2.0], 5):
        orders = [value(metric, list(ranked)) for ranked in set(itertools.permutations(labels))]
        if not math.isnan(orders[0]):
            ideal = brute_force.ideal_scores(metric, labels)
            agrees.append(one_value(metric, labels, ideal) >= max(orders) - ROUNDING)
    assert all(agrees) == metric.declaration.follows_label_order


@pytest.mark.parametrize("name", [d.name for d in CATALOGUE if d.pooled])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [None, 5])
def test_row_order_does_not_matter_without_queries(name: str, weighted: bool, ties: Any) -> None:
    rows = np.array(sample(9, 500, ties))
    rows[2] = rows[2] if weighted else 1.0
    orders = [rows, *map(np.random.default_rng(0).permutation, [rows] * 20, [1] * 20)]
    labels_of = [(one_value(name, *both, group=None, weight=w)) for *both, w in orders]
    assert {*labels_of} == {labels_of[0]}


@each_kind
@given(data=st.data())
@examples(30)
def test_neither_row_order_nor_distances_of_scores_change_a_bit(declaration, data) -> None:
    metric = data.draw(metrics(declaration))
    labels, scores = map(np.array, data.draw(queries(40)))
    found = one_value(metric, labels, scores)
    order = data.draw(st.permutations(range(len(labels))))
    np.testing.assert_equal(one_value(metric, labels[order], scores[order]), found)
    levels = sorted(set(scores))
    others = data.draw(
        st.lists(st.floats(-1e6, 1e6), min_size=len(levels), max_size=len(levels), unique=True)
    )
    becomes = dict(zip(levels, sorted(others), strict=True))
    np.testing.assert_equal(one_value(metric, labels, [becomes[s] for s in scores]), found)


# evaluate ----------------------------------------------------------------------------------------

LABELS = [1, 0, 0, 0, 1, 1, 0, 1]
SCORES = [2, 1, 4, 3, 5, 4, 8, 7]
GROUP = [2, 2, 2, 2]  # in order; nothing relevant; nothing else; out of order


def test_a_query_without_a_value_is_left_out_or_counts_as_0_or_1() -> None:
    found = evaluate(LABELS, SCORES, group=GROUP, metrics=["auc", "map", "ndcg", "mrr"])
    np.testing.assert_array_equal(found.per_query["auc"], [1, np.nan, np.nan, 0])
    np.testing.assert_array_equal(found.per_query["map"], [1, np.nan, 1, 0.5])
    np.testing.assert_array_equal(found.per_query["mrr"], [1, np.nan, 1, 0.5])
    assert found.undefined == {"auc": 2, "map": 1, "ndcg": 1, "mrr": 1}
    assert found.n_queries == 4
    assert (found["auc"], found["map"], found["mrr"]) == (0.5, close(2.5 / 3), close(2.5 / 3))
    assert found["ndcg"] == close((2 + 1 / math.log2(3)) / 3)
    for empty in (0, 1.0):
        found = evaluate(LABELS, SCORES, group=GROUP, metrics=["auc", "map"], empty=empty)
        assert found.per_query["auc"].tolist() == [1, empty, empty, 0]
        assert found.undefined == {"auc": 2, "map": 1}
        assert found.mean == {"auc": close((1 + 2 * empty) / 4), "map": close((2.5 + empty) / 4)}


def test_a_query_weighs_the_mean_of_its_rows() -> None:
    weight = [1, 3, 9, 9, 4, 0, 0.5, 0.5]  # means 2, 9, 2, 0.5
    found = evaluate(LABELS, SCORES, group=GROUP, weight=weight, metrics=["map", "auc"])
    assert found["map"] == close((2 * 1 + 2 * 1 + 0.5 * 0.5) / 4.5)
    assert found["auc"] == close((2 * 1 + 0.5 * 0) / 2.5)
    skipped_none = evaluate(LABELS, SCORES, group=GROUP, weight=weight, metrics=["map"], empty=0)
    assert skipped_none["map"] == close((2 * 1 + 2 * 1 + 0.5 * 0.5) / 13.5)
    plain = evaluate(LABELS, SCORES, group=GROUP, metrics=PLAIN)
    even = evaluate(LABELS, SCORES, group=GROUP, weight=[5, 1] * 4, metrics=PLAIN)
    np.testing.assert_equal(even.per_query, plain.per_query)
    assert even.mean == {name: close(mean) for name, mean in plain.mean.items()}


@pytest.mark.parametrize("ratio", [1e-30, 1e-12, 1e6, 1e12, 1e30])
def test_weights_of_two_classes_may_be_far_apart(ratio: float) -> None:
    labels, scores = np.array([1, 0, 1, 0, 1]), np.array([5, 4, 3, 2, 1])
    weight = np.where(labels == 1, ratio, 1.0)
    if ratio > 1e9:
        with pytest.raises(ValueError, match="divide the weights of relevant rows by a constant"):
            evaluate(labels, scores, weight=weight, metrics="auc")
    else:
        found = evaluate(labels, scores, weight=weight, metrics="auc")
        assert found["auc"] == pytest.approx(0.5, abs=1e-9)


@each_metric
def test_rows_without_queries_are_one_ranking_if_so_said(name: str) -> None:
    labels, scores, _ = sample(1, 30, None)
    as_one = evaluate(labels, scores, metrics=name, one_group=True)
    assert as_one[name] == close(one_value(name, labels, scores))
    assert as_one.n_queries == 1
    if parse_metric(name).kind_of_rows:
        assert evaluate(labels, scores, metrics=name)[name] == as_one[name]
    else:
        with pytest.raises(ValueError, match=rf"{name}.*no queries.*group=.*one_group=True"):
            evaluate(labels, scores, metrics=name)


def test_options_go_to_the_metrics_that_have_them() -> None:
    labels, scores = [2, 1, 0, 3], [1, 2, 3, 4]
    found = evaluate(labels, scores, group=[4], metrics=["map", "ndcg"], relevant=2, gain="linear")
    assert list(found.mean) == ["map(relevant=2)", "ndcg(gain=linear)"]
    assert found["ap(relevant=2)"] == close((1 + 2 / 4) / 2)
    assert found[parse_metric("ndcg", gain="linear")] == found["NDCG(gain=linear)"]
    with pytest.raises(ValueError, match=r"none of map has an option gain"):
        evaluate(labels, scores, group=[4], metrics="map", gain="linear")
    with pytest.raises(KeyError, match=r"ndcg was not evaluated.*map\(relevant=2\)"):
        found["ndcg"]


# One ranking of the whole data set ---------------------------------------------------------------


def test_over_the_data_set_queries_are_set_aside() -> None:
    data = graded()
    labels, scores, group = data.labels, data.scores(), data.sizes
    weight = np.random.default_rng(3).integers(1, 4, len(labels)).astype(float)
    names = ["auc", "mauc", "gini"]
    over = [parse_metric(name, over="dataset") for name in names]
    for w in (None, weight):
        found = evaluate(labels, scores, group=group, weight=w, metrics=over)
        whole = evaluate(labels, scores, weight=w, metrics=names, one_group=True)
        assert list(found.mean.values()) == list(whole.mean.values())
    assert [len(part) for part in found.per_query.values()] == [1, 1, 1]


def test_alert_rates_are_shares_of_a_table() -> None:
    """Of 1,000 transactions, the 10 with the highest scores are looked at."""
    random = np.random.default_rng(0)
    fraud = random.random(1000) < 0.03
    scores = fraud + random.normal(size=1000)
    first = np.sort(np.argsort(-scores)[:10])
    found = evaluate(fraud, scores, metrics=["precision@1%", "recall@1%"])
    assert found["precision@1%"] == pytest.approx(fraud[first].mean())
    assert found["recall@1%"] == pytest.approx(fraud[first].sum() / fraud.sum())
    low, high = found.interval("recall@1%")
    assert low < found["recall@1%"] < high
    for metric in ("recall@1%", "precision@1%"):
        gradient, hessian = lp.lambda_objective(metric)(fraud, scores)
        assert np.isfinite([gradient, hessian]).all()
        assert gradient.any()


def enrichment(hits: list[int], share: float) -> float:
    """As RDKit's CalcEnrichment reads: hits among the first, by their number, by those of all."""
    first = math.ceil(len(hits) * share)
    return 1.0 * sum(hits[:first]) / first * len(hits) / sum(hits)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.5])
def test_lift_is_the_enrichment_factor_of_chemists(share: float) -> None:
    random = np.random.default_rng(0)
    active = (random.random(480) < 0.04).astype(int)
    scores = active + random.normal(size=480)
    name = f"lift@{100 * share:g}%"
    value = evaluate(active, scores, metrics=[name, name.replace("lift", "precision")])
    assert value[name] == pytest.approx(enrichment(active[np.argsort(-scores)].tolist(), share))
    of_precision = value[name.replace("lift", "precision")] / active.mean()
    assert value[name] == pytest.approx(of_precision)
    gradient, _ = lp.lambda_objective(name)(active, scores)
    assert gradient.any()


def test_lift_of_short_lists_is_that_of_all_their_documents() -> None:
    assert evaluate([0, 1, 0], [1, 2, 3], group=[3], metrics="lift@5")["lift@5"] == 1.0
    assert evaluate([0, 1, 0, 0], [1, 4, 3, 2], group=[4], metrics="lift@1")["lift@1"] == 4.0


def test_values_do_not_depend_on_the_number_of_threads() -> None:
    random = np.random.default_rng(0)
    group = random.integers(1, 130, 700)
    labels = np.minimum(random.geometric(0.6, group.sum()) - 1, 4)
    scores = random.normal(size=len(labels)).round(1)
    found = []
    for threads in (1, 2):
        with limit_threads(threads):
            found.append(lp.evaluate(labels, scores, group=group, metrics=PLAIN).per_query)
    assert len(labels) > 40_000
    np.testing.assert_equal(found[0], found[1])
