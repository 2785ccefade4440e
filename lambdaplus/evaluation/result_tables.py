"""Tables as text, for terminals with rich, and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lambdaplus.compute.messages import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table as RichTable

_COLOURS = {"\N{DOWNWARDS ARROW}": "bold red"}  # of marks; green if not listed


def decimal(value: float, digits: int = 4, sign: str = "") -> str:
    """A number without a zero before the point, such as .5123; with sign "+", +.0123."""
    text = f"{value:{sign}.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def p_text(p: float, *, narrow: bool = False) -> str | float:
    """A p-value with four decimals; NaN, a dash in tables, for a difference without a test."""
    if math.isnan(p):
        return p
    return "<.0001" if p < 0.0001 else decimal(p) if narrow else f"{p:.4f}"


class Cell(NamedTuple):
    """A value (str, int, float, or a tuple of lines) with a mark, such as significance letters.

    Examples
    --------
    >>> from lambdaplus.evaluation import Cell
    >>> Cell(0.52, "a").mark
    'a'
    """

    value: Any
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """Rows with column headings and footnotes.

    Attributes
    ----------
    columns : sequence of str
    rows : sequence of sequences of str, int, float or Cell
        Floats are shown with four digits; NaN as a dash.  Control characters and line ends of text
        are shown as escapes.
    foot : sequence of str
    narrow : bool
        Whether floats are shown without a leading zero, as in .5123.
    names : int
        Number of first columns that name a row.  A terminal that is too narrow for all columns
        shows several tables, each with these.

    Examples
    --------
    >>> from lambdaplus.evaluation import Cell, Table
    >>> print(Table(("run", "map"), [("new", Cell(0.52, "a")), ("old", 0.5)], ("5 queries",)))
    run  map
    new  0.5200a
    old  0.5000
    5 queries
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    foot: Sequence[str] = ()
    narrow: bool = False
    names: int = 1

    @property
    def cells(self) -> list[list[Cell]]:
        """The rows, with every content as a cell."""
        return [[c if isinstance(c, Cell) else Cell(c) for c in row] for row in self.rows]

    def _texts(self, mark: str = "{}") -> Iterator[list[str]]:
        """The headings, then the rows, as text; ``mark`` is the format of marks."""
        # Lines of a heading are for narrow terminals: NDCG\n@10.
        yield [name.replace("\n@", "@").replace("\n", " ") for name in self.columns]
        for row in self.cells:
            yield [
                self._text(cell.value) + (mark.format(cell.mark) if cell.mark else "")
                for cell in row
            ]

    def _text(self, value: Any) -> str:
        if isinstance(value, tuple):
            return "\n".join(map(printable, value))
        if not isinstance(value, float):
            return printable(str(value))
        if math.isnan(value):
            return "-"
        return decimal(value) if self.narrow else f"{value:.4f}"

    def __str__(self) -> str:
        shown = list(self._texts())
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in shown)
        return "\n".join([*lines, *map(printable, self.foot)])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.measure import Measurement
        from rich.text import Text

        unlimited = options.update(width=10_000)

        def fits(columns: list[int]) -> bool:
            width = Measurement.get(console, unlimited, self._of_columns(columns)).maximum
            return width <= options.max_width

        # What does not fit goes into further tables, each with the names of its rows.
        names, shown = list(range(self.names)), list(range(self.names))
        for column in range(self.names, len(self.columns)):
            if len(shown) > len(names) and not fits([*shown, column]):
                yield self._of_columns(shown)
                shown = list(names)
            shown.append(column)
        yield self._of_columns(shown)
        yield from (Text(printable(line), style="dim") for line in self.foot)

    def _of_columns(self, columns: Sequence[int]) -> RichTable:
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        padding = (0, 0) if self.narrow else (0, 1)
        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=padding)
        for i in columns:
            name = self.columns[i]
            number = any(isinstance(row[i].value, (int, float)) for row in self.cells)
            # Wide names are wrapped, since names that are cut may look the same.
            table.add_column(
                Text(name), justify="right" if number else "left", no_wrap=number, overflow="fold"
            )
        for row in self.cells:
            table.add_row(
                *(
                    Text.assemble(self._text(c.value), (c.mark, _COLOURS.get(c.mark, "bold green")))
                    for c in (row[i] for i in columns)
                )
            )
        return table

    def to_markdown(self) -> str:
        """Return the table in GitHub's Markdown, with marks as superscripts.

        Footnotes are paragraphs; indented footnotes form a list.
        """
        shown = ([text.replace("|", r"\|") for text in row] for row in self._texts("<sup>{}</sup>"))
        head, *body = (f"| {' | '.join(row)} |" for row in shown)
        foot = (f"\n- {f.strip()}" if f.startswith(" ") else f"\n\n{f}" for f in self.foot)
        return "\n".join([head, "|" + "---|" * len(self.columns), *body]) + "".join(foot)

    _repr_markdown_ = to_markdown


class Tabular:
    """Base class of results that are printed and exported as their `table`."""

    @property
    def table(self) -> Table:
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def __rich__(self) -> Table:
        return self.table

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return self.table.to_markdown()

    _repr_markdown_ = to_markdown
