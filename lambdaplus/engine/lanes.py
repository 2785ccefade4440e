"""Arithmetic on vectors of eight float64, for numba kernels.

LLVM does not vectorise numba's loops over short arrays, which could overlap.  ``Lanes`` values are
kept in registers; `load` and `store` move them from and to rows of a two-dimensional C-contiguous
array with eight columns.
"""

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from lambdaplus.compute.compiled import intrinsic

LANES = 8

_NUMBER = types.float64
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_INTEGERS = ir.VectorType(ir.IntType(64), LANES)
_ZEROS = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
# LLVM may reorder these sums in another way on another processor: results agree to rounding errors
# between processors, and exactly on one, whatever the number of threads.
_FAST = ("contract", "reassoc", "nsz")  # allow fused multiply-add and reordered sums


class LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


lanes = LanesType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, _VECTOR)  # type: ignore[no-untyped-call]


def _constant(value: float) -> Any:
    return ir.Constant(_VECTOR, [value] * LANES)


def _splat(builder: Any, value: Any) -> Any:
    # LLVM's idiom for a broadcast, which becomes one instruction: insert into lane 0, and copy it.
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, undefined, _ZEROS)


def _madd(builder: Any, x: Any, y: Any, z: Any, flags: tuple[str, ...] = _FAST) -> Any:
    return builder.fadd(builder.fmul(x, y, flags=flags), z, flags=flags)


def _row(context: Any, builder: Any, array_type: Any, array: Any, row: Any) -> Any:
    # The address of element [row, 0], without numba's checks of bounds and negative indices.
    data = context.make_array(array_type)(context, builder, array).data
    step = LANES if array_type.ndim == 2 else 1
    start = builder.gep(data, [builder.mul(row, ir.Constant(row.type, step))])
    return builder.bitcast(start, _VECTOR.as_pointer())


def _operation(result: Any, *arguments: Any, build: Callable[..., Any]) -> Any:
    """An intrinsic whose code is ``build(builder, *values)``; numbers are in every lane."""

    def emit(_context: Any, builder: Any, signature: Any, values: Any) -> Any:
        typed = zip(signature.args, values, strict=True)
        return build(builder, *(_splat(builder, x) if kind == _NUMBER else x for kind, x in typed))

    arguments = tuple(_NUMBER if isinstance(kind, types.Number) else kind for kind in arguments)
    return result(*arguments), emit


@intrinsic
def load(_typing: Any, array: Any, row: Any) -> Any:
    """array[row] as lanes; of one dimension, array[row : row + LANES]."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        vector = builder.load(_row(context, builder, signature.args[0], *values))
        # Rows need not be aligned with vectors, so promise no more than a float64's alignment;
        # where they are, such loads are as fast.
        vector.align = 8
        return vector

    return lanes(array, types.intp), emit


@intrinsic
def store(_typing: Any, value: Any, array: Any, row: Any) -> Any:
    """array[row] = value; of one dimension, array[row : row + LANES] = value."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        into = _row(context, builder, signature.args[1], values[1], values[2])
        builder.store(values[0], into).align = 8
        return context.get_dummy_value()

    return types.void(value, array, types.intp), emit


@intrinsic
def splat(_typing: Any, value: Any) -> Any:
    """The same number in every lane."""
    return _operation(lanes, types.float64, build=lambda _, x: x)


@intrinsic
def add(_typing: Any, x: Any, y: Any) -> Any:
    """x + y."""
    return _operation(lanes, x, y, build=lambda b, x, y: b.fadd(x, y, flags=_FAST))


@intrinsic
def mul(_typing: Any, x: Any, y: Any) -> Any:
    """x * y."""
    return _operation(lanes, x, y, build=lambda b, x, y: b.fmul(x, y, flags=_FAST))


@intrinsic
def madd(_typing: Any, x: Any, y: Any, z: Any) -> Any:
    """x * y + z."""
    return _operation(lanes, x, y, z, build=_madd)


@intrinsic
def divide(_typing: Any, x: Any, y: Any) -> Any:
    """x / y."""
    return _operation(lanes, x, y, build=lambda b, x, y: b.fdiv(x, y))


