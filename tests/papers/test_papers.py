"""Theorems and errors of the papers: where the print is wrong, the proof of it.

What the documentation says we found in the papers fails here if the paper is right; fact 3.4 of
Chakrabarti et al. is in test_oracles.py.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rankings_by_force import Setting

from lambdaplus import evaluate, gradients
from lambdaplus.baselines import StructuralSVM
from lambdaplus.metrics import Metric
from papers import welleck_2016
from papers.class_metrics import MACRO_PRECISION, MICRO_PRECISION, PRINTED_PRECISION

Floats = NDArray[np.float64]


def value(metric: Metric, ranked: list[int]) -> float:
    """The metric of labels in ranked order."""
    scores = [-rank for rank in range(len(ranked))]
    [found] = evaluate(ranked, scores, group=[len(ranked)], metrics=metric).mean.values()
    return found


def inversions(ranked: list[int]) -> int:
    return sum(a < b for a, b in itertools.combinations(ranked, 2))


# Yue et al. 2007 ----------------------------------------------------------------------------------

TABLE_3 = [1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0]  # relevance of the documents in the order of h1


def test_yue_table_4_has_another_map_than_the_ranks_of_table_3() -> None:
    by_hand = (1 + 2 / 6 + 3 / 7 + 4 / 8 + 5 / 9) / 5  # relevant at ranks 1, 6, 7, 8, 9
    assert value("map", TABLE_3) == pytest.approx(by_hand, abs=1e-12)
    for ranked, ap, printed in ((TABLE_3, 0.5635, 0.70), (TABLE_3[::-1], 0.5109, 0.64)):
        assert value("map", ranked) == pytest.approx(ap, abs=1e-4)
        assert abs(ap - printed) > 0.1


@pytest.mark.parametrize(("n_good", "n_bad"), [(1, 2), (2, 2), (3, 2), (2, 4)])
def test_yue_equation_5_lacks_the_scale_of_its_feature_map(n_good: int, n_bad: int) -> None:
    """The change in H when bad j moves ahead of good i, by the definition of H."""
    labels = np.array([1.0] * n_good + [0.0] * n_bad)
    scores = np.random.default_rng(n_good).normal(size=labels.size)
    setting = Setting("map")

    def h(order: list[int]) -> float:
        rows = np.array([order])
        found = setting.losses(labels, rows) + setting.features(labels, rows) @ scores
        return float(found[0])

    for i, j in itertools.product(range(1, n_good + 1), range(1, n_bad + 1)):
        good, bad = i - 1, n_good + j - 1
        # i - 1 good and j - 1 bad documents first, then the two, then the rest.
        first = [*range(good), *range(n_good, bad)]
        rest = [*range(i, n_good), *range(bad + 1, n_good + n_bad)]
        change = h([*first, bad, good, *rest]) - h([*first, good, bad, *rest])
        of_loss = (j / (j + i) - (j - 1) / (j + i - 1)) / n_good
        printed = of_loss - 2 * (scores[good] - scores[bad])
        right = of_loss - 2 / (n_good * n_bad) * (scores[good] - scores[bad])
        assert change == pytest.approx(right, abs=1e-12)
        assert abs(change - printed) > 1e-3


# Elsas et al. 2008 --------------------------------------------------------------------------------


def phi(n_hits: int, normalizer: float, ranked: list[int]) -> float:
    ranks = [r for r, label in enumerate(ranked, 1) if label]
    return sum(i / r for i, r in enumerate(ranks[:n_hits], 1)) / normalizer


@given(ranked=st.lists(st.integers(0, 1), min_size=1, max_size=14), k=st.integers(1, 14))
@examples(300)
def test_elsas_table_6_equates_metrics_with_phi_that_it_bounds(ranked: list[int], k: int) -> None:
    """P@k and R-precision are equal to it only if their hits stand at the very top."""
    n_relevant = sum(ranked)
    if not n_relevant:
        return
    within_k, within_r = sum(ranked[:k]), sum(ranked[:n_relevant])
    for name, n_hits, normalizer in (
        ("map", n_relevant, n_relevant),
        ("mrr", 1, 1),
        (f"p@{k}", within_k, k),
        ("rprec", within_r, n_relevant),
    ):
        above = value(name, ranked) - phi(n_hits, normalizer, ranked)
        assert above >= -1e-12
        assert (above < 1e-12) == (name in ("map", "mrr") or all(ranked[:n_hits]))


def bpref(ranked: list[int]) -> float:
    """Elsas et al. 2008, sec. 3.1: of the first min(N, R) others, the share below, on average."""
    good = [rank for rank, label in enumerate(ranked) if label]
    bad = [rank for rank, label in enumerate(ranked) if not label]
    first = bad[: min(len(bad), len(good))]
    above = [sum(n < r for n in first) / max(1, len(first)) for r in good]
    return sum(1 - share for share in above) / len(good)


@given(ranked=st.lists(st.integers(0, 1), min_size=2, max_size=14))
@examples(300)
def test_elsas_section_3_1(ranked: list[int]) -> None:
    """RankEff is AUC; bpref is bounded by inversions, if not as printed."""
    n_relevant = sum(ranked)
    n_other = len(ranked) - n_relevant
    if not n_relevant or not n_other:
        return
    q = inversions(ranked)
    assert value("rankeff", ranked) == pytest.approx(1 - q / (n_other * n_relevant), abs=1e-12)
    assert value("rankeff", ranked) == value("auc", ranked)
    lowest = 1 - q / (n_relevant * min(n_relevant, n_other))
    assert bpref(ranked) >= lowest - 1e-12


def test_elsas_bound_of_bpref_fails_as_printed() -> None:
    ranked = [0, 1, 0]
    assert bpref(ranked) == 0.0
    assert 1 - inversions(ranked) / (2 * 1) == 0.5  # what is printed as a lower bound


def test_elsas_theorem_1_and_the_equations_of_its_proof() -> None:
    """Every ranking of up to ten documents, every m."""
    n_cases = 0
    for n in range(1, 11):
        for ranked in itertools.product([0, 1], repeat=n):
            ranks = np.flatnonzero(ranked) + 1
            R, Q = ranks.size, inversions(list(ranked))
            assert ranks.sum() == Q + math.comb(R + 1, 2)  # eq. 3
            for m in range(1, R + 1):
                roots = np.sqrt(np.arange(1, m + 1))
                found = (np.arange(1, m + 1) / ranks[:m]).sum()
                Q_m = sum(r - i for i, r in enumerate(ranks[:m], 1))  # others ahead of these
                total = Q_m + math.comb(m + 1, 2)
                assert ranks[:m].sum() == total <= ranks.sum()  # eq. 4
                bound = roots.sum() ** 2 / total  # eq. 13 with m + 1 for "m + q"
                assert found >= bound - 1e-12
                assert found >= roots.sum() ** 2 / (Q + math.comb(R + 1, 2)) - 1e-12  # theorem 1
                # Eqs. 5, 6 and 9 to 12: the real r_i of the minimum are as sqrt(i).
                r = roots * total / roots.sum()
                assert (np.arange(1, m + 1) / r).sum() == pytest.approx(bound, rel=1e-12)
                n_cases += 1
    assert n_cases == 9217


# Chakrabarti et al. 2008 --------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 4])
def test_chakrabarti_values_of_the_mrr_loss(k: int) -> None:
    """Section 3.6 has 0, 1/k, 2/k, ..., 1; for k from 3 these are others, though as many."""
    orders = {*itertools.permutations([1, 1, 0, 0, 0, 0])}
    found = {round(1 - value(f"mrr@{k}", list(ranked)), 9) for ranked in orders}
    right = {1 - 1 / (1 + r) for r in range(k)} | {1.0}
    printed = {i / k for i in range(k + 1)}
    assert found == {round(v, 9) for v in right}
    assert (found == {round(v, 9) for v in printed}) == (k < 3)


def best_cell_path(good: Floats, bad: Floats, columns: int) -> float:
    """The objective by figure 2's table, NDCG without a cutoff: its general recurrence."""
    discount = 1 / np.log2(2.0 + np.arange(good.size + bad.size))
    ideal = discount[: good.size].sum()
    upto = np.concatenate([[0.0], np.cumsum(bad)])
    best = np.zeros(columns)
    for g in range(good.size):
        b = np.arange(columns)
        score = 2 / (good.size * bad.size) * (upto[b] - b * good[g])
        best = np.maximum.accumulate(best) + score - discount[g + b] / ideal
    return float(1 + best.max())


