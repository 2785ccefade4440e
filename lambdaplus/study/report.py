"""A study as a self-contained page, with its plots and tables as files beside it.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.study import Settings, Study, find_methods
>>> from lambdaplus.study.report import write_report
>>> from lambdaplus.data import digits_queries
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

from pathlib import Path

from lambdaplus.evaluation import RunComparison
from lambdaplus.study import sections
from lambdaplus.study.differences import comparison
from lambdaplus.study.figures import save_plot
from lambdaplus.study.lead import best_methods, how_made
from lambdaplus.study.markup import text
from lambdaplus.study.page import write_page
from lambdaplus.study.plots import plots_of
from lambdaplus.study.study import Study
from lambdaplus.study.study_tables import marked_results, n_test_queries


def write_report(
    study: Study,
    folder: Path,
    baseline: str | None = None,
    config_text: str = "",
    *,
    data: str = "",
    date: str = "",
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
        Method that the others are compared with; by default all pairs are compared.  If the
        baseline has not finished every fold, it is not used, and the report says so.
    config_text : str
        Configuration of the study, for the last section.
    data, date : str
        Name of the data set and date of the study, for the beginning.

    Returns
    -------
    Path
        Of report.html.  It loads no other file; the same fits and arguments give the same bytes.

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
    found = comparison(study, baseline)
    _save_tables(study, folder / "tables", found)
    parts = [
        ("results", "Results", sections.results(study, found)),
        ("pairs", "Wins, losses and ties", sections.pairs(found)),
        (
            "criteria",
            "Criterion trained for \N{MULTIPLICATION SIGN} criterion of the test",
            sections.criteria(study, found),
        ),
        ("time", "Training time", sections.times(plots)),
        ("queries", "Query by query", sections.queries(study, plots, baseline)),
        ("curves", "Learning curves", sections.curves(study, plots)),
        ("searches", "Random search", sections.searches(study, plots)),
        ("parameters", "Parameters chosen", sections.parameters(study)),
        ("protocol", "Protocol and conventions", sections.protocol(study, config_text)),
    ]
    made = f'<p class="lead">{text(how_made(study, data, date))}</p>\n'
    lead = made + _lead(study, baseline, found)
    return write_page(folder / "report.html", _title(study), lead, parts)


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
    return f"Comparison of {', '.join(counts)}, {n_test_queries(study)} test queries"


def _lead(study: Study, baseline: str | None, found: RunComparison | None) -> str:
    parts = []
    if sentences := best_methods(study, found):
        items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
        parts.append(f'<ul class="lead">{items}</ul>')
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
