"""``deployment.json``: a member with all data that a tool needs to set it up, and the order in
which its engines run. Described in ``schemas/deployment.schema.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.nvpmodel_section import ModeCost
from paretosoc.results.front.front_document import member_to_document
from paretosoc.results.io.atomic_folder import ListedFolder
from paretosoc.results.io.canonical_json import Json, signed
from paretosoc.results.io.document import check_against_schema
from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.results.problem.problem_file import problem_sha256
from paretosoc.sdf.onnx.parts import ModelPart, PartTensor


@dataclass(frozen=True)
class PlannedRun:
    """One run of a segment in a frame."""

    network: int
    repeat: int
    """Counted from 1."""
    segment: int
    """Counted from 0 within its network."""
    queue: str
    """The unit, and on a shared unit the network, too."""
    waits_for: tuple[int, ...]
    """Positions of earlier runs whose end it waits for."""
    release_ns: int
    """When its network, or this repeat of it, is released: latencies and responses count from it.
    All instants count from the beginning of the frame."""
    ready_ns: int
    """When it may start at the earliest."""


@dataclass(frozen=True)
class EnginePlan:
    """Runs of one frame, or of one period, by start. Every queue keeps this order, and waits if its
    next run is not ready."""

    runs: tuple[PlannedRun, ...]
    period_ns: int | None
    predicted_ns: tuple[int, ...]
    """[networks]: latencies, or responses of networks with rates."""
    guaranteed_ns: tuple[int, ...] | None
    """[networks]: upper bounds if the order is kept, or None if nothing is guaranteed."""

    def to_document(self) -> dict[str, Json]:
        """Return ``plan`` of ``deployment.json``."""
        bounds = self.guaranteed_ns
        return {
            "runs": [{**vars(run), "waits_for": list(run.waits_for)} for run in self.runs],
            "period_ns": self.period_ns,
            "predicted_ns": list(self.predicted_ns),
            "guaranteed_ns": None if bounds is None else list(bounds),
        }


DEPLOYMENT_FORMAT = "paretosoc-deployment/1"
DEPLOYMENT_FOLDER = ListedFolder("deployment.json", DEPLOYMENT_FORMAT)


@dataclass(frozen=True)
class DeployedModel:
    """The sub-models of one network, one for each segment, and how they were checked."""

    files: tuple[str, ...]
    parts: tuple[ModelPart, ...]
    equality: Mapping[str, Json] | None
    whole: str | None = None
    """The model in one piece, if it was written instead of the parts."""

    @property
    def inputs(self) -> dict[str, PartTensor]:
        """Return the tensors that an application gives, by name."""
        made = {tensor.name for part in self.parts for tensor in part.outputs}
        return {t.name: t for part in self.parts for t in part.inputs if t.name not in made}

    @property
    def half(self) -> bool:
        """Return whether a part has weights or tensors at its ends in FP16."""
        from onnx import TensorProto

        types = {t.data_type for p in self.parts for t in (*p.inputs, *p.weights, *p.outputs)}
        held = {t.data_type for part in self.parts for t in part.model.graph.initializer}
        return TensorProto.FLOAT16 in types | held

    @property
    def outputs(self) -> list[PartTensor]:
        """Return the results that no part reads."""
        read = {tensor.name for part in self.parts for tensor in part.inputs}
        return [t for part in self.parts for t in part.outputs if t.name not in read]


def deployment_to_document(
    deployment: Deployment,
    *,
    target: str,
    files: Mapping[str, str],
    plan: EnginePlan | None,
    models: Sequence[DeployedModel] | None = None,
    modes: Sequence[ModeCost] | None = None,
    providers: Mapping[str, Json] | None = None,
    devices: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """Return the deployment as JSON content.

    Args:
        target: the format that the folder was made for.
        files: the other files of the folder, name to SHA-256.
        plan: the order of the engines; None if networks have no common frame.
        models: sub-models of each network, if they were made.
        modes: the cost of the board's own power modes, if requested.
        providers: execution provider of each unit that is used, for ONNX Runtime.
        devices: device of each unit that is used, for OpenVINO and TensorRT, or core mask, for
            RKNN.
    """
    origins = deployment.origins
    document: dict[str, Json] = {
        "format": DEPLOYMENT_FORMAT,
        "target": target,
        "problem_sha256": problem_sha256(deployment.problem),
        "platform": deployment.platform.name,
        "precision": None if origins is None else origins.precision,
        "member_index": deployment.index,
        "marks": list(deployment.marks),
        "clocks_khz": dict(deployment.clocks_khz),
        "networks": [
            _network(deployment, n, None if models is None else models[n])
            for n in range(len(deployment.problem.networks))
        ],
        "plan": None if plan is None else plan.to_document(),
        "member": member_to_document(deployment.problem, deployment.member),
        "power_modes": None if modes is None else [_mode(cost) for cost in modes],
        "providers": None if providers is None else dict(providers),
        "devices": None if devices is None else dict(devices),
        "files": [{"name": name, "sha256": digest} for name, digest in sorted(files.items())],
    }
    document = signed(document)
    check_against_schema(document, "deployment")
    return document


def _network(deployment: Deployment, n: int, model: DeployedModel | None) -> Json:
    problem, origins = deployment.problem, deployment.origins
    network = problem.networks[n]
    units = [problem.units[int(u)] for u in deployment.member.design.units[network.groups]]
    held = None if origins is None else origins.networks[n]
    segments: list[Json] = []
    for segment in deployment.segments(n):
        entry: dict[str, Json] = {
            **_placed(problem.units[segment.unit]),
            "first_group": segment.first,
            "last_group": segment.last,
        }
        if model is not None and model.parts:
            entry["file"] = model.files[segment.number]
            for key in ("inputs", "weights", "outputs"):
                tensors = getattr(model.parts[segment.number], key)
                entry[key] = [_tensor(tensor, model) for tensor in tensors]
        segments.append(entry)
    return {
        "name": network.name,
        "source": None
        if held is None or held.source.is_task
        else {
            "reference": held.source.reference,
            "sha256": held.source.sha256,
            "dimensions": dict(held.source.dimensions),
            **({"batch": held.source.batch} if held.source.batch > 1 else {}),
        },
        "groups": [
            {
                "name": name,
                **_placed(units[g]),
                "layers": None if held is None else list(held.groups[g].layers),
            }
            for g, name in enumerate(network.group_names)
        ],
        "segments": segments,
        "half": model is not None and model.half,
        "model": None if model is None else model.whole,
        "equality": None if model is None or model.equality is None else dict(model.equality),
    }


def _placed(unit: ProblemUnit) -> dict[str, Json]:
    """Return the unit and, if it is chosen, the number format."""
    place: dict[str, Json] = {"unit": unit.unit_name}
    return place if unit.number_format is None else {**place, "number_format": unit.number_format}


def tensor_to_document(tensor: PartTensor) -> dict[str, Json]:
    """Return a tensor's name, type and shape."""
    from onnx import TensorProto

    return {
        "name": tensor.name,
        "type": TensorProto.DataType.Name(tensor.data_type).lower(),
        "shape": None if tensor.shape is None else list(tensor.shape),
    }


def _tensor(tensor: PartTensor, model: DeployedModel) -> Json:
    makers = (k for k, p in enumerate(model.parts) if any(o.name == tensor.name for o in p.outputs))
    return {**tensor_to_document(tensor), "computed_by": next(makers, None)}


def _mode(cost: ModeCost) -> dict[str, Any]:
    return {
        "id": cost.mode.number,
        "name": cost.mode.name,
        "clocks_khz": dict(cost.clocks_khz),
        "distance": None if cost.distance is None else round(cost.distance, 9),
        "times_ps": None if cost.times_ps is None else list(cost.times_ps),
        "energy_fj": cost.energy_fj,
        "remarks": list(cost.remarks),
    }
