"""Welleck (ECIR 2016): LambdaMART for AUC and multi-class AUC, beside the AUC SVM.

The paper has no tests: higher means in the mean.  Similar are areas over one ranking of all
documents if neither is higher on every fold; other metrics if a Wilcoxon signed-rank test over the
test queries is not significant.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.web_search import web_search_like
from lambdaplus import lambda_objective
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import Table
from lambdaplus.metrics import Metric, RankingMetric, parse_metric
from lambdaplus.study import Config, Method, Results, Task, find_methods
from lambdaplus.study.estimator_trainer import train_estimator
from papers.class_auc_svm import ClassAUCSVM, train_on_one_list
from papers.class_metrics import CLASS_AUC, MACRO_PRECISION, MICRO_PRECISION, PRECISIONS
from papers.drawing import Panel
from papers.paper import Claim, Findings, Paper
from papers.session import Session, of_parts, points, scaled, versus

# The paper's trees are of all rows and columns.
ALL_ROWS = {
    "num_leaves": 15,
    "bagging_fraction": 1.0,
    "bagging_freq": 0,
    "feature_fraction_bynode": 1.0,
}
TREES, SVM = "LambdaMART-MAUC", "SVM by class"
SCALED_TREES, SVM_BY_QUERY = "LambdaMART-MAUC, scaled", "SVM by class and query"
BINARY_TREES, BINARY_SVM = "LambdaMART-AUC", "AUC SVM"
RATES = (0.1, 0.25, 0.5, 0.9)
# Below .01 the ranking is the limit for C towards 0. For 1,000,000 the solver does not converge on
# the sample of MSLR within 20,000 passes, and what it stops at ranks better than smaller C.
CS = tuple(10.0**power for power in range(-2, 6))
PASSES = 20_000  # the SVM converges for each C within them
AREA = "mauc(over=dataset)"  # of the readings below, the one that gives the paper's figures
CUTOFFS = tuple(range(1, 11))
READINGS = {
    "mauc": "relevant classes, shares of the query",
    "mauc(share=dataset)": "relevant classes, shares of the data set",
    "mauc(classes=all)": "all classes, shares of the query",
    "mauc(classes=all,share=dataset)": "all classes, shares of the data set",
    "mauc(over=dataset)": "relevant classes, one ranking of all documents",
    "mauc(classes=all,over=dataset)": "all classes, one ranking of all documents",
}
# SVM-Perf's ROCArea has the loss in percent, and a margin of 1 for a pair, which is 1/2 here: its C
# is C / 25 here.
OF_SVM_PERF = 25.0
PAPERS_CS = tuple(OF_SVM_PERF * C for C in (0.1, 1.0, 10.0, 100.0))
TIMED_CS = (*PAPERS_CS, 1e4, 1e5)
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
    config = Config(rounds=rounds, patience=min(rounds, 30))
    classes = sorted({int(c) for fold in folds for c in np.unique(fold.test.labels) if c >= 1})
    metrics: list[Metric] = ["map", *READINGS, *map(class_area, classes)]
    metrics += [declared(k) for declared in PRECISIONS for k in CUTOFFS]
    graded = session.study(folds, graded_methods(), metrics, config)
    two_grades = [of_parts(fold, binary) for fold in folds]
    of_two = session.study(two_grades, binary_methods(), ["auc(over=dataset)", "map"], config)
    times = {
        **session.collect(trees_time, {TREES: (queries, rounds)}, jobs=1),
        **session.collect(svm_time, {f"{C:g}": (queries, C) for C in TIMED_CS}, jobs=1),
    }
    by_class = {c: area_of(graded, TREES, SVM, class_area(c)) for c in classes}
    shares = class_shares(folds)
    return Findings(
        [
            *binary_claims(of_two),
            *graded_claims(graded),
            *class_claims(by_class, shares),
            *time_claims(times[TREES], times[f"{PAPERS_CS[-1]:g}"]),
            NOT_TESTED,
        ],
        {
            "Tables 1 and 2: MAUC and MAP": means_table(graded),
            "Six definitions of MAUC": readings(graded, session.name),
            "Figure 2: precision by cutoff": precisions(graded),
            "Table 3: class-reference AUC": class_table(graded, shares),
            "Time of the SVM by C": svm_times(times),
        },
        {"welleck-figure-2": figure_2(graded)},
    )


def graded_methods() -> list[Method]:
    """LambdaMART and the SVM as the paper has them, then each with queries of the same weight."""
    target, fixed = "papers.class_auc_svm:ClassAUCSVM", {"max_passes": PASSES}
    class_svm = Method(SVM, train_on_one_list, target, AREA, fixed, {"C": CS}, random=False)
    return [
        _trees(TREES, "mauc", AREA, normalize=False),
        class_svm,
        _trees(SCALED_TREES, "mauc", AREA, normalize=True),
        replace(class_svm, name=SVM_BY_QUERY, trainer=train_estimator),
    ]


def binary_methods() -> list[Method]:
    area = "auc(over=dataset)"
    [svm] = find_methods("svm:auc")
    return [
        _trees(BINARY_TREES, "auc", area, normalize=False),
        replace(
            svm,
            name=BINARY_SVM,
            trainer=train_on_one_list,
            criterion=area,
            fixed={**svm.fixed, "max_passes": PASSES},
            grid={"C": CS},
        ),
    ]


def _trees(name: str, metric: str, criterion: str, normalize: bool) -> Method:
    [method] = find_methods(f"lightgbm:lambda_{metric}")
    # The paper's swap deltas, which are not damped, without log-loss.
    target = lambda_objective(metric, surrogate=metric, normalize=normalize)
    return replace(
        method, name=name, target=target, criterion=criterion, fixed=ALL_ROWS,
        grid={"learning_rate": RATES},
    )  # fmt: skip


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
    rows: list[tuple[object, ...]] = [
        (f"{name} (paper)", *p, "", "") for name, p in TABLES_1_AND_2.items()
    ]
    for what, trees, svm in (
        ("as in the paper", TREES, SVM),
        ("queries of the same weight", SCALED_TREES, SVM_BY_QUERY),
    ):
        means = [graded.mean(method, metric) for metric in (AREA, "map") for method in (trees, svm)]
        rows.append((what, *means, *(zero_mean(graded, method, "map") for method in (trees, svm))))
    heads = [f"{metric}, {name}" for metric in ("MAUC", "MAP") for name in ("LambdaMART", "SVM")]
    foot = (
        "Test means. In the last columns a query without relevant documents counts 0. The paper's "
        "LambdaMART is without `normalize`, its SVM has one area of all documents."
    )
    return Table(
        ("data", *heads, "MAP (0), LambdaMART", "MAP (0), SVM"), rows, (foot,), narrow=True
    )


def readings(graded: Results, data: str) -> Table:
    rows = [
        (text, *(graded.mean(method, str(parse_metric(name))) for method in (TREES, SVM)))
        for name, text in READINGS.items()
    ]
    if data in TABLES_1_AND_2:
        rows.append((f"the paper on {data}", *TABLES_1_AND_2[data][:2]))
    foot = (
        "The paper does not say which classes and whose shares MAUC has, and its Table 1 does not "
        "follow from its Table 3 by any of them. We choose parameters by the fifth."
    )
    return Table(("MAUC", "LambdaMART", "SVM"), rows, (foot,), narrow=True)


def precisions(graded: Results) -> Table:
    heads = [
        f"{declared.name.partition('_')[0]}, {who}"
        for declared in PRECISIONS
        for who in ("LambdaMART", "SVM")
    ]
    rows = [
        (k, *(graded.mean(m, str(declared(k))) for declared in PRECISIONS for m in (TREES, SVM)))
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


def class_area(c: int) -> RankingMetric:
    """AUC of a class against the rest, over one ranking of all documents."""
    return CLASS_AUC(label=c, over="dataset")


def class_table(graded: Results, shares: Mapping[int, float]) -> Table:
    printed = {1: "48%", 4: "2.5%"}
    rows: list[tuple[object, ...]] = [
        ("Yahoo V1 (paper)", c, printed.get(c, ""), trees, svm)
        for c, (trees, svm) in TABLE_3.items()
    ]
    for c, share in shares.items():
        metric = str(parse_metric(class_area(c)))
        means = [graded.mean(method, metric) for method in (TREES, SVM)]
        rows.append(("ours", c, f"{share:.1%}", *means))
    return Table(("data", "class", "share of relevant", "LambdaMART", "SVM"), rows, narrow=True)


def figure_2(graded: Results) -> list[Panel]:
    return [
        Panel(
            f"{kind}-averaged precision@k",
            "k",
            {
                who: (CUTOFFS, [graded.mean(method, str(declared(k))) for k in CUTOFFS])
                for who, method in (("LambdaMART-MAUC", TREES), ("SVM by class", SVM))
            },
        )
        for kind, declared in (("Micro", MICRO_PRECISION), ("Macro", MACRO_PRECISION))
    ]


def svm_times(times: Mapping[str, Record]) -> Table:
    """What happened at each C."""
    rows = [
        (f"{C:,g}", f"{C / OF_SVM_PERF:g}", f"{of['seconds']:.0f}", int(of["passes"]),
         "yes" if of["converged"] else "no", f"{of['gap']:.1e}")
        for C, of in ((C, times[f"{C:g}"]) for C in TIMED_CS)
    ]  # fmt: skip
    foot = (
        "Seconds of one thread on generated data of MSLR-WEB10K's shape, all classes. Converged: a "
        "relative duality gap of .001 within 300 passes. The paper tried .1 to 100."
    )
    heads = ("C", "C of SVM-Perf", "seconds", "passes", "converged", "relative gap")
    return Table(heads, rows, (foot,))


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
    method = replace(method, fixed={**ALL_ROWS, "learning_rate": 0.1})
    config = Config(rounds=rounds, patience=rounds)
    begin = time.process_time()
    with limit_threads(1):
        method.trainer(Task(method, {}, fold.train, fold.valid, config, 0, (parse_metric("mauc"),)))
    return _record(fold, time.process_time() - begin, True)


def svm_time(queries: int, C: float, max_passes: int = 300) -> dict[str, float]:
    """Train the AUC SVM of every class, on one thread, and see whether all converge."""
    fold = mslr_like(queries)
    begin = time.process_time()
    with warnings.catch_warnings(), limit_threads(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap says so
        svm = ClassAUCSVM(C=C, max_passes=max_passes)
        svm.fit(np.asarray(fold.train.features), fold.train.labels)  # one area
    seconds = time.process_time() - begin
    gap = max(each.relative_gap_ for each in svm.svms_.values())
    passes = max(each.n_passes_ for each in svm.svms_.values())
    return {**_record(fold, seconds, gap <= svm.tol), "gap": gap, "passes": float(passes)}


def _record(fold: Fold, seconds: float, converged: bool) -> dict[str, float]:
    return {
        "seconds": seconds,
        "documents": float(fold.train.labels.size),
        "queries": float(fold.train.n_queries),
        "converged": float(converged),
    }


# Claims -------------------------------------------------------------------------------------------


def by_fold(results: Results, method: str, metric: Metric) -> NDArray[np.float64]:
    """Test values of a metric that has one for each data set."""
    mine = (pl.col("method") == method) & (pl.col("metric") == str(parse_metric(metric)))
    return results.values.filter(mine).sort("fold")["value"].to_numpy()


class Areas(NamedTuple):
    """Areas of two methods, (n_folds,) each."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]

    @property
    def gain(self) -> float:
        return float(self.first.mean() - self.second.mean())

    @property
    def similar(self) -> bool:
        higher = self.first > self.second
        return bool(higher.any() and not higher.all())

    def __str__(self) -> str:
        means = f"{points(float(self.first.mean()))} against {points(float(self.second.mean()))}"
        return f"{means}, higher on {(self.first > self.second).sum()} of {self.first.size} folds"


