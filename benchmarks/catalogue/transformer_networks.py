"""Networks that the package transformers builds: encoders and decoders of text, images and sound.
Configurations are those of the published weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.catalogue.source import Source, with_forward

_HUGGING_FACE = "transformers, exported without weights"


def sources() -> Iterator[Source]:
    """Return all of them."""
    import transformers as tf

    yield from _segformers(tf)
    yield from _plain_transformers(tf)
    yield from _text_transformers(tf)
    yield from _whispers(tf)
    yield from _detection_transformers(tf)


def _image(name: str, family: str, text: str, pixels: int, build: Any, *accuracy: Any) -> Source:
    return Source(name, family, text, _HUGGING_FACE, ((1, 3, pixels, pixels),), build, *accuracy)


def _segformers(tf: Any) -> Iterator[Source]:
    for size, depths, width, pixels, percent in (
        (0, (2, 2, 2, 2), 256, 512, 37.4),
        (1, (2, 2, 2, 2), 256, 512, 42.2),
        (2, (3, 4, 6, 3), 768, 512, 46.5),
        (3, (3, 4, 18, 3), 768, 512, 49.4),
        (4, (3, 8, 27, 3), 768, 512, 50.3),
        (5, (3, 6, 40, 3), 768, 640, 51.0),
    ):
        sizes = [32, 64, 160, 256] if size == 0 else [64, 128, 320, 512]
        config = {"depths": depths, "hidden_sizes": sizes, "decoder_hidden_size": width}

        def build(config: dict[str, Any] = config) -> Any:
            model = tf.SegformerForSemanticSegmentation(
                tf.SegformerConfig(num_labels=150, **config)
            )
            return with_forward(model, lambda forward, x: forward(x).logits)

        yield _image(
            f"segformer_b{size}", "SegFormer", "attention over fewer keys, light decoder",
            pixels, build, percent, "ADE20K mIoU", "https://arxiv.org/abs/2105.15203",
        )  # fmt: skip


_SIZES = {"s": (384, 12, 6), "b": (768, 12, 12), "l": (1024, 24, 16)}
"""Width, layers and heads of vision transformers."""


def _plain_transformers(tf: Any) -> Iterator[Source]:
    def vision(letter: str, *, wide: bool = False, **more: Any) -> dict[str, Any]:
        width, layers, heads = _SIZES[letter]
        sizes = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads}
        return sizes | ({"intermediate_size": 4 * width} if wide else {}) | more

    def encoder(kind: Any, config: Any, take: str) -> Callable[[], Any]:
        config._attn_implementation = "eager"
        return lambda: with_forward(kind(config), lambda forward, x: getattr(forward(x), take))

    for letter in "sbl":
        config = tf.Dinov2Config(**vision(letter, image_size=224, patch_size=14))
        yield _image(
            f"dinov2_{letter}", "DINOv2", "features of an image, patches of 14 pixels", 224,
            encoder(tf.Dinov2Model, config, "last_hidden_state"),
        )  # fmt: skip
    for letter, neck, fused, stages in (
        ("s", [48, 96, 192, 384], 64, [3, 6, 9, 12]),
        ("b", [96, 192, 384, 768], 128, [3, 6, 9, 12]),
        ("l", [256, 512, 1024, 1024], 256, [5, 12, 18, 24]),
    ):
        inner = vision(letter, image_size=518, patch_size=14, reshape_hidden_states=False)
        inner["out_indices"] = stages
        backbone = tf.Dinov2Config(**inner, apply_layernorm=True)
        backbone._attn_implementation = "eager"
        config = tf.DepthAnythingConfig(
            backbone_config=backbone, reassemble_hidden_size=_SIZES[letter][0],
            neck_hidden_sizes=neck, fusion_hidden_size=fused,
        )  # fmt: skip
        yield _image(
            f"depth_anything_{letter}", "Depth Anything", "depth from one image, v1 and v2", 518,
            encoder(tf.DepthAnythingForDepthEstimation, config, "predicted_depth"),
        )  # fmt: skip
    yield _image(
        "sam_vit_b", "SAM", "image encoder: attention in windows, four times global", 1024,
        encoder(tf.SamVisionModel, tf.SamVisionConfig(), "last_hidden_state"),
    )  # fmt: skip
    for letter, patch in (("b", 32), ("b", 16), ("l", 14)):
        config = tf.CLIPVisionConfig(**vision(letter, wide=True), patch_size=patch)
        config.projection_dim = 512 if letter == "b" else 768
        yield _image(
            f"clip_vit_{letter}_{patch}_image", "CLIP", "image encoder", 224,
            encoder(tf.CLIPVisionModelWithProjection, config, "image_embeds"),
        )  # fmt: skip
    for letter, width, heads in (("b", 512, 8), ("l", 768, 12)):
        config = tf.CLIPTextConfig(
            hidden_size=width, intermediate_size=4 * width, num_attention_heads=heads,
            projection_dim=width,
        )  # fmt: skip
        yield Source(
            f"clip_vit_{letter}_text", "CLIP", "text encoder, 77 tokens", _HUGGING_FACE,
            ((1, 77),), encoder(tf.CLIPTextModelWithProjection, config, "text_embeds"),
        )  # fmt: skip
    config = tf.SiglipVisionConfig()
    yield _image(
        "siglip_base_image", "SigLIP", "image encoder, patches of 16 pixels", 224,
        encoder(tf.SiglipVisionModel, config, "pooler_output"),
    )  # fmt: skip
    config = tf.SiglipVisionConfig(
        hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, num_attention_heads=16,
        image_size=384, patch_size=14,
    )  # fmt: skip
    yield _image(
        "siglip_so400m_image", "SigLIP", "image encoder, patches of 14 pixels", 384,
        encoder(tf.SiglipVisionModel, config, "pooler_output"),
    )  # fmt: skip
    yield Source(
        "siglip_base_text", "SigLIP", "text encoder, 64 tokens", _HUGGING_FACE, ((1, 64),),
        encoder(tf.SiglipTextModel, tf.SiglipTextConfig(), "pooler_output"),
    )  # fmt: skip


def _text_transformers(tf: Any) -> Iterator[Source]:
    """Take encoders of text with the heads of their checkpoints, and of images by other rules."""

    def model(kind: Any, config: Any, take: str) -> Callable[[], Any]:
        config._attn_implementation = "eager"
        return lambda: with_forward(kind(config), lambda forward, x: getattr(forward(x), take))

    wide = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12}
    for name, family, text, tokens, build in (
        ("distilbert_base", "DistilBERT", "six layers, with the words' logits", 384,
         model(tf.DistilBertForMaskedLM, tf.DistilBertConfig(), "logits")),
        ("electra_base", "ELECTRA", "BERT that tells which words were replaced", 384,
         model(tf.ElectraForPreTraining, tf.ElectraConfig(embedding_size=768, **wide), "logits")),
        ("albert_base", "ALBERT", "one layer twelve times, with the words' logits", 384,
         model(tf.AlbertForMaskedLM, tf.AlbertConfig(**wide), "logits")),
        ("mobilebert", "MobileBERT", "narrow layers without normalisation, words' logits", 384,
         model(tf.MobileBertForMaskedLM, tf.MobileBertConfig(), "logits")),
    ):  # fmt: skip
        yield Source(name, family, text, _HUGGING_FACE, ((1, tokens),), build)
    config = tf.MarianConfig(
        vocab_size=65001, d_model=512, encoder_layers=6, decoder_layers=6, pad_token_id=0,
        encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=2048,
        decoder_ffn_dim=2048, max_position_embeddings=512, activation_function="swish",
        attn_implementation="eager",
    )  # fmt: skip

    def translator() -> Any:
        encoder = tf.MarianModel(config).encoder
        return with_forward(encoder, lambda forward, x: forward(x).last_hidden_state)

    yield Source(
        "opus_mt_encoder", "OPUS-MT", "encoder of translators, 256 tokens", _HUGGING_FACE,
        ((1, 256),), translator,
    )  # fmt: skip
    beit = tf.BeitConfig(
        num_labels=1000, use_relative_position_bias=True, use_mask_token=False,
        use_mean_pooling=True,
    )  # fmt: skip
    yield _image(
        "beit_b", "BEiT", "transformer, attention biased by relative positions", 224,
        model(tf.BeitForImageClassification, beit, "logits"),
    )  # fmt: skip
    levit = tf.LevitConfig(
        hidden_sizes=[128, 256, 384], num_attention_heads=[4, 6, 8], depths=[2, 3, 4],
        key_dim=[16, 16, 16], num_labels=1000,
    )  # fmt: skip
    yield _image(
        "levit_128s", "LeViT", "convolutions, then attention with few keys", 224,
        model(tf.LevitForImageClassification, levit, "logits"),
    )  # fmt: skip
    deit = tf.DeiTConfig(
        image_size=384, hidden_size=384, num_attention_heads=6, intermediate_size=1536
    )

    def reader() -> Any:
        """Build the encoder, with the keys and values that six layers of the decoder read."""
        import torch

        encoder = tf.DeiTModel(deit)
        encoder.caches = torch.nn.ModuleList(torch.nn.Linear(384, 256) for _ in range(12))

        def take(forward: Any, x: Any) -> Any:
            seen = forward(x).last_hidden_state
            return tuple(part(seen) for part in encoder.caches)

        return with_forward(encoder, take)

    deit._attn_implementation = "eager"
    yield _image(
        "trocr_small_encoder", "TrOCR", "transformer on patches of a line of text", 384, reader
    )


_AUDIO = 1500
"""Positions of Whisper's encoder: half a minute."""
_TOKENS = 200
"""Positions of its decoder, all but one of them cached."""