@pytest.mark.parametrize("seed", range(20))
def test_chakrabarti_table_needs_the_column_behind_all_bad_documents(seed: int) -> None:
    """Figure 2's loop ends at n- - 1, so that no good document can stand behind the last bad."""
    random = np.random.default_rng(seed)
    labels = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    scores = random.normal(size=5) + 4 * (labels == 0)  # the worst ranking is all bads first
    good, bad = np.sort(scores[:2])[::-1], np.sort(scores[2:])[::-1]
    exact = Setting("ndcg").hinge(labels, scores)
    assert best_cell_path(good, bad, columns=4) == pytest.approx(exact, abs=1e-12)
    assert best_cell_path(good, bad, columns=3) < exact - 0.1


def test_chakrabarti_clipped_ndcg_has_no_better_answer_than_zero() -> None:
    """The goods' mean is a mean of bads, so that at w = 0 the hinge can't fall, at any C."""
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 10))
    labels = np.zeros(1000)
    labels[:6] = 1
    X[:6] += 0.5  # goods that do stand out
    for C in (1.0, 1e4):
        with pytest.warns(UserWarning, match="w = 0 is optimal"):
            clipped = StructuralSVM("ndcg@10", C=C, tol=1e-6).fit(X, labels)
        assert not clipped.coef_.any()
        assert clipped.relative_gap_ <= 1e-6
    whole = StructuralSVM("ndcg", C=1e4).fit(X, labels)
    assert np.linalg.norm(whole.coef_) > 0.1
    assert evaluate(labels, whole.predict(X), group=[1000], metrics="auc")["auc"] > 0.6


