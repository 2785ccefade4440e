"""How documents with the same score are ranked."""

from typing import Literal

Ties = Literal["expected", "worst", "best", "stable", "together"]
"""The mean over their orders, the worst or best order, that of the rows, or one threshold."""
