"""How LightGBM trains, scores and is cut back to some rounds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from lambdaplus.compat import lightgbm_parameters
from lambdaplus.queries import Floats
from lambdaplus.training.framework import (
    Curves,
    Documents,
    Framework,
    Model,
    Span,
    Training,
    training_labels,
)


class LightGBM(Framework):
    """LightGBM, from version 4."""

    ranking: ClassVar = {"lambdarank": "ndcg@10", "rank_xendcg": "ndcg@10"}
    classification: ClassVar = {"binary": "map"}
    kind: ClassVar = "boosting_type"
    """The parameter that says what is boosted."""
    of_metrics: ClassVar = dict.fromkeys(
        ("eval_at", "multi_error_top_k", "auc_mu_weights", "is_provide_training_metric",
         "first_metric_only", "early_stopping_min_delta"),
        "lambdaplus evaluates, by eval_metric (such as 'ndcg@5', or a list), and stops by the "
        "first metric on the last evaluation set",
    )  # fmt: skip
    """Parameters of LightGBM's own metrics, and what to do instead."""

    def train(
        self, training: Training, train: Documents, held_out: Mapping[str, Documents]
    ) -> Model:
        import lambdaplus.lightgbm as lgb

        params = {
            **training.params, "objective": training.objective, "metric": "None",
            "seed": training.seed, "num_threads": training.threads,
        }  # fmt: skip
        given = _dataset(train, training)
        curves: Curves = {}
        lengths: list[int] = []

        def after_round(state: Any) -> None:
            lengths.append(state.model.current_iteration())
            if training.ends(state.model, curves):
                raise lgb.callback.EarlyStopException(state.iteration, state.evaluation_result_list)

        # After record_evaluation, and before what may end the round.
        after_round.order = 21  # type: ignore[attr-defined]
        callbacks = [*training.callbacks, after_round]
        if held_out:
            callbacks.append(lgb.record_evaluation(curves))
        booster = lgb.train(
            {name: value for name, value in params.items() if value is not None},
            given,
            num_boost_round=training.rounds,
            valid_sets=[_dataset(part, training, given) for part in held_out.values()],
            valid_names=list(held_out),
            feval=training.metric if held_out else None,
            callbacks=callbacks,
            init_model=training.init_model,
        )
        chosen = booster.best_iteration if booster.best_iteration > 0 else None
        booster.best_iteration = -1  # what predicts is all that is in it
        curves = {name: dict(curve) for name, curve in curves.items()}
        return Model(booster, curves, lengths, chosen)

    def first(self, booster: Any, rounds: int) -> Any:
        """A booster with the first rounds alone."""
        import lambdaplus.lightgbm as lgb

        return lgb.Booster(model_str=booster.model_to_string(num_iteration=rounds))

    def scores(
        self,
        booster: Any,
        X: Any,
        rounds: Span = None,
        threads: int = 0,
        contributions: bool = False,
    ) -> Floats:
        """Raw scores; with contributions the share of each feature in them, (n, d + 1)."""
        first, last = rounds or (0, booster.current_iteration())
        if not last:  # which LightGBM would take for all
            return np.zeros(X.shape[0])
        options = {"num_threads": threads} if threads else {}
        found = booster.predict(
            X, raw_score=True, start_iteration=first, num_iteration=last - first,
            pred_contrib=contributions, **options,
        )  # fmt: skip
        return np.asarray(found.toarray() if issparse(found) else found, dtype=np.float64)

    def gain(self, booster: Any) -> Floats:
        """Total gain of each feature's splits, (d,) float64."""
        return np.asarray(booster.feature_importance("gain"), dtype=np.float64)

    @staticmethod
    @cache
    def names() -> dict[str, str]:
        """Every name of a parameter, and the main one of those that mean the same."""
        import lambdaplus.lightgbm  # noqa: F401  # without LightGBM, the error says what to install

        groups = dict(lightgbm_parameters())
        groups["metric"] = [*groups["metric"], "eval_metric"]
        return {alias: main for main, aliases in groups.items() for alias in (main, *aliases)}

    def of_native_objectives(self) -> Mapping[str, str]:
        """Parameters without effect beside a custom objective, and what to do instead."""
        from lambdaplus.lightgbm import OF_BUILT_IN_OBJECTIVES

        return OF_BUILT_IN_OBJECTIVES


LIGHTGBM = LightGBM()


def _dataset(part: Documents, training: Training, reference: Any = None) -> Any:
    import lambdaplus.lightgbm as lgb

    queries = part.queries
    known: dict[str, Any] = {}
    custom = callable(training.objective)
    if custom and queries.grouped and hasattr(lgb.Dataset, "get_position"):
        # For objectives that estimate the bias of positions: the order of a query's rows.
        first = np.repeat(queries.boundaries[:-1], queries.sizes)
        known["position"] = np.arange(queries.n_documents) - first
    labels = queries.labels
    if reference is None:
        labels = training_labels(training.objective, labels)
    return lgb.Dataset(
        part.X, label=labels, group=part.group, weight=queries.weights,
        feature_name=training.feature_names or "auto", reference=reference,
        categorical_feature=list(training.categorical) or "auto", **known,
    )  # fmt: skip
