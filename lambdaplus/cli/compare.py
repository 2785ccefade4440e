"""``lambdaplus compare``."""

from __future__ import annotations

import os
import pathlib
from typing import Annotated

import typer

from lambdaplus.cli.evaluate import split_names
from lambdaplus.cli.files import errors_of


def compare(
    data: Annotated[
        pathlib.Path | None,
        typer.Argument(
            help="LETOR folder: Fold1..FoldN, or one train/vali/test; .xz and .gz too. Without it: "
            "a built-in set, query by example on handwritten digits."
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Comma-separated: lightgbm:lambdarank, xgboost, lightgbm:ndcg@10, ..."),
    ] = None,
    metrics: Annotated[
        str, typer.Option(help="Comma-separated metrics of the test queries.")
    ] = "auc,mauc,map,mrr,ndcg@1,ndcg@5,ndcg@10",
    folds: Annotated[
        str | None, typer.Option(help="The first so many folds (3), or these (1,4).")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Most boosting rounds.")] = 200,
    seeds: Annotated[str, typer.Option(help="Comma-separated; values are averaged.")] = "0",
    select: Annotated[
        str | None,
        typer.Option(help="Validation metric that chooses parameters; else each method's own."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Fits at a time; 0: one for each core.")] = 0,
    out: Annotated[
        pathlib.Path,
        typer.Option(help="Folder for finished fits, per_query.csv and summary.csv."),
    ] = pathlib.Path("lambdaplus-compare"),
) -> None:
    """Train every method on every fold and show who wins; a second run goes on from the first."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from lambdaplus.comparison import Settings, Study, find_methods, results_table, write_csv
    from lambdaplus.datasets import digits_queries, read_folds
    from lambdaplus.metrics import parse_metric

    console = Console()
    with errors_of("compare"):
        jobs = jobs or os.cpu_count() or 1
        study = Study(
            folds=[],
            methods=find_methods(methods),
            metrics=[parse_metric(name) for name in split_names(metrics) if name],
            settings=Settings(rounds=rounds, threads=max(1, (os.cpu_count() or 1) // jobs)),
            seeds=_seeds(seeds),
            select=None if select is None else str(parse_metric(select)),
            folder=out,
            jobs=jobs,
        )
        if not study.metrics:
            raise ValueError("no metric was named")
        found = digits_queries() if data is None else read_folds(data)
        study.folds = [found[i] for i in _chosen(folds, len(found))]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    stopped = False
    with Progress(*columns, console=console, transient=True) as progress:
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
        console.print(f"Wrote {out / 'per_query.csv'} and {out / 'summary.csv'}.")
    for name, message in study.errors.items():
        console.print(f"{name} failed: {message}", style="red", markup=False)
    if stopped:
        raise typer.Exit(130)
    if study.errors:
        raise typer.Exit(1)


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise ValueError(f"--seeds {text!r} is not a list of whole numbers such as 0,1") from None


def _chosen(folds: str | None, n: int) -> list[int]:
    """Indices of the folds named by ``--folds``."""
    if folds is None:
        return list(range(n))
    try:
        numbers = [int(part) for part in folds.split(",")]
    except ValueError:
        raise ValueError(f"--folds {folds!r} is not a number or a list such as 1,3") from None
    if len(numbers) == 1 and "," not in folds:
        numbers = list(range(1, numbers[0] + 1))
    if not numbers or min(numbers) < 1 or max(numbers) > n:
        raise ValueError(f"--folds {folds!r}: the data has folds 1 to {n}")
    return [number - 1 for number in dict.fromkeys(numbers)]