@intrinsic
def apart(_typing: Any, x: Any, y: Any) -> Any:
    """The absolute value of x - y."""

    def build(builder: Any, x: Any, y: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        size = builder.module.declare_intrinsic(f"llvm.fabs.v{LANES}f64", (), kind)
        return builder.call(size, [builder.fsub(x, y)])

    return _operation(lanes, x, y, build=build)


@intrinsic
def where_less(_typing: Any, x: Any, y: Any, then: Any, other: Any) -> Any:
    """In each lane ``then`` if x < y, else ``other``."""

    def build(builder: Any, x: Any, y: Any, then: Any, other: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", x, y), then, other)

    return _operation(lanes, x, y, then, other, build=build)


@intrinsic
def totals(_typing: Any, x: Any, y: Any) -> Any:
    """Sums of the lanes of x and of y."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        # Add x0 y0 x2 y2 ... and x1 y1 x3 y3 ..., then both halves until two lanes are left.
        both = _folded(builder, *values, *_INTERLEAVED)
        size = LANES
        # Three steps for eight lanes: 16 lanes become 8, then 4, then 2, the sums of x and of y.
        while size > 2:
            size //= 2
            low, high = range(size), range(size, 2 * size)
            both = _folded(builder, both, both, low, high)
        ends = [builder.extract_element(both, ir.Constant(ir.IntType(32), i)) for i in (0, 1)]
        return context.make_tuple(builder, signature.return_type, ends)

    pair: Any = types.Tuple((types.float64, types.float64))  # type: ignore[no-untyped-call]
    return pair(x, y), emit


@intrinsic
def pick(_typing: Any, is_x: Any, x: Any, y: Any) -> Any:
    """x if is_x else y, without a branch."""
    return _operation(lanes, is_x, x, y, build=lambda b, is_x, x, y: b.select(is_x, x, y))


_INTERLEAVED = [
    [half + part for part in range(0, LANES, 2) for half in (i, LANES + i)] for i in (0, 1)
]


def _folded(builder: Any, x: Any, y: Any, low: Any, high: Any) -> Any:
    """Concatenate x and y; return the lanes at the indices low plus those at high."""

    def taken(places: Any) -> Any:
        kind = ir.VectorType(ir.IntType(32), len(places))
        return builder.shuffle_vector(x, y, ir.Constant(kind, list(places)))

    return builder.fadd(taken(low), taken(high), flags=_FAST)


@intrinsic
def decay(_typing: Any, rates: Any, distance: Any) -> Any:
    """exp(-rates * distance), or 0 below 1e-60, so that products do not become denormal."""
    return _operation(lanes, rates, types.float64, build=_decay)


@intrinsic
def exponential(_typing: Any, exponent: Any) -> Any:
    """exp(exponent) of numbers that are not above 0, to 1e-14, or 0 below 1e-60."""
    return _operation(lanes, exponent, build=lambda b, exponent: _exp(b, exponent, degree=13))


# exp(t) = 2^whole exp(rest), with whole the integer next to t / log 2 and |rest| <= log(2) / 2,
# where the Taylor series to the degree 8 has a relative error of 2e-10, far below that of the fits.
_ROUND = 1.5 * 2.0**52  # after adding it, the low bits contain the nearest integer
_LEAST_EXPONENT = math.log(1e-60)


def _decay(builder: Any, rates: Any, distance: Any) -> Any:
    return _exp(builder, builder.fmul(rates, builder.fneg(distance)), degree=8)


def _exp(builder: Any, exponent: Any, degree: int) -> Any:
    alive = builder.fcmp_ordered(">", exponent, _constant(_LEAST_EXPONENT))
    exponent = builder.select(alive, exponent, _constant(0.0))
    # In a float64 of this size the last bit is worth 1, so the addition rounds to the nearest
    # integer and leaves it, in two's complement, in the low bits of the significand.
    shifted = builder.fadd(builder.fmul(exponent, _constant(1 / math.log(2))), _constant(_ROUND))
    nearest = builder.fsub(shifted, _constant(_ROUND))
    # Without "reassoc": LLVM before 20 would expand the product with _ROUND and lose precision.
    rest = _madd(builder, nearest, _constant(-math.log(2)), exponent, flags=("contract",))
    # Horner's rule.
    series = _constant(1 / math.factorial(degree))
    for power in range(degree - 1, -1, -1):
        series = _madd(builder, series, rest, _constant(1 / math.factorial(power)))
    # Multiply by 2^whole: add it to the exponent, which begins at bit 52; the shift drops the other
    # bits of `shifted`. The exponent stays in range, since t is above log(1e-60) and not above 0.
    to_exponent = builder.shl(
        builder.bitcast(shifted, _INTEGERS), ir.Constant(_INTEGERS, [52] * LANES)
    )
    scaled = builder.add(builder.bitcast(series, _INTEGERS), to_exponent)
    # A decay that is too small was computed as exp(0), without a branch, and is replaced by 0.
    return builder.select(alive, builder.bitcast(scaled, _VECTOR), _constant(0.0))
