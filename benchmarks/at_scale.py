"""Time and peak memory of large trainings with our objectives and the frameworks' own.

    python benchmarks/at_scale.py [--queries 31000] [--rows 10000000] [--rounds 20] [--threads 2]
        [--folder build/at-scale] [--only "LightGBM, lambdarank"]

Data: queries of the number and size of MSLR-WEB30K's (`web_search_like`), and rows without queries,
1 % positive.  Each training runs once, in a process of its own, from features in a file; the peak
is the largest resident memory of that process, features included.  Finished trainings are kept in
--folder, from which the same command continues; --only runs those whose names begin so.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost
from tables import keep
from training import rare_rows
from web_search import web_search_like

import lambdaplus as lp
from lambdaplus.evaluation import Table

PART = 1_000  # queries that are generated at a time
FEATURES = {"queries": 136, "table": 20}
OWN = {
    ("LightGBM", "queries"): "lambdarank",
    ("XGBoost", "queries"): "rank:ndcg",
    ("LightGBM", "table"): "binary",
    ("XGBoost", "table"): "binary:logistic",
}
OURS = {"queries": ("lambda_ndcg",), "table": ("lambda_auc", "lambda_map")}


def write_data(kind: str, size: int, folder: Path) -> None:
    """Write features (float32), labels and, with queries, their sizes, in parts."""
    features, labels, group = folder / f"{kind}.f32", [], []
    if (folder / f"{kind}-labels.npy").exists():
        return
    with features.open("wb") as file:
        if kind == "queries":
            for first in range(0, size, PART):
                part = web_search_like(min(PART, size - first), random_state=first)
                part.features.astype(np.float32).tofile(file)
                labels.append(part.labels)
                group.append(part.group)
        else:
            for seed in range(10):
                x, y = rare_rows(size // 10, seed)
                x.tofile(file)
                labels.append(y)
    np.save(folder / f"{kind}-sizes.npy", np.concatenate(group) if group else np.empty(0, int))
    np.save(folder / f"{kind}-labels.npy", np.concatenate(labels))


def train(framework: str, kind: str, name: str, given: argparse.Namespace) -> dict[str, float]:
    """Train in this process; seconds of preparing the data and of the rounds, and peak memory."""
    labels = np.load(given.folder / f"{kind}-labels.npy")
    sizes = np.load(given.folder / f"{kind}-sizes.npy")
    group = sizes if sizes.size else None
    x = np.fromfile(given.folder / f"{kind}.f32", np.float32).reshape(-1, FEATURES[kind])
    ours, start = getattr(lp, name, None), time.perf_counter()
    model: Any
    if framework == "LightGBM":
        data = lightgbm.Dataset(x, labels, group=group, params={"verbose": -1})
        params = {"objective": "none" if ours else name, "verbose": -1, "metric": "None"}
        model = lightgbm.Booster({**params, "num_threads": given.threads}, data)
    else:
        matrix = xgboost.QuantileDMatrix(x, label=labels, group=group, nthread=given.threads)
        params = {"base_score": 0.0} if ours else {"objective": name}
        model = xgboost.Booster({**params, "nthread": given.threads}, [matrix])
    prepared = time.perf_counter()
    for k in range(given.rounds):
        if framework == "LightGBM":
            model.update(fobj=ours)
        else:
            model.update(matrix, k, fobj=ours)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "rows": labels.size,
        "prepare": prepared - start,
        "seconds": time.perf_counter() - prepared,
        "gigabytes": peak,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=31_000)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows without queries")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", type=Path, default=Path("build/at-scale"))
    parser.add_argument("--only", default="", help="trainings whose names begin so")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(train(*given.child, given)))
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    for kind, size in (("queries", given.queries), ("table", given.rows)):
        write_data(kind, size, given.folder)
    lines: dict[str, list[Any]] = {}
    for (framework, kind), own in OWN.items():
        for name in (own, *OURS[kind]):
            kept = given.folder / f"{framework} {kind} {name.replace(':', ' ')}.json"
            if not kept.exists() and f"{framework}, {name}".startswith(given.only):
                child = [sys.executable, *sys.argv, "--child", framework, kind, name]
                ended = subprocess.run(child, check=True, stdout=subprocess.PIPE, text=True)
                kept.write_text(ended.stdout.splitlines()[-1])
            if kept.exists():
                lines[f"{framework} {kind} {name}"] = [json.loads(kept.read_text()), name]
    if len(lines) < sum(1 + len(OURS[kind]) for _, kind in OWN):
        print(f"finished: {', '.join(lines)}")
        return
    tables = {}
    for kind in OURS:
        rows = []
        for framework in ("LightGBM", "XGBoost"):
            base = lines[f"{framework} {kind} {OWN[framework, kind]}"][0]["seconds"]
            for name in (OWN[framework, kind], *OURS[kind]):
                of = lines[f"{framework} {kind} {name}"][0]
                cells = f"{of['seconds']:.1f}", f"{of['seconds'] / base:.2f}"
                more = f"{of['prepare']:.1f}", f"{of['gigabytes']:.2f}"
                rows.append([f"{framework}, {name}", *cells, *more])
        what = (
            f"{given.queries:,} queries" if kind == "queries" else "without queries, 1 % positive"
        )
        title = f"At scale: {int(of['rows']):,} rows, {FEATURES[kind]} features, {what}, "
        heads = ["", "seconds", "to its own", "seconds to prepare the data", "peak memory, GB"]
        foot = [f"{given.threads} threads, one training each"]
        tables[title + f"{given.rounds} rounds"] = Table(heads, rows, foot)
    sizes = " ".join(f"--{k} {getattr(given, k)}" for k in ("queries", "rows", "rounds", "threads"))
    keep("at-scale", f"python benchmarks/at_scale.py {sizes}", tables)


if __name__ == "__main__":
    main()
