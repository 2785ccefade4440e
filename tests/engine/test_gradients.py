"""Lambda-gradients against their definition, the sweep against all pairs, and invariances.

Two promises set most tolerances.  The sweep is within 1e-6 (gradient) and 1e-5 (Hessian) of the sum
over pairs, relative to the largest of the query; visiting every pair differs from the definition by
rounding alone.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import brute_force
import numpy as np
import pytest
from drawn_queries import by_default, kinds, label_lists, metrics, queries
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from textbook_metrics import DECLARED

from lambdaplus import evaluate, gradients, lambda_objective
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.engine.sweep import CHUNK
from lambdaplus.metrics import CATALOGUE, parse_metric
from lambdaplus.objectives.pair_options import EQUAL_AT_NEIGHBOURS

Floats = NDArray[np.float64]

SWEEP = (1e-6, 1e-5)  # promised: gradient, Hessian
ROUNDING = (1e-11, 1e-11)  # of sums of some thousand terms, all of one sign or nearly so
NOTHING = 1e-30  # a query this far in order has no gradient to speak of
BEFORE_AND_AFTER = 1e-13  # rounding of a delta that is a difference of values of about 1

# Whether a metric is declared right is asked of all of them: by the definition, and of the sweep on
# short and long lists and with many classes.  All else is asked of one metric of each kind.
EQUAL = [
    {"metric": parse_metric(name), "pairs": "equal"} for name in ("auc", "mauc", "concordance")
]
PLAIN = [{"metric": by_default(d)} for d in DECLARED] + EQUAL
KINDS = [{"metric": by_default(d)} for d in kinds(DECLARED)]
POOLED = [{"metric": d()} for d in CATALOGUE if d.pooled] + EQUAL[:2]

each_declared = pytest.mark.parametrize("declaration", DECLARED, ids=lambda d: d.name)


def each(weights: list[Any]) -> Any:
    """Each metric, and the weights of its pairs if they are not its swap deltas."""
    return pytest.mark.parametrize("weights", weights, ids=lambda w: " ".join(map(str, w.values())))


each_plain = each(PLAIN)
each_plain_kind = each(KINDS)
each_pooled = each(POOLED)


def assert_close(
    found: Any,
    expected: Any,
    tolerance: tuple[float, float],
    floor: float = NOTHING,
    note: str = "",
) -> None:
    for name, ours, right, relative in zip(
        ("gradient", "Hessian"), found[:2], expected[:2], tolerance, strict=True
    ):
        assert ours.shape == right.shape
        error = np.abs(ours - right).max()
        assert error <= relative * np.abs(right).max() + floor, f"{name} is off by {error:g}{note}"


def assert_identical(found: Any, expected: Any) -> None:
    """Equal to the last bit; float64 == float64, so that 0.0 and -0.0 are the same."""
    for ours, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, right)


def random_query(
    seed: int, n: int, spread: float, ties: int | None = None
) -> tuple[Floats, Floats]:
    """Labels 0 to 4, most of them 0, and scores that know a little about them."""
    random = np.random.default_rng(seed)
    labels = np.minimum(random.geometric(0.5, n) - 1, 4).astype(float)
    scores = spread * (random.normal(size=n) + 0.3 * labels)
    if ties is not None:  # this many different scores
        scores = spread * random.integers(0, ties, n)
    return labels, scores


# The definition ----------------------------------------------------------------------------------


def by_definition(
    metric: Any, labels: Any, scores: Any, normalize: bool = False, **options: Any
) -> list[Floats]:
    *found, total = brute_force.lambda_gradients(metric, labels, scores, **options)
    scale = np.log1p(total) / (np.log(2) * total) if normalize and total > 0 else 1.0
    return [scale * part for part in found]


@each_declared
@given(data=st.data())
@examples(30)
def test_gradients_are_the_sum_over_pairs_of_swap_deltas(declaration, data) -> None:
    metric = data.draw(metrics(declaration))
    labels, scores = data.draw(queries(12) | queries(32, least=24))  # pairs, and a sweep
    options = {
        "normalize": data.draw(st.booleans()), "sigma": data.draw(st.sampled_from([1.0, 0.3, 4.0]))
    }  # fmt: skip
    if declaration.name in EQUAL_AT_NEIGHBOURS:
        options["pairs"] = data.draw(st.sampled_from(["swap", "equal"]))
    expected = by_definition(metric, labels, scores, **options)
    given_ = {"metric": metric, "group": [len(labels)], **options}
    exact, found = (
        gradients(labels, scores, all_pairs=True, **given_),
        gradients(labels, scores, **given_),
    )
    assert_close(exact, expected, ROUNDING, BEFORE_AND_AFTER)
    assert_close(found, expected, SWEEP, BEFORE_AND_AFTER)


@pytest.mark.parametrize("metric", ["auc", "mauc", "concordance"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [300, 33_000])  # long lists are rounded
def test_pairs_of_equal_weight_are_counted(metric: str, weighted: bool, n: int) -> None:
    """Without queries: the sum over pairs of w_i w_j rho, by brute force at some rows."""
    random = np.random.default_rng(n)
    labels = np.minimum(random.geometric(0.7, n) - 1.0, 1.0 if metric == "auc" else 3.0)
    scores = random.normal(size=n) + 0.5 * labels
    weighted = weighted and metric != "concordance"
    w = random.choice([0.0, 0.5, 1.0, 3.0], n) if weighted else np.ones(n)
    equal = lambda_objective(metric, pairs="equal", balance=0, one_group=True)
    found = equal(labels, scores, w if weighted else None)
    mass = np.bincount(labels.astype(int), w)
    some = random.choice(n, 30, replace=False)
    size = w[some, None] * w
    if metric == "mauc":
        # AUC of each relevant class against all others, by its share; see the reading of MAUC.
        reference = (np.arange(mass.size) >= 1) / (w.sum() - mass)
        of_row = reference[labels.astype(int)]
        size *= np.abs(of_row[some, None] - of_row)
    better = np.sign(labels[some, None] - labels)
    rho = 1 / (1 + np.exp(better * (scores[some, None] - scores)))
    expected = (-better * size * rho).sum(1), (np.abs(better) * size * rho * (1 - rho)).sum(1)
    kept = [part[some].astype(float) for part in found]
    scale = (kept[0] @ expected[0]) / (expected[0] @ expected[0])  # that of `normalize`
    tolerance = (1e-5, 2e-5) if n < 32_768 else (4e-3, 4e-3)  # float32; rounded scores
    assert_close(kept, [scale * part for part in expected], tolerance)
    of_log_loss = mass @ (1 - mass / mass.sum())
    assert np.abs(found[0]).sum(dtype=float) == pytest.approx(of_log_loss, rel=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [300, 33_000])  # long lists are rounded
@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_auc_of_a_table_is_half_log_loss_from_the_base_rate(
    weighted: bool, n: int, sigma: float
) -> None:
    labels, scores = random_query(n, n, 1.0)
    labels = np.minimum(labels, 1.0)
    weight = np.random.default_rng(n).choice([0.0, 0.5, 1.0, 3.0], n) if weighted else np.ones(n)
    given_ = labels, scores, weight if weighted else None
    found = lambda_objective("auc", sigma=sigma)(*given_)
    pairs = lambda_objective("auc", sigma=sigma, pairs="equal")(*given_)
    constant = np.log(weight @ labels / (weight @ (1 - labels)))
    p = 1 / (1 + np.exp(-sigma * scores - constant))
    # Of the size that pairs have at any sigma.
    log_loss = weight * (p - labels), weight * sigma * p * (1 - p)
    expected = [(a + b) / 2 for a, b in zip(pairs, log_loss, strict=True)]
    assert_close(found, expected, (1e-6, 1e-6) if n < 32_768 else (1e-3, 1e-3))
    assert_identical(lambda_objective("0.5*auc + 0.5*logloss", sigma=sigma)(*given_), found)


def test_a_table_has_other_weights_of_pairs_by_default_than_a_query() -> None:
    labels, scores = random_query(3, 200, 1.0)
    for name in ("auc", "mauc", "concordance"):
        table = {"one_group": True}
        default, equal, swap, welleck = (
            lambda_objective(name, **given_, **table)
            for given_ in ({}, {"pairs": "equal"}, {"pairs": "swap"}, {"surrogate": name})
        )
        alone = lambda_objective("auc + 1e-6*map") if name == "auc" else default
        assert_close(alone(labels > 0, scores), equal(labels > 0, scores), (1e-5, 1e-5))
        assert_identical(welleck(labels, scores), swap(labels, scores))
        assert np.abs(swap(labels, scores)[0] - equal(labels, scores)[0]).max() > 1e-3
        group = [120, 80]
        within = default(labels, scores, None, group)
        # Swap deltas of concordance depend on all documents in between: pairs are equal everywhere.
        same, other = (swap, "equal") if name != "concordance" else (equal, "swap")
        assert_identical(within, same(labels, scores, None, group))
        others = lambda_objective(name, pairs=other)(labels, scores, None, group)
        assert np.abs(within[0] - others[0]).max() > 1e-4
        for objective in (default, equal, swap, welleck):
            assert eval(repr(objective), {"lambda_objective": lambda_objective}) == objective


@given(data=st.data())
@examples(30)
def test_shares_of_the_data_set_come_from_all_queries(data) -> None:
    """mauc(share=dataset) looks at the other queries."""
    chosen = data.draw(st.sampled_from(["all", "relevant"]))
    metric = parse_metric("mauc", share="dataset", classes=chosen)
    labels, scores = data.draw(queries(10))
    others = data.draw(label_lists(6))
    expected = brute_force.lambda_gradients(metric, labels, scores, data=labels + others)
    group, others_last = [len(labels), len(others)], scores + [0.0] * len(others)
    found = gradients(labels + others, others_last, metric=metric, group=group, all_pairs=True)
    assert_close([part[: len(labels)] for part in found], expected, ROUNDING)


# The sweep and all pairs --------------------------------------------------------------------------


@contextmanager
def every_list_swept() -> Iterator[None]:
    """Also those that are faster by rows."""
    usual, THRESHOLDS.pairs_by_rows = THRESHOLDS.pairs_by_rows, -1.0
    try:
        yield
    finally:
        THRESHOLDS.pairs_by_rows = usual


def assert_sweep_is_close(
    weights: Any, labels: Floats, scores: Floats, tolerance: tuple[float, float], **given_: Any
) -> None:
    given_ = {**weights, "group": [len(labels)], **given_}
    expected = gradients(labels, scores, all_pairs=True, **given_)
    note = f" of {len(scores)} scores, spread by {np.std(scores):g}, with {given_}"
    # Some of the lists by rows, and all of them swept.
    assert_close(gradients(labels, scores, **given_), expected, tolerance, note=note)
    with every_list_swept():
        assert_close(gradients(labels, scores, **given_), expected, tolerance, note=note)


# From one document to one more than two chunks of a sweep; what is asked of every metric at all of
# them is asked of the kinds, at other spreads, at a few.
SIZES = (1, 2, 3, 10, 30, 100, CHUNK, CHUNK + 1, 2 * CHUNK + 1)
FEW_SIZES = (3, 30, CHUNK + 1)


def assert_close_at_many_sizes(
    weights: Any, spread: float, tolerance: Any, sizes: Any = SIZES, **given_: Any
) -> None:
    declared = weights["metric"].declaration
    cut = weights if declared.cutoff == "no" else {"metric": declared(10)}
    for seed, n in enumerate(sizes):
        labels, scores = random_query(seed, n, spread)
        assert_sweep_is_close(weights, labels, scores, tolerance, **given_)
        assert_sweep_is_close(cut, labels, scores, tolerance, **given_)


@each_plain
def test_the_sweep_of_every_metric_is_close(weights) -> None:
    assert_close_at_many_sizes(weights, 1.0, SWEEP)
    assert_close_at_many_sizes(weights, 1.0, SWEEP, normalize=True)


@each_plain_kind
def test_the_sweep_is_close_at_every_spread(weights) -> None:
    for spread in (1e-6, 1e-3, 0.1, 30.0, 1e3, 1e4):
        assert_close_at_many_sizes(weights, spread, SWEEP, FEW_SIZES)
    assert_sweep_is_close(weights, *random_query(5, 6 * CHUNK + 17, 1.0), SWEEP)


@each_plain_kind
def test_the_sweep_is_close_with_ties_at_every_sigma_and_in_order(weights) -> None:
    """In order or in reverse, all pairs are of one kind, whose errors another cannot hide."""
    for (seed, n), ties in itertools.product(enumerate((20, CHUNK + 50)), (1, 2, 5, 40)):
        labels, scores = random_query(seed, n, 1.0, ties)
        assert_sweep_is_close(weights, labels, scores, SWEEP)
    for sigma in (0.01, 0.5, 2.0, 50.0):
        assert_sweep_is_close(weights, *random_query(8, 300, 1.0), SWEEP, sigma=sigma)
        assert_sweep_is_close(weights, *random_query(8, 300, 1.0 / sigma), SWEEP, sigma=sigma)
    labels = np.sort(random_query(1, 300, 1.0)[0])
    for step in (1e-4, 0.01, 0.3, 10.0, -1e-4, -0.01, -0.3, -10.0):
        assert_sweep_is_close(weights, labels, step * np.arange(300.0), SWEEP)


@each_plain
def test_one_class_or_one_document_has_no_gradient(weights) -> None:
    for label, n, all_pairs in itertools.product([0.0, 1.0, 4.0], [1, 2, 60], [False, True]):
        given_ = {**weights, "group": [n], "normalize": True, "all_pairs": all_pairs}
        found = gradients(np.full(n, label), np.linspace(0, 1, n), **given_)
        assert_identical(found, (np.zeros(n), np.zeros(n)))


@each_plain
def test_there_may_be_as_many_classes_as_documents_or_a_hundred(weights) -> None:
    random = np.random.default_rng(1)
    labels, scores = random.permutation(24) / 6, random.normal(size=24)
    expected = brute_force.lambda_gradients(labels=labels, scores=scores, **weights)
    given_ = {**weights, "group": [24]}
    assert_close(gradients(labels, scores, all_pairs=True, **given_), expected, ROUNDING)
    assert_close(gradients(labels, scores, **given_), expected, SWEEP)
    labels = random.permutation(np.arange(250) % 100) * 0.04
    assert_sweep_is_close(weights, labels, random.normal(size=250), SWEEP)


MANY_LABELS = {
    "as many as documents": lambda random, n: random.permutation(n) / n,
    "forty": lambda random, n: random.integers(0, 40, n) / 10,
    "mostly zero": lambda random, n: np.maximum(random.normal(-1, 1, n), 0),
    "heavy tails": lambda random, n: random.pareto(1.0, n),
    "clusters": lambda random, n: random.integers(0, 3, n) + 1e-9 * random.random(n),
}
RISING = [w for w in PLAIN if str(w["metric"]) in ("ndcg", "dcg", "spearman", "gini")]


def many_labels(kind: str, n: int, seed: int, ties: int | None = None) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    labels = MANY_LABELS[kind](random, n)
    scores = random.normal(size=n) + labels / (1 + labels)
    return labels, scores if ties is None else np.round(ties * scores) / ties


@each(RISING)
@pytest.mark.parametrize("kind", MANY_LABELS)
@pytest.mark.parametrize("few", [32, THRESHOLDS.few_elements])  # so many are summed pair by pair
def test_the_tree_of_many_labels_is_close(
    weights, kind: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(THRESHOLDS, "few_elements", few)
    if str(weights["metric"]) in ("ndcg", "dcg"):
        weights = {**weights, "gain": "linear"}
    for seed, n in enumerate((33, 70, CHUNK + 1, 1500)):
        for ties in (None, 3):
            labels, scores = many_labels(kind, n, seed, ties)
            assert_sweep_is_close(weights, labels, scores, SWEEP)


# Weights -----------------------------------------------------------------------------------------


def pooled_query(ties: int | None, n: int = 300) -> tuple[Floats, Floats, Floats]:
    labels, scores = random_query(11, n, 1.0, ties)
    return labels, scores, np.random.default_rng(11).integers(0, 4, n).astype(float)


@pytest.mark.parametrize("ties", [None, 1, 8])
@pytest.mark.parametrize("all_pairs", [False, True])
@pytest.mark.parametrize("metric", ["auc", "mauc", "gini", "gini of many labels"])
def test_a_weight_of_k_is_k_rows(ties: int | None, all_pairs: bool, metric: str) -> None:
    labels, scores, weight = pooled_query(ties)
    metric, *many = metric.split(" of ")
    if metric != "auc":
        labels = labels + (np.arange(labels.size) % 3 == 0)
    if many:
        labels = labels + np.random.default_rng(1).permutation(labels.size) / labels.size
    copies = weight.astype(int)
    given_ = {"metric": metric, "all_pairs": all_pairs}
    weighted = gradients(labels, scores, weight=weight, **given_)
    repeated = gradients(np.repeat(labels, copies), np.repeat(scores, copies), **given_)
    row = np.repeat(np.arange(len(labels)), copies)
    summed = [np.bincount(row, part, minlength=len(labels)) for part in repeated]
    # A tree of labels has other halves where labels have other numbers of rows.
    tree = many and not all_pairs
    assert_close(weighted, summed, SWEEP if tree else (1e-9, 1e-9))


def weighted_average_precision_lambdas(
    labels: Floats, scores: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    """The definition in `lambdaplus.engine.ranked_lists`, pair by pair; no tied scores."""
    order = np.argsort(-scores)
    relevant, s, w = labels[order] >= 1, scores[order], weight[order]
    reached = np.cumsum(w)  # T
    precision = np.cumsum(w * relevant) / reached  # C/T
    potential = precision - np.cumsum(w * relevant / reached)
    size = np.zeros((len(s), len(s)))  # of the relevant row and the other
    for p, q in itertools.combinations(range(len(s)), 2):
        delta = (potential[p] - potential[q]) * w[p] * w[q] / (w @ relevant)
        if relevant[p] and not relevant[q]:
            size[p, q] = delta
        elif relevant[q] and not relevant[p]:  # discordant: its own copies come on top
            own = w[q] * (1 / reached[p] - 1 / reached[q])
            size[q, p] = delta + own * w[p] * w[q] / (w @ relevant)
    gradient, hessian, _ = brute_force.pair_sums(size, s)
    original = np.argsort(order)
    return gradient[original], hessian[original]


def test_weighted_average_precision_is_as_defined() -> None:
    labels, scores, _ = pooled_query(None, 120)
    weight = np.random.default_rng(1).uniform(0.1, 3, 120)
    expected = weighted_average_precision_lambdas(labels, scores, weight)
    given_ = {"metric": "map", "weight": weight}
    assert_close(gradients(labels, scores, all_pairs=True, **given_), expected, ROUNDING)
    assert_close(gradients(labels, scores, **given_), expected, SWEEP)


@each_pooled
@pytest.mark.parametrize("ties", [None, 1, 8])
@pytest.mark.parametrize("normalize", [False, True])
def test_a_weight_of_zero_is_no_row_and_weights_have_any_scale(
    weights, ties: int | None, normalize: bool
) -> None:
    labels, scores, weight = pooled_query(ties)
    weight[np.argmax(scores)] = 0.0  # at the very top, too, where ranks begin
    weight = np.where(weight > 0, np.sqrt(weight), 0.0)
    kept = weight > 0
    given_ = {**weights, "normalize": normalize}
    found = gradients(labels, scores, weight=weight, **given_)
    absent = gradients(labels[kept], scores[kept], weight=weight[kept], **given_)
    assert_identical([part[~kept] for part in found], [np.zeros((~kept).sum())] * 2)
    # A row of weight 0 still splits one decay in two, which changes the rounding.
    assert_close([part[kept] for part in found], absent, (1e-8, 1e-8))
    of_swaps = normalize or "pairs" not in weights
    for scale in (1e-3, 1e-9, 1e-18, 1e-28, 1e28) if of_swaps else ():
        scaled = gradients(labels, scores, weight=weight * scale, **given_)
        assert_close([part / scale for part in scaled], found, (1e-9, 1e-9))
    with pytest.raises(ValueError, match="all classes but one have weight 0"):
        gradients([0, 1, 0], [1.0, 2.0, 3.0], weight=[1, 0, 2], **weights)


@pytest.mark.parametrize("metric", ["mauc", "mauc(classes=all)"])
@pytest.mark.parametrize("label", [0, 1, 2])
def test_a_class_of_weight_zero_is_no_class(metric: str, label: int) -> None:
    labels, scores, weight = pooled_query(None, 60)
    labels = np.random.default_rng(2).integers(0, 3, 60)
    kept = labels != label
    whole = labels, scores, np.where(kept, weight, 0.0)
    part = labels[kept], scores[kept], weight[kept]
    value, expected = (
        evaluate(y, s, weight=w, metrics=metric)[metric] for y, s, w in (whole, part)
    )
    assert value == pytest.approx(expected, rel=1e-12)
    objective = lambda_objective(metric)
    found, absent = (objective(y, s, w) for y, s, w in (whole, part))
    assert_close([one[kept] for one in found], absent, (1e-6, 1e-5))


@pytest.mark.parametrize("score", [1e130, -1e308, 1e-300])
@pytest.mark.parametrize("n", [50, 40_000])  # a sorted list, and a rounded one
def test_equal_scores_of_any_size_are_ties(n: int, score: float) -> None:
    labels = np.arange(n) % 2
    for metric in ("auc", "map"):
        tied = gradients(labels, np.zeros(n), metric=metric)
        assert_identical(gradients(labels, np.full(n, score), metric=metric), tied)


@each_pooled
@pytest.mark.parametrize("ties", [None, 1, 30])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 100.0])
def test_the_weighted_sweep_is_close(weights, ties: int | None, spread: float) -> None:
    for n in (2, 30, 2 * CHUNK + 100):
        labels, scores = random_query(n, n, spread, ties)
        weight = np.random.default_rng(n).choice([0.0, 0.01, 1.0, 3.5, 100.0], n)
        weight[0] = 1.0
        assert_sweep_is_close(weights, labels, scores, SWEEP, group=None, weight=weight)


@each_pooled
@pytest.mark.parametrize("weighted", [False, True])
def test_one_data_set_is_scaled_as_log_loss_at_its_base_rates(weights, weighted: bool) -> None:
    labels, scores, weight = pooled_query(None)
    given_ = {**weights, "weight": weight if weighted else None}
    plain = gradients(labels, scores, **given_)
    found = gradients(labels, scores, normalize=True, **given_)
    copies = weight if weighted else np.ones(len(labels))
    classes = labels if str(weights["metric"]) in ("mauc", "gini") else labels > 0
    of_log_loss = 0.0
    for c in np.unique(classes):
        errors = (classes == c) - np.average(classes == c, weights=copies)
        of_log_loss += (copies * np.abs(errors)).sum() / 2  # each row counts in two classes
    assert np.abs(found[0]).sum() == pytest.approx(of_log_loss, rel=1e-12)
    scale = of_log_loss / np.abs(plain[0]).sum()
    assert_close(found, [scale * part for part in plain], ROUNDING)


@pytest.mark.parametrize("name", ["auc", "mauc", "top_precision"])
def test_over_the_data_set_queries_are_set_aside(name: str) -> None:
    labels, scores, weight = pooled_query(None)
    metric = parse_metric(name, over="dataset")
    found = gradients(labels, scores, group=[60, 240], weight=weight, metric=metric)
    one_group = gradients(labels, scores, weight=weight, metric=name, one_group=True)
    assert_identical(found, one_group)
    assert np.abs(found[0]).max() > 0
