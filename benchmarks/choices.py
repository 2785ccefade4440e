"""What the options of an objective do to its own metric, on validation queries.

    python benchmarks/choices.py FOLDER [FOLDER ...] web-search-like:200 [--jobs 2]

LightGBM, with the draws and the rules of `accuracy.py`, but for the objective's options.  Each row
changes one thing about an objective: sigma, the scaling of queries, the damping, or the ranking it
looks at: the mean of its gradients over four rankings with Gumbel noise on the scores ("Which
Tricks Are Important for Learning to Rank?", ICML 2023).
"""

from __future__ import annotations

from typing import Any

from accuracy import command, parser, studies_of
from accuracy_values import ALPHA, METRICS, Values, chosen_values, difference, mean_of
from perturbed import Perturbed
from tables import write

from lambdaplus import lambda_objective
from lambdaplus.comparison import Method
from lambdaplus.comparison.boosting import train_lightgbm
from lambdaplus.comparison.search_space import LIGHTGBM
from lambdaplus.evaluation.tables import Cell, Table

TUNED = {"ndcg@10": "ndcg", "map": "map", "auc": "auc"}  # what is judged: what is trained


def choices(metric: str) -> dict[str, Any]:
    """One change to the default objective in each; the default first."""
    default: Any = lambda_objective(metric)
    damping = 0.01 if default.shape.damping is None else None
    others = {"ndcg": ["ndcg@10"], "map": ["ndcg", "ndcg + map"], "auc": ["map", "ndcg + map"]}
    return {
        "default": default,
        "sigma=0.5": lambda_objective(metric, sigma=0.5),
        "sigma=2": lambda_objective(metric, sigma=2.0),
        "normalize=False": lambda_objective(metric, normalize=False),
        f"damping={damping}": lambda_objective(metric, damping=damping),
        "four rankings, noise 0.3": Perturbed(default, 0.3),
        "four rankings, noise 1": Perturbed(default, 1.0),
    } | {f"as {other}": lambda_objective(other) for other in others[metric]}


def table(values: Values, metric: str, names: list[str], sets: list[str]) -> Table:
    default = f"{metric}, default"
    rows: list[list[Any]] = [
        ["default", *(mean_of(values, default, column) for column in [[s] for s in sets] + [sets])]
    ]
    for name in names[1:]:
        gains = [
            difference(values, f"{metric}, {name}", default, column)
            for column in [[s] for s in sets] + [sets]
        ]
        rows.append([name, *(Cell(str(gain), "*" * (gain.p < ALPHA)) for gain in gains)])
    foot = (f"validation {METRICS[metric]}; below, differences to it; *: p < .05, uncorrected",)
    return Table([metric, *sets, "mean"], rows, foot)


def main() -> None:
    arguments = parser(__doc__, "choices").parse_args()
    options = {judged: choices(trained) for judged, trained in TUNED.items()}
    methods = [
        Method(f"{metric}, {name}", train_lightgbm, objective, metric, space=LIGHTGBM)
        for metric, named in options.items()
        for name, objective in named.items()
    ]
    studies = studies_of(arguments, methods)
    tables = [
        table(chosen_values(studies, metric, "valid"), metric, list(named), list(studies))
        for metric, named in options.items()
    ]
    text = "\n\n".join(
        [
            "# What the options of an objective do to its own metric",
            f"    {command('choices.py', arguments)}",
            *(each.to_markdown() for each in tables),
        ]
    )
    rows = [[list(each.columns), *map(list, each.rows)] for each in tables]
    write(arguments.results, text, rows)
    print(text)


if __name__ == "__main__":
    main()
