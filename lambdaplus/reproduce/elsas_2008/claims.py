"""What the committee perceptron paper says of OHSUMED, and whether it is so here."""

from __future__ import annotations

from lambdaplus.reproduce.elsas_2008.table4 import BASELINES, COMMITTEES, Table4
from lambdaplus.reproduce.findings import Claim


def claims(table4: Table4) -> tuple[Claim, ...]:
    """The paper's claims in its own order."""
    over = [
        f"{other} over {committee}"
        for committee in COMMITTEES
        for other in BASELINES
        if any(table4.mostly(other, committee))
    ]
    return (
        Claim(
            "Table 4",
            "No tests were significant over the committee perceptron.",
            not over,
            "By no metric is RankSVM or RankBoost better with more than half of the seeds."
            if not over
            else f"Significant: {', '.join(over)}.",
        ),
    )
