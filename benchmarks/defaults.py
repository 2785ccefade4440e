"""Which options should our objectives have by default?

    python benchmarks/defaults.py train FOLDER [FOLDER ...] [--draws 0 5]
    python benchmarks/defaults.py tables FOLDER [FOLDER ...]

The rule: the cheapest option within one standard error of the best on validation queries, over both
frameworks.  Each FOLDER is a set in LETOR's layout.  A set counts by the root of its number of
queries, and half as much if its name starts with "generated" (`generated_folds.py` writes them).
`defaults_trainings.py` describes the trainings; `balance.py` chooses for data without queries.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import warnings
from typing import Any, NamedTuple

import contenders
import numba
import numpy as np
import pandas as pd
from defaults_trainings import DAMPED, NATIVE, OURS, kept_in, objective, train_all
from tables import RESULTS, Section, show, write

from lambdaplus.datasets import read_folds

FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}


class Decision(NamedTuple):
    """Options that are compared by a metric."""

    title: str
    metric: str
    options: list[str]


def decisions() -> list[Decision]:
    found = [
        Decision(f"{m.upper()} without a cutoff", m, [m + shape for shape in DAMPED])
        for m in ("map", "ndcg", "auc")
    ]
    for metric, base in {"ndcg@10": "ndcg", "ndcg@5": "ndcg", "map@5": "map"}.items():
        without = [base + shape for shape in DAMPED]
        options = [metric, f"{metric}, noise", *without, f"{base} + auc", "auc", "auc, damping"]
        found.append(Decision(metric.upper(), metric, options))
    any_of = [m + shape for m in ("map", "ndcg", "auc") for shape in DAMPED]
    found.append(Decision("P@5", "p@5", ["p@5", "p@5, noise", *any_of]))
    sums = ["mrr", "mrr, noise", "mrr + auc", "mrr + map", "map + auc", "ndcg + auc"]
    found.append(Decision("MRR", "mrr", [*sums, *any_of]))
    found.append(Decision("Success@1", "success@1", ["success@1, noise", *sums, *any_of]))
    return found


def prices(names: list[str], kept: pathlib.Path) -> dict[str, list[float]]:
    """Nanoseconds a row of a gradient, in MSLR's shape and in short queries, on one thread."""
    if kept.exists():
        return json.loads(kept.read_text())
    found: dict[str, list[float]] = {}
    for shape in (contenders.web_search(2000), contenders.short_queries(200_000)):
        ours = {name: objective(name) for name in names}
        for name, ms in contenders.milliseconds(shape, 9, 1, ours=ours).items():
            short = name.removeprefix("lambdaplus ").removeprefix("LightGBM ")
            short = short.removeprefix("XGBoost ")
            found.setdefault(short, []).append(1e6 * ms / shape.labels.size)
    kept.write_text(json.dumps(found, indent=1) + "\n")
    return found


def weights_of(folders: list[str]) -> dict[str, float]:
    """Of each set: the root of its number of queries, half as much if it is generated."""
    found = {}
    for folder in folders:
        name = pathlib.Path(folder).name
        queries = sum(fold.valid.group.size for fold in read_folds(pathlib.Path(folder)))
        found[name] = queries**0.5 * (0.5 if name.startswith("generated") else 1.0)
    return found


def mean_and_error(values: pd.Series, of_set: dict[str, float]) -> tuple[float, float]:
    """Weighted mean over pairs of a set and a draw, and its standard error."""
    sets = values.index.get_level_values("set")
    weight = np.array([of_set[name] / np.sum(sets == name) for name in sets])
    weight /= weight.sum()
    mean, n = float(weight @ values), len(values)
    return mean, float(np.sqrt((weight**2 * (values - mean) ** 2).sum() * n / (n - 1)))


def signed(value: float, error: float | None = None) -> str:
    text = f"{value:+.4f}" + ("" if error is None else f" ± {error:.4f}")
    text = text.replace("0.", ".")
    return f"**{text}**" if error is not None and abs(value) > 2 * error > 0 else text


