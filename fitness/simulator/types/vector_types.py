"""The compiler's types and instructions for :mod:`fitness.simulator.types.vectors`.

Arithmetic, comparisons, ``min`` and ``max`` take vectors, and numbers for all lanes, which become
vectors of int64, float64 or conditions.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.typing.templates import (
    AbstractTemplate,
    infer,
    infer_global,
    make_intrinsic_template,
    signature,
)
from numba.extending import lower_builtin, register_model

from paretosoc.fitness.simulator.types.table_types import locate
from paretosoc.fitness.simulator.types.tables import LANES
from paretosoc.fitness.simulator.types.vectors import (
    all_lanes,
    as_floats,
    as_integers,
    bits_of,
    first_bit,
    floats,
    integers,
    put,
    where,
)

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
    """Make the function take two vectors, or one and a number."""

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


def _instruction(function):
    """Lower a function of :mod:`fitness.simulator.types.vectors` with the decorated one."""

    def register(lower):
        template = make_intrinsic_template(function, lower, function.__name__)
        infer(template)
        infer_global(function, types.Function(template))
        return lower

    return register


@_instruction(integers)
def _integers(_, table, index):
    return _loaded(INTEGERS, table, index)


@_instruction(floats)
def _floats(_, table, index):
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


@_instruction(put)
def _put(_, table, index, vector):
    def store(context, builder, sig, args):
        place = _place(context, builder, sig, args, vector)
        builder.store(args[2], place).align = 8
        return context.get_dummy_value()

    return types.none(table, index, vector), store


@_instruction(all_lanes)
def _all_lanes(_, number):
    def fill(context, builder, sig, args):
        return _vector(context, builder, sig.args[0], args[0], INTEGERS)

    return INTEGERS(number), fill


@_instruction(as_floats)
def _as_floats(_, vector):
    def convert(context, builder, sig, args):
        if isinstance(vector, Vector):
            return builder.sitofp(args[0], FLOATS.value_type)
        return context.cast(builder, args[0], vector, types.float64)

    return (FLOATS if isinstance(vector, Vector) else types.float64)(vector), convert


@_instruction(as_integers)
def _as_integers(_, vector):
    def convert(context, builder, sig, args):
        if vector is FLOATS or vector == FLOATS:
            return builder.fptosi(args[0], INTEGERS.value_type)
        if isinstance(vector, Vector):
            return builder.zext(args[0], INTEGERS.value_type)
        return context.cast(builder, args[0], vector, types.int64)

    return (INTEGERS if isinstance(vector, Vector) else types.int64)(vector), convert


@_instruction(where)
def _where(_, condition, one, other):
    def select(context, builder, sig, args):
        return builder.select(args[0], args[1], args[2])

    return one(condition, one, other), select


@_instruction(bits_of)
def _bits_of(_, condition):
    def pack(context, builder, sig, args):
        return builder.zext(builder.bitcast(args[0], ir.IntType(LANES)), WORD)

    return types.uint64(condition), pack


@_instruction(first_bit)
def _first_bit(_, bits):
    def count(context, builder, sig, args):
        return builder.cttz(args[0], BIT(1))

    return types.int64(bits), count
