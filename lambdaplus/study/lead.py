"""The summary of a report: how the study was made, and the best methods for each metric.

A method is called better than another only if the difference is significant.

Examples
--------
>>> from lambdaplus.study import Settings, Study, find_methods
>>> from lambdaplus.study.lead import best_methods
>>> from lambdaplus.data import digits_queries
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

from lambdaplus.evaluation import RunComparison
from lambdaplus.study.differences import significantly_below
from lambdaplus.study.plots import method_to_beat
from lambdaplus.study.shown_metrics import main_metrics
from lambdaplus.study.study import Study


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
            mean = f"{study.mean(best, metric):.4f}"
            said = in_words(found, str(metric), best.name, mean)
            sentences.append(f"{metric}: {said}.")
    return sentences


def in_words(found: RunComparison | None, metric: str, best: str, mean: str) -> str:
    """What significance says of the highest mean of a metric, or of the baseline."""
    highest = f"{best} has the highest mean ({mean})"
    if found is None or not (pairs := found.of(metric)):
        return highest
    if found.baseline is not None:
        better = [p.first for p in pairs if p.p_corrected < found.alpha and p.difference > 0]
        names = ", ".join(better) or "no method"
        return f"{highest}; significantly better than the baseline {found.baseline}: {names}"
    below = significantly_below(found, metric, best)
    level = [name for name in found.names if name not in (best, *below)]
    if not below:
        return f"no significant difference to the highest mean, {mean} of {best}"
    if not level:
        return f"{best} is significantly better than all others ({mean})"
    if len(level) <= len(below):
        return f"{highest}, with no significant difference to {', '.join(level)}"
    return (
        f"{highest}; significantly below it: {', '.join(below)}; no significant difference to the "
        f"other {len(level)}"
    )
