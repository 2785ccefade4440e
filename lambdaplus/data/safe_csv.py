"""CSV for spreadsheets, which evaluate text that looks like a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars


def safe_csv(table: polars.DataFrame) -> str:
    """The table as CSV, with an apostrophe before text that spreadsheets would evaluate."""
    import polars as pl

    text = pl.selectors.string()
    formula = text.str.contains(r"^[=+\-@\t\r]") & text.cast(pl.Float64, strict=False).is_null()
    safe = pl.when(formula).then("'" + text).otherwise(text).name.keep()
    return table.with_columns(safe, pl.selectors.float().fill_nan(None)).write_csv()
