"""Welleck (ECIR 2016): LambdaMART for AUC and multi-class AUC, beside the AUC SVM.

Better and worse mean: in the mean, and by a Wilcoxon signed-rank test over the test queries.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from sklearn.exceptions import ConvergenceWarning

from lambdaplus.baselines import ClassAUCSVM
from lambdaplus.cli.references import WELLECK
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import Fold, RankingData, web_search_like
from lambdaplus.evaluation import Table
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Job, Method, Results, Settings, find_methods
from papers.paper import Claim, Findings, Paper
from papers.session import Session, Versus, of_parts, points, said, scaled, versus

TREES, SVM = "LambdaMART-MAUC", "SVM by class"
BINARY_TREES, BINARY_SVM = "LambdaMART-AUC", "AUC SVM"
RATES = (0.1, 0.25, 0.5, 0.9)
CS = (0.1, 1.0, 10.0, 100.0)
CUTOFFS = tuple(range(1, 11))
PRECISIONS = ("micro_precision", "macro_precision", "printed_precision")
READINGS = {
    "mauc": "relevant classes, shares of the query",
    "mauc(share=dataset)": "relevant classes, shares of the data set",
    "mauc(classes=all)": "all classes, shares of the query",
    "mauc(classes=all,share=dataset)": "all classes, shares of the data set",
    "mauc(over=dataset)": "relevant classes, one ranking of all documents",
    "mauc(classes=all,over=dataset)": "all classes, one ranking of all documents",
}
HARDEST = 100.0  # the largest C that the paper tried
SEED = 1  # of the generated data whose training is timed
HOURS_OF_FIVE_FOLDS, HOURS_OF_SVM = 5.0, 12.0
MSLR_QUERIES = 6000  # of a training part of MSLR-WEB10K

# What the paper prints: LambdaMART-MAUC and SVM-Perf by MAUC (table 1), then by MAP (table 2).
TABLES_1_AND_2 = {
    "Yahoo V1": (0.594, 0.576, 0.862, 0.837),
    "Yahoo V2": (0.592, 0.576, 0.858, 0.837),
    "mq2007": (0.662, 0.659, 0.466, 0.450),
    "mq2008": (0.734, 0.737, 0.474, 0.458),
}
# Class-reference AUC of classes 1 to 4 on Yahoo V1; 48% of the relevant documents have label 1,
# 2.5% label 4.
TABLE_3 = {1: (0.503, 0.474), 2: (0.690, 0.682), 3: (0.757, 0.796), 4: (0.831, 0.920)}

Record = Mapping[str, float]


def run(session: Session, queries: int = 1500, rounds: int = 200) -> Findings:
    """Queries of the generated data whose training is timed; boosting rounds at most."""
    folds = [of_parts(fold, scaled) for fold in session.folds]
    settings = Settings(rounds=rounds)
    classes = sorted({int(c) for fold in folds for c in np.unique(fold.test.labels) if c >= 1})
    metrics = ["map", *READINGS, *(f"class_auc(label={c})" for c in classes)]
    metrics += [f"{name}@{k}" for name in PRECISIONS for k in CUTOFFS]
    pair = [_method(TREES, "lightgbm:lambda_mauc"), _method(SVM, "svm:class-auc")]
    graded = session.study(folds, pair, metrics, settings)
    pair = [_method(BINARY_TREES, "lightgbm:lambda_auc"), _method(BINARY_SVM, "svm:auc")]
    two_grades = [of_parts(fold, binary) for fold in folds]
    of_two = session.study(two_grades, pair, ["auc", "map"], settings)
    times = {
        **session.collect(trees_time, {TREES: (queries, rounds)}, jobs=1),
        **session.collect(svm_time, {SVM: (queries, HARDEST)}, jobs=1),
    }
    by_class = {c: versus(graded, TREES, SVM, f"class_auc(label={c})") for c in classes}
    shares = class_shares(folds)
    return Findings(
        [
            *binary_claims(of_two),
            *graded_claims(graded),
            *class_claims(by_class, shares),
            *time_claims(times[TREES], times[SVM]),
        ],
        {
            "Tables 1 and 2: MAUC and MAP": means_table(graded),
            "Six definitions of MAUC": readings(graded, session.name),
            "Figure 2: precision by cutoff": precisions(graded),
            "Table 3: class-reference AUC": class_table(by_class, shares),
        },
    )


def _method(name: str, registered: str) -> Method:
    [method] = find_methods(registered)
    grid = {"learning_rate": RATES} if method.family == "lightgbm" else {"C": CS}
    return replace(method, name=name, grid=grid)


def binary(part: RankingData) -> RankingData:
    """Labels of 1 and more as 1."""
    return replace(part, labels=(part.labels >= 1).astype(np.float64))


# Tables -------------------------------------------------------------------------------------------


def zero_mean(results: Results, method: str, metric: str) -> float:
    """Mean of the folds' means, a query on which the metric has no value counting 0."""
    mine = (pl.col("method") == method) & (pl.col("metric") == metric)
    of_metric = results.values.filter(mine).fill_null(0.0)
    return float(of_metric.group_by("fold").agg(pl.col("value").mean())["value"].to_numpy().mean())


