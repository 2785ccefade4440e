"""What both rankers have in common: the arguments of ``fit`` in query order, and ``score``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from lambdaplus.estimators.documents import (
    Documents,
    read_documents,
    refuse_masked,
    refuse_nothing_to_rank,
)
from lambdaplus.estimators.objective_names import find_objective, metric_of
from lambdaplus.objectives import Objective

Sets = list[tuple[Any, Any]]
Weigh = Callable[[str, Documents, Any], Any]


class Ranker:
    """Score of a ranker, and what scikit-learn is to hand to it."""

    __metadata_request__fit: ClassVar = {"qid": True}  # a ranker wants its queries
    __metadata_request__score: ClassVar = {"qid": True}

    def score(
        self: Any, X: Any, y: Any, *, qid: Any = None, group: Any = None, sample_weight: Any = None
    ) -> float:
        """The first metric of ``eval_metric``, or the objective's; arguments are those of `fit`."""
        refuse_masked({"sample_weight": sample_weight})
        documents = read_documents("score", X, y, qid, group)
        weights = documents.weights("sample_weight", sample_weight)
        metric = metric_of(find_objective(self.objective), self.eval_metric)
        labels, sizes = documents.queries.labels, documents.queries.sizes
        return float(metric(labels, self.predict(documents.X), weights, sizes)[1])


def put_in_query_order(
    call: dict[str, Any],
    objective: Any,
    qid: Any,
    eval_qid: Any,
    by_row: tuple[str, str, str],
    weigh: Weigh,
) -> None:
    """Check the arguments of a ranker's fit, ``call``, and put all rows in query order.

    ``by_row`` are the framework's names of initial scores, and of weights and initial scores of
    evaluation sets; ``weigh`` gives weights the framework's form.
    """
    refuse_masked({"qid": qid, "eval_qid": eval_qid, **call})
    metric = metric_of(objective) if isinstance(objective, Objective) else None
    start, eval_weights, eval_start = by_row
    sets = evaluation_sets(call)
    sizes = each(call.get("eval_group"), len(sets))
    given = [("training data", call["X"], call["y"], qid, call.get("group"))]
    for i, (pair, ids, group) in enumerate(
        zip(sets, each(eval_qid, len(sets)), sizes, strict=True)
    ):
        given.append((f"evaluation set {i}", *pair, ids, group))
    parts: list[Documents] = []
    for i, (name, X, y, ids, group) in enumerate(given):
        if i and X is call["X"] and y is call["y"]:
            parts.append(parts[0])  # the frameworks recognise the training data, too
            continue
        parts.append(read_documents(name, X, y, ids, group))
        if metric is not None:
            refuse_nothing_to_rank(name, metric, parts[-1].queries)
    train, held_out = parts[0], parts[1:]
    call |= {"X": train.X, "y": train.y, "group": train.queries.sizes}
    call["sample_weight"] = weigh("sample_weight", train, call.get("sample_weight"))
    call[start] = train.in_order(call.get(start))
    if sets:
        replace_evaluation_sets(call, [(part.X, part.y) for part in held_out])
        call["eval_group"] = [part.queries.sizes for part in held_out]
        pairs = zip(held_out, each(call.get(eval_weights), len(sets)), strict=True)
        call[eval_weights] = [weigh(eval_weights, part, weights) for part, weights in pairs]
        pairs = zip(held_out, each(call.get(eval_start), len(sets)), strict=True)
        call[eval_start] = [part.in_order(scores) for part, scores in pairs]


def each(given: Any, n: int) -> list[Any]:
    """An ``eval_...`` argument for each evaluation set; for one set, it may be given alone."""
    if given is None or isinstance(given, Mapping):
        return [(given or {}).get(i) for i in range(n)]
    listed = isinstance(given, list) and (given[0] is None or hasattr(given[0], "__len__"))
    alone = n == 1 and not listed
    found = [given] if alone else list(given)
    if len(found) > n:
        raise ValueError(f"{len(found)} entries of an eval_ argument for {n} evaluation sets")
    return [*found, *[None] * (n - len(found))]


def evaluation_sets(call: Mapping[str, Any]) -> Sets:
    """The evaluation sets of a call of fit, in whichever form they were passed."""
    if call.get("eval_set") is not None:
        return [call["eval_set"]] if isinstance(call["eval_set"], tuple) else list(call["eval_set"])
    X, y = call.get("eval_X"), call.get("eval_y")
    if X is None or y is None:  # LightGBM says so if only one is missing
        return []
    return list(zip(X, y, strict=True)) if isinstance(X, tuple) else [(X, y)]


def replace_evaluation_sets(call: dict[str, Any], sets: Sets) -> None:
    if call.get("eval_set") is not None:
        call["eval_set"] = sets
    elif sets:
        call["eval_X"], call["eval_y"] = (tuple(part) for part in zip(*sets, strict=True))
