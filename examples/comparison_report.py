"""Run a comparison of methods from Python: a table of means, and a CSV file of all values."""

import csv
import pathlib
import tempfile

from lambdaplus.study import Config, Summary, results_table, study_of, write_tables

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
    study = study_of(config, out, jobs=1, threads=1)
    study.finish()
    print(results_table(Summary(study.results)))
    write_tables(study.results, out)
    with (out / "per_query.csv").open() as file:
        rows = list(csv.DictReader(file))
print(f"per_query.csv: {len(rows)} rows of {', '.join(rows[0])}")
