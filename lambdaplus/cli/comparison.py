"""What ``lambdaplus compare`` does with its options: reads, trains, and shows the results."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from lambdaplus.cli.config_options import parsed
from lambdaplus.cli.terminal import Terminal, errors_of, run_with_progress, warnings_told
from lambdaplus.compute.parallel import usable_cores
from lambdaplus.data.model_folder import NAMES
from lambdaplus.data.model_program import PROGRAM
from lambdaplus.data.output_folder import OutputFolder, refuse_link
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.study import (
    Config,
    Study,
    Summary,
    results_table,
    study_of,
    write_report,
    write_tables,
)
from lambdaplus.study.advice import advice
from lambdaplus.study.plot_style import needs_matplotlib
from lambdaplus.study.probabilities import probabilities_in_words
from lambdaplus.study.summary_tables import verdict_table
from lambdaplus.study.words import count, label, range_of

DIGITS = "built-in images of handwritten digits; images of the digit in the query are relevant"
NO_EVIDENCE = (
    "Handwritten digits are few, and their labels are clean: this shows how methods are compared, "
    "and is no evidence for your data. Pass your own, or see the page Evidence of the "
    "documentation for results on public ranking data."
)
NEXT = (
    "Next:",
    "  your own file     lambdaplus compare FILE --report",
    "  one objective     lambdaplus compare FILE --methods lightgbm:lambdarank,lightgbm:map",
    "  a saved model     lambdaplus compare FILE --save-model model",
)
TABLES = ("per_query.csv", "per_query.parquet", "summary.csv", "choices.csv")


def compare_and_show(
    data: Path | None,
    options: Mapping[str, Any],
    *,
    save_model: Path | None,
    method: str,
    report: bool,
    jobs: int,
    out: Path,
) -> None:
    """Compare, with the fields of `Config` that are set among ``options``."""
    console = Terminal()
    cores = usable_cores()
    with errors_of("compare"):
        if report:
            needs_matplotlib()  # raise its error before the first fit, not after the last
        asked = {k: parsed(k, value) for k, value in options.items() if value is not None}
        if data is not None and data.suffix == ".toml":
            config = Config.read(data, **asked)
        else:
            config = Config(data=str(data or ""), **asked)
        jobs = jobs or cores
        with warnings_told(console), console.status("Reading the data ..."):
            study = study_of(config, out, jobs, threads=max(1, cores // jobs))
        inputs = [path for path in (data, Path(config.data)) if path and path.is_file()]
        if method and save_model is None:
            raise ValueError("--method is for --save-model, and --methods for what is compared")
        if save_model is not None:
            _check_model(study, save_model, method, out)  # before the first fit, not after the last
        try:
            summary = _run(study, out, inputs, report, console)
        except KeyboardInterrupt:
            console.print(
                f"Stopped after {len(study.finished)} of {len(study)} fits, which are kept in "
                f"{out}: the same command continues from there."
            )
            raise typer.Exit(128 + signal.SIGINT) from None  # which shells use for a signal
        if save_model is not None:  # also if another method failed
            _save_model(study, save_model, method, summary, console)
        if summary and (conclusion := summary.conclusion()):
            console.print(conclusion)
        if summary and not study.config.data:
            for line in NEXT:
                console.print(line, soft_wrap=True)  # commands are copied
    if study.errors:
        raise typer.Exit(1)


def _check_model(study: Study, folder: Path, method: str, out: Path) -> None:
    if folder.resolve() == out.resolve():
        raise ValueError(f"{folder} is --out: pass another folder, such as {folder / 'model'}")
    study.saveable(method)
    with OutputFolder(folder) as output:
        output.refuse_foreign(NAMES)


def _save_model(
    study: Study, folder: Path, method: str, summary: Summary | None, console: Terminal
) -> None:
    with console.status("Training on all queries ..."):
        final = study.save_model(folder, method)
    name, program = final.task.method.name, folder / PROGRAM
    why = "Validation data chose it among the methods that can be saved"
    if summary and name in summary.favoured[:1]:
        why = "The conclusion below is about it"
    chosen = "" if method else f" {why}; --method saves another."
    bounds = "" if math.isnan(final.interval[0]) else f" (95 % interval {range_of(final.interval)})"
    console.print(
        f"Model: {name}, trained again on all data, for {final.rounds} rounds (the mean of the "
        f"folds). Expected {label(final.metric)}: {decimal(final.value)}{bounds}.{chosen}"
    )
    how_good = probabilities_in_words(final.probabilities)
    console.print(f"Its numbers are {final.scores}. {how_good}".rstrip())
    option = "" if isinstance(final.probabilities, str) else " [--probabilities]"
    console.print(
        f"Saved to {folder}. Scores of new rows: lambdaplus predict {folder} FILE{option}; without "
        f"lambdaplus: python {program} FILE{option}.",
        soft_wrap=True,  # commands are copied
    )


def _run(
    study: Study, out: Path, inputs: list[Path], report: bool, console: Terminal
) -> Summary | None:
    """Fit, write the results and print them; None if no fit has finished."""
    config, summary = study.config, None
    shown = config.data or DIGITS
    with OutputFolder(out, inputs) as folder:
        made = folder.made
        # Raise this error before the first fit, not after the last.
        folder.refuse_foreign([*TABLES, *(["report.html"] if report else [])])
        refuse_link(out / "plots")
        (made / "study.toml").write_text(config.to_toml() + "\n", encoding="utf-8")
        folder.refuse_foreign(["study.toml"])
        console.print(f"Data: {shown}")
        for line in study.notes:
            is_command = "lambdaplus compare" in line  # which is copied
            console.print(f"  {line}", soft_wrap=is_command)
        if study.memory.is_large:
            console.print(study.memory.in_words)
        if unused := study.unused:
            console.print(
                f"None of the {count(unused, 'fit')} in {out} is used: they are of other data, "
                "options or versions."
            )
        with warnings_told(console):
            run_with_progress(study, console)
        if study.finished:
            summary = Summary(study.results)
            with console.status("Testing significance ..."):
                # What is printed: the best methods, then the means with their notes.
                tables = filter(None, (verdict_table(summary), results_table(summary)))
                lines = [*tables, *summary.decision(), *advice(summary, study)]
            write_tables(summary.results, made)
            folder.publish()  # whatever happens to the report
            if report:
                date = time.strftime("%Y-%m-%d")
                with warnings_told(console), console.status("Writing the report ..."):
                    write_report(
                        summary, made, config.to_toml(), data=shown, date=date, study=study
                    )
                folder.publish(outdated=["plots/*.png", "plots/*.svg"])
    if summary:  # printed only now, since a reader such as head may stop reading
        for shown_line in lines:
            console.print(shown_line)
        if shown == DIGITS:
            console.print(NO_EVIDENCE)
        what = ", study.toml and plots" if report else " and study.toml"
        console.print(f"Wrote {', '.join(TABLES)}{what} to {out}.")
        if report:
            console.print(f"Report: {out / 'report.html'}")
    for name, message in study.errors.items():
        console.print(f"{name} failed: {message}", style="red")
    return summary