# Welleck 2016 -------------------------------------------------------------------------------------


@given(ranked=st.lists(st.integers(0, 3), min_size=4, max_size=12), k=st.integers(1, 4))
@examples(100)
def test_welleck_equations_2_and_4_say_the_same(ranked: list[int], k: int) -> None:
    """As printed they are the number of documents over Ck: nothing, if label 0 is a class."""
    classes = sorted(set(ranked))
    counts = [ranked[:k].count(c) for c in classes]
    micro = sum(counts) / (len(classes) * k)
    macro = sum(count / k for count in counts) / len(classes)
    assert micro == pytest.approx(macro, abs=1e-12)
    assert micro == pytest.approx(1 / len(classes), abs=1e-12)
    relevant = [c for c in classes if c > 0]
    if relevant:
        printed = value(PRINTED_PRECISION(k), ranked)
        expected = sum(ranked[:k].count(c) for c in relevant) / (len(relevant) * k)
        assert printed == pytest.approx(expected, abs=1e-12)
        assert printed == pytest.approx(value(f"p@{k}", ranked) / len(relevant), abs=1e-12)


@given(
    ranked=st.lists(st.integers(0, 3), min_size=1, max_size=9),
    k=st.none() | st.integers(1, 10),
    counted=st.sampled_from(["relevant", "all"]),
)
@examples(100)
def test_welleck_equations_1_and_3(ranked: list[int], k: int | None, counted: str) -> None:
    guessed = sorted(ranked, reverse=True)[:k]
    shares = [
        [label == c for label, guess in zip(ranked, guessed, strict=False) if guess == c]
        for c in {*guessed} - ({0} if counted == "relevant" else set())
    ]
    pooled = [right for share in shares for right in share]
    micro = sum(pooled) / len(pooled) if pooled else math.nan
    macro = sum(sum(share) / len(share) for share in shares) / len(shares) if shares else math.nan
    for declared, expected in ((MICRO_PRECISION, micro), (MACRO_PRECISION, macro)):
        found = value(declared(k, classes=counted), ranked)
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("o", [-2.0, 0.0, 1.5])
def test_welleck_equations_7_and_8_do_not_go_together(o: float) -> None:
    """o = s_j - s_i, document i the better one: its cost is RankNet's."""
    step = 1e-6

    def slope(cost: Callable[[float], float]) -> float:
        return (cost(o + step) - cost(o - step)) / (2 * step)

    printed_7 = slope(lambda d: d + math.log(1 + math.exp(d)))
    printed_8 = 1 / (1 + math.exp(o))
    right = 1 / (1 + math.exp(-o))  # of log(1 + e^o), RankNet's
    assert slope(lambda d: math.log(1 + math.exp(d))) == pytest.approx(right, abs=1e-8)
    assert printed_7 == pytest.approx(1 + right, abs=1e-8)
    assert printed_7 - printed_8 == pytest.approx(2 * right, abs=1e-8)
    if o:
        assert abs(printed_8 - right) > 0.5
    # Ours, and anyone's: |dC/do| of a pair that weighs 1, i the better of two documents.
    gradient, _ = gradients([1, 0], [0.0, o], group=[2], metric="auc")
    assert -gradient[0] == pytest.approx(right, abs=1e-12)


