"""The tables and plots of the preset."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lambdaplus.evaluation import Table, evaluate
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Method, Study
from papers.findings import Exhibit, Section
from papers.lines import lines
from papers.versus import Versus, said, versus
from papers.welleck_2016.paper import (
    CUTOFFS,
    SHORT,
    SVM,
    TABLE_3,
    TABLES_1_AND_2,
    TREES,
)

READINGS = {
    "mauc": "relevant classes, shares of the query",
    "mauc(share=dataset)": "relevant classes, shares of the data set",
    "mauc(classes=all)": "all classes, shares of the query",
    "mauc(classes=all,share=dataset)": "all classes, shares of the data set",
    "mauc(over=dataset)": "relevant classes, one ranking of all documents",
    "mauc(classes=all,over=dataset)": "all classes, one ranking of all documents",
}
PRECISIONS = ("micro_precision", "macro_precision", "printed_precision")


def graded_section(study: Study, data: str) -> Section:
    """Tables 1 and 2."""
    trees, svm = study.methods
    heads = (
        "data",
        *(f"{metric}, {name}" for metric in ("MAUC", "MAP") for name in SHORT.values()),
    )
    rows: list[tuple[object, ...]] = [(f"{name} (paper)", *p) for name, p in TABLES_1_AND_2.items()]
    ours = [
        study.results.mean(m.name, str(parse_metric(k)))
        for k in ("mauc", "map")
        for m in study.methods
    ]
    rows.append(("ours", *ours))
    ours = [zero_mean(study, m, k) for k in ("mauc", "map") for m in study.methods]
    rows.append(("ours, a query without relevant documents counts 0", *ours))
    readings = [
        (
            text,
            *(study.results.mean(method.name, str(parse_metric(name))) for method in (trees, svm)),
        )
        for name, text in READINGS.items()
    ]
    if data in TABLES_1_AND_2:
        printed = TABLES_1_AND_2[data]
        readings.append((f"the paper on {data}", printed.trees_mauc, printed.svm_mauc))
    notes = (
        "The paper does not say which classes and whose shares MAUC has, and its Table 1 does not "
        "follow from its Table 3 by any of them; the second table has six readings. The objective "
        "and the choice of parameters go by the first.",
    )
    exhibits = (
        Exhibit("tables_1_2", "Test means", Table(heads, rows)),
        Exhibit("readings", "MAUC, read in six ways", Table(("MAUC", *SHORT.values()), readings)),
    )
    return Section("MAUC and MAP (tables 1 and 2)", exhibits, notes)


def zero_mean(study: Study, method: Method, metric: str) -> float:
    """Mean of the folds' means, a query on which the metric has no value counting 0."""
    means = []
    for choice in study.choices(method):
        test = choice.fold.test
        found = evaluate(
            test.labels, choice.model.test_scores, qid=test.qid, metrics=metric, empty=0
        )
        means.append(found[metric])
    return float(np.mean(means))


def precision_section(study: Study) -> Section:
    """Figure 2."""
    means = {
        (name, method.name): [
            study.results.mean(method.name, str(parse_metric(f"{name}@{k}"))) for k in CUTOFFS
        ]
        for name in PRECISIONS
        for method in study.methods
    }
    heads = ("k", *(f"{name.partition('_')[0]}, {SHORT[method]}" for name, method in means))
    rows = [(k, *(values[k - 1] for values in means.values())) for k in CUTOFFS]
    curves = {
        f"{name.partition('_')[0]}, {SHORT[method]}": (CUTOFFS, values)
        for (name, method), values in means.items()
        if name != "printed_precision"
    }
    notes = (
        "By equations 1 and 3: a query's documents of each relevant class are predicted in label "
        "order. As printed, equations 2 and 4 both count relevant documents over k and the number "
        "of classes (third pair of columns).",
    )
    exhibits = (
        Exhibit("figure_2_table", "Test means", Table(heads, rows)),
        Exhibit("figure_2", "Precision by cutoff", lines(curves, "k", "precision@k", markers=True)),
    )
    return Section("Micro- and macro-averaged precision@1-10 (figure 2)", exhibits, notes)


