"""What the committee perceptron paper says of OHSUMED, and whether it is so here."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from lambdaplus.evaluation import RunComparison
from papers.elsas_2008.figure1 import CLOSE, Figure1
from papers.elsas_2008.table4 import (
    BASELINES,
    COLUMNS,
    COMMITTEES,
    LEVEL,
    METRICS,
    NDCG_10,
    VARIANTS,
    Table4,
)
from papers.elsas_2008.table5 import Table5
from papers.findings import Claim

NAMES = tuple(COLUMNS)


def claims(
    table4: Table4, sizes: RunComparison, table5: Table5, figure1: Figure1
) -> tuple[Claim, ...]:
    """The paper's claims in its own order."""
    return (
        *_of_table_4(table4),
        _of_sizes(sizes),
        *_of_figure_1(figure1),
        _of_table_5(table5),
        Claim(
            "Table 4",
            "On TREC 2003 the committee is significantly better than RankBoost, and on TREC 2004 "
            "RankBoost is far ahead of all others.",
            None,
            "LETOR's .GOV sets are not at hand.",
        ),
    )


def _of_table_4(table4: Table4) -> tuple[Claim, ...]:
    over = significant(table4, BASELINES + VARIANTS, COMMITTEES)
    worse = significant(table4, BASELINES, COMMITTEES)
    variants = {
        name: [significant(table4, [com], [name]) for com in COMMITTEES] for name in VARIANTS
    }
    means = {name: dict(zip(NAMES, table4.means(name), strict=True)) for name in table4.runs}
    best = {name: max(means, key=lambda system: means[system][name]) for name in NAMES}
    first = {name: means[name]["NDCG@1"] for name in ("Com 30 B", *BASELINES)}
    return (
        Claim(
            "Section 6.2",
            "The committee perceptron performs comparably to RankSVM and RankBoost: where these "
            "are better, it is not significant.",
            not worse,
            _listed(worse) + " " + _means(means, (*COMMITTEES, *BASELINES)),
        ),
        Claim(
            "Section 6.2",
            "It is significantly better than the average and pocket perceptrons.",
            all(any(found) for found in variants.values()),
            " ".join(_listed([s for f in found for s in f], name) for name, found in
                     variants.items()) + " " + _means(means, (*COMMITTEES, *VARIANTS)),
        ),
        Claim(
            "Table 4",
            "Committee or RankSVM, each is significantly better than RankBoost by MAP.",
            all(table4.mostly(name, "RankBoost")[0] for name in (*COMMITTEES, "RankSVM")),
            "Seeds that pass: "
            + ", ".join(
                f"{name} {table4.passed[name, 'RankBoost'][0]} of {table4.n_seeds}"
                for name in (*COMMITTEES, "RankSVM")
            )
            + ".",
        ),
        Claim(
            "Table 4",
            "By Borda count it is significantly better than both RankSVM and RankBoost by NDCG@1.",
            all(table4.mostly("Com 30 B", name)[1] for name in BASELINES),
            "NDCG@1: "
            + ", ".join(f"{name} {value:.4f}" for name, value in first.items())
            + "; seeds that pass: "
            + ", ".join(
                f"over {name} {table4.passed['Com 30 B', name][1]} of {table4.n_seeds}"
                for name in BASELINES
            )
            + ".",
        ),
        Claim(
            "Table 4",
            "One of the two committees is best by every metric.",
            all(system in COMMITTEES for system in best.values()),
            "Best: "
            + ", ".join(f"{name} {s} ({means[s][name]:.4f})" for name, s in best.items())
            + ".",
        ),
        Claim(
            "Table 4", "No tests were significant over the committee perceptron.", not over,
            _listed(over),
        ),
    )  # fmt: skip


def significant(table4: Table4, better: tuple[str, ...] | list[str], worse: tuple[str, ...] |
                list[str]) -> list[str]:  # fmt: skip
    """Tests that pass with more than half of the seeds, in words."""
    return [
        f"{one} over {other} by {NAMES[k]}"
        for one, other in itertools.product(better, worse)
        for k, passes in enumerate(table4.mostly(one, other))
        if passes
    ]


def _listed(found: list[str], name: str = "") -> str:
    over = f" over {name}" if name else ""
    return f"Significant: {', '.join(found)}." if found else f"No test{over} is significant."


def _means(means: Mapping[str, Mapping[str, float]], names: tuple[str, ...]) -> str:
    said = (f"{n} {means[n]['MAP']:.4f} / {means[n]['NDCG@10']:.4f}" for n in names)
    return f"MAP / NDCG@10: {', '.join(said)}."


def _of_sizes(sizes: RunComparison) -> Claim:
    found = [pair for pair in sizes.pairs if pair.p_corrected < LEVEL]
    means = sizes.means[NDCG_10]
    return Claim(
        "Section 6.2",
        "Committees of up to 100 members do not differ significantly.",
        not found,
        f"NDCG@10: {', '.join(f'{name} {value:.4f}' for name, value in means.items())}; "
        f"{len(found)} of {len(sizes.pairs)} two-tailed t-tests significant, by Holm's correction, "
        f"over {len(METRICS)} metrics.",
    )


def _of_figure_1(figure1: Figure1) -> tuple[Claim, ...]:
    stable = {name: figure1.stable(NDCG_10, name) for name in figure1.curves[NDCG_10]}
    peak = {name: figure1.peak(NDCG_10, name) for name in stable}
    curves = figure1.curves[NDCG_10]
    others = np.max([curves["Average"], curves["Pocket"]], axis=0)
    ahead = float(np.mean(curves["Com 20"] > others))
    long = figure1.passes >= 500  # the passes that the paper speaks of
    return (
        Claim(
            "Figure 1",
            "The committee approaches a stable solution in many fewer passes than the pocket and "
            "average perceptrons.",
            2 * stable["Com 20"] < min(stable["Average"], stable["Pocket"]) if long else None,
            f"Validation NDCG@10 stays within {CLOSE:g} of its last value from pass "
            + ", ".join(f"{passes} ({name})" for name, passes in stable.items())
            + "; 'many fewer' is taken as less than half.",
        ),
        Claim(
            "Figure 1",
            "The committee's solution consistently outperforms theirs on validation data.",
            ahead > 0.9 if long else None,
            f"Its validation NDCG@10 is above both after {ahead:.0%} of {figure1.passes} passes "
            "('consistently' is taken as more than 90 %); highest values: "
            + ", ".join(f"{name} {figure1.best(NDCG_10, name):.4f}" for name in stable)
            + ".",
        ),
        Claim(
            "Section 6.2",
            "The committee is at its best before some 50 passes; the average perceptron still "
            "improves after 500.",
            peak["Com 20"] <= 50 and peak["Average"] > 450 if long else None,
            f"Of {figure1.passes} passes, validation NDCG@10 is highest after "
            + ", ".join(f"{passes} ({name})" for name, passes in peak.items())
            + ".",
        ),
    )


def _of_table_5(table5: Table5) -> Claim:
    return Claim(
        "Table 5",
        "The committee is trained 45 times faster than RankSVM by SVM-light.",
        None,
        "SVM-light is not at hand. Times that of the committee "
        f"({table5.mean('committee'):.2g} s): LIBSVM, a decomposition method too, "
        f"{table5.ratio('libsvm'):.0f} (extrapolated); liblinear {table5.ratio('liblinear'):.2g}; "
        f"our RankSVM {table5.ratio('ranksvm'):.2g}. Against solvers that came after the paper "
        "the committee's lead is gone.",
    )