def test_welleck_equation_12_is_right_and_its_proofs_last_line_is_not() -> None:
    """Delta AUC of ranks i < j is (l_j - l_i)(j - i)/(mn); the last line and eq. 17 negate it."""
    ranked = [1, 0, 0, 1, 1, 0]
    m, n = sum(ranked), len(ranked) - sum(ranked)
    for i, j in itertools.combinations(range(len(ranked)), 2):
        other = list(ranked)
        other[i], other[j] = other[j], other[i]
        delta = value("auc", other) - value("auc", ranked)
        assert delta == pytest.approx((ranked[j] - ranked[i]) * (j - i) / (m * n), abs=1e-12)
        if ranked[i] != ranked[j]:
            assert delta * (ranked[i] - ranked[j]) * (j - i) < 0


def test_welleck_lemma_1_names_another_pair_than_the_one_that_makes_up_for_the_change() -> None:
    """Case a < i, b = i: not (d_i, d_j), as printed, but (d_a, d_j) becomes incorrect."""
    a, i, j = 0, 1, 2
    before, after = [1, 1, 0], [1, 0, 1]  # l_a = 1, l_b = 1, l_j = 0, and swapped

    def correct(labels: list[int], first: int, second: int) -> bool:
        return labels[first] > labels[second]

    assert (correct(before, a, i), correct(after, a, i)) == (False, True)  # the pair (d_a, d_b)
    assert (correct(before, a, j), correct(after, a, j)) == (True, False)
    # (d_i, d_j) lies within [i, j], where lemma 2 counts it.
    assert (correct(before, i, j), correct(after, i, j)) == (True, False)


def test_welleck_s_is_minus_1_if_the_second_label_is_the_higher() -> None:
    """Printed are l_i > l_j and l_j < l_i, the same condition, for 1 and for -1."""
    for labels in ([1, 0], [0, 1]):
        gradient, _ = gradients(labels, [0.0, 0.0], group=[2], metric="auc")
        assert np.sign(-gradient[0]) == np.sign(labels[0] - labels[1])


LOWEST_SHARE, HIGHEST_SHARE = 0.48, 0.025  # of labels 1 and 4 in the relevant documents, sec. 5.2.2
NOT_RELEVANT = 0.26  # of Yahoo's first set: Chapelle & Chang 2011


@pytest.mark.parametrize("system", [0, 1])
def test_welleck_table_1_does_not_follow_from_table_3(system: int) -> None:
    """Whatever the shares of labels 2 and 3, which the paper does not give."""
    area = {label: both[system] for label, both in welleck_2016.TABLE_3.items()}
    printed = welleck_2016.TABLES_1_AND_2["Yahoo V1"][system]
    rest = 1 - LOWEST_SHARE - HIGHEST_SHARE
    for second in np.linspace(0, rest, 101):
        shares = {1: LOWEST_SHARE, 2: second, 3: rest - second, 4: HIGHEST_SHARE}
        of_relevant = sum(shares[label] * area[label] for label in area)
        assert of_relevant - printed > 0.005  # ten times the rounding
        # Over all documents, label 0 included.  Each pair of classes enters two areas, once either
        # way, so that the sum of p (1 - p) (AUC - 1/2) over all classes is 0.
        p = {label: (1 - NOT_RELEVANT) * share for label, share in shares.items()}
        surplus = sum(p[label] * (1 - p[label]) * (area[label] - 0.5) for label in area)
        of_zero = 0.5 - surplus / (NOT_RELEVANT * (1 - NOT_RELEVANT))
        of_all = NOT_RELEVANT * of_zero + (1 - NOT_RELEVANT) * of_relevant
        assert printed - of_all > 0.03
