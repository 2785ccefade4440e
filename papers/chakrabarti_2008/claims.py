"""What the paper says, and whether it holds here.

The paper has no tests: better means in the mean, and even, close or robust that a Wilcoxon
signed-rank test over queries is not significant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from lambdaplus.study import Results
from papers.chakrabarti_2008.fits import Record
from papers.paper import Claim
from papers.session import Versus, points, said, versus

NDCG_10 = "ndcg(discount=letor)@10"
CRITERIA = ("map", "mrr", NDCG_10)
COMPONENTS = ("svm:map", "svm:mrr", "svm:mrr-po", "svm:ndcg-nc")
COMBOS = {  # by slack, and whether their maps are scaled to one size
    (slack, scaled): f"svm:combo-{slack}{'-one-size' if scaled else ''}"
    for scaled in (False, True)
    for slack in ("shared", "separate")
}
DORM, SORTED, MCRANK = "svm:dorm", "svm:dorm-sorted", "mcrank:multiclass"
DORMS = {DORM: "", SORTED: "correct ranking sorted"}
DECAYS: tuple[str | int, ...] = ("smooth", 30, 10)
LENGTHS = (10_000, 1_000_000)  # documents of a query, for the time of a search
UNSCALED = ("svm:auc", "svm:map", "svm:ndcg@10")
# Trainers that are timed.
NDCG, MRR, MERGED, ASSIGNED = "SVMndcg", "SVMmrr", "DORM, merged", "DORM, assigned"
Times = Mapping[str, Mapping[str, Record]]  # by data and trainer


def path_claims(paths: Mapping[str, Sequence[Record]], reading: str = "") -> Iterator[Claim]:
    """Figures 4 to 6, at the largest C."""
    last = {name: path[-1] for name, path in paths.items()}
    fall = {n: max(0.0, 1 - end["slack"] / end["slack_at_zero"]) for n, end in last.items()}
    slow = max(fall["svm:map"], fall["svm:ndcg@10"])

    def falls(*names: str) -> str:
        return ", ".join(f"{fall[name]:.1%}" for name in names)

    yield Claim(
        "Figure 4",
        "SVMauc reduces its average slack more than SVMmap and SVMndcg as C grows.",
        fall["svm:auc"] > slow,
        falls("svm:auc", "svm:map", "svm:ndcg@10"),
        reading,
    )
    own = [("DORM", name, of_dorm) for name, of_dorm in DORMS.items()]
    for what, name, of_name in (*own, ("SVMmrr", "svm:mrr", "")):
        yield Claim(
            "Figure 4",
            f"{what}, with a feature map of its own, also reduces its slack more.",
            fall[name] > slow,
            falls(name),
            ", ".join(filter(None, [of_name, reading])),
        )
    near = [last[name] for name in ("svm:map", "svm:ndcg@10")]
    shares = ", ".join(f"{end['share']:.3f}" for end in (*near, last["svm:auc"]))
    closer = min(end["share"] for end in near) > last["svm:auc"]["share"]
    moved = " and ".join(f"{end['moved']:.0%}" for end in near)
    yield Claim(
        "Figures 5 and 6",
        "SVMmap and SVMndcg stay close to w = 0, closer than SVMauc, but not quite at it.",
        closer and min(end["moved"] for end in near) == 1,
        f"{shares} of the objective at w = 0; norms {near[0]['norm']:.3g} and "
        f"{near[1]['norm']:.3g}, above 0 on {moved} of the folds",
        reading,
    )


def study_claims(
    results: Results, summed: Results, decays: Results, orders: Sequence[Results]
) -> Iterator[Claim]:
    """Figures 7 and 9, sections 3.1, 3.5, 3.7, 4.2, 4.5 and 4.6.

    ``summed`` are the SVMs whose pairs are not averaged, ``decays`` DORM with several decays, and
    ``orders`` DORM with other orders of the rows.
    """
    yield against(
        results, "Figure 7", "For MRR, its own feature map has a large gain over that of pairs.",
        "svm:mrr", "svm:mrr-po", "mrr", "large",
    )  # fmt: skip
    every = [results, *orders]
    even, better = (
        [versus(results, one, DORM, NDCG_10, other) for other in every]
        for one in ("svm:ndcg@10", "svm:ndcg-nc")
    )
    statements = (
        "SVMndcg and DORM come out about even in NDCG@10.",
        "SVMndcg-nc is better than DORM in NDCG@10.",
    )
    holds = (
        2 * sum(pair.better or pair.worse for pair in even) < len(every),
        2 * sum(pair.first > pair.second for pair in better) > len(every),
    )
    for statement, held, pairs in zip(statements, holds, (even, better), strict=True):
        yield Claim("Figure 9", statement, held, in_orders(pairs), "orders of the rows")
    yield against(
        results, "Figure 9", statements[0], "svm:ndcg@10", SORTED, NDCG_10, "even"
    )._replace(reading=DORMS[SORTED])
    yield against(results, "Figure 9", statements[1], "svm:ndcg-nc", SORTED, NDCG_10)._replace(
        reading=DORMS[SORTED]
    )
    yield own_criterion(results)
    for scaled in (False, True):  # a shared slack, which is worse, is in the table beside
        name, reading = COMBOS["separate", scaled], "maps of one size" if scaled else ""
        yield _close_to_components(results, name, reading)
        yield against(
            results, "Section 4.2", "SVMcombo almost always beats SVMmrr in MRR.",
            name, "svm:mrr", "mrr",
        )._replace(reading=reading)  # fmt: skip
        pairs = [versus(results, name, COMBOS["shared", scaled], c) for c in CRITERIA]
        yield Claim(
            "Section 3.7",
            "Separate slacks do better than a shared one.",
            all(pair.first > pair.second for pair in pairs),
            signed(pairs),
            reading,
        )
    yield against(
        decays, "Section 3.5", "A decay of DORM that is 0 after rank 10 is inferior to a smooth "
        "one.", "fixed, smooth", "fixed, 10", NDCG_10,
    )  # fmt: skip
    tops = best_svms(results)
    robust = {c: versus(results, "svm:map", top, c) for c, top in tops.items()}
    n_led = sum(top != "svm:map" for top in tops.values())
    yield Claim(
        "Section 4.5",
        "SVMmap and another, whose name our text lacks, are among the most robust trainers: by no "
        "criterion is an SVM significantly better than SVMmap.",
        not any(pair.worse for pair in robust.values()),
        f"another leads by {n_led} of {len(tops)}, significantly by "
        f"{sum(pair.worse for pair in robust.values())}",
    )
    trees = {c: versus(results, top, MCRANK, c) for c, top in tops.items()}
    yield Claim(
        "Sections 1, 4.6",
        "The best structured ranker is better than McRank on most criteria.",
        2 * sum(pair.first >= pair.second for pair in trees.values()) > len(trees),
        f"by {sum(pair.first >= pair.second for pair in trees.values())} of {len(trees)}, "
        f"significantly by {sum(pair.better for pair in trees.values())}",
    )
    yield averaged_pairs(svm_means(results, "auc"), svm_means(summed, "auc"))


def best_svms(results: Results) -> dict[str, str]:
    """Name of the best SVM by each criterion."""
    return {criterion: best(svm_means(results, criterion)) for criterion in CRITERIA}


def svm_means(results: Results, criterion: str) -> dict[str, float]:
    """Test mean of each SVM."""
    return {m: results.mean(m, criterion) for m in results.methods if m.startswith("svm:")}


def best(means: Mapping[str, float]) -> str:
    """Name of the method with the highest mean."""
    return max(means, key=lambda name: means[name])


def w_is_zero(results: Results, method: str) -> int:
    """Number of folds on which every document has the same score: AUC is .5 everywhere."""
    mine = (pl.col("method") == method) & (pl.col("metric") == "auc")
    of_auc = results.values.filter(mine).drop_nulls("value")
    tied = of_auc.group_by("fold").agg(((pl.col("value") - 0.5).abs() < 1e-9).all().alias("tied"))
    return int(tied["tied"].sum())


def against(
    results: Results, place: str, statement: str, first: str, second: str, metric: str,
    how: str = "better",
) -> Claim:  # fmt: skip
    """Whether the first is better, even, or has a large gain, which must be significant.

    Nothing is said against a model that ranks nothing.
    """
    pair = versus(results, first, second, metric)
    zero = {name: w_is_zero(results, name) for name in (first, second)}
    answers = {
        "better": pair.first > pair.second,
        "even": not (pair.better or pair.worse),
        "large": pair.better,
    }
    holds = answers[how]
    n = len(results.folds)
    tied = "".join(f"; w = 0 on {of} of {n} folds ({name})" for name, of in zero.items() if of)
    return Claim(place, statement, None if any(zero.values()) else holds, f"{pair}{tied}")


def signed(pairs: Sequence[Versus]) -> str:
    """By criterion, whether the first is higher or lower, and p."""
    return "; ".join(f"{'+' if v.first > v.second else '-'}, {said(v.p)}" for v in pairs)


def in_orders(pairs: Sequence[Versus]) -> str:
    """One method against another by the order of the rows that the second was trained with."""
    low, high = (kind(pair.second for pair in pairs) for kind in (min, max))
    significant = sum(pair.better or pair.worse for pair in pairs)
    return (
        f"{points(pairs[0].first)} against {points(low)} to {points(high)}, p < .05 in "
        f"{significant} of {len(pairs)} orders"
    )


def own_criterion(results: Results) -> Claim:
    """Whether the best of those trained for one criterion were trained for that of the test."""
    top = {}
    for criterion in CRITERIA:
        means = svm_means(results, criterion)
        top[criterion] = best({n: v for n, v in means.items() if "combo" not in n})
    own = sum(str(results.methods[name].criterion) == criterion for criterion, name in top.items())
    return Claim(
        "Figure 9",
        "A test criterion is rarely served best by training for it.",
        2 * own < len(top),
        f"{own} of {len(top)} criteria",
    )


def _close_to_components(results: Results, combo: str, reading: str) -> Claim:
    tops = {c: best({n: results.mean(n, c) for n in COMPONENTS}) for c in CRITERIA}
    pairs = {c: versus(results, combo, top, c) for c, top in tops.items()}
    return Claim(
        "Section 4.5",
        "SVMcombo is close to the best of its components on every criterion.",
        not any(pair.worse for pair in pairs.values()),
        signed(list(pairs.values())),
        reading,
    )


def rounds_claim(curve: Sequence[float], rounds: int) -> Claim:
    """Validation NDCG@10 of McRank by rounds, the mean of folds."""
    few, many = float(curve[min(rounds, len(curve)) - 1]), float(curve[-1])
    return Claim(
        "Section 4.6",
        "More than 30 to 40 rounds of McRank sometimes hurt accuracy.",
        many < few,
        f"validation NDCG@10 {points(few)} after {rounds} rounds, {points(many)} after "
        f"{len(curve)}",
    )


def averaged_pairs(mean: Mapping[str, float], total: Mapping[str, float]) -> Claim:
    """Whether less than half of the AUC above .5 is left without averaging, SVM by SVM."""
    lost = [total[name] - 0.5 < 0.5 * (mean[name] - 0.5) for name in total]
    told = ", ".join(f"{points(mean[name])} to {points(total[name])}" for name in total)
    return Claim(
        "Section 3.1",
        "Without averaging pairs next to nothing is learnt (SVMauc, SVMmap, SVMndcg).",
        all(lost),
        f"AUC from {told}",
    )


def time_claims(times: Times, documents: Mapping[str, int]) -> Iterator[Claim]:
    """Figures 8 and 10."""
    small, *_, large = times
    total = {
        shape: {name: of["seconds"] for name, of in by_trainer.items()}
        for shape, by_trainer in times.items()
    }
    ratio = [of[ASSIGNED] / of[NDCG] for of in total.values()]
    zero = any(of[name]["norm"] == 0 for of in times.values() for name in (NDCG, ASSIGNED))
    merged = total[large][MERGED] / total[large][NDCG]
    yield Claim(
        "Figure 8",
        "DORM, solved as assignment, takes substantially longer than SVMndcg (paper: 15 times).",
        None if zero else min(ratio) > 2,
        f"{min(ratio):.1f} to {max(ratio):.1f} times; merged {merged:.1f}",
    )
    each = [times[shape][ASSIGNED] for shape in (small, large)]
    grown = each[1]["oracle"] / each[1]["passes"] / (each[0]["oracle"] / each[0]["passes"])
    yield Claim(
        "Figure 8",
        "DORM's time grows much more steeply than the number of documents.",
        None,
        f"SciPy's assignment of 30 ranks is linear: {grown:.1f} times as long for "
        f"{documents[large] / documents[small]:.1f} times the documents",
    )
    parts = [
        1 - times[shape][name]["oracle"] / times[shape][name]["solver"]
        for shape, name in itertools.product(times, (NDCG, ASSIGNED))
    ]
    yield Claim(
        "Figure 8",
        "The quadratic program is barely visible (below a tenth of the time).",
        max(parts) < 0.1,
        f"{min(parts):.0%} to {max(parts):.0%} of the time beside compiled searches (the paper's "
        "are Java)",
    )
    trees = {
        name: [of[MCRANK]["seconds"] / of[name]["seconds"] for of in times.values()]
        for name in (NDCG, MRR)
    }
    yield Claim(
        "Figure 10",
        "McRank is more expensive than structured learners by up to two orders of magnitude.",
        max(trees[NDCG]) > 100,
        "whole fits: "
        + "; ".join(
            f"{', '.join(f'{ratio:.1f}' for ratio in ratios)} times {name}"
            for name, ratios in trees.items()
        ),
    )


def linear_time(seconds: Mapping[str, float]) -> Claim:
    """Seconds of the oracles of SVMndcg and SVMmrr by the number of documents of a query."""
    few, many = LENGTHS
    grown = [seconds[f"{name} {many}"] / seconds[f"{name} {few}"] for name in ("SVMndcg", MRR)]
    limit = many / few * math.log(many) / math.log(few) * 2  # twice n log n
    return Claim(
        "Facts 3.4, 3.5",
        "The searches for the most violated ranking of SVMndcg and SVMmrr take almost linear time.",
        max(grown) < limit,
        f"{' and '.join(f'{ratio:.0f}' for ratio in grown)} times as long for {many // few} times "
        f"the documents; almost linear is below {limit:.0f}",
    )


NOT_TESTED = Claim(
    "Figure 9",
    "The same on TD2003, TD2004, TREC 2000 and TREC 2001.",
    None,
    "not available",
)
