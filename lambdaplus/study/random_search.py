"""What a random search of parameters tried, and what it chose."""

import polars as pl

from lambdaplus.evaluation import Table
from lambdaplus.study.results import Results
from lambdaplus.study.summary import count


def searched_fits(results: Results) -> pl.DataFrame:
    """The fits with randomly drawn parameters, method by method."""
    return results.fits.filter(pl.col("method").is_in(results.searched))


def search_in_words(results: Results) -> str:
    """How many chosen rounds are close to their limit, which suggests that more would help."""
    chosen = searched_fits(results).filter("chosen")
    if not chosen.height:
        return ""
    late = chosen.filter(pl.col("round") > 0.95 * results.config.rounds).height
    return (
        f"{late} of {count(chosen.height, 'chosen round')} are in the last 5 % of the "
        f"{results.config.rounds:,} allowed{'; more rounds may help' if late else ''}."
    )


def parameter_table(results: Results) -> Table:
    """Quartiles of the chosen values of each numeric parameter, and the range of all draws.

    An option may also be drawn as None; the last column counts how often that was chosen.
    """
    rows = []
    for (method,), fits in searched_fits(results).group_by("method", maintain_order=True):
        drawn = fits["parameters"].str.json_decode(infer_schema_length=None).struct.unnest()
        drawn = drawn.with_columns(rounds=fits["round"]).select(pl.selectors.numeric())
        for values in drawn:
            chosen = values.filter(fits["chosen"])
            quartiles = (chosen.quantile(share, "linear") for share in (0.25, 0.5, 0.75))
            # None if None was drawn, or chosen, every time.
            numbers = (values.quantile(0.0), *quartiles, values.quantile(1.0))
            texts = ("-" if number is None else f"{number:.3g}" for number in numbers)
            none = f"{chosen.null_count()} of {len(chosen)}" if values.null_count() else "-"
            rows.append((method, values.name, *texts, none))
    chosen_heads = ("lower quartile", "median", "upper quartile")
    heads = ("method", "parameter", "lowest drawn", *chosen_heads, "highest drawn", "None chosen")
    return Table(heads, rows)
