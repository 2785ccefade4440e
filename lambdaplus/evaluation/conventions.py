"""Conventions by name: what other tools mean by a metric.

Two tools seldom agree on NDCG or MAP: they differ in gains, discounts, divisors, in what tied
documents count and in what a query without relevant documents counts.  Each convention below is
tested against what its tool prints.

Examples
--------
>>> from lambdaplus import evaluate
>>> labels, scores = [2, 1, 0, 0, 0], [0.5, 0.5, 0.9, 0.3, 0.1]
>>> for convention in ("lambdaplus", "lightgbm", "sklearn", "letor3"):
...     found = evaluate(labels, scores, group=[3, 2], metrics="ndcg", convention=convention)
...     print(f"{convention:<10} {found['ndcg']:.4f}")
lambdaplus 0.6229
lightgbm   0.8295
sklearn    0.3224
letor3     0.4539
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.values import Ties

Empty = Literal["skip"] | float
TieRule = Ties | Literal["docno"]
TIES: tuple[str, ...] = (*get_args(Ties), "docno")


def check_rules(ties: Any = None, empty: Any = None) -> None:
    """Raise a ValueError for a rule that there is not; None is the convention's."""
    if ties is not None and ties not in TIES:
        raise ValueError(f"ties={ties!r} is not one of {', '.join(TIES)}")
    if empty is not None and empty not in ("skip", 0, 1):
        raise ValueError(f"empty={empty!r} is not 'skip', 0 or 1")


@dataclass(frozen=True)
class Rule:
    """What a tool does about one metric.

    Attributes
    ----------
    ties : {"expected", "worst", "best", "stable", "together", "docno"} or None
        What tied documents count, see ``lambdaplus.metrics.values``; "docno" ranks them by document
        number, descending; None is the metric's own default.
    empty : "skip", 0 or 1
        What a query without a value counts.
    options : dict of str to str
        Options of the metric.
    """

    ties: TieRule | None = None
    empty: Empty = "skip"
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_rules(self.ties, self.empty)


@dataclass(frozen=True)
class Convention:
    """How a tool evaluates.

    Attributes
    ----------
    name, tool : str
    otherwise : Rule
        For metrics that the tool does not have.
    metrics : dict of str to Rule
        By name of the metrics that it has.
    single : bool
        Whether it holds scores in float32, where 1.00000001 ties with 1.
    unjudged : bool
        Whether a label below 0 marks an unjudged document: it then counts as one of
        label 0, and is left out by metrics such as bpref.
    """

    name: str
    tool: str
    otherwise: Rule
    metrics: Mapping[str, Rule]
    single: bool = False
    unjudged: bool = False

    def rule(self, metric: RankingMetric) -> Rule:
        return self.metrics.get(metric.declaration.name, self.otherwise)

    def has(self, metric: RankingMetric) -> bool:
        return not self.metrics or metric.declaration.name in self.metrics


def _all(rule: Rule, *names: str) -> dict[str, Rule]:
    return dict.fromkeys(names, rule)


_ROWS_ONE = Rule(ties="stable", empty=1)
_ROWS_ZERO = Rule(ties="stable", empty=0)
_TREC = Rule(ties="docno", empty=0)

CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("lambdaplus", "lambdaplus", Rule(), {}),
        Convention(
            "lightgbm",
            "LightGBM 4.7: ndcg, map, auc",
            _ROWS_ONE,
            {
                **_all(_ROWS_ONE, "ndcg", "map"),
                "auc": Rule(ties="expected", empty=1, options={"over": "dataset"}),
            },
        ),
        Convention(
            "xgboost",
            "XGBoost 3.2: ndcg, map, pre",
            _ROWS_ONE,
            {
                **_all(_ROWS_ONE, "ndcg", "map"),
                "p": Rule(ties="stable", empty=0, options={"divisor": "documents"}),
            },
            single=True,
        ),
        Convention(
            "sklearn",
            "scikit-learn 1.9: ndcg_score, dcg_score, average_precision_score, roc_auc_score",
            Rule(ties="expected", empty=0),
            {
                "ndcg": Rule(ties="expected", empty=0, options={"gain": "linear"}),
                "dcg": Rule(ties="expected", empty=0, options={"gain": "linear"}),
                "map": Rule(ties="together", empty=0),
                "auc": Rule(ties="expected", empty="skip"),
            },
        ),
        Convention(
            "trec",
            "trec_eval, as pytrec_eval runs it",
            _TREC,
            {
                **_all(_TREC, "mrr", "success", "p", "recall", "rprec", "bpref"),
                "map": Rule(ties="docno", empty=0, options={"divisor": "relevant"}),
                "ndcg": Rule(ties="docno", empty=0, options={"gain": "linear"}),
            },
            single=True,
            unjudged=True,
        ),
        Convention(
            "letor3",
            "the evaluation script of LETOR 3.0",
            _ROWS_ZERO,
            {
                "p": _ROWS_ZERO,
                "map": Rule(ties="stable", empty=0, options={"divisor": "relevant"}),
                "ndcg": Rule(ties="stable", empty=0, options={"discount": "letor"}),
            },
        ),
        Convention(
            "letor4",
            "the evaluation script of LETOR 4.0",
            _ROWS_ZERO,
            {
                "p": _ROWS_ZERO,
                "map": Rule(ties="stable", empty=0, options={"divisor": "relevant"}),
                "ndcg": Rule(
                    ties="stable", empty=0, options={"discount": "letor", "short": "zero"}
                ),
            },
        ),
    )
}


def find_convention(name: str | Convention) -> Convention:
    """The convention of that name; a ValueError lists the known ones."""
    if isinstance(name, Convention):
        return name
    if not isinstance(name, str) or name not in CONVENTIONS:
        raise ValueError(f"unknown convention {name!r}; known: {', '.join(CONVENTIONS)}")
    return CONVENTIONS[name]
