"""The compiler's types for :class:`fitness.simulator.types.tables.Tables`, and their lowering.

The loads of a field's address and shape are marked invariant, so that the compiler keeps them in
registers across writes to the tables. There are no negative indices, no slices and no checks of
bounds.
"""

from __future__ import annotations

import hashlib
import operator
from functools import lru_cache

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import lower_builtin, lower_getattr, lower_getattr_generic, register_model
from numba.np.numpy_support import from_dtype

WORD = ir.IntType(64)


class TableType(types.Type):
    """A table of int64 or of records, [rows, ...], rows one after the other."""

    def __init__(self, dtype, ndim):
        self.dtype, self.ndim = dtype, ndim
        super().__init__(f"Table({dtype}, {ndim})")


class TablesType(types.Type):
    """The type of the pointer.

    ``fields``: (name, kind), with an int for a figure, True or False for a constant of the type,
    else the type of a table.
    """

    def __init__(self, title, fields):
        self.fields = dict(fields)
        self.first_word = {}
        words = 0
        for name, kind in fields:
            self.first_word[name] = words
            words += 1 + kind.ndim if isinstance(kind, TableType) else 1
        # Short, since messages of the compiler repeat it.
        digest = hashlib.sha256(str(fields).encode()).hexdigest()
        super().__init__(f"{title}#{digest[:16]}")


class ColumnsType(types.Type):
    """A record of arrays of fixed lengths."""

    def __init__(self, dtype):
        self.tables = {}
        for name, (kind, offset, *_) in (dtype.fields or {}).items():
            base, (length,) = kind.subdtype or (kind, (1,))
            self.tables[name] = (offset, length, TableType(from_dtype(base), 1))
        super().__init__(f"Columns({dtype})")


# A front's members are simulated one after the other: hundreds of tables of few types.
@lru_cache(maxsize=256)
def tables_type(title, shapes):
    """Return the type of a dataclass with these fields, (name, type, dimensions or value)."""
    return TablesType(title, tuple((name, _kind(*shape)) for name, *shape in shapes))


def _kind(dtype, ndim):
    if dtype is bool or dtype is int:
        return ndim
    if any(field.subdtype for field, *_ in (dtype.fields or {}).values()):
        return ColumnsType(dtype)
    return TableType(from_dtype(dtype), ndim)


@register_model(TableType)
class _TableModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        shape = types.UniTuple(types.intp, fe_type.ndim)
        super().__init__(dmm, fe_type, [("data", types.voidptr), ("shape", shape)])


register_model(TablesType)(models.OpaqueModel)
register_model(ColumnsType)(models.OpaqueModel)


@infer_getattr
class _TablesAttributes(AttributeTemplate):
    key = TablesType

    def generic_resolve(self, typ, name):
        if name not in typ.fields:
            return None
        kind = typ.fields[name]
        if isinstance(kind, TableType):
            return kind if kind.ndim else kind.dtype
        if isinstance(kind, ColumnsType):
            return kind
        return types.boolean if isinstance(kind, bool) else types.int64


@lower_getattr_generic(TablesType)
def _get_field(context, builder, typ, value, name):
    kind = typ.fields[name]
    if isinstance(kind, bool):
        return context.get_constant(types.boolean, kind)
    words = builder.bitcast(value, WORD.as_pointer())

    def load(index):
        word = builder.load(builder.gep(words, [WORD(index)]))
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
        return word

    first = typ.first_word[name]
    if isinstance(kind, ColumnsType):
        return builder.inttoptr(load(first), cgutils.voidptr_t)
    if not isinstance(kind, TableType):
        return load(first)
    if kind.ndim == 0:
        pointer = builder.inttoptr(load(first), cgutils.voidptr_t)
        return context.unpack_value(builder, kind.dtype, _at(context, builder, kind, pointer))
    table = cgutils.create_struct_proxy(kind)(context, builder)
    table.data = builder.inttoptr(load(first), cgutils.voidptr_t)
    table.shape = cgutils.pack_array(builder, [load(first + 1 + d) for d in range(kind.ndim)])
    return table._getvalue()