def _whispers(tf: Any) -> Iterator[Source]:
    for size, width, encoders, decoders, heads, bins, words in (
        ("tiny", 384, 4, 4, 6, 80, 51865),
        ("base", 512, 6, 6, 8, 80, 51865),
        ("small", 768, 12, 12, 12, 80, 51865),
        ("medium", 1024, 24, 24, 16, 80, 51865),
        ("large_v3_turbo", 1280, 32, 4, 20, 128, 51866),
    ):
        config = tf.WhisperConfig(
            d_model=width, encoder_layers=encoders, decoder_layers=decoders, num_mel_bins=bins,
            encoder_attention_heads=heads, decoder_attention_heads=heads, vocab_size=words,
            encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width,
        )  # fmt: skip
        config._attn_implementation = "eager"

        def encoder(config: Any = config) -> Any:
            """Build the encoder, with the keys and values that the decoder reads."""
            whole = tf.WhisperModel(config)
            parts = [layer.encoder_attn for layer in whole.decoder.layers]
            parts = [part for each in parts for part in (each.k_proj, each.v_proj)]
            whole.encoder.caches = whole.encoder.layers.__class__(parts)

            def take(forward: Any, sound: Any) -> Any:
                heard = forward(sound).last_hidden_state
                return tuple(part(heard) for part in parts)

            return with_forward(whole.encoder, take)

        yield Source(
            f"whisper_{size}_encoder", "Whisper", "audio of 30 s", _HUGGING_FACE,
            ((1, bins, 2 * _AUDIO),), encoder,
        )  # fmt: skip
        cache = [(1, heads, length, 64) for length in (_TOKENS - 1, _AUDIO) for _ in range(2)]
        yield Source(
            f"whisper_{size}_decoder", "Whisper", f"one more token behind {_TOKENS - 1}",
            _HUGGING_FACE, ((1, 1), *cache * decoders),
            partial(_step, tf.models.whisper.modeling_whisper.WhisperDecoder, config),
        )  # fmt: skip


