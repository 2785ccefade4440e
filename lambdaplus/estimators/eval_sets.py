"""Validation data in the forms that users of either framework write it."""

from __future__ import annotations

from typing import Any

from lambdaplus.estimators.documents import Judged


def read_eval_sets(
    eval_set: Any, qid: Any, group: Any, weight: Any, names: Any = None
) -> dict[str, Judged]:
    """Evaluation sets by name, each with its queries and weights.

    A tuple is one set, a list holds several; qid, group and weight are alike.  Without names they
    are called ``valid_0`` and so on, as in LightGBM.

    Raises
    ------
    ValueError
        If a set is not (X, y) or (X, y, qid), has its queries twice, or the lists' lengths differ.
    """
    if eval_set is None:
        given = {"qid": qid, "group": group, "sample_weight": weight, "names": names}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"eval_{name} was passed without eval_set")
        return {}
    several = isinstance(eval_set, list)
    sets = eval_set if several else [eval_set]

    def each(name: str, given: Any) -> list[Any]:
        if given is None:
            return [None] * len(sets)
        if not several:
            # LightGBM and XGBoost want a list even for one set.
            return given if isinstance(given, list) and _holds_one(given) else [given]
        if not isinstance(given, list | tuple) or len(given) != len(sets):
            raise ValueError(f"eval_{name} must be a list with one entry for each evaluation set")
        return list(given)

    found = []
    more = zip(each("qid", qid), each("group", group), each("sample_weight", weight), strict=True)
    for i, (one, (ids, sizes, weights)) in enumerate(zip(sets, more, strict=True)):
        if not isinstance(one, tuple | list) or len(one) not in (2, 3):
            raise ValueError(
                f"evaluation set {i} is not (X, y) or (X, y, qid): pass eval_set as such a tuple, "
                "or as a list of them"
            )
        X, y, *inside = one
        if inside and inside[0] is not None:
            if ids is not None:
                raise ValueError(f"evaluation set {i} has its qid twice: in eval_set and eval_qid")
            ids = inside[0]
        found.append(Judged(X, y, ids, sizes, weights))
    return dict(zip(_names(names, len(found)), found, strict=True))


def _names(given: Any, n: int) -> list[str]:
    if given is None:
        return [f"valid_{i}" for i in range(n)]
    names = [given] if isinstance(given, str) else list(given)
    if len(names) != n or len(set(names)) != n or not all(isinstance(name, str) for name in names):
        raise ValueError(f"eval_names must be {n} different names, one for each evaluation set")
    return names


def _holds_one(given: list[Any]) -> bool:
    return len(given) == 1 and hasattr(given[0], "__len__") and not isinstance(given[0], str)
