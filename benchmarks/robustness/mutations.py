"""Random changes of sound files: of bytes, of JSON documents, of ONNX models, of NumPy archives."""

from __future__ import annotations

import io
import json
import random
import struct
from typing import Any

import numpy as np
import onnx

WEIRD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**31, 2**63, 10**400, 1e18, 1.5, -0.0, "", "\x1b[31mred", "a\nb"),
    *("\u202egnp.exe", "$x_$", "../../etc", "gpu", "\ud800", [], {}, [[]], {"a": {}}, "1e999"),
    *("9" * 5000, ["gpu"] * 300, {"0-2": "gpu"}, float("nan"), float("inf")),
)
TOKENS = (
    *(b"\x00", b"\x1b]0;title\x07", b"\xff\xfe", b"9" * 400, b"1e999", b"-1", b"NaN", b"\n\n"),
    *(b"<!ENTITY a 'b'>", b"&a;", b"{", b"]]", b",,,", b"'", b'"', b"*" * 50, b"&a *a", b"!!x "),
    *("\u202e".encode(), b"[" * 3000, b"9" * 30, b"e-400", b"\t", b"<<: ", b"%", b"\r"),
)
NUMBERS = (-(2**63), -1, 0, 1, 7, 2**31, 2**40, 2**63 - 1)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Change one or two places: a value of a JSON document, or bytes of anything."""
    for _ in range(rng.randint(1, 2)):
        document = _document(data)
        if isinstance(document, dict | list) and document and rng.random() < 0.7:
            data = json.dumps(with_a_change(document, rng)).encode("utf-8", "surrogatepass")
        else:
            data = with_other_bytes(data, rng)
    return data


def _document(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def with_a_change(document: Any, rng: random.Random) -> Any:
    """Put a weird value anywhere into a document, leave an entry out, or call it otherwise."""
    node = document
    while True:
        key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
        inner = node[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
            node = inner
            continue
        choice = rng.random()
        if choice < 0.25:
            del node[key]
        elif choice < 0.4 and isinstance(node, dict):
            node[str(rng.choice(WEIRD))[:60]] = inner
        elif choice < 0.5 and isinstance(node, list):
            node.insert(rng.randrange(len(node) + 1), inner)
        elif choice < 0.65 and isinstance(inner, int):
            node[key] = inner + rng.choice((-1, 1, 1000, -inner))
        else:
            node[key] = rng.choice(WEIRD)
        return document


def with_other_bytes(data: bytes, rng: random.Random) -> bytes:
    """Leave a part out, double it, or replace it by something hostile."""
    begin = rng.randrange(len(data) + 1)
    end = min(len(data), begin + rng.choice((0, 1, 1, 8, 60)))
    middle = rng.choice((b"", data[begin:end] * 2, rng.choice(TOKENS), rng.choice(TOKENS)))
    return data[:begin] + middle + (b"" if rng.random() < 0.1 else data[end:])


def with_another_array(data: bytes, rng: random.Random) -> bytes:
    """Change one array of a NumPy archive, or the archive's bytes.

    The array is missing, of another shape or kind, or out of range.
    """
    if rng.random() < 0.3:
        return mutated(data, rng)
    with np.load(io.BytesIO(data)) as file:
        arrays = {name: file[name] for name in file.files}
    name = rng.choice(sorted(arrays))
    array = arrays.pop(name)
    if name == "meta" and rng.random() < 0.8:
        document = with_a_change(json.loads(array.tobytes()), rng)
        text = json.dumps(document).encode("utf-8", "surrogatepass")
        array = np.frombuffer(text, np.uint8)
    elif array.size and array.dtype.kind in "iuf" and rng.random() < 0.5:
        array = array.copy()
        if array.dtype.kind == "f":
            array.reshape(-1)[rng.randrange(array.size)] = rng.choice((np.nan, np.inf, 1e30))
        else:
            least, most = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
            number = min(max(rng.choice(NUMBERS), int(least)), int(most))
            array.reshape(-1)[rng.randrange(array.size)] = number
    else:
        array = rng.choice(
            (array[:-1] if array.ndim else array, array[..., None], array.astype("U9"))
        )
    if rng.random() < 0.9:
        arrays[name if rng.random() < 0.9 else "\x1b[31m"] = array
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def with_another_header(data: bytes, rng: random.Random) -> bytes:
    """Change the shape or the type that an ``.npy`` file claims, or its bytes."""
    if rng.random() < 0.4:
        return mutated(data, rng)
    (length,) = struct.unpack("<H", data[8:10])
    shape = rng.choice(("(10**12,)", "(-1,)", "(4000000000, 4)", "()", "(1,) * 90", "(2, 3"))
    kind = rng.choice(("<f4", "<f8", "|O", "<U99999999", "|S0", "no", "<c16", "|V7"))
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return data[:8] + struct.pack("<H", len(head)) + head + data[10 + length :]


def with_another_model(data: bytes, rng: random.Random) -> bytes:
    """Change one or two fields of an ONNX model, or its bytes."""
    if rng.random() < 0.25:
        return with_other_bytes(data, rng)
    model = onnx.ModelProto.FromString(data)
    for _ in range(rng.randint(1, 2)):
        _change_message(model, rng)
    return bytes(model.SerializeToString())


def _change_message(message: Any, rng: random.Random) -> None:
    """Descend to a random field, and change it."""
    while True:
        fields = message.ListFields()
        if not fields:
            return
        field, value = rng.choice(fields)
        repeated = not hasattr(value, "ListFields") and hasattr(value, "append")
        if repeated and rng.random() < 0.25:
            at = rng.randrange(len(value))
            if rng.random() < 0.5:
                del value[at]
            elif field.type == field.TYPE_MESSAGE:
                value.add().CopyFrom(value[at])
            else:
                value.append(value[at])
            return
        if field.type == field.TYPE_MESSAGE:
            message = rng.choice(value) if repeated else value
            continue
        new = _other_value(field, rng)
        if repeated:
            value[rng.randrange(len(value))] = new
        elif rng.random() < 0.2:
            message.ClearField(field.name)
        else:
            setattr(message, field.name, new)
        return


def _other_value(field: Any, rng: random.Random) -> Any:
    if field.type == field.TYPE_STRING:
        return rng.choice(("", "\x1b[31m", "../../etc/passwd", "x", "y", "Conv", "If", "9" * 500))
    if field.type == field.TYPE_BYTES:
        return rng.choice((b"", b"\xff" * 9, b"SAME_UPPER", b"\x00" * 3))
    if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
        return rng.choice((0.0, -1.0, float("nan"), float("inf"), 1e30))
    if field.type == field.TYPE_ENUM:
        return rng.choice((0, 1, 7, 16, 99))
    number = rng.choice(NUMBERS)
    if field.type == field.TYPE_UINT64:
        return abs(number) % 2**63
    small = field.type in (field.TYPE_INT32, field.TYPE_UINT32)
    return abs(number) % 2**31 if small else number