def area_of(results: Results, first: str, second: str, metric: Metric) -> Areas:
    return Areas(*(by_fold(results, method, metric) for method in (first, second)))


def binary_claims(results: Results) -> Iterator[Claim]:
    """Section 5.2.1: relevant or not."""
    areas = area_of(results, BINARY_TREES, BINARY_SVM, "auc(over=dataset)")
    yield Claim(
        "Section 5.2.1",
        "On binary labels LambdaMART-AUC and the AUC SVM are similar in AUC.",
        areas.similar,
        str(areas),
        "one ranking",
    )
    pair = versus(results, BINARY_TREES, BINARY_SVM, "map")
    yield Claim(
        "Section 5.2.1",
        "On binary labels LambdaMART-AUC and the AUC SVM are similar in MAP.",
        not (pair.better or pair.worse),
        str(pair),
    )


def graded_claims(results: Results) -> Iterator[Claim]:
    """Section 5.2.2, tables 1 and 2, figure 2."""
    areas = area_of(results, TREES, SVM, AREA)
    yield Claim(
        "Table 1",
        "LambdaMART-MAUC is as effective as the SVM by class in MAUC (MQ2008: .734 and .737), or "
        "more so.",
        areas.gain >= 0 or areas.similar,
        str(areas),
        "one ranking",
    )
    precision = versus(results, TREES, SVM, "map")
    yield Claim(
        "Table 2",
        "LambdaMART-MAUC has the higher MAP.",
        precision.first > precision.second,
        str(precision),
    )
    for kind, declared in (("micro", MICRO_PRECISION), ("macro", MACRO_PRECISION)):
        pairs = [versus(results, TREES, SVM, declared(k)) for k in CUTOFFS]
        ends = "; ".join(
            f"{points(pair.first)} against {points(pair.second)} at {k}"
            for k, pair in ((CUTOFFS[0], pairs[0]), (CUTOFFS[-1], pairs[-1]))
        )
        yield Claim(
            "Figure 2",
            f"LambdaMART-MAUC has the higher {kind}-averaged precision@k for all k from 1 to 10.",
            all(pair.first > pair.second for pair in pairs),
            f"higher at {sum(pair.first > pair.second for pair in pairs)} of {len(pairs)} k "
            f"({ends}); significantly higher at {sum(pair.better for pair in pairs)}, lower at "
            f"{sum(pair.worse for pair in pairs)}",
        )