def _step(kind: Any, config: Any) -> Any:
    """Let Whisper's decoder compute one token: caches are inputs, keys and values of the token and
    its logits are results."""
    import torch

    decoder = kind(config)
    decoder.head = torch.nn.Linear(config.d_model, config.vocab_size, bias=False)

    def attend(part: Any, x: Any, key: Any, value: Any) -> Any:
        query = (part.q_proj(x) * part.scaling).view(1, 1, -1, 64).transpose(1, 2)
        weights = torch.softmax(query @ key.transpose(2, 3), dim=-1)
        return part.out_proj((weights @ value).transpose(1, 2).reshape(1, 1, -1))

    def take(forward: Any, token: Any, *caches: Any) -> Any:
        x = decoder.embed_tokens(token) + decoder.embed_positions.weight[_TOKENS - 1]
        new = []
        for index, layer in enumerate(decoder.layers):
            key, value, audio_key, audio_value = caches[4 * index : 4 * index + 4]
            y = layer.self_attn_layer_norm(x)
            parts = (layer.self_attn.k_proj, layer.self_attn.v_proj)
            mine = [part(y).view(1, 1, -1, 64).transpose(1, 2) for part in parts]
            new += mine
            key, value = (torch.cat(both, dim=2) for both in zip((key, value), mine, strict=True))
            x = x + attend(layer.self_attn, y, key, value)
            y = layer.encoder_attn_layer_norm(x)
            x = x + attend(layer.encoder_attn, y, audio_key, audio_value)
            y = layer.fc2(layer.activation_fn(layer.fc1(layer.final_layer_norm(x))))
            x = x + y
        return decoder.head(decoder.layer_norm(x)), *new

    return with_forward(decoder, take)


