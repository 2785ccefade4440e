"""The preset: clean, follow the paths over C, train, time, compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lambdaplus.cli.references import CHAKRABARTI
from lambdaplus.data import RankingData
from papers.chakrabarti_2008 import claims, experiments, methods, sections
from papers.chakrabarti_2008.cleaning import COSINE, Size, prepared, prepared_fold
from papers.chakrabarti_2008.study_claims import CRITERIA, study_claims
from papers.findings import Findings
from papers.preset import Preset, option
from papers.session import Session

METRICS = ("auc", *CRITERIA)
SHAPES = {"TD2003's shape": (50, 516, 48655), "TD2004's shape": (75, 444, 73726)}


@dataclass(frozen=True)
class Options:
    cosine: float = option(
        COSINE,
        "Cleaning rule: all-zero documents go, and relevant and irrelevant ones of a query whose "
        "cosine is above this; 0 leaves the data as it is.",
    )
    rounds: int = option(30, "Of McRank, at most; Li et al. had 1,500 and more.")


def run(session: Session, options: Options) -> Findings:
    """Run the experiments on one data set."""
    if not 0 <= options.cosine < 1:
        raise ValueError(f"cosine={options.cosine!r} must be at least 0 and below 1")
    cosine = options.cosine or None
    folds = [prepared_fold(fold, cosine) for fold in session.folds]
    before = Size.of(prepared(session.whole))
    after = None if cosine is None else Size.of(prepared(session.whole, cosine))
    paths = session.collect(
        "paths over C",
        experiments.path_over_c,
        {
            f"{method.name} {fold.name}": (fold.train, dict(method.fixed), methods.C_GRID)
            for method in methods.rankers()
            for fold in folds
        },
        jobs=1,  # a process would take longer to start than a path takes
    )
    means = {
        method.name: sections.mean_path([paths[f"{method.name} {fold.name}"] for fold in folds])
        for method in methods.rankers()
    }
    study = session.study(
        "training",
        folds,
        [
            *methods.rankers(),
            *methods.combos(),
            methods.mcrank(options.rounds),
        ],
        METRICS,
    )
    summed = session.study("training with pairs summed", folds, methods.unscaled(), METRICS)
    shapes = {session.name: prepared(session.whole)}
    shapes |= {name: experiments.like_trec(*shape) for name, shape in SHAPES.items()}
    times = measured_times(session, shapes, options.rounds)
    documents = {name: len(data.labels) for name, data in shapes.items()}
    return Findings(
        session.name,
        _protocol(options, len(folds)),
        (
            sections.data_section(session.name, before, after),
            sections.path_section(means),
            sections.matrix_section(study),
            sections.scale_section(study, summed),
            sections.time_section(times, documents),
            sections.mcrank_section(study, options.rounds),
        ),
        (
            claims.data_claim(session.name, before),
            *claims.path_claims(means),
            *study_claims(study, summed, options.rounds),
            *claims.time_claims(times, documents, options.rounds),
        ),
    )


def measured_times(
    session: Session, shapes: Mapping[str, RankingData], rounds: int
) -> dict[str, dict[str, experiments.Record]]:
    """Times by data and trainer, each fit alone."""
    fixed = {method.name: dict(method.fixed) for method in methods.rankers()}
    svms = {claims.NDCG: "svm:ndcg@10", "SVMmrr": "svm:mrr", claims.MERGED: methods.DORM}
    found: dict[str, dict[str, experiments.Record]] = {}
    for shape, data in shapes.items():
        items = {name: (data, fixed[method]) for name, method in svms.items()}
        doing = f"times on {shape}"
        found[shape] = {
            **session.collect(doing, experiments.svm_time, items, jobs=1),
            **session.collect(
                doing, experiments.assignment_time, {claims.ASSIGNED: (data,)}, jobs=1
            ),
            **session.collect(
                doing, experiments.mcrank_time, {claims.TREES: (data, rounds)}, jobs=1
            ),
        }
    return found


def _protocol(options: Options, folds: int) -> tuple[str, ...]:
    cleaned = (
        f"Cleaned, training, validation and test parts alike: cosine above {options.cosine:g}."
        if options.cosine
        else "Not cleaned."
    )
    return (
        "Labels of 1 and more are relevant; features are scaled to [0, 1] within each query.",
        cleaned,
        f"{folds} fold(s) as published; C from 1, 10, 100, 1,000 by validation, each method by its "
        "own criterion; the paper does not say how it chose C. Paths: C from 0.01 to 10,000.",
        "SVMs stop at a relative duality gap of 0.001. SVMndcg has NDCG@10; DORM has NDCG@10 and "
        "a decay that is 0 after rank 30 (svm:dorm-30), and the smooth decay beside it.",
        "SVMcombo combines MAP, MRR and NDCG without cutoff; -po: with the map of pairs for MRR "
        "too, not that of its own.",
        f"McRank has at most {options.rounds} rounds of LightGBM's trees; the rounds that are "
        "best by validation NDCG@10 are kept.",
        "Better and worse: two-tailed Wilcoxon signed-rank test over the test queries, p < .05; "
        "the paper has no tests.",
    )


CHAKRABARTI_2008 = Preset(
    "chakrabarti-2008",
    str(CHAKRABARTI),
    "all structured rankers, DORM and McRank: paths over C, feature maps, times, criterion matrix",
    {
        "ohsumed-letor2": "the paper's OHSUMED, document for document",
        "ohsumed-letor3": "the same collection with more features",
        "mq2008": "784 short queries",
        "clueweb09": "61 long queries",
        "mslr-sample": "164 web queries",
    },
    Options,
    run,
)
