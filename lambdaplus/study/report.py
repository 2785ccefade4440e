"""The results of a study as a self-contained page, and its plots and tables as files."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from lambdaplus.compute.extras import installation
from lambdaplus.compute.messages import printable_lines
from lambdaplus.evaluation import Table
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.study.advice import advice
from lambdaplus.study.over_time import over_time_plots
from lambdaplus.study.plot_style import needs_matplotlib, save_plot
from lambdaplus.study.plots import Plot, curve_plots, query_plots
from lambdaplus.study.report_models import importance_plots, positives_plots
from lambdaplus.study.study import Study
from lambdaplus.study.summary import Summary
from lambdaplus.study.summary_tables import choices_table, results_table, rules_table, verdict_table
from lambdaplus.study.words import count


def write_report(
    summary: Summary, folder: Path, config_text: str = "", *, data: str = "", date: str = "",
    study: Study | None = None,
) -> Path:  # fmt: skip
    """Write ``report.html``, and its plots as PNG and SVG.

    Parameters
    ----------
    summary : Summary
        The study may be unfinished: methods without results on every fold have no mean.  If the
        baseline has not finished every fold, the report says so.
    folder : path
        The folder in which ``report.html`` and ``plots/`` are written.
    config_text : str
        Configuration of the study, for the last section.
    data, date : str
        Name of the data set and date of the study, for the beginning.
    study : Study, optional
        For the sections that need models: importance of features, for which a model is trained
        again, and curves of labels 0 and 1.

    Returns
    -------
    Path
        The page, which loads no other file.  The same fits and arguments give the same bytes.

    Raises
    ------
    ImportError
        If matplotlib or Jinja2 is not installed.
    ValueError
        If the study has not run.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.study import Config, Summary, study_of, write_report
    >>> study = study_of(Config(methods=("lightgbm:lambda_map",), folds="1", rounds=2))
    >>> study.finish()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_report(Summary(study.results), pathlib.Path(folder), study=study)
    ...     pathlib.Path(folder, "report.html").exists()
    True
    """
    try:
        from jinja2 import Environment, PackageLoader
    except ImportError:
        raise ImportError(f"reports need Jinja2: {installation('cli')}") from None
    needs_matplotlib()
    results = summary.results
    if not results.finished and not results.errors:
        raise ValueError("nothing has been fitted: run the study first, as study.finish()")
    plots_folder = folder / "plots"
    plots_folder.mkdir(parents=True, exist_ok=True)
    contents = {
        name: _content(make(summary, study), plots_folder) for name, (_, make) in SECTIONS.items()
    }
    titles = {name: title for name, (title, _) in SECTIONS.items()}
    query = results.nouns.query
    titles["queries"] = f"{query.capitalize()} by {query}"
    loader = PackageLoader("lambdaplus.study", "")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, finalize=_printable)
    environment.filters |= {"shown": _shown, "numeric": _numeric_columns, "count": count}
    page = environment.get_template("report_template.html").render(
        summary=summary,
        results=results,
        lead=[line for line in (data, date) if line],
        verdicts=verdict_table(summary),
        titles=titles,
        contents=contents,
        config_text=config_text,
        advice=advice(summary, study) if study and results.finished else [],
    )
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


Content: TypeAlias = "Table | Iterator[Plot] | None"
SECTIONS: dict[str, tuple[str, Callable[[Summary, Study | None], Content]]] = {
    "results": ("Results", lambda summary, _: results_table(summary)),
    "pairs": ("Wins, losses and ties", lambda summary, _: pair_table(summary)),
    "queries": ("Query by query", lambda summary, _: query_plots(summary)),
    "time": ("Over time", lambda summary, _: over_time_plots(summary)),
    "importance": ("Importance of features", importance_plots),
    "positives": ("Precision, recall and probabilities", positives_plots),
    "curves": ("Learning curves", lambda summary, _: curve_plots(summary)),
    "parameters": ("Parameters chosen", lambda summary, _: choices_table(summary)),
    "protocol": ("Protocol and conventions", lambda summary, _: rules_table(summary.results)),
}
"""Title and content of each section of the page; one without content is left out."""
_NUMBER = re.compile(r"<?[+-]?(\d*\.?\d+(e[+-]\d+)?|nan)")


def pair_table(summary: Summary) -> Table | None:
    """The tests of each column, if there are two methods."""
    tables = [one.pair_table for one in summary.comparisons.values()]
    rows = [row for table in tables for row in table.rows]
    return replace(tables[0], rows=rows) if tables else None


def _printable(value: Any) -> Any:
    """Text of data without control characters; the page's own markup as it is."""
    return printable_lines(value) if type(value) is str else value


def _content(found: Content, folder: Path) -> Any:
    """A table, or the captions of plots and their SVG, which is also saved."""
    if found is None or isinstance(found, Table):
        return found
    return [{"caption": words, "svg": save_plot(plot, folder, name)} for name, words, plot in found]


def _shown(value: Any) -> str:
    """Floats with four decimals, NaN as a dash; a tuple as lines."""
    if isinstance(value, tuple):
        return printable_lines("\n".join(value))
    if not isinstance(value, float):
        return printable_lines(str(value))
    return "\N{EN DASH}" if math.isnan(value) else decimal(value)


def _numeric_columns(table: Table) -> list[int]:
    """The columns of numbers, which may be formatted as text."""
    columns = enumerate(zip(*table.cells, strict=True))
    return [i for i, column in columns if all(_NUMBER.fullmatch(str(c.value)) for c in column)]
