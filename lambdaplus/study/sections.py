"""The sections of a report, each an iterator of HTML; it is empty if a study has nothing to show.

Examples
--------
>>> from lambdaplus.study import Settings, Study, find_methods, sections
>>> from lambdaplus.data import digits_queries
>>> from lambdaplus.metrics import parse_metric
>>> study = Study(
...     folds=digits_queries()[:1],
...     methods=find_methods("lightgbm:auc"),
...     metrics=[parse_metric("map")],
...     settings=Settings(rounds=5),
... )
>>> _ = list(study.run())
>>> [piece] = sections.parameters(study)
>>> print(piece.splitlines()[0])
<details><summary>1 choice</summary>
>>> list(sections.pairs(None))
[]
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from lambdaplus.evaluation import RunComparison, Table
from lambdaplus.study.differences import significantly_below
from lambdaplus.study.figures import file_name
from lambdaplus.study.line_plots import learning_curves_of
from lambdaplus.study.markup import details, figure_of, paragraphs, table_of, text
from lambdaplus.study.plots import by_criterion, finished, method_to_beat, shares
from lambdaplus.study.searches import Chosen, choosers, chosen_rows, parameter_table, summary
from lambdaplus.study.shown_metrics import (
    criterion_of,
    main_metrics,
    same_in_words,
    shown_metrics,
)
from lambdaplus.study.study import Study
from lambdaplus.study.study_tables import footnotes, marked_results


def results(study: Study, found: RunComparison | None) -> Iterator[str]:
    """Means with marks, and those of each fold."""
    table = marked_results(study, found)
    level = _level_with_the_best(study, found)
    yield table_of(
        table,
        f"Test means; bold: {'not significantly below ' if level else ''}the highest of a column",
        best=level or True,
    )
    yield f'<div class="note">{paragraphs([table.foot[0], *same_in_words(study)])}</div>'
    rows = [
        (
            method.name,
            str(metric),
            study.mean(method, metric),
            *(means.get(f, np.nan) for f in names),
        )
        for metric in shown_metrics(study)
        for method in study.methods
        for names in [[fold.name for fold in study.folds]]
        for means in [study.fold_means(method, metric)]
    ]
    by_fold = Table(("method", "metric", "mean", *(fold.name for fold in study.folds)), rows)
    if len(study.folds) > 1:
        yield details("By fold", table_of(by_fold, "Test means of each fold", best=False))


def _level_with_the_best(study: Study, found: RunComparison | None) -> set[tuple[int, int]]:
    """Row and column of the means that are not significantly below the best of their column.

    Empty where every method is only compared with a baseline.
    """
    cells = set()
    for place, metric in enumerate(shown_metrics(study)):
        best = method_to_beat(study, metric, None)
        if found is None or found.baseline is not None or best is None:
            return set()
        below = significantly_below(found, str(metric), best.name)
        tested = bool(found.of(metric))  # a value of the whole data set is not
        cells |= {
            (row, place + 2)
            for row, method in enumerate(study.methods)
            if (tested and method.name in found.names and method.name not in below)
            or method.name == best.name
        }
    return cells


def pairs(found: RunComparison | None) -> Iterator[str]:
    """Wins, losses, ties and p-values, metric by metric."""
    if found is None:
        return
    yield paragraphs([
        "A win is a query on which the method has a higher value than the other method. "
        f"Intervals are {found.confidence:.0%} bootstrap intervals of the mean difference; the "
        f"last column is p corrected for the number of pairs ({found.correction})."
    ])  # fmt: skip
    for place, metric in enumerate(found.means):
        rows = [
            (
                p.first,
                p.second,
                f"{p.difference:+.4f}",
                "{:+.4f}..{:+.4f}".format(*p.interval),
                p.wins,
                p.losses,
                p.ties,
                p.p_value,
                p.p_corrected,
            )
            for p in found.of(metric)
        ]
        heads = ("method", "against", "difference", "interval", "wins", "losses", "ties", "p")
        table = Table((*heads, "p corrected"), rows)
        inner = table_of(table, f"Pairs by {metric}", best=False)
        yield details(metric, inner, opened=place == 0 and len(rows) < 30)


def criteria(study: Study, found: RunComparison | None) -> Iterator[str]:
    """Criterion trained for against test metric (KDD 2008, fig. 9), as a heat map."""
    methods, metrics = by_criterion(study), shown_metrics(study)
    if not methods:
        return
    trained_for = [criterion_of(study, method) for method in methods]
    means = np.array([[study.mean(m, k) for k in metrics] for m in methods])
    heat = shares(means)

    def shade(i: int, j: int) -> str:
        if j < 2 or np.isnan(heat[i, j - 2]):
            return ""
        own = " data-own" if trained_for[i] == str(metrics[j - 2]) else ""
        return f'{own} style="--share:{heat[i, j - 2]:.3f}"'

    rows = [
        (method.name, criterion, *map(float, values))
        for method, criterion, values in zip(methods, trained_for, means, strict=True)
    ]
    yield table_of(
        Table(("method", "trained for", *map(str, metrics)), rows),
        "Test means, each column shaded from its lowest to its highest; framed: the criterion that "
        "the method was trained for",
        best=False,
        shade=shade,
    )
    yield paragraphs([_own_criterion_wins(study, found)])


def _own_criterion_wins(study: Study, found: RunComparison | None) -> str:
    """Whether methods that were trained for a metric are better by it than the others."""
    said: dict[str, list[str]] = {}
    for metric in main_metrics(study):
        name = str(metric)
        own: dict[str, float] = {}
        other: dict[str, float] = {}
        for method in finished(study):
            mine = criterion_of(study, method) == name
            (own if mine else other)[method.name] = study.mean(method, metric)
        if found is None or found.baseline is not None or not found.of(metric):
            continue
        if not own or not other:
            continue
        first, second = max(own, key=lambda m: own[m]), max(other, key=lambda m: other[m])
        if second in significantly_below(found, name, first):
            verdict = "Significantly better when trained for it"
        elif first in significantly_below(found, name, second):
            verdict = "Significantly better when trained for another criterion"
        else:
            verdict = "No significant difference between the best trained for it and the others"
        said.setdefault(verdict, []).append(name)
    return " ".join(f"{verdict}: {', '.join(names)}." for verdict, names in said.items())


def times(plots: dict[str, str]) -> Iterator[str]:
    """Bars of training time."""
    if "training_time" in plots:
        yield figure_of(
            plots["training_time"],
            "Seconds of training over all folds, seeds and parameters, on a log scale",
        )


def queries(study: Study, plots: dict[str, str], baseline: str | None) -> Iterator[str]:
    """Differences on each query from the baseline, or from the best."""
    for place, metric in enumerate(main_metrics(study)):
        svg = plots.get(f"differences_{file_name(str(metric))}")
        against = method_to_beat(study, metric, baseline)
        if svg and against:
            caption = (
                f"{metric} of each method minus that of {against.name}: a bar for each test "
                "query, sorted; the counts are queries won and lost"
            )
            yield details(str(metric), figure_of(svg, caption), opened=place == 0)


def curves(study: Study, plots: dict[str, str]) -> Iterator[str]:
    """Validation metric by round."""
    curves = [
        figure_of(plots[f"learning_curves_{file_name(name)}"], f"{name} on validation data")
        for name in learning_curves_of(study)
    ]
    if curves:
        yield f'<div class="plots">{"".join(curves)}</div>'
        yield paragraphs(
            [
                "Validation value of each method's own criterion after each round: means over "
                "folds and seeds, for the selected parameters. After early stopping, the best "
                "value of a fold is used for the remaining rounds."
            ]
        )


def searches(study: Study, plots: dict[str, str]) -> Iterator[str]:
    """Parameters selected by random searches, and whether the ranges were wide enough."""
    if not (said := summary(study)):
        return
    yield paragraphs(
        [
            said,
            "Lowest and highest: the share of selected values in the outer tenth of a range at "
            "either end (of rounds, in the last twentieth). A parameter without effect has 10% in "
            "each; a much larger share indicates that the range is too narrow.",
        ]
    )
    figures = [
        figure_of(svg, f"Best validation {name} after each trial: means over folds and seeds")
        for name in choosers(study)
        if (svg := plots.get(f"trials_{file_name(name)}"))
    ]
    if figures:
        yield f'<div class="plots">{"".join(figures)}</div>'
    for method in study.methods:
        if study.searches(method) and study.results[method.name]:
            table = parameter_table(study, method)
            yield details(method.name, table_of(table, table.foot[0], best=False))
    rows = [
        (*row[:-2], row.value, json.dumps(row.parameters)[1:-1].replace('"', ""))
        for row in chosen_rows(study)
    ]
    table = Table(Chosen._fields, rows)
    yield details("Every choice", table_of(table, "Selected on validation data", best=False))


def parameters(study: Study) -> Iterator[str]:
    """Parameters selected on validation data, by fold."""
    rows = [
        (
            method.name,
            choice.fold.name,
            choice.seed,
            json.dumps(choice.parameters, default=str)[1:-1].replace('"', "") or "none tried",
            choice.fit.rounds,
            f"{choice.seconds:.2f}",
        )
        for method in study.methods
        for choice in study.results[method.name]
        if choice.search is None
    ]
    if rows:
        heads = ("method", "fold", "seed", "parameters", "rounds", "seconds of all tried")
        table = table_of(Table(heads, rows), "Selected on validation data", best=False)
        yield details(f"{len(rows)} choice{'' if len(rows) == 1 else 's'}", table)


def protocol(study: Study, config_text: str) -> Iterator[str]:
    """Protocol, versions, conventions, configuration."""
    yield paragraphs(footnotes(study))
    done = next((study.evaluation(method) for method in finished(study)), None)
    if done is not None:
        table = Table(("metric", "rules"), list(done.conventions.items()))
        yield table_of(table, f"Metrics, by the convention {done.convention.name}")
    if config_text:
        yield f"<h3>Configuration</h3>\n<pre>{text(config_text)}</pre>"
