"""The networks that packages of permissive licences build: torchvision, transformers, timm, effdet,
segmentation-models-pytorch. Configurations are those of the published weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.catalogue import efficientvit, super_resolution
from benchmarks.catalogue.source import Source, with_forward
from examples.mapformer.mixes import TORCHVISION_TOO


def sources() -> Iterator[Source]:
    """Return all networks that the extra ``export`` builds, in the order of their packages."""
    import timm
    import torchvision
    import transformers

    yield from _torchvision(torchvision.models)
    yield from _transformers(transformers)
    yield from _timm(timm)
    yield from _detectors()
    yield from _unet()
    yield from super_resolution.sources()
    yield from efficientvit.sources()


def _fields(result: Any, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(result, name) for name in names)


_CLASSIFIERS = {
    "convnext": ("ConvNeXt", "7 x 7 depthwise convolutions, layer normalisation"),
    "densenet": ("DenseNet", "every layer of a block reads all before it"),
    "efficientnet_b": ("EfficientNet", "inverted residuals that weigh their channels"),
    "efficientnet_v2": ("EfficientNet", "the first inverted residuals fused to 3 x 3 convolutions"),
    "inception_v3": ("Inception", "convolutions factorised to 1 x 7 and 7 x 1"),
    "maxvit": ("MaxViT", "inverted residuals, attention in blocks and over a grid"),
    "mnasnet": ("MNASNet", "inverted residuals found by search, 3 x 3 and 5 x 5"),
    "mobilenet_v3": ("MobileNet", "inverted residuals found by search, hard swish"),
    "regnet_x": ("RegNet", "residual blocks with grouped convolutions"),
    "regnet_y": ("RegNet", "residual blocks with grouped convolutions that weigh their channels"),
    "resnet": ("ResNet", "residual blocks of two convolutions"),
    "resnext": ("ResNet", "residual blocks with grouped convolutions"),
    "shufflenet_v2": ("ShuffleNet", "half of the channels pass a block unchanged"),
    "squeezenet": ("SqueezeNet", "fire modules"),
    "swin": ("Swin", "attention in windows that shift, transformer of four stages"),
    "vgg": ("VGG", "3 x 3 convolutions and three large products"),
    "vit": ("ViT", "transformer on patches of the image"),
    "wide_resnet": ("ResNet", "residual blocks with twice the channels inside"),
}
"""Family and building blocks of torchvision's networks, by the beginnings of their names."""
_TORCHVISION = "torchvision, exported without weights"
_MODELS = "https://docs.pytorch.org/vision/stable/models.html"


def _torchvision(models: Any) -> Iterator[Source]:
    """Take classifiers at the smallest crop with published weights, detectors and segmentation
    without what follows their last layers."""
    for name in models.list_models(module=models):
        if name in TORCHVISION_TOO:
            continue
        options = {"init_weights": False} if name == "inception_v3" else {}
        prefix = max((key for key in _CLASSIFIERS if name.startswith(key)), key=len)
        weights = min(models.get_model_weights(name), key=_crop)
        yield Source(
            name, *_CLASSIFIERS[prefix], _TORCHVISION, ((1, 3, _crop(weights), _crop(weights)),),
            partial(models.get_model, name, weights=None, **options),
            weights.meta["_metrics"]["ImageNet-1K"]["acc@1"], "ImageNet-1K top-1", _MODELS,
        )  # fmt: skip

    def detector(name: str) -> Any:
        model = models.get_model(name, weights=None, weights_backbone=None)
        return with_forward(model, lambda forward, x: model.head(list(model.backbone(x).values())))

    def segments(name: str) -> Any:
        model = models.get_model(name, weights=None, weights_backbone=None)
        return with_forward(model, lambda forward, x: forward(x)["out"])

    for name, family, text, pixels, build in (
        ("ssd300_vgg16", "SSD", "boxes from six levels of VGG-16", 300, detector),
        ("ssdlite320_mobilenet_v3_large", "SSD", "SSD of depthwise convolutions", 320, detector),
        ("deeplabv3_mobilenet_v3_large", "DeepLab", "dilated MobileNet-v3 and pyramid", 520,
         segments),
        ("deeplabv3_resnet50", "DeepLab", "dilated ResNet-50 and pyramid of dilations", 520,
         segments),
        ("deeplabv3_resnet101", "DeepLab", "dilated ResNet-101 and pyramid of dilations", 520,
         segments),
        ("fcn_resnet50", "FCN", "dilated ResNet-50, two convolutions", 520, segments),
        ("fcn_resnet101", "FCN", "dilated ResNet-101, two convolutions", 520, segments),
        ("lraspp_mobilenet_v3_large", "LRASPP", "MobileNet-v3 with a light segmentation head", 520,
         segments),
    ):  # fmt: skip
        ((key, measured),) = models.get_model_weights(name).DEFAULT.meta["_metrics"].items()
        metric = "box_map" if "box_map" in measured else "miou"
        what = "COCO mAP 50-95" if metric == "box_map" else f"{key} mIoU"
        yield Source(
            name, family, text, _TORCHVISION, ((1, 3, pixels, pixels),),
            partial(build, name), measured[metric], what, _MODELS,
        )  # fmt: skip

    def retina() -> Any:
        """Build the RetinaNet of MLPerf's inference benchmarks: 264 classes of OpenImages."""
        import torch
        from torchvision.ops.feature_pyramid_network import LastLevelP6P7

        utils = models.detection.backbone_utils
        backbone = utils.resnet_fpn_backbone(
            backbone_name="resnext50_32x4d", weights=None, returned_layers=[2, 3, 4],
            extra_blocks=LastLevelP6P7(256, 256), norm_layer=torch.nn.BatchNorm2d,
        )  # fmt: skip
        model = models.detection.RetinaNet(backbone, 264)

        def take(forward: Any, x: Any) -> Any:
            return tuple(model.head(list(model.backbone(x).values())).values())

        return with_forward(model, take)

    yield Source(
        "retinanet_resnext50", "RetinaNet", "MLPerf's detector: ResNeXt-50, five levels",
        _TORCHVISION, ((1, 3, 800, 800),), retina,
    )  # fmt: skip


