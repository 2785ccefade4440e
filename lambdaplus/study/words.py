"""Numbers, metrics, intervals and queries in the words of notes, tables and reports."""

import math
import re
from typing import NamedTuple

from lambdaplus.evaluation.result_tables import decimal


def label(metric: str) -> str:
    """The name of a metric for tables: MAP, NDCG@10, but auc(over=dataset)."""
    return metric if "(" in metric else metric.upper()


def count(n: int, singular: str, plural: str = "") -> str:
    """A number with its noun: 1 fold, 1,000 folds."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def range_of(interval: tuple[float, float], sign: str = "") -> str:
    """An interval, such as .703 to .773 or -.002..+.013; a dash if it has no bounds."""
    if any(map(math.isnan, interval)):
        return "-"
    return (".." if sign else " to ").join(decimal(bound, 3, sign) for bound in interval)


class Nouns(NamedTuple):
    """What a query and its rows are called: by the user's column of queries, such as session."""

    query: str = "query"
    queries: str = "queries"
    rows: str = "documents"
    without_relevant: str = "without a relevant document"  # that is, without a label of 1 or more

    @classmethod
    def of(cls, qid: str) -> "Nouns":
        """By the name of the column, without id; of names that are no words, the field's own."""
        parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", qid).lower()
        words = re.sub(r"[\W_]+", " ", parted).strip().removesuffix("id").strip()
        if words == "none":  # which stands for no queries
            return cls("row", "rows", "rows", "without a positive")
        # Of srch and q, a plural would be no word.
        if not re.fullmatch("[a-z ]*[aeiouy][a-z ]*", words) or len(words) < 3 or words == "query":
            return cls()
        return cls(words, _plural(words), "rows", "without a positive")


def _plural(word: str) -> str:
    if re.search("(ss|x|z|ch|sh)$", word):
        return word + "es"
    if word.endswith("s"):
        return word
    return re.sub("(?<![aeiou])y$", "ie", word) + "s"
