"""Which options should our objectives have by default?

    python benchmarks/defaults.py train FOLDER [FOLDER ...] [--draws 0 5]
    python benchmarks/defaults.py tables FOLDER [FOLDER ...]

The rule: the cheapest option within one standard error of the best on validation queries, over both
frameworks.  Tables mark what it picks of all options, "rule", and of those whose gradient costs at
most `AT_MOST` of lambdarank's, "chosen"; options with fewer pairs than others are shown only.  Each
FOLDER is a set in LETOR's layout.  A set counts by the root of its number of
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

from lambdaplus.data import read_folds

FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}


AT_MOST = (0.6, 0.9)  # of lambdarank's price, in MSLR's shape and in short queries
WITHOUT_CUTOFF, POOLED = ("map", "ndcg", "auc"), "each"


class Decision(NamedTuple):
    """Options that are compared by a metric."""

    title: str
    metric: str
    options: list[str]


def decisions() -> list[Decision]:
    found = [
        Decision(f"{m.upper()} without a cutoff", m, [m + shape for shape in DAMPED])
        for m in WITHOUT_CUTOFF
    ]
    found.append(Decision("The mean of the three", POOLED, [POOLED + shape for shape in DAMPED]))
    for metric, base in {"ndcg@10": "ndcg", "ndcg@5": "ndcg", "map@5": "map"}.items():
        without = [base + shape for shape in DAMPED]
        options = [metric, f"{metric}, noise", *without, f"{base} + auc", "auc", "auc, damping"]
        found.append(Decision(metric.upper(), metric, options))
    any_of = [m + shape for m in WITHOUT_CUTOFF for shape in DAMPED]
    found.append(Decision("P@5", "p@5", ["p@5", "p@5, noise", *any_of]))
    sums = [
        "mrr",
        "mrr, noise",
        "ndcg@10, noise",
        "mrr + auc",
        "mrr + map",
        "map + auc",
        "ndcg + auc",
    ]
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


def with_means(done: pd.DataFrame, price: dict[str, list[float]]) -> pd.DataFrame:
    """Also the mean of the three metrics without a cutoff, each by its own objective."""
    parts = []
    for metric in WITHOUT_CUTOFF:
        renamed = {metric + shape: POOLED + shape for shape in DAMPED}
        own = {name: name for names in NATIVE.values() for name in names}
        of = done[(done.metric == metric) & done.name.isin([*renamed, *own])]
        parts.append(of.assign(name=of.name.map(renamed | own), metric=POOLED))
    for shape in DAMPED:
        price[POOLED + shape] = np.mean([price[m + shape] for m in WITHOUT_CUTOFF], axis=0).tolist()
    found = pd.concat(parts).groupby(["framework", "name", "set", "draw", "metric"])
    whole = found.mean()[found.size() == len(WITHOUT_CUTOFF)].reset_index()
    return pd.concat([done, whole])


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


def dear(price: dict[str, list[float]], name: str) -> bool:
    """Whether a gradient takes longer than a default may, in MSLR's shape or in short queries."""
    ratios = np.divide(price[name], price["lambdarank"])
    return bool((ratios > AT_MOST).any())


def chosen_of(
    both: pd.DataFrame, names: list[str], of_set: dict[str, float], price: dict[str, list[float]]
) -> tuple[dict[str, tuple[float, float]], str, str]:
    """Differences to the best of some options, which is the best, and which the rule picks."""
    usual = both[names].notna().sum().idxmax()  # some have fewer pairs: over those they share
    best = max(names, key=lambda name: mean_and_error((both[name] - both[usual]).dropna(), of_set))
    less = {name: mean_and_error((both[name] - both[best]).dropna(), of_set) for name in both}
    cheapest = sorted(names, key=lambda name: sum(price[name]))
    return less, best, next(name for name in cheapest if less[name][0] >= -less[name][1])


def section_of(
    decision: Decision, done: pd.DataFrame, of_set: dict[str, float], price: dict[str, list[float]]
) -> tuple[Section, dict[str, Any]]:
    """The table of a decision, in the order of price, and what the rule picks."""
    wide = done[done.metric == decision.metric]
    wide = wide.pivot(index=["set", "draw"], columns=["framework", "name"], values="value")
    ours = {framework: wide[framework][decision.options] for framework in NATIVE}
    both = sum(ours.values()) / len(ours)
    whole = [name for name in both if both[name].notna().sum() >= 0.8 * both.notna().sum().max()]
    cheap = [name for name in whole if not dear(price, name)]
    less, best, chosen = chosen_of(both, whole, of_set, price)
    _, _, cheaply = chosen_of(both, cheap, of_set, price)
    marks = {best: " (best)", chosen: " (rule)"}
    marks[cheaply] = f"{marks.get(cheaply, '')} (chosen)"
    cheapest = sorted(decision.options, key=lambda name: sum(price[name]))
    rows = []
    for name in [*cheapest, *itertools.chain(*NATIVE.values())]:
        where = [f for f in NATIVE if (f, name) in wide.columns]
        gain = sum(wide[f][name] - wide[f][best] for f in where) / len(where)
        gain = gain.dropna()
        alone = [
            signed(mean_and_error((wide[f][name] - wide[f][best]).dropna(), of_set)[0])
            if f in where else "" for f in NATIVE
        ]  # fmt: skip
        sets = gain.index.get_level_values("set")
        by_set = [signed(gain[sets == one].mean()) if one in sets else "" for one in of_set]
        of_name = done[(done.metric == decision.metric) & (done.name == name)]
        rows.append([
            name + marks.get(name, ""),
            " / ".join(f"{ns:.0f}" for ns in price[name]), *by_set, *alone,
            signed(*mean_and_error(gain, of_set)), f"{len(gain)}", f"{of_name['round'].mean():.0f}",
        ])  # fmt: skip
    beside = [
        f"{own} {signed(*mean_and_error((wide[f][cheaply] - wide[f][own]).dropna(), of_set))}"
        for f in NATIVE for own in NATIVE[f]
    ]  # fmt: skip
    note = (
        f"validation {decision.metric} less that of {best}; ns: of a gradient, a row, MSLR's shape "
        f"and short queries; errors over pairs of a set and a draw; round: of the best window. "
        f"{cheaply} less the framework's own: {', '.join(beside)}"
    )
    columns = ["", "ns", *of_set, *FRAMEWORKS.values(), "mean", "pairs", "round"]
    numbers = {"best": best, "rule": chosen, "chosen": cheaply, "less the best": less}
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
    done = with_means(done, price)
    made = [section_of(decision, done, of_set, price) for decision in decisions()]
    show([section for section, _ in made])
    text = "\n\n".join(section.markdown() for section, _ in made)
    write(RESULTS / "defaults", text, {s.title: numbers for s, numbers in made})


if __name__ == "__main__":
    main()