def _crop(weights: Any) -> int:
    size = weights.transforms.keywords["crop_size"]
    return int(size if isinstance(size, int) else size[0])


_HUGGING_FACE = "transformers, exported without weights"


def _transformers(tf: Any) -> Iterator[Source]:
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


_LITE = "inverted residuals that do not weigh their channels, ReLU6"
_TIMM: tuple[tuple[str, str, str, str, int], ...] = (
    *((f"efficientnet_lite{k}", f"efficientnet_lite{k}", "EfficientNet", _LITE, pixels)
      for k, pixels in enumerate((224, 240, 260, 280, 300))),
    ("dla102x", "dla102x", "Deep aggregation",
     "grouped convolutions, all levels joined in trees", 224),
    ("efficientformer_l1", "efficientformer_l1", "EfficientFormer",
     "pooling mixes pixels, attention at the end", 224),
    *((f"efficientvit_{size}", f"efficientvit_{size}", "EfficientViT",
       "inverted residuals, attention without softmax", 224) for size in ("b1", "b2", "b3", "l2")),
    ("ese_vovnet19b_dw", "ese_vovnet19b_dw", "VoVNet",
     "depthwise and pointwise convolutions in a row, joined and weighed", 224),
    ("fastvit_sa12", "fastvit_sa12", "FastViT",
     "large depthwise convolutions, attention at the end", 256),
    ("mnasnet_a1", "semnasnet_100", "MNASNet",
     "inverted residuals found by search that weigh their channels", 224),
    ("mobilenet_v2_0_5", "mobilenetv2_050", "MobileNet",
     "inverted residuals with half the channels", 224),
    ("mobilenet_v2_1_1d", "mobilenetv2_110d", "MobileNet",
     "inverted residuals with 1.1 times the channels, deeper", 224),
    ("mobilenet_v2_1_4", "mobilenetv2_140", "MobileNet",
     "inverted residuals with 1.4 times the channels", 224),
    ("repvgg_a1", "repvgg_a1", "RepVGG", "3 x 3 convolutions, branches folded into them", 224),
    ("repvgg_a2", "repvgg_a2", "RepVGG", "3 x 3 convolutions, branches folded into them", 224),
    ("resmlp_12", "resmlp_12_224", "ResMLP", "products across patches, then across channels", 224),
    ("se_resnet50", "seresnet50", "ResNet", "bottleneck residuals that weigh their channels", 224),
    ("vit_small", "vit_small_patch16_224", "ViT", "transformer on patches of the image", 224),
    ("vit_tiny", "vit_tiny_patch16_224", "ViT", "transformer on patches of the image", 224),
)  # fmt: skip
"""Name, timm's name, family, building blocks, pixels."""


