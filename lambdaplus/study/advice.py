"""What the results of a study say of its data and training, in a line each, with the option."""

from __future__ import annotations

from lambdaplus.study.boosted_trainer import BoostedTrainer
from lambdaplus.study.over_time import over_time_in_words
from lambdaplus.study.rounds_in_words import rounds_in_words
from lambdaplus.study.single_features import single_feature
from lambdaplus.study.study import Study
from lambdaplus.study.summary import Summary


def advice(summary: Summary, study: Study) -> list[str]:
    """Sentences for the end of the output and the beginning of the report; none if all is well."""
    metric = study.results.main_metric
    boosted = [
        one.name
        for one in study.methods
        if isinstance(one.trainer, BoostedTrainer) and one.name in summary.runs
    ]
    chosen = {name: study.chosen(name, metric) for name in boosted}
    return [
        *over_time_in_words(summary),
        *single_feature(summary, study),
        *rounds_in_words(chosen, study.config),
    ]