def section_of(
    decision: Decision, done: pd.DataFrame, of_set: dict[str, float], price: dict[str, list[float]]
) -> tuple[Section, dict[str, Any]]:
    """The table of a decision, in the order of price, and what the rule picks."""
    wide = done[done.metric == decision.metric]
    wide = wide.pivot(index=["set", "draw"], columns=["framework", "name"], values="value")
    ours = {framework: wide[framework][decision.options] for framework in NATIVE}
    both = sum(ours.values()) / len(ours)
    both = both[both.notna().all(axis=1)]
    means = {name: mean_and_error(both[name], of_set)[0] for name in decision.options}
    best = max(means, key=means.__getitem__)
    less = {name: mean_and_error(both[name] - both[best], of_set) for name in decision.options}
    cheapest = sorted(decision.options, key=lambda name: sum(price[name]))
    chosen = next(name for name in cheapest if less[name][0] >= -less[name][1])
    rows = []
    for name in [*cheapest, *itertools.chain(*NATIVE.values())]:
        where = [f for f in NATIVE if (f, name) in wide.columns]
        gain = sum(wide[f][name] - wide[f][best] for f in where) / len(where)
        gain = gain[gain.index.isin(both.index) & gain.notna()]
        alone = [
            signed(mean_and_error((wide[f][name] - wide[f][best]).dropna(), of_set)[0])
            if f in where else "" for f in NATIVE
        ]  # fmt: skip
        by_set = [signed(gain.xs(one, level="set").mean()) for one in of_set]
        of_name = done[(done.metric == decision.metric) & (done.name == name)]
        rows.append([
            f"{name} (chosen)" if name == chosen else f"{name} (best)" if name == best else name,
            " / ".join(f"{ns:.0f}" for ns in price[name]), *by_set, *alone,
            signed(*mean_and_error(gain, of_set)), f"{of_name['round'].mean():.0f}",
        ])  # fmt: skip
    beside = [
        f"{own} {signed(*mean_and_error((wide[f][chosen] - wide[f][own]).dropna(), of_set))}"
        for f in NATIVE for own in NATIVE[f]
    ]  # fmt: skip
    note = (
        f"validation {decision.metric} less that of {best} ({means[best]:.4f}); ns: of a gradient, "
        f"a row, MSLR's shape and short queries; errors over {len(both)} pairs of a set and a "
        f"draw; round: of the best window. {chosen} less the framework's own: {', '.join(beside)}"
    )
    columns = ["", "ns", *of_set, *FRAMEWORKS.values(), "mean", "round"]
    numbers = {"chosen": chosen, "best": best, "mean": means, "less the best": less}
    return Section(decision.title, columns, rows, note), numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("train", "tables"))
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--draws", type=int, nargs=2, default=(0, 5), help="first and last + 1")
    parser.add_argument("--names", nargs="+", default=list(OURS))
    parser.add_argument("--kept", type=pathlib.Path, default=pathlib.Path("defaults.jsonl"))
    parser.add_argument("--prices", type=pathlib.Path, default=pathlib.Path("prices.json"))
    given = parser.parse_args()
    numba.set_num_threads(1)
    warnings.filterwarnings("ignore", "Overriding|Found")
    if given.what == "train":
        train_all(given.folders, range(*given.draws), given.names, given.kept)
        return
    of_set, price = weights_of(given.folders), prices(list(OURS), given.prices)
    done = pd.DataFrame([
        (*training, metric, value, at)
        for training, one in kept_in(given.kept).items()
        for metric, (value, at) in one["best"].items()
    ], columns=["framework", "name", "set", "draw", "metric", "value", "round"])  # fmt: skip
    made = [section_of(decision, done, of_set, price) for decision in decisions()]
    show([section for section, _ in made])
    text = "\n\n".join(section.markdown() for section, _ in made)
    write(RESULTS / "defaults", text, {s.title: numbers for s, numbers in made})


if __name__ == "__main__":
    main()