def _timm(timm: Any) -> Iterator[Source]:
    origin = "timm, exported without weights"

    def mobile_sam() -> Any:
        """Build the encoder, whose last stage keeps the size of the one before."""
        import torch
        from timm.models.tiny_vit import TinyVit

        model = TinyVit(
            num_classes=0, embed_dims=(64, 128, 160, 320), depths=(2, 2, 6, 2),
            num_heads=(2, 4, 5, 10), window_sizes=(7, 7, 14, 7), drop_path_rate=0.0,
        )  # fmt: skip
        model.stages[-1].downsample.conv2.conv.stride = (1, 1)
        norm = timm.layers.LayerNorm2d
        model.neck = torch.nn.Sequential(
            torch.nn.Conv2d(320, 256, 1, bias=False), norm(256),
            torch.nn.Conv2d(256, 256, 3, padding=1, bias=False), norm(256),
        )  # fmt: skip
        return with_forward(model, lambda forward, x: model.neck(model.forward_features(x)))

    def folded(name: str) -> Any:
        """Build a network as it is deployed: parallel branches are one convolution."""
        return timm.utils.reparameterize_model(timm.create_model(name))

    for name, of, family, text, pixels in _TIMM:
        shape = (1, 3, pixels, pixels)
        yield Source(name, family, text, origin, (shape,), partial(folded, of))
    for name, family, text, pixels, build in (
        ("mobile_sam", "SAM", "MobileSAM's image encoder, a small transformer", 1024, mobile_sam),
        ("mobilevit_s", "MobileViT", "inverted residuals, attention over every fourth pixel", 256,
         lambda: timm.create_model("mobilevit_s")),
    ):  # fmt: skip
        yield Source(name, family, text, origin, ((1, 3, pixels, pixels),), build)


def _detectors() -> Iterator[Source]:
    import effdet

    for size, pixels, percent in (
        (0, 512, 34.3), (1, 640, 40.2), (2, 768, 42.5), (3, 896, 47.2),
    ):  # fmt: skip
        name = f"efficientdet_d{size}"
        build = partial(effdet.create_model, name, pretrained=False, pretrained_backbone=False)
        yield Source(
            name, "EfficientDet", "EfficientNet, levels joined by weights both ways",
            "effdet, exported without weights", ((1, 3, pixels, pixels),), build, percent,
            "COCO mAP 50-95", "https://github.com/google/automl/tree/master/efficientdet",
        )  # fmt: skip


def _unet() -> Iterator[Source]:
    """Take U-Net of segmentation-models-pytorch, and the first one, with padding."""
    import segmentation_models_pytorch as smp
    import torch

    class UNet(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            widths = (64, 128, 256, 512, 1024)
            self.down = torch.nn.ModuleList(map(self._two, (3, *widths), widths))
            self.rise = torch.nn.ModuleList(
                torch.nn.ConvTranspose2d(width, width // 2, 2, 2) for width in widths[:0:-1]
            )
            self.up = torch.nn.ModuleList(self._two(w, w // 2) for w in widths[:0:-1])
            self.last = torch.nn.Conv2d(64, 2, 1)

        def _two(self, before: int, after: int) -> Any:
            layers: list[Any] = []
            for width in (before, after):
                layers += [
                    torch.nn.Conv2d(width, after, 3, padding=1, bias=False),
                    torch.nn.BatchNorm2d(after),
                    torch.nn.ReLU(),
                ]
            return torch.nn.Sequential(*layers)

        def forward(self, x: Any) -> Any:
            seen = []
            for index, part in enumerate(self.down):
                x = part(torch.nn.functional.max_pool2d(x, 2) if index else x)
                seen.append(x)
            for rise, up, old in zip(self.rise, self.up, seen[-2::-1], strict=True):
                x = up(torch.cat([old, rise(x)], dim=1))
            return self.last(x)

    yield Source(
        "unet", "U-Net", "convolutions of 3 x 3 down and up again, two classes",
        "Ronneberger et al. 2015, with padding", ((1, 3, 640, 1280),), UNet,
    )  # fmt: skip
    yield Source(
        "unet_resnet34", "U-Net", "ResNet-34 down, convolutions up again",
        "segmentation-models-pytorch, exported without weights", ((1, 3, 512, 512),),
        lambda: smp.Unet("resnet34", encoder_weights=None),
    )  # fmt: skip
