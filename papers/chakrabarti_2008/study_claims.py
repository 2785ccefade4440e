"""What the paper says of test values, and whether it holds in a study.

Better and worse mean: in the mean, and by a Wilcoxon signed-rank test over queries.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lambdaplus.study import Study
from papers.chakrabarti_2008.methods import COMBOS, DORM, MCRANK, PAIR_COMBOS
from papers.findings import Claim
from papers.versus import Versus, points, versus

CRITERIA = ("map", "mrr", "ndcg@10")
COMPONENTS = ("svm:map", "svm:mrr", "svm:mrr-po", "svm:ndcg-nc")
ROUNDS = 40  # "more than 30-40 rounds sometimes hurt accuracy"


def study_claims(study: Study, summed: Study, rounds: int) -> Iterator[Claim]:
    """Figures 7 and 9, sections 3.1, 3.7, 4.5 and 4.6.

    Parameters
    ----------
    study : Study
        Of all methods, by AUC and `CRITERIA` at least.
    summed : Study
        Of those whose pairs are not averaged.
    rounds : int
        That McRank was given.
    """
    maps = versus(study, "svm:mrr", "svm:mrr-po", "mrr")
    yield Claim(
        "Figure 7",
        "For MRR the feature map of its own has a large gain over that of pairs.",
        maps.better,
        f"{maps}.{_zeros(study, 'svm:mrr')}",
    )
    even = versus(study, "svm:ndcg@10", DORM, "ndcg@10")
    yield Claim(
        "Figure 9",
        "SVMndcg and DORM come out about even in NDCG@10.",
        # Two that learn nothing are even, but say nothing.
        None if not even.wins + even.losses else not (even.better or even.worse),
        f"SVMndcg against DORM: {even}.{_zeros(study, 'svm:ndcg@10', DORM)}",
    )
    unclipped = versus(study, "svm:ndcg-nc", DORM, "ndcg@10")
    yield Claim(
        "Figure 9",
        "SVMndcg-nc is better than DORM in NDCG@10.",
        unclipped.better,
        f"{unclipped}.{_zeros(study, DORM)}",
    )
    yield own_criterion(study)
    yield _close_to_components(study)
    yield _beats_mrr(study)
    yield _separate(study)
    yield _robust(study)
    yield _against_mcrank(study)
    yield many_rounds(study, rounds)
    yield averaged_pairs(study, summed)


def svm_means(study: Study, criterion: str) -> dict[str, float]:
    """Test mean of each SVM."""
    [metric] = [metric for metric in study.metrics if str(metric) == criterion]
    return {
        m.name: study.results.mean(m.name, str(metric)) for m in study.methods if m.family == "svm"
    }


def best(means: dict[str, float]) -> str:
    """Name of the method with the highest mean."""
    return max(means, key=lambda name: means[name])


def _zeros(study: Study, *names: str) -> str:
    """In words, who has w = 0 on how many folds."""
    counts = {
        name: sum(
            not choice.model.test_scores.any()
            for m in study.methods
            if m.name == name
            for choice in study.choices(m)
        )
        for name in names
    }
    parts = [f"{name} has w = 0 on {n} of {len(study.folds)} folds" for name, n in counts.items()]
    return f" {'; '.join(parts)}." if any(counts.values()) else ""


def own_criterion(study: Study) -> Claim:
    """Whether the best of those trained for one criterion were trained for that of the test."""
    trained = {method.name: method.criterion for method in study.methods}
    top = {}
    for criterion in ("auc", *CRITERIA):
        means = svm_means(study, criterion)
        top[criterion] = best({n: v for n, v in means.items() if "combo" not in n})
    own = sum(trained[name] == criterion for criterion, name in top.items())
    told = ", ".join(f"{name} by {criterion}" for criterion, name in top.items())
    return Claim(
        "Figure 9",
        "A test criterion is rarely served best by training for it.",
        2 * own < len(top),
        f"best of those trained for one criterion: {told}; {own} of {len(top)} its own.",
    )


def _close_to_components(study: Study) -> Claim:
    pairs: dict[str, list[Versus]] = {name: [] for name in (*COMBOS, *PAIR_COMBOS)}
    for criterion in CRITERIA:
        means = svm_means(study, criterion)
        top = best({name: means[name] for name in COMPONENTS})
        for combo, found in pairs.items():
            found.append(versus(study, combo, top, criterion))
    close = {combo: not any(pair.worse for pair in found) for combo, found in pairs.items()}
    told = "; ".join(
        f"{combo} {'is not significantly worse' if close[combo] else 'is worse'}, at most "
        f"{max(found, key=lambda pair: pair.second - pair.first)}"
        for combo, found in pairs.items()
    )
    return Claim(
        "Section 4.5",
        "SVMcombo is close to the best of its components on every criterion.",
        any(close.values()),
        f"against the best component (-po: the map of pairs for MRR too) {told}.",
    )


def _beats_mrr(study: Study) -> Claim:
    own = [versus(study, combo, "svm:mrr", "mrr") for combo in COMBOS]
    pairs = [versus(study, combo, "svm:mrr-po", "mrr") for combo in PAIR_COMBOS]
    return Claim(
        "Section 4.2",
        "SVMcombo almost always beats SVMmrr in MRR.",
        all(pair.better for pair in (*own, *pairs)),
        f"with MRR's own map shared slacks {own[0]}, separate {own[1]}; with the map of pairs "
        f"shared {pairs[0]}, separate {pairs[1]}.{_zeros(study, COMBOS[0], 'svm:mrr')}",
    )


def _separate(study: Study) -> Claim:
    each = [
        versus(study, separate, shared, criterion)
        for shared, separate in (COMBOS, PAIR_COMBOS)
        for criterion in CRITERIA
    ]
    own, pairs = each[: len(CRITERIA)], each[len(CRITERIA) :]
    return Claim(
        "Section 3.7",
        "Separate slacks do better than a shared one.",
        2 * sum(pair.better for pair in each) > len(each),
        f"separate against shared, with MRR's own map: {'; '.join(map(str, own))}; with the map "
        f"of pairs: {'; '.join(map(str, pairs))}.",
    )


def _robust(study: Study) -> Claim:
    tops = {criterion: best(svm_means(study, criterion)) for criterion in CRITERIA}
    pairs = {criterion: versus(study, "svm:map", top, criterion) for criterion, top in tops.items()}
    told = "; ".join(f"{pair} of {tops[criterion]}" for criterion, pair in pairs.items())
    return Claim(
        "Section 4.5",
        "SVMmap is among the most robust trainers: by no criterion is another SVM better.",
        not any(pair.worse for pair in pairs.values()),
        f"SVMmap against the best SVM: {told}.",
    )


def _against_mcrank(study: Study) -> Claim:
    pairs = {}
    for criterion in CRITERIA:
        top = best(svm_means(study, criterion))
        pairs[top, criterion] = versus(study, top, MCRANK, criterion)
    better = sum(pair.first >= pair.second for pair in pairs.values())
    return Claim(
        "Section 4.6",
        "The best structured ranker is better than McRank on most criteria (in the paper, seven "
        "of nine columns).",
        2 * better > len(pairs),
        "; ".join(f"{name}: {pair}" for (name, _), pair in pairs.items()) + ".",
    )


def many_rounds(study: Study, rounds: int) -> Claim:
    """Whether validation values fall after the first rounds."""
    place, statement = "Section 4.6", "More than 30 to 40 rounds sometimes hurt McRank."
    if rounds <= ROUNDS:
        evidence = f"it had {rounds} rounds; --rounds 1500 goes on."
        return Claim(place, statement, None, evidence)
    curves = [
        choice.model.curve for m in study.methods if m.name == MCRANK for choice in study.choices(m)
    ]
    hurt = sum(bool(curve[-1] < np.max(curve[:ROUNDS])) for curve in curves)
    evidence = (
        f"after {rounds} rounds validation NDCG@10 is below the best of the first {ROUNDS} on "
        f"{hurt} of {len(curves)} folds."
    )
    return Claim(place, statement, hurt > 0, evidence)


def averaged_pairs(study: Study, summed: Study) -> Claim:
    """Whether less than half of the AUC above .5 is left without averaging."""
    mean, total = svm_means(study, "auc"), svm_means(summed, "auc")
    lost = [total[name] - 0.5 < 0.5 * (mean[name] - 0.5) for name in total]
    told = "; ".join(
        f"{name} {points(mean[name])} averaged, {points(total[name])} summed" for name in total
    )
    return Claim(
        "Section 3.1",
        "Without averaging the pairs of a query next to nothing is learnt.",
        all(lost),
        f"test AUC: {told}.",
    )
