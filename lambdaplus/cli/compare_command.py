"""``lambdaplus compare``: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from lambdaplus.cli.config_options import with_config_options


@with_config_options
def compare(
    data: Path | None = typer.Argument(
        None,
        help="A folder in the layout of LETOR, MSLR, Yahoo or Istella (Fold1..FoldN, or one "
        "train/vali/test; .xz and .gz are supported); one svmlight, .csv, .tsv or .parquet file, "
        "which is split into five folds of queries (or of rows, with --qid none); or "
        "a TOML file with options, including data. By default, a built-in data set: query by "
        "example on handwritten digits.",
    ),
    *,
    save_model: Path | None = typer.Option(
        None,
        help="Folder for the model of the method that the last sentence favours, trained again on "
        "all queries; predict.pyz in it scores a file without lambdaplus.",
    ),
    method: str = typer.Option("", help="Method to save, instead of that one."),
    report: bool = typer.Option(
        False, "--report", help="Also write report.html, its plots and tables."
    ),
    jobs: int = typer.Option(
        0,
        min=0,
        help="Number of parallel fits; 0: one for each core that this process may use, by "
        "OMP_NUM_THREADS, its affinity, or the limit of its container.",
    ),
    out: Path = typer.Option(
        "lambdaplus-compare", help="Folder for finished fits, tables and study.toml."
    ),
    **options: Any,
) -> None:
    from lambdaplus.cli.comparison import compare_and_show  # not for --help: it takes a second

    compare_and_show(
        data, options, save_model=save_model, method=method, report=report, jobs=jobs, out=out
    )
