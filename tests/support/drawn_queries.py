"""Metrics, labels and scores that tests try."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from lambdaplus.metrics import Declaration, RankingMetric

GRADES = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0)
TRIED = {  # options' values, where any choice, or 0.5, 1 and 2, will not do
    "over": ("query",),
    "top": (4.0, 5.0),
    "persistence": (0.8, 0.5),
    "fraction": (0.01, 0.3, 0.5),
}
TIED_SCORES = (-1.5, -0.0, 0.0, 0.25, 2.0)


def label_lists(most: int, least: int = 1) -> st.SearchStrategy[list[float]]:
    """Labels of up to five classes."""
    pools = st.sets(st.sampled_from(GRADES), min_size=1, max_size=5).map(sorted)
    return pools.flatmap(
        lambda pool: st.lists(st.sampled_from(pool), min_size=least, max_size=most)
    )


@st.composite
def metrics(draw: st.DrawFn, declaration: Declaration) -> RankingMetric:
    """A declared metric with any of its options, and any small cutoff if it takes one.

    Each query is a ranking of its own: what a metric over the data set is has a test of its own.
    """
    options = {
        known.name: draw(st.sampled_from(TRIED.get(known.name, known.choices or (1.0, 0.5, 2.0))))
        for known in declaration.parameters
    }
    return declaration(draw(cutoffs(declaration, st.integers(1, 14))), **options)


def cutoffs(
    declaration: Declaration, whole_numbers: st.SearchStrategy[int]
) -> st.SearchStrategy[int | None]:
    """Cutoffs that a metric takes, among these and none."""
    kinds = {"no": st.none(), "optional": st.none() | whole_numbers, "required": whole_numbers}
    return kinds[declaration.cutoff]


def by_default(declaration: Declaration) -> RankingMetric:
    """The metric with nothing chosen but a cutoff that it needs."""
    return declaration(5 if declaration.cutoff == "required" else None)


@st.composite
def queries(
    draw: st.DrawFn, most: int, least: int = 1, ties: bool = True
) -> tuple[list[float], list[float]]:
    """Labels and scores of one query, many scores tied or none at all."""
    labels = draw(label_lists(most, least))
    n = len(labels)
    spread_out = st.lists(
        st.floats(-30, 30, allow_subnormal=False), min_size=n, max_size=n, unique=True
    )
    tied = st.lists(st.sampled_from(TIED_SCORES), min_size=n, max_size=n)
    return labels, draw(spread_out | tied if ties else spread_out)


def kinds(declarations: Iterable[Declaration]) -> list[Declaration]:
    """The first declaration of each kind, where a kind is what the kernels tell apart.

    For tests of what a kernel does: whether a metric is declared right is a question of each, which
    the tests against the textbook ask of all of them.
    """

    def kind(declaration: Declaration) -> tuple[Any, ...]:
        form, flags = declaration.form, (declaration.binary, declaration.closed_ties)
        parts = (getattr(form, name, None) for name in ("relation", "limit", "ranks"))
        has = (part is None or part == "any" for part in parts)
        return type(form), *has, *flags, declaration.pooled, declaration.cutoff == "no"

    first: dict[tuple[Any, ...], Declaration] = {}
    for declaration in declarations:
        first.setdefault(kind(declaration), declaration)
    return list(first.values())


def weights_of(name: Any) -> dict[str, Any]:
    """Arguments of `gradients` for a metric, or for equal weights of pairs: ``auc equal``."""
    if isinstance(name, dict):
        return name
    if not isinstance(name, str) or " " not in name:
        return {"metric": name}
    return dict(zip(("metric", "pairs"), name.split(), strict=True))
