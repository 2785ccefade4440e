"""Sizes from which another way to the same numbers is faster."""

from dataclasses import dataclass


@dataclass
class Thresholds:
    """Sizes from which another way is faster, in one record, so that tests can lower them."""

    long_list: int = 32_768  # documents from which the scores of a list are rounded
    long_list_of_labels: int = 65_536  # the same if its labels are many
    few_labels: int = 16  # lists of no more labels, or elements, are not split by label
    few_elements: int = 1_000  # which pair by pair takes as long as the tree at 1,000 to 2,000
    pairs_by_rows: float = 6.0  # that take as long as one class and octet of rates of a sweep
    long_sweep: int = 8_192  # elements above which a list is swept down and up at the same time
    rows_per_thread: int = 16_000  # for fewer, another thread costs more time than it saves
    batch: int = 16_384  # documents whose arrays stay in the cache between kernels


THRESHOLDS = Thresholds()
