"""Which `balance` should objectives have for data without queries?

    python benchmarks/balance.py train [--draws 0 1] [--sets movielens]
    python benchmarks/balance.py tables [--draws 0 1 3]

Log-loss, `lambda_auc` and `lambda_map` with other exponents of
`lambdaplus.lambda_objective`, each with the same settings of learning rate and trees
(`TREES`); the value is that of the best setting and round on validation rows, every fifth round.
No test row is read: a fifth of the rows, those that `imbalanced.py` tests on, are left out.  The
sets are those of `imbalanced_data.py`: twenty small ones, and six of 100,000 to 150,000 rows, two
of them generated.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import time
import warnings
from functools import lru_cache
from typing import Any

import imbalanced
import imbalanced_data
import numba
import numpy as np
import pandas as pd
from tables import RESULTS, Section, show, write

EVERY = 5
USUAL = {"features": 0.8, "least rows": 100, "l2": 1.0, "least Hessian": 0.03}
TREES: list[dict[str, Any]] = [  # the shorter the steps, the more rounds
    {"rounds": 250, "leaves": 18, "rate": 0.1446, "features": 0.4099, "least rows": 10,
     "l2": 0.01327, "least Hessian": 1.565},
    {"rounds": 500, "leaves": 31, "rate": 0.05, **USUAL},
    {"rounds": 800, "leaves": 31, "rate": 0.02, **USUAL},
    {"rounds": 250, "leaves": 15, "rate": 0.1, **USUAL, "least rows": 10},
    {"rounds": 250, "leaves": 6, "rate": 0.05, **USUAL, "least rows": 3},
]  # fmt: skip
GENERATED = ("interaction", "clusters")
SETS = {"large": list(imbalanced_data.LARGE), "small": list(imbalanced_data.SETS)}
BALANCES = (0, 0.25, 0.5, 1)
LOSSES = [
    "log-loss", *(f"lambda_{m}, balance {b}" for m in ("auc", "map") for b in BALANCES),
    "log-loss + auc", "log-loss + map",
]  # fmt: skip


@lru_cache(1)
def train_and_valid(name: str) -> Any:
    X, y = imbalanced_data.read(name, imbalanced.at_most(name))
    return imbalanced.splits_of(X, y)[0][:2]


def kept_in(path: pathlib.Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The finished trainings of a file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {tuple(one["training"]): one for one in map(json.loads, lines)}


def train_all(
    names: list[str], frameworks: list[str], losses: list[str], draws: list[int], kept: pathlib.Path
) -> None:
    done = kept_in(kept)
    for draw, name in itertools.product(draws, names):
        for framework, loss in itertools.product(frameworks, losses):
            key = framework, loss, name, draw
            if key in done:
                continue
            train, valid = train_and_valid(name)
            start, watch = time.process_time(), imbalanced.Watch(valid[1], EVERY)
            trees = TREES[draw] | {"seed": draw}
            fit = imbalanced.FRAMEWORKS[framework]
            fit(loss, trees, train, trees["rounds"], watch, valid)
            line = {"training": key, "best": watch.best, "s": time.process_time() - start}
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


# Tables -------------------------------------------------------------------------------------------


def weight_of(name: str) -> float:
    """The root of the number of rows, half as much for generated sets."""
    rows = imbalanced.AT_MOST if name in imbalanced_data.SETS else imbalanced.AT_MOST_LARGE
    return rows**0.5 * (0.5 if name in GENERATED else 1.0)


def mean_and_error(values: pd.Series) -> tuple[float, float]:
    """Weighted mean over sets, and its standard error."""
    weight = np.array([weight_of(name) for name in values.index])
    weight /= weight.sum()
    mean, n = float(weight @ values), len(values)
    return mean, float(np.sqrt((weight**2 * (values - mean) ** 2).sum() * n / (n - 1)))


def signed(value: float, error: float | None = None) -> str:
    text = f"{value:+.4f}" + ("" if error is None else f" ± {error:.4f}")
    text = text.replace("0.", ".")
    return f"**{text}**" if error is not None and abs(value) > 2 * error else text


def section_of(done: pd.DataFrame, metric: str, framework: str) -> tuple[Section, Any]:
    """Values of log-loss, and differences to it: the large sets, the small ones, all of them."""
    of = done[(done.metric == metric) & (done.framework == framework)]
    best = of.groupby(["set", "loss"])["value"].max().unstack()
    mine = [x for x in LOSSES if x in best and (x.endswith(metric) or f"_{metric}," in x)]
    best = best[["log-loss", *mine]].dropna()
    gain = best.sub(best["log-loss"], axis=0)
    large = [name for name in SETS["large"] if name in best.index]
    small = [name for name in SETS["small"] if name in best.index]
    rows = [["log-loss", *(f"{best['log-loss'][name]:.4f}" for name in large)]]
    rows[0] += [f"{best.loc[names, 'log-loss'].mean():.4f}" if names else "" for names in (small,)]
    rows[0] += [f"{mean_and_error(best['log-loss'])[0]:.4f}"]
    for loss in mine:
        few = [signed(*mean_and_error(gain.loc[small, loss])) if small else ""]
        every = signed(*mean_and_error(gain[loss]))
        rows.append([loss, *(signed(gain[loss][name]) for name in large), *few, every])
    columns = ["", *large, f"{len(small)} small sets", "all"]
    what = imbalanced.METRICS[metric]
    note = f"validation {what} of log-loss, and what others have more; errors over sets"
    return Section(f"{what} in {framework}", columns, rows, note), gain[mine].to_dict()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("train", "tables"))
    parser.add_argument("--sets", nargs="+", default=list(itertools.chain(*SETS.values())))
    parser.add_argument("--draws", type=int, nargs="+", default=(0, 1, 3), help="which of TREES")
    parser.add_argument("--losses", nargs="+", default=LOSSES)
    parser.add_argument("--frameworks", nargs="+", default=list(imbalanced.FRAMEWORKS))
    parser.add_argument("--kept", type=pathlib.Path, default=pathlib.Path("balance.jsonl"))
    given = parser.parse_args()
    numba.set_num_threads(1)
    warnings.filterwarnings("ignore", "Found")
    if given.what == "train":
        train_all(given.sets, given.frameworks, given.losses, given.draws, given.kept)
        return
    done = pd.DataFrame([
        (*training, metric, value, at)
        for training, one in kept_in(given.kept).items()
        for metric, (value, at) in one["best"].items()
    ], columns=["framework", "loss", "set", "draw", "metric", "value", "round"])  # fmt: skip
    done = done[done.draw.isin(given.draws)]
    which = itertools.product(("map", "auc"), imbalanced.FRAMEWORKS)
    made = [section_of(done, *one) for one in which]
    show([section for section, _ in made])
    text = "\n\n".join(section.markdown() for section, _ in made)
    write(RESULTS / "balance", text, {section.title: numbers for section, numbers in made})


if __name__ == "__main__":
    main()