def _detection_transformers(tf: Any) -> Iterator[Source]:
    """Take detectors with what runs: branches of a convolution that are one in an inference are
    one, and batch normalisations are not frozen, so that they are folded."""

    def detector(kind: Any, config: Any) -> Callable[[], Any]:
        config._attn_implementation = "eager"

        def build() -> Any:
            model = kind(config)
            for part in model.modules():
                if type(part).__name__.endswith("RepVggBlock"):
                    with_forward(part, lambda forward, x, part=part: part.activation(part.conv1(x)))
            return with_forward(
                model, lambda forward, x: _fields(forward(x), "logits", "pred_boxes")
            )

        return build

    common = {"num_labels": 80, "freeze_backbone_batch_norms": False, "anchor_image_size": None}
    for size, depths, percent in (
        (18, [2, 2, 2, 2], 46.4), (34, [3, 4, 6, 3], 48.9), (50, [3, 4, 6, 3], 53.1),
        (101, [3, 4, 23, 3], 54.3),
    ):  # fmt: skip
        light = {"hidden_sizes": [64, 128, 256, 512], "layer_type": "basic"} if size < 50 else {}
        backbone = tf.RTDetrResNetConfig(depths=depths, out_indices=[2, 3, 4], **light)
        more: dict[str, Any] = {}
        if size < 50:
            more = {"encoder_in_channels": [128, 256, 512], "hidden_expansion": 0.5}
            more["decoder_layers"] = 3 if size == 18 else 4
        if size == 101:
            more = {"encoder_ffn_dim": 2048, "encoder_hidden_dim": 384}
            more["decoder_in_channels"] = [384, 384, 384]
        config = tf.RTDetrConfig(backbone_config=backbone, **common, **more)
        yield _image(
            f"rtdetr_r{size}", "RT-DETR", "convolutions, attention, 300 boxes that sample pixels",
            640, detector(tf.RTDetrForObjectDetection, config), percent, "COCO mAP 50-95",
            "https://github.com/lyuwenyu/RT-DETR",
        )  # fmt: skip
    for size, depths in ((50, [3, 4, 6, 3]), (101, [3, 4, 23, 3])):
        stages = [f"stage{k}" for k in range(1, 5)]
        backbone = tf.ResNetConfig(depths=depths, out_features=stages)
        yield _image(
            f"detr_r{size}", "DETR", "ResNet, attention between its pixels and 100 boxes", 480,
            detector(tf.DetrForObjectDetection, tf.DetrConfig(backbone_config=backbone)),
        )  # fmt: skip
    small = ([3, 16, 16], [16, 64, 256, 512], [16, 32, 64, 128], [64, 256, 512, 1024])
    medium = ([3, 24, 32], [32, 96, 384, 768], [32, 64, 128, 256], [96, 384, 768, 1536])
    large = ([3, 32, 48], [48, 128, 512, 1024], [48, 96, 192, 384], [128, 512, 1024, 2048])
    huge = ([3, 32, 64], [64, 128, 512, 1024], [64, 128, 256, 512], [128, 512, 1024, 2048])
    for letter, channels, blocks, layers, percent, more in (
        ("n", small, [1, 1, 2, 1], 3, 42.8,
         {"num_feature_levels": 2, "encoder_ffn_dim": 512, "encode_proj_layers": [1],
          "d_model": 128, "encoder_hidden_dim": 128, "decoder_ffn_dim": 512,
          "encoder_in_channels": [512, 1024], "decoder_n_points": [6, 6],
          "decoder_in_channels": [128, 128], "feat_strides": [16, 32], "depth_mult": 0.5,
          "decoder_layers": 3, "hidden_expansion": 0.34}),
        ("s", small, [1, 1, 2, 1], 3, 48.5,
         {"decoder_layers": 3, "hidden_expansion": 0.5, "depth_mult": 0.34,
          "encoder_in_channels": [256, 512, 1024]}),
        ("m", medium, [1, 1, 3, 1], 4, 52.3,
         {"decoder_layers": 4, "depth_mult": 0.67, "encoder_in_channels": [384, 768, 1536]}),
        ("l", large, [1, 1, 3, 1], 6, 54.0, {"encoder_in_channels": [512, 1024, 2048]}),
        ("x", huge, [1, 2, 5, 2], 6, 55.8,
         {"encoder_in_channels": [512, 1024, 2048], "encoder_hidden_dim": 384,
          "encoder_ffn_dim": 2048, "decoder_in_channels": [384, 384, 384]}),
    ):  # fmt: skip
        stem, ins, mids, outs = channels
        backbone = tf.HGNetV2Config(
            hidden_sizes=outs, stem_channels=stem, stage_in_channels=ins, stage_mid_channels=mids,
            stage_out_channels=outs, stage_num_blocks=blocks, stage_numb_of_layers=[layers] * 4,
            use_learnable_affine_block=letter in "nsm", depths=[3, 4, 6, 3],
            out_indices=[3, 4] if letter == "n" else [2, 3, 4],
        )  # fmt: skip
        config = tf.DFineConfig(
            backbone_config=backbone, **{"decoder_n_points": [3, 6, 3], **common, **more}
        )
        yield _image(
            f"dfine_{letter}", "D-FINE", "convolutions, attention, boxes refined as distributions",
            640, detector(tf.DFineForObjectDetection, config), percent, "COCO mAP 50-95",
            "https://github.com/Peterande/D-FINE",
        )  # fmt: skip


def _fields(result: Any, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(result, name) for name in names)
