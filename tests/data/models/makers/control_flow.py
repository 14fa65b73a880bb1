"""Makers of models with If, Loop and Scan."""

from __future__ import annotations

from typing import Any

import torch
from onnx import helper

from tests.data.models.makers.sources import by_script, source


class Rated(torch.nn.Module):
    """What is computed depends on a size, as in silero-vad."""

    def __init__(self) -> None:
        super().__init__()
        self.low, self.high = torch.nn.Conv1d(1, 16, 3), torch.nn.Conv1d(1, 32, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[2] > 256:
            return torch.relu(self.high(x)).mean(2).sum(1)
        return torch.relu(self.low(x)).mean(2).sum(1)


@source("torch.jit.script, opset 16: If on a size", samples=512)
def if_on_shape() -> Any:
    dynamic = {"x": {0: "batch", 2: "samples"}}
    return by_script(
        torch.jit.script(Rated().eval()), (torch.rand(1, 1, 512),), 16, dynamic=dynamic
    )


class Chosen(torch.nn.Module):
    """What is computed depends on the data."""

    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool(x.sum() > 0):
            return self.head(x)
        return x


@source("torch.jit.script, opset 16: If on data")
def if_on_data() -> Any:
    return by_script(torch.jit.script(Chosen().eval()), (torch.rand(1, 8),), 16)


class Repeated(torch.nn.Module):
    """A loop whose length is an input's size."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = torch.zeros_like(x[0])
        for step in range(x.size(0)):
            state = torch.tanh(self.cell(x[step] + state))
        return state


@source("torch.jit.script, opset 16: Loop")
def loop() -> Any:
    return by_script(torch.jit.script(Repeated().eval()), (torch.rand(5, 1, 8),), 16)


@source("by hand: Scan")
def scan() -> Any:
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["sum", "x"], ["next"]),
         helper.make_node("Identity", ["next"], ["row"])],
        "body", [value("sum", 1, [4]), value("x", 1, [4])],
        [value("next", 1, [4]), value("row", 1, [4])],
    )  # fmt: skip
    node = helper.make_node(
        "Scan", ["start", "rows"], ["end", "sums"], body=body, num_scan_inputs=1, name="cumulate"
    )
    graph = helper.make_graph(
        [node], "scan", [value("start", 1, [4]), value("rows", 1, [6, 4])],
        [value("end", 1, [4]), value("sums", 1, [6, 4])],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
