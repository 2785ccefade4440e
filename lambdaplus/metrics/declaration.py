"""A ranking metric is data.

Every metric of lambdaplus has the form

    M = 1/Z * ( offset + sum over ranks r of  d[r] * ( g[x_r] + sum_c A[x_r, c] * C_c(r) ) * h_r )

where x_r is the class of the document at rank r, C_c(r) counts the class-c documents above it, and
h_r is the chance that the reader comes as far as r.  At a document of class c the reader stops
with probability stop[c]; sure stops (stop = 1) are endured up to a patience: after S of them a
share 1 - S / patience is left.  A `Declaration` states d, g, A, stop, Z and offset once; values,
swap deltas, lambda-gradients, names and help are derived from it.  A `RankingMetric` is a
declaration with its cutoff and parameters chosen, such as ``ndcg@10``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lambdaplus.queries import Floats, Queries, Strata, reaches


@dataclass(frozen=True)
class Parameter:
    """An option of a metric: its name, default, meaning, and what is allowed.

    That is one of ``choices`` for a word; a finite number, strictly between ``limits``, else.
    """

    name: str
    default: str | float
    help: str
    choices: tuple[str, ...] = ()
    limits: tuple[float, float] = (-np.inf, np.inf)

    def check(self, value: Any) -> str | float:
        """The value in its canonical type, or a ValueError that says what is allowed."""
        if self.choices:
            if value not in self.choices:
                allowed = ", ".join(self.choices)
                raise ValueError(f"{self.name}={value!r} is not one of {allowed}")
            return str(value)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise ValueError(f"{self.name}={value!r} is not a finite number")
        low, high = self.limits
        if not low < number < high:
            raise ValueError(f"{self.name}={value!r} is not between {low:g} and {high:g}")
        return number + 0.0  # -0.0 is 0.0, or equal metrics would have two names


@dataclass(frozen=True)
class Above:
    """What the documents above add: A[x, c] = row[x] * column[c] where ``x relation c`` holds."""

    relation: Literal["any", "lower"]  # "lower": only classes c that are higher than x count
    row: Callable[[Facts], Floats]
    column: Callable[[Facts], Floats]


@dataclass(frozen=True)
class Declaration:
    """One metric of the catalogue, stated once.

    Attributes
    ----------
    name, aliases, title, source : str
        How users write it, other spellings, what it is called, and where it is defined.
    binary : bool
        Whether it knows only relevant and non-relevant documents (label >= ``relevant``).
    discount : callable
        d as a function of the metric and of float ranks counted from 1.
    gain, normalizer : callable
        g per stratum and Z per query; a query with Z = 0 has no value (no relevant document, say).
    above : Above, optional
    stop : callable, optional
        Probability per stratum that the reader stops at such a document.
    patience : callable, optional
        Sure stops per query after which nobody reads on; 1 without it.
    window : callable, optional
        Ranks (first, last), counted from 1, within which a class has its gain, each per stratum;
        outside it has none.
    offset : callable, optional
        Per query, divided by Z like the rest.
    cutoff : {"optional", "required", "no"}
        Whether ``name@k`` sets d to 0 beyond rank k.
    parameters : tuple of Parameter
    pooled : {"middle", "last"}, optional
        Whether it makes sense on one ungrouped data set, and then the rank, among the copies that
        its weight stands for, at which a row's discount is taken.
    follows_label_order : bool
        Whether the order by label has the highest value.
    signed_deltas : bool
        Whether the sign of a swap delta depends on more than the two labels, and not on the ranks
        alone.  Its size is then no difference of potentials: an objective visits every pair.
    closed_ties : bool
        Whether the mean over the orders of tied documents has a closed form; ties count in their
        worst order where it has none.
    judged_only : bool
        Whether it leaves out documents that nobody judged, where that is known.
    no_objective : str
        Why it can't be an objective; empty if it can.
    damping : float, optional
        What an objective divides score distances by unless told otherwise.
    surrogate : callable, optional
        From the metric to the one that an objective optimises in its place unless told otherwise:
        one that trains better rankings by this one's own measure.
    """

    name: str
    title: str
    source: str
    binary: bool
    discount: Callable[[RankingMetric, Floats], Floats]
    gain: Callable[[Facts], Floats]
    normalizer: Callable[[Facts], Floats]
    above: Above | None = None
    stop: Callable[[Facts], Floats] | None = None
    patience: Callable[[Facts], Floats] | None = None
    window: Callable[[Facts], tuple[Floats, Floats]] | None = None
    offset: Callable[[Facts], Floats] | None = None
    cutoff: Literal["optional", "required", "no"] = "optional"
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    pooled: Literal["middle", "last"] | None = None
    follows_label_order: bool = True
    signed_deltas: bool = False
    closed_ties: bool = True
    judged_only: bool = False
    no_objective: str = ""
    damping: float | None = None
    surrogate: Callable[[RankingMetric], RankingMetric] | None = None

    def __post_init__(self) -> None:
        if sum(part is not None for part in (self.above, self.stop, self.window)) > 1:
            raise ValueError(f"{self.name}: of above, stop and window only one is supported")

    def __str__(self) -> str:
        """How it is written: ``ndcg[@k]``, ``p@k``, ``auc``."""
        return self.name + {"optional": "[@k]", "required": "@k", "no": ""}[self.cutoff]

    @property
    def how_optimised(self) -> str:
        """What its objective costs for n documents in L classes, or why there is none."""
        if self.no_objective:
            return f"none: {self.no_objective}"
        if self.surrogate is not None:
            example = RankingMetric(self, 10)
            other = example.surrogate
            return f"{other.declaration._cost}, {example} as {other}"
        return self._cost

    @property
    def _cost(self) -> str:
        if self.signed_deltas:
            return "every pair, O(n^2)"
        if self.binary or (self.above, self.stop, self.window) == (None, None, None):
            return "one sweep, O(n L)"
        return "a sweep for each pair of classes, O(n L^2)"

    def __call__(self, cutoff: int | None = None, **parameters: Any) -> RankingMetric:
        """The metric with this cutoff and these parameters."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in parameters:
            if name not in known:
                options = ", ".join(known) or "none"
                raise ValueError(f"{self.name} has no option {name!r}; it has: {options}")
        if cutoff is None and self.cutoff == "required":
            raise ValueError(f"{self.name} needs a cutoff, such as {self.name}@10")
        if cutoff is not None:
            if self.cutoff == "no":
                raise ValueError(f"{self.name} takes no cutoff, got @{cutoff}")
            if not float(cutoff).is_integer() or cutoff < 1:
                raise ValueError(f"a cutoff is a whole number, at least 1, got @{cutoff}")
            cutoff = int(cutoff)
        chosen = tuple(
            (name, known[name].check(parameters[name])) for name in known if name in parameters
        )
        changed = tuple(item for item in chosen if item[1] != known[item[0]].default)
        return RankingMetric(self, cutoff, changed)


