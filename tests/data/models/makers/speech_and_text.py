"""Makers of language models, with and without caches, of encoders, and of speech networks."""

from __future__ import annotations

from typing import Any

import torch

from tests.data.models.makers.sources import First, by_dynamo, by_script, hf, source


def whisper() -> Any:
    from transformers import WhisperConfig

    return hf(
        "WhisperModel",
        WhisperConfig(
            d_model=384, encoder_layers=2, decoder_layers=2, encoder_attention_heads=6,
            decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536,
        ),
    )  # fmt: skip


@source("transformers, TorchScript, opset 17")
def whisper_tiny_encoder() -> Any:
    network = First(whisper().encoder, "input_features", "last_hidden_state")
    return by_script(network, (torch.rand(1, 80, 3000),), 17, "input_features", "hidden")


class Cached(torch.nn.Module):
    """A decoder step whose cache is a list of tensors: key and value of every layer."""

    def __init__(self, network: Any, layers: int, names: str, result: str) -> None:
        super().__init__()
        self.network, self.layers, self.names, self.result = network, layers, names.split(), result

    def forward(self, *tensors: Any) -> Any:
        from transformers import DynamicCache

        given = dict(zip(self.names, tensors, strict=False))
        flat = tensors[len(self.names) :]
        cache = DynamicCache()
        for layer in range(self.layers):
            cache.update(flat[2 * layer], flat[2 * layer + 1], layer)
        result = self.network(**given, past_key_values=cache, use_cache=True)
        present = [part for layer in cache.layers for part in (layer.keys, layer.values)]
        return (getattr(result, self.result), *present)


def cached(
    network: Any,
    layers: int,
    heads: int,
    size: int,
    export: Any,
    opset: int,
    result: str = "logits",
) -> Any:
    """A decoder step with the names that Optimum gives; all sizes dynamic."""
    past, step = 8, 1
    names = "input_ids attention_mask position_ids"
    inputs = [
        torch.ones(1, step, dtype=torch.int64), torch.ones(1, past + step, dtype=torch.int64),
        torch.full((1, step), past),
    ]  # fmt: skip
    inputs += [torch.rand(1, heads, past, size) for _ in range(2 * layers)]
    keys = [f"{layer}.{part}" for layer in range(layers) for part in ("key", "value")]
    if export is by_script:
        dynamic = {
            "input_ids": {0: "batch_size", 1: "sequence_length"},
            "attention_mask": {0: "batch_size", 1: "past_sequence_length + 1"},
            "position_ids": {0: "batch_size", 1: "sequence_length"},
            **{
                f"past_key_values.{key}": {0: "batch_size", 2: "past_sequence_length"}
                for key in keys
            },
        }
    else:
        length = torch.export.Dim("past_sequence_length", min=2, max=4096)
        dynamic = ((None, {1: length + 1}, None, *[{2: length}] * (2 * layers)),)
    wrapped = Cached(network, layers, names, result)
    return export(
        wrapped, tuple(inputs), opset, f"{names} " + " ".join(f"past_key_values.{k}" for k in keys),
        f"{result} " + " ".join(f"present.{key}" for key in keys), dynamic,
    )  # fmt: skip


def gpt2() -> Any:
    from transformers import GPT2Config

    return hf("GPT2LMHeadModel", GPT2Config(n_layer=2))


def smollm(attention: str = "eager") -> Any:
    from transformers import LlamaConfig

    return hf("LlamaForCausalLM", llama_configuration(LlamaConfig), attention=attention)


def llama_configuration(kind: Any) -> Any:
    """SmolLM-135M with 2 of its 30 blocks."""
    return kind(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=2,
        num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True,
        max_position_embeddings=2048,
    )  # fmt: skip


ONE_AFTER_1023 = {"sequence_length": 1, "past_sequence_length": 1023}


@source("transformers, TorchScript, opset 14, names of Optimum", **ONE_AFTER_1023)
def gpt2_with_past() -> Any:
    return cached(gpt2(), 2, 12, 64, by_script, 14)


@source("transformers, torch.export, opset 18, dynamic past", past_sequence_length=1023)
def smollm_with_past() -> Any:
    return cached(smollm(), 2, 3, 64, by_dynamo, 18)


@source("transformers, torch.export, opset 23 (Attention with grouped heads)",
        past_sequence_length=1023)  # fmt: skip
def smollm_attention23() -> Any:
    return cached(smollm("sdpa"), 2, 3, 64, by_dynamo, 23)


