"""Compare methods, and read the results: values, wins, and significance of differences.

python examples/comparison_report.py
"""

import csv
import pathlib
import tempfile

from lambdaplus.study import Config, results_table, write_csv

# `lambdaplus compare --methods lightgbm:lambdarank,lightgbm:lambda_map --folds 1 --rounds 20` does
# the same on the command line; --report adds a page with plots.
config = Config(
    methods=("lightgbm:lambdarank", "lightgbm:lambda_map"),
    metrics=("map", "ndcg@10"),
    folds="1",
    rounds=20,
    baseline="lightgbm:lambdarank",
)
with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder)
    study = config.study(out, jobs=1, threads=1)
    for _ in study.run():
        pass
    print(results_table(study))
    write_csv(study, out)
    with (out / "per_query.csv").open() as file:
        rows = list(csv.DictReader(file))
print(f"per_query.csv: {len(rows)} rows of {', '.join(rows[0])}")
