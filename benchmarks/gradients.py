"""Time of one gradient call: our objectives over all pairs beside the frameworks' own.

    python benchmarks/gradients.py [--queries 6000] [--rounds 15]

MSLR's shape with five grades and with two, and MQ2008's with short queries, on one thread and on
all.  Scores move from call to call as they do in training; ours include the sort.  Shown are
medians and their ratios to LightGBM's lambdarank (pairs with a document in the top 30) and
XGBoost's rank:ndcg (the top 32).
"""

from __future__ import annotations

import argparse
import os

from contenders import milliseconds, short_queries, web_search
from tables import Section, show


def sections(queries: int, rounds: int) -> list[Section]:
    shapes = {
        f"{queries:,} queries of about 120 documents, five grades": web_search(queries),
        f"{queries:,} queries of about 120 documents, two grades": web_search(queries, 2),
        "a million rows in queries of 10 to 50 documents, three grades": short_queries(1_000_000),
        "10,000 rows in queries of 10 to 50 documents, three grades": short_queries(),
    }
    found = []
    for title, shape in shapes.items():
        for threads in sorted({1, os.cpu_count() or 1}):
            ms = milliseconds(shape, rounds, threads)
            rows = [
                [
                    name,
                    f"{value:.2f}",
                    f"{1e6 * value / shape.labels.size:.0f}",
                    f"{value / ms['LightGBM lambdarank']:.2f}",
                    f"{value / ms['XGBoost rank:ndcg']:.2f}",
                ]
                for name, value in ms.items()
            ]
            found.append(
                Section(
                    f"One gradient: {title}, {threads} thread{'s' * (threads > 1)}",
                    ["", "ms", "ns a row", "to lambdarank", "to rank:ndcg"],
                    rows,
                )
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    show(sections(arguments.queries, arguments.rounds))


if __name__ == "__main__":
    main()
