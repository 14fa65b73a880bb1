"""The ONNX model of a language model or text encoder, its weights only shapes.

A decoder computes ``sequence`` tokens behind ``past`` cached positions: keys and values of these
are inputs, those of the new tokens results, as the cache grows in place. Logits are those of the
last token. Scalar factors (of embeddings, scores and logits) are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paretosoc.sdf.catalogue.language_models import LanguageModel
from paretosoc.sdf.onnx.nodes import FLOAT, INT64, Shape


class ModelWriter:
    """Collects the nodes, weights, inputs and outputs of an ONNX model.

    Weights have only shapes, since costs do not depend on their values. Methods that add a tensor
    return its name.
    """

    def __init__(self, name: str, *, opset: int, ir_version: int) -> None:
        self._name = name
        self._opset = opset
        self._ir_version = ir_version
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def node(self, operation: str, name: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node and its only result."""
        from onnx import helper

        self.nodes.append(helper.make_node(operation, inputs, [name], name=name, **attributes))
        return name

    def weight(self, name: str, shape: Shape) -> str:
        """Add a weight."""
        from onnx import TensorProto

        self.weights.append(TensorProto(name=name, data_type=FLOAT, dims=shape))
        return name

    def integers(self, name: str, values: Shape) -> str:
        """Add integers with their values: they say how tensors are cut and joined."""
        from onnx import helper

        self.weights.append(helper.make_tensor(name, INT64, (len(values),), values))
        return name

    def take(self, name: str, shape: Shape, dtype: int = FLOAT) -> str:
        """Add an input of the model."""
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def give(self, name: str, shape: Shape) -> None:
        """Make a tensor an output of the model."""
        from onnx import helper

        self._outputs.append(helper.make_tensor_value_info(name, FLOAT, shape))

    def model(self) -> bytes:
        """Return the finished model, the same bytes every time."""
        from onnx import helper

        graph = helper.make_graph(
            self.nodes, self._name, self._inputs, self._outputs, initializer=self.weights
        )
        opsets = [helper.make_opsetid("", self._opset)]
        made = helper.make_model(graph, ir_version=self._ir_version, opset_imports=opsets)
        data: bytes = made.SerializeToString(deterministic=True)
        return data


def build(model: LanguageModel, sequence: int, past: int = 0) -> bytes:
    """Return the model's bytes, the same every time."""
    graph = _Graph(model, sequence, past)
    return graph.encoder() if model.is_encoder else graph.decoder()


