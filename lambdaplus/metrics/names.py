"""Metric names: ``map``, ``ndcg@10``, ``ndcg(gain=linear)@10``, ``map(relevant=2)@5``."""

import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lambdaplus.compute.messages import hint
from lambdaplus.compute.removed import removed
from lambdaplus.metrics.catalogue import CATALOGUE
from lambdaplus.metrics.declaration import Declaration, Metric
from lambdaplus.metrics.parameters import Share
from lambdaplus.metrics.ranking_metric import RankingMetric
from lambdaplus.metrics.weighted_sum import WeightedSum, split_outside

SPELLINGS = {spelling: d for d in CATALOGUE for spelling in (d.name, *d.aliases)}
# Metrics of other tools, by names without underscores: ours that is most like each, and why it is
# not the same.
MEANT: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("aucpr", "auprc", "prauc"), ("map", "average precision, which interpolates nothing")
    ),
    **dict.fromkeys(
        ("ic", "pearson", "pearsonr"),
        ("spearman", "the rank IC; Pearson's changes with more than the order of the scores"),
    ),
    **dict.fromkeys(
        ("kendall", "kendalltau", "somersd"),
        ("concordance", "without ties, Kendall's tau is twice that less 1"),
    ),
    **dict.fromkeys(
        ("ks", "ks2samp", "ksstat", "ksstatistic", "kolmogorovsmirnov"),
        ("auc", "a largest distance is no sum over ranks; scipy.stats.ks_2samp has it"),
    ),
    **dict.fromkeys(
        ("pauc", "partialauc", "partialroc"),
        ("auc", "in part, roc_auc_score(max_fpr=) of scikit-learn has it"),
    ),
    **dict.fromkeys(
        ("bedroc", "rie"),
        ("rbp", "with persistence=exp(-alpha/n) in a list of n, of which it is a linear function"),
    ),
    **dict.fromkeys(
        ("logloss", "binarylogloss", "crossentropy", "brier", "brierscore", "rmse", "mse", "mae",
         "l1", "l2", "r2", "accuracy", "acc"),
        ("", "it depends on more than the order of the scores; see sklearn.metrics"),
    ),
    "ndcgscore": ("ndcg(gain=linear)", "scikit-learn's gain is the label"),
    "dcgscore": ("dcg(gain=linear)", "scikit-learn's gain is the label"),
    "f1score": ("f1@10", "the first k count, not those above a threshold"),
    "precisionscore": ("p@10", "the first k count, not those above a threshold"),
    "recallscore": ("recall@10", "the first k count, not those above a threshold"),
    "cumulativegain": ("recall@10%", "the share of the positives in a share of the rows"),
    "lrap": ("map", "with ties in any order"),
}  # fmt: skip
_FORM = re.compile(
    # trec_eval's P_10 and ndcg_cut_10; also precision_at_10
    r"(?P<name>[a-z_][a-z0-9_-]*?)(?:(?:_cut|_at)?_(?P<trec>[0-9]+))?"
    r"(?:\((?P<options>[^()]*)\))?(?:@(?P<cutoff>.+))?"
)


def metric_names() -> list[str]:
    """List the names of all metrics.

    Returns
    -------
    list of str

    Notes
    -----
    As objectives, some are one: a metric trains the same model with any cutoff, and metrics whose
    swap deltas come from the same surrogate, such as p@5, recall@10 and map, train the same one.
    See ``surrogate`` of `~lambdaplus.objectives.lambda_objective`.

    Examples
    --------
    >>> from lambdaplus import metric_names
    >>> "ndcg" in metric_names()
    True
    """
    return [declaration.name for declaration in CATALOGUE]


def parse_metric(
    name: Metric,
    *,
    defaults: Mapping[str, Any] | None = None,
    **options: Any,
) -> RankingMetric:
    """Parse the name of a metric.

    Parameters
    ----------
    name : str, RankingMetric or Declaration
        A name with optional parameters and cutoff, such as ``"ndcg(gain=linear)@10"``; case and
        underscores are ignored.  A cutoff may be a share of the documents, rounded up:
        ``"recall@1%"``.  Numbers for each label from 0 are separated by slashes, as in
        ``"ndcg(gain=0/1/3/7/15)@10"``.
        Spellings of trec_eval are accepted, such as
        ``"ndcg_cut_10"``; they do not select the definitions of that tool, as ``evaluate(...,
        convention="trec")`` does.
    defaults : dict, optional
        Parameters that apply if neither the name nor the options set them.
    **options
        Additional parameters of the metric, such as ``relevant=2``.

    Returns
    -------
    RankingMetric

    Raises
    ------
    ValueError
        For an unknown name (the message lists the known ones) or parameter, an invalid value, a
        missing or invalid cutoff, and a sum of metrics.

    Examples
    --------
    >>> parse_metric("NDCG@10").cutoff
    10
    >>> str(parse_metric("ap@5", relevant=2))
    'map(relevant=2)@5'
    >>> str(parse_metric("ndcg_cut_10", gain=[0, 1, 3, 7]))
    'ndcg(gain=0/1/3/7)@10'
    """
    fallback = dict(defaults or {})
    if isinstance(name, Declaration):
        return name(**{**fallback, **options})
    if isinstance(name, RankingMetric):
        return name.declaration(name.cutoff, **{**fallback, **dict(name.changed), **options})
    if not isinstance(name, (str, WeightedSum)):
        of = getattr(name, "metric", None) or next(iter(getattr(name, "metrics", ())), None)
        raise ValueError(
            f"a metric is a name, such as 'map', or a Declaration, not {reprlib.repr(name)}"
            + (f": pass {str(of)!r}" if of else "")
        )
    if re.search(r"[+*]", re.sub(r"\([^()]*\)", "", str(name))):
        raise ValueError(
            f"{name!r} is a sum, but single metrics are needed here: pass its parts; sums are "
            "supported by lambda_objective, eval_metric and the methods of a comparison"
        )
    declaration, cutoff, in_name = _read(str(name))
    return declaration(cutoff, **{**fallback, **in_name, **options})