def class_claims(pairs: Mapping[int, Areas], shares: Mapping[int, float]) -> Iterator[Claim]:
    """Table 3: where the two get their MAUC from, by class-reference AUC of relevant classes."""
    common, rare = (kind(shares, key=lambda c: shares[c]) for kind in (max, min))
    for c, what, verb in ((common, "commonest relevant", "rises"), (rare, "rarest", "falls")):
        areas = pairs[c]
        yield Claim(
            "Table 3",
            f"Against the SVM the class-reference AUC of the {what} class {verb}.",
            areas.gain > 0 if verb == "rises" else areas.gain < 0,
            f"label {c}, {shares[c]:.1%} of the relevant: {areas}",
            "one ranking",
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
    if svm["converged"]:
        ended = f"it converges in {svm['seconds']:.0f} s on {size}, so {one:.2f} hours"
    else:
        ended = (
            f"the relative gap is {points(svm['gap'])} after {svm['passes']:.0f} passes, "
            f"{svm['seconds']:.0f} s on {size}"
        )
    yield Claim(
        "Section 5.2.2",
        "The SVM by class does not converge within 12 hours on one fold of MSLR-WEB10K.",
        one > HOURS_OF_SVM if svm["converged"] else None,
        f"at SVM-Perf's C = 100 {ended}",
    )


NOT_TESTED = Claim(
    "Tables 1 and 2",
    "On Yahoo's sets, larger, the gain in MAUC and MAP is larger.",
    None,
    "Yahoo's sets, MQ2007 and .Gov are not available",
)

WELLECK_2016 = Paper(
    "welleck-2016",
    "Welleck: Efficient AUC optimization for information ranking applications. ECIR 2016.",
    "LambdaMART-AUC and -MAUC against the AUC SVM: AUCs, precisions, classes, training time",
    {
        "mq2008": "one of the paper's sets",
        "mslr-sample": "five grades, as Yahoo's sets; 164 queries of MSLR-WEB10K",
        "ohsumed-letor3": "three grades",
        "clueweb09": "long queries",
    },
    figures=(
        "Of two values, the first is LambdaMART's and the second the SVM's. AUC and MAUC have one "
        "value a fold, and are similar if neither is ahead on every fold; p is of a two-tailed "
        "Wilcoxon signed-rank test over test queries. The paper has no tests."
    ),
    protocol=(
        "AUC and MAUC are of one ranking of all documents of a part, MAUC over relevant classes: "
        "the reading that gives the paper's figures on its own set. Features are scaled to [0, 1] "
        "within each query. LambdaMART is LightGBM with equations 17 and 19 by query: AUC or MAUC "
        "with `surrogate` the metric itself and `normalize=False`, "
        "15 leaves and at most 200 rounds, stopped after 30 without gain on validation data. The "
        "SVM by class is the sum over classes c of c f_c(x), where f_c is a structural SVM for "
        "the AUC of class c against the rest over all documents. The learning rate (.1, .25, .5, "
        ".9) and C (.01 to 100,000) are chosen by validation MAUC, or by AUC on binary labels (1 "
        "and more are relevant). The paper's C of SVM-Perf, .1 to 100, is 2.5 to 2,500 here: "
        "SVM-Perf's loss is in percent, and it counts the score difference of a pair once, not "
        "twice. Times are of one thread on generated data of MSLR-WEB10K's shape, scaled to its "
        "number of queries."
    ),
    run=run,
)
