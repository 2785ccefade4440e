"""What the SVMmap paper says, and whether it is so here."""

from __future__ import annotations

from collections.abc import Mapping

from lambdaplus.evaluation import Evaluation
from papers.findings import Claim
from papers.yue_2007.tables import BASES, OTHERS, OURS, Against

NO_RUNS = "The runs of the TREC submissions are not at hand"
HOUR = 3600.0


def claims(
    with_best: Against,
    without_best: Against,
    degraded: Mapping[str, tuple[Evaluation, Evaluation]],
    longest_fit: float,
) -> tuple[Claim, ...]:
    """The paper's claims in its own order.

    Parameters
    ----------
    with_best, without_best : Against
        Trained on all features, and without the best base function's.
    degraded : dict of str to (Evaluation, Evaluation)
        Of each SVM with and without the best base function's feature.
    longest_fit : float
        Seconds.
    """
    best = BASES[0]
    ours = f"{OURS} {with_best.mean(OURS):.4f}; W/L against "
    against_bases = ours + ", ".join(map(with_best.said, BASES)) + "."
    roc = ours + with_best.said("SVMroc") + "."
    higher = with_best.mean(OURS) > with_best.mean("SVMroc")
    svms = (OURS, *OTHERS)
    top = max(svms, key=without_best.mean)
    lower = [name for name in svms if degraded[name][1]["map"] < degraded[name][0]["map"]]
    return (
        Claim(
            "Section 3.2.2",
            "Virtually all well-performing models are trained in less than an hour.",
            longest_fit < HOUR,
            f"The longest fit of SVMmap took {longest_fit:.2g} s.",
        ),
        Claim(
            "Tables 6, 7",
            "SVMmap has a higher MAP than the best base function.",
            with_best.mean(OURS) > with_best.mean(best),
            ours + with_best.said(best) + ".",
        ),
        Claim(
            "Table 6",
            "On retrieval functions of one search engine it is significantly better than the best "
            "three.",
            all(map(with_best.beaten, BASES)),
            against_bases,
        ),
        Claim(
            "Table 7",
            "On the runs of TREC submissions its lead over the best is not significant.",
            None,
            f"{NO_RUNS}.",
        ),
        Claim(
            "Table 8",
            "Trained without the best base function's feature, it remains comparable with that "
            "function: not significantly worse.",
            without_best.mean(OURS) > without_best.mean(best)
            or not without_best.significant(best),
            f"{OURS} {without_best.mean(OURS):.4f}; W/L against {without_best.said(best)}.",
        ),
        *(
            Claim("Tables 9, 10", statement, with_best.beaten(name), ours + with_best.said(name)
                  + ".")
            for name, statement in (
                ("SVMacc", "SVMacc is not competitive: SVMmap is significantly better."),
                ("SVMacc2", "With a penalty for the imbalance (SVMacc2) it is still significantly "
                            "worse than SVMmap."),
                ("SVMacc3", "By percentiles (SVMacc3) it is not competitive."),
                ("SVMacc4", "By scores normalised in each query (SVMacc4) it is not competitive."),
            )
        ),
        Claim(
            "Table 9",
            "On retrieval functions of one search engine SVMroc is slightly, though not "
            "significantly, worse than SVMmap.",
            higher and not with_best.significant("SVMroc"),
            roc,
        ),
        Claim(
            "Section 5.2.2",
            "SVMroc is much better than SVMacc.",
            with_best.mean("SVMroc") > with_best.mean("SVMacc"),
            f"MAP {with_best.mean('SVMroc'):.4f} against {with_best.mean('SVMacc'):.4f}.",
        ),
        Claim(
            "Table 10",
            "On the runs of TREC submissions SVMmap is significantly better than SVMroc.",
            None,
            f"{NO_RUNS}. The paper's own stars are on TREC 10 alone (35/15).",
        ),
        Claim(
            "Table 11",
            "Without the best base function's feature most models degrade, and SVMmap is still "
            "the best of the SVMs.",
            top == OURS and 2 * len(lower) > len(svms),
            "MAP: "
            + ", ".join(f"{name} {without_best.mean(name):.4f}" for name in svms)
            + ". "
            f"Lower than before: {', '.join(lower) or 'none'}.",
        ),
    )  # fmt: skip