def _read(name: str) -> tuple[Declaration, int | Share | None, dict[str, Any]]:
    """The declaration, cutoff and options of a name."""
    found = _FORM.fullmatch(name.strip().lower())
    if found is None:
        if len(several := split_names(name)) > 1:
            raise ValueError(f"{name!r} are several metrics: pass the list {several}")
        raise ValueError(f"{name!r} is not a metric name such as 'ndcg@10' or 'map(relevant=2)'")
    metric = found["name"].replace("-", "_")
    if (squeezed := metric.replace("_", "")) not in _SQUEEZED:
        known = ", ".join(metric_names())
        raise ValueError(f"unknown metric {metric!r}{_similar(metric)}; known: {known}")
    declaration, in_name = _SQUEEZED[squeezed], _options_in(name, found)
    cutoff = found["cutoff"] or found["trec"]
    if found["cutoff"] and found["trec"]:
        raise ValueError(f"in {name!r}: {cutoff} and {found['trec']} are two cutoffs")
    # int() also reads 1_0 and full-width digits.
    if cutoff is None or re.fullmatch(r"\s*[+-]?[0-9]+\s*", cutoff):
        return declaration, None if cutoff is None else int(cutoff), in_name
    try:
        return declaration, Share.parse(cutoff), in_name
    except ValueError as error:
        raise ValueError(f"in {name!r}: {error}") from None


_SQUEEZED = {name.replace("_", ""): declared for name, declared in SPELLINGS.items()}


def _similar(metric: str) -> str:
    """The metric that is most like an unknown one, as the end of an error message."""
    if said := removed(metric):
        return said
    base = re.sub("(_?at)?_k$", "", metric)
    meant, why = MEANT.get(base.replace("_", ""), ("", ""))
    if why:
        return (f" (did you mean {meant!r}?)" if meant else "") + f": {why}"
    digits = re.fullmatch("([a-z_]+?)_?(at)?([0-9]+)", base)  # ndcg10
    name, cutoff = (digits[1], digits[3]) if digits else (base, "10" if base != metric else "")
    if cutoff and (known := _SQUEEZED.get(name.replace("_", ""))) and known.cutoff != "no":
        return f" (did you mean '{known.name}@{cutoff}'?)"
    return hint(base, SPELLINGS)


def _options_in(name: str, found: re.Match[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for option in filter(None, (found["options"] or "").split(",")):
        key, equals, value = (part.strip(" '\"") for part in option.partition("="))
        if not equals:
            raise ValueError(f"in {name!r}: {option.strip()!r} is not of the form option=value")
        if key in options:
            raise ValueError(f"in {name!r}: the option {key!r} is given twice")
        options[key] = value
    return options


def default_surrogate(metric: RankingMetric) -> RankingMetric:
    """The metric whose swap deltas weight the pairs of an objective, by default."""
    declared = metric.declaration
    if declared.surrogate:
        options: dict[str, Any] = {"relevant": metric.relevant} if declared.binary else {}
        return parse_metric(declared.surrogate, **options)
    return declared(**dict[str, Any](metric.changed)) if declared.cutoff == "optional" else metric


def listed(metrics: Metric | Iterable[Metric], name: str = "metrics") -> list[Metric]:
    """The metrics as a list, also if a single one is given; a ValueError for anything else."""
    if isinstance(metrics, Metric):
        return [metrics]
    if not isinstance(metrics, Iterable):
        raise ValueError(f"{name} must be a metric or a list of metrics, got {metrics!r}")
    return list(metrics)


def split_names(text: str) -> list[str]:
    """Split names at commas outside parentheses, and leave out empty ones."""
    return [name.strip() for name in split_outside(text, ",") if name.strip()]


def share_options(names: Sequence[Metric], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of each of several metrics: those that it has."""
    shares = []
    unused = set(options)
    for name in names:
        known = {parameter.name for parameter in parse_metric(name).declaration.parameters}
        unused -= known
        shares.append({option: value for option, value in options.items() if option in known})
    if unused:
        raise ValueError(
            f"none of {', '.join(map(str, names))} has an option {', '.join(sorted(unused))}"
            + "".join(map(removed, sorted(unused)))
        )
    return shares