@dataclass(frozen=True)
class RankingMetric:
    """A metric ready to be used: prints as, and is parsed from, a name such as ``ndcg@10``.

    Examples
    --------
    >>> from lambdaplus.metrics import parse_metric
    >>> metric = parse_metric("ndcg@10", gain="linear")
    >>> str(metric)
    'ndcg(gain=linear)@10'
    >>> parse_metric(str(metric)) == metric
    True
    """

    declaration: Declaration
    cutoff: int | None = None
    changed: tuple[tuple[str, str | float], ...] = field(default=())

    def __str__(self) -> str:
        options = ",".join(
            f"{name}={shortest(value)}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.changed
        )
        name = self.declaration.name + (f"({options})" if options else "")
        return name if self.cutoff is None else f"{name}@{self.cutoff}"

    def __getitem__(self, parameter: str) -> Any:
        for name, value in self.changed:
            if name == parameter:
                return value
        for known in self.declaration.parameters:
            if known.name == parameter:
                return known.default
        raise KeyError(parameter)

    @property
    def surrogate(self) -> RankingMetric:
        """What an objective optimises in its place, or itself."""
        chosen = self.declaration.surrogate
        return self if chosen is None else chosen(self)

    @property
    def relevant(self) -> float | None:
        """Threshold that makes labels binary; None for a graded metric."""
        return float(self["relevant"]) if self.declaration.binary else None

    @property
    def over_data_set(self) -> bool:
        """Whether the whole data set is one ranking, its queries set aside."""
        return ("over", "dataset") in self.changed

    def discounts(self, ranks: Floats) -> Floats:
        """Weight of each rank, counted from 1, with the cutoff applied: (n,) -> (n,)."""
        found = np.asarray(self.declaration.discount(self, ranks), dtype=np.float64)
        return found if self.cutoff is None else np.where(ranks <= self.cutoff, found, 0.0)


def shortest(number: float) -> str:
    """The number as text, every digit of it, and no ``.0``."""
    text = f"{number:g}"
    return text if float(text) == number else repr(number)


class Facts:
    """What a declaration may look at: the classes of every query of one data set.

    Attributes
    ----------
    metric : RankingMetric
    label, count : (s,) float64
        Label and number of documents of each stratum (see ``lambdaplus.queries.Strata``).
    size : (n_queries,) float64
        Documents in each query.
    """

    def __init__(self, metric: RankingMetric, queries: Queries) -> None:
        self.metric = metric
        self.strata: Strata = queries.strata(metric.relevant)
        self.label = self.strata.label
        self.count = self.strata.count
        self.longest = int(queries.sizes.max())

    @cached_property
    def size(self) -> Floats:
        return self.sum(self.count)

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """Strata of relevant documents, (s,) bool."""
        threshold = 1.0 if self.metric.declaration.binary else self.metric["relevant"]
        return reaches(self.label, threshold)

    @cached_property
    def n_relevant(self) -> Floats:
        """Relevant documents in each query, (n_queries,)."""
        return self.sum(np.where(self.relevant, self.count, 0.0))

    @property
    def at_most(self) -> float:
        """The cutoff; infinity without one."""
        return np.inf if self.metric.cutoff is None else float(self.metric.cutoff)

    def sum(self, per_stratum: Floats) -> Floats:
        """Sum over the strata of each query: (s,) -> (n_queries,)."""
        return self.strata.sum(per_stratum)

    def spread(self, per_query: Floats) -> Floats:
        """Repeat a value per query for each of its strata: (n_queries,) -> (s,)."""
        return per_query[self.strata.query]

    @cached_property
    def higher(self) -> Floats:
        """Documents of the same query with a higher label, (s,)."""
        upto = np.cumsum(self.count)
        upto -= self.spread((upto - self.count)[self.strata.first[:-1]])
        return self.spread(self.size) - upto

    def ideal(self, gain: Floats) -> Floats:
        """Discounted gain of the best order, highest labels first: (s,) -> (n_queries,)."""
        discounts = self.metric.discounts(np.arange(1.0, self.longest + 1))
        upto = np.concatenate([[0.0], np.cumsum(discounts)])
        above = self.higher.astype(np.int64)
        return self.sum(gain * (upto[above + self.count.astype(np.int64)] - upto[above]))
