"""What the paper says, and whether it holds here.

Better and worse mean: in the mean, and by a Wilcoxon signed-rank test over the test queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lambdaplus.study import Study
from papers.findings import Claim
from papers.versus import Versus, points, versus
from papers.welleck_2016.paper import (
    BINARY_SVM,
    BINARY_TREES,
    CUTOFFS,
    HOURS_OF_FIVE_FOLDS,
    HOURS_OF_SVM,
    MSLR_QUERIES,
    SVM,
    TREES,
)


def binary_claims(study: Study) -> Iterator[Claim]:
    """Section 5.2.1: relevant or not."""
    for metric, name in (("auc", "AUC"), ("map", "MAP")):
        pair = versus(study, BINARY_TREES, BINARY_SVM, metric)
        yield Claim(
            "Section 5.2.1",
            f"On binary labels LambdaMART-AUC and the AUC SVM are similar in {name}.",
            not (pair.better or pair.worse),
            f"LambdaMART-AUC against the SVM: {pair}.",
        )


def graded_claims(study: Study) -> Iterator[Claim]:
    """Section 5.2.2, tables 1 and 2, figure 2."""
    area = versus(study, TREES, SVM, "mauc")
    pooled = [study.results.mean(method.name, "mauc(over=dataset)") for method in study.methods]
    yield Claim(
        "Table 1",
        "LambdaMART-MAUC is at least as good as the SVM by class in MAUC.",
        not area.worse,
        f"LambdaMART-MAUC against the SVM: {area}; over one ranking of all documents "
        f"{' against '.join(map(points, pooled))}.",
    )
    precision = versus(study, TREES, SVM, "map")
    yield Claim(
        "Table 2",
        "LambdaMART-MAUC has the higher MAP.",
        precision.better,
        f"LambdaMART-MAUC against the SVM: {precision}.",
    )
    for kind in ("micro", "macro"):
        pairs = [versus(study, TREES, SVM, f"{kind}_precision@{k}") for k in CUTOFFS]
        yield Claim(
            "Figure 2",
            f"LambdaMART-MAUC has the higher {kind}-averaged precision@k for all k from 1 to 10.",
            all(pair.first > pair.second for pair in pairs),
            precision_evidence(pairs),
        )


def precision_evidence(pairs: Sequence[Versus]) -> str:
    """How many cutoffs, and which of them by more than chance."""
    higher = sum(pair.first > pair.second for pair in pairs)
    better = sum(pair.better for pair in pairs)
    worse = sum(pair.worse for pair in pairs)
    return (
        f"higher for {higher} of {len(pairs)} k, significantly for {better}; significantly lower "
        f"for {worse}. At 10: {pairs[-1]}."
    )


def class_claims(pairs: Mapping[int, Versus], shares: Mapping[int, float]) -> Iterator[Claim]:
    """Table 3: where the two get their MAUC from.

    Parameters
    ----------
    pairs : dict of int to Versus
        Class-reference AUC of each relevant class.
    shares : dict of int to float
        Of the relevant documents.
    """
    common, rare = (kind(shares, key=lambda c: shares[c]) for kind in (max, min))
    yield Claim(
        "Table 3",
        "Against the SVM the class-reference AUC of the commonest relevant class rises.",
        pairs[common].better,
        f"class {common}, {shares[common]:.1%} of the relevant documents: {pairs[common]}.",
    )
    yield Claim(
        "Table 3",
        "Against the SVM the class-reference AUC of the rarest class falls.",
        pairs[rare].worse,
        f"class {rare}, {shares[rare]:.1%} of the relevant documents: {pairs[rare]}.",
    )


def time_claims(trees: Mapping[str, float], svm: Mapping[str, float]) -> Iterator[Claim]:
    """Section 5.2.2: MSLR-WEB10K."""
    size = f"{trees['documents']:,.0f} documents"
    hours = 5 * trees["seconds"] * MSLR_QUERIES / trees["queries"] / 3600
    yield Claim(
        "Section 5.2.2",
        "LambdaMART-MAUC trains on all five folds of MSLR-WEB10K in less than 5 hours.",
        hours < HOURS_OF_FIVE_FOLDS,
        f"{trees['seconds']:.0f} s on {size} made up in its shape; at that rate {hours:.2f} hours "
        f"for five folds of {MSLR_QUERIES:,} queries.",
    )
    one = svm["seconds"] * MSLR_QUERIES / svm["queries"] / 3600
    ended = "converge" if svm["converged"] else "do not converge"
    yield Claim(
        "Section 5.2.2",
        "The SVM by class does not converge within 12 hours on one fold of MSLR-WEB10K.",
        not svm["converged"] or one > HOURS_OF_SVM,
        f"our cutting planes (SVM-Perf itself is not here) {ended} for all classes in "
        f"{svm['seconds']:.0f} s on {size}, to a duality gap of 0.001; at that rate {one:.2f} "
        "hours for a fold.",
    )
