"""A member as configuration files of DeepStream's ``nvinfer``, one for each network."""

from __future__ import annotations

from collections.abc import Sequence

from paretosoc.results.deploy.deployment import Deployment, network_files, require_origins
from paretosoc.results.deploy.deployment_document import DeployedModel
from paretosoc.results.deploy.runtime_placement import unit_places
from paretosoc.results.deploy.trtexec_script import engine_core, engine_file
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.runtimes import Runtime

_MODES = {"fp32": 0, "int8": 1, "fp16": 2}
_TO_BE_SET = """\
# Nothing below is known of a model: set what it was trained with.
# Pixels are multiplied by net-scale-factor (1 if it is left out; YOLO: 1/255), less offsets.
#net-scale-factor=0.00392156862745098
#offsets=0;0;0
# 0: RGB, 1: BGR, 2: grey.
#model-color-format=0
#maintain-aspect-ratio=1
#symmetric-padding=1
# A detector needs a parser of its tensors, in place of network-type and output-tensor-meta above.
#network-type=0
#num-detected-classes=80
#labelfile-path=labels.txt
#custom-lib-path=libnvdsinfer_custom_impl_Yolo.so
#parse-bbox-func-name=NvDsInferParseYolo
#cluster-mode=2
"""
_OTHER_NETWORK = 100
"""``network-type`` without a parser of results: applications read the tensors."""


def check_deepstream(deployment: Deployment) -> None:
    """Accept a member if each of its networks is one engine. ``nvinfer`` runs one.

    Raises:
        ResultError: if DeepStream cannot serve it, or a network needs several engines.
    """
    unit_places(deployment, Runtime.DEEPSTREAM)
    require_origins(deployment.origins)
    for n, network in enumerate(deployment.problem.networks):
        if network.name in deployment.tasks:
            continue
        engine_core(deployment, n, f"deepstream cannot serve network {network.name!r}")


def deepstream_configs(deployment: Deployment, models: Sequence[DeployedModel]) -> dict[str, str]:
    """Map the name of each network's file to its text.

    Args:
        deployment: a member that was checked.

    Raises:
        ResultError: if a network takes anything but one batch of images.
    """
    configs = {}
    for n, (files, model) in enumerate(zip(network_files(deployment), models, strict=True)):
        name = deployment.problem.networks[n].name
        if name in deployment.tasks:
            continue
        shapes = [tensor.shape for tensor in model.inputs.values()]
        if len(shapes) != 1 or shapes[0] is None or len(shapes[0]) != 4:
            raise ResultError(
                f"deepstream cannot serve network {name!r}: nvinfer gives one batch of images, "
                f"and it takes {', '.join(repr(tensor) for tensor in model.inputs)}"
            )
        core = engine_core(deployment, n, name)
        dla = [] if core is None else ["enable-dla=1", f"use-dla-core={core}"]
        lines = [
            f"# {deployment.title}",
            f"# {name}; 'engines.sh build' makes the engine.",
            "[property]",
            "gpu-id=0",
            f"gie-unique-id={n + 1}",
            f"onnx-file={files.whole}",
            f"model-engine-file={engine_file(files.whole)}",
            f"network-mode={_MODES[deployment.precision]}",
            f"network-type={_OTHER_NETWORK}",
            "output-tensor-meta=1",
            f"batch-size={shapes[0][0]}",
            "interval=0",
            *dla,
        ]
        configs[files.whole.removesuffix(".onnx") + ".txt"] = "\n".join(lines) + "\n" + _TO_BE_SET
    return configs
