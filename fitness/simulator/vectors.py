"""Vectors of numbers of several design points, for compiled code.

A loop over lanes becomes vector instructions only if the compiler finds that it may. Here they are
explicit. Arithmetic, comparisons, ``min`` and ``max`` take vectors, and numbers for all lanes,
which become vectors of int64, float64 or conditions.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, register_model

from paretosoc.fitness.simulator.table_types import locate
from paretosoc.fitness.simulator.tables import LANES

WORD, FLOAT, BIT = ir.IntType(64), ir.DoubleType(), ir.IntType(1)


class Vector(types.Type):
    """``LANES`` numbers, or conditions."""

    def __init__(self, name, element):
        self.element = element
        self.value_type = ir.VectorType(element, LANES)
        super().__init__(f"Vector({name})")


INTEGERS, FLOATS, CONDITIONS = Vector("int64", WORD), Vector("float64", FLOAT), Vector("bit", BIT)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, fe_type.value_type)


def _vector(context, builder, typ, value, wanted):
    """Return a vector of the wanted type, from a vector or a number."""
    if isinstance(typ, Vector):
        return value
    number = types.float64 if wanted is FLOATS else types.int64
    one = context.cast(builder, value, typ, number)
    first = builder.insert_element(
        ir.Constant(wanted.value_type, ir.Undefined), one, ir.IntType(32)(0)
    )
    order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, first, order)


def _operation(function, result, compute):
    """Makes the function take two vectors, or one and a number."""

    @infer_global(function)
    class _Operation(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) != 2 or not any(isinstance(arg, Vector) for arg in args):
                return None
            kind = next(arg for arg in args if isinstance(arg, Vector))
            if any(isinstance(arg, Vector) and arg != kind for arg in args):
                return None
            return signature(result or kind, *args)

    def lower(context, builder, sig, args):
        kind = next(arg for arg in sig.args if isinstance(arg, Vector))
        pair = (
            _vector(context, builder, typ, value, kind)
            for typ, value in zip(sig.args, args, strict=True)
        )
        return compute(builder, kind is FLOATS, *pair)

    for left, right in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(function, left, right)(lower)


def _compare(how):
    def compute(builder, is_float, one, other):
        compare = builder.fcmp_ordered if is_float else builder.icmp_signed
        return compare(how, one, other)

    return compute


def _first_if(how):
    def compute(builder, is_float, one, other):
        return builder.select(_compare(how)(builder, is_float, one, other), one, other)

    return compute


def _arithmetic(integer, real):
    def compute(builder, is_float, one, other):
        return getattr(builder, real if is_float else integer)(one, other)

    return compute


_operation(operator.add, None, _arithmetic("add", "fadd"))
_operation(operator.sub, None, _arithmetic("sub", "fsub"))
_operation(operator.mul, None, _arithmetic("mul", "fmul"))
_operation(operator.truediv, None, _arithmetic("fdiv", "fdiv"))
_operation(operator.and_, None, _arithmetic("and_", "and_"))
_operation(operator.or_, None, _arithmetic("or_", "or_"))
_operation(operator.rshift, None, _arithmetic("ashr", "ashr"))
_operation(min, None, _first_if("<"))
_operation(max, None, _first_if(">"))
for _function, _how in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">")):
    _operation(getattr(operator, _function), CONDITIONS, _compare(_how))


@intrinsic
def integers(_, table, index):
    """Return the entries of a table of int64 from the index on."""
    return _loaded(INTEGERS, table, index)


@intrinsic
def floats(_, table, index):
    """Return the entries of a table of float64 from the index on."""
    return _loaded(FLOATS, table, index)


def _loaded(kind, table, index):
    def load(context, builder, sig, args):
        entries = builder.load(_place(context, builder, sig, args, kind))
        entries.align = 8
        return entries

    return kind(table, index), load


def _place(context, builder, sig, args, kind):
    pointer, _ = locate(context, builder, sig, args)
    return builder.bitcast(pointer, kind.value_type.as_pointer())


@intrinsic
def put(_, table, index, vector):
    """Writes a vector to a table from the index on."""

    def store(context, builder, sig, args):
        place = _place(context, builder, sig, args, vector)
        builder.store(args[2], place).align = 8
        return context.get_dummy_value()

    return types.none(table, index, vector), store


@intrinsic
def all_lanes(_, number):
    """Return a vector of one number in all lanes."""

    def fill(context, builder, sig, args):
        return _vector(context, builder, sig.args[0], args[0], INTEGERS)

    return INTEGERS(number), fill


@intrinsic
def as_floats(_, vector):
    """Convert int64 to float64, in a vector or a number."""

    def convert(context, builder, sig, args):
        if isinstance(vector, Vector):
            return builder.sitofp(args[0], FLOATS.value_type)
        return context.cast(builder, args[0], vector, types.float64)

    return (FLOATS if isinstance(vector, Vector) else types.float64)(vector), convert


@intrinsic
def as_integers(_, vector):
    """Convert float64 to int64, rounded towards 0, or conditions to 0 or 1. Numbers, too."""

    def convert(context, builder, sig, args):
        if vector is FLOATS or vector == FLOATS:
            return builder.fptosi(args[0], INTEGERS.value_type)
        if isinstance(vector, Vector):
            return builder.zext(args[0], INTEGERS.value_type)
        return context.cast(builder, args[0], vector, types.int64)

    return (INTEGERS if isinstance(vector, Vector) else types.int64)(vector), convert


@intrinsic
def where(_, condition, one, other):
    """Return ``one`` in lanes in which the condition holds, else ``other``."""

    def select(context, builder, sig, args):
        return builder.select(args[0], args[1], args[2])

    return one(condition, one, other), select


@intrinsic
def bits_of(_, condition):
    """Return a word whose bit i is 1 if the condition of lane i holds."""

    def pack(context, builder, sig, args):
        return builder.zext(builder.bitcast(args[0], ir.IntType(LANES)), WORD)

    return types.uint64(condition), pack


@intrinsic
def first_bit(_, bits):
    """Return the number of the lowest bit that is 1."""

    def count(context, builder, sig, args):
        return builder.cttz(args[0], BIT(1))

    return types.int64(bits), count