def means_table(graded: Results) -> Table:
    rows: list[tuple[object, ...]] = [(f"{name} (paper)", *p) for name, p in TABLES_1_AND_2.items()]
    for what, mean in (
        ("ours", Results.mean),
        ("ours, a query without relevant documents counts 0", zero_mean),
    ):
        cells = [mean(graded, method, metric)
                 for metric in ("mauc", "map") for method in (TREES, SVM)]  # fmt: skip
        rows.append((what, *cells))
    heads = [f"{metric}, {name}" for metric in ("MAUC", "MAP") for name in ("LambdaMART", "SVM")]
    return Table(("data", *heads), rows, ("Test means.",), narrow=True)


def readings(graded: Results, data: str) -> Table:
    rows = [
        (text, *(graded.mean(method, str(parse_metric(name))) for method in (TREES, SVM)))
        for name, text in READINGS.items()
    ]
    if data in TABLES_1_AND_2:
        rows.append((f"the paper on {data}", *TABLES_1_AND_2[data][:2]))
    foot = (
        "The paper does not say which classes and whose shares MAUC has, and its Table 1 does not "
        "follow from its Table 3 by any of them. We train and choose parameters by the first."
    )
    return Table(("MAUC", "LambdaMART", "SVM"), rows, (foot,), narrow=True)


def precisions(graded: Results) -> Table:
    heads = [
        f"{name.partition('_')[0]}, {who}" for name in PRECISIONS for who in ("LambdaMART", "SVM")
    ]
    rows = [
        (k, *(graded.mean(m, f"{name}@{k}") for name in PRECISIONS for m in (TREES, SVM)))
        for k in CUTOFFS
    ]
    foot = (
        "By equations 1 and 3: a query's documents of each relevant class are predicted in label "
        "order. As printed, equations 2 and 4 both count relevant documents over k and the number "
        "of classes (third pair of columns)."
    )
    return Table(("k", *heads), rows, (foot,), narrow=True)


def class_shares(folds: Sequence[Fold]) -> dict[int, float]:
    """Share of each relevant class in the relevant documents of the training parts."""
    labels = np.concatenate([fold.train.labels for fold in folds])
    relevant, counts = np.unique(labels[labels >= 1], return_counts=True)
    return {int(c): float(n / counts.sum()) for c, n in zip(relevant, counts, strict=True)}


def class_table(pairs: Mapping[int, Versus], shares: Mapping[int, float]) -> Table:
    printed = {1: "48%", 4: "2.5%"}
    rows: list[tuple[object, ...]] = [
        ("Yahoo V1 (paper)", c, printed.get(c, ""), trees, svm, "")
        for c, (trees, svm) in TABLE_3.items()
    ]
    rows += [
        ("ours", c, f"{shares.get(c, 0.0):.1%}", pair.first, pair.second, said(pair.p))
        for c, pair in pairs.items()
    ]
    columns = ("data", "class", "share of relevant", "LambdaMART", "SVM", "p")
    return Table(columns, rows, narrow=True)


# Time ---------------------------------------------------------------------------------------------


