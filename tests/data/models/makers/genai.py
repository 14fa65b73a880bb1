"""Makers of what onnxruntime-genai writes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import onnx

from tests.data.models.makers.sources import hf, source
from tests.data.models.makers.speech_and_text import llama_configuration
from tests.data.models.makers.trim import in_float


def built(precision: str, kind: str = "LlamaForCausalLM") -> Any:
    """A model of onnxruntime-genai's builder, from a folder with random weights."""
    import transformers
    from onnxruntime_genai.models import builder

    families = {"LlamaForCausalLM": "LlamaConfig", "Qwen3ForCausalLM": "Qwen3Config"}
    configuration = llama_configuration(getattr(transformers, families[kind]))
    configuration.architectures = [kind]
    configuration.head_dim = 64
    configuration.pad_token_id = configuration.eos_token_id = configuration.bos_token_id = 0
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "given", Path(folder) / "made"
        hf(kind, configuration).save_pretrained(given)
        from tokenizers import Tokenizer, models

        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
        )
        tokenizer.save_pretrained(given)
        given_and_made = (None, str(given), str(made), precision, "cpu", folder)
        options = builder.parse_extra_options(*given_and_made, None)
        builder.create_model(*given_and_made, **options)
        return onnx.load(made / "model.onnx")


_GENAI = {"sequence_length": 1, "past_sequence_length": 1023, "total_sequence_length": 1024,
          "kv_cache_dim": 64}  # fmt: skip
_LENGTHS = {"attention_mask": [[1] * 1024]}


@source("onnxruntime-genai's builder, fp32: GroupQueryAttention", feeds=_LENGTHS, **_GENAI)
def genai_llama_fp32() -> Any:
    return built("fp32")


@source("onnxruntime-genai's builder, fp16", feeds=_LENGTHS,
        counted=lambda: in_float(genai_qwen3_fp16()), **_GENAI)  # fmt: skip
def genai_qwen3_fp16() -> Any:
    return built("fp16", kind="Qwen3ForCausalLM")


@source("onnxruntime-genai's builder, int4: MatMulNBits", feeds=_LENGTHS, **_GENAI)
def genai_llama_int4() -> Any:
    return built("int4")
