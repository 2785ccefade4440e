"""Run in a separate process: the core without extras, and the errors for missing extras.

Prints a line for each entry point that needs an extra: its name, and the error.
"""

import sys
import tempfile
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

EXTRAS = {
    "lightgbm", "xgboost", "rich", "typer", "matplotlib", "polars", "dask", "distributed",
    "pandas", "pyarrow",
}  # fmt: skip


class NothingInstalled(MetaPathFinder):
    """Finds no package of an extra, as in an environment with core dependencies alone."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main() -> None:
    sys.meta_path.insert(0, NothingInstalled())

    import numpy as np

    import lambdaplus as lp
    from lambdaplus.baselines import BestFeature, McRank
    from lambdaplus.data import digits_queries, read_data, read_table

    y = np.array([2, 0, 1, 0, 1, 0])
    s = np.array([0.5, 0.4, 0.3, 0.2, 0.6, 0.1])
    group = [3, 3]
    qid = np.repeat([0, 1], group)
    X = np.stack([s, y], axis=1)

    ours = lp.evaluate(y, s, qid=qid, metrics=["ndcg@10", "map"])
    theirs = lp.evaluate(y, -s, qid=qid, metrics=["ndcg@10", "map"])
    assert 0 < ours["map"] < 1
    assert ours.to_markdown()
    assert str(lp.compare_runs({"ours": ours, "theirs": theirs}))
    assert str(lp.explain("ndcg@10", y, s, qid=qid))
    textbook, _ = lp.gradients(y, s, qid=qid, metric="map")
    gradient, hessian = lp.lambda_objective("ndcg@10")(y, s, None, group)
    assert gradient.shape == hessian.shape == textbook.shape == y.shape
    assert np.any(gradient)
    assert lp.eval_metric("map")(y, s, None, group)[1] == ours["map"]
    assert len(lp.query_folds(qid=qid, n_splits=2)) == 2
    assert BestFeature().fit(X, y > 0, qid=qid).predict(X).shape == y.shape
    assert len(digits_queries()) == 5

    folder = Path(tempfile.mkdtemp())
    (folder / "run.csv").write_text("qid,label,score\n1,1,0.5\n")

    NEEDS: dict[str, Callable[[], Any]] = {
        "lambdaplus.lightgbm": lambda: __import__("lambdaplus.lightgbm"),
        "LightGBMRanker": lambda: lp.LightGBMRanker().fit(X, y, qid=qid),
        "McRank": lambda: McRank().fit(X, y, qid=qid),
        "lambdaplus.xgboost": lambda: __import__("lambdaplus.xgboost"),
        "XGBoostRanker": lambda: lp.XGBoostRanker().fit(X, y, qid=qid),
        "lambdaplus.dask": lambda: __import__("lambdaplus.dask"),
        "read_data": lambda: read_data(folder / "run.csv"),
        "read_table": lambda: read_table(folder / "run.csv"),
        "lambdaplus.cli": lambda: __import__("lambdaplus.cli"),
    }
    for name, use in NEEDS.items():
        try:
            use()
        except (ImportError, SystemExit) as error:
            print(f"{name}: {error}")


if __name__ == "__main__":
    main()
