"""The papers' toy figures as printed, and where the print is wrong, the proof of it."""

from __future__ import annotations

import itertools
import math

import pytest
from brute_force import examples
from hypothesis import given
from hypothesis import strategies as st

from lambdaplus import evaluate
from lambdaplus.metrics import Metric
from papers.precisions import MACRO_PRECISION, MICRO_PRECISION, PRINTED_PRECISION

PRINTED = 0.005  # half of the last digit of two


def value(metric: Metric, ranked: list[int], **options: str) -> float:
    """The metric of labels in ranked order."""
    scores = [-rank for rank in range(len(ranked))]
    return evaluate(ranked, scores, group=[len(ranked)], metrics=metric, **options).mean.popitem()[
        1
    ]


def letters(text: str) -> list[int]:
    """Labels of a ranking such as R N R."""
    return [int(letter == "R") for letter in text.split()]


def inversions(ranked: list[int]) -> int:
    return sum(a < b for a, b in itertools.combinations(ranked, 2))


# Yue et al. 2007, section 2 -----------------------------------------------------------------------

TABLE_1 = [1, 0, 0, 0, 0, 1, 1, 0]  # relevance of the documents; h1 ranks them in this order
TABLE_3 = [1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0]


def best_accuracy(ranked: list[int]) -> float:
    n = len(ranked)
    return max(
        sum(label == (i < cut) for i, label in enumerate(ranked)) / n for cut in range(n + 1)
    )


@pytest.mark.parametrize(
    ("ranked", "ap", "area"), [(TABLE_1, 0.59, 0.47), (TABLE_1[::-1], 0.51, 0.53)]
)
def test_yue_table_2(ranked: list[int], ap: float, area: float) -> None:
    assert value("map", ranked) == pytest.approx(ap, abs=PRINTED)
    assert value("auc", ranked) == pytest.approx(area, abs=PRINTED)


@pytest.mark.parametrize(
    ("ranked", "accuracy", "ap", "printed"),
    [(TABLE_3, 0.64, 0.5635, 0.70), (TABLE_3[::-1], 0.73, 0.5109, 0.64)],
)
def test_yue_table_4_has_the_accuracies_but_not_the_map_of_table_3(
    ranked: list[int], accuracy: float, ap: float, printed: float
) -> None:
    assert best_accuracy(ranked) == pytest.approx(accuracy, abs=PRINTED)
    assert value("map", ranked) == pytest.approx(ap, abs=1e-4)
    assert abs(value("map", ranked) - printed) > 0.1
    # By hand, for h1: relevant at ranks 1, 6, 7, 8, 9.
    by_hand = (1 + 2 / 6 + 3 / 7 + 4 / 8 + 5 / 9) / 5
    assert value("map", TABLE_3) == pytest.approx(by_hand, abs=1e-12)


# Elsas et al. 2008 --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranking", "ndcg", "rr", "ap"),
    [
        ("R N R N R N", 0.783, 1.0, 0.756),
        ("N R R R N N", 0.810, 0.5, 0.639),
        ("R R N N N R", 0.907, 1.0, 0.833),
    ],
)
def test_elsas_three_rankings(ranking: str, ndcg: float, rr: float, ap: float) -> None:
    ranked = letters(ranking)
    assert inversions(ranked) == 3
    assert value("mrr", ranked) == rr
    assert value("map", ranked) == pytest.approx(ap, abs=PRINTED / 10)
    # .7836 is printed as .783, so a whole unit of the last digit is allowed.
    assert value("ndcg", ranked, convention="letor3") == pytest.approx(ndcg, abs=0.001)
    assert abs(value("ndcg", ranked) - ndcg) > 0.01  # the discount 1 / log2(1 + rank) is not theirs


def bound(n_hits: int, normalizer: float, ranked: list[int]) -> float:
    """The right side of theorem 1, for the first m = n_hits relevant documents."""
    n_relevant = sum(ranked)
    roots = sum(math.sqrt(i) for i in range(1, n_hits + 1))
    return roots**2 / normalizer / (inversions(ranked) + n_relevant * (n_relevant + 1) / 2)


def phi(n_hits: int, normalizer: float, ranked: list[int]) -> float:
    ranks = [r for r, label in enumerate(ranked, 1) if label]
    return sum(i / r for i, r in enumerate(ranks[:n_hits], 1)) / normalizer


@given(ranked=st.lists(st.integers(0, 1), min_size=1, max_size=14), k=st.integers(1, 14))
@examples(300)
def test_elsas_theorem_1(ranked: list[int], k: int) -> None:
    """Fewer inversions bound AP, RR, P@k and R-precision from below."""
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
        found = value(name, ranked)
        assert found >= phi(n_hits, normalizer, ranked) - 1e-12
        assert phi(n_hits, normalizer, ranked) >= bound(n_hits, normalizer, ranked) - 1e-12
        if name in ("map", "mrr"):
            assert found == pytest.approx(phi(n_hits, normalizer, ranked), abs=1e-12)
        else:  # table 6 equates them, which holds only if the hits stand at the very top
            on_top = all(ranked[:n_hits])
            assert (abs(found - phi(n_hits, normalizer, ranked)) < 1e-12) == on_top


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
    assert value("bpref", ranked) >= lowest - 1e-12


def test_elsas_bound_of_bpref_fails_as_printed() -> None:
    ranked = letters("N R N")
    assert value("bpref", ranked) == 0.0
    assert 1 - inversions(ranked) / (2 * 1) == 0.5  # what is printed as a lower bound


# Welleck 2016, section 3.1 ------------------------------------------------------------------------


@given(
    ranked=st.lists(st.integers(0, 3), min_size=4, max_size=12),
    k=st.integers(1, 4),
)
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
        expected = sum(ranked[:k].count(c) for c in relevant) / (len(relevant) * k)
        assert value(PRINTED_PRECISION(k), ranked) == pytest.approx(expected, abs=1e-12)
        assert value(PRINTED_PRECISION(k), ranked) == pytest.approx(
            value(f"p@{k}", ranked) / len(relevant), abs=1e-12
        )


@given(
    ranked=st.lists(st.integers(0, 3), min_size=1, max_size=9),
    k=st.none() | st.integers(1, 10),
    counted=st.sampled_from(["relevant", "all"]),
)
@examples(100)
def test_equations_1_and_3_count_the_classes_that_ranks_predict(
    ranked: list[int], k: int | None, counted: str
) -> None:
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