def class_pairs(study: Study) -> dict[int, Versus]:
    """Class-reference AUC of each relevant class, LambdaMART-MAUC against the SVM."""
    labels = {int(c) for fold in study.folds for c in np.unique(fold.test.labels) if c >= 1}
    return {c: versus(study, TREES, SVM, f"class_auc(label={c})") for c in sorted(labels)}


def class_shares(study: Study) -> dict[int, float]:
    """Share of each relevant class in the relevant documents of the training parts."""
    labels = np.concatenate([fold.train.labels for fold in study.folds])
    relevant, counts = np.unique(labels[labels >= 1], return_counts=True)
    return {int(c): float(n / counts.sum()) for c, n in zip(relevant, counts, strict=True)}


def class_section(pairs: Mapping[int, Versus], shares: Mapping[int, float]) -> Section:
    """Table 3."""
    printed = {1: "48%", 4: "2.5%"}
    rows: list[tuple[object, ...]] = [
        ("Yahoo V1 (paper)", c, printed.get(c, ""), trees, svm, f"{trees - svm:+.3f}", "")
        for c, (trees, svm) in TABLE_3.items()
    ]
    rows += [
        ("ours", c, f"{shares.get(c, 0.0):.1%}", pair.first, pair.second,
         f"{pair.first - pair.second:+.4f}", said(pair.p))
        for c, pair in pairs.items()
    ]  # fmt: skip
    heads = ("data", "class", "share of relevant", *SHORT.values(), "difference", "chance")
    exhibit = Exhibit("table_3", "Class-reference AUC, test means", Table(heads, rows))
    return Section("Class-reference AUC (table 3)", (exhibit,))


def binary_section(study: Study) -> Section:
    """Section 5.2.1."""
    rows = [
        (m.name, *(study.results.mean(m.name, str(metric)) for metric in study.metrics))
        for m in study.methods
    ]
    table = Table(("labels of 1 and more are relevant", *map(str, study.metrics)), rows)
    note = (
        "The paper's six sets of LETOR 3's Gov collection are not here, and it prints no numbers: "
        "higher AUC on two of them, lower on three, similar on one.",
    )
    exhibit = Exhibit("binary", "Test means", table)
    return Section("Binary labels (section 5.2.1)", (exhibit,), note)


def choice_section(*studies: Study) -> Section:
    """What validation data chose."""
    rows = []
    for study in studies:
        for method in study.methods:
            chosen = study.choices(method)
            values = [f"{value:g}" for choice in chosen for value in choice.parameters.values()]
            rounds = [str(choice.model.rounds) for choice in chosen if choice.model.rounds]
            seconds = f"{study.results.seconds[method.name]:.1f}"
            rows.append((method.name, ", ".join(values), ", ".join(rounds), seconds))
    heads = (
        "method",
        "learning rate or C of each fold",
        "rounds or passes",
        "seconds of all tried",
    )
    return Section("Parameters chosen", (Exhibit("choices", "By fold", Table(heads, rows)),))


def time_section(times: Mapping[str, Mapping[str, float]]) -> Section:
    """Section 5.2.2."""
    rows = [
        (name, f"{found['queries']:,.0f}", f"{found['documents']:,.0f}", f"{found['seconds']:.1f}")
        for name, found in times.items()
    ]
    heads = ("trainer", "queries", "documents", "seconds")
    notes = (
        "Made-up data with MSLR-WEB10K's features, grades and query sizes; one fit of each, on "
        "one thread. The paper: under 5 hours for five folds of MSLR-WEB10K by LambdaMART-MAUC; "
        "SVM-Perf did not converge on one of them in 12 hours.",
    )
    exhibit = Exhibit("time", "Training time", Table(heads, rows))
    return Section("Time at web scale (section 5.2.2)", (exhibit,), notes)
