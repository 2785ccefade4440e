"""The parameters of an estimator, whose annotations say which values they may have.

``Literal["query", "pair"]`` allows these words, ``bool`` True and False, ``Annotated[int, check]``
what ``check(name, value)`` does not refuse, and ``| None`` also None.
"""

from dataclasses import fields
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from lambdaplus.compute.arguments import check_choice, check_flag, number, whole_number

Finite = Annotated[float, partial(number, least=-1e100)]
# Squares of larger numbers, in norms, are none.
positive = partial(number, most=1e100)
Positive = Annotated[float, positive]
AtLeastOne = Annotated[int, partial(whole_number, least=1)]


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError for a parameter whose value is not allowed."""
    # Annotations are postponed, which keeps signatures in help() short.
    hints = get_type_hints(type(estimator), include_extras=True)
    for field in fields(estimator):
        name, hint, value = field.name, hints[field.name], getattr(estimator, field.name)
        kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if value is None and NoneType in kinds:
            continue
        for kind in kinds:
            if kind is bool:
                check_flag(**{name: value})
            if get_origin(kind) is Literal:
                check_choice(name, value, get_args(kind))
            for check in getattr(kind, "__metadata__", ()):
                check(name, value)
