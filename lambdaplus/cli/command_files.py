"""Files that commands read and write: runs, output files, and error messages."""

import os
import pathlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from lambdaplus.compute.arguments import printable, refuse_missing
from lambdaplus.data import Run
from lambdaplus.data.whole_files import written_whole

DataFile = Annotated[
    pathlib.Path | None,
    typer.Option(help="LETOR or svmlight file with the labels and queries of the scores."),
]
Qrels = Annotated[
    pathlib.Path | None, typer.Option(help="TREC, MS MARCO or BEIR file with the judgements.")
]
Columns = Annotated[
    str,
    typer.Option(
        help="Columns of CSV and Parquet files: qid, label, score[, docno]. qid is none: the table "
        "has no queries, and all rows are one ranking."
    ),
]
COLUMNS = "qid,label,score"


@contextmanager
def errors_of(command: str) -> Iterator[None]:
    """Print an error message and exit with code 2 instead of showing a traceback."""
    try:
        yield
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()  # so that the error of a full disk is raised here
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        raise
    except (ValueError, OSError, ImportError, MemoryError) as error:
        typer.echo(printable(f"lambdaplus {command}: {error}"), err=True)
        raise typer.Exit(2) from None


def refuse_overwriting(out: pathlib.Path, inputs: Iterable[pathlib.Path | None]) -> None:
    """Raise a ValueError if the output file is an input, possibly under another name."""
    for file in inputs:
        if file is not None and file.exists() and out.exists() and out.samefile(file):
            raise ValueError(
                f"{out} is an input of this command and would be overwritten: pass another file"
            )


def write_whole(file: pathlib.Path, text: str) -> None:
    """Write a file completely or, if that fails, leave the old one unchanged."""
    if file.exists() and not file.is_file():  # such as /dev/stdout, which may be a pipe
        file.write_text(text, encoding="utf-8", newline="")
        return
    target = pathlib.Path(os.path.realpath(file))  # a link is kept
    if not target.parent.is_dir():
        raise OSError(f"could not write {file}: No such file or directory")
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    with written_whole(target) as part:
        part.write_text(text, encoding="utf-8", newline="")
        if mode is not None:
            part.chmod(mode)


def read_runs(
    files: list[pathlib.Path],
    data: pathlib.Path | None,
    qrels: pathlib.Path | None,
    columns: str,
) -> dict[str, Run]:
    """Read runs by name: scores for a LETOR file, TREC runs with qrels, or CSV and Parquet."""
    from lambdaplus.data import read_letor, read_qrels, read_scores, read_table, read_trec_run
    from lambdaplus.data.table_files import KINDS, NO_QUERIES, NoColumnError, table_kind

    for file in (*files, data, qrels):
        if file is not None:
            refuse_missing(file)
    if data is not None and qrels is not None:
        raise ValueError("pass either --data (LETOR) or --qrels (TREC), not both")
    if columns != COLUMNS and not (data is None and qrels is None):
        raise ValueError("--columns is for CSV and Parquet files, not for --data and --qrels")
    runs: list[Run] = []
    if data is not None:
        documents = read_letor(data)
        runs = [read_scores(file, documents) for file in files]
    elif qrels is not None:
        judged = read_qrels(qrels)
        runs = [read_trec_run(file, judged) for file in files]
    else:
        names = [name.strip() for name in columns.split(",")]
        if len(names) not in (3, 4) or len(set(names)) < len(names):
            raise ValueError(
                "--columns needs the names of three different columns for qid, label and score, "
                "and optionally that of docno"
            )
        docno = names[3] if len(names) == 4 else None
        for file in files:
            if not table_kind(file):
                raise ValueError(
                    f"{file} is not {KINDS}: pass --data for a file with one score "
                    "per line, or --qrels for a TREC run"
                )
            qid = None if names[0] == NO_QUERIES else names[0]
            try:
                run = read_table(file, qid=qid, label=names[1], score=names[2], docno=docno)
            except NoColumnError as error:
                raise ValueError(
                    f"{error} in the order of qid, label, score, such as --columns "
                    "query,grade,score, or --columns none,label,score if there are no queries"
                ) from None
            runs.append(run)
    alike = len({run.name for run in runs}) < len(runs)
    by_name = {str(file) if alike else run.name: run for file, run in zip(files, runs, strict=True)}
    if len(by_name) < len(files):
        raise ValueError("a run is given twice")
    return by_name