@source("transformers, torch.export, opset 18, 32 tokens at once")
def smollm_prefill() -> Any:
    network = First(smollm(), "input_ids", "logits", use_cache=False)
    return by_dynamo(network, (torch.ones(1, 32, dtype=torch.int64),), 18, "input_ids", "logits")


@source("transformers, TorchScript, opset 14", sequence_length=1, past_sequence_length=1023)
def whisper_tiny_decoder() -> Any:
    model = whisper()

    class Decoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.decoder = model.decoder

        def forward(self, ids: Any, hidden: Any, *flat: Any) -> Any:
            from transformers import DynamicCache, EncoderDecoderCache

            own = DynamicCache()
            for layer in range(2):
                own.update(flat[2 * layer], flat[2 * layer + 1], layer)
            cache = EncoderDecoderCache(own, DynamicCache())
            result = self.decoder(
                input_ids=ids, encoder_hidden_states=hidden, past_key_values=cache, use_cache=True,
                position_ids=torch.full_like(ids, 8),
            )  # fmt: skip
            present = [p for layer in own.layers for p in (layer.keys, layer.values)]
            return (result.last_hidden_state, *present)

    inputs = [torch.ones(1, 1, dtype=torch.int64), torch.rand(1, 1500, 384)]
    inputs += [torch.rand(1, 6, 8, 64) for _ in range(4)]
    keys = [f"{layer}.decoder.{part}" for layer in range(2) for part in ("key", "value")]
    names = "input_ids encoder_hidden_states " + " ".join(f"past_key_values.{k}" for k in keys)
    dynamic = {
        f"past_key_values.{key}": {0: "batch_size", 2: "past_sequence_length"} for key in keys
    }
    dynamic["input_ids"] = {0: "batch_size", 1: "sequence_length"}
    dynamic["encoder_hidden_states"] = {0: "batch_size"}
    outputs = "hidden " + " ".join(f"present.{key}" for key in keys)
    return by_script(Decoder().eval(), tuple(inputs), 14, names, outputs, dynamic)


def bert() -> Any:
    from transformers import BertConfig

    return hf(
        "BertModel",
        BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=2,
                   intermediate_size=512),
    )  # fmt: skip


def exported_bert(opset: int) -> Any:
    names = "input_ids attention_mask token_type_ids"
    axes = {0: "batch_size", 1: "sequence_length"}
    inputs = tuple(torch.ones(1, 16, dtype=torch.int64) for _ in range(3))
    network = First(bert(), names, "last_hidden_state pooler_output")
    dynamic = dict.fromkeys(names.split(), axes)
    return by_script(network, inputs, opset, names, "hidden pooled", dynamic)


@source("transformers, TorchScript, opset 14, with mask", sequence_length=128)
def bert_tiny() -> Any:
    return exported_bert(14)


@source("transformers, torch.export, opset 20, with mask")
def clip_text() -> Any:
    from transformers import CLIPTextConfig

    network = hf("CLIPTextModelWithProjection", CLIPTextConfig(num_hidden_layers=2))
    names = "input_ids attention_mask"
    inputs = tuple(torch.ones(1, 77, dtype=torch.int64) for _ in range(2))
    return by_dynamo(First(network, names, "text_embeds"), inputs, 20, names)


@source("transformers, TorchScript, opset 16")
def clip_vision() -> Any:
    from transformers import CLIPVisionConfig

    network = hf("CLIPVisionModelWithProjection", CLIPVisionConfig(num_hidden_layers=2))
    inputs = (torch.rand(1, 3, 224, 224),)
    return by_script(First(network, "pixel_values", "image_embeds"), inputs, 16)


@source("torch TorchScript, opset 15: LSTM and GRU")
def keyword_spotter() -> Any:
    class Spotter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.front = torch.nn.Conv1d(40, 64, 3, padding=1)
            self.lstm = torch.nn.LSTM(64, 96, bidirectional=True, batch_first=True)
            self.gru = torch.nn.GRU(192, 64, batch_first=True)
            self.head = torch.nn.Linear(64, 12)

        def forward(self, x: Any) -> Any:
            x = torch.relu(self.front(x)).transpose(1, 2)
            x, _ = self.lstm(x)
            x, _ = self.gru(x)
            return self.head(x[:, -1])

    return by_script(Spotter().eval(), (torch.rand(1, 40, 98),), 15)
