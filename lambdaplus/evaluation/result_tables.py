"""Tables for the terminal, in Markdown and LaTeX, and as data frames.

Examples
--------
>>> from lambdaplus.evaluation.result_tables import Cell, Table
>>> table = Table(("run", "map"), [("ours", Cell(0.52, "a")), ("theirs", 0.5)], ("5 queries",))
>>> print(table)
run     map
ours    0.5200a
theirs  0.5000
5 queries
>>> print(table.to_markdown())
| run | map |
|---|---|
| ours | 0.5200<sup>a</sup> |
| theirs | 0.5000 |
<BLANKLINE>
5 queries
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.console import Group

_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "_%&#${}"} | {"^": r"\^{}", "~": r"\~{}", "\\": r"\textbackslash{}"}
)


class Cell(NamedTuple):
    """A value with a mark, such as significance letters."""

    value: Any
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """Rows with column headings and footnotes.

    Attributes
    ----------
    columns : sequence of str
    rows : sequence of sequences of str, int, float or Cell
        Floats are shown with four digits; NaN as a dash.
    foot : sequence of str
    narrow : bool
        Whether floats are shown without a leading zero, as in .5123.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    foot: Sequence[str] = ()
    narrow: bool = False

    def __str__(self) -> str:
        shown = [
            list(self.columns),
            *([self._text(c) + _cell(c).mark for c in row] for row in self.rows),
        ]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = [
            "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
            for row in shown
        ]
        return "\n".join([*lines, *self.foot])

    def _text(self, content: Any) -> str:
        value = _cell(content).value
        if not isinstance(value, float):
            return str(value)
        text = "-" if math.isnan(value) else f"{value:.4f}"
        return text.replace("0.", ".", 1) if self.narrow and abs(value) < 1 else text

    def __rich__(self) -> Group:
        from rich import box
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        padding = (0, 0) if self.narrow else (0, 1)
        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=padding)
        numeric = [
            any(isinstance(_cell(row[i]).value, (int, float)) for row in self.rows)
            for i in range(len(self.columns))
        ]
        for name, number in zip(self.columns, numeric, strict=True):
            # A name that is too wide is wrapped; if it were cut, it could equal another name.
            table.add_column(
                Text(name), justify="right" if number else "left", no_wrap=number, overflow="fold"
            )
        for row in self.rows:
            table.add_row(
                *(Text.assemble(self._text(c), (_cell(c).mark, "bold green")) for c in row)
            )
        return Group(table, *(Text(line, style="dim") for line in self.foot))

    def to_markdown(self) -> str:
        """Return the table in GitHub's Markdown, with marks as superscripts.

        Footnotes are paragraphs; indented footnotes form a list.
        """

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(c.replace("|", r"\|") for c in cells) + " |"

        def shown(c: Any) -> str:
            mark = _cell(c).mark
            return self._text(c) + (f"<sup>{mark}</sup>" if mark else "")

        rule = "|" + "---|" * len(self.columns)
        lines = [line(self.columns), rule, *(line([shown(c) for c in row]) for row in self.rows)]
        foot = (f"\n- {f.strip()}" if f.startswith(" ") else f"\n\n{f}" for f in self.foot)
        return "\n".join(lines) + "".join(foot)

    _repr_markdown_ = to_markdown

    def to_latex(self) -> str:
        """Return the table in LaTeX (booktabs), with marks as superscripts, notes as comments."""

        def line(cells: Sequence[str]) -> str:
            return " & ".join(cells) + r" \\"

        def shown(c: Any) -> str:
            mark = _cell(c).mark
            return self._text(c).translate(_LATEX) + (f"$^{{{mark}}}$" if mark else "")

        head = line([name.translate(_LATEX) for name in self.columns])
        body = [line([shown(c) for c in row]) for row in self.rows]
        form = "l" + "r" * (len(self.columns) - 1)
        lines = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", head, r"\midrule", *body]
        return "\n".join(
            [*lines, r"\bottomrule", r"\end{tabular}", *(f"% {line}" for line in self.foot)]
        )

    def to_dataframe(self, backend: str = "pandas") -> Any:
        """Return the values without marks as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "modin"}

        Raises
        ------
        ImportError
            If narwhals, which is needed for all backends, or the backend is not installed.
        """
        try:
            import narwhals
        except ImportError:
            raise ImportError(
                "data frames need narwhals: pip install 'lambdaplus[dataframe]'"
            ) from None
        cells = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.columns)
        columns = {
            name: [_cell(c).value for c in column]
            for name, column in zip(self.columns, cells, strict=True)
        }
        chosen: Any = backend
        try:
            return narwhals.from_dict(columns, backend=chosen).to_native()
        except ModuleNotFoundError as missing:
            raise ImportError(
                f"{missing.name} is not installed: pip install {missing.name}, or pass another "
                "backend=, such as 'polars'"
            ) from None


class Tabular:
    """Base class of results that are printed and exported as their `table`."""

    @property
    def table(self) -> Table:
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.table)

    def __rich__(self) -> Table:
        return self.table

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return self.table.to_markdown()

    def _repr_markdown_(self) -> str:
        return self.table.to_markdown()

    def to_latex(self) -> str:
        """The table in LaTeX."""
        return self.table.to_latex()


def _cell(content: Any) -> Cell:
    return content if isinstance(content, Cell) else Cell(content)
