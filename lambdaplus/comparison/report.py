"""A study as one page that needs nothing else, with its plots and tables as files beside it.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.comparison import Settings, Study, find_methods
>>> from lambdaplus.comparison.report import write_report
>>> from lambdaplus.datasets import digits_queries
>>> from lambdaplus.metrics import parse_metric
>>> study = Study(
...     folds=digits_queries()[:1],
...     methods=find_methods("lightgbm:map,lightgbm:auc"),
...     metrics=[parse_metric("map")],
...     settings=Settings(rounds=5),
... )
>>> _ = list(study.run())
>>> with tempfile.TemporaryDirectory() as folder:
...     page = write_report(study, pathlib.Path(folder))
...     page.name, sorted(path.name for path in page.parent.iterdir())
('report.html', ['plots', 'report.html', 'tables'])
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np

from lambdaplus.comparison.figures import file_name, save_plot
from lambdaplus.comparison.markup import details, figure_of, paragraphs, section, table_of, text
from lambdaplus.comparison.plots import (
    by_criterion,
    finished,
    learning_curves_of,
    main_metrics,
    method_to_beat,
    plots_of,
    shares,
)
from lambdaplus.comparison.study import Study
from lambdaplus.comparison.tables import comparison, footnotes, marked_results
from lambdaplus.evaluation import RunComparison, Table


def write_report(
    study: Study, folder: Path, baseline: str | None = None, config_text: str = ""
) -> Path:
    """Write ``report.html``, its plots as PNG and SVG, its tables as Markdown and LaTeX.

    Parameters
    ----------
    study : Study
        That has run, to its end or not: methods that have not finished every fold are shown
        without a mean.
    folder : path
        Gets ``report.html``, ``plots/`` and ``tables/``.
    baseline : str, optional
        Method that every other is compared with; every two of them without it, and the best where
        one is needed.  A baseline that has not finished is left aside, and the report says so.
    config_text : str
        What made the study, shown as it is.

    Returns
    -------
    Path
        Of report.html.  It loads nothing; the same fits give the same bytes.

    Raises
    ------
    ImportError
        Without matplotlib.
    ValueError
        If the baseline is none of the methods, or the study has not run.
    """
    names = [method.name for method in study.methods]
    if baseline is not None and baseline not in names:
        raise ValueError(f"baseline={baseline!r} is not one of the methods: {', '.join(names)}")
    if not study.finished and not study.errors:
        raise ValueError("nothing has been fitted: run the study first, as list(study.run())")
    folder = Path(folder)
    plots = _save_plots(study, folder / "plots", baseline)
    found = comparison(study, baseline if baseline in {m.name for m in finished(study)} else None)
    _save_tables(study, folder / "tables", found)
    parts = [
        ("results", "Results", _results(study, found)),
        ("pairs", "Wins, losses and ties", _pairs(study, found)),
        (
            "criteria",
            "Criterion trained for \N{MULTIPLICATION SIGN} criterion of the test",
            _criteria(study),
        ),
        ("time", "Training time", _times(plots)),
        ("queries", "Query by query", _queries(study, plots, baseline)),
        ("curves", "Learning curves", _curves(study, plots)),
        ("parameters", "Parameters chosen", _parameters(study)),
        ("protocol", "Protocol and conventions", _protocol(study, config_text)),
    ]
    sections = [(name, title, section(name, title, *content)) for name, title, content in parts]
    template = files("lambdaplus.comparison").joinpath("report_template.html")
    page = string.Template(template.read_text(encoding="utf-8")).substitute(
        title=text(_title(study)),
        lead=_lead(study, baseline, found),
        links="\n".join(
            f'<li><a href="#{name}">{text(title)}</a></li>'
            for name, title, content in sections
            if content
        ),
        content="\n".join(content for *_, content in sections if content),
    )
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


def _save_plots(study: Study, folder: Path, baseline: str | None) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    return {name: save_plot(figure, folder, name) for name, figure in plots_of(study, baseline)}


def _save_tables(study: Study, folder: Path, found: RunComparison | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"results": marked_results(study, found)}
    if found is not None:
        tables["pairs"] = found.pair_table
    for name, table in tables.items():
        (folder / f"{name}.md").write_text(table.to_markdown() + "\n", encoding="utf-8")
        (folder / f"{name}.tex").write_text(table.to_latex() + "\n", encoding="utf-8")


def _title(study: Study) -> str:
    counts = [
        f"{n} {what}{'' if n == 1 else 's'}"
        for n, what in ((len(study.methods), "method"), (len(study.folds), "fold"))
    ]
    queries = sum(fold.test.n_queries for fold in study.folds)
    return f"Comparison of {', '.join(counts)}, {queries} test queries"


def _lead(study: Study, baseline: str | None, found: RunComparison | None) -> str:
    parts = []
    best = []
    for metric in main_metrics(study):
        method = method_to_beat(study, metric, None)
        if method is not None:
            best.append(f"{method.name} by {metric} ({study.mean(method, metric):.4f})")
    if best:
        parts.append(f'<p class="lead">Best on the test queries: {text("; ".join(best))}.</p>')
    missing = len(study) - len(study.finished)
    if missing:
        parts.append(
            f'<p class="alarm">{missing} of {len(study)} fits are not finished. A method has a '
            "mean once it has finished every fold.</p>"
        )
    if baseline is not None and (found is None or found.baseline is None):
        parts.append(
            f'<p class="alarm">The baseline {text(baseline)} could not be compared with: it has '
            "not finished every fold, or no other method has.</p>"
        )
    if study.errors:
        items = "".join(
            f"<li><strong>{text(name)}</strong>: {text(error)}</li>"
            for name, error in study.errors.items()
        )
        parts.append(
            f'<div class="alarm" id="failed"><p>Failed, with the first error of each:</p>'
            f"<ul>{items}</ul></div>"
        )
    return "\n".join(parts)


def _results(study: Study, found: RunComparison | None) -> Iterator[str]:
    table = marked_results(study, found)
    yield table_of(table, "Test means; bold: best in its column")
    yield f'<div class="note">{paragraphs(table.foot[:1])}</div>'
    rows = [
        (
            method.name,
            str(metric),
            study.mean(method, metric),
            *(means.get(f, np.nan) for f in names),
        )
        for metric in study.metrics
        for method in study.methods
        for names in [[fold.name for fold in study.folds]]
        for means in [study.fold_means(method, metric)]
    ]
    by_fold = Table(("method", "metric", "mean", *(fold.name for fold in study.folds)), rows)
    if len(study.folds) > 1:
        yield details("By fold", table_of(by_fold, "Test means of each fold", best=False))


def _pairs(study: Study, found: RunComparison | None) -> Iterator[str]:
    if found is None:
        return
    yield paragraphs([
        "A win is a query on which the method has the higher value than the one against it. "
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


def _criteria(study: Study) -> Iterator[str]:
    methods = by_criterion(study)
    if not methods:
        return
    means = np.array([[study.mean(m, k) for k in study.metrics] for m in methods])
    heat = shares(means)

    def shade(i: int, j: int) -> str:
        if j < 2 or np.isnan(heat[i, j - 2]):
            return ""
        own = " data-own" if methods[i].criterion == str(study.metrics[j - 2]) else ""
        return f'{own} style="--share:{heat[i, j - 2]:.3f}"'

    rows = [
        (method.name, method.criterion, *map(float, values))
        for method, values in zip(methods, means, strict=True)
    ]
    heads = ("method", "trained for", *map(str, study.metrics))
    yield table_of(
        Table(heads, rows),
        "Test means, each column shaded from its worst to its best; bold: best in its column; "
        "framed: the criterion that the method was trained for",
        shade=shade,
    )
    yield paragraphs([_own_criterion_wins(study)])


def _own_criterion_wins(study: Study) -> str:
    """Whether a test criterion is best served by training for it."""
    yes: list[str] = []
    no: list[str] = []
    for metric in study.metrics:
        if any(m.criterion == str(metric) for m in finished(study)):
            best = method_to_beat(study, metric, None)
            own = best is not None and best.criterion == str(metric)
            (yes if own else no).append(str(metric))
    said = []
    if yes:
        said.append(f"Best by {', '.join(yes)}: a method that was trained for it.")
    if no:
        said.append(f"Best by {', '.join(no)}: a method that was trained for another criterion.")
    return " ".join(said)


def _times(plots: dict[str, str]) -> Iterator[str]:
    if "training_time" in plots:
        yield figure_of(
            plots["training_time"],
            "Seconds of training over all folds, seeds and parameters, on a log scale",
        )


def _queries(study: Study, plots: dict[str, str], baseline: str | None) -> Iterator[str]:
    for place, metric in enumerate(main_metrics(study)):
        svg = plots.get(f"differences_{file_name(str(metric))}")
        against = method_to_beat(study, metric, baseline)
        if svg and against:
            caption = (
                f"{metric} of each method minus that of {against.name}: a bar for each test "
                "query, sorted; the counts are queries won and lost"
            )
            yield details(str(metric), figure_of(svg, caption), opened=place == 0)


def _curves(study: Study, plots: dict[str, str]) -> Iterator[str]:
    curves = [
        figure_of(plots[f"learning_curves_{file_name(name)}"], f"{name} on validation data")
        for name in learning_curves_of(study)
    ]
    if curves:
        yield f'<div class="plots">{"".join(curves)}</div>'
        yield paragraphs(
            [
                "Each method by its own criterion, after each round: means over folds and "
                "seeds, of the parameters chosen. A fold that has stopped "
                "counts on with its best value: that of the rounds which it kept."
            ]
        )


def _parameters(study: Study) -> Iterator[str]:
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
    ]
    if rows:
        heads = ("method", "fold", "seed", "parameters", "rounds", "seconds of all tried")
        table = table_of(Table(heads, rows), "What validation data chose", best=False)
        yield details(f"{len(rows)} choices", table)


def _protocol(study: Study, config_text: str) -> Iterator[str]:
    yield paragraphs(footnotes(study))
    done = next((study.evaluation(method) for method in finished(study)), None)
    if done is not None:
        table = Table(("metric", "rules"), list(done.conventions.items()))
        yield table_of(table, f"Metrics, by the convention {done.convention.name}")
    if config_text:
        yield f"<h3>Configuration</h3>\n<pre>{text(config_text)}</pre>"
