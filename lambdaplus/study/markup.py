"""Functions that generate HTML; all text is escaped here and nowhere else.

Examples
--------
>>> from lambdaplus.study.markup import details, table_of
>>> from lambdaplus.evaluation import Cell, Table
>>> table = Table(("method", "map"), [("svm<1>", Cell(0.5, "a"))])
>>> print(details("Means", table_of(table, "By method")))
<details><summary>Means</summary>
<div class="scroll"><table>
<caption>By method</caption>
<thead><tr><th scope="col">method</th><th scope="col" class="number">map</th></tr></thead>
<tbody>
<tr><th scope="row">svm&lt;1&gt;</th><td class="number best" data-value="0.5">0.5000<sup>a</sup></td></tr>
</tbody></table></div>
</details>
"""  # noqa: E501

from __future__ import annotations

import html
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from lambdaplus.evaluation import Cell, Table

Style = Callable[[int, int], str]


def text(content: object) -> str:
    return html.escape(str(content))


def table_of(
    table: Table,
    caption: str,
    *,
    head: int = 0,
    best: bool | Collection[tuple[int, int]] = True,
    shade: Style | None = None,
) -> str:
    """A table that scrolls separately; the script of the page sorts and filters it.

    Parameters
    ----------
    table : Table
    caption : str
    head : int
        Column with the name of a row.
    best : bool or collection of (int, int)
        Whether the largest float of each column is marked, compared by the digits shown; or the
        rows and columns of the cells to mark.
    shade : callable, optional
        Attributes of the cell in row i and column j.
    """
    numeric = [
        bool(table.rows) and all(_number(row[j]) is not None for row in table.rows)
        for j in range(len(table.columns))
    ]
    top = [_top([row[j] for row in table.rows]) for j in range(len(numeric))]

    def is_best(i: int, j: int, value: Any) -> bool:
        if isinstance(best, bool):
            return best and bool(top[j]) and shown(value) == top[j]
        return (i, j) in best

    columns = "".join(
        f'<th scope="col"{" class=" + chr(34) + "number" + chr(34) if number else ""}>'
        f"{text(name)}</th>"
        for name, number in zip(table.columns, numeric, strict=True)
    )
    rows = []
    for i, row in enumerate(table.rows):
        cells = []
        for j, content in enumerate(row):
            value, mark = _cell(content)
            inner = shown(value) + (f"<sup>{text(mark)}</sup>" if mark else "")
            if j == head:
                cells.append(f'<th scope="row">{inner}</th>')
                continue
            kind = "number best" if is_best(i, j, value) else "number"
            said = f' class="{kind}"' if numeric[j] else ""
            if isinstance(value, float):  # for sorting by all digits
                said += f' data-value="{value!r}"'
            cells.append(f"<td{said}{shade(i, j) if shade else ''}>{inner}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(
        [
            f'<div class="scroll"><table>\n<caption>{text(caption)}</caption>',
            f"<thead><tr>{columns}</tr></thead>\n<tbody>",
            *rows,
            "</tbody></table></div>",
        ]
    )


def shown(value: Any) -> str:
    """A value as displayed: floats with four digits, NaN as a dash."""
    if isinstance(value, float):
        if math.isnan(value):
            return "\N{EN DASH}"
        return f"{value:.4f}" if value <= 0 or value >= 5e-5 else "&lt;0.0001"
    return text(value)


def details(summary: str, content: str, *, opened: bool = False) -> str:
    """Content that is shown after a click on the summary."""
    said = " open" if opened else ""
    return f"<details{said}><summary>{text(summary)}</summary>\n{content}\n</details>"


def section(name: str, title: str, *content: str) -> str:
    """A section of the page; empty without content."""
    if not any(content):
        return ""
    parts = "\n".join(filter(None, content))
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">\n'
        f'<h2 id="{name}-title">{text(title)}</h2>\n{parts}\n</section>'
    )


def figure_of(svg: str, caption: str) -> str:
    """A plot with its caption."""
    named = svg.replace("<svg", f'<svg role="img" aria-label="{text(caption)}"', 1)
    return (
        f'<figure><div class="scroll plot">{named}</div>\n'
        f"<figcaption>{text(caption)}</figcaption></figure>"
    )


def paragraphs(lines: Sequence[str]) -> str:
    return "\n".join(f"<p>{text(line)}</p>" for line in lines if line)


def _top(column: Sequence[Any]) -> str:
    values = [_cell(content).value for content in column]
    floats = [v for v in values if isinstance(v, float) and not math.isnan(v)]
    return shown(max(floats)) if floats else ""


def _number(content: Any) -> float | None:
    """The value of a cell if it is a number, also if it is formatted as text."""
    try:
        return float(_cell(content).value)
    except ValueError:
        return None


def _cell(content: Any) -> Cell:
    return content if isinstance(content, Cell) else Cell(content)
