"""The summary of a report: how the study was made, and the best methods for each metric.

The best mean is followed by the methods from which it does not differ significantly.

Examples
--------
>>> from lambdaplus.comparison import Settings, Study, find_methods
>>> from lambdaplus.comparison.lead import best_methods
>>> from lambdaplus.datasets import digits_queries
>>> from lambdaplus.metrics import parse_metric
>>> study = Study(
...     folds=digits_queries()[:1],
...     methods=find_methods("lightgbm:auc"),
...     metrics=[parse_metric("map")],
...     settings=Settings(rounds=5),
... )
>>> _ = list(study.run())
>>> best_methods(study, None)[0].partition("(")[0]
'map: lightgbm:lambda_auc has the highest mean '
"""

from __future__ import annotations

from lambdaplus.comparison.plots import main_metrics, method_to_beat
from lambdaplus.comparison.study import Study
from lambdaplus.evaluation import RunComparison


def how_made(study: Study, data: str, date: str) -> str:
    """The data set, the date and the search in one sentence."""
    search = (
        f"parameters by random search, {study.trials} trials for each boosted method"
        if study.trials
        else "parameters chosen from grids, the same trees for all boosted methods"
    )
    parts = [f"Data: {data}" if data else "", date, search]
    return "; ".join(part for part in parts if part) + "."


def best_methods(study: Study, found: RunComparison | None) -> list[str]:
    """A sentence for each metric that some method was trained for."""
    sentences = []
    for metric in main_metrics(study):
        best = method_to_beat(study, metric, None)
        if best is not None:
            mean = f"{metric}: {best.name} has the highest mean ({study.mean(best, metric):.4f})"
            said = "" if found is None else f"; {_significance(found, str(metric), best.name)}"
            sentences.append(f"{mean}{said}.")
    return sentences


def _significance(found: RunComparison, metric: str, best: str) -> str:
    """How the best method compares with the others, or the others with the baseline."""
    others, better = [], []
    for pair in found.of(metric):
        significant = pair.p_corrected < found.alpha
        if found.baseline is not None:
            if significant and pair.difference > 0:
                better.append(pair.first)
        elif best in (pair.first, pair.second) and not significant:
            others.append(pair.second if pair.first == best else pair.first)
    if found.baseline is not None:
        names = ", ".join(better) or "no method"
        return f"significantly better than the baseline {found.baseline}: {names}"
    if not others:
        return "significantly better than all others"
    if len(others) == len(found.names) - 1:
        return "no significant difference from any other method"
    return f"no significant difference from {', '.join(others)}"
