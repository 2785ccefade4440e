"""Is the objective for a metric the best one by that metric?

    python benchmarks/accuracy.py FOLDER [FOLDER ...] web-search-like:200 [--trials 16] [--jobs 2]

Our objectives in LightGBM and XGBoost against both frameworks' own and CatBoost's (`pip install
--group benchmarks`; left out where it is missing), by `lambdaplus compare --trials`, once for each
set: every method has the same number of draws, and trial and round are chosen on the validation
queries of a fold, for each metric apart.  Finished trainings are kept, and the same command goes on
from there, also with more trials or seeds.  Results go to `benchmarks/results/accuracy.md` and
`.json`; the report of each set, with what was chosen, lies where its trainings are kept.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
from collections.abc import Sequence

from accuracy_page import write_page
from accuracy_values import METRICS
from rich.console import Console

from lambdaplus.cli.running import progress_on
from lambdaplus.study import Config, Method, Study, find_methods, write_report

RESULTS = pathlib.Path(__file__).parent / "results"


def contenders(names: str | None) -> list[Method]:
    """Boosted trees of the frameworks that are installed, or those that are named."""
    return [
        method
        for method in find_methods(names)
        if importlib.util.find_spec(method.family) and not method.name.endswith("lambda_mauc")
    ]


def parser(about: str, results: str) -> argparse.ArgumentParser:
    """The options of a study."""
    found = argparse.ArgumentParser(description=about.splitlines()[0])
    found.add_argument("sets", nargs="+", help="folders of LETOR folds, or web-search-like:N")
    found.add_argument("--methods", help="as of `lambdaplus compare`; all boosted trees without it")
    found.add_argument("--seeds", type=int, default=3)
    found.add_argument("--trials", type=int, default=16)
    found.add_argument("--rounds", type=int, default=1000)
    found.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    found.add_argument("--kept", type=pathlib.Path, default=pathlib.Path("accuracy-kept"))
    found.add_argument(
        "--finished", action="store_true", help="train nothing more: the page of what is kept"
    )
    found.add_argument(
        "--results", type=pathlib.Path, default=RESULTS / results, help="without a suffix"
    )
    return found


def studies_of(arguments: argparse.Namespace, methods: Sequence[Method]) -> dict[str, Study]:
    """A study of each set, by its name, run to its end."""
    found = {}
    for data in arguments.sets:
        name = pathlib.Path(data).name.partition(":")[0]
        config = Config(
            data=str(data),
            metrics=tuple(METRICS),
            seeds=tuple(range(arguments.seeds)),
            trials=arguments.trials,
            rounds=arguments.rounds,
        )
        found[name] = config.study(arguments.kept / name, arguments.jobs)
        found[name].methods = list(methods)
    if arguments.finished:
        for study in found.values():
            study.finished |= {t.key for t in study.tasks if study.store.path(t.key).exists()}
        return found
    with progress_on(Console(stderr=True)) as progress:
        bar = progress.add_task("trainings", total=sum(map(len, found.values())))
        for name, study in found.items():
            progress.update(bar, description=name)
            study.finish(lambda _: progress.advance(bar))
    return found


def command(script: str, arguments: argparse.Namespace) -> str:
    """What to type for the same results."""
    sets = (pathlib.Path(a).name if os.path.isdir(a) else a for a in arguments.sets)
    named = f" --methods {arguments.methods}" if arguments.methods else ""
    return (
        f"python benchmarks/{script} {' '.join(sets)} --seeds {arguments.seeds} "
        f"--trials {arguments.trials} --rounds {arguments.rounds}{named}"
    )


def main() -> None:
    arguments = parser(__doc__, "accuracy").parse_args()
    if not importlib.util.find_spec("catboost"):
        Console(stderr=True).print("CatBoost is left out: pip install --group benchmarks brings it")
    studies = studies_of(arguments, contenders(arguments.methods))
    for name, study in studies.items():
        write_report(study.results, arguments.kept / name)
    print(write_page(studies, command("accuracy.py", arguments), arguments.results))


if __name__ == "__main__":
    main()
