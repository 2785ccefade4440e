"""``lambdaplus compare``."""

from __future__ import annotations

import os
import pathlib
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lambdaplus.cli.files import errors_of
from lambdaplus.cli.progress import progress_on

if TYPE_CHECKING:
    from lambdaplus.comparison import Study


def compare(
    data: Annotated[
        pathlib.Path | None,
        typer.Argument(
            help="Folder as LETOR, MSLR, Yahoo and Istella publish them: Fold1..FoldN, or one "
            "train/vali/test; .xz and .gz too. Or one file of queries, svmlight, .csv or .parquet, "
            "or web-search-like:N for N queries made up, cut into five folds or --splits. Or a "
            "TOML file with any of the options, data among them. Without it: a built-in set, "
            "query by example on handwritten digits."
        ),
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=1, help="So many random splits of the queries as folds.")
    ] = None,
    shares: Annotated[
        str | None,
        typer.Option(
            help="Training, validation and test queries of a split: shares (0.6,0.2,0.2) or "
            "numbers (10,5,35)."
        ),
    ] = None,
    balanced: Annotated[
        bool,
        typer.Option("--balanced", help="Splits that use each query equally often in each part."),
    ] = False,
    valid: Annotated[
        float | None,
        typer.Option(help="Share of training queries to validate on, where a folder has none."),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: lightgbm, svm:map, xgboost:lambda_map@5, module:Class, ...; "
            "all. The boosted trees without it."
        ),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(help="Comma-separated metrics of the test queries.")
    ] = None,
    folds: Annotated[
        str | None, typer.Option(help="The first so many folds (3), or these (1,4).")
    ] = None,
    scaling: Annotated[
        str | None, typer.Option(help="Of features: none, or query for [0, 1] in each query.")
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(help="Validation metric that chooses parameters; else each method's own."),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Trials of a random search for the parameters of every boosted method, on each "
            "fold with each seed; each metric chooses trial and round on validation queries.",
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Most boosting rounds (200; with --trials 1000).")
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(help="So many seeds (3), or these (0,7 or 7,); values are averaged."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Method to compare the others with; else every two.")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Also report.html, and plots as PNG and SVG.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Fits at a time; 0: one for each core.")] = 0,
    out: Annotated[
        pathlib.Path, typer.Option(help="Folder for finished fits, tables and study.toml.")
    ] = pathlib.Path("lambdaplus-compare"),
) -> None:
    """Train every method on every fold and show who wins; a second run goes on from the first."""
    from rich.console import Console

    from lambdaplus.comparison import Config, results_table, write_csv, write_report
    from lambdaplus.metrics.names import split_names

    console = Console()
    cores = os.cpu_count() or 1
    with errors_of("compare"):
        config = Config()
        said: dict[str, Any] = {
            "splits": splits,
            "shares": shares and _shares(shares),
            "balanced": balanced or None,
            "valid": valid,
            "methods": methods and tuple(split_names(methods)),
            "metrics": metrics and tuple(split_names(metrics)),
            "folds": folds,
            "scaling": scaling,
            "select": select,
            "baseline": baseline,
            "trials": trials,
            "rounds": rounds,
            "seeds": seeds and _seeds(seeds),
        }
        if data is not None and data.suffix == ".toml":
            config = Config.from_toml(data.read_text())
        elif data is not None:
            said["data"] = str(data)
        config = replace(config, **{name: v for name, v in said.items() if v is not None})
        jobs = jobs or cores
        study = config.study(out, jobs, threads=max(1, cores // jobs))
    stopped = False
    with progress_on(console) as progress:
        bar = progress.add_task("starting", total=len(study))
        try:
            for task in study.run():
                name = f"{task.method.name} {task.fold.name}"
                progress.update(bar, advance=1, description=f"{name:<32}")
        except KeyboardInterrupt:
            stopped = True
    if stopped:
        console.print(
            f"Stopped after {len(study.finished)} of {len(study)} fits; they are kept in {out}, "
            "and the same command goes on from there."
        )
    if study.finished:
        console.print(results_table(study))
        write_csv(study, out)
        (out / "study.toml").write_text(config.to_toml() + "\n")
        missing = _no_parquet(study, out)
        console.print(
            f"Wrote per_query.csv{'' if missing else ' and .parquet'}, summary.csv and study.toml "
            f"to {out}." + (f" No per_query.parquet: {missing}." if missing else ""),
            markup=False,
        )
        if report:
            with errors_of("compare"), console.status("Writing the report ..."):
                page = write_report(study, out, config.baseline or None, config.to_toml())
            console.print(f"Wrote {page}, with plots and tables beside it.")
    for name, message in study.errors.items():
        console.print(f"{name} failed: {message}", style="red", markup=False)
    if stopped:
        raise typer.Exit(130)
    if study.errors:
        raise typer.Exit(1)


def _no_parquet(study: Study, out: pathlib.Path) -> str:
    """Write per_query.parquet; what it needs, where that is not installed."""
    from lambdaplus.comparison import write_parquet

    try:
        write_parquet(study, out)
    except ImportError as missing:
        (out / "per_query.parquet").unlink(missing_ok=True)  # of a former run
        return str(missing)
    return ""


def _seeds(text: str) -> tuple[int, ...]:
    try:
        numbers = [int(part) for part in text.removesuffix(",").split(",")]
    except ValueError:
        numbers = []
    counted = len(numbers) == 1 and "," not in text
    if not numbers or min(numbers) < int(counted):
        raise ValueError(
            f"--seeds {text!r} is not a number of seeds such as 3, nor a list of seeds such as 0,7"
        )
    return tuple(dict.fromkeys(range(numbers[0]) if counted else numbers))


def _shares(text: str) -> tuple[float, ...]:
    """Whole numbers stay whole: they count queries."""
    try:
        return tuple(int(part) if part.isdecimal() else float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(
            f"--shares {text!r} is not a list such as 0.6,0.2,0.2 or 10,5,35"
        ) from None