class _Graph(ModelWriter):
    """Every method adds nodes and returns the name of their result."""

    def __init__(self, model: LanguageModel, sequence: int, past: int) -> None:
        super().__init__(model.name, opset=23, ir_version=11)
        self._model = model
        self._sequence = sequence
        self._past = past

    def decoder(self) -> bytes:
        model = self._model
        ids = self.take("input_ids", (1, self._sequence), INT64)
        self.take("position_ids", (1, self._sequence), INT64)
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
            inner = self.node("Mul", f"{name}/gated", [gate, up])
            down = self._product(inner, f"{name}/down", model.inner, model.hidden)
            data = self._residual(data, down, f"{name}/mlp")
        data = self._norm(self._at(data, self._sequence - 1), "norm")
        if model.tied:
            matrix = self.node("Transpose", "logits_w", ["embedding_w"], perm=(1, 0))
            logits = self.node("MatMul", "logits", [data, matrix])
        else:
            logits = self._product(data, "logits", model.hidden, model.vocabulary)
        self.give(logits, (1, 1, model.vocabulary))
        return self.model()

    def encoder(self) -> bytes:
        model = self._model
        parts = []
        for name, rows in (
            ("input_ids", model.vocabulary),
            ("position_ids", model.positions),
            ("token_type_ids", 2),
        ):
            ids = self.take(name, (1, self._sequence), INT64)
            parts.append(self._lookup(name.replace("_ids", "_embedding"), rows, ids))
        data = self.node("Add", "embeddings/words_positions", parts[:2])
        data = self.node("Add", "embeddings/sum", [data, parts[2]])
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
        self.give(data, (1, self._sequence, model.hidden))
        pooled = self._biased(self._at(data, 0), "pooler", model.hidden, model.hidden)
        self.give(self.node("Tanh", "pooler/tanh", [pooled]), (1, 1, model.hidden))
        return self.model()

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
        query = self.node("Concat", f"{name}/query_joined", [unplaced, placed], axis=3)
        both = self._product(data, f"{name}/key_low", *third)
        narrow, shared = self._split(both, f"{name}/key_low", (low.rank, low.rotary), axis=2)
        wide = self._product(
            self._norm(narrow, f"{name}/key_norm", low.rank), f"{name}/key_value", *fourth
        )
        wide = self._split_heads(wide, f"{name}/key_value")
        key, value = self._split(wide, f"{name}/key_value", (plain, model.value), axis=3)
        shared = self._rotate(shared, f"{name}/key", 1, low.rotary)
        shared = self._reshape(shared, f"{name}/shared", (1, 1, length, low.rotary))
        copies = self.integers(f"{name}/copies", (1, model.heads, 1, 1))
        shared = self.node("Expand", f"{name}/copied", [shared, copies])
        key = self.node("Concat", f"{name}/key_joined", [key, shared], axis=3)
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
                self.give(tensor, new)
                if self._past:
                    shape = (1, model.key_heads, self._past, size)
                    cached = self.take(f"{name}/past_{what}", shape)
                    inputs += [cached] if what == "value" else ["", cached]
        result = self.node(
            "Attention", f"{name}/attention", inputs, is_causal=int(not model.is_encoder), **packed
        )
        if model.latent:
            result = self.node("Transpose", f"{name}/attended", [result], perm=(0, 2, 1, 3))
            width = model.heads * model.value
            result = self._reshape(result, f"{name}/packed", (1, self._sequence, width))
        make = self._biased if model.is_encoder else self._product
        return make(result, f"{name}/output", model.heads * model.value, model.hidden)

    def _residual(self, data: str, more: str, name: str) -> str:
        if self._model.post_norms:
            more = self._norm(more, f"{name}/post_norm")
        return self.node("Add", f"{name}/sum", [data, more])

    def _product(self, data: str, name: str, rows: int, columns: int) -> str:
        return self.node("MatMul", name, [data, self.weight(f"{name}_w", (rows, columns))])

    def _biased(self, data: str, name: str, rows: int, columns: int) -> str:
        bias = self.weight(f"{name}_b", (columns,))
        return self.node("Add", f"{name}/bias", [self._product(data, name, rows, columns), bias])

    def _norm(self, data: str, name: str, size: int = 0) -> str:
        scale = self.weight(f"{name}_w", (size or self._model.hidden,))
        return self.node("RMSNormalization", name, [data, scale])

    def _layer_norm(self, data: str, name: str) -> str:
        parts = [self.weight(f"{name}_{part}", (self._model.hidden,)) for part in "wb"]
        return self.node("LayerNormalization", name, [data, *parts])

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
        tables = [self.weight(f"{name}_{part}", (rows, size // 2)) for part in ("cos", "sin")]
        return self.node(
            "RotaryEmbedding", f"{name}/rotated", [data, *tables, "position_ids"], **heads
        )

    def _activation(self, data: str, name: str) -> str:
        if self._model.gelu:
            return self.node("Gelu", name, [data])
        return self.node("Mul", name, [data, self.node("Sigmoid", f"{name}/sigmoid", [data])])

    def _lookup(self, name: str, rows: int, ids: str) -> str:
        return self.node(
            "Gather", name, [self.weight(f"{name}_w", (rows, self._model.hidden)), ids]
        )

    def _at(self, data: str, position: int) -> str:
        """Return one token of several."""
        if self._sequence == 1:
            return data
        return self.node("Gather", "token", [data, self.integers("token_at", (position,))], axis=1)

    def _split_heads(self, data: str, name: str) -> str:
        """Make the heads the second dimension."""
        heads = self._model.heads
        data = self._reshape(data, f"{name}/heads", (1, self._sequence, heads, -1))
        return self.node("Transpose", f"{name}/transposed", [data], perm=(0, 2, 1, 3))

    def _split(self, data: str, name: str, sizes: tuple[int, int], axis: int) -> list[str]:
        from onnx import helper

        parts = [f"{name}/part{index}" for index in range(2)]
        lengths = self.integers(f"{name}/sizes", sizes)
        self.nodes.append(
            helper.make_node("Split", [data, lengths], parts, name=f"{name}/split", axis=axis)
        )
        return parts

    def _reshape(self, data: str, name: str, shape: Shape) -> str:
        return self.node("Reshape", name, [data, self.integers(f"{name}_shape", shape)])
