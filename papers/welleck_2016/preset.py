"""The preset: graded labels, binary labels, time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lambdaplus.cli.references import WELLECK
from lambdaplus.data import Fold, RankingData
from lambdaplus.study import Method, Settings, find_methods
from lambdaplus.study.config import scaled_fold
from papers.findings import Findings
from papers.preset import Preset, option
from papers.session import Session
from papers.welleck_2016 import claims, sections, timing
from papers.welleck_2016.paper import (
    BINARY_SVM,
    BINARY_TREES,
    CS,
    CUTOFFS,
    RATES,
    SVM,
    TREES,
)

SVM_C = 100.0  # the largest that the paper tried, and the hardest


@dataclass(frozen=True)
class Options:
    queries: int = option(
        1500, "Of the set of MSLR's shape whose training is timed; a fold of MSLR-WEB10K has 6000."
    )
    rounds: int = option(200, "Boosting rounds, at most; all of them where time is measured.")


def run(session: Session, options: Options) -> Findings:
    """Run the experiments on one data set."""
    folds = [scaled_fold(fold) for fold in session.folds]
    settings = Settings(rounds=options.rounds)
    classes = sorted({int(c) for fold in folds for c in np.unique(fold.test.labels) if c >= 1})
    graded = session.study(
        "graded labels",
        folds,
        [_method(TREES, "lightgbm:lambda_mauc"), _method(SVM, "svm:class-auc")],
        [
            "map",
            *sections.READINGS,
            *(f"class_auc(label={c})" for c in classes),
            *(f"{name}@{k}" for name in sections.PRECISIONS for k in CUTOFFS),
        ],
        settings=settings,
    )
    binary = session.study(
        "binary labels",
        [binary_fold(fold) for fold in folds],
        [_method(BINARY_TREES, "lightgbm:lambda_auc"), _method(BINARY_SVM, "svm:auc")],
        ["auc", "map"],
        settings=settings,
    )
    trees = session.collect(
        "time of LambdaMART-MAUC",
        timing.trees_time,
        {TREES: (options.queries, options.rounds)},
        jobs=1,
    )
    svm = session.collect(
        "time of the SVM by class", timing.svm_time, {SVM: (options.queries, SVM_C)}, jobs=1
    )
    pairs, shares = sections.class_pairs(graded), sections.class_shares(graded)
    return Findings(
        session.name,
        _protocol(settings, len(folds)),
        (
            sections.graded_section(graded, session.name),
            sections.precision_section(graded),
            sections.class_section(pairs, shares),
            sections.binary_section(binary),
            sections.time_section({**trees, **svm}),
            sections.choice_section(graded, binary),
        ),
        (
            *claims.binary_claims(binary),
            *claims.graded_claims(graded),
            *claims.class_claims(pairs, shares),
            *claims.time_claims(trees[TREES], svm[SVM]),
        ),
    )


def _method(name: str, of_registry: str) -> Method:
    [method] = find_methods(of_registry)
    grid = {"learning_rate": RATES} if method.family == "lightgbm" else {"C": CS}
    return replace(method, name=name, grid=grid)


def binary_fold(fold: Fold) -> Fold:
    """Labels of 1 and more as 1."""
    return Fold(
        fold.name,
        *(
            RankingData(p.features, (p.labels >= 1).astype(np.float64), p.qid, p.name)
            for p in (fold.train, fold.valid, fold.test)
        ),
    )


def _protocol(settings: Settings, folds: int) -> tuple[str, ...]:
    return (
        "Features are scaled to [0, 1] within each query, for trees and SVMs alike.",
        f"{folds} fold(s) as published; learning rate from {', '.join(map(str, RATES))}, C from "
        f"{', '.join(f'{C:g}' for C in CS)}, by validation MAUC (AUC on binary labels).",
        f"LambdaMART is LightGBM with lambda_mauc or lambda_auc, the paper's equations 17 and 19. "
        f"Trees: {settings.leaves} leaves, at most {settings.rounds} rounds, stopped after "
        f"{settings.patience} without gain on validation data; the paper does not say how many "
        "its JForests had.",
        "The SVM by class is the sum over classes c of c f_c(x), f_c a structural SVM for the AUC "
        "of class c against the rest.",
        "Better and worse: two-tailed Wilcoxon signed-rank test over the test queries, p < .05; "
        "the paper has no tests.",
    )


WELLECK_2016 = Preset(
    "welleck-2016",
    str(WELLECK),
    "LambdaMART-AUC and -MAUC against the AUC SVM: AUCs, precisions, classes, training time",
    {
        "mq2008": "one of the paper's sets",
        "mslr-sample": "five grades, as Yahoo's sets; 164 queries of MSLR-WEB10K",
        "ohsumed-letor3": "three grades",
        "clueweb09": "long queries",
    },
    Options,
    run,
)
