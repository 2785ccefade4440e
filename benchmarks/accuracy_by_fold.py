"""Differences of the accuracy study, with their errors over folds instead of queries.

    python benchmarks/accuracy_by_fold.py SET [SET ...] --methods lightgbm [--trials 16] --finished

Arguments are those of `benchmarks/accuracy.py`.  A t-test over queries takes the models of a fold
as given; one over folds includes what another training set and another draw of the trials would
change.  Our objective for each metric is compared with the best of the same framework's own.
"""

from __future__ import annotations

from accuracy import command, contenders, parser, studies_of
from accuracy_values import FRAMEWORKS, METRICS, Gain, fold_means, gains
from tables import Section, show, write


def gain_table(title: str, found: list[Gain], sets: list[str]) -> Section:
    """A row for each metric and framework, a column for each set and their mean."""
    columns = [*sets, "mean"] if len(sets) > 1 else sets
    rows: dict[tuple[str, ...], list[str]] = {}
    for gain in found:
        if gain.on in columns:
            name = f"{METRICS[gain.metric]}, {FRAMEWORKS[gain.framework]}"
            row = (name, gain.ours.partition(":")[2], gain.own.partition(":")[2])
            rows.setdefault(row, []).append(f"{gain.mean:+.4f} ± {gain.error:.4f}, p {gain.p:.2g}")
    heads = ["", "ours", "best of the framework's own", *columns]
    return Section(title, heads, [[*row, *cells] for row, cells in rows.items()])


def main() -> None:
    arguments = parser(__doc__, "accuracy-by-fold").parse_args()
    studies = studies_of(arguments, contenders(arguments.methods))
    sets = list(studies)
    found = gains({metric: fold_means(studies, metric) for metric in METRICS}, sets)
    section = gain_table("Test values over folds", found, sets)
    show([section])
    typed = command("accuracy_by_fold.py", arguments)
    write(
        arguments.results,
        f"    {typed}\n\n{section.table.to_markdown()}",
        [one._asdict() for one in found],
    )


if __name__ == "__main__":
    main()