def mslr_like(queries: int) -> Fold:
    """So many training queries and a third as many for validation; the test part is the same."""
    data = web_search_like(queries + max(1, queries // 3), random_state=SEED)
    train, valid = (
        data.take_queries(np.arange(*ends)) for ends in ((queries,), (queries, data.n_queries))
    )
    return of_parts(Fold("MSLR-shaped", train, valid, valid), scaled)


def trees_time(queries: int, rounds: int) -> dict[str, float]:
    """Train LambdaMART-MAUC through all rounds, on one thread."""
    fold = mslr_like(queries)
    [method] = find_methods("lightgbm:lambda_mauc")
    settings = Settings(rounds=rounds, patience=rounds, threads=1)
    begin = time.perf_counter()
    with limit_threads(1):
        method.trainer(Job(method, {}, fold.train, fold.valid, settings, 0, (method.criterion,)))
    return _record(fold, time.perf_counter() - begin, True)


def svm_time(queries: int, C: float) -> dict[str, float]:
    """Train the AUC SVM of every class, on one thread, and see whether all converge."""
    fold = mslr_like(queries)
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, limit_threads(1):
        warnings.simplefilter("always")
        ClassAUCSVM(C=C).fit(np.asarray(fold.train.features), fold.train.labels, qid=fold.train.qid)
    seconds = time.perf_counter() - begin
    failed = any(issubclass(each.category, ConvergenceWarning) for each in caught)
    return _record(fold, seconds, not failed)


def _record(fold: Fold, seconds: float, converged: bool) -> dict[str, float]:
    return {
        "seconds": seconds,
        "documents": float(fold.train.labels.size),
        "queries": float(fold.train.n_queries),
        "converged": float(converged),
    }


# Claims -------------------------------------------------------------------------------------------


def binary_claims(results: Results) -> Iterator[Claim]:
    """Section 5.2.1: relevant or not."""
    for metric, name in (("auc", "AUC"), ("map", "MAP")):
        pair = versus(results, BINARY_TREES, BINARY_SVM, metric)
        yield Claim(
            "Section 5.2.1",
            f"On binary labels LambdaMART-AUC and the AUC SVM are similar in {name}.",
            not (pair.better or pair.worse),
            str(pair),
        )


def graded_claims(results: Results) -> Iterator[Claim]:
    """Section 5.2.2, tables 1 and 2, figure 2."""
    area = versus(results, TREES, SVM, "mauc")
    pooled = [results.mean(method, "mauc(over=dataset)") for method in (TREES, SVM)]
    yield Claim(
        "Table 1",
        "LambdaMART-MAUC is at least as good as the SVM by class in MAUC.",
        not area.worse,
        f"{area}; over one ranking of all documents {' against '.join(map(points, pooled))}",
    )
    precision = versus(results, TREES, SVM, "map")
    yield Claim(
        "Table 2",
        "LambdaMART-MAUC has the higher MAP.",
        precision.better,
        str(precision),
    )
    for kind in ("micro", "macro"):
        pairs = [versus(results, TREES, SVM, f"{kind}_precision@{k}") for k in CUTOFFS]
        yield Claim(
            "Figure 2",
            f"LambdaMART-MAUC has the higher {kind}-averaged precision@k for all k from 1 to 10.",
            all(pair.first > pair.second for pair in pairs),
            f"for {sum(pair.first > pair.second for pair in pairs)} of {len(pairs)} k; "
            f"significantly higher for {sum(pair.better for pair in pairs)}, lower for "
            f"{sum(pair.worse for pair in pairs)}",
        )


def class_claims(pairs: Mapping[int, Versus], shares: Mapping[int, float]) -> Iterator[Claim]:
    """Table 3: where the two get their MAUC from, by class-reference AUC of relevant classes."""
    common, rare = (kind(shares, key=lambda c: shares[c]) for kind in (max, min))
    for c, what, verb in ((common, "commonest relevant", "rises"), (rare, "rarest", "falls")):
        yield Claim(
            "Table 3",
            f"Against the SVM the class-reference AUC of the {what} class {verb}.",
            pairs[c].better if verb == "rises" else pairs[c].worse,
            f"label {c}, {shares[c]:.1%} of the relevant: {pairs[c]}",
        )


def time_claims(trees: Record, svm: Record) -> Iterator[Claim]:
    """Section 5.2.2: MSLR-WEB10K, from the time on generated data of its shape."""
    size = f"{trees['documents']:,.0f} documents"
    hours = 5 * trees["seconds"] * MSLR_QUERIES / trees["queries"] / 3600
    yield Claim(
        "Section 5.2.2",
        "LambdaMART-MAUC trains on all five folds of MSLR-WEB10K in less than 5 hours.",
        hours < HOURS_OF_FIVE_FOLDS,
        f"{trees['seconds']:.0f} s on {size}, so {hours:.2f} hours",
    )
    one = svm["seconds"] * MSLR_QUERIES / svm["queries"] / 3600
    ended = "converges" if svm["converged"] else "does not converge"
    yield Claim(
        "Section 5.2.2",
        "The SVM by class does not converge within 12 hours on one fold of MSLR-WEB10K.",
        not svm["converged"] or one > HOURS_OF_SVM,
        f"{ended} in {svm['seconds']:.0f} s on {size}, so {one:.2f} hours",
    )


WELLECK_2016 = Paper(
    "welleck-2016",
    str(WELLECK),
    "LambdaMART-AUC and -MAUC against the AUC SVM: AUCs, precisions, classes, training time",
    {
        "mq2008": "one of the paper's sets",
        "mslr-sample": "five grades, as Yahoo's sets; 164 queries of MSLR-WEB10K",
        "ohsumed-letor3": "three grades",
        "clueweb09": "long queries",
    },
    figures=(
        "Of two values, the first is LambdaMART's and the second the SVM's; p is of a two-tailed "
        "Wilcoxon signed-rank test over test queries, and significant below .05. The paper has no "
        "tests."
    ),
    protocol=(
        "Features are scaled to [0, 1] within each query. LambdaMART is LightGBM with lambda_mauc "
        "or lambda_auc (the paper's equations 17 and 19), 15 leaves and at most 200 rounds, "
        "stopped after 30 without gain on validation data. The SVM by class is the sum over "
        "classes c of c f_c(x), where f_c is a structural SVM for the AUC of class c against the "
        "rest, trained by our cutting planes, as SVM-Perf is not available. The learning rate "
        "(.1, .25, .5, .9) and C (.1, 1, 10, 100) are chosen by validation MAUC, or by AUC on "
        "binary labels (1 and more are relevant). Times are of one thread on generated data of "
        "MSLR-WEB10K's shape, scaled to its number of queries."
    ),
    run=run,
)
