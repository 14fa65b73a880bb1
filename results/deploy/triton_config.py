"""A member as a model repository of NVIDIA's Triton: a model for each segment, an ensemble for each
network."""

from __future__ import annotations

from collections.abc import Sequence

from paretosoc.results.deploy.deployment import Deployment, NetworkFiles, Segment, network_files
from paretosoc.results.deploy.deployment_document import DeployedModel
from paretosoc.results.deploy.triton_order import TritonOrder
from paretosoc.results.errors import ResultError
from paretosoc.sdf.onnx.parts import PartTensor

ENGINE_FILE, MODEL_FILE, VERSION = "model.engine", "model.onnx", "1"
_TYPES = {1: "FP32", 2: "UINT8", 3: "INT8", 4: "UINT16", 5: "INT16", 6: "INT32", 7: "INT64",
          8: "STRING", 9: "BOOL", 10: "FP16", 11: "FP64", 12: "UINT32", 13: "UINT64",
          16: "BF16"}  # fmt: skip


Fields = list[tuple[str, "str | int | Fields"]]
"""Names and values: a message, a number, or text as it is written, which :func:`_quoted` makes of
a string."""


def repository_files(deployment: Deployment) -> tuple[NetworkFiles, ...]:
    """Return the names of each network's models in the repository. ``whole`` is the name of the
    ensemble."""
    return tuple(
        NetworkFiles(
            files.whole.removesuffix(".onnx"),
            tuple(f"{s.removesuffix('.onnx')}/{VERSION}/{MODEL_FILE}" for s in files.segments),
        )
        for files in network_files(deployment)
    )


def has_engine(deployment: Deployment, segment: Segment) -> bool:
    """Return whether a segment runs as an engine of TensorRT."""
    return deployment.unit_name(segment) in deployment.cores


def triton_configs(
    deployment: Deployment, models: Sequence[DeployedModel], order: TritonOrder
) -> dict[str, str]:
    """Map the path of every ``config.pbtxt`` to its text.

    A unit for which models wait is a resource that one has at a time (``tritonserver
    --rate-limit=execution_count``).

    Raises:
        ResultError: if the size of a tensor depends on the data.
    """
    configs = {}
    for n, (model, files) in enumerate(zip(models, repository_files(deployment), strict=True)):
        label = f"network {deployment.problem.networks[n].name!r}"
        if deployment.problem.networks[n].name in deployment.tasks:
            continue
        names = [file.partition("/")[0] for file in model.files]
        for segment, part, name in zip(deployment.segments(n), model.parts, names, strict=True):
            runs, file = ("backend", "onnxruntime"), MODEL_FILE
            if has_engine(deployment, segment):
                runs, file = ("platform", "tensorrt_plan"), ENGINE_FILE
            fields: Fields = [
                ("name", _quoted(name)),
                (runs[0], _quoted(runs[1])),
                ("default_model_filename", _quoted(file)),
                ("max_batch_size", 0),
                *(("input", _tensor(tensor, label)) for tensor in part.inputs),
                *(("output", _tensor(tensor, label)) for tensor in part.outputs),
                ("instance_group", _instances(deployment, segment, order)),
            ]
            configs[f"{name}/config.pbtxt"] = _text(deployment, fields)
        if len(names) > 1:
            configs[f"{files.whole}/config.pbtxt"] = _text(
                deployment, _ensemble(files.whole, names, model, label)
            )
    return configs


def _instances(deployment: Deployment, segment: Segment, order: TritonOrder) -> Fields:
    unit = deployment.unit_name(segment)
    core = deployment.cores.get(unit)
    kind = "KIND_GPU" if has_engine(deployment, segment) else "KIND_CPU"
    fields: Fields = [("kind", kind), ("count", 1)]
    if kind == "KIND_GPU":
        fields.append(("gpus", 0))
    if core is not None:
        fields.append(("secondary_devices", [("kind", "KIND_NVDLA"), ("device_id", core)]))
    resource: Fields = [("name", _quoted(unit)), ("global", "true"), ("count", 1)]
    limiter: Fields = [("resources", resource)] if unit in order.rivals else []
    limiter.append(("priority", order.priority[segment]))
    return [*fields, ("rate_limiter", limiter)]


def _tensor(tensor: PartTensor, label: str) -> Fields:
    if tensor.shape is None or tensor.data_type not in _TYPES:
        raise ResultError(
            f"triton cannot serve {label}: the size of tensor {tensor.name!r} depends on the data, "
            "or its type is none of Triton's"
        )
    fields: Fields = [
        ("name", _quoted(tensor.name)),
        ("data_type", f"TYPE_{_TYPES[tensor.data_type]}"),
    ]
    if not tensor.shape:
        # A configuration cannot say that a tensor has no dimensions, but that it is to have none.
        return [*fields, ("dims", 1), ("reshape", [])]
    return [*fields, *(("dims", size) for size in tensor.shape)]


def _ensemble(whole: str, names: Sequence[str], model: DeployedModel, label: str) -> Fields:
    steps: Fields = []
    for name, part in zip(names, model.parts, strict=True):
        step: Fields = [("model_name", _quoted(name)), ("model_version", -1)]
        for field, tensors in (("input_map", part.inputs), ("output_map", part.outputs)):
            names_of = (_quoted(tensor.name) for tensor in tensors)
            step += [(field, [("key", name), ("value", name)]) for name in names_of]
        steps.append(("step", step))
    return [
        ("name", _quoted(whole)),
        ("platform", _quoted("ensemble")),
        ("max_batch_size", 0),
        *(("input", _tensor(tensor, label)) for tensor in model.inputs.values()),
        *(("output", _tensor(tensor, label)) for tensor in model.outputs),
        ("ensemble_scheduling", steps),
    ]


def _text(deployment: Deployment, fields: Fields) -> str:
    return f"# {deployment.title}\n" + "\n".join(_lines(fields, "")) + "\n"


def _lines(fields: Fields, indent: str) -> list[str]:
    lines = []
    for name, value in fields:
        if isinstance(value, list):
            lines += [f"{indent}{name} {{", *_lines(value, indent + "  "), f"{indent}}}"]
        else:
            lines.append(f"{indent}{name}: {value}")
    return lines


def _quoted(text: str) -> str:
    """Return a string as the text format of protocol buffers has it: bytes in C's notation."""
    shown = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in "\"\\'" else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return f'"{shown}"'
