"""A table in every form."""

import math

from lambdaplus.evaluation import Cell, Table

ROWS = [("a_b", Cell(0.51234, "bc")), ("c|d", math.nan)]
TABLE = Table(("run", "map@10"), ROWS, ("A foot.", "Two:", "  x", "  y"))


def test_a_table_in_every_form() -> None:
    assert str(TABLE) == "run  map@10\na_b  0.5123bc\nc|d  -\nA foot.\nTwo:\n  x\n  y"
    assert TABLE.to_markdown() == (
        "| run | map@10 |\n|---|---|\n| a_b | 0.5123<sup>bc</sup> |\n| c\\|d | - |\n\n"
        "A foot.\n\nTwo:\n- x\n- y"
    )
    # The lines of a heading are one line of text.
    table = Table(("", "NDCG\n@10", "95 %\ninterval"), [("a", 0.5, "-")])
    assert str(table) == "   NDCG@10  95 % interval\na  0.5000   -"
    assert table.to_markdown().startswith("|  | NDCG@10 | 95 % interval |\n")
