"""Elsas, Carvalho & Carbonell (WSDM 2008): the committee perceptron."""

from __future__ import annotations

from dataclasses import dataclass

from lambdaplus.cli.references import ELSAS
from lambdaplus.data import Fold
from lambdaplus.evaluation import Evaluation, RunComparison, Table, compare_runs
from lambdaplus.study.config import scaled_fold
from papers.elsas_2008.claims import claims
from papers.elsas_2008.figure1 import Figure1
from papers.elsas_2008.table4 import (
    COLUMNS,
    METRICS,
    Table4,
    evaluations,
    perceptron,
    systems,
)
from papers.elsas_2008.table5 import Table5
from papers.findings import Exhibit, Findings, Section
from papers.preset import Preset, option
from papers.session import Session

SIZES = (10, 100)  # beside the 30 of Table 4


@dataclass(frozen=True)
class Options:
    passes: int = option(50, "Most passes over the pairs (Table 4).")
    seeds: int = option(4, "Orders of the pairs; Table 4 has means over them.")
    curve_passes: int = option(500, "Passes of the learning curves (figure 1).")


def run(session: Session, options: Options) -> Findings:
    """Table 4 with its tests, committee sizes, Table 5 and figure 1."""
    for name in ("passes", "seeds", "curve_passes"):
        if getattr(options, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(options, name)}")
    folds = [scaled_fold(fold) for fold in session.folds]
    seeds = tuple(range(options.seeds))
    study = session.study("Table 4", folds, systems(options.passes), METRICS, seeds=seeds)
    table4 = Table4.of(study)
    sizes = _sizes(session, folds, options.passes, table4.runs["Com 30 A"][0])
    figure1 = Figure1.of(session, folds, options.curve_passes)
    table5 = Table5.of(session, folds)
    return Findings(
        session.name,
        _protocol(folds, options),
        (
            Section(
                "Table 4",
                (
                    Exhibit("table_4", "Test means, the paper's on OHSUMED beside", table4.table),
                    Exhibit("tests", "Seeds that pass a one-tailed paired t-test", table4.tests),
                ),
            ),
            Section(
                "Committee size",
                (Exhibit("sizes", "Test means by committee size, one seed",
                         sizes_table(sizes)),),
            ),
            Section(
                "Table 5",
                (Exhibit("table_5", "Seconds of training by fold, the paper's beside",
                         table5.table),),
            ),
            Section(
                "Figure 1",
                (
                    Exhibit("figure_1", "Validation metrics after each pass, means over the folds",
                            figure1.figure()),
                    Exhibit("curves", "The same in figures", figure1.table),
                ),
            ),
        ),
        claims(table4, sizes, table5, figure1),
    )  # fmt: skip


def _sizes(session: Session, folds: list[Fold], passes: int, thirty: Evaluation) -> RunComparison:
    methods = {size: perceptron(f"{size} members", passes, committee_size=size) for size in SIZES}
    study = session.study("committee sizes", folds, list(methods.values()), METRICS)
    runs = {size: evaluations(study, method)[0] for size, method in methods.items()}
    return compare_runs(
        {f"{size} members": run for size, run in sorted((runs | {30: thirty}).items())}, test="t"
    )


def sizes_table(found: RunComparison) -> Table:
    """Means by committee size under the paper's names of the metrics."""
    return Table(("", *COLUMNS), found.table.rows, found.foot[:1], narrow=True)


def _protocol(folds: list[Fold], options: Options) -> tuple[str, ...]:
    queries = sum(fold.test.n_queries for fold in folds)
    return (
        f"{len(folds)} folds as published, {queries} test queries; graded labels, every two "
        "documents of different grades are a pair.",
        "Features are scaled linearly to [0, 1] within each query.",
        f"Passes (of {options.passes}), rounds (of 300, RankBoost) and C (10^-4 to 10^4, RankSVM) "
        "are chosen by NDCG@10 on validation data, which also weighs the committee's members.",
        f"Perceptrons start from zero and see the pairs in {options.seeds} random orders; the "
        "paper does not say in which order it did. A pair that is misranked in more than 85 % of "
        "the passes is dropped.",
        "A query without relevant documents counts 0, as in LETOR's tools; tied scores count at "
        "their mean, not in the order of the file, as they did there; NDCG with discounts 1, 1, "
        "1/log2 3, ..., as in the paper's toy example.",
        f"Figure 1 has a committee of 20 and {options.curve_passes} passes; Table 5, measured one "
        "fit at a time, a committee of 20 and 50 passes.",
    )


ELSAS_2008 = Preset(
    "elsas-2008",
    str(ELSAS),
    "Table 4 with its tests, committee sizes, Table 5 (training time), figure 1 (learning curves)",
    {"ohsumed-letor2": "LETOR 2.0 OHSUMED, the paper's own data"},
    Options,
    run,
)
