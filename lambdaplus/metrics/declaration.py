"""Declarations of ranking metrics.

Every metric of lambdaplus has the form

    M = 1/Z * ( offset + sum over ranks r of  d[r] * ( g[x_r] + sum_c A[x_r, c] * C_c(r) ) * h_r )

where x_r is the class of the document at rank r, C_c(r) is the number of class-c documents above
it, and h_r is the probability that the reader reaches rank r.  A `Declaration` defines d, g, Z and
offset, and its ``form`` the other parts: none (`Gains`), A (`CountAbove`) or h (`Cascade`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from lambdaplus.compute.arguments import (
    MAX,
    check_callable,
    check_choice,
    check_flag,
    check_text,
    number,
    whole_number,
)
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.removed import removed
from lambdaplus.metrics import forms
from lambdaplus.metrics.label_counts import CountsFunction
from lambdaplus.metrics.parameters import RELEVANT, Parameter, Share
from lambdaplus.metrics.ranking_metric import RankingMetric


@dataclass(frozen=True)
class Declaration:
    """The declaration of one metric: its discount d, gain g, normalizer Z and form.

    The page "Declare a metric" has the formula and an example.
    Functions get read-only `LabelCounts`, in which each label of each query is one of s strata.
    Their results are checked when the metric is first used on a data set.

    Attributes
    ----------
    name : str
        Lower case letters, digits and underscores, but no ``_10`` at the end, which is a cutoff in
        trec_eval's spelling.
    title, source : str
        A description, and the source of the definition.
    binary : bool
        Whether documents are only relevant or not (label >= ``relevant``, a parameter that is
        added automatically).
    discount : callable
        d as a function of the `RankingMetric` and of float ranks from 1: (r,) -> (r,).  It must not
        rise.
    gain, normalizer : callable
        g, (s,), and Z, (n_queries,), as functions of `LabelCounts`.  g must not fall with the
        label.  A query with Z = 0 has no value, for example if no document
        is relevant.
    form : Gains, CountAbove or Cascade
    offset : callable, optional
        The offset, (n_queries,), as a function of `LabelCounts`.
    cutoff : {"optional", "required", "no"}
        Whether ``name@k`` sets d to 0 beyond rank k.
    parameters : tuple of Parameter
    aliases : tuple of str
    pooled : {"middle", "last"}, optional
        Set if the metric is defined on one data set without queries.  Tied rows are then one step,
        as at a threshold, and a row of weight k counts as k identical rows; the discount of a step
        is that of the middle or last rank among its copies.  Only for Gains and CountAbove.
    follows_label_order : bool
        Whether ranking by label gives the highest value.  If not, the order of gains is not
        checked; an objective still ranks by label.
    closed_ties : bool
        Whether the mean over the orders of tied documents has a closed form; if not, ties are
        evaluated in their worst order.
    correlation : bool
        Whether it is a correlation of ranks.  Its value is divided by the square root of what tied
        scores leave of the variance of the ranks, of which tied documents have the mean.
    surrogate : str
        Name of the metric whose swap deltas weight the pairs in training by default, for a metric
        that few swaps change; empty for the metric itself without its cutoff.
    bounds : (float, float), optional
        The lowest and the highest value that the metric can have.  Confidence intervals stay
        within them.

    Notes
    -----
    Only functions of a module can be pickled.  With a lambda, or a function in a function, models
    and objectives of this metric cannot be saved by pickle or joblib; cloudpickle can, with which
    joblib sends them to other processes.

    Raises
    ------
    ValueError
        For an invalid name, a flag that is not True or False, anything else in place of text, a
        function, a Parameter or a tuple, an unknown form, and a form that cannot be pooled.

    Examples
    --------
    >>> from lambdaplus import evaluate
    >>> from lambdaplus.metrics import Declaration
    >>> bought = Declaration(
    ...     "bought", "Purchases, by rank", "this example", binary=True,
    ...     discount=lambda metric, ranks: 1.0 / ranks,
    ...     gain=lambda counts: counts.label,
    ...     normalizer=lambda counts: counts.ideal(counts.label),
    ... )
    >>> evaluate([0, 1, 0], [3.0, 2.0, 1.0], group=[3], metrics=[bought])["bought"]
    0.5
    """

    name: str
    title: str
    source: str
    binary: bool
    discount: Callable[[RankingMetric, Floats], Floats]
    gain: CountsFunction
    normalizer: CountsFunction
    form: forms.Form = field(default_factory=forms.Gains)
    offset: CountsFunction | None = None
    cutoff: Literal["optional", "required", "no"] = "optional"
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    pooled: Literal["middle", "last"] | None = None
    follows_label_order: bool = True
    closed_ties: bool = True
    correlation: bool = False
    surrogate: str = ""
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        self._check_kinds()
        for name in (self.name, *self.aliases):
            if not re.fullmatch("(?!.*_[0-9]+$)[a-z][a-z0-9_]*", name):
                raise ValueError(
                    "a metric's name consists of lower case letters, digits and _, begins with a "
                    f"letter and does not end in _ and a number (a cutoff), got {name!r}"
                )
        check_choice(f"{self.name}: cutoff", self.cutoff, ("optional", "required", "no"))
        if self.pooled is not None and not self.form.pools(self.pooled):
            raise ValueError(
                f"{self.name}: pooled={self.pooled!r} needs the form Gains, without ranks, or "
                "CountAbove over any class with pooled='last': others do not define weighted rows"
            )
        if self.binary and all(parameter.name != "relevant" for parameter in self.parameters):
            object.__setattr__(self, "parameters", (RELEVANT, *self.parameters))

    def _check_kinds(self) -> None:
        """Raise a ValueError for a field that is no text, flag, function, tuple or form."""
        for flag in ("binary", "follows_label_order", "closed_ties", "correlation"):
            check_flag(**{flag: getattr(self, flag)})
        for name, given in (("parameters", self.parameters), ("aliases", self.aliases)):
            if not isinstance(given, tuple | list):
                raise ValueError(f"{self.name}: {name} must be a tuple, got {given!r}")
            object.__setattr__(self, name, tuple(given))  # which has a hash
        for name in ("name", "title", "source", "surrogate"):
            check_text(**{name: getattr(self, name)})
        for alias in self.aliases:
            check_text(alias=alias)
        self._check_bounds()
        check_callable(discount=self.discount, gain=self.gain, normalizer=self.normalizer)
        if self.offset is not None:
            check_callable(offset=self.offset)
        for parameter in self.parameters:
            if not isinstance(parameter, Parameter):
                raise ValueError(f"{self.name}: {parameter!r} in parameters is no Parameter")
        if not isinstance(self.form, forms.Form):
            kinds = ", ".join(kind.__name__ for kind in forms.Form.__subclasses__())
            raise ValueError(f"{self.name}: form must be one of {kinds}, got {self.form!r}")

    def _check_bounds(self) -> None:
        ends = self.bounds
        if ends is None:
            return
        if not isinstance(ends, tuple | list) or len(ends) != 2:
            raise ValueError(f"{self.name}: bounds must be two numbers, got {ends!r}")
        low, high = (number(f"{self.name}: a bound", end, least=-MAX) for end in ends)
        if low >= high:
            raise ValueError(
                f"{self.name}: bounds must be the lowest and the highest value, got {ends!r}"
            )
        object.__setattr__(self, "bounds", (low, high))

    def __str__(self) -> str:
        """The name with its cutoff: ``ndcg[@k]``, ``p@k``, ``auc``."""
        return self.name + {"optional": "[@k]", "required": "@k", "no": ""}[self.cutoff]

    def __call__(self, cutoff: int | str | Share | None = None, **parameters: Any) -> RankingMetric:
        """The `RankingMetric` with this cutoff and these parameters; a ValueError if invalid.

        A cutoff is a number of ranks, or a share of the documents such as ``"1%"``.
        """
        by_name = {parameter.name: parameter for parameter in self.parameters}
        for name in parameters:
            if name not in by_name:
                options = ", ".join(by_name) or "none"
                raise ValueError(
                    f"{self.name} has no option {name!r}{removed(name)}; it has: {options}"
                )
        if cutoff is None and self.cutoff == "required":
            raise ValueError(f"{self.name} needs a cutoff, such as {self.name}@10")
        if cutoff is not None:
            if self.cutoff == "no":
                raise ValueError(f"{self.name} takes no cutoff, got @{cutoff}")
            if isinstance(cutoff, str):
                cutoff = Share.parse(cutoff)
            if not isinstance(cutoff, Share):
                cutoff = whole_number("a cutoff", cutoff, least=1, below=2**53)
        checked = tuple(
            (name, by_name[name].check(parameters[name])) for name in by_name if name in parameters
        )
        changed = tuple(item for item in checked if item[1] != by_name[item[0]].default)
        return RankingMetric(self, cutoff, changed)


Metric = str | RankingMetric | Declaration  # what is accepted wherever a metric is named
