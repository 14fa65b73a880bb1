"""Linking of numba's machine code into libraries that are called without numba."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.core.typing.typeof import typeof
from numba.np.arrayobj import make_array, populate_array

from paretosoc.common.arrays import HEAD
from paretosoc.common.unfinished import temporary_folder, unfinished

POINTER, WORD = ir.IntType(8).as_pointer(), ir.IntType(64)


def object_code(dispatcher: Any, arguments: tuple[Any, ...]) -> bytes:
    """Compile a function for the types of arguments.

    Return an object file whose only function that others can call is ``returns_`` with the name of
    its result's type.
    """
    signature = tuple(_type_of(argument) for argument in arguments)
    # numba's own event ends before the code is made, which counts as compiling, too.
    with event.trigger_event("numba:compile", data={"dispatcher": dispatcher}):
        dispatcher.compile(signature)
        return _optimized(dispatcher.overloads[signature])


def link(code: bytes, path: Path) -> bool:
    """Link an object file to a library, at once or not at all. Return False without a linker."""
    linker = shutil.which(os.environ.get("CC", "cc"))
    if linker is None:
        return False
    with temporary_folder() as folder, unfinished(path) as part:
        (folder / "code.o").write_bytes(code)
        # Without libraries of its own: the process has the few functions of C that may be called.
        command = [linker, "-shared", "-nostdlib", "-s", "-o", "code.so", "code.o"]
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
            return False
        part.write_bytes((folder / "code.so").read_bytes())
        part.rename(path)
    return True


def _type_of(argument: Any) -> Any:
    """Return the type of an argument. Arrays may be read-only: kernels fill what they say."""
    typ = typeof(argument)
    if not isinstance(typ, types.Array):
        return typ
    return types.Array(typ.dtype, typ.ndim, "C" if typ.layout == "C" else "A")


def _optimized(compiled: Any) -> bytes:
    """Return the object file of a function and all that it calls, optimised together."""
    name = f"returns_{compiled.signature.return_type}"
    codegen = compiled.library.codegen
    module = compiled.library._get_module_for_linking().clone()
    entry = llvm.parse_assembly(str(_entry(compiled, name)))
    entry.data_layout = module.data_layout
    module.link_in(entry)
    for function in module.functions:
        if not function.is_declaration and function.name != name:
            function.linkage = "internal"
    passes, builder = codegen._module_pass_manager()
    passes.run(module, builder)
    unknown = [
        function.name
        for function in module.functions
        if function.is_declaration
        and function.name.startswith(("numba", "NRT", "Py", "_Py", "_ZN"))
    ]
    if unknown:
        raise TypeError(f"{compiled.fndesc.qualname} must not need {unknown[0]} when it runs")
    code: bytes = codegen._tm.emit_object(module)
    return code


def _entry(compiled: Any, name: str) -> ir.Module:
    """Return a module with a function of C that calls the compiled one."""
    context, signature = compiled.target_context, compiled.signature
    module = context.create_module(name)
    kinds = [
        POINTER if isinstance(typ, types.Array) else context.get_data_type(typ)
        for typ in signature.args
    ]
    is_none = signature.return_type == types.none
    restype = ir.VoidType() if is_none else context.get_data_type(signature.return_type)
    function = ir.Function(module, ir.FunctionType(restype, kinds), name)
    builder = ir.IRBuilder(function.append_basic_block())
    inner = ir.Function(
        module,
        context.call_conv.get_function_type(signature.return_type, signature.args),
        compiled.fndesc.llvm_func_name,
    )
    values = [
        _array(context, builder, typ, value)
        if isinstance(typ, types.Array)
        else context.data_model_manager[typ].from_data(builder, value)
        for typ, value in zip(signature.args, function.args, strict=True)
    ]
    _, result = context.call_conv.call_function(
        builder, inner, signature.return_type, signature.args, values
    )
    if is_none:
        builder.ret_void()
    else:
        builder.ret(context.data_model_manager[signature.return_type].as_data(builder, result))
    return module


def _array(context: Any, builder: Any, typ: Any, address: Any) -> Any:
    """Return numba's array from numpy's object."""

    def read(offset: int, kind: ir.Type) -> Any:
        place = builder.gep(address, [WORD(HEAD + offset)])
        return builder.load(builder.bitcast(place, kind.as_pointer()))

    def sizes(offset: int) -> Any:
        first = read(offset, WORD.as_pointer())
        return cgutils.pack_array(
            builder, [builder.load(builder.gep(first, [WORD(d)])) for d in range(typ.ndim)], WORD
        )

    array = make_array(typ)(context, builder)
    populate_array(
        array,
        data=builder.bitcast(read(0, POINTER), context.get_data_type(typ.dtype).as_pointer()),
        shape=sizes(16),
        strides=sizes(24),
        itemsize=context.get_constant(
            types.intp, context.get_abi_sizeof(context.get_data_type(typ.dtype))
        ),
        meminfo=None,
    )
    return array._getvalue()
