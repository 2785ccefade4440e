r"""The compiled part of the svmlight reader.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.data.scanner import scan
>>> text = np.frombuffer(b"2 qid:7 1:0.5 3:1\n", np.uint8)
>>> values, columns, ends = np.empty(3), np.empty(3, np.int32), np.empty(1, np.int64)
>>> runs, odd = np.empty((1, 3), np.int64), np.empty((4, 3), np.int64)
>>> scan(text, np.empty(1), runs, values, columns, ends, np.empty(1, np.int64), odd)
(1, 2, 1, 0, 0, -1)
>>> values[:2], columns[:2], ends
(array([0.5, 1. ]), array([0, 2], dtype=int32), array([2]))
"""

from __future__ import annotations

import numpy as np

from lambdaplus.compute.compiled import compiled
from lambdaplus.data.decimal import parse_number

MOST_COLUMNS = 2**31 - 1  # the limit of a SciPy matrix with 32-bit indices

_KINDS = np.zeros(256, np.uint8)  # type of a byte: 0 part of a token, 1 blank, 2 ends the data
_KINDS[list(b" \t\r\v\f")] = 1
_KINDS[list(b"\n#")] = 2


@compiled
def scan(text, labels, runs, values, columns, ends, unsorted, oddities):  # type: ignore[no-untyped-def]
    """Fill the arrays; return their used sizes, and the start of the first invalid line or -1.

    `runs` are (first row, start and end of the identifier); `oddities` (index of the value, or
    -1 - that of the label, start and end of the token) are numbers left to Python; `unsorted`
    are rows that have to be checked for features given twice.
    """
    row = entry = n_runs = n_odd = n_unsorted = i = 0
    while i < text.size:
        line = i
        while _KINDS[text[i]] == 1:
            i += 1
        if _KINDS[text[i]] == 0:
            start = i
            value, i, known = parse_number(text, i)
            if not known or _KINDS[text[i]] == 0:
                i = _token_end(text, start)
                _note(oddities, n_odd, -1 - row, start, i)
                n_odd += 1
            labels[row] = value
            while _KINDS[text[i]] == 1:
                i += 1
            # Comparing byte by byte stops at the end of the text, which is the end of a line.
            if not (text[i] == 113 and text[i + 1] == 105 and text[i + 2] == 100):  # "qid"
                return row, entry, n_runs, n_odd, n_unsorted, line
            start = i + 4
            if text[i + 3] != 58 or _KINDS[text[start]] != 0:  # ":"
                return row, entry, n_runs, n_odd, n_unsorted, line
            i = _token_end(text, start)
            if n_runs == 0 or not _same(text, runs[n_runs - 1, 1], runs[n_runs - 1, 2], start, i):
                _note(runs, n_runs, row, start, i)
                n_runs += 1
            before, ascending = 0, True
            while True:
                while _KINDS[text[i]] == 1:
                    i += 1
                if _KINDS[text[i]] == 2:
                    break
                start, column = i, 0
                while text[i] - np.uint8(48) <= 9 and column <= MOST_COLUMNS:
                    column = column * 10 + (text[i] - np.int64(48))
                    i += 1
                if text[i] != 58 or not 0 < column <= MOST_COLUMNS:
                    return row, entry, n_runs, n_odd, n_unsorted, line
                i += 1
                start = i
                value, i, known = parse_number(text, i)
                if not known or _KINDS[text[i]] == 0:
                    i = _token_end(text, start)
                    if i - start == 4 and _null(text, start):
                        value = np.nan
                    else:
                        _note(oddities, n_odd, entry, start, i)
                        n_odd += 1
                values[entry] = value
                columns[entry] = column - 1
                entry += 1
                ascending = ascending and column > before
                before = column
            if not ascending:
                unsorted[n_unsorted] = row
                n_unsorted += 1
            ends[row] = entry
            row += 1
        while text[i] != 10:
            i += 1
        i += 1
    return row, entry, n_runs, n_odd, n_unsorted, -1


@compiled
def _note(table, row, first, second, third):  # type: ignore[no-untyped-def]
    """Write a row of a table; assigning a tuple would take seconds to compile."""
    table[row, 0], table[row, 1], table[row, 2] = first, second, third


@compiled
def _token_end(text, i):  # type: ignore[no-untyped-def]
    while _KINDS[text[i]] == 0:
        i += 1
    return i


@compiled
def _same(text, start, end, other_start, other_end):  # type: ignore[no-untyped-def]
    k = 0
    while k < end - start and text[start + k] == text[other_start + k]:
        k += 1
    return k == end - start == other_end - other_start


@compiled
def _null(text, i):  # type: ignore[no-untyped-def]
    """Whether the next four bytes are NULL."""
    return text[i] == 78 and text[i + 1] == 85 and text[i + 2] == 76 and text[i + 3] == 76


@compiled
def fill(features, values, columns, ends):  # type: ignore[no-untyped-def]
    entry = 0
    for row in range(ends.size):
        while entry < ends[row]:
            features[row, columns[entry]] = values[entry]
            entry += 1
