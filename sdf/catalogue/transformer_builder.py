"""The ONNX model of a language model or text encoder, its weights only shapes.

A decoder computes ``sequence`` tokens behind ``past`` cached positions: keys and values of these
are inputs, those of the new tokens results, as the cache grows in place. Logits are those of the
last token. Scalar factors (of embeddings, scores and logits) are left out.
"""

from __future__ import annotations

from typing import Any

from paretosoc.sdf.catalogue.language_models import LanguageModel
from paretosoc.sdf.onnx.nodes import FLOAT, Shape

_OPSET = 23
_IR_VERSION = 11
_INT64 = 7


def build(model: LanguageModel, sequence: int, past: int = 0) -> bytes:
    """Return the model's bytes, the same every time."""
    graph = _Graph(model, sequence, past)
    return graph.encoder() if model.is_encoder else graph.decoder()


class _Graph:
    """Every method adds nodes and gives the name of their result."""

    def __init__(self, model: LanguageModel, sequence: int, past: int) -> None:
        self._model = model
        self._sequence = sequence
        self._past = past
        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def decoder(self) -> bytes:
        model = self._model
        ids = self._input("input_ids", (1, self._sequence), _INT64)
        self._input("position_ids", (1, self._sequence), _INT64)
        data = self._lookup("embedding", model.vocabulary, ids)
        for index in range(model.layers):
            name = f"layer{index}"
            heads = self._latent if model.latent else self._heads
            query, key, value = heads(self._norm(data, f"{name}/norm1"), name)
            attended = self._attend(query, key, value, name)
            data = self._residual(data, attended, f"{name}/attention")
            hidden = self._norm(data, f"{name}/norm2")
            gate = self._product(hidden, f"{name}/gate", model.hidden, model.inner)
            gate = self._activation(gate, f"{name}/activation")
            up = self._product(hidden, f"{name}/up", model.hidden, model.inner)
            inner = self._node("Mul", f"{name}/gated", [gate, up])
            down = self._product(inner, f"{name}/down", model.inner, model.hidden)
            data = self._residual(data, down, f"{name}/mlp")
        data = self._norm(self._at(data, self._sequence - 1), "norm")
        logits = self._product(data, "logits", model.hidden, model.vocabulary)
        self._output(logits, (1, 1, model.vocabulary))
        return self._bytes()

    def encoder(self) -> bytes:
        model = self._model
        parts = []
        for name, rows in (
            ("input_ids", model.vocabulary),
            ("position_ids", model.positions),
            ("token_type_ids", 2),
        ):
            ids = self._input(name, (1, self._sequence), _INT64)
            parts.append(self._lookup(name.replace("_ids", "_embedding"), rows, ids))
        data = self._node("Add", "embeddings/words_positions", parts[:2])
        data = self._node("Add", "embeddings/sum", [data, parts[2]])
        data = self._layer_norm(data, "embeddings/norm")
        for index in range(model.layers):
            name = f"layer{index}"
            query, key, value = self._heads(data, name)
            attended = self._attend(query, key, value, name)
            data = self._layer_norm(
                self._residual(data, attended, f"{name}/attention"), f"{name}/norm1"
            )
            inner = self._biased(data, f"{name}/up", model.hidden, model.inner)
            inner = self._activation(inner, f"{name}/activation")
            down = self._biased(inner, f"{name}/down", model.inner, model.hidden)
            data = self._layer_norm(self._residual(data, down, f"{name}/mlp"), f"{name}/norm2")
        self._output(data, (1, self._sequence, model.hidden))
        pooled = self._biased(self._at(data, 0), "pooler", model.hidden, model.hidden)
        self._output(self._node("Tanh", "pooler/tanh", [pooled]), (1, 1, model.hidden))
        return self._bytes()

    def _heads(self, data: str, name: str) -> list[str]:
        model = self._model
        results = []
        for what, heads, (rows, columns) in zip(
            ("query", "key", "value"),
            (model.heads, model.key_heads, model.key_heads),
            model.projections,
            strict=True,
        ):
            make = self._biased if model.biased else self._product
            result = make(data, f"{name}/{what}", rows, columns)
            if what != "value" and model.head_norms:
                result = self._head_norm(result, f"{name}/{what}", heads)
            if what != "value" and not model.is_encoder:
                result = self._rotate(result, f"{name}/{what}", heads, model.head_size)
            results.append(result)
        return results

    def _latent(self, data: str, name: str) -> list[str]:
        """Build each head's query and key of latent attention. Only their last features carry a
        position. The key's are shared, and so copied to every head."""
        model, low = self._model, self._model.latent
        assert low is not None
        length, plain = self._sequence, model.head_size - low.rotary
        first, second, third, fourth = model.projections
        query = self._norm(self._product(data, f"{name}/query_low", *first), f"{name}/query_norm",
                           low.query_rank)  # fmt: skip
        query = self._split_heads(self._product(query, f"{name}/query", *second), f"{name}/query")
        unplaced, placed = self._split(query, f"{name}/query", (plain, low.rotary), axis=3)
        placed = self._rotate_heads(placed, f"{name}/query", low.rotary)
        query = self._node("Concat", f"{name}/query_joined", [unplaced, placed], axis=3)
        both = self._product(data, f"{name}/key_low", *third)
        narrow, shared = self._split(both, f"{name}/key_low", (low.rank, low.rotary), axis=2)
        wide = self._product(
            self._norm(narrow, f"{name}/key_norm", low.rank), f"{name}/key_value", *fourth
        )
        wide = self._split_heads(wide, f"{name}/key_value")
        key, value = self._split(wide, f"{name}/key_value", (plain, model.value), axis=3)
        shared = self._rotate(shared, f"{name}/key", 1, low.rotary)
        shared = self._reshape(shared, f"{name}/shared", (1, 1, length, low.rotary))
        copies = self._integers(f"{name}/copies", (1, model.heads, 1, 1))
        shared = self._node("Expand", f"{name}/copied", [shared, copies])
        key = self._node("Concat", f"{name}/key_joined", [key, shared], axis=3)
        return [query, key, value]

    def _attend(self, query: str, key: str, value: str, name: str) -> str:
        model = self._model
        inputs = [query, key, value]
        packed = (
            {} if model.latent else {"q_num_heads": model.heads, "kv_num_heads": model.key_heads}
        )
        if not model.is_encoder:
            for what, tensor, size in (
                ("key", key, model.head_size), ("value", value, model.value),
            ):  # fmt: skip
                new = (1, self._sequence, model.key_heads * size)
                if model.latent:
                    new = (1, model.key_heads, self._sequence, size)  # type: ignore[assignment]
                self._output(tensor, new)
                if self._past:
                    shape = (1, model.key_heads, self._past, size)
                    cached = self._input(f"{name}/past_{what}", shape, FLOAT)
                    inputs += [cached] if what == "value" else ["", cached]
        result = self._node(
            "Attention", f"{name}/attention", inputs, is_causal=int(not model.is_encoder), **packed
        )
        if model.latent:
            result = self._node("Transpose", f"{name}/attended", [result], perm=(0, 2, 1, 3))
            width = model.heads * model.value
            result = self._reshape(result, f"{name}/packed", (1, self._sequence, width))
        make = self._biased if model.is_encoder else self._product
        return make(result, f"{name}/output", model.heads * model.value, model.hidden)

    def _residual(self, data: str, more: str, name: str) -> str:
        if self._model.post_norms:
            more = self._norm(more, f"{name}/post_norm")
        return self._node("Add", f"{name}/sum", [data, more])

    def _product(self, data: str, name: str, rows: int, columns: int) -> str:
        return self._node("MatMul", name, [data, self._weight(f"{name}_w", (rows, columns))])

    def _biased(self, data: str, name: str, rows: int, columns: int) -> str:
        bias = self._weight(f"{name}_b", (columns,))
        return self._node("Add", f"{name}/bias", [self._product(data, name, rows, columns), bias])

    def _norm(self, data: str, name: str, size: int = 0) -> str:
        scale = self._weight(f"{name}_w", (size or self._model.hidden,))
        return self._node("RMSNormalization", name, [data, scale])

    def _layer_norm(self, data: str, name: str) -> str:
        parts = [self._weight(f"{name}_{part}", (self._model.hidden,)) for part in "wb"]
        return self._node("LayerNormalization", name, [data, *parts])

    def _head_norm(self, data: str, name: str, heads: int) -> str:
        size = self._model.head_size
        data = self._reshape(data, f"{name}/heads", (1, self._sequence, heads, size))
        data = self._norm(data, f"{name}/norm", size)
        return self._reshape(data, f"{name}/packed", (1, self._sequence, heads * size))

    def _rotate(self, data: str, name: str, heads: int, size: int) -> str:
        """Rotate the features of heads that are packed into the last dimension."""
        return self._rotate_heads(data, name, size, num_heads=heads)

    def _rotate_heads(self, data: str, name: str, size: int, **heads: int) -> str:
        rows = self._sequence + self._past
        tables = [self._weight(f"{name}_{part}", (rows, size // 2)) for part in ("cos", "sin")]
        return self._node(
            "RotaryEmbedding", f"{name}/rotated", [data, *tables, "position_ids"], **heads
        )

    def _activation(self, data: str, name: str) -> str:
        if self._model.gelu:
            return self._node("Gelu", name, [data])
        return self._node("Mul", name, [data, self._node("Sigmoid", f"{name}/sigmoid", [data])])

    def _lookup(self, name: str, rows: int, ids: str) -> str:
        return self._node(
            "Gather", name, [self._weight(f"{name}_w", (rows, self._model.hidden)), ids]
        )

    def _at(self, data: str, position: int) -> str:
        """Return one token of several."""
        if self._sequence == 1:
            return data
        return self._node(
            "Gather", "token", [data, self._integers("token_at", (position,))], axis=1
        )

    def _split_heads(self, data: str, name: str) -> str:
        """Make the heads the second dimension."""
        heads = self._model.heads
        data = self._reshape(data, f"{name}/heads", (1, self._sequence, heads, -1))
        return self._node("Transpose", f"{name}/transposed", [data], perm=(0, 2, 1, 3))

    def _split(self, data: str, name: str, sizes: tuple[int, int], axis: int) -> list[str]:
        from onnx import helper

        parts = [f"{name}/part{index}" for index in range(2)]
        lengths = self._integers(f"{name}/sizes", sizes)
        self._nodes.append(
            helper.make_node("Split", [data, lengths], parts, name=f"{name}/split", axis=axis)
        )
        return parts

    def _reshape(self, data: str, name: str, shape: Shape) -> str:
        return self._node("Reshape", name, [data, self._integers(f"{name}_shape", shape)])

    def _integers(self, name: str, values: Shape) -> str:
        from onnx import helper

        self._weights.append(helper.make_tensor(name, _INT64, (len(values),), values))
        return name

    def _weight(self, name: str, shape: Shape) -> str:
        from onnx import TensorProto

        # Only the shape: costs do not depend on the values.
        self._weights.append(TensorProto(name=name, data_type=FLOAT, dims=shape))
        return name

    def _node(self, operation: str, name: str, inputs: list[str], **attributes: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(operation, inputs, [name], name=name, **attributes))
        return name

    def _input(self, name: str, shape: Shape, dtype: int) -> str:
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def _output(self, name: str, shape: Shape) -> None:
        from onnx import helper

        self._outputs.append(helper.make_tensor_value_info(name, FLOAT, shape))

    def _bytes(self) -> bytes:
        from onnx import helper

        graph = helper.make_graph(
            self._nodes, self._model.name, self._inputs, self._outputs, initializer=self._weights
        )
        made = helper.make_model(
            graph, ir_version=_IR_VERSION, opset_imports=[helper.make_opsetid("", _OPSET)]
        )
        data: bytes = made.SerializeToString(deterministic=True)
        return data