@infer_getattr
class _ColumnsAttributes(AttributeTemplate):
    key = ColumnsType

    def generic_resolve(self, typ, name):
        return typ.tables[name][2] if name in typ.tables else None


@lower_getattr_generic(ColumnsType)
def _get_column(context, builder, typ, value, name):
    offset, length, kind = typ.tables[name]
    table = cgutils.create_struct_proxy(kind)(context, builder)
    table.data = builder.gep(value, [WORD(offset)], inbounds=True)
    table.shape = cgutils.pack_array(builder, [WORD(length)])
    return table._getvalue()


@infer_getattr
class _TableAttributes(AttributeTemplate):
    key = TableType

    def resolve_shape(self, typ):
        return types.UniTuple(types.intp, typ.ndim)


@lower_getattr(TableType, "shape")
def _get_shape(context, builder, typ, value):
    return cgutils.create_struct_proxy(typ)(context, builder, value).shape


def _at(context, builder, typ, data):
    return builder.bitcast(data, context.get_data_type(typ.dtype).as_pointer())


def _indices(index):
    return 1 if isinstance(index, types.Integer) else len(index)


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args, kws):
        table, index = args
        if not isinstance(table, TableType):
            return None
        left = table.ndim - _indices(index)
        return signature(TableType(table.dtype, left) if left else table.dtype, table, index)


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args, kws):
        table, index, _ = args
        if isinstance(table, TableType) and table.ndim == _indices(index):
            return signature(types.none, table, index, table.dtype)
        return None


def locate(context, builder, sig, args):
    """Return a pointer to an indexed entry, and the sizes of the dimensions left."""
    typ, index = sig.args[:2]
    table = cgutils.create_struct_proxy(typ)(context, builder, args[0])
    sizes = cgutils.unpack_tuple(builder, table.shape, typ.ndim)
    if isinstance(index, types.Integer):
        entries = [context.cast(builder, args[1], index, types.intp)]
    else:
        parts = cgutils.unpack_tuple(builder, args[1], len(index))
        entries = [
            context.cast(builder, p, t, types.intp) for p, t in zip(parts, index, strict=True)
        ]
    at = entries[0]
    for size, entry in zip(sizes[1:], entries[1:], strict=False):
        at = builder.add(builder.mul(at, size, flags=["nsw"]), entry, flags=["nsw"])
    left = sizes[len(entries) :]
    for size in left:
        at = builder.mul(at, size, flags=["nsw"])
    entries = _at(context, builder, typ, table.data)
    return builder.gep(entries, [at], inbounds=True), left


@lower_builtin(operator.getitem, TableType, types.Integer)
@lower_builtin(operator.getitem, TableType, types.BaseTuple)
def _get_item(context, builder, sig, args):
    pointer, left = locate(context, builder, sig, args)
    if left:
        table = cgutils.create_struct_proxy(sig.return_type)(context, builder)
        table.data = builder.bitcast(pointer, cgutils.voidptr_t)
        table.shape = cgutils.pack_array(builder, left)
        return table._getvalue()
    return context.unpack_value(builder, sig.return_type, pointer)


@lower_builtin(operator.setitem, TableType, types.Integer, types.Any)
@lower_builtin(operator.setitem, TableType, types.BaseTuple, types.Any)
def _set_item(context, builder, sig, args):
    pointer, _ = locate(context, builder, sig, args)
    if isinstance(sig.args[2], types.Record):
        size = WORD(sig.args[2].size)
        cgutils.raw_memcpy(builder, pointer, args[2], size, 1, align=8)
        return context.get_dummy_value()
    context.pack_value(builder, sig.args[2], args[2], pointer)
    return context.get_dummy_value()
