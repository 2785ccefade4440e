"""Named conventions: the definitions that other tools use for a metric.

Tools often differ in NDCG or MAP: in gains, discounts and divisors, in the treatment of tied
documents, and in the value of a query without relevant documents.  Each convention below is tested
against the output of its tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from lambdaplus.compute.arguments import check_choice, check_flag
from lambdaplus.ranking.ties import Ties

if TYPE_CHECKING:  # the help of a command shows names of conventions, and needs no metric
    from lambdaplus.metrics import Metric, RankingMetric

Empty = Literal["skip"] | float
TieRule = Ties | Literal["docno"]
TIES: tuple[str, ...] = (*get_args(Ties), "docno")


def in_words(names: Iterable[str]) -> str:
    """Alternatives in words: "skip, 0 or 1"."""
    return " or ".join(", ".join(names).rsplit(", ", 1))


def check_rules(ties: Any, empty: Any) -> None:
    """Raise a ValueError for an unknown rule; None stands for the rule of the convention."""
    if ties is not None:
        check_choice("ties", ties, TIES)
    if empty is not None and empty not in ("skip", 0, 1):
        raise ValueError(f"empty={empty!r} is not 'skip', 0 or 1")


@dataclass(frozen=True)
class Rule:
    """The rules of a tool for one metric; a ValueError for unknown ones.

    Attributes
    ----------
    ties : {"expected", "worst", "best", "stable", "together", "docno"} or None
        Rule for tied documents, as in `~lambdaplus.evaluation.evaluate`; None is the default of the
        metric.
    empty : "skip", 0 or 1
        Value of a query on which the metric is not defined.
    options : dict of str to str
        Options of the metric.

    Examples
    --------
    >>> from lambdaplus.evaluation import Rule
    >>> Rule(ties="worst", empty=0).empty
    0
    """

    ties: TieRule | None = None
    empty: Empty = "skip"
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_rules(self.ties, self.empty)


@dataclass(frozen=True)
class Convention:
    """The rules of a tool.

    Attributes
    ----------
    name, tool : str
        Name of the convention, and the tool with its version and metrics.
    otherwise : Rule
        Rule for metrics that the tool does not have.
    metrics : dict of str to Rule
        Rules for the metrics of the tool, by name.
    single : bool
        Whether scores are rounded to float32, in which 1.00000001 and 1 are tied.
    unjudged : bool
        Whether a label below 0 marks an unjudged document, which then counts as label 0.

    Examples
    --------
    >>> from lambdaplus.evaluation import CONVENTIONS
    >>> CONVENTIONS["sklearn"].otherwise.empty
    0
    """

    name: str
    tool: str
    otherwise: Rule
    metrics: Mapping[str, Rule]
    single: bool = False
    unjudged: bool = False

    def __post_init__(self) -> None:
        check_flag(single=self.single, unjudged=self.unjudged)

    def rule(self, metric: RankingMetric) -> Rule:
        """The rules for a metric."""
        return self.metrics.get(metric.declaration.name, self.otherwise)

    def has(self, metric: RankingMetric) -> bool:
        """Whether the tool has the metric."""
        return not self.metrics or metric.declaration.name in self.metrics

    def metric(self, name: Metric, **options: Any) -> RankingMetric:
        """The metric with the options of the tool, unless its name or the options set others."""
        from lambdaplus.metrics import parse_metric

        parsed = parse_metric(name, **options)
        defaults = self.rule(parsed).options
        return parse_metric(name, defaults=defaults, **options) if defaults else parsed


_ROW_ORDER = Rule("stable", empty=0)
_LIGHTGBM = Rule("stable", empty=1)
_TREC = Rule("docno", empty=0)
_SKLEARN_NDCG = Rule("expected", 0, {"gain": "linear"})
_MAP_OF_RELEVANT = Rule("stable", 0, {"divisor": "relevant"})
_LETOR = {"p": _ROW_ORDER, "map": _MAP_OF_RELEVANT}

_ALL = (
    Convention("lambdaplus", "lambdaplus", Rule(), {}),
    Convention(
        "lightgbm",
        "LightGBM 4.7: ndcg, map, auc",
        _LIGHTGBM,
        {"ndcg": _LIGHTGBM, "map": _LIGHTGBM, "auc": Rule("expected", 1, {"over": "dataset"})},
    ),
    Convention(
        "xgboost",
        "XGBoost 3.2: ndcg, map, pre",
        _LIGHTGBM,
        {"ndcg": _LIGHTGBM, "map": _LIGHTGBM, "p": Rule("stable", 0, {"divisor": "documents"})},
        single=True,
    ),
    Convention(
        "sklearn",
        "scikit-learn 1.9: ndcg_score, dcg_score, average_precision_score, roc_auc_score",
        Rule("expected", 0),
        {
            "ndcg": _SKLEARN_NDCG,
            "dcg": _SKLEARN_NDCG,
            "map": Rule("together", 0),
            "auc": Rule("expected", "skip"),
        },
    ),
    Convention(
        "trec",
        "trec_eval, as pytrec_eval runs it",
        _TREC,
        {
            **dict.fromkeys(("mrr", "success", "p", "recall", "rprec"), _TREC),
            "map": Rule("docno", 0, {"divisor": "relevant"}),
            "ndcg": Rule("docno", 0, {"gain": "linear"}),
        },
        single=True,
        unjudged=True,
    ),
    Convention(
        "ranx",
        "ranx 0.3",
        _ROW_ORDER,
        {
            **dict.fromkeys(("mrr", "success", "p", "recall", "f1", "rprec"), _ROW_ORDER),
            "map": _MAP_OF_RELEVANT,
            "ndcg": Rule("stable", 0, {"gain": "linear"}),
        },
    ),
    Convention(
        "letor3",
        "the evaluation script of LETOR 3.0",
        _ROW_ORDER,
        {**_LETOR, "ndcg": Rule("stable", 0, {"discount": "letor"})},
    ),
    Convention(
        "letor4",
        "the evaluation script of LETOR 4.0",
        _ROW_ORDER,
        {**_LETOR, "ndcg": Rule("stable", 0, {"discount": "letor", "short": "zero"})},
    ),
)
CONVENTIONS: dict[str, Convention] = {convention.name: convention for convention in _ALL}


def find_convention(name: str | Convention) -> Convention:
    """The convention of a name; a ValueError lists the known ones."""
    if isinstance(name, Convention):
        return name
    if not isinstance(name, str) or name not in CONVENTIONS:
        raise ValueError(f"unknown convention {name!r}; known: {', '.join(CONVENTIONS)}")
    return CONVENTIONS[name]
