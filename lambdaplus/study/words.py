"""Numbers, metrics and intervals in the words of notes, tables and reports."""

import math

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
